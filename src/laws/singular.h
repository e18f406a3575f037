// Singular positions, where the linear conditions on accelerations are not sufficient [staeckel-§1..3].
#pragma once

#include <Eigen/Dense>
#include <optional>
#include <string>
#include <vector>

#include "src/laws/least_constraint.h"
#include "src/laws/vanishing_row.h"
#include "src/quadratic_program/nearest_on_quadric.h"
#include "src/system/equations.h"

namespace zwang {

// A minimum of the constraint at a singular position.
struct SingularMinimum {
  Eigen::VectorXd acceleration;       // n; one of them if it is a family
  double constraint = 0;              // 1/2 (a - a0)^T M (a - a0)
  double distance = 0;                // its length: sqrt(2 constraint)
  bool absolute = false;              // no other is smaller
  Eigen::VectorXd reaction;           // M (a - a0)
  std::vector<std::string> pressing;  // active conditions, equations included
  // A family: center + radius * basis * (any unit vector); no columns: the minimum is isolated.
  Eigen::VectorXd center;
  double radius = 0;
  Eigen::MatrixXd basis;
  bool partial = false;  // other conditions exclude a part of the family
};

struct SingularPosition {
  std::vector<std::string> kinds;  // "redundant", "inconsistent", "vanishing gradient"
  int rank = 0;                    // of the rows
  Eigen::MatrixXd dependencies;    // k x r: combinations of the rows that vanish, largest entry 1
  Eigen::VectorXd contradictions;  // k: what these combinations leave of c; not 0: rows contradict each other
  Eigen::MatrixXd null_directions;  // n x (n - rank): accelerations the rows do not see
  // With a vanishing gradient:
  std::vector<VanishingRow> vanishing;
  std::vector<SingularMinimum> minima;  // every local one, by size of the constraint
  std::string untreated;                // why there are no minima, where they were not sought
  Eigen::VectorXd dalembert;  // what the remaining linear conditions alone would give; empty: nothing
  std::vector<std::string> dalembert_breaks;
  std::string conclusion;  // in words
};

// `gauss`: the least constraint at this state, as far as it could be solved. Empty at a regular position.
std::optional<SingularPosition> singular_position(const Equations& equations, const State& state,
                                                  const Sizes& sizes, const LeastConstraint& gauss);

}  // namespace zwang
