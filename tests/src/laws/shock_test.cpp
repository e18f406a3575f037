// Velocities across shocks (mechanics section 4).
#include "src/laws/shock.h"

#include <gtest/gtest.h>

#include <cmath>

#include "src/quadratic_program/enumerate.h"
#include "tests/support/system_builder.h"

namespace zwang::shock_test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double rounding = 1e-12;    // numbers of order one through a quadratic program
constexpr double rest_speed = 1e-12;  // the default setting
constexpr double kkt_limit = 1e-9;    // far above rounding, far below the residual of a wrong set

// A system whose conditions are f = row . q <= 0 (or == 0) at q = 0, so that f' = row . v: it can represent
// any shock.
struct Corner {
  Mechanism mechanism;
  ShockParticipants who;
  std::vector<double> restitution;
  MatrixXd rows, mass;

  Shock strike(const VectorXd& u) const { return strike(u, u); }
  Shock strike(const VectorXd& u, const VectorXd& alpha) const {
    State state = mechanism.start;
    state.v = u;
    return shock(*mechanism.equations, state, sizes_of(state), alpha, who, restitution, rest_speed);
  }
  double energy(const VectorXd& v) const { return 0.5 * v.dot(mass * v); }
};

enum class Kind { contact, equation, velocity };

std::string number(double x) { return "(" + number_text(x) + ")"; }

Corner corner(const MatrixXd& mass, const MatrixXd& rows, const std::vector<double>& restitution,
              const std::vector<Kind>& kinds = {}, double offset = 0) {
  SystemBuilder b;
  const auto name = [](Index i) { return "q" + std::to_string(i); };
  for (Index i = 0; i < mass.rows(); ++i) b.coordinate(name(i), 0);
  std::string kinetic = "0";
  for (Index i = 0; i < mass.rows(); ++i)
    for (Index j = 0; j < mass.rows(); ++j)
      kinetic += " + 0.5*" + number(mass(i, j)) + "*" + name(i) + "'*" + name(j) + "'";
  b.kinetic(kinetic);
  Corner made;
  for (Index r = 0; r < rows.rows(); ++r) {
    const auto k = static_cast<std::size_t>(r);
    const Kind kind = kinds.empty() ? Kind::contact : kinds[k];
    std::string f = number(offset) + (kind == Kind::velocity ? "" : "*t");
    for (Index i = 0; i < mass.rows(); ++i)
      f += " + " + number(rows(r, i)) + "*" + name(i) + (kind == Kind::velocity ? "'" : "");
    b.require("c" + std::to_string(r), f + (kind == Kind::equation ? " == 0" : " <= 0"));
    (kind == Kind::equation   ? made.who.equations
     : kind == Kind::velocity ? made.who.velocities
                              : made.who.contacts)
        .push_back(k);
  }
  made.mechanism = b.make();
  made.restitution = restitution;
  made.rows = rows;
  made.mass = mass;
  return made;
}

MatrixXd random_mass(Dice& dice, Index n) {
  MatrixXd root(n, n);
  for (double& x : root.reshaped()) x = dice.between(-1, 1);
  return root * root.transpose() + 0.3 * MatrixXd::Identity(n, n);
}

MatrixXd random_rows(Dice& dice, Index r, Index n) {
  MatrixXd rows(r, n);
  for (double& x : rows.reshaped()) x = dice.between(-1, 1);
  return rows;
}

std::vector<double> random_restitution(Dice& dice, Index r) {
  std::vector<double> e;
  for (Index k = 0; k < r; ++k) e.push_back(dice.chance(0.3) ? 0 : dice.chance(0.3) ? 1 : dice.between(0, 1));
  return e;
}

// Reverses rows so that every row . alpha >= 0; then -alpha leaves every contact, and the shock is feasible.
void face(MatrixXd& rows, const VectorXd& alpha) {
  for (Index r = 0; r < rows.rows(); ++r)
    if (rows.row(r).dot(alpha) < 0) rows.row(r) *= -1;
}

// --- Known solutions ----------------------------------------------------------------------------------

TEST(ShockTest, ABallAgainstAWallKeepsItsShareOfSpeed) {
  for (const double e : {0.0, 0.3, 1.0}) {
    const Corner wall = corner(MatrixXd::Identity(2, 2), Eigen::RowVector2d(1, 0), {e});
    const Shock s = wall.strike(Eigen::Vector2d(2, 5));
    EXPECT_NEAR((s.v - Eigen::Vector2d(-2 * e, 5)).norm(), 0, rounding);
    EXPECT_NEAR(s.impulses(0), 2 * (1 + e), rounding);
    EXPECT_NEAR(s.energy_lost, 2 * (1 - e * e), rounding);
    EXPECT_TRUE(s.struck[0]);
    EXPECT_TRUE(s.jumped);
  }
}

TEST(ShockTest, ABallThatLeavesOrGlidesIsNotStruck) {
  const Corner wall = corner(MatrixXd::Identity(2, 2), Eigen::RowVector2d(1, 0), {0.5});
  for (const Eigen::Vector2d& u : {Eigen::Vector2d(-2, 5), Eigen::Vector2d(0, 3)}) {
    const Shock s = wall.strike(u);
    EXPECT_FALSE(s.jumped);
    EXPECT_EQ(s.v, u);
    EXPECT_EQ(s.impulses(0), 0);
  }
}

TEST(ShockTest, ThreeBallsOfWhichTwoAlreadyPartCreateNoEnergy) {
  // alpha = (1, 0, 0.1), e = 1: the law for all contacts at once would make 0.505 into 0.535.
  const Corner balls =
      corner(MatrixXd::Identity(3, 3), (MatrixXd(2, 3) << 1, -1, 0, 0, 1, -1).finished(), {1, 1});
  const Shock s = balls.strike(Eigen::Vector3d(1, 0, 0.1));
  // First and second exchange; then the second catches the third; then nothing approaches.
  EXPECT_NEAR((s.v - Eigen::Vector3d(0, 0.1, 1)).norm(), 0, rounding);
  EXPECT_NEAR(balls.energy(s.v), 0.505, rounding);
  EXPECT_EQ(s.rounds, 2);
}

TEST(ShockTest, AnElasticRowOfBallsHandsTheMotionOn) {
  // Newton's cradle with touching balls by this law: one projection, not a sequence of pairs; momentum and
  // energy are conserved.
  const Corner balls =
      corner(MatrixXd::Identity(4, 4), (MatrixXd(3, 4) << 1, -1, 0, 0, 0, 1, -1, 0, 0, 0, 1, -1).finished(),
             {1, 1, 1});
  const Shock s = balls.strike(Eigen::Vector4d(1, 0, 0, 0));
  EXPECT_NEAR(s.v.sum(), 1, rounding);
  EXPECT_NEAR(balls.energy(s.v), 0.5, rounding);
  EXPECT_LE((balls.rows * s.v).maxCoeff(), rounding);
}

TEST(ShockTest, AMovingWallIsMetWithItsOwnVelocity) {
  // f = x + 3 t: the wall moves with speed 3; with e = 1 a ball at rest leaves with twice that speed.
  const Corner wall = corner(MatrixXd::Identity(1, 1), MatrixXd::Ones(1, 1), {1}, {}, 3);
  EXPECT_NEAR(wall.strike(VectorXd::Zero(1)).v(0), -6, rounding);
  const Corner soft = corner(MatrixXd::Identity(1, 1), MatrixXd::Ones(1, 1), {0}, {}, 3);
  EXPECT_NEAR(soft.strike(VectorXd::Zero(1)).v(0), -3, rounding);
}

TEST(ShockTest, AnExternalImpulseMeetsTheConditionsTogether) {
  // Constrained to x = 0, impulse (3, 4): only the 4 remains; the reaction is 3 in either direction.
  const Corner rail = corner(2 * MatrixXd::Identity(2, 2), Eigen::RowVector2d(1, 0), {0}, {Kind::equation});
  for (const double side : {1.0, -1.0}) {
    const Shock s = rail.strike(VectorXd::Zero(2), Eigen::Vector2d(3 * side, 4));
    EXPECT_NEAR((s.v - Eigen::Vector2d(0, 4)).norm(), 0, rounding);
    EXPECT_NEAR(s.impulses(0), 6 * side, rounding);
    EXPECT_TRUE(s.struck[0]);
    EXPECT_NEAR(s.energy_lost, -16, rounding);  // an external impulse supplies energy
  }
}

TEST(ShockTest, AVelocityInequalityLimitsWhatAShockMayGive) {
  // A light ball hit by a heavy elastic one may not exceed 1: g = v1 - 1 <= 0.
  SystemBuilder b;
  b.coordinate("x", 0, 2).coordinate("y", 0, 0).kinetic("0.5*10*x'^2 + 0.5*y'^2");
  b.require("touch", "x - y <= 0").require("limit", "y' <= 1");
  const Mechanism m = b.make();
  const Shock s =
      shock(*m.equations, m.start, sizes_of(m.start), m.start.v, {{}, {0}, {1}}, {0, 0}, rest_speed);
  ASSERT_EQ(s.status, Status::ok);
  EXPECT_NEAR(s.v(0), 1, rounding);
  EXPECT_NEAR(s.v(1), 1, rounding);
  EXPECT_TRUE(s.struck[1]);
}

TEST(ShockTest, AWheelThatTurnsOneWayStopsTheOther) {
  const Corner clutch = corner(MatrixXd::Identity(1, 1), MatrixXd::Ones(1, 1), {0}, {Kind::velocity});
  EXPECT_NEAR(clutch.strike(VectorXd::Zero(1), VectorXd::Constant(1, 5)).v(0), 0, rounding);
  EXPECT_NEAR(clutch.strike(VectorXd::Zero(1), VectorXd::Constant(1, -5)).v(0), -5, rounding);
}

// --- Laws ---------------------------------------------------------------------------------------------

TEST(ShockTest, ForEqualRestitutionAndNothingPartingItIsMoreausLaw) {
  Dice dice(31);
  for (int trial = 0; trial < 500; ++trial) {
    const Index n = 1 + static_cast<Index>(dice.below(5)), r = 1 + static_cast<Index>(dice.below(5));
    const MatrixXd mass = random_mass(dice, n);
    const VectorXd alpha = dice.vector(n, -1, 1);
    MatrixXd rows = random_rows(dice, r, n);
    face(rows, alpha);
    const double e = dice.between(0, 1);
    const Shock s = corner(mass, rows, std::vector<double>(static_cast<std::size_t>(r), e)).strike(alpha);
    ASSERT_EQ(s.status, Status::ok);
    // v+ = (1 + e) proj(alpha) - e alpha, where proj is on {A v <= 0}: found by trying every set of rows.
    const QuadraticProgram program{mass, alpha, rows, VectorXd::Zero(r),
                                   std::vector<char>(static_cast<std::size_t>(r), 0)};
    const VectorXd moreau = (1 + e) * enumerate_qp(program).x - e * alpha;
    // The first round is Moreau's law; here no other follows, since all participants leave.
    EXPECT_NEAR((s.v - moreau).norm(), 0, 1e-10) << "trial " << trial;
    EXPECT_LE(s.kkt, kkt_limit);
  }
}

TEST(ShockTest, EnergyIsNeverCreated) {
  // Mixed restitution, contacts that separate, equations that hold, more rows than coordinates.
  Dice dice(37);
  int rebounds = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const Index n = 2 + static_cast<Index>(dice.below(5)), r = 1 + static_cast<Index>(dice.below(6));
    const MatrixXd mass = random_mass(dice, n);
    MatrixXd rows = random_rows(dice, r, n);
    const VectorXd room = dice.vector(n, -1, 1);
    face(rows, room);
    std::vector<Kind> kinds(static_cast<std::size_t>(r), Kind::contact);
    VectorXd alpha = dice.vector(n, -1, 1);
    if (r > 1 && dice.chance(0.3)) {
      kinds[0] = Kind::equation;
      rows.row(0) -= room.transpose() * rows.row(0).dot(room) / room.squaredNorm();
      const VectorXd a = rows.row(0).transpose();
      alpha -= a * a.dot(alpha) / a.squaredNorm();
    }
    const Corner made = corner(mass, rows, random_restitution(dice, r), kinds);
    const Shock s = made.strike(alpha);
    ASSERT_EQ(s.status, Status::ok) << "trial " << trial;
    EXPECT_LE(made.energy(s.v), made.energy(alpha) * (1 + rounding)) << "trial " << trial;
    EXPECT_NEAR(s.energy_lost, made.energy(alpha) - made.energy(s.v), rounding);
    // Nothing approaches afterwards, equations hold, impulses of contacts push.
    for (Index k = 0; k < r; ++k) {
      const double rate = rows.row(k).dot(s.v);
      const bool equation = kinds[static_cast<std::size_t>(k)] == Kind::equation;
      EXPECT_LE(equation ? std::abs(rate) : rate, 1e-11) << "trial " << trial;
      EXPECT_GE(equation ? 0 : s.impulses(k), -1e-11) << "trial " << trial;
    }
    // M (v - alpha) + A^T l = 0, over all rounds together.
    EXPECT_NEAR((mass * (s.v - alpha) + rows.transpose() * s.impulses).norm(), 0, 1e-10) << "trial " << trial;
    EXPECT_LE(s.kkt, kkt_limit);
    rebounds += s.rounds > 1;
  }
  EXPECT_GT(rebounds, 100);  // some shocks caused others
}

TEST(ShockTest, WhereContactsLeaveNoRoomEverythingComesToRest) {
  // Rows that enclose the point on all sides: v = 0 is the only admissible velocity, and successive shocks at
  // one instant converge to it.
  Dice dice(39);
  for (int trial = 0; trial < 300; ++trial) {
    MatrixXd rows = random_rows(dice, 5, 2);
    for (Index k = 0; k < 5; ++k) {
      const double angle = 2 * M_PI * static_cast<double>(k) / 5 + dice.between(-0.3, 0.3);
      rows.row(k) << std::cos(angle), std::sin(angle);
    }
    const Corner pocket = corner(random_mass(dice, 2), rows, random_restitution(dice, 5));
    const Shock s = pocket.strike(dice.vector(2, -1, 1));
    ASSERT_EQ(s.status, Status::ok) << "trial " << trial << ", rounds " << s.rounds;
    EXPECT_NEAR(s.v.norm(), 0, 1e-10) << "trial " << trial;
  }
}

TEST(ShockTest, ElasticSequencesKeepTheEnergy) {
  Dice dice(41);
  for (int trial = 0; trial < 500; ++trial) {
    const Index n = 2 + static_cast<Index>(dice.below(4)), r = 1 + static_cast<Index>(dice.below(4));
    const VectorXd alpha = dice.vector(n, -1, 1);
    MatrixXd rows = random_rows(dice, r, n);
    face(rows, dice.vector(n, -1, 1));
    const Corner made =
        corner(random_mass(dice, n), rows, std::vector<double>(static_cast<std::size_t>(r), 1.0));
    const Shock s = made.strike(alpha);
    ASSERT_EQ(s.status, Status::ok);
    EXPECT_NEAR(made.energy(s.v), made.energy(alpha), 1e-10) << "trial " << trial << ", rounds " << s.rounds;
    EXPECT_LE((made.rows * s.v).maxCoeff(), 1e-10);
  }
}

TEST(ShockTest, ANarrowElasticWedgeReflectsManyTimesAndKeepsTheEnergy) {
  // Two walls at the angle pi/100: up to 100 reflections at one instant.
  const double angle = M_PI / 100;
  const Corner wedge =
      corner(MatrixXd::Identity(2, 2),
             (MatrixXd(2, 2) << 0, -1, -std::sin(angle), std::cos(angle)).finished(), {1, 1});
  const VectorXd u = Eigen::Vector2d(-1, 0.01);
  const Shock s = wedge.strike(u);
  ASSERT_EQ(s.status, Status::ok);
  EXPECT_NEAR(s.v.norm(), u.norm(), 1e-10);
  EXPECT_GT(s.rounds, 10);
}

TEST(ShockTest, CarnotsLossIsTheEnergyOfTheLostVelocities) {
  Dice dice(43);
  for (int trial = 0; trial < 500; ++trial) {
    const Index n = 1 + static_cast<Index>(dice.below(5)), r = 1 + static_cast<Index>(dice.below(5));
    const VectorXd u = dice.vector(n, -1, 1);
    const Corner made = corner(random_mass(dice, n), random_rows(dice, r, n),
                               std::vector<double>(static_cast<std::size_t>(r), 0.0));
    const Shock s = made.strike(u);
    ASSERT_EQ(s.status, Status::ok);
    EXPECT_NEAR(made.energy(u) - made.energy(s.v), made.energy(s.v - u), rounding) << "trial " << trial;
    EXPECT_LE(s.carnot, 1e-11);
    EXPECT_LE(s.rounds, 1);
  }
}

TEST(ShockTest, RedundantContactsShareTheImpulse) {
  const MatrixXd rows = (MatrixXd(3, 2) << 1, 0, 1, 0, 1, 0).finished();
  const Shock s = corner(MatrixXd::Identity(2, 2), rows, {0.5, 0.5, 0.5}).strike(Eigen::Vector2d(2, 1));
  EXPECT_NEAR((s.v - Eigen::Vector2d(-1, 1)).norm(), 0, rounding);
  for (const Index k : {0, 1, 2}) EXPECT_NEAR(s.impulses(k), 1, rounding);
}

TEST(ShockTest, ContradictingMovingWallsAreInfeasible) {
  // x + t <= 0 and -x + t <= 0: no velocity satisfies both.
  const Corner walls = corner(MatrixXd::Identity(1, 1), (MatrixXd(2, 1) << 1, -1).finished(), {0, 0}, {}, 1);
  EXPECT_EQ(walls.strike(VectorXd::Zero(1)).status, Status::infeasible);
}

TEST(ShockTest, OpenVelocityInequalitiesLetNoEnergyIn) {
  // An elastic contact and one-way clutches that turn freely before: by the one projection the clutch would
  // be an elastic partner without approach. alpha = (-0.5, 1), wall along (-0.6, 0.8), clutch x' <= 0: 0.625
  // must not become 0.945.
  const Corner made = corner(MatrixXd::Identity(2, 2), (MatrixXd(2, 2) << -0.6, 0.8, 1, 0).finished(), {1, 0},
                             {Kind::contact, Kind::velocity});
  const Shock s = made.strike(Eigen::Vector2d(-0.5, 1));
  ASSERT_EQ(s.status, Status::ok);
  EXPECT_LE(made.energy(s.v), 0.625 + rounding);
  EXPECT_LE((made.rows * s.v).maxCoeff(), rounding);
}

TEST(ShockTest, AnImposedEquationBesideAnElasticContactLetsNoEnergyIn) {
  Dice dice(47);
  for (int trial = 0; trial < 300; ++trial) {
    const VectorXd alpha = dice.vector(3, -1, 1);
    MatrixXd rows = random_rows(dice, 2, 3);
    face(rows, alpha);
    const Corner made = corner(MatrixXd::Identity(3, 3), rows, {1, 0}, {Kind::contact, Kind::equation});
    const Shock s = made.strike(alpha);
    ASSERT_EQ(s.status, Status::ok);
    ASSERT_LE(made.energy(s.v), made.energy(alpha) + rounding) << "trial " << trial;
  }
}

// --- Conditions not linear in v -----------------------------------------------------------------------

// The speed is brought to exactly 1 (or at most 1) in the mass metric diag(m, 1).
Shock speed_shock(double mass, const Eigen::Vector2d& alpha, bool equation) {
  SystemBuilder b;
  b.parameter("m", mass)
      .coordinate("x", 0, alpha(0))
      .coordinate("y", 0, alpha(1))
      .kinetic("0.5*m*x'^2 + 0.5*y'^2");
  b.require("speed", equation ? "x'^2 + y'^2 == 1" : "x'^2 + y'^2 <= 1");
  const Mechanism m = b.make();
  const ShockParticipants who = equation ? ShockParticipants{{0}, {}, {}} : ShockParticipants{{}, {}, {0}};
  return shock(*m.equations, m.start, sizes_of(m.start), m.start.v, who, {0}, rest_speed);
}

TEST(ShockTest, ASpeedLimitScalesTheVelocityOfAFreePoint) {
  for (const double speed : {1.001, 1.5, 1.9, 3.0, 50.0}) {
    const Eigen::Vector2d direction(0.6, -0.8);
    const Shock s = speed_shock(1, speed * direction, false);
    ASSERT_EQ(s.status, Status::ok) << speed;
    EXPECT_NEAR((s.v - direction).norm(), 0, rounding) << speed;
  }
}

TEST(ShockTest, ASpeedLimitInTheMassMetricIsTheNearestPoint) {
  // Nearest point of the circle in the metric diag(m, 1), by a fine search over its angle.
  for (const double mass : {0.5, 2.0, 5.0})
    for (const Eigen::Vector2d& alpha :
         {Eigen::Vector2d(1.2, 0.3), {1.1, 1.1}, {0.4, 1.6}, {2.0, 1.0}, {3, 4}}) {
      const auto cost = [&](double s) {
        const double x = std::cos(s) - alpha(0), y = std::sin(s) - alpha(1);
        return mass * x * x + y * y;
      };
      double best = 0;
      for (int k = 0; k < 100'000; ++k)
        if (cost(k * 2e-5 * M_PI) < cost(best)) best = k * 2e-5 * M_PI;
      const Shock s = speed_shock(mass, alpha, true);
      ASSERT_EQ(s.status, Status::ok) << "mass " << mass << ", alpha " << alpha.transpose();
      EXPECT_NEAR((s.v - Eigen::Vector2d(std::cos(best), std::sin(best))).norm(), 0, 1e-4)
          << "mass " << mass << ", alpha " << alpha.transpose();
    }
}

TEST(ShockTest, AConditionNoVelocityMeetsIsInfeasible) {
  SystemBuilder b;
  b.coordinate("x", 0, 1).kinetic("0.5*x'^2").require("never", "x'^2 + 1 <= 0");
  const Mechanism m = b.make();
  const Shock s = shock(*m.equations, m.start, sizes_of(m.start), m.start.v, {{}, {}, {0}}, {0}, rest_speed);
  EXPECT_EQ(s.status, Status::infeasible) << status_name(s.status);
}

// --- Completed sequences ------------------------------------------------------------------------------

TEST(ShockTest, TheLimitOfAlternatingShocksIsTheProjectionOnAllOfThem) {
  Dice dice(53);
  for (int trial = 0; trial < 100; ++trial) {
    const VectorXd u = dice.vector(4, -1, 1);
    const Corner made = corner(random_mass(dice, 4), random_rows(dice, 2, 4), {0, 0});
    State state = made.mechanism.start;
    state.v = u;
    const Shock s = completed_shock(*made.mechanism.equations, state, sizes_of(state), made.who, rest_speed);
    ASSERT_EQ(s.status, Status::ok);
    EXPECT_NEAR((made.rows * s.v).norm(), 0, rounding);
    EXPECT_NEAR(made.energy(u) - made.energy(s.v), made.energy(s.v - u), rounding);
  }
}

}  // namespace
}  // namespace zwang::shock_test
