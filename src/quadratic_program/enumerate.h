// The least constraint by enumeration of every set of pressing inequalities: slow, and simple to verify.
#pragma once

#include <vector>

#include "src/quadratic_program/quadratic_program.h"

namespace zwang {

// One set of inequalities taken as equations, and why it is or is not the solution.
struct TriedSet {
  enum class Reason {
    accepted,
    broken,        // another row would have a residual > 0
    pulls,         // a multiplier would be < 0
    contradictory  // the rows cannot be met together
  };
  std::vector<int> pressing;  // numbers of the inequalities taken as equations
  bool accepted = false;
  Reason reason = Reason::contradictory;
  int row = -1;                 // the row for which it was rejected
  double value = 0;             // and its residual or multiplier, in the caller's units
  Eigen::VectorXd x;            // n: of this candidate
  Eigen::VectorXd multipliers;  // r: of this candidate; one valid choice where the rows are dependent
};

// Sets are tried in order of size, within a size lexicographically; the first accepted one is the solution.
// With a trace and at most 6 inequalities every set is tried and listed. Where conditions are degenerate
// several sets are accepted, all with the same x.
QpSolution enumerate_qp(const QuadraticProgram& program, std::vector<TriedSet>* trace = nullptr);

}  // namespace zwang
