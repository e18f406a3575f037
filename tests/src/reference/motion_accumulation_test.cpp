// Accumulations: infinitely many shocks in a finite time (mechanics section 5, requirement 5).
#include <gtest/gtest.h>

#include <cmath>

#include "src/reference/accumulation.h"
#include "tests/support/system_builder.h"

namespace zwang::motion_accumulation_test {
namespace {

// --- Recognition --------------------------------------------------------------------------------------

// Adds shocks at intervals gap, gap r, gap r^2, ...; returns the number after which the sequence was nearly
// over.
int shocks_until_over(AccumulationWatch& watch, double ratio, double start = 0, int most = 5000) {
  double t = start, gap = 1;
  for (int k = 1; k <= most; ++k) {
    watch.note(t, {4});
    if (watch.sequence() && watch.sequence()->nearly_over()) return k;
    t += gap;
    gap *= ratio;
  }
  return most;
}

TEST(AccumulationTest, AGeometricSequenceIsRecognisedAndItsLimitKnown) {
  for (const double ratio : {0.01, 0.1, 0.5, 0.9, 0.99}) {
    AccumulationWatch watch(1e-6);
    double t = 3, gap = 1;
    for (int k = 0; k < 6; ++k) {
      watch.note(t, {2});
      t += gap;
      gap *= ratio;
    }
    ASSERT_TRUE(watch.sequence()) << ratio;
    EXPECT_EQ(watch.sequence()->conditions, (std::vector<std::size_t>{2}));
    const double limit = 3 + 1 / (1 - ratio), last = t - gap / ratio;
    EXPECT_NEAR(last + watch.sequence()->remaining, limit, 1e-9 * (limit - 3)) << ratio;
  }
}

TEST(AccumulationTest, TheSequenceIsOverWhenWhatIsLeftIsASmallPartOfIt) {
  AccumulationWatch watch(1e-6);
  const int count = shocks_until_over(watch, 0.5);
  EXPECT_GE(count, 18);  // 2^-20 is a millionth
  EXPECT_LE(count, 26);
}

TEST(AccumulationTest, EqualOrGrowingGapsAreNoAccumulation) {
  for (const double ratio : {1.0, 1.2}) {
    AccumulationWatch watch(1e-6);
    double t = 0, gap = 1;
    for (int k = 0; k < 60; ++k) {
      watch.note(t, {1});
      EXPECT_FALSE(watch.sequence());
      t += gap;
      gap *= ratio;
    }
  }
}

TEST(AccumulationTest, GapsThatShrinkMoreAndMoreSlowlyAreNoAccumulation) {
  // Gaps 1/k have ratios that tend to 1: they add up to no finite time.
  AccumulationWatch watch(1e-6);
  double t = 0;
  for (int k = 1; k < 3000; ++k) {
    watch.note(t, {1});
    EXPECT_FALSE(watch.sequence() && watch.sequence()->nearly_over());
    t += 1.0 / k;
  }
}

TEST(AccumulationTest, ConditionsThatTakeTurnsAreOneSequence) {
  AccumulationWatch watch(1e-6);
  double t = 0, gap = 1;
  for (int k = 0; k < 40 && !(watch.sequence() && watch.sequence()->nearly_over()); ++k) {
    watch.note(t, {static_cast<std::size_t>(k % 2)});
    t += gap;
    gap *= k % 2 ? 0.9 : 0.2;
  }
  ASSERT_TRUE(watch.sequence());
  EXPECT_EQ(watch.sequence()->conditions, (std::vector<std::size_t>{0, 1}));
}

// Near its end a sequence of shocks of one condition has one factor. Other sequences in which every second
// interval shrinks are a coincidence.
TEST(AccumulationTest, OneConditionHasOneFactor) {
  AccumulationWatch watch(1e-6);
  double t = 0, gap = 1;
  for (int k = 0; k < 40; ++k) {
    watch.note(t, {3});
    EXPECT_FALSE(watch.sequence()) << k;
    t += gap;
    gap *= k % 2 ? 3.0 : 0.2;
  }
}

TEST(AccumulationTest, ForgettingBeginsAnew) {
  AccumulationWatch watch(1e-6);
  shocks_until_over(watch, 0.3);
  watch.forget();
  EXPECT_FALSE(watch.sequence());
  watch.note(100, {4});
  EXPECT_FALSE(watch.sequence());
}

// --- The bouncing ball --------------------------------------------------------------------------------

struct Bounce {
  Trajectory made;
  double limit;
};

Bounce bounce(double e, double floor, double drop, const IntegratorSettings& settings = {}) {
  SystemBuilder b;
  b.parameter("c", floor).parameter("e", e).point("ball", "1", {floor + drop}).gravity({"-9.81"});
  b.require("ground", "ball.x >= c", "e")
      .measure("count(accumulation(ground))")
      .measure("first(accumulation(ground))");
  const double limit = std::sqrt(2 * drop / 9.81) * (1 + e) / (1 - e);
  return {b.make().run(1.5 * limit, settings, {1.2 * limit}), limit};
}

TEST(MotionAccumulationTest, ABallComesToRestWhenTheFormulaSays) {
  // sqrt(2 h/g) (1 + e)/(1 - e), to a relative 1e-9: the sequence is completed long before its last bounce is
  // resolved. A floor far from the origin adds the rounding there: a position known to d = eps z changes the
  // energy at an impact of speed v by g d, so v by g d/v, and the remaining time 2 v/(g (1 - e)) by 2 d/(v (1
  // - e)). The last impacts count most; summed geometrically 2 d/(v (1 - e)^2), with v of the lowest resolved
  // hop: its height is 4 zeros of f, 1e-12 times its terms.
  for (const double e : {0.1, 0.5, 0.9, 0.99})
    for (const double floor : {0.0, 5.0, 1000.0}) {
      const auto [made, limit] = bounce(e, floor, 1);
      ASSERT_EQ(made.status, Status::ok) << made.cause;
      EXPECT_EQ(made.measures[0], 1) << "e = " << e << ", floor " << floor;
      const double slowest = std::sqrt(2 * 9.81 * 4 * 1e-12 * 2 * floor);
      const double rounding_there = floor > 0 ? 2 * 2.2e-16 * floor / (slowest * (1 - e) * (1 - e)) : 0;
      EXPECT_NEAR(made.measures[1], limit, 1e-9 * limit + rounding_there)
          << "e = " << e << ", floor " << floor;
      EXPECT_EQ(made.last.closed[0], 1);
      ASSERT_EQ(made.samples.size(), 1u);
      EXPECT_NEAR(made.samples[0].state.q(0), floor, 1e-11 * (1 + floor));
      EXPECT_EQ(made.samples[0].state.v(0), 0);
      EXPECT_NEAR(made.samples[0].multipliers(0), 9.81, 1e-11);
    }
}

TEST(MotionAccumulationTest, ASmallRestitutionIsNoException) {
  // Too few bounces are resolved to recognise a sequence; the time of rest is known all the same.
  for (const double e : {1e-3, 0.01, 0.03})
    for (const double floor : {0.0, 1000.0}) {
      const auto [made, limit] = bounce(e, floor, 1);
      ASSERT_EQ(made.status, Status::ok) << made.cause;
      EXPECT_EQ(made.measures[0], 1);
      EXPECT_NEAR(made.measures[1], limit, 1e-9 * limit) << "e = " << e << ", floor " << floor;
    }
}

TEST(MotionAccumulationTest, TheLimitDoesNotDependOnTheThresholds) {
  for (const double gap : {1e-4, 1e-6, 1e-10})
    for (const double rest : {1e-13, 1e-10}) {
      IntegratorSettings settings;
      settings.accumulation_gap = gap;
      settings.rest_speed = rest;
      const auto [made, limit] = bounce(0.7, 2, 1, settings);
      EXPECT_NEAR(made.measures[1], limit, 1e-9 * limit) << gap << " " << rest;
      EXPECT_EQ(made.last.closed[0], 1);
    }
}

TEST(MotionAccumulationTest, ALateAccumulationIsNoDifferent) {
  // At t = 1e6 the last hops are shorter than the resolution of time.
  SystemBuilder b;
  b.point("ball", "1", {1e-3}, {0}).force("ball.x", "-9.81").require("ground", "ball.x >= 0", "0.5");
  b.impulse("1e6", "ball", {"0.1"})
      .measure("count(accumulation(ground))")
      .measure("last(accumulation(ground))");
  const Trajectory made = b.make().run(1e6 + 10);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_EQ(made.measures[0], 2);
  EXPECT_NEAR(made.measures[1], 1e6 + 2 * 0.1 / 9.81 / (1 - 0.5), 1e-8);
  EXPECT_EQ(made.last.closed[0], 1);
}

TEST(MotionAccumulationTest, ElasticBouncesNeverAccumulate) {
  SystemBuilder b;
  b.point("ball", "1", {1}).gravity({"-9.81"}).require("ground", "ball.x >= 0", "1");
  b.measure("count(accumulation(ground))").measure("count(shock(ground))");
  const Trajectory made = b.make().run(200);
  EXPECT_EQ(made.measures[0], 0);
  EXPECT_EQ(made.measures[1], std::floor((200 / std::sqrt(2 / 9.81) + 1) / 2));
  EXPECT_LE(made.audit.energy_drift, 1e-9 * made.audit.energy_size);
}

TEST(MotionAccumulationTest, TheWholeSequenceHasItsClosedForm) {
  // Energy: m g h is lost in total, including the part lost in the completed remainder.
  SystemBuilder b;
  b.point("ball", "2", {1}).gravity({"-9.81"}).require("ground", "ball.x >= 0", "0.8");
  b.measure("integral(ball.x)").measure("total(impulse(ground))");
  const Trajectory made = b.make().run(5);
  // The area under each arc is two thirds of its height times its width, which shrink by e^2 and e.
  const double fall = std::sqrt(2 / 9.81), cube = 0.8 * 0.8 * 0.8;
  EXPECT_NEAR(made.measures[0], 2.0 / 3 * fall * (1 + 2 * cube / (1 - cube)), 1e-8);
  double lost = 0;
  for (const Event& event : made.events) lost += event.energy_lost;
  EXPECT_NEAR(lost, 2 * 9.81, 1e-9);
  // Impulses m (1 + e) v (1 + e + e^2 + ...), including the completed remainder.
  const double impulses = 2 * 1.8 * std::sqrt(2 * 9.81) / 0.2;
  EXPECT_NEAR(made.measures[1], impulses, 1e-8 * impulses);
}

TEST(MotionAccumulationTest, ABallOnARisingLiftComesToRestOnIt) {
  // The same bounces in the frame of a lift that rises with speed 3 (f depends on t).
  SystemBuilder b;
  b.point("ball", "1", {1}, {3}).gravity({"-9.81"}).require("lift", "ball.x >= 3*t", "0.5");
  b.measure("first(accumulation(lift))");
  const Trajectory made = b.make().run(4);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  const double limit = std::sqrt(2 / 9.81) * 3;
  EXPECT_NEAR(made.measures[0], limit, 1e-9 * limit);
  EXPECT_NEAR(made.last.state.v(0), 3, 1e-11);
  EXPECT_EQ(made.last.closed[0], 1);
}

TEST(MotionAccumulationTest, AMarbleInACornerComesToRestAgainstBothWalls) {
  // Two walls at 60 degrees, gravity into the corner: shocks alternate and accumulate on both.
  SystemBuilder b;
  b.point("p", "1", {0.1, 1}).gravity({"0", "-9.81"});
  b.require("right", "p.y >= 1.7320508075688772*p.x", "0.4")
      .require("left", "p.y >= -1.7320508075688772*p.x", "0.4");
  const Trajectory made = b.make().run(20);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_EQ(made.last.closed, (std::vector<double>{1, 1}));
  EXPECT_NEAR(made.last.state.q.norm(), 0, 1e-9);
  EXPECT_GE(events_of(made, EventKind::accumulation).size(), 1u);
}

// --- Mayer's own: strings that tauten in turn ---------------------------------------------------------

TEST(MotionAccumulationTest, TwoStringsThatTautenInTurnEndTautTogether) {
  SystemBuilder b;
  b.anchor("nail", {"0", "0"}).point("a", "1", {0, -1}, {4, 0}).point("b", "1", {0, -2}, {6.4, 0});
  b.gravity({"0", "-9.81"})
      .require("upper", "distance(a, nail) <= 1")
      .require("lower", "distance(a, b) <= 1");
  b.measure("count(accumulation(lower))")
      .measure("first(contact(lower))")
      .measure("first(accumulation(lower))");
  const Trajectory made = b.make().run(1.2);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_GE(made.measures[0], 1);
  EXPECT_NEAR(made.measures[1], 1.114, 5e-4);
  EXPECT_LT(made.measures[2] - made.measures[1], 0.02);
  EXPECT_EQ(made.last.closed, (std::vector<double>{1, 1}));
  EXPECT_LE(made.audit.energy_created, 1e-12);
}

TEST(MotionAccumulationTest, TheDoubleStringRunsOnAndOnlyLosesEnergy) {
  Dice dice(5);
  for (int trial = 0; trial < 12; ++trial) {
    SystemBuilder b;
    b.anchor("nail", {"0", "0"});
    b.point("a", "1", {0, -1}, {dice.between(3.2, 4.8), 0})
        .point("b", "1", {0, -2}, {dice.between(5.12, 7.68), 0});
    b.gravity({"0", "-9.81"})
        .require("upper", "distance(a, nail) <= 1")
        .require("lower", "distance(a, b) <= 1");
    const Trajectory made = b.make().run(10);
    EXPECT_EQ(made.status, Status::ok) << made.cause << ", trial " << trial;
    EXPECT_LE(made.audit.energy_created, 1e-11);
    EXPECT_LE(made.audit.energy_drift, 1e-5 * made.audit.energy_size);
    EXPECT_LE(made.audit.kkt, 1e-9);
    // Never longer than the strings.
    EXPECT_LE(made.last.state.q.head(2).norm(), 1 + 1e-10);
  }
}

}  // namespace
}  // namespace zwang::motion_accumulation_test
