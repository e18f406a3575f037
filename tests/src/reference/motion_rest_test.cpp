// Closed conditions: resting, pressing, yielding; equations and drift; redundant conditions.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/system_builder.h"

namespace zwang::motion_rest_test {
namespace {

constexpr double integrated = 1e-7;  // the default rtol over a few time scales
constexpr double rounding = 1e-12;

// --- Press --------------------------------------------------------------------------------------------

// Three balls in a row, in touch; a force on the first from t = 1 on.
SystemBuilder row_of_balls(const std::string& restitution, double level = 0) {
  SystemBuilder b;
  b.point("a", "1", {level}).point("b", "1", {level + 1}).point("c", "1", {level + 2});
  b.require("ab", "b.x - a.x >= 1", restitution).require("bc", "c.x - b.x >= 1", restitution);
  b.force("a.x", "max(t - 1, 0)");
  return b;
}

TEST(MotionRestTest, BallsRestingInTouchPressWhenTheForceComes) {
  for (const char* restitution : {"0", "0.5", "1"})
    for (const double level : {0.0, 777.0}) {
      const Trajectory made = row_of_balls(restitution, level).make().run(3, {}, {2, 3});
      ASSERT_EQ(made.status, Status::ok) << made.cause;
      // Together with mass 3 under t - 1: x = (t - 1)^3/18; the contacts carry 2/3 and 1/3 of the force.
      for (const Eigen::Index i : {0, 1, 2})
        EXPECT_NEAR(made.last.state.q(i) - level - static_cast<double>(i), 8.0 / 18, integrated);
      EXPECT_NEAR(made.samples[0].multipliers(0), 2.0 / 3, integrated);
      EXPECT_NEAR(made.samples[0].multipliers(1), 1.0 / 3, integrated);
      const auto pressed = events_of(made, EventKind::press);
      ASSERT_EQ(pressed.size(), 2u) << "e = " << restitution << " at " << level;
      for (const Event& event : pressed) EXPECT_NEAR(event.t, 1, 1e-4);
      EXPECT_TRUE(events_of(made, EventKind::contact).empty());
      EXPECT_TRUE(events_of(made, EventKind::shock).empty());
    }
}

TEST(MotionRestTest, BallsRestingInTouchPartWhenPulled) {
  SystemBuilder b;
  b.point("a", "1", {0}).point("b", "1", {1}).require("ab", "b.x - a.x >= 1").force("b.x", "max(t - 1, 0)");
  const Trajectory made = b.make().run(3);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_NEAR(made.last.state.q(0), 0, 1e-4);
  EXPECT_NEAR(made.last.state.q(1), 1 + 8.0 / 6, 1e-4);
  EXPECT_EQ(made.last.closed[0], 0);
}

TEST(MotionRestTest, AForceThatChangesItsSignReleasesTheBlockForGood) {
  // cos t pushes the block against the wall until pi/2, then pulls it off: x = -(t - pi/2) - cos t from
  // there. At the origin no number has a size to which rounding could be compared; this must not matter.
  for (const double level : {0.0, 1.0, -300.0})
    for (const auto& [force, time] :
         {std::pair{"cos(t)", M_PI / 2}, {"sin(t)", M_PI}, {"2*cos(t/2)^2 - 1", M_PI / 2}}) {
      SystemBuilder b;
      b.parameter("c", level)
          .point("block", "1", {level})
          .force("block.x", force)
          .require("wall", "block.x <= c");
      const Trajectory made = b.make().run(time + 2);
      ASSERT_EQ(made.status, Status::ok) << force << " at " << level << ": " << made.cause;
      const auto released = times_of(made, EventKind::release);
      ASSERT_EQ(released.size(), 1u) << force << " at " << level;
      EXPECT_NEAR(released[0], time, integrated);
      EXPECT_TRUE(events_of(made, EventKind::contact).empty());
      EXPECT_NEAR(made.last.state.q(0) - level, -2 + std::sin(2.0), integrated) << force << " at " << level;
    }
}

TEST(MotionRestTest, APointPressedIntoAWedgePressesOnBothPlanes) {
  // The force (1, -0.1) = l1 (1, -3) + l2 (1, 1) with l1, l2 > 0: no motion is possible, a = 0.
  SystemBuilder b;
  b.point("p", "1", {0, 0}).force("p.x", "1").force("p.y", "-0.1");
  b.require("first", "p.x - 3*p.y <= 0").require("second", "p.x + p.y <= 0");
  const Trajectory made = b.make().run(1, {}, {0.5});
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_NEAR(made.samples[0].multipliers(0), 1.1 / 4, rounding);
  EXPECT_NEAR(made.samples[0].multipliers(1), 2.9 / 4, rounding);
  EXPECT_NEAR(made.last.state.q.norm(), 0, rounding);
}

// --- Rest on a slope, stacked, pressed together -------------------------------------------------------

TEST(MotionRestTest, AStackCarriesTheWeightsAboveIt) {
  SystemBuilder b;
  b.parameter("g", 9.81);
  const std::size_t height = 8;
  for (std::size_t k = 0; k < height; ++k)
    b.point("b" + std::to_string(k), std::to_string(k + 1), {static_cast<double>(k)});
  b.gravity({"-g"}).require("c0", "b0.x >= 0");
  for (std::size_t k = 1; k < height; ++k) {
    const std::string above = std::to_string(k), below = std::to_string(k - 1);
    b.require("c" + above, "b" + above + ".x - b" + below + ".x >= 1");
  }
  const Trajectory made = b.make().run(5, {}, {4});
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_TRUE(made.events.empty());
  double weight = 0;
  for (std::size_t k = height; k-- > 0;) {
    weight += static_cast<double>(k + 1) * 9.81;
    EXPECT_NEAR(made.samples[0].multipliers(static_cast<Eigen::Index>(k)), weight, rounding * weight);
  }
}

TEST(MotionRestTest, ABeadSlidesDownAPlaneAsOnAnIncline) {
  SystemBuilder b;
  b.point("p", "2", {0, 1}).gravity({"0", "-10"}).require("plane", "p.y >= 1 - p.x");
  const Trajectory made = b.make().run(1, {}, {1});
  EXPECT_NEAR(made.last.state.q(0), 0.5 * 5, integrated);
  EXPECT_NEAR(made.last.state.q(1), 1 - 2.5, integrated);
  // f = 1 - x - y: A = (-1, -1), reaction |A| lambda = m g cos 45.
  EXPECT_NEAR(made.samples[0].multipliers(0) * std::sqrt(2), 20 / std::sqrt(2), 1e-10);
}

TEST(MotionRestTest, ABallRollsOffASphereAtTwoThirdsOfItsHeight) {
  // From rest near the top of a smooth sphere the contact is lost at cos(theta) = 2/3 (of the start's
  // height).
  SystemBuilder b;
  const double start = 0.05;
  b.anchor("centre", {"0", "0"}).point("p", "1", {std::sin(start), std::cos(start)}).gravity({"0", "-9.81"});
  b.require("sphere", "distance(p, centre) >= 1").measure("at(release(sphere), p.y)");
  const Trajectory made = b.make().run(3);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_NEAR(made.measures[0], 2.0 / 3 * std::cos(start), integrated);
}

// --- Redundant ----------------------------------------------------------------------------------------

TEST(MotionRestTest, TwoStringsSideBySideShareTheLoad) {
  const auto hung = [](int strings) {
    SystemBuilder b;
    b.parameter("L", 1.5)
        .anchor("nail", {"0", "0"})
        .point("load", "2", {0, -1.5}, {3, 0})
        .gravity({"0", "-9.81"});
    for (int k = 0; k < strings; ++k) b.require("string" + std::to_string(k), "distance(load, nail) <= L");
    return b.make().run(2, {}, {1});
  };
  const Trajectory one = hung(1), two = hung(2), three = hung(3);
  ASSERT_EQ(two.status, Status::ok) << two.cause;
  EXPECT_FALSE(one.redundant);
  EXPECT_TRUE(two.redundant);
  EXPECT_TRUE(three.redundant);
  EXPECT_NEAR((one.last.state.q - two.last.state.q).norm(), 0, integrated);
  EXPECT_NEAR((one.last.state.q - three.last.state.q).norm(), 0, integrated);
  for (const Eigen::Index k : {0, 1})  // least norm: equal shares
    EXPECT_NEAR(two.samples[0].multipliers(k), one.samples[0].multipliers(0) / 2, 1e-6);
  EXPECT_NEAR(three.samples[0].multipliers(2), one.samples[0].multipliers(0) / 3, 1e-6);
}

TEST(MotionRestTest, RedundantStringsGoSlackAndTautenTogether) {
  SystemBuilder b;
  b.parameter("L", 1).anchor("nail", {"0", "0"}).point("load", "1", {0, -1}, {std::sqrt(3.5 * 9.81), 0});
  b.gravity({"0", "-9.81"})
      .require("one", "distance(load, nail) <= L")
      .require("other", "distance(load, nail) <= L");
  b.measure("count(release(one))").measure("count(release(other))");
  b.measure("count(contact(one))").measure("count(contact(other))").measure("total(impulse(one))");
  b.measure("total(impulse(other))").measure("first(release(one))").measure("first(release(other))");
  const Trajectory made = b.make().run(1.2);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_EQ(made.measures[0], 1);
  EXPECT_EQ(made.measures[1], 1);
  EXPECT_EQ(made.measures[2], made.measures[3]);
  EXPECT_NEAR(made.measures[4], made.measures[5], 1e-6);
  EXPECT_NEAR(made.measures[6], made.measures[7], 1e-6);
}

TEST(MotionRestTest, RedundantEquationsGiveTheMotionOfOne) {
  const auto rod = [](bool doubled) {
    SystemBuilder b;
    b.anchor("nail", {"0", "0", "0"}).point("load", "1", {1, 0, 0}, {0, 1, 0}).gravity({"0", "0", "-9.81"});
    b.require("rod", "distance(load, nail) == 1");
    if (doubled) b.require("again", "load.x^2 + load.y^2 + load.z^2 == 1");
    return b.make().run(3);
  };
  const Trajectory one = rod(false), two = rod(true);
  ASSERT_EQ(two.status, Status::ok) << two.cause;
  EXPECT_TRUE(two.redundant);
  EXPECT_NEAR((one.last.state.q - two.last.state.q).norm(), 0, 1e-6);
}

TEST(MotionRestTest, FourPlanesAtOneCornerOfSpaceAreNoError) {
  SystemBuilder b;
  b.point("p", "1", {0.3, 0.2, 1}, {-0.3, -0.2, -1});
  b.require("a", "p.x >= 0")
      .require("b", "p.y >= 0")
      .require("c", "p.z >= 0")
      .require("d", "p.x + p.y + p.z >= 0");
  b.force("p.x", "-1").force("p.y", "-2").force("p.z", "-3");
  IntegratorSettings settings;
  settings.max_events = 100;
  const Trajectory made = b.make().run(2, settings);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_NEAR(made.last.state.q.norm(), 0, rounding);
  EXPECT_TRUE(made.redundant);
  EXPECT_TRUE(events_of(made, EventKind::release).empty());  // no multiplier becomes negative
}

// --- Drift --------------------------------------------------------------------------------------------

TEST(MotionRestTest, ALongRunLeavesNoDrift) {
  SystemBuilder b;
  b.anchor("nail", {"0", "0"}).point("a", "1", {1, 0}).point("b", "1", {2, 0}).gravity({"0", "-9.81"});
  b.require("upper", "distance(a, nail) == 1").require("lower", "distance(a, b) == 1");
  const Trajectory made = b.make().run(60);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_LE(made.audit.position_violation, 1e-14);
  EXPECT_LE(made.audit.velocity_violation, 1e-13);
  EXPECT_LE(made.audit.energy_drift, 1e-6 * made.audit.energy_size);
}

TEST(MotionRestTest, AFastTurningLinkIsHeldOnItsCircle) {
  // A moving hinge: f depends on t, and the drift is corrected all the same.
  SystemBuilder b;
  b.anchor("hook", {"0.3*sin(7*t)", "0"})
      .point("p", "1", {1, 0}, {0.0, 5})
      .require("rod", "distance(p, hook) == 1");
  const Trajectory made = b.make().run(20);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_LE(made.audit.position_violation, 1e-14);
  EXPECT_LE(made.audit.energy_drift, 1e-6 * made.audit.energy_size);
}

}  // namespace
}  // namespace zwang::motion_rest_test
