// The points of a quadric nearest to the origin: every local minimum of the distance.
//
//     minimise 1/2 |z|^2   subject to   q(z) = z^T H z + 2 b^T z + c = 0   (or <= 0)
//
// Where a condition's gradient vanishes this replaces the linear condition on accelerations [staeckel-6'']:
// the least constraint is the shortest distance to a cone, which may have two minima, or a whole circle of
// them.
#pragma once

#include <Eigen/Dense>
#include <vector>

namespace zwang {

struct Quadric {
  Eigen::MatrixXd matrix;  // H, symmetric
  Eigen::VectorXd linear;  // b
  double constant = 0;     // c
  bool inequality = false;

  double value(const Eigen::VectorXd& z) const { return z.dot(matrix * z) + 2 * linear.dot(z) + constant; }
  Eigen::VectorXd slope(const Eigen::VectorXd& z) const { return matrix * z + linear; }  // half the gradient
};

struct NearestPoint {
  Eigen::VectorXd z;      // the minimum; one of them if it is a family
  double multiplier = 0;  // nu: z + nu (H z + b) = 0; 0 where the quadric is not active, or at a vertex
  // A family: center + radius * basis * (any unit vector). No columns: the minimum is isolated.
  Eigen::VectorXd center;
  double radius = 0;
  Eigen::MatrixXd basis;
};

// Sorted by distance. Empty if the quadric has no real point.
std::vector<NearestPoint> nearest_points(const Quadric& quadric);

}  // namespace zwang
