// Starts on, off and against the conditions; and every status with which a member can end (mechanics sections
// 5, 6 and 12).
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/system_builder.h"

namespace zwang::motion_start_test {
namespace {

constexpr double rounding = 1e-12;

// --- Starts -------------------------------------------------------------------------------------------

TEST(MotionStartTest, AStartAgainstAConditionIsAShockAtTheStart) {
  for (const double e : {0.0, 0.5}) {
    SystemBuilder b;
    b.parameter("e", e).point("ball", "1", {0}, {-2}).require("floor", "ball.x >= 0", "e");
    const Trajectory made = b.make().run(1, {}, {0});
    ASSERT_EQ(made.status, Status::ok) << made.cause;
    ASSERT_GE(made.events.size(), 2u);
    EXPECT_EQ(made.events[0].kind, EventKind::contact);
    EXPECT_EQ(made.events[1].kind, EventKind::shock);
    EXPECT_EQ(made.events[1].t, 0);
    EXPECT_NEAR(made.samples[0].state.v(0), 2 * e, rounding);
    EXPECT_EQ(made.position_moved, 0);
    EXPECT_EQ(made.velocity_moved, 0);
    EXPECT_TRUE(made.start_consistent);
  }
}

TEST(MotionStartTest, AStartThatLeavesAConditionIsFree) {
  SystemBuilder b;
  b.point("ball", "1", {3}, {2}).gravity({"-1"}).require("floor", "ball.x >= 3");
  const Trajectory made = b.make().run(1);
  EXPECT_TRUE(made.events.empty());
  EXPECT_NEAR(made.last.state.q(0), 4.5, rounding);
}

TEST(MotionStartTest, AStartOffACircleGoesToItsNearestPoint) {
  Dice dice(23);
  for (int trial = 0; trial < 200; ++trial) {
    const double angle = dice.between(0, 2 * M_PI), away = std::pow(10, dice.between(-3, 2));
    SystemBuilder b;
    b.anchor("nail", {"0", "0"}).point("p", "1", {away * std::cos(angle), away * std::sin(angle)});
    b.require("rod", "distance(p, nail) == 1");
    const Trajectory made = b.make().run(1e-9);
    ASSERT_EQ(made.status, Status::ok) << made.cause << ", from distance " << away;
    const double missed = (made.last.state.q - Eigen::Vector2d(std::cos(angle), std::sin(angle))).norm();
    ASSERT_LE(missed, rounding) << "from distance " << away;
    EXPECT_NEAR(made.position_moved, std::abs(away - 1), rounding * (1 + away));
  }
}

// The nearest point of x^2/a^2 + y^2 = 1 by a fine search over its angle, then Newton: independent of the
// program.
Eigen::Vector2d nearest_on_ellipse(double a, const Eigen::Vector2d& from) {
  const auto point = [&](double s) { return Eigen::Vector2d(a * std::cos(s), std::sin(s)); };
  double best = 0;
  for (int k = 0; k < 20'000; ++k) {
    const double s = 2 * M_PI * k / 20'000;
    if ((point(s) - from).norm() < (point(best) - from).norm()) best = s;
  }
  for (int k = 0; k < 20; ++k) {
    const Eigen::Vector2d d(-a * std::sin(best), std::cos(best));
    const double slope = (point(best) - from).dot(d);
    const double curvature = d.squaredNorm() - (point(best) - from).dot(point(best));
    best -= slope / curvature;
  }
  return point(best);
}

TEST(MotionStartTest, AStartOffAnEllipseGoesToItsNearestPoint) {
  const Eigen::Vector2d starts[] = {{2.1, 0.3}, {1.5, 1.0}, {0.1, 0.9}, {0.5, 0.4},
                                    {-1, 1.8},  {3, 2},     {6, -5}};
  for (const Eigen::Vector2d& from : starts) {
    SystemBuilder b;
    b.point("p", "1", {from(0), from(1)}).require("track", "p.x^2/4 + p.y^2 == 1");
    const Trajectory made = b.make().run(1e-9);
    const Eigen::Vector2d expected = nearest_on_ellipse(2, from);
    ASSERT_EQ(made.status, Status::ok) << made.cause;
    EXPECT_NEAR((made.last.state.q - expected).norm(), 0, 1e-7) << "from " << from.transpose();
    EXPECT_NEAR(made.position_moved, (from - expected).norm(), 1e-7) << "from " << from.transpose();
  }
}

TEST(MotionStartTest, AStartOutsideAnInequalityGoesToItsBoundaryAndOneInsideStays) {
  for (const double x : {3.0, 1.5, 0.4}) {
    SystemBuilder b;
    b.anchor("nail", {"0", "0", "0"}).point("p", "1", {0, x, 0}).require("string", "distance(p, nail) <= 1");
    const Trajectory made = b.make().run(0.5);
    EXPECT_NEAR(made.position_moved, std::max(x - 1, 0.0), rounding);
    EXPECT_EQ(made.start_consistent, x <= 1);
    EXPECT_NEAR(made.last.state.q(1), std::min(x, 1.0), rounding);
  }
}

TEST(MotionStartTest, TheNearestPointIsMeantInTheMassMetric) {
  // Masses 1 and 4 at 0 and 2 under x1 - x0 == 1: the heavy one moves a quarter as far.
  SystemBuilder b;
  b.point("a", "1", {0}).point("b", "4", {2}).require("rod", "b.x - a.x == 1");
  const Trajectory made = b.make().run(1e-9);
  EXPECT_NEAR(made.last.state.q(0), 0.8, rounding);
  EXPECT_NEAR(made.last.state.q(1), 1.8, rounding);
  EXPECT_NEAR(made.position_moved, std::hypot(0.8, 0.2), rounding);
}

TEST(MotionStartTest, VelocitiesGoToTheNearestAdmissibleOnes) {
  SystemBuilder b;
  b.anchor("nail", {"0", "0"}).point("p", "1", {1, 0}, {3, 4}).require("rod", "distance(p, nail) == 1");
  const Trajectory made = b.make().run(1e-9);
  EXPECT_NEAR(made.velocity_moved, 3, rounding);
  EXPECT_NEAR(made.last.state.v(1), 4, rounding);
  EXPECT_TRUE(made.events.empty());  // made consistent, without a shock
}

TEST(MotionStartTest, AStartOnAMovingConditionTakesItsVelocity) {
  SystemBuilder b;
  b.point("p", "1", {0}).require("belt", "p.x == 3*t");
  const Trajectory made = b.make().run(1);
  EXPECT_NEAR(made.velocity_moved, 3, rounding);
  EXPECT_NEAR(made.last.state.q(0), 3, rounding);
}

TEST(MotionStartTest, VelocityConditionsBindTheStart) {
  SystemBuilder b;
  b.coordinate("x", 0, 5).coordinate("y", 0, 1).kinetic("0.5*(x'^2 + y'^2)");
  b.require("rolling", "x' == 2*y'").require("limit", "y' <= 1.5");
  const Trajectory made = b.make().run(1);
  // Nearest to (5, 1) on x' = 2 y' is (4.4, 2.2); the limit leaves (3, 1.5).
  EXPECT_NEAR(made.last.state.v(0), 3, rounding);
  EXPECT_NEAR(made.last.state.v(1), 1.5, rounding);
}

// --- Ends ---------------------------------------------------------------------------------------------

TEST(MotionStatusTest, ContradictingEquationsHaveNoStart) {
  SystemBuilder b;
  b.point("p", "1", {0}).require("one", "p.x == 0").require("other", "p.x == 1");
  EXPECT_EQ(b.make().run(1).status, Status::inconsistent_start);
}

TEST(MotionStatusTest, ContradictingMovingEquationsAreInfeasible) {
  // Both hold at the start, with their rates; their accelerations contradict each other.
  SystemBuilder b;
  b.point("p", "1", {0}).require("one", "p.x == t^2").require("other", "p.x == -t^2");
  const Trajectory made = b.make().run(1);
  EXPECT_EQ(made.status, Status::infeasible) << status_name(made.status);
  EXPECT_EQ(made.last.state.t, 0);
}

TEST(MotionStatusTest, WallsThatMeetLeaveNoRoom) {
  SystemBuilder b;
  b.point("p", "1", {0.5}).require("left", "p.x >= t").require("right", "p.x <= 1 - t");
  const Trajectory made = b.make().run(2);
  EXPECT_EQ(made.status, Status::infeasible) << status_name(made.status);
  EXPECT_NEAR(made.last.state.t, 0.5, 1e-9);
}

TEST(MotionStatusTest, AForceThatIsNotFiniteEndsTheMotion) {
  for (const char* force : {"1/0", "log(-1)", "1/(t - t)", "sqrt(0.5 - t)"}) {
    SystemBuilder b;
    b.point("p", "1", {1}, {-1}).force("p.x", force);
    const Trajectory made = b.make().run(1);
    EXPECT_EQ(made.status, Status::not_finite) << force << ": " << status_name(made.status);
    EXPECT_TRUE(made.last.state.q.allFinite());
    EXPECT_TRUE(made.last.state.v.allFinite());
    EXPECT_LE(made.last.state.t, 0.5 + 1e-9);
  }
}

TEST(MotionStatusTest, AFallIntoAnAttractingCentreEnds) {
  // Collision with a point mass at t = pi/(2 sqrt 2): force and speed grow without limit.
  SystemBuilder b;
  b.point("p", "1", {1}).potential("-1/p.x");
  const Trajectory made = b.make().run(2);
  EXPECT_TRUE(made.status == Status::not_finite || made.status == Status::step_too_small)
      << status_name(made.status);
  EXPECT_NEAR(made.last.state.t, M_PI / (2 * std::sqrt(2.0)), 1e-6);
}

TEST(MotionStatusTest, TheApexOfAConeIsSingular) {
  SystemBuilder b;
  b.point("p", "1", {0, 0, 0}).gravity({"1", "0", "-1"}).require("cone", "p.x^2 + p.y^2 == p.z^2");
  EXPECT_EQ(b.make().run(1).status, Status::singular);
  SystemBuilder inside;
  inside.point("p", "1", {0, 0, 0}).gravity({"1", "0", "-1"}).require("cone", "p.x^2 + p.y^2 <= p.z^2");
  EXPECT_EQ(inside.make().run(1).status, Status::singular);
}

TEST(MotionStatusTest, AwayFromItsApexAConeIsRegular) {
  SystemBuilder b;
  b.point("p", "1", {1, 0, 1}, {0, 1, 0}).gravity({"0", "0", "-1"}).require("cone", "p.x^2 + p.y^2 == p.z^2");
  const Trajectory made = b.make().run(10);
  EXPECT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_LE(made.audit.energy_drift, 1e-6 * made.audit.energy_size);
}

TEST(MotionStatusTest, TooManyStepsOrEventsEndTheMotionWithItsLastGoodState) {
  SystemBuilder b;
  b.coordinate("x", 1).kinetic("0.5*x'^2").potential("0.5*x^2").watch("zero", "x");
  IntegratorSettings few;
  few.max_steps = 20;
  const Trajectory steps = b.make().run(1000, few);
  EXPECT_EQ(steps.status, Status::step_limit);
  EXPECT_LE(steps.steps, 20);
  EXPECT_NEAR(std::hypot(steps.last.state.q(0), steps.last.state.v(0)), 1, 1e-6);
  few.max_steps = 1'000'000;
  few.max_events = 5;
  const Trajectory events = b.make().run(1000, few);
  EXPECT_EQ(events.status, Status::event_limit);
  EXPECT_NEAR(events.last.state.t, 5.5 * M_PI, 1e-5);
}

TEST(MotionStatusTest, AMassThatVanishesEndsTheMotion) {
  SystemBuilder b;
  b.coordinate("x", 1, -1).kinetic("0.5*x*x'^2");
  const Trajectory made = b.make().run(10);
  EXPECT_NE(made.status, Status::ok);
  EXPECT_GE(made.last.state.q(0), -1e-9);
}

TEST(MotionStatusTest, ARestitutionOrRadiusOutOfRangeIsNoStart) {
  SystemBuilder bouncy;
  bouncy.parameter("e", 1.5).point("p", "1", {1}).require("floor", "p.x >= 0", "e");
  EXPECT_EQ(bouncy.make().run(1).status, Status::inconsistent_start);
  SystemBuilder inverted;
  inverted.parameter("R", -1).anchor("nail", {"0", "0"}).point("p", "1", {0.5, 0});
  inverted.require("string", "distance(p, nail) <= R");
  EXPECT_EQ(inverted.make().run(1).status, Status::inconsistent_start);
}

TEST(MotionStatusTest, EveryStatusThatIsNotOkNamesItsCause) {
  SystemBuilder b;
  b.point("p", "1", {0.5}).require("left", "p.x >= t").require("right", "p.x <= 1 - t");
  EXPECT_FALSE(b.make().run(2).cause.empty());
}

}  // namespace
}  // namespace zwang::motion_start_test
