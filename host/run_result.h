// What a run of an ensemble leaves behind: counts, statistics, how long it took. What the result files and the table at
// the end of a run are written from.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "host/exact_sum.h"
#include "host/statistics_result.h"
#include "host/study.h"
#include "src/trajectory.h"

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

struct RunPerformance {
  unsigned threads = 0;
  double wall_s = 0, compile_s = 0, sample_s = 0, integrate_s = 0, statistics_s = 0, write_s = 0;
};

struct RunResult {
  std::string backend, device, precision;
  long long requested = 0;          // members asked for; with `until`, the cap
  bool sure_early = false;          // `until` was met before the cap
  std::vector<std::string> inputs;  // names of what was drawn, in the order of statistics.inputs
  RunTally tally;
  StatisticsResult statistics;
  RunPerformance performance;
};

}  // namespace zwang
