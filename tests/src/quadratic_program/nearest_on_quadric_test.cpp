// The points of a quadric nearest to the origin.
#include "src/quadratic_program/nearest_on_quadric.h"

#include <gtest/gtest.h>

#include "tests/support/system_builder.h"

namespace zwang::nearest_on_quadric_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double rounding = 1e-12;

Quadric quadric(const VectorXd& diagonal, const VectorXd& linear, double constant, bool inequality = false) {
  return {diagonal.asDiagonal().toDenseMatrix(), linear, constant, inequality};
}

Quadric random_quadric(Dice& dice, Index n) {
  MatrixXd m(n, n);
  for (double& entry : m.reshaped()) entry = dice.between(-1, 1);
  return {m + m.transpose(), dice.vector(n, -1, 1), dice.between(-1, 1)};
}

// Descends the distance on the surface q = 0 from a point by projected steps: slow, and independent of
// multipliers.
bool descend(const Quadric& q, VectorXd& z) {
  const auto onto = [&](VectorXd& x) {
    for (int i = 0; i < 60; ++i) {
      const VectorXd g = 2 * q.slope(x);
      if (!(g.squaredNorm() > 1e-20)) return false;
      x -= q.value(x) / g.squaredNorm() * g;
    }
    return std::abs(q.value(x)) < 1e-12;
  };
  if (!onto(z)) return false;
  double step = 0.3;
  for (int i = 0; i < 20000 && step > 1e-13; ++i) {
    const VectorXd g = q.slope(z).normalized();
    VectorXd next = z - step * (z - g.dot(z) * g);
    if (onto(next) && next.norm() < z.norm() && (next - z).norm() < 2 * step * (1 + z.norm()))
      z = next;
    else
      step *= 0.7;
  }
  return true;
}

TEST(Cone, EveryMinimumThatADescentFindsIsListedAndEveryListedOneIsAMinimum) {
  Dice dice(7);
  int several = 0;
  for (int trial = 0; trial < 60; ++trial) {
    SCOPED_TRACE(trial);
    const auto n = static_cast<Index>(2 + dice.below(3));
    const Quadric q = random_quadric(dice, n);
    const std::vector<NearestPoint> found = nearest_points(q);
    several += found.size() > 1;
    // Listed points lie on the surface, and no neighbouring point is nearer.
    for (const NearestPoint& point : found) {
      EXPECT_NEAR(q.value(point.z), 0, 1e-10);
      EXPECT_LT((point.z + point.multiplier * q.slope(point.z)).norm(), 1e-10);
      for (int i = 0; i < 20; ++i) {
        VectorXd beside = point.z + 1e-3 * dice.vector(n, -1, 1);
        for (int k = 0; k < 20; ++k)
          beside -= q.value(beside) / (4 * q.slope(beside).squaredNorm()) * 2 * q.slope(beside);
        EXPECT_GE(beside.norm(), point.z.norm() - 1e-12);
      }
    }
    // Points found by descent are listed.
    for (int start = 0; start < 15; ++start) {
      VectorXd z = dice.vector(n, -2, 2);
      if (!descend(q, z)) continue;
      double nearest = 1e9;
      for (const NearestPoint& point : found) nearest = std::min(nearest, (point.z - z).norm());
      // A descent may stall where the surface is nearly as far everywhere.
      const VectorXd g = q.slope(z).normalized();
      const bool stalled = (z - g.dot(z) * g).norm() >= 1e-7;
      EXPECT_TRUE(stalled || nearest < 1e-3) << z.transpose();
    }
  }
  EXPECT_GT(several, 5) << "the draw should have surfaces with more than one minimum";
}

TEST(Cone, AForceAlmostInThePlaneOfSymmetryIsAsExactAsOneInIt) {
  // Cone (1, 1, -1), X = (5, 0, x3): a = (5 +- x3)/2 (1, 0, +-1), whatever small x3; near the hard case.
  for (const double x3 : {1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 0.0}) {
    SCOPED_TRACE(x3);
    const Vector3d d(1, 1, -1), x(5, 0, x3);
    const std::vector<NearestPoint> found =
        nearest_points(quadric(d, d.cwiseProduct(x), x.dot(d.cwiseProduct(x))));
    ASSERT_EQ(found.size(), 2u);
    for (const NearestPoint& point : found) {
      const Vector3d a = x + point.z;
      const double side = a(2) > 0 ? 1 : -1;
      EXPECT_NEAR(a(0), (5 + side * x3) / 2, rounding);
      EXPECT_NEAR(a(2), side * (5 + side * x3) / 2, rounding);
    }
  }
}

TEST(Cone, AFamilyIsASphereInItsEigenspace) {
  // x1^2 + x2^2 + x3^2 = x4^2 with the point on the axis: a two-dimensional sphere.
  const VectorXd d = Eigen::Vector4d(1, 1, 1, -1), x = Eigen::Vector4d(0, 0, 0, -6);
  const std::vector<NearestPoint> found =
      nearest_points(quadric(d, d.cwiseProduct(x), x.dot(d.cwiseProduct(x))));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].basis.cols(), 3);
  EXPECT_NEAR(found[0].radius, 3, rounding);
  EXPECT_NEAR((x + found[0].center)(3), -3, rounding);
}

TEST(Cone, ADefiniteConeIsItsVertexAndASemidefiniteOneItsNullSpace) {
  const Vector3d x(1, 2, 3);
  const auto about = [&](const Vector3d& d) {
    return nearest_points(quadric(d, d.cwiseProduct(x), x.dot(d.cwiseProduct(x))));
  };
  const std::vector<NearestPoint> point = about({1, 2, 5});
  ASSERT_EQ(point.size(), 1u);
  EXPECT_LT((x + point[0].z).norm(), rounding);
  const std::vector<NearestPoint> line = about({1, 1, 0});  // x1 = x2 = 0
  ASSERT_EQ(line.size(), 1u);
  EXPECT_LT((x + line[0].z - Vector3d(0, 0, 3)).norm(), rounding);
  const std::vector<NearestPoint> plane = about({0, -4, 0});
  ASSERT_EQ(plane.size(), 1u);
  EXPECT_LT((x + plane[0].z - Vector3d(1, 0, 3)).norm(), rounding);
}

TEST(Cone, AnInequalityLetsThePointBeWhereItIsAllowed) {
  const Vector3d d(1, 1, -1), inside(1, 0, 3), outside(3, 4, 2);
  const auto solid = [&](const Vector3d& x) {
    return nearest_points(quadric(d, d.cwiseProduct(x), x.dot(d.cwiseProduct(x)), true));
  };
  ASSERT_EQ(solid(inside).size(), 1u);
  EXPECT_EQ(solid(inside)[0].z.norm(), 0);
  const std::vector<NearestPoint> found = solid(outside);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_LT((outside + found[0].z - Vector3d(2.1, 2.8, 3.5)).norm(), rounding);
  EXPECT_GT(found[0].multiplier, 0);
  // With the opposite sign the region is connected, and the point outside the solid cone is in it.
  ASSERT_EQ(
      nearest_points(quadric(-d, -d.cwiseProduct(inside), -inside.dot(d.cwiseProduct(inside)), true)).size(),
      1u);
}

TEST(Cone, ASurfaceWithoutPointsHasNoMinimum) {
  EXPECT_TRUE(nearest_points(quadric(Vector2d(1, 2), Vector2d(0, 0), 1)).empty());
  EXPECT_TRUE(nearest_points(quadric(Vector2d(0, 0), Vector2d(0, 0), 1)).empty());
  // A plane, and everything.
  EXPECT_LT((nearest_points(quadric(Vector2d(0, 0), Vector2d(1, 0), 4)).at(0).z - Vector2d(-2, 0)).norm(),
            rounding);
  EXPECT_EQ(nearest_points(quadric(Vector2d(0, 0), Vector2d(0, 0), 0)).size(), 1u);
}

}  // namespace
}  // namespace zwang::nearest_on_quadric_test
