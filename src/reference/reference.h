// The reference: one member's motion, written to be read, slow and independent of the kernels. It says what the answer
// should be.
#pragma once

#include "src/base/settings.h"
#include "src/laws/project.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"

namespace zwang {

struct Plan {
  std::vector<double> outputs;  // ascending
  double end = 0;
  bool every_step = false;  // sample after every step instead of at the output times
  // Extremes known already, by measure (NaN: none): of a motion taken up again. They count, and what cannot beat them is
  // not looked at closely.
  std::vector<double> extremes = {};
  // On which side of zero watched functions were last: of a motion taken up again where one is zero, as a velocity at rest.
  std::vector<int> sides = {};
};

// Moves the state onto the conditions in force at the start, and says how far.
Start prepare_start(const Equations& equations, const IntegratorSettings& settings, State& state);

// From a prepared start to the end of the plan. Trouble ends in a status, never in an exception.
Trajectory simulate(const Equations& equations, const IntegratorSettings& settings, const Plan& plan,
                    const State& start);

// From the middle of a motion, at state.t, to the end of the plan. `closed` says what holds there, one number per
// condition as in Sample: an inequality that is not named stays open however near it is to zero. The state is brought
// onto what holds (it is there up to rounding or a little more). Whatever the study's clock says up to and including
// state.t has been done. Measures are of this stretch alone: extremes and events from here on, integrals from zero.
Trajectory resume(const Equations& equations, const IntegratorSettings& settings, const Plan& plan,
                  const State& state, const std::vector<double>& closed);

}  // namespace zwang
