// Imported mechanisms move as they should: against equations in hand-written coordinates, closed forms, and each other.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "host/import/import_study.h"
#include "tests/support/imported.h"
#include "tests/support/study_runs.h"

namespace zwang::import_physics_test {
namespace {

// Two formulations of one motion, integrated at 1e-13 over a few seconds.
constexpr double same_motion = 1e-8;

// Mass and inertia as in examples/import/cart_pole.urdf; x and phi are the positions of its joints.
const std::string cart_pole_by_hand = R"toml(
[[coordinate]]
name = "x"
position = 0
[[coordinate]]
name = "phi"
position = 0.5
[system]
kinetic = "0.5*1.1*x'^2 + 0.05*x'*phi'*cos(phi) + 0.5*(0.1*0.25 + 0.00833333333333)*phi'^2"
potential = "0.1*9.81*0.5*cos(phi)"
[time]
end = 2
)toml";

class CartPole : public testing::TestWithParam<bool> {};

TEST_P(CartPole, MovesAsInItsOwnCoordinates) {
  ImportOptions options;
  options.in_space = GetParam();
  options.joints = {{"hinge", 0.5}};
  const ImportedStudy made = imported_example("cart_pole.urdf", options);
  EXPECT_EQ(made.planar, !GetParam());
  const StudyRun run = imported_run(made, {0.5, 1, 2});
  const StudyRun hand = StudyRun(sampled(written(cart_pole_by_hand), {0.5, 1, 2}));
  for (const double t : {0.5, 1.0, 2.0}) {
    EXPECT_NEAR(run.observable("track", t), hand.position("x", t), same_motion);
    EXPECT_NEAR(run.observable("track_rate", t), hand.velocity("x", t), same_motion);
    // In space the angle is known up to whole turns.
    EXPECT_NEAR(std::remainder(run.observable("hinge", t) - hand.position("phi", t), 2 * std::numbers::pi), 0,
                same_motion);
    EXPECT_NEAR(run.observable("hinge_rate", t), hand.velocity("phi", t), same_motion);
  }
}

INSTANTIATE_TEST_SUITE_P(PlaneAndSpace, CartPole, testing::Bool());

// The complete elliptic integral K(k) by the arithmetic-geometric mean.
double complete_elliptic(double k) {
  double a = 1, b = std::sqrt(1 - k * k);
  for (int i = 0; i < 20; ++i) {
    const double mean = 0.5 * (a + b);
    b = std::sqrt(a * b);
    a = mean;
  }
  return std::numbers::pi / (2 * a);
}

TEST(ImportedPendulum, HasItsClosedFormPeriod) {
  // A bar of half lengths 0.02, 0.03 and 0.5 hangs from its upper end; its inertia follows from the geom.
  const std::string model = mjcf(R"(<body name="bar" pos="0 0 -0.5">
    <joint name="pivot" type="hinge" axis="0 1 0" pos="0 0 0.5"/>
    <geom type="box" size="0.02 0.03 0.5" density="500"/></body>)");
  ImportOptions options;
  options.joints = {{"pivot", 1.2}};
  for (const bool in_space : {false, true}) {
    options.in_space = in_space;
    const double length = 0.5, about_pivot = (0.02 * 0.02 + 0.5 * 0.5) / 3 + length * length;
    const double period = 4 * std::sqrt(about_pivot / (9.81 * length)) * complete_elliptic(std::sin(0.6));
    const StudyRun run = imported_run(imported(model, options), {0.25 * period, 0.5 * period, period});
    EXPECT_NEAR(run.observable("pivot", 0.25 * period), 0, 1e-9);
    EXPECT_NEAR(run.observable("pivot", 0.5 * period), -1.2, 1e-9);
    EXPECT_NEAR(run.observable("pivot", period), 1.2, 1e-9);
    EXPECT_NEAR(run.observable("pivot_rate", period), 0, 1e-8);
  }
}

TEST(ImportedSlide, HasItsSpringAndItsDamping) {
  // 2 kg on a spring of 50 N/m, relaxed at 0.3, with 4 N s/m: an underdamped oscillator from 0.
  const std::string model =
      mjcf(R"(<body><joint name="s" type="slide" axis="1 0 0" stiffness="50" springref="0.3"
    damping="4"/><geom type="sphere" size="0.1" mass="2"/></body>)");
  const StudyRun run = imported_run(imported(model), {0.7});
  const double decay = 1, rate = std::sqrt(25.0 - 1), t = 0.7;
  const double x =
      0.3 - 0.3 * std::exp(-decay * t) * (std::cos(rate * t) + decay / rate * std::sin(rate * t));
  EXPECT_NEAR(run.observable("s", t), x, 1e-10);
}

TEST(ImportedSlide, OnAMovingBodyActsOnBothSides) {
  // No force from outside: momentum stays 0, and the distance is an oscillator with the reduced mass.
  const std::string model =
      mjcf(R"(<body name="big"><freejoint/><geom type="box" size="0.1 0.2 0.3" mass="3"/>
    <body name="small"><joint name="s" type="slide" axis="0 1 0" stiffness="30" damping="2" springref="0.2"/>
    <geom type="sphere" size="0.05" mass="1"/></body></body>)",
           "<option gravity=\"0 0 0\"/>");
  const StudyRun run = imported_run(imported(model), {0.9});
  const double mass = 0.75, decay = 2 / (2 * mass), rate = std::sqrt(30 / mass - decay * decay), t = 0.9;
  const double s =
      0.2 - 0.2 * std::exp(-decay * t) * (std::cos(rate * t) + decay / rate * std::sin(rate * t));
  EXPECT_NEAR(run.observable("s", t), s, 1e-9);
  EXPECT_NEAR(3 * run.velocity("big.y", t) + run.velocity("small.y", t), 0, 1e-11);
}

TEST(ImportedSlide, RubsByItsFrictionLoss) {
  // Falls along z with 9.81 - 5/2; the other slide is held by more than its weight.
  const std::string model = mjcf(R"(<body name="a"><joint name="fall" type="slide" frictionloss="5"/>
    <geom type="sphere" size="0.1" mass="2"/></body>
    <body name="b" pos="1 0 0"><joint name="hold" type="slide" frictionloss="50"/>
    <geom type="sphere" size="0.1" mass="2"/></body>)");
  const StudyRun run = imported_run(imported(model), {1});
  EXPECT_NEAR(run.observable("fall", 1), -0.5 * (9.81 - 2.5), 1e-9);
  EXPECT_NEAR(run.observable("hold", 1), 0, 1e-12);
}

// A pendulum that starts level and falls onto a limit, where it stays.
TEST(ImportedLimits, StopAHingeInThePlaneAndInSpace) {
  const std::string model =
      mjcf(R"(<body name="bar"><joint name="pivot" type="hinge" axis="0 1 0" range="-0.4 0.9"/>
    <geom type="capsule" fromto="0 0 0 1 0 0" size="0.03"/></body>)");
  for (const bool in_space : {false, true}) {
    ImportOptions options;
    options.in_space = in_space;
    const StudyRun run = imported_run(imported(model, options), {0.1, 3});
    EXPECT_GT(run.observable("pivot", 0.1), 0.05);
    EXPECT_NEAR(run.observable("pivot", 3), 0.9, 1e-10);
    EXPECT_NEAR(run.observable("pivot_rate", 3), 0, 1e-10);
    if (in_space) {
      // The multiplier of the limit is the torque there.
      const double mass = 1000 * std::numbers::pi * 0.03 * 0.03 * (1 + 4.0 / 3 * 0.03);
      EXPECT_NEAR(std::abs(run.multiplier("pivot_limits", 3)), mass * 9.81 * 0.5 * std::cos(0.9), 1e-8);
    }
  }
}

TEST(ImportedLimits, BoundTheRotationOfABall) {
  const std::string model = mjcf(R"(<body name="bar"><joint name="socket" type="ball" range="0 0.7"/>
    <geom type="capsule" fromto="0 0 0 1 0.2 0" size="0.03"/></body>)");
  const StudyRun run = imported_run(imported(model), {3});
  EXPECT_NEAR(run.observable("socket", 3), 0.7, 1e-9);
}

TEST(ImportedLimits, CountTurnsInThePlane) {
  // Three and a half turns are allowed; a spring pulls to four.
  const std::string model =
      mjcf(R"(<body name="wheel"><joint name="axle" type="hinge" axis="0 1 0" range="-1 22"
    stiffness="1" springref="25" damping="0.2"/><geom type="sphere" size="0.3" mass="1"/></body>)");
  const StudyRun run = imported_run(imported(model), {20});
  EXPECT_NEAR(run.observable("axle", 20), 22, 1e-9);
}

// Random frames, axes and positions: the formulas of the joint coordinates agree with forward kinematics, and the rates
// are their derivatives.
TEST(ImportedCoordinates, AreThoseOfTheFile) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto number = [&] { return std::to_string(uniform(random)); };
  const auto three = [&] { return number() + " " + number() + " " + number(); };
  for (int trial = 0; trial < 3; ++trial) {
    const auto body = [&](const std::string& name, const std::string& joints) {
      return "<body name=\"" + name + "\" pos=\"" + three() + "\" euler=\"" + three() + "\">" + joints +
             "<geom type=\"ellipsoid\" size=\"0.2 0.3 0.4\" pos=\"" + three() + "\"/>";
    };
    const std::string at = three();
    const std::string model =
        mjcf(body("a", "<joint name=\"h\" axis=\"" + three() + "\" pos=\"" + three() + "\"/>") +
             body("b", "<joint name=\"s\" type=\"slide\" axis=\"" + three() + "\" ref=\"0.5\"/>") +
             body("c", "<joint name=\"u\" axis=\"1 2 0\" pos=\"" + at +
                           "\"/><joint name=\"v\" axis=\"2 -1 0\" pos=\"" + at + "\" damping=\"0.3\"/>") +
             body("d", "<joint name=\"w\" axis=\"" + three() + "\" damping=\"0.1\" stiffness=\"0.2\"/>") +
             "</body></body></body></body>");
    ImportOptions options;
    options.joints = {{"h", 0.3}, {"s", 0.9}, {"u", -0.8}, {"v", 1.1}, {"w", 2.5}};
    const ImportedStudy made = imported(model, options);
    EXPECT_FALSE(made.planar);
    const double step = 1e-4;
    const StudyRun run = imported_run(made, {0, 0.1 - step, 0.1, 0.1 + step});
    for (const auto& [name, start] : options.joints) {
      EXPECT_NEAR(run.observable(name, 0), start, 1e-12) << name;
      EXPECT_NEAR(run.observable(name + "_rate", 0), 0, 1e-12) << name;
      const double slope = (run.observable(name, 0.1 + step) - run.observable(name, 0.1 - step)) / (2 * step);
      EXPECT_NEAR(run.observable(name + "_rate", 0.1), slope, 1e-5) << name;
    }
  }
}

// Damping in a joint takes power d rate^2 whatever moves around it; without it the energy stays.
TEST(ImportedCoordinates, DampWithoutForcesFromOutside) {
  const std::string model = mjcf(R"(<body name="a"><freejoint/><geom type="box" size="0.1 0.2 0.3"/>
    <body name="b" pos="0.1 0.2 0.5"><joint name="u" axis="0 1 0" damping="D" stiffness="3" springref="1"/>
    <joint name="v" axis="1 0 0" damping="D"/>
    <geom type="box" size="0.1 0.1 0.2" pos="0 0.1 0.2"/>
    <body name="c" pos="0 0 0.4"><joint name="ball" type="ball" damping="D"/>
    <geom type="box" size="0.05 0.1 0.2" pos="0.1 0 0.2"/></body></body></body>)",
                                 "<option gravity=\"0 0 0\"/>");
  for (const char* damping : {"0", "0.4"}) {
    std::string text = model;
    for (std::size_t at = text.find("\"D\""); at != std::string::npos; at = text.find("\"D\""))
      text.replace(at, 3, "\"" + std::string(damping) + "\"");
    const StudyRun run = imported_run(imported(text), {0, 1});
    const double lost = run.observable("energy", 0) - run.observable("energy", 1);
    if (std::string(damping) == "0")
      EXPECT_NEAR(lost, 0, 1e-10);
    else
      EXPECT_GT(lost, 1e-3);
    // Nothing acts from outside: momentum and angular momentum stay 0.
    for (const char* axis : {"x", "y", "z"}) {
      double momentum = 0;
      for (const std::string body : {"a", "b", "c"}) {
        const double size[] = {1000 * 8 * 0.1 * 0.2 * 0.3, 1000 * 8 * 0.1 * 0.1 * 0.2,
                               1000 * 8 * 0.05 * 0.1 * 0.2};
        momentum += size[body[0] - 'a'] * run.velocity(body + "." + axis, 1);
      }
      EXPECT_NEAR(momentum, 0, 1e-9);
    }
  }
}

}  // namespace
}  // namespace zwang::import_physics_test
