// An equilibrium near a start: the applied forces are balanced by the reactions of the conditions, at rest.
#pragma once

#include <string>

#include "src/analysis/linearise.h"
#include "src/system/equations.h"

namespace zwang {

struct Equilibrium {
  bool found = false;
  State state;                        // at rest; if none was found: the state of least imbalance
  Eigen::VectorXd multipliers;        // lambda, one per condition of the system
  std::vector<std::size_t> set;       // equations and pressing inequalities
  std::vector<std::size_t> touching;  // inequalities that hold with equality and do not press
  Eigen::VectorXd imbalance;          // Q - A^T lambda, n
  std::vector<std::size_t> broken;    // if none was found: conditions that could not be met
  double residual = 0;                // largest imbalance, over the size of the terms that balance
  int iterations = 0;
};

// Throws Error where an equilibrium is not defined: explicit time, forces that jump at rest.
void require_autonomous(const Equations& equations, const State& around, const std::string& file);

// Levenberg-Marquardt on (q, z, lambda) from the start's positions. The set of pressing inequalities is found
// by iteration: those with negative multipliers are dropped, violated ones are added. Where this cycles and
// the inequalities are few, every set is tried and the admissible equilibrium nearest to the start is taken.
Equilibrium find_equilibrium(const RestEquations& rest, const State& start, double tolerance);

}  // namespace zwang
