// The equations of an equilibrium with a given set of conditions, and their solution.
#pragma once

#include "src/analysis/linearise.h"
#include "src/system/equations.h"
#include "src/system/mass_metric.h"

namespace zwang {

// The unknowns are q, z and the multipliers of `set`:
//     Q(q, 0, z) - A^T lambda = 0,   f(q) = 0,   g(q, 0) = 0,   z' = 0.
// Velocity conditions that hold at rest at any position give empty rows: equilibria are then not isolated,
// and the one found is near the start in the mass metric.
struct Balance {
  Eigen::VectorXd q, z, multipliers;  // n, nz, by entry of the set
  Eigen::VectorXd imbalance;          // Q - A^T lambda
  double merit = 0;                   // length of all residuals, in the units of the mass metric
  int iterations = 0;
};

Balance solve_balance(const RestEquations& rest, const State& start, const std::vector<std::size_t>& set);

}  // namespace zwang
