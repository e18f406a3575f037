// Accessors and tolerances of a member's state.
#include "src/reference/member_state.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/expression/scaled.h"
#include "src/laws/least_constraint.h"
#include "src/system/mass_metric.h"

namespace zwang {

State MemberState::state_of(double time, const Eigen::VectorXd& values) const {
  const auto nz = static_cast<Eigen::Index>(system().auxiliaries.size());
  return {time, values.head(n()), values.segment(n(), n()), values.segment(2 * n(), nz), modes};
}

bool MemberState::sticks(std::size_t friction) const {
  return conditions[system().frictions[friction].rows[0]].standing == Standing::equation;
}

bool MemberState::slips(std::size_t friction) const {
  const Friction& law = system().frictions[friction];
  return conditions[law.contact].standing == Standing::closed &&
         !modes.segment(static_cast<Eigen::Index>(law.first_mode), static_cast<Eigen::Index>(law.rows.size()))
              .isZero(0);
}

Eigen::VectorXd MemberState::slip_of(std::size_t friction, const State& state) const {
  const std::vector<std::size_t>& rows = system().frictions[friction].rows;
  Eigen::VectorXd slip(static_cast<Eigen::Index>(rows.size()));
  for (std::size_t k = 0; k < rows.size(); ++k)
    slip(static_cast<Eigen::Index>(k)) = equations.rate(rows[k], state);
  return slip;
}

double MemberState::zero_slip(std::size_t friction, const State& state) const {
  double zero = 0;
  for (const std::size_t row : system().frictions[friction].rows)
    zero = std::max(zero, zero_of(row, state).rate);
  return zero;
}

double MemberState::yields(std::size_t bound) const {
  const std::optional<std::size_t>& sign = system().bounds[bound].sign;
  return sign ? modes(static_cast<Eigen::Index>(*sign)) : 0;
}

std::vector<std::size_t> MemberState::hopping() const {
  std::vector<std::size_t> made;
  for (std::size_t b = 0; b < hops_end.size(); ++b)
    if (t + rounding_of_time() < hops_end[b]) made.push_back(system().bounds[b].condition);
  return made;
}

bool MemberState::hops(std::size_t i) const {
  const std::vector<std::size_t> now = hopping();
  return std::find(now.begin(), now.end(), i) != now.end();
}

bool MemberState::may_change(const Transition& transition) const {
  if (transition.kind == TransitionKind::slide) return sticks(transition.of);
  if (transition.kind == TransitionKind::stick) return slips(transition.of);
  if (transition.kind == TransitionKind::lock) return yields(transition.of) != 0;
  if (transition.kind == TransitionKind::part)
    return conditions[system().link_limits[transition.of].first].standing == Standing::equation;
  const std::size_t i = system().bounds[transition.of].condition;
  if (transition.kind == TransitionKind::fail && hops(i)) return false;
  const Standing standing = conditions[i].standing;
  return standing == Standing::equation || standing == Standing::closed;
}

double MemberState::zero_of_excess(const State& state) const {
  double zero = 0;
  for (std::size_t f = 0; f < system().frictions.size(); ++f)
    if (sticks(f))
      zero = std::max(zero, equations.friction(f, state).cone_static *
                                conditions[system().frictions[f].contact].multiplier_zero);
  return zero;
}

// A stick whose forces are not unique ends when no admissible forces are left, not when those of one choice leave
// their cones.
double MemberState::transition_value(std::size_t k, const Program& program, const State& state,
                                     const Eigen::VectorXd* multipliers) const {
  const Transition& transition = system().transitions[k];
  if (!unique_forces && transition.kind == TransitionKind::slide)
    if (const std::optional<double> excess = excess_over_cones(
            equations, state, active, system().frictions[transition.of], zero_of_excess(state)))
      return *excess;
  return kink_value(program, state, multipliers);
}

std::vector<double> MemberState::closed_flags() const {
  std::vector<double> flags;
  for (const ConditionState& condition : conditions)
    flags.push_back(condition.standing == Standing::closed || condition.standing == Standing::equation ? 1
                                                                                                       : 0);
  return flags;
}

double MemberState::kink_value(const Program& program, const State& state,
                               const Eigen::VectorXd* multipliers) const {
  if (!reactions_bend) return equations.evaluate(program, state);
  Eigen::VectorXd computed;
  if (!multipliers) {
    computed = constrained_acceleration(equations, state, active).multipliers;
    multipliers = &computed;
  }
  double value = 0;
  equations.evaluate(program, state, {multipliers->data(), static_cast<std::size_t>(multipliers->size())},
                     closed_flags(), {&value, 1});
  return value;
}

Scaled MemberState::scaled_kink(const Program& program, const State& state) const {
  return scaled_signal(program, state, sizes);
}

Scaled MemberState::scaled_watch(const Program& program, const State& state, double duration) const {
  if (active.empty()) return scaled_kink(program, state);
  const Dynamics dynamics = equations.dynamics(state);
  const Eigen::VectorXd free = MassMetric(dynamics.mass).solve(dynamics.applied);
  Sizes larger = sizes;
  if (free.allFinite()) larger.v = larger.v.cwiseMax(duration * free.cwiseAbs());
  return scaled_signal(program, state, larger);
}

Scaled MemberState::scaled_signal(const Program& program, const State& state, const Sizes& by) const {
  if (!reactions_bend) return equations.evaluate_scaled(program, state, by);
  std::vector<Scaled> closed;
  for (const double flag : closed_flags()) closed.emplace_back(flag);
  return equations.evaluate_scaled(program, state, by, scaled_multipliers(equations, state, sizes, active),
                                   closed);
}

Zero MemberState::zero_of(std::size_t i, const State& state) const {
  const std::vector<Scaled> scaled = equations.scaled_row(i, state, sizes);
  return {settings.contact_tolerance * scaled[0].scale, settings.rest_speed * scaled[1].scale};
}

double MemberState::rounding_of_time() const {
  return 16 * std::numeric_limits<double>::epsilon() * std::abs(t);
}

}  // namespace zwang
