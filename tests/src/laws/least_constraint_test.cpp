// Accelerations by Gauss's principle (mechanics sections 2, 3 and 6), and their explanation.
#include "src/laws/least_constraint.h"

#include <gtest/gtest.h>

#include <cmath>

#include "src/analysis/explain.h"
#include "tests/support/system_builder.h"

namespace zwang::least_constraint_test {
namespace {

using Eigen::VectorXd;

constexpr double rounding = 1e-12;
constexpr double tolerance = 1e-11;  // ten times the default contact_tolerance, as the motion uses it

LeastConstraint gauss(const Mechanism& m, const std::vector<std::size_t>& in_force) {
  return least_constraint(*m.equations, m.start, sizes_of(m.start), in_force, tolerance);
}

// A point at a corner of planes row . q <= 0 under a constant force.
Mechanism at_corner(const Eigen::MatrixXd& rows, const VectorXd& force) {
  SystemBuilder b;
  std::vector<double> zero(static_cast<std::size_t>(force.size()), 0.0);
  b.point("p", "1", zero);
  for (Eigen::Index i = 0; i < force.size(); ++i)
    b.force(std::string("p.") + "xyz"[i], number_text(force(i)));
  for (Eigen::Index r = 0; r < rows.rows(); ++r) {
    std::string f = "0";
    for (Eigen::Index i = 0; i < force.size(); ++i) f += " + (" + number_text(rows(r, i)) + ")*p." + "xyz"[i];
    b.require("c" + std::to_string(r), f + " <= 0");
  }
  return b.make();
}

TEST(LeastConstraintTest, AFreePointHasItsFreeAcceleration) {
  SystemBuilder b;
  b.point("p", "2", {0, 0}).force("p.x", "6").gravity({"0", "-9.81"});
  const LeastConstraint made = gauss(b.make(), {});
  EXPECT_NEAR((made.a - Eigen::Vector2d(3, -9.81)).norm(), 0, rounding);
}

// A light bead on a taut line: in the mass metric the rows of rod and line differ by a millionth of a radian,
// and Phi = A M^-1 A^T keeps four digits of what decides the tension M (g + v^2/L).
TEST(LeastConstraintTest, ABeadOfAMillionthOnATautLineLeavesTheTensionExact) {
  SystemBuilder b;
  b.anchor("nail", {"0", "0"}).point("bead", "1e-6", {0, -1}).point("load", "1e6", {0, -2}, {0.1, 0});
  b.gravity({"0", "-9.81"});
  b.require("rod", "distance(bead, nail) == 1").require("line", "distance(bead, load) <= 1");
  const Mechanism m = b.make();
  const Accelerations made = constrained_acceleration(*m.equations, m.start, {0, 1});
  const double tension = 1e6 * (9.81 + 0.01);
  EXPECT_NEAR(made.multipliers(1) / tension, 1, 1e-9);
  EXPECT_NEAR(made.multipliers(0) / tension, 1, 1e-9);
  EXPECT_NEAR(made.a(3), 0.01, 1e-9);  // of the load, towards the bead, which rests
  EXPECT_NEAR(made.a(1), 0, 1e-9);
}

TEST(LeastConstraintTest, APendulumHasItsTension) {
  // lambda = m (v^2/L + g cos theta) for f = (d^2 - L^2)/(2 L).
  for (const double theta : {0.0, 0.7, 1.4, 2.5}) {
    SystemBuilder b;
    const double speed = 3, L = 1.3;
    b.anchor("nail", {"0", "0"}).parameter("L", L);
    b.point("p", "2", {L * std::sin(theta), -L * std::cos(theta)},
            {speed * std::cos(theta), speed * std::sin(theta)});
    b.gravity({"0", "-9.81"}).require("rod", "distance(p, nail) == L");
    const LeastConstraint made = gauss(b.make(), {0});
    EXPECT_NEAR(made.multipliers(0), 2 * (speed * speed / L + 9.81 * std::cos(theta)), 1e-11);
    EXPECT_NEAR(made.second(0), 0, 1e-11);
    EXPECT_TRUE(made.pressing[0]);
  }
}

TEST(LeastConstraintTest, AConditionTheFreeMotionRespectsMayPress) {
  // Free: f1'' = 1.6 > 0, f2'' = -0.2 < 0. On the first alone a = (0.2, -0.2) and f2'' = 0.6 > 0: both press,
  // a = 0.
  const Mechanism m = at_corner((Eigen::MatrixXd(2, 2) << 1, 1, 1, -2).finished(), Eigen::Vector2d(1, 0.6));
  const LeastConstraint made = gauss(m, {0, 1});
  EXPECT_TRUE(made.pressing[0]);
  EXPECT_TRUE(made.pressing[1]);
  EXPECT_NEAR(made.a.norm(), 0, rounding);
}

TEST(LeastConstraintTest, AConditionTheFreeMotionBreaksMayYield) {
  // Free: f1'' = 1 > 0, f2'' = 0.19 > 0. On the first alone a = (0, -0.1) and f2'' = -0.01 < 0: it yields.
  const Mechanism m =
      at_corner((Eigen::MatrixXd(2, 2) << 1, 0, 0.2, 0.1).finished(), Eigen::Vector2d(1, -0.1));
  const LeastConstraint made = gauss(m, {0, 1});
  EXPECT_TRUE(made.pressing[0]);
  EXPECT_TRUE(made.yielding[1]);
  EXPECT_EQ(made.multipliers(1), 0);
  EXPECT_NEAR((made.a - Eigen::Vector2d(0, -0.1)).norm(), 0, rounding);
}

TEST(LeastConstraintTest, EveryRandomCornerSatisfiesTheConditionsOfTheMinimum) {
  Dice dice(71);
  for (int trial = 0; trial < 300; ++trial) {
    Eigen::MatrixXd rows(1 + static_cast<Eigen::Index>(dice.below(5)), 3);
    for (double& x : rows.reshaped()) x = std::round(dice.between(-3, 3));
    for (Eigen::Index r = 0; r < rows.rows(); ++r)
      if (rows.row(r).isZero()) rows(r, 0) = 1;
    const Mechanism m = at_corner(rows, dice.vector(3, -2, 2));
    std::vector<std::size_t> all(static_cast<std::size_t>(rows.rows()));
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = k;
    const LeastConstraint made = gauss(m, all);
    ASSERT_EQ(made.status, Status::ok);
    const VectorXd second = rows * made.a;
    EXPECT_LE(second.maxCoeff(), 1e-11) << "trial " << trial;
    EXPECT_GE(made.multipliers.minCoeff(), 0) << "trial " << trial;
    EXPECT_NEAR(made.multipliers.dot(second), 0, 1e-10) << "trial " << trial;
    EXPECT_NEAR((made.a - made.program.free + rows.transpose() * made.multipliers).norm(), 0, 1e-10);
    EXPECT_LE(made.kkt, 1e-10);
  }
}

TEST(LeastConstraintTest, RowsThatHoldAsEquationsHaveMultipliersOfAClosedInequality) {
  // With dependent closed inequalities the smooth phase must not give one a negative multiplier while another
  // distribution of the force is positive for all: planes x, y, z >= 0 and x + y + z >= 0 under (-1, -2, -3).
  const Mechanism m =
      at_corner((Eigen::MatrixXd(4, 3) << -1, 0, 0, 0, -1, 0, 0, 0, -1, -1, -1, -1).finished(),
                Eigen::Vector3d(-1, -2, -3));
  const LeastConstraint whole = gauss(m, {0, 1, 2, 3});
  ASSERT_TRUE(whole.redundant);
  EXPECT_GE(whole.multipliers.minCoeff(), 0);
  const Accelerations smooth = constrained_acceleration(*m.equations, m.start, {0, 1, 2, 3});
  EXPECT_NEAR(smooth.a.norm(), 0, rounding);
  EXPECT_GE(smooth.multipliers.minCoeff(), -rounding);
}

TEST(LeastConstraintTest, AVanishingGradientIsSingular) {
  SystemBuilder b;
  b.point("p", "1", {0, 0, 0}).require("cone", "p.x^2 + p.y^2 <= p.z^2");
  EXPECT_EQ(gauss(b.make(), {0}).status, Status::singular);
}

TEST(LeastConstraintTest, ContradictingAccelerationsAreInfeasible) {
  SystemBuilder b;
  b.point("p", "1", {0}).require("one", "p.x >= t^2").require("other", "p.x <= -t^2");
  EXPECT_EQ(gauss(b.make(), {0, 1}).status, Status::infeasible);
}

// --- Explained ----------------------------------------------------------------------------------------

TEST(ExplainTest, AnExplanationSaysWhoPressesAndWhyNotTheOthers) {
  const Mechanism m =
      at_corner((Eigen::MatrixXd(2, 2) << 1, 0, 0.2, 0.1).finished(), Eigen::Vector2d(1, -0.1));
  const Sample there{m.start, VectorXd::Zero(2), {0, 0}, {}};
  const Explanation made = explain(*m.equations, there, 1e-12);
  EXPECT_EQ(made.status, Status::ok);
  EXPECT_EQ(made.conditions[0].state, "pressing");
  EXPECT_EQ(made.conditions[1].state, "yielding");
  EXPECT_EQ(made.degrees_of_freedom, 1);
  EXPECT_EQ(made.position, "regular");
  EXPECT_NEAR(made.constraint, 0.5, rounding);  // 1/2 (a - a0)^2 with a - a0 = (-1, 0)
  EXPECT_NEAR(made.phi(0, 0), 1, rounding);
  EXPECT_NEAR(made.phi0(1), 0.19, rounding);
  ASSERT_EQ(made.tried.size(), 4u);
  int accepted = 0;
  for (const ExplainedSet& set : made.tried) {
    accepted += set.accepted;
    EXPECT_EQ(set.accepted, set.rejected.empty());
  }
  EXPECT_EQ(accepted, 1);
}

TEST(ExplainTest, OpenRedundantAndSingularPositionsAreToldApart) {
  SystemBuilder b;
  b.point("p", "1", {0, 0}).require("a", "p.x <= 0").require("b", "2*p.x <= 0").require("far", "p.y <= 5");
  const Mechanism m = b.make();
  const Explanation redundant = explain(*m.equations, {m.start, VectorXd::Zero(3), {0, 0, 0}, {}}, 1e-12);
  EXPECT_EQ(redundant.position, "redundant");
  EXPECT_EQ(redundant.conditions[2].state, "open");
  SystemBuilder cone;
  cone.point("p", "1", {0, 0, 0}).require("cone", "p.x^2 + p.y^2 == p.z^2");
  const Mechanism apex = cone.make();
  EXPECT_EQ(explain(*apex.equations, {apex.start, VectorXd::Zero(1), {1}, {}}, 1e-12).position, "singular");
}

TEST(ExplainTest, TheDivergenceOfAFrictionIsItsRate) {
  // v' = -c v: phase volume shrinks with c for each direction; a rod leaves only the one along the circle.
  SystemBuilder free_point, held;
  for (SystemBuilder* b : {&free_point, &held}) {
    b->parameter("c", 0.7).anchor("nail", {"0", "0"}).point("p", "1", {1, 0}, {0, 2});
    b->force("p.x", "-c*p.x'").force("p.y", "-c*p.y'");
  }
  held.require("rod", "distance(p, nail) == 1");
  const Mechanism one = free_point.make(), other = held.make();
  EXPECT_NEAR(explain(*one.equations, {one.start, VectorXd(), {}, {}}, 1e-12).divergence, -1.4, rounding);
  EXPECT_NEAR(explain(*other.equations, {other.start, VectorXd::Zero(1), {1}, {}}, 1e-12).divergence, -0.7,
              rounding);
}

}  // namespace
}  // namespace zwang::least_constraint_test
