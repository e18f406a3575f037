// A condition whose row A vanishes restricts accelerations by its higher time derivatives.
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <string>

#include "src/system/equations.h"

namespace zwang {

// A condition whose row vanishes, at the lowest time derivative in which accelerations appear:
//     d^order f / dt^order = a^T curvature a + slope . a + rest
struct VanishingRow {
  std::size_t condition = 0;
  std::string name;
  int order = 0;  // 3: linear again; 4: a quadric; 0: not found up to the fourth
  Eigen::MatrixXd curvature;
  Eigen::VectorXd slope;
  double rest = 0;
};

// Differentiates a condition whose row vanishes at `state` up to the order at which accelerations appear.
VanishingRow vanishing_row(const Equations& equations, std::size_t condition, const State& state,
                           const Sizes& sizes);

}  // namespace zwang
