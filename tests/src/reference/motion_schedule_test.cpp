// Scheduled events: impulses, conditions imposed and lifted, alone and together (mechanics section 5).
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/system_builder.h"

namespace zwang::motion_schedule_test {
namespace {

constexpr double rounding = 1e-12;
constexpr double integrated = 1e-7;

// --- Impulses -----------------------------------------------------------------------------------------

TEST(MotionScheduleTest, AnImpulseByVelocityAndOneByMomentumAddToAFreePoint) {
  SystemBuilder b;
  b.point("p", "4", {0, 0}, {1, 0}).impulse("1", "p", {"0.5", "-1"}).impulse("2", "p", {"8", "4"}, true);
  const Trajectory made = b.make().run(3, {}, {1, 2, 3});
  ASSERT_EQ(made.samples.size(), 3u);
  EXPECT_NEAR((made.samples[0].state.v - Eigen::Vector2d(1.5, -1)).norm(), 0, rounding);  // after the impulse
  EXPECT_NEAR((made.samples[1].state.v - Eigen::Vector2d(3.5, 0)).norm(), 0, rounding);
  EXPECT_NEAR((made.samples[2].state.q - Eigen::Vector2d(1 + 1.5 + 3.5, -1)).norm(), 0, rounding);
  EXPECT_EQ(events_of(made, EventKind::impulse).size(), 2u);
}

TEST(MotionScheduleTest, AnImpulseMayDependOnTheState) {
  SystemBuilder b;
  b.point("p", "1", {1}, {2}).impulse("3", "p", {"-2*p.x'"});
  EXPECT_NEAR(b.make().run(4).last.state.v(0), -2, rounding);
}

TEST(MotionScheduleTest, AnImpulseOnAConstrainedPointLeavesOnlyItsTangentialPart) {
  SystemBuilder b;
  b.anchor("nail", {"0", "0"})
      .point("p", "1", {1, 0})
      .require("rod", "distance(p, nail) == 1")
      .impulse("1", "p", {"3", "4"});
  const Trajectory made = b.make().run(1, {}, {1});
  EXPECT_NEAR((made.last.state.v - Eigen::Vector2d(0, 4)).norm(), 0, rounding);
  const auto events = events_of(made, EventKind::impulse);
  ASSERT_EQ(events.size(), 1u);
  ASSERT_EQ(events[0].impulses.size(), 1u);
  EXPECT_NEAR(events[0].impulses[0], 3, rounding);
}

TEST(MotionScheduleTest, AMomentumOnACoordinateIsDividedByTheMassMatrix) {
  // T = 1/2 (2 x'^2 + 2 x' y' + 3 y'^2): momentum (p, 0) gives (3, -1) p/5.
  SystemBuilder b;
  b.coordinate("x", 0).coordinate("y", 0).kinetic("x'^2 + x'*y' + 1.5*y'^2").impulse("0", "x", {"10"}, true);
  const Trajectory made = b.make().run(1);
  EXPECT_NEAR((made.last.state.v - Eigen::Vector2d(6, -2)).norm(), 0, rounding);
}

TEST(MotionScheduleTest, ImpulsesAtOneInstantAreOneShockWithTheSum) {
  // Each impulse alone would make the string taut; together they leave it slack: +2 outward, -3 inward.
  SystemBuilder b;
  b.anchor("nail", {"0", "0"}).point("p", "1", {1, 0}).require("string", "distance(p, nail) <= 1");
  b.impulse("1", "p", {"2", "0"}).impulse("1", "p", {"-3", "0"});
  const Trajectory made = b.make().run(1.1);
  EXPECT_NEAR((made.last.state.v - Eigen::Vector2d(-1, 0)).norm(), 0, rounding);
  EXPECT_EQ(made.events.size(), 1u);
}

TEST(MotionScheduleTest, TimesThatDifferByRoundingAreNoObstacle) {
  SystemBuilder b;
  b.point("p", "1", {0}, {1})
      .impulse("0.3", "p", {"1"})
      .impulse("0.1 + 0.2", "p", {"1"})
      .impulse("0.1*3", "p", {"1"});
  const Trajectory made = b.make().run(1);
  EXPECT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_NEAR(made.last.state.v(0), 4, rounding);
}

TEST(MotionScheduleTest, AnImpulseAtAContactIsOneShockWithIt) {
  // Falling with speed 2 at t = 2, and an upward impulse of 3 at that time: together +1, without a reaction
  // of the floor. One after the other the floor would stop the 2 first, and the ball would leave with 3.
  SystemBuilder b;
  b.point("ball", "1", {2}).gravity({"-1"}).require("floor", "ball.x >= 0").impulse("2", "ball", {"3"});
  const Trajectory made = b.make().run(2.5);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_NEAR(made.last.state.v(0), 0.5, rounding);
}

TEST(MotionScheduleTest, ImpulsesAtContactsNeverLoseTheMember) {
  // The time of the contact is a square root: the impulse is a rounding before, at or after it.
  Dice dice(17);
  for (int trial = 0; trial < 300; ++trial) {
    const double height = dice.between(0.01, 10);
    SystemBuilder b;
    b.parameter("h", height).point("ball", "1", {height}).gravity({"-1"}).require("floor", "ball.x >= 0");
    b.impulse("sqrt(2*h)", "ball", {"3*sqrt(2*h)/2"});
    const Trajectory made = b.make().run(1.1 * std::sqrt(2 * height));
    EXPECT_EQ(made.status, Status::ok) << made.cause << ", height " << height;
    EXPECT_NEAR(made.last.state.v(0), 0.4 * std::sqrt(2 * height), 1e-9) << "height " << height;
  }
}

TEST(MotionScheduleTest, AnImpulseAtTheStartAndOneAtTheEndBothHappen) {
  SystemBuilder b;
  b.point("p", "1", {0}).impulse("0", "p", {"1"}).impulse("2", "p", {"5"});
  const Trajectory made = b.make().run(2, {}, {0, 2});
  EXPECT_EQ(made.samples[0].state.v(0), 1);
  EXPECT_NEAR(made.samples[1].state.v(0), 6, rounding);
  EXPECT_EQ(made.events.size(), 2u);
}

// --- Imposed and lifted -------------------------------------------------------------------------------

TEST(MotionScheduleTest, AnEquationImposedTakesTheNormalVelocityAway) {
  // Motion along y = 0; at t = 1 the point is constrained to the line through (1, 0) at 45 degrees.
  SystemBuilder b;
  b.point("p", "1", {0, 0}, {1, 0}).require("rail", "p.y == p.x - 1", "0", "1");
  const Trajectory made = b.make().run(2);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_NEAR((made.last.state.v - Eigen::Vector2d(0.5, 0.5)).norm(), 0, rounding);
  const auto events = events_of(made, EventKind::imposed);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_NEAR(events[0].energy_lost, 0.25, rounding);
  EXPECT_NEAR(std::abs(events[0].impulses[0]), std::sqrt(0.5), rounding);
}

TEST(MotionScheduleTest, AnEquationImposedWhereItDoesNotHoldIsInfeasible) {
  SystemBuilder b;
  b.point("p", "1", {0, 0}, {1, 0}).require("rail", "p.y == p.x", "0", "1");
  const Trajectory made = b.make().run(2);
  EXPECT_EQ(made.status, Status::infeasible);
  EXPECT_NEAR(made.last.state.t, 1, rounding);
  EXPECT_NE(made.cause.find("rail"), std::string::npos);
}

TEST(MotionScheduleTest, AnInequalityImposedWhereItIsBrokenIsInfeasible) {
  SystemBuilder b;
  b.point("p", "1", {0}, {1}).require("wall", "p.x <= 0.5", "0", "1");
  EXPECT_EQ(b.make().run(2).status, Status::infeasible);
}

TEST(MotionScheduleTest, AnInequalityCountsOnlyBetweenFromAndUntil) {
  // x = t passes the gate at 1, which is lifted at 0.9, and is held by the wall at 5, which is imposed at 2
  // and lifted at 6.
  SystemBuilder b;
  b.point("p", "1", {0}, {1})
      .require("gate", "p.x <= 1", "0", "", "0.9")
      .require("wall", "p.x <= 5", "0", "2", "6");
  const Trajectory made = b.make().run(8, {}, {1, 5.5, 7});
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_NEAR(made.samples[0].state.q(0), 1, rounding);
  EXPECT_NEAR(made.samples[1].state.q(0), 5, rounding);  // held
  EXPECT_EQ(made.samples[1].closed, (std::vector<double>{0, 1}));
  EXPECT_NEAR(made.samples[2].state.q(0), 5, rounding);  // nothing moves it on
  EXPECT_EQ(events_of(made, EventKind::lifted).size(), 2u);
  EXPECT_EQ(events_of(made, EventKind::imposed).size(), 1u);
}

TEST(MotionScheduleTest, AStringCutLetsTheLoadFly) {
  SystemBuilder b;
  b.anchor("nail", {"0", "0"})
      .point("p", "1", {1, 0}, {0, 1})
      .require("string", "distance(p, nail) <= 1", "0", "", "2");
  const Trajectory made = b.make().run(3);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  // Along the circle until t = 2, then along the tangent.
  EXPECT_NEAR(made.last.state.q(0), std::cos(2) - std::sin(2), integrated);
  EXPECT_NEAR(made.last.state.q(1), std::sin(2) + std::cos(2), integrated);
}

TEST(MotionScheduleTest, LiftedImposedAndStruckAtOneInstantIsOneShock) {
  // At t = 1 one rail is lifted, another imposed, and an impulse acts: alpha = (1, 0) + (0, 2), constrained
  // to x = y + 1 afterwards.
  SystemBuilder b;
  b.point("p", "1", {0, 0}, {1, 0})
      .require("old", "p.y == 0", "0", "", "1")
      .require("new", "p.x - p.y == 1", "0", "1");
  b.impulse("1", "p", {"0", "2"});
  const Trajectory made = b.make().run(1.5);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_NEAR((made.last.state.v - Eigen::Vector2d(1.5, 1.5)).norm(), 0, rounding);
  std::size_t jumps = 0;
  for (const Event& event : made.events) jumps += event.velocities_jump;
  EXPECT_EQ(jumps, 1u);
}

TEST(MotionScheduleTest, AVelocityEquationImposedLocksTheWheel) {
  // Two flywheels coupled at t = 1: x' = y' afterwards, momentum kept.
  SystemBuilder b;
  b.coordinate("x", 0, 6)
      .coordinate("y", 0, 0)
      .kinetic("0.5*1*x'^2 + 0.5*2*y'^2")
      .require("clutch", "x' == y'", "0", "1");
  const Trajectory made = b.make().run(2);
  EXPECT_NEAR(made.last.state.v(0), 2, rounding);
  EXPECT_NEAR(made.last.state.v(1), 2, rounding);
}

TEST(MotionScheduleTest, AConditionImposedAtTheStartIsAShockThere) {
  SystemBuilder b;
  b.point("p", "1", {0, 0}, {1, 0}).require("rail", "p.y == p.x", "0", "0");
  const Trajectory made = b.make().run(1);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_NEAR((made.last.state.v - Eigen::Vector2d(0.5, 0.5)).norm(), 0, rounding);
  ASSERT_GE(made.events.size(), 1u);
  EXPECT_EQ(made.events[0].t, 0);
  EXPECT_EQ(made.velocity_moved, 0);  // by the shock, not by the projection
}

TEST(MotionScheduleTest, AnImposedEquationAndAnElasticContactTogetherGiveNoEnergy) {
  // The rail is imposed at the instant at which the ball meets an elastic wall at a flat angle to it. Rebound
  // and rail in one projection would need the speed 1/sin(0.1) = 10 along the rail.
  SystemBuilder b;
  b.parameter("s", 0.1).point("p", "1", {0, 0}, {1, 0.05});
  b.require("wall", "p.x <= 1", "1").require("rail", "cos(s)*(p.x - 1) + sin(s)*(p.y - 0.05) == 0", "0", "1");
  const Trajectory made = b.make().run(1.1);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_LE(made.last.state.v.norm(), std::hypot(1, 0.05) + rounding);
}

}  // namespace
}  // namespace zwang::motion_schedule_test
