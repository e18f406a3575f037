// Maurer 1905 and Voss 1884: conditions varied generally. Geodetic paths beside straightest ones.
#include "host/backend/batch.h"
#include "host/check/check.h"
#include "host/run/backend_factory.h"
#include "host/study_file/load_study.h"
#include "src/emit/emit.h"
#include "src/laws/least_constraint.h"
#include "tests/support/study_runs.h"

namespace zwang::maurer_test {
namespace {

// Some thousands of steps of rtol 1e-13, positions of order 1 to 20.
constexpr double integrated = 1e-11;
constexpr double pi = 3.14159265358979323846;

// --- No. 8: the two-wheeled cart ---

TEST(Maurer, TheStraightestPathStaysACircleForTenTurns) {
  for (const unsigned long long member : {0ULL, 1ULL, 2ULL}) {
    const StudyRun run(config("cart_straightest"), member);
    expect_sound(run);
    EXPECT_LE(run.measure("worst_off_circle"), 1e-10);
  }
  const StudyRun nominal(config("cart_straightest"));
  expect_near(nominal.trajectory.last.state.q, {0, 0, 20 * pi}, 1e-10, "back after ten turns");
}

TEST(Maurer, TheGeodeticPathOfTheCartIsMaurersEllipticOne) {
  const double t = 0.501693559169283152100;
  const StudyRun run(sampled(config("cart_geodetic"), {0, t, 2}));
  expect_sound(run);
  expect_near(run.at(t).state.q, {0.390428808463803957890, 0.359505090342304136906, 3}, integrated, "q");
  EXPECT_NEAR(run.measure("when_heading_three"), t, integrated);
  for (const double when : {0.0, t, 2.0}) {
    EXPECT_NEAR(run.observable("momentum_x", when), 2 * std::cos(0.7), integrated);
    EXPECT_NEAR(run.observable("momentum_y", when), 2 * std::sin(0.7), integrated);
  }
  // The default is another path from the same state.
  const StudyRun special(sampled(
      config("cart_geodetic", {"constraint.0.variation=\"special\"", "constraint.0.multiplier=0"}), {t}));
  expect_near(special.at(t).state.q,
              {0.0436773569120493352946, 0.512782746748032671902, 2.97164861331348924916}, integrated, "q");
}

// Equation (5): x, y, t as integrals over the heading, from 0 to w. Simpson's rule; the integrands are
// smooth.
struct EllipticPath {
  double x = 0, y = 0, t = 0;
  EllipticPath(const StudyRun& run, double w) {
    const State& start = run.member.start;
    const double l = 0.5, M = 1, a = std::hypot(M * start.v(0), start.z(0)),
                 alpha = std::atan2(start.z(0), M * start.v(0));
    const double turning = l * M * start.v(2) / a;
    const double k = 1 / std::sqrt(turning * turning + std::cos(alpha) * std::cos(alpha));
    const int panels = 20000;
    for (int i = 0; i <= panels; ++i) {
      const double here = w * i / panels, c = std::cos(alpha - here);
      const double weight = (i == 0 || i == panels ? 1 : i % 2 == 1 ? 4 : 2) * w / panels / 3;
      const double part = weight * k * l / std::sqrt(1 - k * k * c * c);
      x += part * c * std::cos(here);
      y += part * c * std::sin(here);
      t += part * M / a;
    }
    // The time is an elliptic integral of the first kind.
    const double shift = pi / 2 - alpha;
    if (k < 1) {
      EXPECT_NEAR(t, k * l * M / a * (std::ellint_1(k, w + shift) - std::ellint_1(k, shift)), 1e-11);
    }
  }
};

TEST(Maurer, EveryMultiplierAtTheStartGivesItsOwnEllipticPath) {
  for (unsigned long long member = 0; member < 8; ++member) {
    const StudyRun run(config("cart_geodetic"), member);
    expect_sound(run);
    const EllipticPath path(run, 3);
    EXPECT_NEAR(run.measure("when_heading_three"), path.t, 1e-9);
    EXPECT_NEAR(run.measure("x_there"), path.x, 1e-9);
    EXPECT_NEAR(run.measure("y_there"), path.y, 1e-9);
  }
}

TEST(Maurer, WithTheMultiplierKeptAtZeroTheGeodeticPathIsTheStraightest) {
  // Where rho = 0 the equations are the special ones, whatever the state: a is the same, and rho' is lambda.
  const Study general = config("cart_geodetic"), special = config("cart_straightest");
  const StudyRun run(special);
  const Equations one(*general.system, prepare_member(general, 0).inputs.parameters),
      other(*special.system, run.member.inputs.parameters);
  for (const Sample& sample : run.trajectory.samples) {
    State state = sample.state;
    const Accelerations there = constrained_acceleration(other, state, {0});
    state.z = Eigen::VectorXd::Zero(1);
    const Accelerations here = constrained_acceleration(one, state, {0});
    EXPECT_NEAR((here.a - there.a).norm(), 0, 1e-12);
    EXPECT_NEAR(here.dynamics.rates(0), there.multipliers(0), 1e-12);
  }
  // Between resets rho leaves zero; with more and more frequent resets the path tends to the circle.
  double last = 0;
  for (const int pieces : {400, 800}) {
    State state = run.member.start;
    state.z = Eigen::VectorXd::Zero(1);
    for (int i = 0; i < pieces; ++i) {
      const double from = 1.0 * i / pieces, to = 1.0 * (i + 1) / pieces;
      state.t = from;
      state.z.setZero();
      state = resume(one, general.integrator, {{}, to}, state, {1}).last.state;
    }
    const double off = std::abs(std::hypot(state.q(0), state.q(1) - 0.375) - 0.375);
    EXPECT_LT(off, 0.05);
    if (last > 0) {
      EXPECT_NEAR(last / off, 2, 0.2) << "of first order in the length of a piece";
    }
    last = off;
  }
}

// --- Voss, equation (12): geodesics of the linear complex ---

TEST(Voss, TheGeodesicFromTheAxisWindsRoundIt) {
  const double t = 1.95561982482048452806;
  const StudyRun run(sampled(config("complex_geodesic"), {0, t, 3}));
  expect_sound(run);
  expect_near(run.at(t).state.q, {-0.754653242661807746527, 1.64894741815561830887, 2.91123964964096905611},
              integrated, "q");
  for (const double when : {0.0, t, 3.0}) {
    EXPECT_NEAR(run.observable("c3", when), 1, integrated);
    EXPECT_NEAR(run.observable("c2", when), 2, integrated);
    EXPECT_NEAR(run.observable("speed_squared", when), 4, integrated);
  }
}

TEST(Voss, TheEllipticGeodesicIsWhereTheQuadraturesSay) {
  const StudyRun run(
      config("complex_geodesic", {"parameters.x0=1", "parameters.v1=1.810524785801067126611661",
                                  "parameters.v2=0.38", "parameters.v3=0.76", "parameters.rho0=0.48"}));
  expect_sound(run);
  expect_near(run.at(3).state.q, {6.0980580540949566300, 1.3213345247498269277, 2.8695331051772724363},
              integrated, "q(3)");
  expect_near(run.at(3).state.v, {1.6784463081816555041, 0.44505328836101605949, 0.99234346930405976384},
              integrated, "v(3)");
}

// --- Properties that do not depend on the kind of variation ---

const char* const pendulum = R"toml(
title = "A spherical pendulum on a moving support"
[[anchor]]
name = "hook"
position = ["0.2*sin(3*t)", 0, 0]
[[point]]
name = "p"
mass = 1.3
position = [0.6, 0, -0.8]
velocity = [0.36, 0.7, 0]
[system]
gravity = [0, 0, -9.81]
[[constraint]]
name = "rod"
require = "distance(p, hook) == 1"
[ensemble]
consistency = "project"
[time]
at = [0, 1, 2]
)toml";

TEST(Maurer, APositionConditionMovesAlikeVariedEitherWay) {
  const StudyRun special(written(pendulum));
  for (const char* multiplier : {"0", "0.7", "\"-3\""}) {
    const StudyRun general(written(pendulum, {"constraint.0.variation=\"general\"",
                                              std::string("constraint.0.multiplier=") + multiplier}));
    expect_sound(general);
    for (const double t : {1.0, 2.0}) {
      EXPECT_NEAR((general.at(t).state.q - special.at(t).state.q).norm(), 0, 1e-10);
      EXPECT_NEAR((general.at(t).state.v - special.at(t).state.v).norm(), 0, 1e-10);
      EXPECT_NEAR(general.multiplier("rod", t), special.multiplier("rod", t), 1e-9);
    }
  }
}

TEST(Maurer, ASurfaceGivenByVelocitiesMovesAlikeVariedEitherWay) {
  // complete_system has it as velocities (the first point) and as a surface (the second).
  const StudyRun run(
      config("complete_system", {"constraint.0.variation=\"general\"", "constraint.0.multiplier=0.4"}));
  expect_sound(run);
  EXPECT_NEAR((run.at(2).state.q.head(3) - run.at(2).state.q.tail(3)).norm(), 0, 1e-10);
}

// --- Problem C: general and special conditions in one system ---

TEST(Maurer, AGeneralConditionBesideASpecialOneMovesAsOnTheSurfaceItself) {
  // The cart on a curved ground z = x^2/2 + x y: as a condition beside the wheels', and built into the
  // kinetic energy.
  const std::string cart = R"toml(
title = "A cart on curved ground"
[[coordinate]]
name = "x"
position = 0.1
velocity = 1.2
[[coordinate]]
name = "y"
position = -0.2
velocity = 0
[[coordinate]]
name = "w"
position = 0
velocity = 2
[[constraint]]
name = "wheels"
require = "cos(w)*y' - sin(w)*x' == 0"
variation = "general"
multiplier = 0.8
[time]
at = [0.5, 1.5]
)toml";
  const StudyRun mixed(written(cart + R"toml(
[[coordinate]]
name = "z"
position = "0.005 - 0.02"
velocity = "0.1*1.2 - 0.2*1.2"
[system]
kinetic = "0.5*(x'^2 + y'^2 + z'^2) + 0.1*w'^2"
potential = "3*z"
[[constraint]]
name = "ground"
require = "z == x^2/2 + x*y"
)toml"));
  const StudyRun reduced(written(cart + R"toml(
[system]
kinetic = "0.5*(x'^2 + y'^2 + (x*x' + x'*y + x*y')^2) + 0.1*w'^2"
potential = "3*(x^2/2 + x*y)"
)toml"));
  expect_sound(mixed);
  expect_sound(reduced);
  for (const double t : {0.5, 1.5}) {
    EXPECT_NEAR((mixed.at(t).state.q.head(3) - reduced.at(t).state.q).norm(), 0, 1e-10);
    EXPECT_NEAR(mixed.at(t).state.z(0), reduced.at(t).state.z(0), 1e-10);
  }
}

// --- Beyond the papers: conditions not linear in the velocities, conditions that depend on time ---

TEST(Maurer, AGeneralConditionOfSecondDegreeKeepsTheMomentaOfItsLagrangian) {
  const StudyRun run(
      config("appell_hamel", {"constraint.0.variation=\"general\"", "constraint.0.multiplier=0.2"}));
  expect_sound(run);
  const auto momentum = [&](double t, Eigen::Index i) {
    const State& s = run.at(t).state;
    return i < 2 ? (1 + 2 * s.z(0)) * s.v(i) : (3 - 8 * s.z(0)) * s.v(2);
  };
  for (const double t : {0.5, 1.0}) {
    for (const Eigen::Index i : {0, 1}) EXPECT_NEAR(momentum(t, i), momentum(0, i), integrated);
    EXPECT_NEAR(momentum(t, 2), momentum(0, 2) - 3 * 9.81 * t, 10 * integrated);
  }
}

TEST(Maurer, AGeneralConditionThatDependsOnTimeKeepsItsEnergyLaw) {
  const StudyRun run(
      config("pursuit", {"constraint.0.variation=\"general\"", "constraint.0.multiplier=0.3"}));
  expect_sound(run);
  EXPECT_GT(std::abs(run.observable("speed", 1) - run.observable("speed", 0)), 0.01)
      << "the general pursuer does change its speed";
}

// --- On the kernels ---

// Too many conditions for an unrolled solution: the kernels then solve row by row.
std::string many_conditions() {
  std::string text = "title = \"Six points, many velocity conditions, two of them general\"\n";
  for (int i = 0; i < 6; ++i)
    text += "[[point]]\nname = \"p" + std::to_string(i) + "\"\nmass = " + std::to_string(1 + i) +
            "\nposition = [" + std::to_string(i) +
            ", 0.5, -0.3]\nvelocity = [0.4, { normal = { mean = " + std::to_string(0.2 * i) +
            ", std = 0.3 } }, 1]\n";
  for (int k = 0; k < 12; ++k) {
    text += "[[constraint]]\nname = \"c" + std::to_string(k) + "\"\nrequire = \"0";
    for (int i = 0; i < 6; ++i) {
      const std::string p = "p" + std::to_string(i), a = std::to_string(1 + (7 * i + 3 * k) % 5);
      text += " + (" + a + " + 0.3*" + p + ".y)*" + p + ".x' + sin(" + std::to_string(1 + i * k) + " + " + p +
              ".x)*" + p + ".y' + " + (k % 6 == i ? "3" : "cos(" + std::to_string(i + k * k) + ")") + "*" +
              p + ".z'";
    }
    text += " == 0\"\n";
    if (k < 2) text += "variation = \"general\"\nmultiplier = { uniform = [0.1, 0.4] }\n";
  }
  return text +
         "[ensemble]\nmembers = 20\nconsistency = \"project\"\n[time]\nend = 1\nsamples = 3\n[observe]\nrho "
         "= \"c1.multiplier\"\n";
}

TEST(Maurer, DependentConditionsLeaveTheMultipliersOpenAndAreNotGuessed) {
  const Study study = written(R"toml(
title = "Two conditions for one wheel"
[[point]]
name = "p"
mass = 1
position = [0, 1, 0]
velocity = [0, 1, 0]
[[constraint]]
name = "one"
require = "p.x' == p.z*p.y'"
variation = "general"
[[constraint]]
name = "other"
require = "2*p.x' == 2*p.z*p.y'"
[time]
at = [1]
)toml");
  EXPECT_EQ(StudyRun(study).trajectory.status, Status::singular);
  const auto backend = make_backend("cpu", study, {.threads = 1});
  EXPECT_EQ(backend->run(prepare_batch(study, std::vector<unsigned long long>{0}, 1), {}).status[0],
            Status::singular);
}

TEST(Maurer, ManyConditionsAreSolvedRowByRowOnTheKernelsToo) {
  const Study study = read_study(many_conditions(), "written.toml");
  EXPECT_FALSE(emit_model(*study.system).masked);
  const auto backend = make_backend("cpu", study, {.threads = 2});
  const CheckReport report = check(study, *backend, {.sample = 5, .threads = 2});
  EXPECT_EQ(report.verdict(), CheckVerdict::pass) << report.verdict_text();
}

}  // namespace
}  // namespace zwang::maurer_test
