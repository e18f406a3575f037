// On which side of the jumps and kinks of integrands a step runs, which way it would have to cross them, and what is seen from them.
#include <algorithm>
#include <cmath>

#include "src/expression/evaluate.h"
#include "src/expression/scaled.h"
#include "src/reference/first_root.h"
#include "src/reference/motion.h"
#include "src/reference/runge_kutta.h"
#include "src/system/equations.h"

namespace zwang {

// Integrands keep the branch they have at the step's start: where that is a jump or a kink, the one a little later, when it
// is clearly past.
void Motion::choose_branches() {
  if (branches_.empty()) return;
  const RightSide f = [this](double t, const Eigen::VectorXd& y, Eigen::VectorXd& rate) {
    return right_side(t, y, rate);
  };
  for (std::size_t k = 0; k < branches_.size(); ++k) {
    const Scaled value = equations_.evaluate_scaled(kinks_[k], state(), sizes_);
    const double zero = settings_.contact_tolerance * value.scale;
    State there = state();
    for (double theta = 0x1p-28; theta <= 1 && std::abs(equations_.evaluate(kinks_[k], there)) <= zero;
         theta *= 4) {
      const Step part = runge_kutta_step(settings_.method, f, t_, y_, rate_, theta * h_);
      if (part.valid) there = state_of(t_ + theta * h_, part.end);
    }
    branches_[k] = equations_.evaluate(branch_values_[k], there);
  }
  right_side(t_, y_, rate_);
}

// The way a function would have to cross zero within the step. One that starts there, give or take `zero`, is on the side
// where it is first seen clearly off it.
double Motion::way_across(const Program& program, const Step& step, double zero) const {
  for (double theta = zero > 0 ? 0x1p-28 : 0; theta <= 1; theta = std::max(4 * theta, 0x1p-28)) {
    const double value =
        equations_.evaluate(program, state_of(step.t + theta * step.h, step.at(theta, settings_.method)));
    if (std::abs(value) > zero) return value < 0 ? 1 : -1;
  }
  return 0;
}

// A curve that rises and falls again between two samples, as at a jump of its slope, goes unseen. What has been found at `theta`
// may lie in between, a jump above all, and there the curve is seen: whoever is across by then has crossed before.
std::optional<LocatedEvent> Motion::find_earlier(const Step& step, const EventFunction& event_function,
                                                 double theta) {
  const Curve curve = [&](double x) {
    return event_value(event_function, state_of(step.t + x * step.h, step.at(x, settings_.method)), nullptr);
  };
  if (!(curve(theta) > event_function.zero) || !(curve(0) <= 0)) return std::nullopt;
  Bracket bracket{0, theta};
  for (const double fraction : sample_fractions())
    if (fraction < theta && curve(fraction) <= 0) bracket.below = fraction;
  return locate_event(step, event_function, bracket, root(bracket, curve));
}

}  // namespace zwang
