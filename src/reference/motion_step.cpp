// Smooth motion between events: error-controlled steps, and the search for what happens within one.
#include <algorithm>
#include <cmath>
#include <limits>

#include "src/base/settings.h"
#include "src/expression/evaluate.h"
#include "src/expression/scaled.h"
#include "src/laws/least_constraint.h"
#include "src/reference/first_root.h"
#include "src/reference/motion.h"
#include "src/reference/runge_kutta.h"
#include "src/system/equations.h"

namespace zwang {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double same_root = 1e-6;  // roots of one function guessed twice, in fractions of the step
constexpr int location_limit = 20;

}  // namespace

// q' = v, v' = a, z' as the user says, integrands, and the work of all but potential forces.
bool Motion::right_side(double t, const Eigen::VectorXd& y, Eigen::VectorXd& rate) {
  const State now = state_of(t, y);
  const Accelerations accelerations = constrained_acceleration(equations_, now, active_);
  if (accelerations.status != Status::ok) {
    trouble_ = accelerations.status;
    return false;
  }
  const auto nz = now.z.size();
  rate.resize(y.size());
  rate.head(n()) = now.v;
  rate.segment(n(), n()) = accelerations.a;
  rate.segment(2 * n(), nz) = accelerations.dynamics.rates;
  // d log rho/dt = -div [voss-11]
  if (divergence_)
    rate(2 * n() + static_cast<Eigen::Index>(*equations_.system().density)) =
        -divergence_->at(now, active_, accelerations.a, accelerations.multipliers);
  const std::size_t integrals = integrands_.outputs();
  if (integrals > 0) {
    const std::vector<double> closed = closed_flags();
    equations_.evaluate(
        integrands_, now,
        {accelerations.multipliers.data(), static_cast<std::size_t>(accelerations.multipliers.size())},
        closed, {rate.data() + 2 * n() + nz, integrals}, branches_);
  }
  // Reactions do work only where conditions move: (M a - Q) v = -lambda A v.
  const Eigen::VectorXd reaction =
      accelerations.dynamics.mass * accelerations.a - accelerations.dynamics.applied;
  rate(rate.size() - 1) = accelerations.dynamics.power + reaction.dot(now.v);
  if (rate.allFinite()) return true;
  trouble_ = Status::not_finite;
  return false;
}

double Motion::next_scheduled_time() const {
  double next = plan_.end;
  if (next_scheduled_ < scheduled_.size()) next = std::min(next, scheduled_[next_scheduled_].t);
  if (pending_) next = std::min(next, pending_->t);
  return next;
}

// How fast arguments of periodic functions run, in units of what a step may hold.
double Motion::argument_speed(const State& state) const {
  double fastest = 0;
  std::vector<double> values(turns_.outputs());
  equations_.evaluate(turns_, state, {}, {}, values);
  for (std::size_t k = 0; k + 1 < values.size(); k += 2)
    if (values[k] != 0) fastest = std::max(fastest, std::abs(values[k] / values[k + 1]));
  return fastest;
}

// The longest step allowed here, at most h. Rates of turns change on the way: what rests now may fall over a whole row of
// obstacles. Over a step h with these accelerations an argument runs rate h + growth h^2/2, and that shall be 1.
double Motion::step_bound(double h) {
  h = std::min(h, settings_.max_step);
  if (turns_.outputs() == 0) return h;
  const double length = std::min(h, next_scheduled_time() - t_);
  State later = state();
  const double now = argument_speed(later);
  later.t += length;
  later.v += length * rate_.segment(n(), n());
  const double growth = std::max(argument_speed(later) - now, 0.0) / length;
  return std::min(h, 2 / (now + std::sqrt(now * now + 2 * growth)));
}

// Where accelerations have changed too, a step may have run too far all the same.
bool Motion::arguments_moved_too_far(const Step& step) const {
  if (turns_.outputs() == 0) return false;
  const State middle = state_of(step.t + step.h / 2, step.at(0.5, settings_.method));
  const double sum = argument_speed(state_of(step.t, step.start)) + 4 * argument_speed(middle) +
                     argument_speed(state_of(step.t + step.h, step.end));
  return step.h * sum / 6 > 1.5;
}

double Motion::error_size(const Step& step) const {
  // The work integral is an audit and has no say in the step size.
  const Eigen::Index count = y_.size() - 1;
  double sum = 0;
  for (Eigen::Index i = 0; i < count; ++i) {
    const double size = std::max(std::abs(step.start(i)), std::abs(step.end(i)));
    const double ratio = step.error(i) / (settings_.atol + settings_.rtol * size);
    sum += ratio * ratio;
  }
  return std::sqrt(sum / static_cast<double>(count));
}

// A first guess: a hundredth of the time the state takes to change by its own size (or by the tolerance's).
double Motion::initial_step(const Eigen::VectorXd& rate) const {
  double size = 0, speed = 0;
  for (Eigen::Index i = 0; i + 1 < y_.size(); ++i) {
    const double scale = settings_.atol + settings_.rtol * std::abs(y_(i));
    size = std::max(size, std::abs(y_(i)) / scale);
    speed = std::max(speed, std::abs(rate(i)) / scale);
  }
  const double span = plan_.end - t_;
  if (!(speed > 0) || !(size > 0)) return 1e-3 * span;
  // What rests at zero is of no size, and of no speed but rounding: then the ratio says nothing.
  const double least = std::max(1e-8 * span, 100 * rounding_of_time());
  return std::min(span, std::max(least, 0.01 * size / speed));
}

std::optional<Step> Motion::next_step() {
  const RightSide f = [this](double t, const Eigen::VectorXd& y, Eigen::VectorXd& rate) {
    return right_side(t, y, rate);
  };
  if (!f(t_, y_, rate_)) {
    fail(trouble_, "no acceleration at t = " + std::to_string(t_));
    return std::nullopt;
  }
  const bool fixed = settings_.method == IntegratorSettings::Method::rk4;
  if (!(h_ > 0)) h_ = initial_step(rate_);
  choose_branches();
  double h = step_bound(fixed ? settings_.step : h_);
  const double room = next_scheduled_time() - t_;
  for (;;) {
    // Land on the appointment; never leave a sliver of a step before it.
    const bool clipped = h >= room * (1 - 1e-10);
    if (clipped) h = room;
    if (!clipped && h > room / 2 && !fixed) h = room / 2;
    if (!(h > rounding_of_time())) {
      const bool bare = trouble_ == Status::ok;
      fail(bare ? Status::step_too_small : trouble_, "no step could be taken at t = " + std::to_string(t_));
      return std::nullopt;
    }
    trouble_ = Status::ok;
    Step step = runge_kutta_step(settings_.method, f, t_, y_, rate_, h);
    if (!step.valid) {
      ++trajectory_.rejected;
      h /= 4;
      continue;
    }
    const double error = fixed ? 0 : error_size(step);
    if (error <= 1 && arguments_moved_too_far(step)) {
      ++trajectory_.rejected;
      h /= 2;
      continue;
    }
    if (error <= 1) {
      const double factor = error > 0 ? std::clamp(0.9 * std::pow(error, -0.2), 0.2, 5.0) : 5.0;
      h_ = clipped ? std::max(h_, h * factor) : h * factor;
      return step;
    }
    ++trajectory_.rejected;
    h *= std::isfinite(error) ? std::clamp(0.9 * std::pow(error, -0.2), 0.1, 0.9) : 0.1;
  }
}

Motion::Zero Motion::zero_of(std::size_t i, const State& state) const {
  const std::vector<Scaled> scaled = equations_.scaled_row(i, state, sizes_);
  return {settings_.contact_tolerance * scaled[0].scale, settings_.rest_speed * scaled[1].scale};
}

// Everything that may end this step early.
std::vector<EventFunction> Motion::event_functions(const Step& step) {
  std::vector<EventFunction> list;
  const State here = state_of(step.t, step.start);
  for (std::size_t i = 0; i < conditions_.size(); ++i) {
    const ConditionState& condition = conditions_[i];
    const bool equation = equations_.system().constraints[i].equation;
    if (condition.standing == Standing::open && !equation) {
      const double zero = zero_of(i, here).value;
      // Not armed yet: noise around zero is no contact, but nothing gets through unseen either.
      EventFunction event_function{EventFunction::Kind::reached, i, 1, 0, zero};
      if (!condition.armed) {
        event_function.level = condition.above + zero;
        event_function.since = condition.since;
        event_function.noise = condition.noise;
      }
      list.push_back(event_function);
    }
    if (condition.standing == Standing::closed) {
      const double zero = condition.multiplier_zero;
      list.push_back({EventFunction::Kind::release, i, -1, condition.idle ? zero : 0, zero});
      if (condition.idle) list.push_back({EventFunction::Kind::press, i, 1, zero, zero});
    }
  }
  // A function that rests at zero (the height of what lies on the ground) crosses it when it is clearly beyond.
  const auto signal = [&](const Program& program, double& zero) {
    const Scaled value = equations_.evaluate_scaled(program, here, sizes_);
    zero = settings_.contact_tolerance * value.scale;
    return std::abs(value.value) <= zero ? zero : 0;
  };
  double zero = 0;
  for (std::size_t k = 0; k < watches_.size(); ++k) {
    if (watch_signs_[k] == 0) continue;
    const double level = signal(watches_[k], zero);
    list.push_back({EventFunction::Kind::watch, k, watch_signs_[k] < 0 ? 1.0 : -1.0, level, zero});
  }
  if (stop_.outputs() > 0) {
    const double level = signal(stop_, zero);
    list.push_back({EventFunction::Kind::stop, 0, 1, level, zero});
  }
  // Integrands with kinks: the step ends at a kink, so that the integral is as exact as the motion.
  for (std::size_t k = 0; k < kinks_.size(); ++k) {
    const double level = signal(kinks_[k], zero);
    list.push_back({EventFunction::Kind::kink, k, way_across(kinks_[k], step, level), level, zero});
  }
  return list;
}

double Motion::event_value(const EventFunction& event_function, const State& state,
                           const Eigen::VectorXd* multipliers) const {
  double raw = 0;
  switch (event_function.kind) {
    case EventFunction::Kind::reached:
      raw = equations_.value(event_function.index, state);
      break;
    case EventFunction::Kind::release:
    case EventFunction::Kind::press:
      raw = multipliers ? (*multipliers)(static_cast<Eigen::Index>(event_function.index))
                        : constrained_acceleration(equations_, state, active_)
                              .multipliers(static_cast<Eigen::Index>(event_function.index));
      break;
    case EventFunction::Kind::watch:
      raw = equations_.evaluate(watches_[event_function.index], state);
      break;
    case EventFunction::Kind::stop:
      raw = equations_.evaluate(stop_, state);
      break;
    case EventFunction::Kind::kink:
      raw = equations_.evaluate(kinks_[event_function.index], state);
      break;
  }
  const double elapsed = state.t - event_function.since;
  return event_function.sign * raw - event_function.level - 0.5 * event_function.noise * elapsed * elapsed;
}

// The method's own result at a fraction of the step: as exact as the step itself.
Eigen::VectorXd Motion::flow(const Step& step, double theta, bool& ok) {
  if (theta <= 0) return step.start;
  if (theta >= 1) return step.end;
  const RightSide f = [this](double t, const Eigen::VectorXd& y, Eigen::VectorXd& rate) {
    return right_side(t, y, rate);
  };
  const Step part = runge_kutta_step(settings_.method, f, step.t, step.start, step.rates[0], theta * step.h);
  ok = part.valid;
  return part.end;
}

std::optional<LocatedEvent> Motion::first_event(const Step& step) {
  const std::vector<EventFunction> list = event_functions(step);
  if (list.empty()) return std::nullopt;
  // Sample the interpolant once for all lookouts; multipliers only where some condition is closed.
  const std::span<const double> fractions = sample_fractions();
  std::vector<State> states;
  std::vector<Eigen::VectorXd> multipliers;
  const bool forces = std::any_of(conditions_.begin(), conditions_.end(),
                                  [](const ConditionState& c) { return c.standing == Standing::closed; });
  for (const double theta : fractions) {
    states.push_back(state_of(step.t + theta * step.h, step.at(theta, settings_.method)));
    if (forces)
      multipliers.push_back(constrained_acceleration(equations_, states.back(), active_).multipliers);
  }
  struct Candidate {
    EventFunction event_function;
    Bracket bracket;
    double theta;
  };
  std::vector<Candidate> candidates;
  std::vector<EventFunction> unseen;
  for (const EventFunction& event_function : list) {
    std::vector<double> samples;
    for (std::size_t k = 0; k < states.size(); ++k)
      samples.push_back(event_value(event_function, states[k], forces ? &multipliers[k] : nullptr));
    const Curve curve = [&](double theta) {
      return event_value(event_function, state_of(step.t + theta * step.h, step.at(theta, settings_.method)),
                         nullptr);
    };
    if (const std::optional<Bracket> bracket = first_rise(samples, curve))
      candidates.push_back({event_function, *bracket, root(*bracket, curve)});
    else
      unseen.push_back(event_function);
  }
  // Earliest first; one that turns out to be none on the true flow gives way to the next. One that turns out to be later
  // than guessed must not hide another before it: what is open would be passed through.
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.theta < b.theta; });
  std::optional<LocatedEvent> first;
  for (const Candidate& candidate : candidates) {
    if (first && !(candidate.theta < first->theta)) break;
    std::optional<LocatedEvent> found =
        locate_event(step, candidate.event_function, candidate.bracket, candidate.theta);
    if (!going()) return std::nullopt;
    if (found && (!first || found->theta < first->theta)) first = std::move(found);
  }
  for (const EventFunction& event_function : unseen) {
    if (!first) break;
    std::optional<LocatedEvent> before = find_earlier(step, event_function, first->theta);
    if (!going()) return std::nullopt;
    if (before && before->theta < first->theta) first = std::move(before);
  }
  if (!first || first->event_function.kind != EventFunction::Kind::watch) return first;
  // Watched functions may cross together. Left to the next step they would start it at zero, as if they rested there.
  const State there = state_of(step.t + first->theta * step.h, first->y);
  for (const Candidate& candidate : candidates) {
    const EventFunction& other = candidate.event_function;
    const bool another =
        other.kind == EventFunction::Kind::watch && other.index != first->event_function.index;
    if (another && other.level == 0 && std::abs(candidate.theta - first->theta) < same_root &&
        std::abs(event_value(other, there, nullptr)) <= other.zero)
      first->also.push_back(other.index);
  }
  return first;
}

// From the interpolant's root to the true flow's (requirement 1): Newton with the interpolant's slope, then secants.
// Two to four evaluations where the interpolant is good; where it is not, a bracket on the true flow itself.
std::optional<LocatedEvent> Motion::locate_event(const Step& step, const EventFunction& event_function,
                                                 const Bracket& bracket, double theta) {
  LocatedEvent found{event_function, theta, {}, {}};
  const auto value_at = [&](double x, Eigen::VectorXd& y) {
    bool ok = true;
    y = flow(step, x, ok);
    return ok ? event_value(event_function, state_of(step.t + x * step.h, y), nullptr) : std::nan("");
  };
  const auto curve = [&](double x) {
    return event_value(event_function, state_of(step.t + x * step.h, step.at(x, settings_.method)), nullptr);
  };
  const double width = bracket.above - bracket.below;
  const double reach = std::min(1e-4, 0.5 * width + 1e-12);
  const double left = std::max(theta - reach, 0.0), right = std::min(theta + reach, 1.0);
  double slope = right > left ? (curve(right) - curve(left)) / (right - left) : 0;
  double value = value_at(theta, found.y);
  for (int i = 0; i < location_limit; ++i) {
    if (!(std::abs(value) > 1e-4 * event_function.zero) || !(slope > 0)) break;  // down to rounding
    const double next = std::clamp(found.theta - value / slope, 0.0, 1.0);
    if (std::abs(next - found.theta) <= epsilon * next) break;
    Eigen::VectorXd y;
    const double next_value = value_at(next, y);
    const double secant = (next_value - value) / (next - found.theta);
    if (secant > 0.1 * slope && secant < 10 * slope) slope = secant;
    if (!(std::abs(next_value) < std::abs(value))) break;  // rounding reached, or no root nearby
    found.theta = next;
    found.y = y;
    value = next_value;
  }
  const double resolution = slope * 8 * epsilon * std::max(1.0, std::abs(step.t) / step.h);
  const bool close = std::abs(found.theta - theta) <= 0.1 * width + 1e-6;
  if (close && std::abs(value) <= std::max(event_function.zero, resolution)) {
    // Near the step's start the interpolant is noise; the true flow must really be across by the bracket's end.
    Eigen::VectorXd beyond;
    const double end = std::max(bracket.above, found.theta);
    if (end == found.theta || value_at(end, beyond) > 0) return found;
  }
  return bracket_on_flow(step, event_function, bracket, value_at);
}

// The interpolant was no good guide: widen its bracket until the true flow changes sign there, and halve.
std::optional<LocatedEvent> Motion::bracket_on_flow(
    const Step& step, const EventFunction& event_function, const Bracket& bracket,
    const std::function<double(double, Eigen::VectorXd&)>& value_at) {
  LocatedEvent found{event_function, bracket.above, {}, {}};
  Eigen::VectorXd y;
  double a = bracket.below;
  for (double stride = bracket.above - bracket.below; a > 0 && value_at(a, y) > 0; stride *= 2)
    a = std::max(0.0, a - stride);
  double& b = found.theta;
  double value = value_at(b, found.y);
  if (value <= 0 && b < 1) {
    b = 1;
    value = value_at(b, found.y);
  }
  if (value <= 0) return std::nullopt;  // the interpolant grazed what the motion does not reach
  if (std::isnan(value)) {
    fail(Status::event_lost, "an event near t = " + std::to_string(step.t + b * step.h) + " has no state");
    return std::nullopt;
  }
  for (int i = 0; i < 100 && b - a > 2 * epsilon * b; ++i) {
    const double middle = (a + b) / 2;
    const double there = value_at(middle, y);
    if (there > 0) {
      b = middle;
      found.y = y;
      if (there <= 1e-4 * event_function.zero) break;
    } else {
      a = middle;
    }
  }
  return found;
}

}  // namespace zwang
