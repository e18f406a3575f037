// Equilibria and small oscillations (mechanics section 10).
#include "src/analysis/modes.h"

#include <gtest/gtest.h>

#include "src/base/error.h"
#include "src/laws/least_constraint.h"
#include "tests/support/system_builder.h"

namespace zwang::modes_test {
namespace {

using Complex = std::complex<double>;

// Eigenvalues of small matrices of order 1.
constexpr double rounding = 1e-12;

Modes modes_of(const Mechanism& m) { return find_modes(RestEquations(*m.equations), m.start, 1e-12); }

std::vector<double> squares(const Modes& modes) {
  std::vector<double> made;
  for (const Mode& mode : modes.modes) {
    EXPECT_EQ(mode.squared.imag(), 0);
    made.push_back(mode.squared.real());
  }
  return made;
}

void expect_numbers(const std::vector<double>& actual, const std::vector<double>& expected,
                    double tolerance = rounding) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], tolerance) << "number " << i;
}

// --- Equilibria ---

// N unit masses on rigid links of length 1, g = 1, started away from hanging straight down.
Mechanism chain(int count, double tilt) {
  SystemBuilder b;
  b.anchor("nail", {"0", "0"}).gravity({"0", "-1"});
  std::string above = "nail";
  double x = 0, y = 0;
  for (int i = 0; i < count; ++i) {
    const std::string name = "p" + std::to_string(i);
    x += std::sin(tilt * (i + 1)), y -= std::cos(tilt * (i + 1));
    b.point(name, "1", {x, y});
    b.require("link" + std::to_string(i), "distance(" + above + ", " + name + ") == 1");
    above = name;
  }
  return b.make();
}

TEST(Modes, OfAHangingChainAreTheZerosOfLaguerrePolynomials) {
  const std::vector<std::vector<double>> zeros = {
      {0.58578643762690495120, 3.4142135623730950488},
      {0.41577455678347908331, 2.2942803602790417198, 6.2899450829374791969},
      {0.26356031971814091020, 1.4134030591065167922, 3.5964257710407220812, 7.0858100058588375569,
       12.640800844275782659}};
  for (const std::vector<double>& omega_squared : zeros) {
    const auto count = static_cast<int>(omega_squared.size());
    SCOPED_TRACE(count);
    const Modes found = modes_of(chain(count, 0.1));
    ASSERT_TRUE(found.equilibrium.found);
    for (int i = 0; i < count; ++i) {
      EXPECT_NEAR(found.equilibrium.state.q(2 * i), 0, rounding);
      EXPECT_NEAR(found.equilibrium.state.q(2 * i + 1), -(i + 1), rounding);
      EXPECT_NEAR(found.equilibrium.multipliers(i), count - i, rounding)
          << "each link carries what hangs on it";
    }
    std::vector<double> expected;
    for (const double value : omega_squared) expected.push_back(-value);
    expect_numbers(squares(found), expected, 1e-11);
    EXPECT_EQ(found.verdict, Stability::stable);
    EXPECT_TRUE(found.symmetric);
    EXPECT_EQ(found.form, Definiteness::negative);
    EXPECT_EQ(found.structural_zeros, 0);
    EXPECT_LT(found.residual, 1e-14);
  }
}

TEST(Modes, AreFoundFromStartsFarAway) {
  for (const double tilt : {0.3, 0.7, 1.0}) {
    const Modes found = modes_of(chain(3, tilt));
    ASSERT_TRUE(found.equilibrium.found) << tilt;
    EXPECT_LT(found.equilibrium.residual, 1e-12);
  }
}

TEST(Modes, AnInvertedPendulumFallsAtItsRate) {
  SystemBuilder b;
  b.coordinate("phi", 3.0).kinetic("phi'^2").potential("-6*cos(phi)");  // T = phi'^2: phi'' = -3 sin(phi)
  const Modes found = modes_of(b.make());
  EXPECT_NEAR(found.equilibrium.state.q(0), 3.14159265358979323846, rounding);
  expect_numbers(squares(found), {3});
  EXPECT_EQ(found.verdict, Stability::unstable);
  EXPECT_NEAR(found.modes[0].root.real(), std::sqrt(3), rounding);
  EXPECT_FALSE(found.form_misleads) << "for a symmetric matrix the form is right";
}

TEST(Modes, AFreeFallHasNoEquilibrium) {
  SystemBuilder b;
  b.point("p", "1", {0, 3}).gravity({"0", "-9.81"});
  const Modes found = modes_of(b.make());
  EXPECT_EQ(found.verdict, Stability::no_equilibrium);
  EXPECT_NEAR(found.equilibrium.imbalance(1), -9.81, rounding);
  // Forces that only decrease with distance have no equilibrium either.
  SystemBuilder far;
  far.coordinate("x", 1).kinetic("x'^2/2").potential("1/x");
  EXPECT_EQ(modes_of(far.make()).verdict, Stability::no_equilibrium);
}

TEST(Modes, AStartOnARidgeIsLeft) {
  // A blade along a slope: it holds only in the direction across the blade.
  SystemBuilder b;
  b.coordinate("x", 0).coordinate("y", 0).coordinate("phi", 0);
  b.kinetic("(x'^2 + y'^2 + phi'^2)/2").potential("-5*x").require("blade", "y'*cos(phi) - x'*sin(phi) == 0");
  const Modes found = modes_of(b.make());
  ASSERT_TRUE(found.equilibrium.found);
  EXPECT_NEAR(std::cos(found.equilibrium.state.q(2)), 0, rounding);
  EXPECT_EQ(found.verdict, Stability::undecided);
}

// --- Inequalities ---

TEST(Modes, PressingInequalitiesHoldAsEquations) {
  // A ball in a bowl, displaced sideways: the bowl presses at the bottom, the wall does not.
  SystemBuilder b;
  b.point("p", "2", {0.3, 0.5}).gravity({"0", "-9.81"});
  b.require("bowl", "p.y >= p.x^2").require("wall", "p.x <= 5");
  const Modes found = modes_of(b.make());
  ASSERT_TRUE(found.equilibrium.found);
  EXPECT_EQ(found.equilibrium.set, std::vector<std::size_t>{0});
  EXPECT_NEAR(found.equilibrium.multipliers(0), 2 * 9.81, rounding);
  expect_numbers(squares(found), {-2 * 9.81}, 1e-11);
  EXPECT_EQ(found.verdict, Stability::stable);
}

TEST(Modes, AConditionThatWouldPullIsLetGo) {
  // The spring rests at x = 1, the stop at x >= 0 is closed at the start.
  SystemBuilder b;
  b.coordinate("x", 0).kinetic("x'^2/2").potential("2*(x - 1)^2").require("stop", "x >= 0");
  const Modes found = modes_of(b.make());
  ASSERT_TRUE(found.equilibrium.found);
  EXPECT_NEAR(found.equilibrium.state.q(0), 1, rounding);
  EXPECT_TRUE(found.equilibrium.set.empty());
  expect_numbers(squares(found), {-4});
}

TEST(Modes, AConditionThatTouchesWithoutPressingLeavesTheVerdictOpen) {
  SystemBuilder b;
  b.coordinate("x", 0.5).kinetic("x'^2/2").potential("2*x^2").require("stop", "x >= 0");
  const Modes found = modes_of(b.make());
  ASSERT_TRUE(found.equilibrium.found);
  EXPECT_EQ(found.equilibrium.touching, std::vector<std::size_t>{0});
  EXPECT_EQ(found.verdict, Stability::undecided);
  EXPECT_NE(found.reason.find("stop touches"), std::string::npos) << found.reason;
}

// --- Roots and stability ---

TEST(Modes, DampedMotionsDieOutAndNegativeDampingGrows) {
  // x'' + 2 d x' + 5 x = 0: lambda = -d +- i sqrt(5 - d^2)
  for (const double d : {1.0, -1.0}) {
    SystemBuilder b;
    b.parameter("d", d).coordinate("x", 0.2).kinetic("x'^2/2").potential("5*x^2/2").force("x", "-2*d*x'");
    const Modes found = modes_of(b.make());
    EXPECT_FALSE(found.second_order);
    ASSERT_EQ(found.modes.size(), 2u);
    EXPECT_NEAR(std::abs(found.modes[0].root - Complex(-d, 2)), 0, rounding);
    EXPECT_EQ(found.verdict, d > 0 ? Stability::stable : Stability::unstable);
    EXPECT_LT(found.residual, 1e-14);
  }
}

TEST(Modes, AMagneticForceMayHoldWhatThePotentialDrivesAway) {
  // x'' = x + 3 y', y'' = y - 3 x': lambda^4 + 7 lambda^2 + 1 = 0, all roots imaginary.
  SystemBuilder b;
  b.coordinate("x", 0.1).coordinate("y", 0).kinetic("(x'^2 + y'^2)/2").potential("-(x^2 + y^2)/2");
  b.force("x", "3*y'").force("y", "-3*x'");
  const Modes found = modes_of(b.make());
  ASSERT_EQ(found.modes.size(), 4u);
  for (const Mode& mode : found.modes) {
    const Complex l2 = mode.root * mode.root;
    EXPECT_LT(std::abs(l2 * l2 + 7.0 * l2 + 1.0), 1e-11);
  }
  EXPECT_EQ(found.verdict, Stability::stable);
}

TEST(Modes, AnAuxiliaryStateTakesPart) {
  // A spring pulled by a lagging valve: x'' = -x - z, z' = 2 x - 3 z: lambda^3 + 3 lambda^2 + lambda + 5 = 0.
  SystemBuilder b;
  b.coordinate("x", 0.3).auxiliary("z", 0.1, "2*x - 3*z").kinetic("x'^2/2").force("x", "-x - z");
  const Modes found = modes_of(b.make());
  ASSERT_TRUE(found.equilibrium.found);
  EXPECT_NEAR(found.equilibrium.state.z(0), 0, rounding);
  ASSERT_EQ(found.modes.size(), 3u);
  for (const Mode& mode : found.modes)
    EXPECT_LT(std::abs(std::pow(mode.root, 3) + 3.0 * mode.root * mode.root + mode.root + 5.0), 1e-11);
  EXPECT_EQ(found.verdict, Stability::unstable);  // Hurwitz: 3 * 1 < 5
}

TEST(Modes, AConditionThatDrivesHasItsOwnRoot) {
  // x' = -2 x holds the point: one root, -2, and no structural zero.
  SystemBuilder b;
  b.coordinate("x", 0.3)
      .coordinate("y", 0)
      .kinetic("(x'^2 + y'^2)/2")
      .potential("y^2/2")
      .require("servo", "x' + 2*x == 0");
  const Modes found = modes_of(b.make());
  EXPECT_EQ(found.structural_zeros, 0);
  ASSERT_EQ(found.modes.size(), 3u);
  EXPECT_LT(std::abs(found.modes[0].root + 2.0), rounding);
  EXPECT_LT(std::abs(found.modes[1].root - Complex(0, 1)), rounding);
}

TEST(Modes, ZeroRootsLeaveTheVerdictOpen) {
  SystemBuilder two;  // a spring between two free masses
  two.coordinate("x", 0).coordinate("y", 1.2).kinetic("(x'^2 + y'^2)/2").potential("(y - x - 1)^2/2");
  const Modes free = modes_of(two.make());
  expect_numbers(squares(free), {0, -2});
  EXPECT_EQ(free.verdict, Stability::undecided);
  SystemBuilder quartic;
  quartic.coordinate("x", 0.5).kinetic("x'^2/2").potential("x^4");
  EXPECT_EQ(modes_of(quartic.make()).verdict, Stability::undecided);
}

TEST(Modes, TwoRootsThatFallTogetherInOneModeAreNotCalledStable) {
  // x'' = -x, y'' = -y + x: resonance, y grows like t.
  SystemBuilder b;
  b.coordinate("x", 0.1).coordinate("y", 0.2).kinetic("(x'^2 + y'^2)/2").force("x", "-x").force("y", "x - y");
  const Modes found = modes_of(b.make());
  EXPECT_EQ(found.verdict, Stability::undecided);
  EXPECT_NE(found.reason.find("share one mode"), std::string::npos) << found.reason;
  // Two equal roots with two modes behave like different roots.
  SystemBuilder c;
  c.coordinate("x", 0.1).coordinate("y", 0.2).kinetic("(x'^2 + y'^2)/2").potential("(x^2 + y^2)/2");
  EXPECT_EQ(modes_of(c.make()).verdict, Stability::stable);
}

TEST(Modes, StiffAndSoftSpringsSideBySideAreBothSeen) {
  SystemBuilder b;
  b.coordinate("x", 0.1).coordinate("y", 1e-7).kinetic("(x'^2 + y'^2)/2").potential("x^2/2 + 5e9*y^2");
  const Modes found = modes_of(b.make());
  ASSERT_EQ(found.modes.size(), 2u);
  EXPECT_NEAR(found.modes[0].squared.real(), -1, 1e-6);
  EXPECT_EQ(found.verdict, Stability::stable);
}

TEST(Modes, UnitsDoNotChangeTheVerdict) {
  // The non-symmetric example in millimetres and grams: lengths 1e3, masses 1e3 times.
  for (const double k2 : {1.2, 4.0}) {
    SystemBuilder b;
    b.parameter("k2", k2).point("p", "1000", {100, 0, 0}).gravity({"0", "0", "-1000"});
    b.potential("1000*(p.x^2 + k2*p.y^2)/2")
        .require("rolling", "1000*p.z' + 0.5*p.y*p.x' - 0.5*p.x*p.y' == 0");
    const Modes found = modes_of(b.make());
    EXPECT_EQ(found.verdict, k2 < 2 ? Stability::unstable : Stability::stable);
    EXPECT_NEAR(found.modes[0].squared.real(), k2 < 2 ? -1.1 : -1.0857864376269049512, rounding);
  }
}

// --- Comparison with accelerations ---

// Derivatives of (v, a) by (q, v) as differences of the reference's accelerations: independent of the
// symbolic derivatives, the bases and the bordered matrix.
Eigen::MatrixXd flow_by_differences(const Mechanism& m, const Equilibrium& at) {
  const Eigen::Index n = at.state.q.size();
  Eigen::MatrixXd flow = Eigen::MatrixXd::Zero(2 * n, 2 * n);
  flow.topRightCorner(n, n).setIdentity();
  const double h = 1e-5;
  for (Eigen::Index k = 0; k < 2 * n; ++k) {
    const auto beside = [&](double step) {
      State state = at.state;
      (k < n ? state.q(k) : state.v(k - n)) += step;
      return constrained_acceleration(*m.equations, state, at.set).a;
    };
    flow.col(k).tail(n) = (beside(h) - beside(-h)) / (2 * h);
  }
  return flow;
}

TEST(Modes, OfDrawnSystemsAreEigenvaluesOfTheFlow) {
  Dice dice(11);
  int unstable = 0, first_order = 0;
  for (int trial = 0; trial < 30; ++trial) {
    SCOPED_TRACE(trial);
    SystemBuilder b;
    for (const char* name : {"w", "x", "y", "z"}) b.coordinate(name, dice.between(-0.1, 0.1));
    for (const char* name : {"k", "l", "m", "n", "g", "s", "d", "c"})
      b.parameter(name, dice.between(0.3, 1.5));
    b.kinetic("w'^2 + x'^2*(1 + w^2) + y'^2/2 + z'^2/2 + 0.3*x'*y'*cos(z)");
    b.potential("k*w^2 + l*x^2 + m*y^2 + n*(z + g)^2 + 0.3*w*x*y + 0.2*w^2*x");
    b.force("x", "0.3*s*y");  // without a potential
    if (trial % 3 == 0) b.force("w", "-d*w' + c*x'");
    // One velocity condition that is not integrable, with a multiplier at the equilibrium; sometimes another
    // on positions.
    b.require("rolling", "z' + 0.8*w*x' - 0.3*(x + y)*w' == 0");
    if (trial % 2 == 0) b.require("surface", "y + 0.5*w^2 - 0.2*x == 0");
    const Mechanism m = b.make();
    const Modes found = modes_of(m);
    ASSERT_TRUE(found.equilibrium.found);
    EXPECT_EQ(found.structural_zeros, 1);
    EXPECT_EQ(found.modes.size(), (trial % 2 == 0 ? 2u : 3u) * (found.second_order ? 1 : 2));
    unstable += found.verdict == Stability::unstable;
    first_order += !found.second_order;
    const Eigen::VectorXcd values =
        Eigen::EigenSolver<Eigen::MatrixXd>(flow_by_differences(m, found.equilibrium)).eigenvalues();
    for (const Mode& mode : found.modes) {
      EXPECT_LT((values.array() - mode.root).abs().minCoeff(), 1e-7) << mode.root;
      const double mirrored = (values.array() + mode.root).abs().minCoeff();
      EXPECT_TRUE(!found.second_order || mirrored < 1e-7) << -mode.root;
    }
  }
  EXPECT_GT(unstable, 2);
  EXPECT_LT(unstable, 28);
  EXPECT_EQ(first_order, 10);
}

// --- Dependent conditions ---

TEST(Modes, TheSameConditionTwiceChangesNothingButTheMultipliers) {
  SystemBuilder b;
  b.anchor("nail", {"0", "0"}).point("p", "1", {0.3, -0.9}).gravity({"0", "-9.81"});
  b.require("rod", "distance(p, nail) == 1").require("again", "distance(p, nail) == 1");
  const Modes found = modes_of(b.make());
  ASSERT_TRUE(found.equilibrium.found);
  EXPECT_TRUE(found.redundant);
  EXPECT_FALSE(found.singular);
  expect_numbers(squares(found), {-9.81}, 1e-11);
  EXPECT_EQ(found.verdict, Stability::stable);
}

TEST(Modes, DependentConditionsOfDifferentCurvatureLeaveTheVerdictOpen) {
  SystemBuilder b;  // a bowl and a floor that touch at the point
  b.point("p", "1", {0, 0}).gravity({"0", "-1"}).require("bowl", "p.y == p.x^2").require("floor", "p.y == 0");
  const Modes found = modes_of(b.make());
  ASSERT_TRUE(found.equilibrium.found);
  EXPECT_TRUE(found.singular);
  EXPECT_EQ(found.verdict, Stability::undecided);
}

// --- Rejected systems ---

void expect_refusal(const Mechanism& m, const std::string& reason) {
  try {
    require_autonomous(*m.equations, m.start, "study.toml");
    ADD_FAILURE() << "should have been refused: " << reason;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
  }
}

TEST(Modes, AreRefusedWhereTimeOrDryFrictionComeIn) {
  SystemBuilder shaken, friction, later;
  shaken.coordinate("x", 0).kinetic("x'^2/2").force("x", "cos(t) - x");
  expect_refusal(shaken.make(), "a force on x that depends on t");
  friction.coordinate("x", 0).kinetic("x'^2/2").force("x", "-x - 0.1*sign(x')");
  expect_refusal(friction.make(), "jumps at rest");
  later.coordinate("x", 0).kinetic("x'^2/2").require("stop", "x <= 1", "0", "2");
  expect_refusal(later.make(), "'stop', which does not always hold");
}

TEST(Modes, AreNotRefusedWhereTimeIsMentionedAndDoesNotMatter) {
  SystemBuilder b;
  b.parameter("amplitude", 0)
      .coordinate("x", 0)
      .kinetic("x'^2/2")
      .force("x", "amplitude*cos(t) - x - 0.1*x'");
  const Mechanism m = b.make();
  EXPECT_NO_THROW(require_autonomous(*m.equations, m.start, "study.toml"));
}

}  // namespace
}  // namespace zwang::modes_test
