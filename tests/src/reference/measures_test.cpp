// Measures: one number per member, by reduction over the continuous trajectory and over its events.
#include "src/reference/measures.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/system_builder.h"

namespace zwang::measures_test {
namespace {

constexpr double rounding = 1e-12;
constexpr double integrated = 1e-7;

TEST(MeasureTest, ExtremesAreOverTheContinuousTrajectory) {
  // A parabola traversed in a few long steps: its maximum is inside one of them.
  SystemBuilder b;
  b.point("p", "1", {0}, {3}).gravity({"-1"});
  b.measure("maximum(p.x)")
      .measure("minimum(p.x)")
      .measure("maximum(p.x*0 - (t - 2)^2)")
      .measure("minimum(p.x')");
  const Trajectory made = b.make().run(10);
  ASSERT_LT(made.steps, 30);
  EXPECT_NEAR(made.measures[0], 4.5, rounding);
  EXPECT_NEAR(made.measures[1], 30 - 50, rounding * 50);
  EXPECT_NEAR(made.measures[2], 0, rounding);
  EXPECT_NEAR(made.measures[3], -7, rounding * 10);
}

TEST(MeasureTest, AnExtremeRightAfterAnEventIsSeen) {
  // The step proposed after the impulse is far longer than the small hop that follows.
  SystemBuilder b;
  b.point("ball", "1", {0}).gravity({"-10"}).require("floor", "ball.x >= 0").impulse("50", "ball", {"1"});
  b.measure("maximum(ball.x)").measure("maximum(ball.x')").measure("minimum(ball.x')");
  const Trajectory made = b.make().run(100);
  EXPECT_NEAR(made.measures[0], 0.05, rounding);
  EXPECT_NEAR(made.measures[1], 1, rounding);
  EXPECT_NEAR(made.measures[2], -1, 1e-10);
}

TEST(MeasureTest, BothSidesOfAnEventCount) {
  SystemBuilder b;
  b.point("ball", "1", {2}).gravity({"-1"}).require("floor", "ball.x >= 0", "0.5");
  b.measure("minimum(ball.x')").measure("maximum(ball.x')");
  const Trajectory made = b.make().run(2.5);
  EXPECT_NEAR(made.measures[0], -2, rounding);
  EXPECT_NEAR(made.measures[1], 1, rounding);
}

TEST(MeasureTest, IntegralsAndMeansAreOverTheMembersOwnTime) {
  SystemBuilder b;
  b.coordinate("x", 1).kinetic("0.5*x'^2").potential("0.5*x^2").stop("t > 2");
  b.measure("integral(x)").measure("mean(x)").measure("integral(1 + 0*x)").measure("mean(x^2 + x'^2)");
  const Trajectory made = b.make().run(100);
  EXPECT_EQ(made.status, Status::stopped);
  EXPECT_NEAR(made.measures[0], std::sin(2), integrated);
  EXPECT_NEAR(made.measures[1], std::sin(2) / 2, integrated);
  EXPECT_NEAR(made.measures[2], 2, rounding);
  EXPECT_NEAR(made.measures[3], 1, integrated);
}

TEST(MeasureTest, TheTimeAStringIsSlackIsTheIntegralOfOpen) {
  // Thrown up from the end of its string at rest: slack until it is back, 2 v/g.
  SystemBuilder b;
  b.anchor("nail", {"0", "0"}).point("load", "1", {0, -1}, {0, 1.5}).gravity({"0", "-10"});
  b.require("string", "distance(load, nail) <= 1")
      .measure("integral(open(string))")
      .measure("integral(closed(string))");
  b.measure("maximum(reaction(string))")
      .measure("maximum(impulse(string))")
      .measure("final(reaction(string))");
  const Trajectory made = b.make().run(1, {}, {});
  EXPECT_NEAR(made.measures[0], 0.3, 1e-9);
  EXPECT_NEAR(made.measures[1], 0.7, 1e-9);
  EXPECT_NEAR(made.measures[2], 10, 1e-9);
  EXPECT_NEAR(made.measures[3], 1.5, rounding);
  EXPECT_NEAR(made.measures[4], 10, 1e-9);
}

TEST(MeasureTest, InitialAndFinalAreTheEndsOfTheMotion) {
  SystemBuilder b;
  b.point("p", "1", {1}, {2}).measure("initial(p.x)").measure("final(p.x + t)").measure("initial(p.x')");
  b.impulse("0", "p", {"3"});
  const Trajectory made = b.make().run(2);
  EXPECT_EQ(made.measures[0], 1);
  EXPECT_NEAR(made.measures[1], 1 + 10 + 2, rounding);
  EXPECT_EQ(made.measures[2], 5);  // values at an event are those after it
}

TEST(MeasureTest, CountsTimesAndTotalsOfShocks) {
  // Elastic, mass 2, speed 1 between walls at 0 and 1: right at 0.5, 2.5, ..., left at 1.5, 3.5, ...
  SystemBuilder b;
  b.point("p", "2", {0.5}, {1}).require("left", "p.x >= 0", "1").require("right", "p.x <= 1", "1");
  for (const char* measure :
       {"count(shock(left))", "count(contact(right))", "first(shock(right))", "last(contact(left))",
        "total(impulse(left))", "maximum(impulse(right))", "at(shock(left), p.x')", "at(contact(right), p.x)",
        "count(release(left))", "first(release(left))"})
    b.measure(measure);
  const Trajectory made = b.make().run(10);
  EXPECT_EQ(made.measures[0], 5);
  EXPECT_EQ(made.measures[1], 5);
  EXPECT_NEAR(made.measures[2], 0.5, rounding);
  EXPECT_NEAR(made.measures[3], 9.5, rounding);
  EXPECT_NEAR(made.measures[4], 5 * 4, rounding);
  EXPECT_NEAR(made.measures[5], 4, rounding);
  EXPECT_NEAR(made.measures[6], 1, rounding);
  EXPECT_NEAR(made.measures[7], 1, rounding);
  EXPECT_EQ(made.measures[8], 0);
  EXPECT_TRUE(std::isnan(made.measures[9]));
}

TEST(MeasureTest, WhatNeverHappensIsZeroOrMissing) {
  SystemBuilder b;
  b.point("p", "1", {5}).require("wall", "p.x >= 0").watch("gate", "p.x - 100");
  for (const char* measure : {"count(shock(wall))", "total(impulse(wall))", "count(event(gate))"})
    b.measure(measure);
  for (const char* measure :
       {"first(shock(wall))", "last(event(gate))", "at(release(wall), p.x)", "maximum(impulse(wall))"})
    b.measure(measure);
  const Trajectory made = b.make().run(1);
  for (const std::size_t k : {0u, 1u, 2u}) EXPECT_EQ(made.measures[k], 0) << k;
  for (const std::size_t k : {3u, 4u, 5u, 6u}) EXPECT_TRUE(std::isnan(made.measures[k])) << k;
}

TEST(MeasureTest, AShockWithoutImpulseOnAConditionIsNoShockOfIt) {
  // Sliding along the floor into a wall: the floor is closed but takes no impulse.
  SystemBuilder b;
  b.point("p", "1", {0, 0}, {1, 0}).require("floor", "p.y >= 0").require("wall", "p.x <= 1");
  b.measure("count(shock(floor))").measure("count(shock(wall))");
  const Trajectory made = b.make().run(2);
  EXPECT_EQ(made.measures[0], 0);
  EXPECT_EQ(made.measures[1], 1);
}

TEST(MeasureTest, ALongMotionWithManyOscillationsHasItsExtremes) {
  SystemBuilder b;
  b.coordinate("x", 1)
      .kinetic("0.5*x'^2")
      .potential("0.5*x^2")
      .measure("maximum(x*x')")
      .measure("minimum(x)");
  const Trajectory made = b.make().run(50);
  EXPECT_NEAR(made.measures[0], 0.5, 1e-6);
  EXPECT_NEAR(made.measures[1], -1, 1e-6);
}

TEST(MeasureTest, AKinkedIntegrandIsIntegratedAllTheSame) {
  // |cos t| over 10 periods: 40. About 400 steps of a tolerance of 1e-9.
  SystemBuilder b;
  b.coordinate("x", 1).kinetic("0.5*x'^2").potential("0.5*x^2").measure("integral(abs(x))");
  EXPECT_NEAR(b.make().run(20 * M_PI).measures[0], 40, 400 * 1e-9);
}

}  // namespace
}  // namespace zwang::measures_test
