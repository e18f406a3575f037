// The expressions that a motion evaluates beside the equations of motion, compiled once for each member.
#pragma once

#include <optional>
#include <vector>

#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/system/divergence.h"
#include "src/system/equations.h"

namespace zwang {

// The value of an expression of parameters.
double parameter_value(const Equations& equations, Expr e);

struct MotionFormulas {
  explicit MotionFormulas(const Equations& equations);

  Program observables, integrands;
  Program stop;                              // no outputs: the study has no stop condition
  Program turns;                             // pairs: rate of an argument, and how far it may run in a step
  std::vector<Program> watches, kinks;       // functions whose roots are events
  std::vector<Program> branches;             // of the first kinks: constant from one root to the next
  std::vector<Program> transitions;          // of friction and bounds: System::transitions
  std::vector<Program> reaches;              // by condition: reaction per unit of multiplier
  std::vector<double> restitution;           // by condition
  std::optional<FlowDivergence> divergence;  // where the density along the flow is integrated
  bool rows_may_become_dependent = false;    // at some state
};

}  // namespace zwang
