// Accessors and tolerances of a member's state.
#include "src/reference/member_state.h"

#include <cmath>
#include <limits>

#include "src/expression/scaled.h"

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

Zero MemberState::zero_of(std::size_t i, const State& state) const {
  const std::vector<Scaled> scaled = equations.scaled_row(i, state, sizes);
  return {settings.contact_tolerance * scaled[0].scale, settings.rest_speed * scaled[1].scale};
}

double MemberState::rounding_of_time() const {
  return 16 * std::numeric_limits<double>::epsilon() * std::abs(t);
}

}  // namespace zwang
