// What an accumulation transfers after its last listed shock: impulses, integrals and times do not depend on
// when it is completed.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/system_builder.h"

namespace zwang::motion_remainder_test {
namespace {

constexpr double gravity = 9.81;

// Steps of a parabola are exact; what is left is the rounding of a hundred shocks, whose last ones are known
// to 1e-10 of their speed (the floor is located to 1e-12).
constexpr double exact_flight = 1e-9;

IntegratorSettings completed_at(double gap) {
  IntegratorSettings settings;
  settings.rtol = 1e-11;
  settings.atol = 1e-12;
  settings.accumulation_gap = gap;
  return settings;
}

constexpr double gaps[] = {1e-3, 1e-4, 1e-7, 1e-10};

double impulse_of(const Event& event, std::size_t condition) {
  for (std::size_t k = 0; k < event.impulses.size(); ++k)
    if (event.struck()[k] == condition) return event.impulses[k];
  return 0;
}

TEST(MotionRemainderTest, TheImpulsesOfABouncingBallAddUpToTheSumOfTheSeries) {
  // m (1 + e) v (1 + e + e^2 + ...) with v = sqrt(2 g h), whenever the sequence is completed.
  for (const double e : {0.01, 0.3, 0.8, 0.95})
    for (const double gap : gaps) {
      SystemBuilder b;
      b.parameter("e", e).point("ball", "2", {1}).gravity({"-9.81"}).require("ground", "ball.x >= 0", "e");
      b.measure("total(impulse(ground))").measure("last(shock(ground))").measure("integral(open(ground))");
      const double limit = std::sqrt(2 / gravity) * (1 + e) / (1 - e);
      const Trajectory made = b.make().run(1.5 * limit, completed_at(gap));
      ASSERT_EQ(made.status, Status::ok) << made.cause;
      const double sum = 2 * (1 + e) * std::sqrt(2 * gravity) / (1 - e);
      EXPECT_NEAR(made.measures[0], sum, exact_flight * sum) << "e = " << e << ", gap " << gap;
      EXPECT_NEAR(made.measures[1], limit, exact_flight * limit) << "e = " << e << ", gap " << gap;
      EXPECT_NEAR(made.measures[2], limit, exact_flight * limit) << "e = " << e << ", gap " << gap;
    }
}

TEST(MotionRemainderTest, TheEventCarriesWhatTheListedShocksLeaveOut) {
  for (const double gap : gaps) {
    SystemBuilder b;
    b.point("ball", "2", {1}).gravity({"-9.81"}).require("ground", "ball.x >= 0", "0.8");
    const Trajectory made = b.make().run(5, completed_at(gap));
    double listed = 0;
    for (const Event& event : events_of(made, EventKind::shock)) listed += impulse_of(event, 0);
    const std::vector<Event> limits = events_of(made, EventKind::accumulation);
    ASSERT_EQ(limits.size(), 1u);
    ASSERT_EQ(limits[0].impulses.size(), 1u);
    const double sum = 2 * 1.8 * std::sqrt(2 * gravity) / 0.2;
    EXPECT_GT(limits[0].impulses[0], 0);
    EXPECT_NEAR(listed + limits[0].impulses[0], sum, exact_flight * sum) << gap;
  }
}

TEST(MotionRemainderTest, ImpulsesAndReactionsCarryTheWeightAndTheChangeOfMomentum) {
  // Normal to an incline: total impulse + integral of the reaction = m (v_y(T) - v_y(0)) + m g_y T. Along it
  // nothing acts but gravity.
  for (const double gap : gaps) {
    SystemBuilder b;
    b.point("p", "2", {0, 1}, {1, 0.7}).gravity({"4.9", "-7.8"}).require("plane", "p.y >= 0", "0.6");
    b.measure("total(impulse(plane))").measure("integral(reaction(plane))").measure("final(p.x)");
    const Trajectory made = b.make().run(6, completed_at(gap));
    ASSERT_EQ(made.status, Status::ok) << made.cause;
    const double given = 2 * (0 - 0.7) + 2 * 7.8 * 6;
    EXPECT_NEAR(made.measures[0] + made.measures[1], given, exact_flight * given) << gap;
    // Each of the two alone, too: hops of 2 v/g_y from the first impact at v on.
    const double impact = std::sqrt(0.7 * 0.7 + 2 * 7.8), first = (0.7 + impact) / 7.8;
    const double rest = first + 2 * 0.6 * impact / (7.8 * (1 - 0.6));
    EXPECT_NEAR(made.measures[1], 2 * 7.8 * (6 - rest), exact_flight * given) << gap;
    EXPECT_NEAR(made.measures[2], 6 + 0.5 * 4.9 * 36, exact_flight * 100) << gap;
  }
}

TEST(MotionRemainderTest, OnARisingLiftOnlyTheWeightRelativeToItCounts) {
  SystemBuilder b;
  b.point("ball", "2", {1}, {3}).gravity({"-9.81"}).require("lift", "ball.x >= 3*t", "0.5");
  b.measure("total(impulse(lift))").measure("integral(reaction(lift))");
  for (const double gap : gaps) {
    const Trajectory made = b.make().run(4, completed_at(gap));
    ASSERT_EQ(made.status, Status::ok) << made.cause;
    const double sum = 2 * 1.5 * std::sqrt(2 * gravity) / 0.5;
    EXPECT_NEAR(made.measures[0], sum, exact_flight * sum) << gap;
    EXPECT_NEAR(made.measures[1], 2 * gravity * 4 - sum, exact_flight * sum) << gap;
  }
}

TEST(MotionRemainderTest, BallsThatLandTogetherAndApartKeepTheirOwnSums) {
  // Two accumulate in the same shocks, a third one by itself; they share nothing but the time.
  for (const double gap : gaps) {
    SystemBuilder b;
    b.point("p", "1", {1}).point("q", "3", {1}).point("s", "2", {0.7}).gravity({"-9.81"});
    b.require("under_p", "p.x >= 0", "0.5").require("under_q", "q.x >= 0", "0.5");
    b.require("under_s", "s.x >= 0", "0.3");
    b.measure("total(impulse(under_p))")
        .measure("total(impulse(under_q))")
        .measure("total(impulse(under_s))");
    const Trajectory made = b.make().run(3, completed_at(gap));
    ASSERT_EQ(made.status, Status::ok) << made.cause;
    const double p = 1.5 * std::sqrt(2 * gravity) / 0.5, s = 2 * 1.3 * std::sqrt(1.4 * gravity) / 0.7;
    EXPECT_NEAR(made.measures[0], p, exact_flight * p) << gap;
    EXPECT_NEAR(made.measures[1], 3 * p, exact_flight * 3 * p) << gap;
    EXPECT_NEAR(made.measures[2], s, exact_flight * s) << gap;
  }
}

TEST(MotionRemainderTest, AHeldContactReceivesItsShareOfTheShocks) {
  // A point slides down a ramp of slope 1 onto a wall: every impact strikes the ramp too. Along the ramp the
  // acceleration is g/sqrt(2); the wall's impulse j leaves the ramp with j in its own direction by the
  // balance of momentum across it, j n_wall + k n_ramp along the ramp's tangent: k = j/sqrt(2).
  for (const double gap : gaps) {
    SystemBuilder b;
    b.point("p", "1", {0, 1}).gravity({"0", "-9.81"});
    b.require("ramp", "p.y >= 1 - p.x").require("wall", "p.x <= 0.5", "0.5");
    b.measure("total(impulse(wall))").measure("total(impulse(ramp))");
    b.measure("integral(reaction(ramp))").measure("integral(reaction(wall))");
    const Trajectory made = b.make().run(4, completed_at(gap));
    ASSERT_EQ(made.status, Status::ok) << made.cause;
    // Momentum in x and y over the whole motion, at rest at both ends.
    const double across = std::sqrt(0.5) * (made.measures[1] + made.measures[2]);
    EXPECT_NEAR(across - made.measures[0] - made.measures[3], 0, exact_flight * 40) << gap;
    EXPECT_NEAR(across, gravity * 4, exact_flight * 40) << gap;
    // The sum of the wall's shocks: along the ramp v = sqrt(2 a s), and the wall takes sqrt(2) times the
    // change of momentum along it.
    const double along = std::sqrt(2 * gravity * std::sqrt(0.5) * std::sqrt(0.5));
    const double wall = std::sqrt(2) * 1.5 * along / 0.5;
    EXPECT_NEAR(made.measures[0], wall, exact_flight * wall) << gap;
    EXPECT_NEAR(made.measures[1], wall * std::sqrt(0.5), exact_flight * wall) << gap;
  }
}

TEST(MotionRemainderTest, WithoutForcesTheSumIsTheChangeOfMomentum) {
  // Three equal balls collapse to a common speed: the two pairs transfer 1 - 1/3 and 1/3, each times the
  // length of its gradient (1, -1).
  const double row = std::sqrt(2);
  for (const double gap : gaps) {
    SystemBuilder b;
    b.point("a", "1", {0}, {1}).point("b", "1", {1}).point("c", "1", {2});
    b.require("left", "a.x <= b.x", "0.05").require("right", "b.x <= c.x", "0.05");
    b.measure("total(impulse(left))").measure("total(impulse(right))").measure("last(shock(right))");
    const Trajectory made = b.make().run(5, completed_at(gap));
    ASSERT_EQ(made.status, Status::ok) << made.cause;
    EXPECT_NEAR(made.measures[0], row * 2 / 3, exact_flight) << gap;
    EXPECT_NEAR(made.measures[1], row / 3, exact_flight) << gap;
    EXPECT_NEAR(made.measures[2], 3.5, exact_flight * 10) << gap;
  }
}

}  // namespace
}  // namespace zwang::motion_remainder_test
