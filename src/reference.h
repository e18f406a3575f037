// The reference: one member's motion, written to be read, slow and independent of the kernels. It says what the answer
// should be.
#pragma once

#include "src/project.h"
#include "src/settings.h"
#include "src/trajectory.h"

namespace zwang {

struct Plan {
  std::vector<double> outputs;  // ascending
  double end = 0;
  bool every_step = false;  // sample after every step instead of at the output times
};

// Moves the state onto the conditions in force at the start, and says how far.
Start prepare_start(const Equations& equations, const IntegratorSettings& settings, State& state);

// From a prepared start to the end of the plan. Trouble ends in a status, never in an exception.
Trajectory simulate(const Equations& equations, const IntegratorSettings& settings, const Plan& plan,
                    const State& start);

}  // namespace zwang
