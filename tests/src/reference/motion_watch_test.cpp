// Watched events, stop conditions and output times.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/system_builder.h"

namespace zwang::motion_watch_test {
namespace {

constexpr double integrated = 1e-7;  // the default rtol over a few periods
constexpr double rounding = 1e-13;

SystemBuilder oscillator(double position, double velocity) {
  SystemBuilder b;
  b.coordinate("x", position, velocity).kinetic("0.5*x'^2").potential("0.5*x^2");
  return b;
}

TEST(MotionWatchTest, CrossingsAreFoundInTheDirectionAskedFor) {
  // x = cos t crosses zero falling at pi/2, rising at 3 pi/2, ...
  SystemBuilder b = oscillator(1, 0);
  b.watch("both", "x").watch("rising", "x", 1).watch("falling", "x", -1);
  b.measure("count(event(both))").measure("count(event(rising))").measure("count(event(falling))");
  b.measure("first(event(rising))").measure("first(event(falling))").measure("last(event(both))");
  const Trajectory made = b.make().run(6 * M_PI);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_EQ(made.measures[0], 6);
  EXPECT_EQ(made.measures[1], 3);
  EXPECT_EQ(made.measures[2], 3);
  EXPECT_NEAR(made.measures[3], 1.5 * M_PI, integrated);
  EXPECT_NEAR(made.measures[4], 0.5 * M_PI, integrated);
  EXPECT_NEAR(made.measures[5], 5.5 * M_PI, integrated);
}

TEST(MotionWatchTest, AFunctionThatStartsAtZeroIsWatchedAllTheSame) {
  // x = sin t starts on the root; the crossings at pi, 2 pi, 3 pi are still to come.
  SystemBuilder b = oscillator(0, 1);
  b.watch("crossing", "x").measure("count(event(crossing))").measure("first(event(crossing))");
  const Trajectory made = b.make().run(3.5 * M_PI);
  EXPECT_EQ(made.measures[0], 3);
  EXPECT_NEAR(made.measures[1], M_PI, integrated);
}

TEST(MotionWatchTest, ADoubleCrossingWithinOneStepIsTwoEvents) {
  // Free flight over 20 s in a few steps; y exceeds 0.99 only for 0.28 s.
  SystemBuilder b;
  b.point("p", "1", {0}, {std::sqrt(2.0)}).gravity({"-1"}).watch("high", "p.x - 0.99");
  const Trajectory made = b.make().run(20);
  const auto times = times_of(made, EventKind::event);
  ASSERT_EQ(times.size(), 2u);
  EXPECT_NEAR(times[0], std::sqrt(2.0) - std::sqrt(0.02), 1e-9);
  EXPECT_NEAR(times[1], std::sqrt(2.0) + std::sqrt(0.02), 1e-9);
}

TEST(MotionWatchTest, AJumpOverZeroAtAShockIsACrossing) {
  SystemBuilder b;
  b.point("ball", "1", {2}).gravity({"-1"}).require("floor", "ball.x >= 0", "0.5");
  b.watch("rising", "ball.x'", 1).watch("falling", "ball.x'", -1).watch("both", "ball.x' + 0.5");
  const Trajectory made = b.make().run(3.5);
  // v = -t, at t = 2 it jumps from -2 to +1, then falls through 0 at t = 3; v + 0.5 falls through 0 at 0.5
  // and jumps up.
  std::vector<std::pair<std::size_t, double>> found;
  for (const Event& event : events_of(made, EventKind::event)) found.emplace_back(event.watch, event.t);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].first, 2u);
  EXPECT_NEAR(found[0].second, 0.5, rounding);
  EXPECT_NEAR(found[1].second, 2, rounding);
  EXPECT_NEAR(found[2].second, 2, rounding);
  EXPECT_EQ(found[1].first + found[2].first, 2u);  // rising and both
  EXPECT_EQ(found[3].first, 1u);
  EXPECT_NEAR(found[3].second, 3, rounding);
}

TEST(MotionWatchTest, WhatOnlyReachesZeroAndRestsThereCrossesAtMostOnce) {
  // On the floor x - 5 is zero up to rounding, of either sign: these are no crossings.
  SystemBuilder b;
  b.point("ball", "1", {5.3, 0}, {0, 1}).gravity({"-9.81", "0"}).force("ball.y", "-3*ball.y");
  b.require("floor", "ball.x >= 5", "0.5").watch("level", "ball.x - 5");
  const Trajectory made = b.make().run(20);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_LE(times_of(made, EventKind::event).size(), 1u);
}

// --- Stop ---------------------------------------------------------------------------------------------

TEST(MotionWatchTest, AStopConditionEndsTheMotionWhereItIsMet) {
  SystemBuilder b = oscillator(1, 0);
  b.stop("x < -0.5").measure("final(x)").measure("mean(1 + 0*x)");
  const Trajectory made = b.make().run(100, {}, {0, 1, 2, 3, 4});
  EXPECT_EQ(made.status, Status::stopped);
  EXPECT_NEAR(made.last.state.t, 2 * M_PI / 3, integrated);
  EXPECT_NEAR(made.measures[0], -0.5, 1e-12);
  EXPECT_DOUBLE_EQ(made.measures[1], 1);
  EXPECT_EQ(made.samples.size(), 3u);
  ASSERT_EQ(made.events.size(), 1u);
  EXPECT_EQ(made.events[0].kind, EventKind::stop);
}

TEST(MotionWatchTest, AStopConditionTrueAtTheStartStopsThere) {
  SystemBuilder b = oscillator(1, 0);
  b.stop("x > 0.5");
  const Trajectory made = b.make().run(100, {}, {0, 1});
  EXPECT_EQ(made.status, Status::stopped);
  EXPECT_EQ(made.last.state.t, 0);
  EXPECT_EQ(made.samples.size(), 1u);
}

TEST(MotionWatchTest, AStopConditionMetByAJumpStopsAtTheJump) {
  SystemBuilder b;
  b.point("ball", "1", {2}).gravity({"-1"}).require("floor", "ball.x >= 0", "0.5").stop("ball.x' > 0.1");
  const Trajectory made = b.make().run(10);
  EXPECT_EQ(made.status, Status::stopped);
  EXPECT_NEAR(made.last.state.t, 2, rounding);
  EXPECT_NEAR(made.last.state.v(0), 1, rounding);
}

TEST(MotionWatchTest, AStopConditionTheConditionsForbidIsNeverMet) {
  // x < 5 cannot occur on a floor x >= 5, whatever the rounding of x - 5 while the ball rests there.
  SystemBuilder b;
  b.point("ball", "1", {5.3, 0}, {0, 1}).gravity({"-9.81", "0"}).force("ball.y", "-3*ball.y");
  b.require("floor", "ball.x >= 5").stop("ball.x < 5");
  EXPECT_EQ(b.make().run(20).status, Status::ok);
}

TEST(MotionWatchTest, AnOutputTimeAtTheStopStillCounts) {
  // A stopped member is missing only at later output times.
  SystemBuilder b;
  b.point("p", "1", {0}, {1}).stop("p.x > 2");
  const Trajectory made = b.make().run(10, {}, {0, 1, 2, 3});
  EXPECT_EQ(made.status, Status::stopped);
  ASSERT_EQ(made.samples.size(), 3u);
  EXPECT_NEAR(made.samples[2].state.q(0), 2, rounding);
}

// --- Outputs ------------------------------------------------------------------------------------------

TEST(MotionWatchTest, OutputTimesDoNotDisturbTheMotion) {
  SystemBuilder b;
  b.parameter("L", 1)
      .anchor("nail", {"0", "0"})
      .point("load", "1", {0, -1}, {5.5, 0})
      .gravity({"0", "-9.81"});
  b.require("string", "distance(load, nail) <= L");
  std::vector<double> many;
  for (int k = 0; k <= 1000; ++k) many.push_back(k * 0.003);
  const Trajectory few = b.make().run(3, {}, {3}), full = b.make().run(3, {}, many);
  EXPECT_EQ(few.last.state.q, full.last.state.q);  // to the bit
  EXPECT_EQ(few.steps, full.steps);
  EXPECT_EQ(full.samples.size(), 1001u);
}

TEST(MotionWatchTest, OutputsBetweenStepsAreAsExactAsTheSteps) {
  SystemBuilder b = oscillator(1, 0);
  std::vector<double> times;
  for (int k = 0; k <= 200; ++k) times.push_back(k * 0.1);
  const Trajectory made = b.make().run(20, {}, times);
  ASSERT_EQ(made.samples.size(), times.size());
  for (std::size_t k = 0; k < times.size(); ++k) {
    EXPECT_EQ(made.samples[k].state.t, times[k]);
    EXPECT_NEAR(made.samples[k].state.q(0), std::cos(times[k]), integrated);
    EXPECT_NEAR(made.samples[k].state.v(0), -std::sin(times[k]), integrated);
  }
}

TEST(MotionWatchTest, ObservablesSeeReactionsAndStandings) {
  // A pendulum at rest at the bottom: tension = weight; the slack string beside it carries nothing.
  SystemBuilder b;
  b.anchor("nail", {"0", "0"}).point("load", "3", {0, -2}).gravity({"0", "-10"});
  b.require("taut", "distance(load, nail) <= 2").require("slack", "distance(load, nail) <= 3");
  b.observe("tension", "reaction(taut)")
      .observe("none", "reaction(slack)")
      .observe("open", "open(slack) - open(taut)");
  b.observe("value", "value(slack)").observe("multiplier", "multiplier(taut)");
  const Trajectory made = b.make().run(1, {}, {1});
  ASSERT_EQ(made.samples.size(), 1u);
  const std::vector<double>& seen = made.samples[0].observables;
  EXPECT_NEAR(seen[0], 30, 1e-11);
  EXPECT_EQ(seen[1], 0);
  EXPECT_EQ(seen[2], 1);
  EXPECT_NEAR(seen[3], (4.0 - 9) / 6, 1e-12);
  EXPECT_NEAR(seen[4], 30, 1e-11);
}

}  // namespace
}  // namespace zwang::motion_watch_test
