// Accessors and tolerances of a member's state.
#include "src/reference/member_state.h"

#include <cmath>
#include <limits>

#include "src/expression/scaled.h"
#include "src/laws/least_constraint.h"

namespace zwang {

State MemberState::state_of(double time, const Eigen::VectorXd& values) const {
  const auto nz = static_cast<Eigen::Index>(system().auxiliaries.size());
  return {time, values.head(n()), values.segment(n(), n()), values.segment(2 * n(), nz)};
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
  if (!reactions_bend) return equations.evaluate_scaled(program, state, sizes);
  std::vector<Scaled> closed;
  for (const double flag : closed_flags()) closed.emplace_back(flag);
  return equations.evaluate_scaled(program, state, sizes, scaled_multipliers(equations, state, sizes, active),
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
