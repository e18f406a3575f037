// How the members of a run ended: counts, extremes of the audit, how starts were made consistent.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "host/statistics/exact_sum.h"
#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/reference/trajectory.h"

namespace zwang {

// Counts and extremes over members; parts of an ensemble are added up in any order.
struct RunTally {
  static constexpr std::size_t examples_kept = 10;

  long long members = 0;                         // integrated, the nominal one included
  long long entered = 0;                         // in the statistics: ok or stopped, not the nominal one
  long long failed = 0;                          // neither ok nor stopped
  std::array<long long, status_count> status{};  // members by how they ended
  std::array<std::vector<long long>, status_count> examples;  // the first members of each status but ok
  std::array<long long, event_kinds> events{};
  Audit worst;  // the largest of each over members that did not fail
  long long steps = 0, rejected = 0;
  long long redundant = 0;  // members that met dependent conditions
  // How starts were made consistent: members moved, the farthest moves and their sums.
  long long moved = 0;
  double largest_position_move = 0, largest_velocity_move = 0;
  ExactSum total_position_move, total_velocity_move;
  // Draws of members, the nominal one is not drawn: all, those beyond one a member, those that "reject" refused. A
  // member that gave up had all of its draws refused.
  long long draws = 0, redrawn = 0, refused_draws = 0;
};

}  // namespace zwang
