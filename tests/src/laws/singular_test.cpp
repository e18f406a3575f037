// Singular positions, where linear conditions on accelerations are not sufficient (mechanics section 6).
#include "src/laws/singular.h"

#include <gtest/gtest.h>

#include "src/analysis/explain.h"
#include "tests/support/system_builder.h"

namespace zwang::singular_test {
namespace {

using Eigen::VectorXd;

constexpr double rounding = 1e-13;

Explanation at_start(const Mechanism& m) {
  Sample there;
  there.state = m.start;
  there.multipliers = VectorXd::Zero(static_cast<Eigen::Index>(m.equations->count()));
  there.closed.assign(m.equations->count(), 0.0);
  return explain(*m.equations, there, 1e-12);
}

SingularPosition singular_start(const Mechanism& m) { return at_start(m).singular.value(); }

void expect_vector(const VectorXd& actual, std::initializer_list<double> expected) {
  ASSERT_EQ(actual.size(), static_cast<Eigen::Index>(expected.size()));
  Eigen::Index i = 0;
  for (const double value : expected) EXPECT_NEAR(actual(i++), value, rounding) << "component " << i - 1;
}

SystemBuilder point(const std::vector<std::string>& force, const std::string& mass = "1") {
  SystemBuilder made;
  made.point("p", mass, std::vector<double>(force.size(), 0));
  for (std::size_t k = 0; k < force.size(); ++k) made.force(std::string("p.") + "xyz"[k], force[k]);
  return made;
}

TEST(Singular, AHeavierPointAndACrookedConeAreMeasuredInTheMassMetric) {
  // x^2 + 4 y^2 = 9 z^2 and mass 2: checked by sliding along the two nappes' parametrisation.
  SystemBuilder b = point({"2", "2", "3"}, "2");
  const SingularPosition found = singular_start(b.require("cone", "p.x^2 + 4*p.y^2 - 9*p.z^2 == 0").make());
  ASSERT_FALSE(found.minima.empty());
  const VectorXd a = found.minima[0].acceleration;
  EXPECT_NEAR(a(0) * a(0) + 4 * a(1) * a(1) - 9 * a(2) * a(2), 0, rounding);
  double least = 1e9;
  for (int i = 0; i < 2000; ++i) {
    const double phi = i * 3.14159265358979 / 1000;
    const Eigen::Vector3d g(3 * std::cos(phi), 1.5 * std::sin(phi), 1), free(1, 1, 1.5);
    const double s = g.dot(free) / g.squaredNorm();
    least = std::min(least, (s * g - free).squaredNorm());  // 1/2 m |a - a0|^2 with m = 2
  }
  EXPECT_NEAR(found.minima[0].constraint, least, 1e-5);
  EXPECT_LE(found.minima[0].constraint, least + rounding);
  expect_vector(found.minima[0].reaction - 2 * (a - Eigen::Vector3d(1, 1, 1.5)), {0, 0, 0});
}

TEST(Singular, ALinearConditionBesideTheConeCutsIt) {
  // In the plane y = 0 the cone is the two lines z = +-x: from (3, ., 2) the feet (2.5, 0, 2.5) and (0.5, 0,
  // -0.5).
  SystemBuilder b = point({"3", "4", "2"});
  b.require("cone", "p.x^2 + p.y^2 - p.z^2 == 0").require("plane", "p.y == 0");
  const SingularPosition found = singular_start(b.make());
  EXPECT_EQ(found.rank, 1);
  ASSERT_EQ(found.minima.size(), 2u);
  expect_vector(found.minima[0].acceleration, {2.5, 0, 2.5});
  expect_vector(found.minima[1].acceleration, {0.5, 0, -0.5});
  EXPECT_EQ(found.minima[0].pressing, (std::vector<std::string>{"plane", "cone"}));
  // d'Alembert's principle uses the plane but not the cone.
  expect_vector(found.dalembert, {3, 0, 2});
}

TEST(Singular, AnInequalityBesideTheConeMayPressOrNot) {
  // With z <= 0 closed only the lower nappe is left, and the floor does not press there.
  SystemBuilder b = point({"3", "4", "2"});
  b.require("cone", "p.x^2 + p.y^2 - p.z^2 == 0").require("ceiling", "p.z <= 0");
  const SingularPosition below = singular_start(b.make());
  ASSERT_EQ(below.minima.size(), 1u);
  expect_vector(below.minima[0].acceleration, {0.9, 1.2, -1.5});
  EXPECT_EQ(below.minima[0].pressing, std::vector<std::string>{"cone"});
  // z >= 0 and x <= 0: on the upper nappe in the plane x = 0, which presses.
  SystemBuilder c = point({"3", "4", "2"});
  c.require("cone", "p.x^2 + p.y^2 - p.z^2 == 0").require("floor", "p.z >= 0").require("wall", "p.x <= 0");
  const SingularPosition corner = singular_start(c.make());
  ASSERT_EQ(corner.minima.size(), 1u);
  expect_vector(corner.minima[0].acceleration, {0, 3, 3});
  EXPECT_EQ(corner.minima[0].pressing, (std::vector<std::string>{"wall", "cone"}));
}

TEST(Singular, AnInequalityCutsAFamily) {
  SystemBuilder b = point({"0", "0", "2"});
  b.require("cone", "p.x^2 + p.y^2 - p.z^2 == 0").require("wall", "p.x <= 0");
  const SingularPosition found = singular_start(b.make());
  ASSERT_FALSE(found.minima.empty());
  EXPECT_EQ(found.minima[0].basis.cols(), 2);
  EXPECT_TRUE(found.minima[0].partial);
}

TEST(Singular, InsideASolidConeTheForceIsFollowed) {
  SystemBuilder b = point({"1", "0", "3"});
  const SingularPosition found = singular_start(b.require("cone", "p.x^2 + p.y^2 - p.z^2 <= 0").make());
  ASSERT_EQ(found.minima.size(), 1u);
  expect_vector(found.minima[0].acceleration, {1, 0, 3});
  EXPECT_TRUE(found.minima[0].pressing.empty());
  EXPECT_TRUE(found.dalembert_breaks.empty());
  SystemBuilder c = point({"3", "4", "2"});
  const SingularPosition outside = singular_start(c.require("cone", "p.x^2 + p.y^2 - p.z^2 <= 0").make());
  ASSERT_EQ(outside.minima.size(), 2u);
  expect_vector(outside.minima[0].acceleration, {2.1, 2.8, 3.5});
}

TEST(Singular, ADoublePlaneIsAPlane) {
  SystemBuilder b = point({"3", "4", "2"});
  const SingularPosition found = singular_start(b.require("pressed flat", "p.z^2 == 0").make());
  ASSERT_EQ(found.minima.size(), 1u);
  expect_vector(found.minima[0].acceleration, {3, 4, 0});
}

TEST(Singular, MovingThroughTheApexTheThirdDerivativeIsLinear) {
  // f''' = 6 v.H a with H = diag(1, 1, -1) and v = (1, 0, 1) along a generator: a_x = a_z.
  SystemBuilder b;
  b.point("p", "1", {0, 0, 0}, {1, 0, 1}).force("p.x", "3").force("p.y", "4").force("p.z", "2");
  const SingularPosition found = singular_start(b.require("cone", "p.x^2 + p.y^2 - p.z^2 == 0").make());
  ASSERT_EQ(found.vanishing.size(), 1u);
  EXPECT_EQ(found.vanishing[0].order, 3);
  ASSERT_EQ(found.minima.size(), 1u);
  expect_vector(found.minima[0].acceleration, {2.5, 4, 2.5});
}

TEST(Singular, ATermInTimeTurnsTheConeIntoAHyperboloid) {
  // f = x^2 + y^2 - z^2 - t^4: d4f/dt4 = 6 a.H a - 24 at rest, so a.H a = 4; from the centre all of |(a_x,
  // a_y)| = 2.
  SystemBuilder b = point({"0", "0", "0"});
  const SingularPosition found = singular_start(b.require("cone", "p.x^2 + p.y^2 - p.z^2 - t^4 == 0").make());
  ASSERT_EQ(found.minima.size(), 1u);
  EXPECT_EQ(found.minima[0].basis.cols(), 2);
  EXPECT_NEAR(found.minima[0].radius, 2, rounding);
  EXPECT_NEAR(found.minima[0].constraint, 2, rounding);
}

TEST(Singular, WhatIsNotSoughtIsSaid) {
  SystemBuilder two = point({"3", "4", "2"});
  two.require("one", "p.x^2 + p.y^2 - p.z^2 == 0").require("other", "p.x^2 - p.y*p.z == 0");
  const SingularPosition both = singular_start(two.make());
  EXPECT_TRUE(both.minima.empty());
  EXPECT_NE(both.conclusion.find("more than one"), std::string::npos) << both.conclusion;
  SystemBuilder flat = point({"1", "1"});
  const SingularPosition high = singular_start(flat.require("quartic", "p.x^4 - p.y^4 == 0").make());
  EXPECT_TRUE(high.minima.empty());
  EXPECT_NE(high.conclusion.find("fourth derivative"), std::string::npos) << high.conclusion;
}

TEST(Singular, ContradictoryRowsAreToldFromRedundantOnes) {
  SystemBuilder b;
  b.point("p", "1", {0, 0}, {1, 0});
  // The line and the circle share their tangent, and the circle's f'' at a = 0 is v^2 = 1.
  b.require("line", "p.y == 0").require("circle", "(p.x^2 + (p.y - 1)^2 - 1)/2 == 0");
  const Explanation found = at_start(b.make());
  EXPECT_EQ(found.status, Status::infeasible);
  const SingularPosition& singular = found.singular.value();
  EXPECT_EQ(singular.kinds, std::vector<std::string>{"inconsistent"});
  EXPECT_EQ(singular.rank, 1);
  EXPECT_NEAR(std::abs(singular.contradictions(0)), 1, rounding);
  // At rest they agree.
  SystemBuilder still;
  still.point("p", "1", {0, 0})
      .require("line", "p.y == 0")
      .require("circle", "(p.x^2 + (p.y - 1)^2 - 1)/2 == 0");
  EXPECT_EQ(singular_start(still.make()).kinds, std::vector<std::string>{"redundant"});
}

}  // namespace
}  // namespace zwang::singular_test
