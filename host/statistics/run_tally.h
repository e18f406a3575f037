// Counts over the members of a run: statuses, events, extremes of the audit, and how starts were made
// consistent.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "host/estimators/exact_sum.h"
#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/reference/trajectory.h"

namespace zwang {

// The largest of a number over members, and the first member that has it (-1: it is zero for all).
struct WorstShare {
  double share = 0;
  long long member = -1;
};

// Counts and extremes over members; parts of an ensemble may be added in any order.
struct RunTally {
  static constexpr std::size_t examples_kept = 10;

  long long members = 0;  // integrated, including the nominal member
  // Pick-freeze: the members of row j are j, j + block_size, j + 2 block_size ...: `blocks` of them.
  long long blocks = 1, block_size = 0;
  long long rows() const { return blocks > 1 ? members / blocks : members; }  // without pick-freeze: members
  long long entered = 0;  // in the statistics: ok or stopped, without the nominal member
  long long failed = 0;   // neither ok nor stopped
  std::array<long long, status_count> status{};               // members by status
  std::array<std::vector<long long>, status_count> examples;  // the first members of each status but ok
  std::array<long long, event_kinds> events{};
  Audit worst;  // the largest of each violation over members that did not fail
  // The largest share of the audit's bound: by energy law, conditions, shocks; inaccurate members included.
  std::array<WorstShare, audit_shares> shares{};
  long long steps = 0, rejected = 0;
  long long redundant = 0;  // members in which dependent constraints occurred
  // Starts made consistent: members moved, the largest moves and their sums.
  long long moved = 0;
  double largest_position_move = 0, largest_velocity_move = 0;
  ExactSum total_position_move, total_velocity_move;
  // Members in which a drawn position or velocity changed by more than drawn_change_noted of its size, and
  // the largest such change: its share and its number, positions before velocities (-1: none).
  static constexpr double drawn_change_noted = 0.01;
  long long drawn_changed = 0;
  double largest_drawn_change = 0;
  long long largest_drawn_change_of = -1;
  // Draws, without the nominal member: all, those beyond the first of a member, those refused by "reject".
  // All draws of a member that gave up count as refused.
  long long draws = 0, redrawn = 0, refused_draws = 0;
};

}  // namespace zwang
