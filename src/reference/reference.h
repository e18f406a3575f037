// The reference implementation of one member's motion: readable, slow, independent of the kernels, and the
// standard they are compared with.
#pragma once

#include <optional>
#include <vector>

#include "src/base/settings.h"
#include "src/laws/project.h"
#include "src/reference/accumulation.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"

namespace zwang {

struct Plan {
  std::vector<double> outputs;  // ascending
  double end = 0;
  bool every_step = false;  // sample after every step instead of at the output times
  // For a resumed motion: extremes known already, by reduction (NaN: none). They count, and extremes that
  // cannot exceed them are not refined.
  std::vector<double> extremes = {};
  // For a resumed motion: the last signs of watched functions, used where one is zero at the start (a
  // velocity at rest).
  std::vector<int> sides = {};
  // For a resumed motion: the shocks before it, as the trajectory before gave them. When a sequence of shocks counts as an
  // accumulation depends on how many of them are known.
  std::optional<AccumulationWatch> shocks = {};
  // Trial steps, accepted or not, after which the run is given up (Trajectory::given_up). Unlike max_steps it
  // is no property of the study: the caller limits the work it is willing to spend.
  long long max_trial_steps = no_limit;
};

// Moves the state onto the conditions in force at the start; the result includes the distance moved.
Start prepare_start(const Equations& equations, const IntegratorSettings& settings, State& state);

// From a prepared start to the end of the plan. Failures are reported as a status, never as an exception.
Trajectory simulate(const Equations& equations, const IntegratorSettings& settings, const Plan& plan,
                    const State& start);

// From the middle of a motion, at state.t, to the end of the plan. `closed` marks the conditions that hold
// there, one number per condition as in Sample: an inequality that is not marked stays open, however near it
// is to zero. The state is projected onto the marked conditions (it is there up to rounding or a little
// more). Scheduled events up to and including state.t count as done. Measures are those of this part alone:
// extremes and events from here on, integrals from zero.
Trajectory resume(const Equations& equations, const IntegratorSettings& settings, const Plan& plan,
                  const State& state, const std::vector<double>& closed);

}  // namespace zwang
