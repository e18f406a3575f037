// Multipliers of dependent contacts inside their cones.
#include "src/laws/cone_multipliers.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <optional>

namespace zwang::cone_multipliers_test {
namespace {

// The nearest point of a plane section of a cone, an ellipse. Cutting planes alone find it to the square root of their
// rounding: multipliers at rest in a corner were off by 6e-5 (soak with friction, seed 20013).
TEST(ConeMultipliers, OnAConeInSpaceAreTheNearestToRounding) {
  DependentMultipliers all;
  all.particular = Eigen::Vector3d(1, 2, -1);  // normal, two slip rows
  all.null.resize(3, 2);
  all.null << 0, std::sqrt(0.5), 1, 0, 0, std::sqrt(0.5);
  all.cones.push_back({.normal = 0, .tangent = 1, .tangents = 2, .cone = 0.5});
  all.noise = Eigen::VectorXd::Zero(3);
  const std::optional<Eigen::VectorXd> found = nearest_in_cones(all);
  ASSERT_TRUE(found);
  const Eigen::Vector2d force = found->tail(2), w = all.null.transpose() * (*found - all.particular);
  const Eigen::Vector3d outwards(-0.5, force(0) / force.norm(), force(1) / force.norm());
  const Eigen::Vector2d normal = all.null.transpose() * outwards;  // of the ellipse
  EXPECT_NEAR(force.norm(), 0.5 * (*found)(0), 1e-13);
  EXPECT_NEAR(w(0) * normal(1) - w(1) * normal(0), 0, 1e-12);
  EXPECT_LT(w.dot(normal), 0);
}

}  // namespace
}  // namespace zwang::cone_multipliers_test
