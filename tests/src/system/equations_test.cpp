// M, Q, A, c and the energy law compared with numerical differentiation, and the same motion in different
// coordinates.
#include "src/system/equations.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/system_builder.h"

namespace zwang::equations_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Fourth-order differences with h = 1e-3 of functions of order one: h^4 and rounding / h^2 are both near
// 1e-10.
constexpr double h = 1e-3;
constexpr double differenced = 1e-7;
constexpr double integrated = 1e-7;  // rtol 1e-10 over some periods

// d/dx of f at 0.
template <class F>
auto difference(const F& f) {
  return ((8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h));
}

struct Case {
  std::string name;
  Mechanism mechanism;
};

// A rotating frame (T linear in v, with explicit t), polar coordinates, a double pendulum in angles.
std::vector<Case> cases() {
  std::vector<Case> made;
  SystemBuilder frame;  // x, y in a frame that turns with angle w t + s sin(t) and whose origin moves
  frame.parameter("w", 1.3).parameter("s", 0.4).coordinate("x", 0.7, -0.2).coordinate("y", -0.5, 0.9);
  frame.kinetic("0.5*2*((x' - (w + s*cos(t))*y)^2 + (y' + (w + s*cos(t))*x + 0.3*cos(t))^2)");
  frame.potential("0.5*x^2 + x*y*cos(t)").force("x", "-0.3*x' + sin(2*t)").force("y", "x*y'");
  frame.require("line", "x + y*cos(t) + x*y <= 10").require("knife", "x'*sin(y) - y'*cos(x) + t*x == 0");
  made.push_back({"rotating frame", frame.make()});
  SystemBuilder polar;
  polar.coordinate("r", 1.4, 0.3).coordinate("phi", 0.6, -0.8).kinetic("0.5*(r'^2 + r^2*phi'^2)");
  polar.potential("-1/r + 0.2*r^2*cos(phi)").require("spiral", "r - 0.5*phi^2 - 0.1*t^3 <= 5");
  polar.require("speed", "r'^2 + (r*phi')^2 <= 100");
  made.push_back({"polar", polar.make()});
  SystemBuilder pendulum;
  pendulum.parameter("m", 1.7)
      .coordinate("a", 0.4, 1.1)
      .coordinate("b", -0.9, 0.5)
      .point("p", "m", {0.2, 0.1}, {1, 2});
  pendulum.kinetic("0.5*a'^2 + 0.5*m*(a'^2 + b'^2 + 2*a'*b'*cos(a - b))");
  pendulum.potential("-9.81*((1 + m)*cos(a) + m*cos(b))").gravity({"0", "-9.81*cos(t)"});
  pendulum.force("b", "-0.1*b'^3").force("p.x", "p.y'");
  pendulum.require("tie", "sin(a) + sin(b) - p.x*p.y == 3").require("couple", "a'*p.x' + b' <= 9");
  made.push_back({"double pendulum", pendulum.make()});
  return made;
}

State moved(const State& from, double dt, const VectorXd& dq, const VectorXd& dv) {
  return {from.t + dt, from.q + dq, from.v + dv, from.z};
}

State some_state(const Mechanism& mechanism) {
  State state = mechanism.start;
  state.t = 0.37;
  return state;
}

// T of the whole system as text is in System::kinetic_energy; here only its values are used.
double kinetic(const Mechanism& m, const State& s) { return m.equations->kinetic(s); }

double potential(const Mechanism& m, const State& s) {
  return m.equations->evaluate(Program(*m.system->pool, {m.system->potential_energy}), s);
}

TEST(EquationsTest, TheMassMatrixIsTheSecondDerivativeOfTheKineticEnergy) {
  for (const Case& c : cases()) {
    const State at = some_state(c.mechanism);
    const auto n = at.q.size();
    const MatrixXd mass = c.mechanism.equations->mass(at);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) {
        // T is quadratic in v: second differences with a large step are exact up to rounding.
        const auto T = [&](double x, double y) {
          return kinetic(c.mechanism, moved(at, 0, VectorXd::Zero(n),
                                            x * VectorXd::Unit(n, i) + y * VectorXd::Unit(n, j)));
        };
        const double expected = (T(1, 1) - T(1, -1) - T(-1, 1) + T(-1, -1)) / 4;
        EXPECT_NEAR(mass(i, j), expected, 1e-12) << c.name << " " << i << j;
      }
  }
}

TEST(EquationsTest, TheAppliedForceIsLagrangesEquationWithoutAccelerations) {
  // Q = F - V_q - d/dt(T_v) at a = 0 + T_q, every derivative by differences.
  for (const Case& c : cases()) {
    const State at = some_state(c.mechanism);
    const auto n = at.q.size();
    const VectorXd zero = VectorXd::Zero(n);
    const VectorXd applied = c.mechanism.equations->dynamics(at).applied;
    for (Index i = 0; i < n; ++i) {
      const VectorXd unit = VectorXd::Unit(n, i);
      const double force = c.mechanism.equations->evaluate(
          Program(*c.mechanism.system->pool, {c.mechanism.system->force[static_cast<std::size_t>(i)]}), at);
      const double slope = difference([&](double x) {
        const State there = moved(at, 0, x * unit, zero);
        return kinetic(c.mechanism, there) - potential(c.mechanism, there);
      });
      // Along q + v s, t + s with constant v: d/dt(T_v) without accelerations.
      const double momentum_rate = difference([&](double s) {
        return difference([&](double x) { return kinetic(c.mechanism, moved(at, s, s * at.v, x * unit)); });
      });
      EXPECT_NEAR(applied(i), force + slope - momentum_rate, differenced) << c.name << " " << i;
    }
  }
}

TEST(EquationsTest, RowsAndRestsAreTheDerivativesOfTheConditions) {
  for (const Case& c : cases()) {
    const State at = some_state(c.mechanism);
    const auto n = at.q.size();
    const VectorXd zero = VectorXd::Zero(n);
    for (std::size_t k = 0; k < c.mechanism.equations->count(); ++k) {
      const Equations& equations = *c.mechanism.equations;
      const Row row = equations.row(k, at);
      const bool holonomic = c.mechanism.system->constraints[k].holonomic;
      for (Index i = 0; i < n; ++i) {
        const VectorXd unit = VectorXd::Unit(n, i);
        const double slope = difference([&](double x) {
          return equations.value(k, holonomic ? moved(at, 0, x * unit, zero) : moved(at, 0, zero, x * unit));
        });
        EXPECT_NEAR(row.a(i), slope, differenced) << c.name << " " << k << i;
      }
      // Along the uniform motion q + v s the first derivative is f', and that of f' (or g) is c.
      const double rate =
          difference([&](double s) { return equations.value(k, moved(at, s, s * at.v, zero)); });
      const double rest =
          difference([&](double s) { return equations.rate(k, moved(at, s, s * at.v, zero)); });
      EXPECT_NEAR(row.rate, holonomic ? rate : row.value, differenced) << c.name << " " << k;
      EXPECT_NEAR(row.rest, rest, differenced) << c.name << " " << k;
      EXPECT_EQ(row.value, equations.value(k, at));
    }
  }
}

TEST(EquationsTest, ADistanceConditionHasUnitGradientAtItsEnds) {
  SystemBuilder b;
  b.anchor("nail", {"0", "0", "0"}).point("p", "1", {1, 2, 2}).point("q", "1", {1, 5, 6});
  b.require("short", "distance(p, nail) <= 3")
      .require("long", "distance(p, q) == 5")
      .require("out", "norm(p) >= 3");
  const Mechanism m = b.make();
  EXPECT_NEAR(m.equations->row(0, m.start).a.norm(), 1, 1e-15);
  EXPECT_NEAR(m.equations->row(1, m.start).a.norm(), std::sqrt(2), 1e-15);
  EXPECT_NEAR(m.equations->row(0, m.start).value, 0, 1e-15);
  EXPECT_EQ(m.equations->row(2, m.start).a, -m.equations->row(0, m.start).a);
}

// --- Energy -------------------------------------------------------------------------------------------

TEST(EquationsTest, EnergyIsKeptUpToThePowerOfForcesAndOfTime) {
  // The audit integrates the power with the motion: the remainder is the integrator's error.
  for (const Case& c : cases()) {
    IntegratorSettings settings;
    settings.rtol = settings.atol = 1e-11;
    const Trajectory made = c.mechanism.run(1.5, settings);
    ASSERT_EQ(made.status, Status::ok) << c.name << ": " << made.cause;
    EXPECT_LE(made.audit.energy_drift, 1e-8 * made.audit.energy_size) << c.name;
  }
}

TEST(EquationsTest, MovingConditionsDoWork) {
  // A bead on a rod that is turned: r'' = w^2 r, so r = cosh(w t); its kinetic energy comes from the rod.
  SystemBuilder b;
  b.point("p", "1", {1, 0}, {0, 2}).require("rod", "p.x*sin(2*t) == p.y*cos(2*t)");
  const Trajectory made = b.make().run(1);
  ASSERT_EQ(made.status, Status::ok) << made.cause;
  EXPECT_NEAR(made.last.state.q.norm(), std::cosh(2.0), integrated);
  EXPECT_LE(made.audit.energy_drift, integrated * made.audit.energy_size);
  EXPECT_GT(made.audit.energy_size, 10);
}

// --- The same motion in other coordinates -------------------------------------------------------------

TEST(EquationsTest, PolarAndCartesianCoordinatesGiveOneOrbit) {
  SystemBuilder plane, polar;
  plane.point("p", "1", {1, 0}, {0.2, 1.1}).potential("-1/hypot(p.x, p.y)");
  polar.coordinate("r", 1, 0.2)
      .coordinate("phi", 0, 1.1)
      .kinetic("0.5*(r'^2 + r^2*phi'^2)")
      .potential("-1/r");
  IntegratorSettings settings;
  settings.rtol = settings.atol = 1e-11;
  const State a = plane.make().run(10, settings).last.state, b = polar.make().run(10, settings).last.state;
  EXPECT_NEAR(a.q(0), b.q(0) * std::cos(b.q(1)), integrated);
  EXPECT_NEAR(a.q(1), b.q(0) * std::sin(b.q(1)), integrated);
}

TEST(EquationsTest, ADoublePendulumInAnglesAndOnRodsIsOneMotion) {
  SystemBuilder angles, rods;
  angles.coordinate("a", 0.7).coordinate("b", 1.1);
  angles.kinetic("a'^2 + 0.5*b'^2 + a'*b'*cos(a - b)").potential("-9.81*(2*cos(a) + cos(b))");
  const double x = std::sin(0.7), y = -std::cos(0.7);
  rods.anchor("nail", {"0", "0"})
      .point("p", "1", {x, y})
      .point("q", "1", {x + std::sin(1.1), y - std::cos(1.1)});
  rods.gravity({"0", "-9.81"})
      .require("upper", "distance(p, nail) == 1")
      .require("lower", "distance(p, q) == 1");
  IntegratorSettings settings;
  settings.rtol = settings.atol = 1e-11;
  const State one = angles.make().run(3, settings).last.state,
              other = rods.make().run(3, settings).last.state;
  EXPECT_NEAR(other.q(0), std::sin(one.q(0)), integrated);
  EXPECT_NEAR(other.q(2), std::sin(one.q(0)) + std::sin(one.q(1)), integrated);
}

TEST(EquationsTest, AFreePointInARotatingFrameMovesStraight) {
  SystemBuilder b;
  b.parameter("w", 3).coordinate("x", 1, 0.5).coordinate("y", 0, 2 - 3);  // at rest with (0.5, 2) outside
  b.kinetic("0.5*((x' - w*y)^2 + (y' + w*x)^2)");
  const State end = b.make().run(2).last.state;
  const double c = std::cos(6.0), s = std::sin(6.0);
  EXPECT_NEAR(c * end.q(0) - s * end.q(1), 1 + 0.5 * 2, 1e-6);
  EXPECT_NEAR(s * end.q(0) + c * end.q(1), 2 * 2, 1e-6);
}

TEST(EquationsTest, AuxiliaryStatesFollowTheirRates) {
  SystemBuilder b;
  b.point("p", "1", {0}, {1}).auxiliary("z", 2, "-z").auxiliary("w", 0, "p.x*z").force("p.x", "0*w");
  const State end = b.make().run(3).last.state;
  EXPECT_NEAR(end.z(0), 2 * std::exp(-3), 1e-8);
  EXPECT_NEAR(end.z(1), 2 * (1 - 4 * std::exp(-3)), 1e-8);  // integral of t 2 exp(-t)
}

}  // namespace
}  // namespace zwang::equations_test
