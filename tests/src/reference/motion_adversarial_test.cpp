// Adversarial motions: many conditions at once, squeezes, velocity conditions, moving guides.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/system_builder.h"

namespace zwang::motion_adversarial_test {
namespace {

constexpr double rounding = 1e-11;
constexpr double integrated = 1e-7;

// --- Many at once -------------------------------------------------------------------------------------

TEST(MotionAdversarialTest, ASlabOfTenBallsLandsAtOneInstant) {
  SystemBuilder b;
  for (int k = 0; k < 10; ++k) b.point("b" + std::to_string(k), std::to_string(k + 1), {2});
  b.gravity({"-1"});
  for (int k = 0; k < 10; ++k)
    b.require("f" + std::to_string(k), "b" + std::to_string(k) + ".x >= 0", k % 2 ? "0.5" : "0");
  const Trajectory made = b.make().run(2.5);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  ASSERT_EQ(events_of(made, EventKind::shock).size(), 1u);
  EXPECT_EQ(events_of(made, EventKind::contact)[0].constraints.size(), 10u);
  for (Eigen::Index k = 0; k < 10; ++k) EXPECT_NEAR(made.last.state.v(k), k % 2 ? 0.5 : 0, rounding);
}

TEST(MotionAdversarialTest, TwentyWallsRoundAPointAreARoundBox) {
  // A regular polygon: the point slides along it from wall to wall and loses energy only at the corners.
  SystemBuilder b;
  b.point("p", "1", {0, 0}, {1, 0.3});
  for (int k = 0; k < 20; ++k) {
    const double angle = 2 * M_PI * k / 20;
    b.require("w" + std::to_string(k),
              number_text(std::cos(angle)) + "*p.x + (" + number_text(std::sin(angle)) + ")*p.y <= 1");
  }
  const Trajectory made = b.make().run(30);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  // The first wall takes the normal part; each corner then keeps cos(2 pi/20) of the speed.
  const double corners = static_cast<double>(events_of(made, EventKind::shock).size()) - 1;
  const double flight = std::atan2(0.3, 1), wall = std::round(flight / (M_PI / 10)) * M_PI / 10;
  const double along = std::hypot(1, 0.3) * std::abs(std::sin(flight - wall));
  EXPECT_NEAR(made.last.state.v.norm(), along * std::pow(std::cos(M_PI / 10), corners), 1e-9);
}

TEST(MotionAdversarialTest, AChainOfTwentyStringsIsPulledTaut) {
  SystemBuilder b;
  b.anchor("nail", {"0", "0"});
  for (int k = 0; k < 20; ++k) b.point("p" + std::to_string(k), "1", {0.5 * (k + 1), 0}, {0.05 * (k + 1), 0});
  b.require("s0", "distance(p0, nail) <= 0.6");
  for (int k = 1; k < 20; ++k)
    b.require("s" + std::to_string(k),
              "distance(p" + std::to_string(k) + ", p" + std::to_string(k - 1) + ") <= 0.6");
  IntegratorSettings settings;
  settings.max_events = 5000;
  const Trajectory made = b.make().run(10, settings);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  // All strings tauten at t = 2 together, in one shock, and everything stands still.
  EXPECT_EQ(events_of(made, EventKind::shock).size(), 1u);
  EXPECT_NEAR(made.last.state.v.norm(), 0, rounding);
  EXPECT_NEAR(made.last.state.q(38), 12, 1e-10);
}

TEST(MotionAdversarialTest, AFarAwayBodyDoesNotDisturbASmallBounce) {
  // The same tiny ball with and without an independent body a thousand kilometres off.
  const auto rest = [](bool far) {
    SystemBuilder b;
    b.point("ball", "1", {1e-4}).force("ball.x", "-9.81").require("ground", "ball.x >= 0", "0.5");
    if (far) b.point("moon", "1", {1e6}, {1e3});
    b.measure("first(accumulation(ground))").measure("maximum(ball.x*0 + t*closed(ground))");
    return b.make().run(1).measures[0];
  };
  const double limit = std::sqrt(2e-4 / 9.81) * 3;
  EXPECT_NEAR(rest(false), limit, 1e-9 * limit);
  EXPECT_NEAR(rest(true), limit, 1e-6 * limit);
}

// --- Squeezes -----------------------------------------------------------------------------------------

TEST(MotionAdversarialTest, WallsThatCloseOnABallNeverLetItThrough) {
  // The gap 1 - 2 t closes at t = 0.5. Inelastic: the ball is pushed until no velocity is admissible.
  // Elastic: it moves faster and faster.
  for (const char* restitution : {"0", "0.5", "1"}) {
    SystemBuilder b;
    b.point("p", "1", {0.4}, {0.1})
        .require("left", "p.x >= t", restitution)
        .require("right", "p.x <= 1 - t", restitution);
    IntegratorSettings settings;
    settings.max_events = 3000;
    const Trajectory made = b.make().run(1, settings);
    EXPECT_NE(made.status, Status::ok) << "e = " << restitution;
    EXPECT_LE(made.last.state.t, 0.5 + 1e-9);
    EXPECT_GE(made.last.state.q(0), made.last.state.t - 1e-9);
    EXPECT_LE(made.last.state.q(0), 1 - made.last.state.t + 1e-9);
  }
}

TEST(MotionAdversarialTest, WallsThatStopShortHoldTheBall) {
  // Smoothly to a gap of zero width and no further: x in [s, 1 - s] with s -> 1/2 as t -> infinity.
  SystemBuilder b;
  b.point("p", "1", {0.4}, {0.1})
      .require("left", "p.x >= 0.45*tanh(t)")
      .require("right", "p.x <= 1 - 0.45*tanh(t)");
  const Trajectory made = b.make().run(20);
  EXPECT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_GE(made.last.state.q(0), 0.45 - 1e-9);
  EXPECT_LE(made.last.state.q(0), 0.55 + 1e-9);
}

TEST(MotionAdversarialTest, ABallOverAShakingFloorMeetsItAsOftenAsShortStepsSay) {
  // Free flight alone would allow steps of seconds, in which the floor oscillates many times: 5 cm at 6, 32
  // and 160 Hz.
  for (const double frequency : {40.0, 200.0, 1000.0}) {
    SystemBuilder b;
    b.parameter("w", frequency).point("p", "1", {0.5}).gravity({"-9.81"});
    b.require("floor", "p.x >= 0.05*sin(w*t)", "0.3").require("ceiling", "p.x <= 0.6", "0.3");
    b.measure("minimum(p.x - 0.05*sin(w*t))").measure("maximum(p.x)");
    IntegratorSettings settings, careful;
    settings.max_events = careful.max_events = 5000;
    careful.max_step = 0.1 / frequency;
    const Mechanism m = b.make();
    const Trajectory made = m.run(6, settings), expected = m.run(6, careful);
    ASSERT_EQ(expected.status, Status::ok) << expected.cause;
    EXPECT_EQ(made.status, Status::ok) << made.cause << ", frequency " << frequency;
    const auto found = times_of(made, EventKind::contact), wanted = times_of(expected, EventKind::contact);
    for (std::size_t k = 0; k < 6; ++k) {
      ASSERT_LT(k, found.size());
      ASSERT_NEAR(found[k], wanted[k], 1e-6) << "frequency " << frequency << ", contact " << k;
    }
    // Between steps this is the interpolant, which is accurate only to the integrator's tolerance.
    EXPECT_GE(made.measures[0], -1e-8) << "frequency " << frequency;
    EXPECT_LE(made.measures[1], 0.6 + 1e-8);
  }
}

// --- Velocity conditions ------------------------------------------------------------------------------

TEST(MotionAdversarialTest, AKnifeEdgeThatHitsAWallTurnsAlongItOrStops) {
  // A skate moves straight into a wall at 45 degrees. It can only move along its blade, so it stops.
  SystemBuilder b;
  b.coordinate("x", 0, 1)
      .coordinate("y", 0, 1)
      .coordinate("phi", M_PI / 4)
      .kinetic("0.5*(x'^2 + y'^2) + 0.1*phi'^2");
  b.require("blade", "x'*sin(phi) == y'*cos(phi)").require("wall", "x <= 1");
  const Trajectory made = b.make().run(2);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_NEAR(made.last.state.q(0), 1, rounding);
  EXPECT_NEAR(made.last.state.q(1), 1, rounding);
  EXPECT_NEAR(made.last.state.v.norm(), 0, rounding);
}

TEST(MotionAdversarialTest, ATurningKnifeEdgeHitsTheWallAndTurnsAway) {
  // With spin the blade keeps turning: at the wall only the sliding stops, and the wall is never crossed.
  SystemBuilder b;
  b.coordinate("x", 0, 1)
      .coordinate("y", 0, 0)
      .coordinate("phi", 0, 0.5)
      .kinetic("0.5*(x'^2 + y'^2) + 0.1*phi'^2");
  b.require("blade", "x'*sin(phi) == y'*cos(phi)").require("wall", "x <= 0.5", "0.5").measure("maximum(x)");
  const Trajectory made = b.make().run(20);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_LE(made.measures[0], 0.5 + 1e-8);  // on the interpolant
  EXPECT_NEAR(made.last.state.v(2), 0.5, 1e-8);
  EXPECT_LE(made.audit.energy_created, 1e-12);
  // With e = 1/2 each shock halves and reverses the speed along the blade.
  const auto shocks = static_cast<double>(events_of(made, EventKind::shock).size());
  EXPECT_GE(shocks, 2);
  EXPECT_NEAR(made.last.state.v.head(2).norm(), std::pow(0.5, shocks), 1e-8);
}

TEST(MotionAdversarialTest, ASpeedLimitIsReachedFromRestAndKept) {
  // Constant force 2, limit speed(p) <= 3: touched at t = 1.5, from then on uniform.
  SystemBuilder b;
  b.point("p", "1", {0, 0}).force("p.x", "2").require("limit", "speed(p) <= 3").measure("maximum(speed(p))");
  b.measure("first(contact(limit))");
  const Trajectory made = b.make().run(10);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_NEAR(made.measures[0], 3, 1e-9);
  EXPECT_NEAR(made.measures[1], 1.5, 1e-9);
  EXPECT_NEAR(made.last.state.q(0), 0.5 * 2 * 2.25 + 8.5 * 3, 1e-6);
}

TEST(MotionAdversarialTest, ASpeedLimitReachedInTheFirstStepIsNotOverrun) {
  // The first step from rest is a thousandth of the run: here that would be far beyond the limit.
  SystemBuilder b;
  b.point("p", "1", {0, 0})
      .force("p.x", "2")
      .require("limit", "speed(p) <= 1e-3")
      .measure("maximum(speed(p))");
  const Trajectory made = b.make().run(100);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_LE(made.measures[0], 1e-3 * (1 + 1e-9));
}

TEST(MotionAdversarialTest, AClutchThatTurnsOneWayHoldsAndFollows) {
  // x' <= y' couples two discs; a torque drives x: together from the touch on.
  SystemBuilder b;
  b.coordinate("x", 0, 0).coordinate("y", 0, 1).kinetic("0.5*x'^2 + 0.5*3*y'^2").force("x", "2*cos(t)");
  b.require("clutch", "x' <= y'");
  const Trajectory made = b.make().run(6);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  // x' = 2 sin t until 1 at t = pi/6; then 4 v' = 2 cos t, v = 1/2 sin t + 3/4 until the torque turns at pi/2
  // (v = 5/4); from there x' = 5/4 - 2 + 2 sin t alone.
  EXPECT_NEAR(times_of(made, EventKind::touch).at(0), M_PI / 6, integrated);
  EXPECT_NEAR(times_of(made, EventKind::release).at(0), M_PI / 2, integrated);
  EXPECT_NEAR(made.last.state.v(0), 1.25 - 2 + 2 * std::sin(6.0), 1e-6);
  EXPECT_NEAR(made.last.state.v(1), 1.25, 1e-6);
}

TEST(MotionAdversarialTest, AVelocityEquationAndTwoInequalitiesAtOnce) {
  // A rolling disc x' = r phi' bounded by stops for x, with a torque: rests at the stop and presses.
  SystemBuilder b;
  b.coordinate("x", 0).coordinate("phi", 0).kinetic("0.5*x'^2 + 0.25*phi'^2").force("phi", "1");
  b.require("rolling", "x' == phi'").require("stop", "x <= 1").require("limit", "phi' <= 0.8");
  const Trajectory made = b.make().run(5, {}, {4});
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_NEAR(made.last.state.q(0), 1, rounding);
  EXPECT_NEAR(made.last.state.v.norm(), 0, rounding);
  EXPECT_NEAR(made.samples[0].multipliers(1), 1, 1e-9);  // the torque, through the rolling
  EXPECT_EQ(times_of(made, EventKind::touch).size(), 1u);
}

// --- Guides -------------------------------------------------------------------------------------------

TEST(MotionAdversarialTest, ABeadOnATurningWireBouncesBetweenItsStops) {
  SystemBuilder b;
  b.parameter("w", 2).point("p", "1", {0.5, 0}, {0, 1}).require("wire", "p.y*cos(w*t) == p.x*sin(w*t)");
  b.require("outer", "p.x*cos(w*t) + p.y*sin(w*t) <= 1", "0.5")
      .require("inner", "p.x*cos(w*t) + p.y*sin(w*t) >= 0.2", "0.5");
  const Trajectory made = b.make().run(10);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  // r'' = w^2 r drives it outwards: in the end it rests against the outer stop, pressing with m w^2 r.
  EXPECT_NEAR(made.last.state.q.norm(), 1, 1e-9);
  EXPECT_EQ(made.last.closed[1], 1);
  EXPECT_NEAR(made.last.multipliers(1), 4, 1e-8);
  EXPECT_NEAR(times_of(made, EventKind::contact).at(0), std::acosh(2.0) / 2,
              integrated);  // r = 0.5 cosh(w t)
}

TEST(MotionAdversarialTest, AHangingWeightLiftedByAJerkedHookSwings) {
  // The hook starts with speed 1 (f' > 0 at the start): the string moves the load by a shock at t = 0.
  SystemBuilder b;
  b.anchor("hook", {"0", "t"})
      .point("load", "1", {0, -1})
      .gravity({"0", "-9.81"})
      .require("string", "distance(load, hook) <= 1");
  const Trajectory made = b.make().run(1, {}, {0, 1});
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_NEAR(made.samples[0].state.v(1), 1, rounding);
  EXPECT_NEAR(made.samples[1].state.q(1), 0, rounding);
  EXPECT_EQ(events_of(made, EventKind::shock).size(), 1u);
}

TEST(MotionAdversarialTest, RandomBoxesOfBallsKeepTheirLaws) {
  // Three balls with random masses and restitution on a line between walls, under gravity: every status is
  // ok, no energy is created, and the balls keep their order.
  Dice dice(61);
  for (int trial = 0; trial < 40; ++trial) {
    SystemBuilder b;
    const char* names[] = {"a", "b", "c"};
    for (int k = 0; k < 3; ++k)
      b.point(names[k], number_text(dice.between(0.1, 5)), {0.5 + k + dice.between(-0.3, 0.3)},
              {dice.between(-2, 2)});
    b.gravity({dice.chance(0.5) ? "-9.81" : "0"});
    const auto e = [&] { return number_text(std::round(dice.between(0, 4)) / 4 * 0.8); };
    b.require("floor", "a.x >= 0", e())
        .require("ab", "b.x - a.x >= 0.1", e())
        .require("bc", "c.x - b.x >= 0.1", e());
    b.require("top", "c.x <= 3", e());
    IntegratorSettings settings;
    settings.max_events = 20'000;
    const Trajectory made = b.make().run(5, settings);
    EXPECT_EQ(made.status, Status::ok) << made.cause << ", trial " << trial;
    EXPECT_LE(made.audit.energy_created, 1e-11) << "trial " << trial;
    EXPECT_LE(made.audit.energy_drift, 1e-7 * made.audit.energy_size + 1e-9) << "trial " << trial;
    const auto& q = made.last.state.q;
    EXPECT_GE(std::min({q(0), q(1) - q(0) - 0.1, q(2) - q(1) - 0.1, 3 - q(2)}), -1e-9) << "trial " << trial;
  }
}

}  // namespace
}  // namespace zwang::motion_adversarial_test
