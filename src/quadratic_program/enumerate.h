// The least constraint by trying every set of pressing inequalities: slow, and obviously right.
#pragma once

#include <vector>

#include "src/quadratic_program/quadratic_program.h"

namespace zwang {

// One set of inequalities taken as equations, and why it is or is not the answer.
struct TriedSet {
  enum class Reason {
    accepted,
    broken,        // another row would have a residual > 0
    pulls,         // a multiplier < 0
    contradictory  // the rows cannot be met together
  };
  std::vector<int> pressing;  // numbers of the inequalities taken as equations
  bool accepted = false;
  Reason reason = Reason::contradictory;
  int row = -1;                 // the row that decided against it
  double value = 0;             // and its residual or multiplier, in the caller's units
  Eigen::VectorXd x;            // n: of this candidate
  Eigen::VectorXd multipliers;  // r: of this candidate; some that fit where the rows are dependent
};

// Sets are tried in order of size, within a size lexicographically; the first accepted one gives the answer.
// With a trace and at most 6 inequalities every set is tried and listed. Where conditions are degenerate
// several sets are accepted: they have one x.
QpSolution enumerate_qp(const QuadraticProgram& program, std::vector<TriedSet>* trace = nullptr);

}  // namespace zwang
