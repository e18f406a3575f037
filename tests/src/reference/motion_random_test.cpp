// Random mechanisms: the laws of mechanics hold in every motion.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/system_builder.h"

namespace zwang::motion_random_test {
namespace {

// Allowed violation of the conditions between steps: the interpolant is accurate to the integrator's
// tolerance.
constexpr double between_steps = 1e-7;

void expect_lawful(const SystemBuilder& builder, double end, int trial) {
  IntegratorSettings settings;
  settings.max_events = 20'000;
  SystemBuilder b = builder;
  const Mechanism bare = b.make();
  for (const ConditionFormula& condition : bare.system->conditions)
    b.measure("maximum(value(" + condition.name + "))");
  const Mechanism m = b.make();
  const Trajectory made = m.run(end, settings);
  EXPECT_EQ(made.status, Status::ok) << made.cause << ", trial " << trial;
  for (std::size_t k = 0; k < made.measures.size(); ++k)
    EXPECT_LE(made.measures[k], between_steps) << "trial " << trial << ", " << m.system->conditions[k].name;
  EXPECT_LE(made.audit.energy_created, 1e-10) << "trial " << trial;
  EXPECT_LE(made.audit.energy_drift, 1e-6 * made.audit.energy_size) << "trial " << trial;
  EXPECT_LE(made.audit.kkt, 1e-8) << "trial " << trial;
  double last = 0;
  for (const Event& event : made.events) {
    EXPECT_GE(event.t, last - 1e-12) << "trial " << trial;  // events come in order
    last = event.t;
    for (const double impulse : event.impulses) EXPECT_GE(impulse, -1e-12) << "trial " << trial;
  }
}

// Numbers are drawn in statements of their own: the order in which the arguments of a call are evaluated depends on the
// machine.
std::string restitution(Dice& dice) {
  constexpr const char* values[] = {"0", "0", "0.3", "0.8", "1"};
  return values[dice.below(5)];
}

TEST(MotionRandomTest, PointsOnStringsInABoxObeyTheLaws) {
  Dice dice(101);
  for (int trial = 0; trial < 60; ++trial) {
    SystemBuilder b;
    const std::size_t count = 1 + dice.below(3);
    for (std::size_t k = 0; k < count; ++k) {
      const std::string mass = number_text(dice.between(0.2, 4));
      const double x = dice.between(-0.8, 0.8), y = dice.between(0.2, 1.8), vx = dice.between(-3, 3),
                   vy = dice.between(-3, 3);
      b.point("p" + std::to_string(k), mass, {x, y}, {vx, vy});
    }
    if (dice.chance(0.7)) b.gravity({"0", "-9.81"});
    for (std::size_t k = 0; k < count; ++k) {
      const std::string p = "p" + std::to_string(k);
      b.require(p + "floor", p + ".y >= 0.1*" + p + ".x", restitution(dice));
      b.require(p + "left", p + ".x >= -1", restitution(dice))
          .require(p + "right", p + ".x <= 1", restitution(dice));
      if (k > 0)
        b.require(p + "string", "distance(p" + std::to_string(k - 1) + ", " + p + ") <= 2.3",
                  restitution(dice));
    }
    expect_lawful(b, 3, trial);
  }
}

TEST(MotionRandomTest, PendulumsWithStopsObeyTheLaws) {
  Dice dice(103);
  for (int trial = 0; trial < 60; ++trial) {
    SystemBuilder b;
    b.parameter("m", dice.between(0.3, 3));
    for (const char* name : {"a", "b"}) {
      const double angle = dice.between(-0.5, 0.5), rate = dice.between(-4, 4);
      b.coordinate(name, angle, rate);
    }
    b.kinetic("0.5*a'^2 + 0.5*m*(a'^2 + b'^2 + 2*a'*b'*cos(a - b))")
        .potential("-9.81*((1 + m)*cos(a) + m*cos(b))");
    b.require("up", "a <= 0.7", restitution(dice)).require("down", "a >= -0.9", restitution(dice));
    b.require("wall", "sin(a) + sin(b) <= 1.1", restitution(dice))
        .require("fold", "b - a <= 1.2", restitution(dice));
    expect_lawful(b, 4, trial);
  }
}

TEST(MotionRandomTest, ChainsOfStringsObeyTheLaws) {
  Dice dice(107);
  for (int trial = 0; trial < 30; ++trial) {
    SystemBuilder b;
    b.anchor("nail", {"0", "0"});
    const std::size_t count = 2 + dice.below(3);
    for (std::size_t k = 0; k < count; ++k) {
      const std::string mass = number_text(dice.between(0.3, 2));
      const double vx = dice.between(-6, 6), vy = dice.between(0, 3);
      b.point("p" + std::to_string(k), mass, {0, -static_cast<double>(k) - 1}, {vx, vy});
    }
    b.gravity({"0", "-9.81"}).require("s0", "distance(p0, nail) <= 1", restitution(dice));
    for (std::size_t k = 1; k < count; ++k)
      b.require("s" + std::to_string(k),
                "distance(p" + std::to_string(k) + ", p" + std::to_string(k - 1) + ") <= 1",
                dice.chance(0.5) ? "0" : restitution(dice));
    expect_lawful(b, 2, trial);
  }
}

TEST(MotionRandomTest, BilliardBallsInABoxObeyTheLaws) {
  Dice dice(109);
  for (int trial = 0; trial < 30; ++trial) {
    SystemBuilder b;
    const std::string e = restitution(dice);
    const double spots[][2] = {{0.3, 0.3}, {1.0, 0.4}, {0.4, 1.1}, {1.2, 1.2}};
    for (int k = 0; k < 4; ++k) {
      const std::string mass = number_text(dice.between(0.5, 2));
      const double vx = dice.between(-3, 3), vy = dice.between(-3, 3);
      b.point("b" + std::to_string(k), mass, {spots[k][0], spots[k][1]}, {vx, vy});
    }
    for (int k = 0; k < 4; ++k) {
      const std::string p = "b" + std::to_string(k);
      b.require(p + "l", p + ".x >= 0.1", e).require(p + "r", p + ".x <= 1.5", e);
      b.require(p + "d", p + ".y >= 0.1", e).require(p + "u", p + ".y <= 1.5", e);
      for (int j = 0; j < k; ++j)
        b.require(p + "b" + std::to_string(j), "distance(" + p + ", b" + std::to_string(j) + ") >= 0.2", e);
    }
    expect_lawful(b, 3, trial);
  }
}

}  // namespace
}  // namespace zwang::motion_random_test
