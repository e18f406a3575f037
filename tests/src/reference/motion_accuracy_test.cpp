// Accuracy of the motion: tolerances, orders, units, reversal, conservation.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/system_builder.h"

namespace zwang::motion_accuracy_test {
namespace {

using Method = IntegratorSettings::Method;

// A pendulum on a string, thrown so that it goes slack, falls and snaps taut.
SystemBuilder slack_pendulum() {
  SystemBuilder b;
  b.parameter("g", 9.81).parameter("L", 1).anchor("nail", {"0", "0"});
  b.point("load", "1", {0, -1}, {std::sqrt(3.5 * 9.81), 0}).gravity({"0", "-g"});
  b.require("string", "distance(load, nail) <= L");
  return b;
}

IntegratorSettings tolerance(double rtol) {
  IntegratorSettings settings;
  settings.rtol = settings.atol = rtol;
  return settings;
}

TEST(MotionAccuracyTest, TheErrorFallsWithTheToleranceDownToRounding) {
  const Mechanism m = slack_pendulum().make();
  const State exact = m.run(2, tolerance(1e-14)).last.state;
  double last = 1;
  for (const double rtol : {1e-4, 1e-6, 1e-8, 1e-10, 1e-12}) {
    const Trajectory made = m.run(2, tolerance(rtol));
    ASSERT_EQ(made.status, Status::ok) << made.cause;
    ASSERT_EQ(events_of(made, EventKind::shock).size(), 1u);
    const double error = (made.last.state.q - exact.q).norm() + (made.last.state.v - exact.v).norm();
    EXPECT_LE(error, 1e4 * rtol) << rtol;
    EXPECT_LT(error, std::max(0.5 * last, 1e-10)) << rtol;  // no plateau above 1e-10
    last = error;
  }
  EXPECT_LE(last, 1e-10);
}

TEST(MotionAccuracyTest, TheEventsOfASlackPendulumConvergeToo) {
  const Mechanism m = slack_pendulum().make();
  const Trajectory exact = m.run(2, tolerance(1e-14));
  for (const double rtol : {1e-6, 1e-9, 1e-12}) {
    const Trajectory made = m.run(2, tolerance(rtol));
    ASSERT_EQ(made.events.size(), exact.events.size());
    for (std::size_t k = 0; k < made.events.size(); ++k) {
      EXPECT_EQ(made.events[k].kind, exact.events[k].kind);
      EXPECT_NEAR(made.events[k].t, exact.events[k].t, 1e3 * rtol + 1e-12);
    }
  }
}

TEST(MotionAccuracyTest, FixedStepsConvergeWithOrderFourThroughAnEvent) {
  const Mechanism m = slack_pendulum().make();
  const State exact = m.run(2, tolerance(1e-14)).last.state;
  const auto error = [&](double step) {
    IntegratorSettings settings;
    settings.method = Method::rk4;
    settings.step = step;
    return (m.run(2, settings).last.state.q - exact.q).norm();
  };
  // The phase of the steps relative to the events varies, so the order is measured over a factor of 32.
  EXPECT_NEAR(std::log2(error(0.032) / error(0.001)) / 5, 4, 0.4);
}

TEST(MotionAccuracyTest, AnElasticBounceOffANonlinearPathKeepsTheOrder) {
  SystemBuilder b;
  b.coordinate("x", 1).kinetic("0.5*x'^2").potential("0.5*x^2 + 0.25*x^4").require("wall", "x >= -0.3", "1");
  const Mechanism m = b.make();
  const State exact = m.run(3, tolerance(1e-14)).last.state;
  const auto error = [&](double step) {
    IntegratorSettings settings;
    settings.method = Method::rk4;
    settings.step = step;
    return (m.run(3, settings).last.state.q - exact.q).norm();
  };
  EXPECT_NEAR(std::log2(error(0.04) / error(0.005)) / 3, 4, 0.6);
}

TEST(MotionAccuracyTest, MillimetresAndMillisecondsTellTheSameStory) {
  // The same pendulum with lengths in l metres and times in s seconds.
  const auto in_units = [](double metre, double second) {
    SystemBuilder b;
    b.parameter("g", 9.81 * metre / (second * second)).parameter("L", metre).anchor("nail", {"0", "0"});
    b.point("load", "1", {0, -metre}, {std::sqrt(3.5 * 9.81) * metre / second, 0}).gravity({"0", "-g"});
    b.require("string", "distance(load, nail) <= L", "0.3").require("floor", "load.y >= -1.0000001*L", "0.3");
    b.require("wall", "load.x >= -0.2*L", "0.5");
    // Absolute tolerances have units; here they are left to the relative ones.
    IntegratorSettings settings;
    settings.rtol = 1e-11;
    settings.atol = 1e-11 * std::min(metre, metre / second);
    return b.make().run(3 * second, settings);
  };
  const Trajectory si = in_units(1, 1);
  ASSERT_GT(si.events.size(), 6u);
  for (const auto& [metre, second] :
       {std::pair{1000.0, 1000.0}, {1e-3, 1.0}, {1.0, 1e6}, {1e6, 1e-3}, {1e-6, 1e3}}) {
    const Trajectory other = in_units(metre, second);
    EXPECT_EQ(other.status, si.status);
    ASSERT_EQ(other.events.size(), si.events.size()) << metre << " " << second;
    for (std::size_t k = 0; k < si.events.size(); ++k) {
      EXPECT_EQ(other.events[k].kind, si.events[k].kind) << metre << " " << second << " event " << k;
      EXPECT_NEAR(other.events[k].t / second, si.events[k].t, 1e-6)
          << metre << " " << second << " event " << k;
    }
  }
}

TEST(MotionAccuracyTest, AConditionMayBeWrittenInAnyScale) {
  // 1e6*(x - 5) <= 0 is the same wall; so is 1e-6*(x - 5).
  for (const char* wall :
       {"b.x <= 5", "1e6*b.x <= 5e6", "1e-6*b.x <= 5e-6", "b.x^3 <= 125", "exp(b.x - 5) <= 1"}) {
    SystemBuilder b;
    b.point("b", "1", {0}, {10}).force("b.x", "3").require("wall", wall, "0.5");
    const Trajectory made = b.make().run(20);
    ASSERT_EQ(made.status, Status::ok) << wall << ": " << made.cause;
    const double speed = std::sqrt(100 + 30), first = (speed - 10) / 3;
    EXPECT_NEAR(times_of(made, EventKind::contact)[0], first, 1e-10) << wall;
    EXPECT_NEAR(times_of(made, EventKind::accumulation).at(0), first + 2 * 0.5 * speed / 3 / 0.5, 1e-7)
        << wall;
    EXPECT_EQ(made.last.closed[0], 1) << wall;
  }
}

TEST(MotionAccuracyTest, AnElasticMotionRunsBackTheWayItCame) {
  SystemBuilder b;
  b.point("p", "1", {0.3, 0.1}, {1.1, 0.7}).potential("0.3*p.x^2*p.y + 0.5*p.y^2");
  b.require("left", "p.x >= 0", "1").require("right", "p.x <= 1", "1").require("top", "p.y <= 1", "1");
  b.require("bottom", "p.y >= -0.5 + 0.2*p.x^2", "1");
  const Mechanism m = b.make();
  const State there = m.run(6, tolerance(1e-12)).last.state;
  State back = there;
  back.t = 0;
  back.v = -back.v;
  const State home = simulate(*m.equations, tolerance(1e-12), {{}, 6, false}, back).last.state;
  EXPECT_NEAR((home.q - m.start.q).norm(), 0, 1e-8);
  EXPECT_NEAR((home.v + m.start.v).norm(), 0, 1e-8);
}

TEST(MotionAccuracyTest, MomentumIsKeptWhereNothingOutsideActs) {
  // Four points on strings in space, no field: uniform motion of the centre of mass, constant angular
  // momentum through every shock.
  SystemBuilder b;
  b.point("a", "1", {0, 0, 0}, {1, 0, 0.3})
      .point("b", "2", {1, 0, 0}, {0, -1, 0})
      .point("c", "3", {1, 1, 0}, {0.2, 0, -1});
  b.point("d", "1", {0, 1, 1}, {-1, 0.4, 0});
  b.require("ab", "distance(a, b) <= 1.2")
      .require("bc", "distance(b, c) <= 1.1")
      .require("cd", "distance(c, d) <= 1.5");
  b.require("da", "distance(d, a) <= 1.6", "0.5");
  const Mechanism m = b.make();
  const double mass[] = {1, 2, 3, 1};
  const auto momenta = [&](const State& s) {
    Eigen::Matrix<double, 6, 1> made = Eigen::Matrix<double, 6, 1>::Zero();
    for (Eigen::Index k = 0; k < 4; ++k) {
      const Eigen::Vector3d q = s.q.segment<3>(3 * k), v = s.v.segment<3>(3 * k);
      made.head<3>() += mass[k] * v;
      made.tail<3>() += mass[k] * q.cross(v);
    }
    return made;
  };
  const Trajectory made = m.run(10);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_GT(events_of(made, EventKind::shock).size(), 3u);
  EXPECT_NEAR((momenta(made.last.state) - momenta(m.start)).norm(), 0, 1e-7);
  EXPECT_LE(made.audit.energy_created, 1e-11);
  EXPECT_LE(made.audit.kkt, 1e-9);
}

TEST(MotionAccuracyTest, TheSameInputGivesTheSameBits) {
  const Mechanism m = slack_pendulum().make();
  const Trajectory one = m.run(2), other = slack_pendulum().make().run(2);
  EXPECT_EQ(one.last.state.q, other.last.state.q);
  EXPECT_EQ(one.steps, other.steps);
}

}  // namespace
}  // namespace zwang::motion_accuracy_test
