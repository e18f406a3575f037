// How close rows of conditions are to linear dependence.
#pragma once

#include <cstddef>
#include <vector>

#include "src/reference/member_state.h"
#include "src/system/equations.h"

namespace zwang {

// Unit rows closer than this to the span of the others are dependent: a projection, with a rounding of 1e-16 over this
// distance, would no longer tell two branches of the motion apart.
constexpr double dependent_distance = 1e-6;

struct RowDependence {
  std::size_t rank = 0;
  // The smallest distance of an independent unit row from the span of the rows before it, in the mass metric.
  double distance = 1;
};
RowDependence row_dependence(const Equations& equations, const State& state,
                             const std::vector<std::size_t>& rows);

// Whether equations and the inequalities that `bear` forces (by condition) hold condition i at zero without a force of its
// own: its row depends on theirs.
bool is_held_by_others(const MemberState& member, std::size_t i, const State& state,
                       const std::vector<char>& bear);

}  // namespace zwang
