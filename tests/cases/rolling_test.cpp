// Known answers from the classical literature: blades, wheels, wires, pendulums and chains, all under
// equations.
#include "tests/support/study_runs.h"

namespace zwang::rolling_test {
namespace {

constexpr double pi = 3.14159265358979323846;
// Some thousands of steps of rtol 1e-13 on numbers of order 1.
constexpr double integrated = 1e-11;

// A study of coordinates with unit times: name, velocity at t = 0; all positions start at 0.
std::string coordinates(std::initializer_list<std::pair<const char*, const char*>> list) {
  std::string text = "title = \"Rolling\"\n";
  for (const auto& [name, velocity] : list)
    text +=
        std::string("[[coordinate]]\nname = \"") + name + "\"\nposition = 0\nvelocity = " + velocity + "\n";
  return text;
}

TEST(Rolling, TheKnifeEdgeDrawsACycloidAcrossTheSlope) {
  const StudyRun run(config("knife_edge"));
  expect_sound(run);
  expect_near(run.at(3).state.q, {0.048795637896096217296, 3.9176790368751359286, 6}, integrated, "q(3)");
  EXPECT_NEAR(run.measure("lowest_place"), 0.625, integrated);
  // One arch of the cycloid takes pi/2 and carries it 1.25 pi/2 across.
  const StudyRun arch(sampled(config("knife_edge"), {pi / 2, pi}));
  EXPECT_NEAR((arch.position("y", pi) - arch.position("y", pi / 2)) / (pi / 2), 1.25, integrated);
}

TEST(Rolling, TheUprightDiskTurnsAndRollsDownTheSlope) {
  // J = 1/16 does not matter: the spin about the vertical is free.
  const StudyRun run(written(coordinates({{"x", "0"}, {"y", "0"}, {"psi", "0"}, {"phi", "1"}}) + R"toml(
[system]
kinetic = "0.5*(x'^2 + y'^2) + 0.5*psi'^2/8 + 0.5*phi'^2/16"
potential = "-3*x"
[[constraint]]
name = "along"
require = "x' == 0.5*psi'*cos(phi)"
[[constraint]]
name = "across"
require = "y' == 0.5*psi'*sin(phi)"
[time]
at = [3]
)toml"));
  expect_sound(run);
  expect_near(run.at(3).state.q, {0.019914856674816989727, 3.1397077490994629364, 7.9599699864017818291, 3},
              integrated, "q(3)");
}

TEST(Rolling, TheDiskIsAcceleratedByTwoThirdsOfThePull) {
  const Explanation found = explained(written(coordinates({{"x", "0"}, {"psi", "0"}}) + R"toml(
[system]
kinetic = "0.5*x'^2 + 0.5*psi'^2/8"
potential = "-3*x"
[[constraint]]
name = "along"
require = "x' == 0.5*psi'"
[time]
at = [1]
)toml"));
  expect_near(found.acceleration, {2, 4}, algebra, "x'', psi''");
}

TEST(Rolling, TheAppellHamelMachineInItsLinearForm) {
  const StudyRun run(
      written(coordinates({{"x", "0"}, {"y", "0"}, {"z", "0"}, {"phi", "0"}, {"theta", "2"}}) + R"toml(
[system]
kinetic = "0.5*(x'^2 + y'^2) + 0.5*2*z'^2 + 0.5*0.5*phi'^2 + 0.5*theta'^2"
potential = "2*z"
[[constraint]]
name = "along"
require = "x' == phi'*cos(theta)"
[[constraint]]
name = "across"
require = "y' == phi'*sin(theta)"
[[constraint]]
name = "winch"
require = "z' == -0.5*phi'"
[time]
at = [0, 4]
)toml"));
  expect_sound(run);
  EXPECT_NEAR(explained(run.study).acceleration(3), 0.5, algebra) << "alpha";
  expect_near(run.at(4).state.q, {0.84617074239730508707, 0.26916981463653624809, -2, 4, 8}, integrated,
              "q(4)");
  // Its famous nonlinear consequence: x'^2 + y'^2 = (R/r)^2 z'^2.
  const Eigen::VectorXd v = run.at(4).state.v;
  EXPECT_NEAR(v(0) * v(0) + v(1) * v(1), 4 * v(2) * v(2), integrated);
}

TEST(Rolling, TheBeadRunsOutAlongTheRotatingWire) {
  const StudyRun run(written(R"toml(
title = "A bead on a rotating wire"
[[point]]
name = "p"
mass = 1
position = [0.2, 0]
velocity = [0, 0.3]
[[constraint]]
name = "wire"
require = "p.y*cos(1.5*t) - p.x*sin(1.5*t) == 0"
[time]
at = [2]
)toml"));
  expect_sound(run);
  const State& state = run.at(2).state;
  const double r = std::hypot(state.q(0), state.q(1));
  expect_near(state.q, {-1.9933819668258907556, 0.28414970839763544772}, integrated, "q(2)");
  EXPECT_NEAR(r, 2.0135323991555531684, integrated);
  EXPECT_NEAR(state.q.dot(state.v) / r, 3.0053624782229705697, integrated) << "r'";
  // m a = -lambda grad f, so the force 2 m w r' along the gradient is -lambda.
  EXPECT_NEAR(run.multiplier("wire", 2), -9.0160874346689117091, integrated);
}

const char* const pendulum = R"toml(
title = "A pendulum in Cartesian coordinates"
[[point]]
name = "p"
mass = 1
position = [-1, 0]
velocity = [0, 0]
[system]
gravity = [0, -9.81]
[[constraint]]
name = "rod"
require = "p.x^2 + p.y^2 == 1"
[time]
at = [10]
)toml";

TEST(Rolling, ThePendulumReturnsAfterItsEllipticPeriod) {
  const double period = 8.3497529269184947344;
  const StudyRun run(sampled(
      written(pendulum, {"system.gravity=[0, -1]", "point.0.position=[\"sin(2)\", \"-cos(2)\"]"}), {period}));
  expect_sound(run);
  expect_near(run.at(period).state.q, {std::sin(2.0), -std::cos(2.0)}, integrated, "back");
  expect_near(run.at(period).state.v, {0, 0}, integrated, "at rest");
}

TEST(Rolling, TheBenchmarkPendulumIsWhereTheEllipticFunctionsSayAfterTenSeconds) {
  const double period = 2.3678419475762374493;
  const StudyRun run(sampled(written(pendulum), {period, 10}));
  expect_sound(run);
  expect_near(run.at(period).state.q, {-1, 0}, integrated, "after one period");
  // Four periods at up to 4.4 m/s.
  expect_near(run.at(10).state.q, {-0.27508746257611686005, -0.96141920509912506427}, 10 * integrated,
              "q(10)");
}

// --- A hanging chain of three: omega^2 are the zeros of the Laguerre polynomial L3 (Lagrange) ---

TEST(Rolling, TheHangingChainOscillatesWithTheLaguerreFrequencies) {
  const char* const chain = R"toml(
title = "A hanging chain of three"
[parameters]
x = 0                        # a zero of L3
A = 1e-5                     # largest angle of a link
u0 = "1 - 2*x + x^2/2"       # L2, L1, L0: displacements from the nail downwards
u1 = "1 - x"
u2 = 1
scale = "A/max(abs(u0), abs(u1 - u0), abs(u2 - u1))"
x0 = "scale*u0"
x1 = "scale*u1"
x2 = "scale*u2"
y0 = "-sqrt(1 - x0^2)"
y1 = "y0 - sqrt(1 - (x1 - x0)^2)"
y2 = "y1 - sqrt(1 - (x2 - x1)^2)"
[[anchor]]
name = "nail"
position = [0, 0]
[[point]]
name = "m0"
mass = 1
position = ["x0", "y0"]
velocity = [0, 0]
[[point]]
name = "m1"
mass = 1
position = ["x1", "y1"]
velocity = [0, 0]
[[point]]
name = "m2"
mass = 1
position = ["x2", "y2"]
velocity = [0, 0]
[system]
gravity = [0, -1]
[[constraint]]
name = "upper"
require = "distance(nail, m0) == 1"
[[constraint]]
name = "middle"
require = "distance(m0, m1) == 1"
[[constraint]]
name = "lower"
require = "distance(m1, m2) == 1"
[time]
at = [1]
)toml";
  const double amplitude = 1e-5;
  for (const char* zero : {"0.41577455678347908331", "2.2942803602790417198", "6.2899450829374791969"}) {
    SCOPED_TRACE(zero);
    const double omega = std::sqrt(std::stod(zero)), quarter = pi / 2 / omega;
    Study study = sampled(written(chain, {std::string("parameters.x=") + zero}), {0, quarter});
    study.integrator.atol = 1e-11 * amplitude;
    const StudyRun run(study);
    expect_sound(run);
    // The neglected terms are of third order in the angles, 1e-10 of the linear ones.
    const double linear = 1e-9 * amplitude;
    for (const char* name : {"m0.x", "m1.x", "m2.x"}) {
      EXPECT_NEAR(run.position(name, quarter), 0, linear) << name;
      EXPECT_NEAR(run.velocity(name, quarter), -omega * run.position(name, 0), omega * linear) << name;
    }
  }
}

}  // namespace
}  // namespace zwang::rolling_test
