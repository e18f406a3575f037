// Contacts are detected, located accurately, and detected once (mechanics section 5, requirements 1 to 4 and
// 6).
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/system_builder.h"

namespace zwang::motion_contact_test {
namespace {

// Free flight is integrated without truncation error: the remaining error is rounding, over a few steps.
constexpr double rounding = 1e-13;
// The default rtol, with room for error growth over a few time scales.
constexpr double integrated = 1e-7;

SystemBuilder ball_over_floor(double height, double speed, const std::string& restitution = "0") {
  SystemBuilder b;
  b.parameter("g", 1).point("ball", "1", {height}, {speed}).gravity({"-g"});
  b.require("floor", "ball.x >= 0", restitution);
  return b;
}

// --- Time and position --------------------------------------------------------------------------------

TEST(MotionContactTest, AFallEndsWhenTheFormulaSays) {
  for (const double height : {1e-6, 0.3, 2.0, 7.7, 1e5}) {
    const Trajectory made = ball_over_floor(height, 0).make().run(3 * std::sqrt(2 * height));
    ASSERT_EQ(made.status, Status::ok) << made.cause;
    const auto times = times_of(made, EventKind::contact);
    ASSERT_EQ(times.size(), 1u);
    EXPECT_NEAR(times[0], std::sqrt(2 * height), rounding * std::sqrt(2 * height));
  }
}

TEST(MotionContactTest, AContactIsLocatedToTheToleranceOfItsTerms) {
  // A pendulum swings into a wall: the flow is nonlinear, so the interpolant alone would miss f = 0 by far
  // more.
  SystemBuilder b;
  b.coordinate("phi", 1.2).kinetic("0.5*phi'^2").potential("-9.81*cos(phi)");
  b.require("wall", "sin(phi) >= -0.3", "1").measure("at(contact(wall), value(wall))");
  b.measure("last(contact(wall))").measure("count(contact(wall))");
  const Trajectory made = b.make().run(20);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_LE(std::abs(made.measures[0]), 1e-12 * 0.6);
  EXPECT_GT(made.measures[2], 10);
}

TEST(MotionContactTest, AnOutputAtAContactShowsTheStateAfterIt) {
  // From 2 with g = 1: contact at t = 2 with speed 2; e = 1/2 leaves with speed 1.
  const Trajectory made = ball_over_floor(2, 0, "0.5").make().run(3, {}, {1, 2, 3});
  ASSERT_EQ(made.samples.size(), 3u);
  EXPECT_EQ(made.samples[1].state.t, 2);
  EXPECT_NEAR(made.samples[1].state.v(0), 1, rounding);
  EXPECT_NEAR(made.samples[1].state.q(0), 0, rounding);
  EXPECT_NEAR(made.samples[2].state.q(0), 0.5, rounding);
}

TEST(MotionContactTest, AContactAtTheEndOfTheRunIsAnOrdinaryEnd) {
  // The contact may be located a rounding before the end; then no further step is possible or necessary.
  Dice dice(3);
  for (int trial = 0; trial < 200; ++trial) {
    const double height = dice.between(0.01, 10), end = std::sqrt(2 * height);
    const Trajectory made = ball_over_floor(height, 0, trial % 2 ? "0.5" : "0").make().run(end);
    EXPECT_EQ(made.status, Status::ok) << made.cause << ", height " << height;
    EXPECT_NEAR(made.last.state.t, end, rounding * end);
  }
}

// --- Dips ---------------------------------------------------------------------------------------------

TEST(MotionContactTest, AFreeFlightDoesNotJumpOverASmallDisk) {
  Dice dice(11);
  for (int trial = 0; trial < 300; ++trial) {
    const double radius = std::pow(10, dice.between(-3, 0)), away = dice.between(3, 200);
    const double offset = radius * dice.between(-2, 2), speed = dice.between(0.5, 20);
    if (std::abs(std::abs(offset) - radius) < 1e-6 * radius) continue;
    SystemBuilder b;
    b.parameter("R", radius).anchor("post", {"0", "0"});
    b.point("p", "1", {-away, offset}, {speed, 0}).require("disk", "distance(p, post) >= R", "1");
    const Trajectory made = b.make().run(3 * away / speed);
    ASSERT_EQ(made.status, Status::ok) << made.cause;
    const auto times = times_of(made, EventKind::contact);
    if (std::abs(offset) > radius) {
      EXPECT_TRUE(times.empty()) << "trial " << trial;
      continue;
    }
    // Elastic: reflected about the normal where the straight line meets the disk.
    ASSERT_EQ(times.size(), 1u) << "trial " << trial;
    const double x = -std::sqrt(radius * radius - offset * offset);
    EXPECT_NEAR(times[0], (x + away) / speed, 1e-11 * away / speed * away / -x);
    const Eigen::Vector2d normal(x / radius, offset / radius), before(speed, 0);
    const Eigen::Vector2d after = before - 2 * before.dot(normal) * normal;
    EXPECT_NEAR((made.last.state.v - after).norm(), 0, 1e-10 * speed * away / -x) << "trial " << trial;
  }
}

TEST(MotionContactTest, AThrowThatJustReachesTheCeilingTouchesItAndOneThatJustDoesNotDoesNot) {
  for (const double excess : {1e-9, -1e-9}) {
    SystemBuilder b = ball_over_floor(0, std::sqrt(2 * (1 + excess)));
    b.require("ceiling", "ball.x <= 1");
    const Trajectory made = b.make().run(10);
    ASSERT_EQ(made.status, Status::ok) << made.cause;
    std::size_t reached = 0;
    for (const Event& event : events_of(made, EventKind::contact))
      reached += event.constraints == std::vector<std::size_t>{1};
    EXPECT_EQ(reached, excess > 0 ? 1u : 0u) << excess;
    EXPECT_EQ(made.last.closed[0], 1);  // in the end it lies on the floor
    EXPECT_NEAR(made.last.state.q(0), 0, rounding);
  }
}

TEST(MotionContactTest, AThrowThatExactlyReachesTheCeilingIsNotLost) {
  // Grazing: f = 0 = f'. With or without a contact, the ball falls again. Values up to 1e-12 of the size 4 of
  // the terms count as f = 0, and the speed at that distance from the top is sqrt(2 g f).
  const double graze = std::sqrt(2 * 4e-12);
  SystemBuilder b = ball_over_floor(0, 2);
  b.require("ceiling", "ball.x <= 2");
  const Trajectory made = b.make().run(3, {}, {2, 3});
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_NEAR(made.samples[0].state.q(0), 2, graze);
  EXPECT_NEAR(made.samples[1].state.q(0), 1.5, graze);
}

TEST(MotionContactTest, ADipRightAfterABounceIsNotMissed) {
  // Bouncing between a floor and a low ceiling under gravity: after the bounce off the floor the proposed
  // step is far longer than the whole flight, and the ceiling is crossed and left again within its first
  // hundredths.
  SystemBuilder b;
  b.point("ball", "1", {0}, {0.6}).gravity({"-9.81"});
  b.require("floor", "ball.x >= 0", "1").require("ceiling", "ball.x <= 0.01", "1");
  b.measure("count(contact(floor))").measure("count(contact(ceiling))").measure("maximum(ball.x)");
  const double end = 30;
  const Trajectory made = b.make().run(end);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  const double speed = std::sqrt(0.36 - 2 * 9.81 * 0.01), half = (0.6 - speed) / 9.81;
  EXPECT_EQ(made.measures[1], std::floor((end / half + 1) / 2));
  EXPECT_EQ(made.measures[0], std::floor(end / half / 2));
  EXPECT_LE(made.measures[2], 0.01 + 1e-12);
}

TEST(MotionContactTest, AnArcOverASillAfterAHardBounceIsNotMissed) {
  // The same case with one contact only: thrown up from rest on the ground under a low beam.
  SystemBuilder b;
  b.point("ball", "1", {0})
      .gravity({"-9.81"})
      .require("floor", "ball.x >= 0")
      .require("beam", "ball.x <= 0.01");
  b.impulse("5", "ball", {"0.6"}).measure("count(contact(beam))");
  const Trajectory made = b.make().run(100);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_EQ(made.measures[0], 1);
}

TEST(MotionContactTest, TheLongestStepIsRespected) {
  SystemBuilder b;
  b.point("p", "1", {0}, {1});
  IntegratorSettings settings;
  settings.max_step = 0.01;
  EXPECT_GE(b.make().run(1, settings).steps, 100);
  settings.method = IntegratorSettings::Method::rk4;
  settings.step = 1;
  EXPECT_GE(b.make().run(1, settings).steps, 100);
}

TEST(MotionContactTest, NoImageOfAPeriodicBoxIsJumpedOver) {
  // Uniform acceleration from rest along a row of disks at distance one, offset to graze each of them: the
  // first is hit.
  SystemBuilder b;
  b.point("p", "1", {0, 0.15}).force("p.x", "1");
  b.require("disks", "hypot(wrap(p.x - 0.5, 1), p.y) >= 0.2").measure("first(contact(disks))");
  const Trajectory made = b.make().run(100);
  const double reach = 0.5 - std::sqrt(0.04 - 0.0225);
  EXPECT_NEAR(made.measures[0], std::sqrt(2 * reach), integrated);
}

// --- Release and after --------------------------------------------------------------------------------

TEST(MotionContactTest, AStringGoesSlackAndTautensAgainOnceAndWhere) {
  // Released where v^2 = -g L cos(theta); the parabola meets the circle again after t = 4 v sin(theta) / g.
  for (const double square : {2.2, 2.8, 3.5, 4.2, 4.9}) {
    SystemBuilder b;
    b.parameter("g", 9.81).parameter("L", 0.7).anchor("nail", {"0", "0"});
    b.point("load", "2", {0, -0.7}, {std::sqrt(square * 9.81 * 0.7), 0}).gravity({"0", "-g"});
    b.require("string", "distance(load, nail) <= L")
        .measure("first(release(string))")
        .measure("first(contact(string))");
    b.measure("at(release(string), load.y)")
        .measure("count(release(string))")
        .measure("count(contact(string))");
    b.stop("t > 1.2");
    IntegratorSettings settings;
    settings.rtol = settings.atol = 1e-12;
    const Trajectory made = b.make().run(2, settings);
    const double cosine = (2 - square) / 3, sine = std::sqrt(1 - cosine * cosine);
    const double speed = std::sqrt(-9.81 * 0.7 * cosine);
    EXPECT_NEAR(made.measures[2], -0.7 * cosine, 1e-8) << square;
    EXPECT_NEAR(made.measures[1] - made.measures[0], 4 * speed * sine / 9.81, 1e-8) << square;
    EXPECT_LE(made.measures[3], 2);
    EXPECT_LE(made.measures[4], 2);
  }
}

TEST(MotionContactTest, ALoadLiftedOffDoesNotTouchAgain) {
  // The multiplier of the floor falls to zero at t = 1; from then on x = (t - 1)^3/6: noise around 0 is no
  // contact.
  for (const double level : {0.0, 5.0, 1000.0}) {
    SystemBuilder b;
    b.parameter("c", level).point("load", "1", {level}).gravity({"-1"}).force("load.x", "t");
    b.require("floor", "load.x >= c");
    const Trajectory made = b.make().run(4);
    ASSERT_EQ(made.status, Status::ok) << made.cause;
    ASSERT_EQ(made.events.size(), 1u);
    EXPECT_EQ(made.events[0].kind, EventKind::release);
    EXPECT_NEAR(made.events[0].t, 1, 1e-9);
    EXPECT_NEAR(made.last.state.q(0) - level, 27.0 / 6, integrated);
  }
}

TEST(MotionContactTest, LoadsThatLiftOffTogetherAllAreReleased) {
  SystemBuilder b;
  for (const char* name : {"a", "b", "c"}) {
    b.point(name, "1", {0}).force(std::string(name) + ".x", "t - 1");
    b.require(std::string(name) + "_floor", std::string(name) + ".x >= 0");
    b.measure("first(release(" + std::string(name) + "_floor))");
  }
  const Trajectory made = b.make().run(2);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  for (const double time : made.measures) EXPECT_NEAR(time, 1, 1e-9);
  for (const double x : made.last.state.q) EXPECT_NEAR(x, 1.0 / 6, integrated);
}

TEST(MotionContactTest, ABriefPushFromBelowReleasesAndCatches) {
  // Weight 1, push 1.5 between t = 1 and t = 2 (smooth): lifts off, falls back, rests again.
  SystemBuilder b;
  b.point("load", "1", {3})
      .gravity({"-1"})
      .force("load.x", "3*exp(-4*(t - 2)^2)")
      .require("floor", "load.x >= 3");
  const Trajectory made = b.make().run(10);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  ASSERT_EQ(made.events.size(), 3u);  // release, contact, shock
  EXPECT_EQ(made.events[0].kind, EventKind::release);
  EXPECT_NEAR(made.events[0].t, 2 - std::sqrt(std::log(3) / 4), 1e-8);
  EXPECT_EQ(made.last.closed[0], 1);
  EXPECT_NEAR(made.last.multipliers(0), 1, 1e-12);
  EXPECT_NEAR(made.last.state.q(0), 3, 1e-12);
}

// --- Several at once ----------------------------------------------------------------------------------

TEST(MotionContactTest, ContactsAtOneInstantAreOneShock) {
  SystemBuilder b;
  b.point("a", "1", {1, 1}, {-1, -1}).require("left", "a.x >= 0").require("below", "a.y >= 0");
  b.require("across", "a.x + a.y >= 0");
  const Trajectory made = b.make().run(2);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  ASSERT_EQ(made.events.size(), 2u);
  EXPECT_EQ(made.events[0].kind, EventKind::contact);
  EXPECT_EQ(made.events[0].constraints, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(made.events[1].kind, EventKind::shock);
  EXPECT_NEAR(made.last.state.v.norm(), 0, rounding);
  EXPECT_NEAR(made.last.state.q.norm(), 0, rounding);
  EXPECT_TRUE(made.redundant);
}

TEST(MotionContactTest, AShockMayOpenWhatWasClosed) {
  // A ball rolls along the floor into a slope: it leaves the floor, and the floor no longer counts as closed.
  SystemBuilder b;
  b.point("p", "1", {0, 0}, {1, 0}).require("floor", "p.y >= 0").require("slope", "p.y >= p.x - 1");
  const Trajectory made = b.make().run(2);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_EQ(made.last.closed, (std::vector<double>{0, 1}));
  EXPECT_NEAR(made.last.state.v(0), 0.5, rounding);
  EXPECT_NEAR(made.last.state.v(1), 0.5, rounding);
}

}  // namespace
}  // namespace zwang::motion_contact_test
