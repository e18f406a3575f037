// Known answers for Mayer 1899 II (Leipz. Ber. 51, 245-264): external impulses, strings that jerk taut,
// conditions suddenly imposed, points that hit walls and rings. Fractions are exact.
#include "tests/support/study_runs.h"

namespace zwang::mayer_shock_test {
namespace {

// Shocks of two or three points: a small linear solve on numbers of order 1.
constexpr double solved = 1e-13;
// Motions over a few seconds with rtol 1e-13.
constexpr double integrated = 1e-11;

// Sum of m (v+ - alpha)^2, which is least by the theorem of section 1.
double vis_viva_of_change(const Eigen::VectorXd& masses, const Eigen::VectorXd& after,
                          const Eigen::VectorXd& alpha) {
  return masses.dot((after - alpha).cwiseAbs2());
}

// --- Section 1: external impulses ---

struct ImpulseCase {
  const char* what;
  Overrides impulse;
  Eigen::Vector4d alpha;
  std::initializer_list<double> after;
  double l_string, l_wall, least;
};

TEST(MayerShock, ABlowIsTurnedIntoTheNearestAdmissibleVelocities) {
  const ImpulseCase cases[] = {
      {"free",
       {"parameters.I1=-2", "parameters.I2=0"},
       {-1, 1, -11.0 / 3, 3.5},
       {-1, 1, -11.0 / 3, 3.5},
       0,
       0,
       0},
      {"string",
       {"parameters.I1=-2", "parameters.I2=3.5"},
       {-1, 2.75, -11.0 / 3, 3.5},
       {-34.0 / 25, 227.0 / 100, -257.0 / 75, 191.0 / 50},
       6.0 / 25,
       0,
       6.0 / 5},
      {"both",
       {},
       {2, 1.75, -11.0 / 3, 3.5},
       {0, 247.0 / 196, -503.0 / 147, 375.0 / 98},
       12.0 / 49,
       160.0 / 49,
       440.0 / 49},
  };
  for (const ImpulseCase& known : cases) {
    SCOPED_TRACE(known.what);
    const StudyRun run(config("impulse_string_wall", known.impulse));
    expect_sound(run);
    const std::vector<Event> blows = run.events(EventKind::impulse);
    ASSERT_EQ(blows.size(), 1u);
    EXPECT_EQ(blows[0].t, 0);
    expect_near(blows[0].velocity_before, {0, 1, -4, 4}, 0, "u");
    expect_near(blows[0].velocity_after, known.after, solved, "v+");
    // The reaction of the string is l (3, 4, -3, -4), of length sqrt(50) l.
    EXPECT_NEAR(run.impulse(blows[0], "string"), std::sqrt(50.0) * known.l_string, solved);
    EXPECT_NEAR(run.impulse(blows[0], "wall"), known.l_wall, solved);
    EXPECT_NEAR(vis_viva_of_change(Eigen::Vector4d(2, 2, 3, 3), blows[0].velocity_after, known.alpha),
                known.least, solved);
    expect_near(run.at(0).state.v, known.after, solved, "the state at t = 0 is the one after the blow");
  }
}

TEST(MayerShock, ARailMayPullWhereAStringMayNot) {
  const StudyRun run(config("impulse_on_rail"));
  expect_sound(run);
  const std::vector<Event> blows = run.events(EventKind::impulse);
  ASSERT_EQ(blows.size(), 1u);
  expect_near(blows[0].velocity_after, {-7.0 / 11, 0, 1.0 / 11, -6.0 / 11}, solved, "v+");
  EXPECT_NEAR(run.impulse(blows[0], "rail"), -48.0 / 11, solved);
  EXPECT_NEAR(run.impulse(blows[0], "string"), std::sqrt(50.0) * 12 / 11, solved);
}

// --- Section 2: internal collisions and sudden conditions ---

TEST(MayerShock, AStringJerksTaut) {
  const StudyRun run(config("string_jerk"));
  expect_sound(run);
  const std::vector<Event> shocks = run.events(EventKind::shock);
  ASSERT_EQ(shocks.size(), 1u);
  EXPECT_NEAR(shocks[0].t, 1, solved);
  EXPECT_NEAR(run.impulse(shocks[0], "string"), 72.0 / 25, solved);
  expect_near(shocks[0].velocity_after, {17.0 / 125, 106.0 / 125, -53.0 / 125, 317.0 / 250}, solved, "v+");
  EXPECT_NEAR(shocks[0].energy_lost, 432.0 / 125, solved);
  // Carnot: the energy of the velocity changes.
  const Eigen::Vector4d masses(2, 2, 3, 3);
  EXPECT_NEAR(vis_viva_of_change(masses, shocks[0].velocity_after, shocks[0].velocity_before) / 2,
              432.0 / 125, solved);
}

TEST(MayerShock, AnElasticStringThrowsTheMassesBack) {
  const StudyRun run(sampled(config("string_jerk", {"parameters.e=0.5"}), {2}));
  expect_sound(run);
  const std::vector<Event> shocks = run.events(EventKind::shock);
  ASSERT_EQ(shocks.size(), 1u);
  EXPECT_NEAR(run.impulse(shocks[0], "string"), 1.5 * 72 / 25, solved);
  expect_near(shocks[0].velocity_after, {-37.0 / 125, 34.0 / 125, -17.0 / 125, 413.0 / 250}, solved, "v+");
}

TEST(MayerShock, TwoStringsJerkInOneShock) {
  for (const char* lead : {"parameters.lead=0", "parameters.lead=1"}) {
    SCOPED_TRACE(lead);
    const StudyRun run(config("chain_jerk", {lead}));
    expect_sound(run);
    const std::vector<Event> shocks = run.events(EventKind::shock);
    ASSERT_EQ(shocks.size(), 1u);
    EXPECT_TRUE(run.lists(shocks[0], "string_12") && run.lists(shocks[0], "string_23"));
    expect_near(shocks[0].velocity_after, {20.0 / 29, 1, 20.0 / 29, -18.0 / 29, -20.0 / 29, 12.0 / 29},
                solved, "v+");
    // Gradients (2, 0, -2, 0) and (3, 4, -3, -4)
    EXPECT_NEAR(run.impulse(shocks[0], "string_12"), std::sqrt(8.0) * 67 / 58, solved);
    EXPECT_NEAR(run.impulse(shocks[0], "string_23"), std::sqrt(50.0) * 9 / 29, solved);
    EXPECT_NEAR(shocks[0].energy_lost, 114.0 / 29, solved);
  }
}

TEST(MayerShock, AnEquationSuddenlyImposedMayPullAndAnInequalityMayNot) {
  const StudyRun run(config("sudden_line"));
  expect_sound(run);
  const std::vector<Event> imposed = run.events(EventKind::imposed);
  ASSERT_EQ(imposed.size(), 1u);
  expect_near(imposed[0].velocity_after, {96.0 / 25, 72.0 / 25, 3, 4}, solved, "threaded, fenced");
  EXPECT_NEAR(run.impulse(imposed[0], "line"), -14.0 / 5, solved);
  EXPECT_EQ(run.impulse(imposed[0], "fence"), 0);
  EXPECT_NEAR(imposed[0].energy_lost, 49.0 / 25, solved);
}

TEST(MayerShock, ADumbbellIsSeizedAtOneEndOrDriven) {
  // The dumbbell turns for half a second before: its velocities there are integrated.
  const StudyRun held(config("dumbbell_seized"));
  expect_sound(held);
  const std::vector<Event> seized = held.events(EventKind::imposed);
  ASSERT_EQ(seized.size(), 1u);
  expect_near(seized[0].velocity_before, {1, 1.0 / 5, 1, 16.0 / 5}, integrated, "before");
  expect_near(seized[0].velocity_after, {0, 0, 0, 16.0 / 5}, integrated, "held");
  EXPECT_NEAR(held.observable("turning", 0.5), 16.0 / 5, integrated);
  EXPECT_NEAR(seized[0].energy_lost, 127.0 / 50, integrated);

  const StudyRun driven(config("dumbbell_seized", {"parameters.W=1"}));
  expect_sound(driven);
  const std::vector<Event> started = driven.events(EventKind::imposed);
  ASSERT_EQ(started.size(), 1u);
  expect_near(started[0].velocity_after, {1, 0, 1, 16.0 / 5}, integrated, "driven");
}

// --- Section 3, example I: a point on a taut string hits a wall ---

struct WallCase {
  const char* what;
  Overrides angle;
  std::initializer_list<double> second;  // velocity of the second point, before and after
  double f2_rate_after;
};

TEST(MayerShock, AtAnAcuteAngleTheWallStopsThePointAndTheStringGoesSlack) {
  const WallCase cases[] = {
      {"60 degrees", {}, {1.433012701892219323, 0}, -1},
      {"20 degrees",
       {"parameters.phi=0.3490658503988659153847382"},
       {1.171010071662834367, -0.2198463103929541920},
       -1.879385241571816768},
      {"head-on", {"parameters.phi=0"}, {1, -0.25}, -2},
      {"90 degrees: just stays taut", {"parameters.phi=1.570796326794896619231322"}, {1.5, 0.25}, 0},
  };
  for (const WallCase& known : cases) {
    SCOPED_TRACE(known.what);
    const StudyRun run(config("string_hits_wall", known.angle));
    expect_sound(run);
    const std::vector<Event> shocks = run.events(EventKind::shock);
    ASSERT_EQ(shocks.size(), 1u);
    EXPECT_EQ(shocks[0].t, 0);
    const Eigen::Vector4d change = shocks[0].velocity_after - shocks[0].velocity_before;
    expect_near(change, {-1, 0, 0, 0}, algebra, "velocity changes");
    expect_near(shocks[0].velocity_after.head(2), {0, 0.25}, algebra, "first point");
    expect_near(shocks[0].velocity_after.tail(2), known.second, algebra, "second point");
    EXPECT_NEAR(run.impulse(shocks[0], "wall"), 1, algebra);
    EXPECT_EQ(run.impulse(shocks[0], "string"), 0);
    EXPECT_NEAR(run.measure("f2_rate_after"), known.f2_rate_after, algebra);
  }
}

TEST(MayerShock, TheSequelEndsWithBothPointsSlidingDownTheWall) {
  const StudyRun run(config("string_hits_wall_sequel"));
  expect_sound(run);
  const std::vector<Event> shocks = run.events(EventKind::shock);
  ASSERT_EQ(shocks.size(), 3u);
  EXPECT_EQ(run.trajectory.events.size(), 6u);  // a contact before each, and nothing after: no chattering
  EXPECT_NEAR(shocks[1].t, 0.697830520748037756, solved);
  EXPECT_NEAR(run.measure("y2_at_hit"), -1.90650843775588673, solved);
  EXPECT_NEAR(shocks[2].t, 1.07179676972449083, solved);
  expect_near(shocks[2].velocity_after, {0, -1.0 / 6, 0, -1.0 / 6}, solved, "common velocity");
  EXPECT_NEAR(run.position("p1.y", 3), -0.321367205045918196, solved);
  EXPECT_NEAR(run.position("p2.y", 3), -2.32136720504591820, solved);
  EXPECT_NEAR(run.velocity("p2.y", 3), -1.0 / 6, solved);
}

// --- Section 3, example II: a moving ring (W = 2, r = 1, m = 1) meets a resting point ---

TEST(MayerShock, TheRingCatchesThePointInsideAndCarriesItRound) {
  const StudyRun run(config("moving_ring"));
  expect_sound(run);
  const std::vector<Event> shocks = run.events(EventKind::shock, "inside");
  ASSERT_EQ(shocks.size(), 1u);
  EXPECT_NEAR(shocks[0].t, 0.25, solved);
  EXPECT_NEAR(std::atan2(std::sqrt(3.0) / 2, 0 - 2 * shocks[0].t), 2.094395102393195492, solved);
  expect_near(shocks[0].velocity_after.head(2), {0.5, -0.8660254037844386468}, solved, "v+");
  EXPECT_NEAR(run.impulse(shocks[0], "inside"), 1, solved);
  for (const double t : {0.25, 0.5, 1.0, 2.0, 3.0}) {
    EXPECT_NEAR(run.multiplier("inside", t), 3, integrated);
    const Sample& there = run.at(t);
    const double x = there.state.q(0) - 2 * t, y = there.state.q(1);
    EXPECT_NEAR(x * there.state.v(1) - y * (there.state.v(0) - 2), 1.732050807568877294, integrated)
        << "angular velocity about the ring's centre";
  }
  expect_near(run.at(3).state.q.head(2), {6.839545880666990166, 0.5432887945237669896}, integrated, "q(3)");
  expect_near(run.at(3).state.v.head(2), {1.058996204701987546, 1.454136120600384603}, integrated, "v(3)");
}

TEST(MayerShock, TheRingStrikesThePointOutsideOnceAndNeverCatchesItUp) {
  const StudyRun run(config("moving_ring"));
  const std::vector<Event> shocks = run.events(EventKind::shock, "outside");
  ASSERT_EQ(shocks.size(), 1u);
  EXPECT_EQ(run.events(EventKind::contact, "outside").size(), 1u);
  EXPECT_NEAR(shocks[0].t, 0.75, solved);
  EXPECT_NEAR(std::atan2(std::sqrt(3.0) / 2, 2 - 2 * shocks[0].t), 1.047197551196597746, solved);
  expect_near(shocks[0].velocity_after.tail(2), {0.5, 0.8660254037844386468}, solved, "v+");
  EXPECT_NEAR(shocks[0].velocity_after.tail(2).norm(), 1, solved);
  expect_near(run.at(3).state.q.tail(2), {3.125, 2.814582562299425602}, solved, "q(3)");
  EXPECT_NEAR(run.observable("gap_outside", 3), 3.023369234857770297, solved);
  for (const double t : {0.8, 1.0, 2.0})
    EXPECT_NEAR(run.observable("gap_outside", t), std::sqrt(1 + 3 * (t - 0.75) * (t - 0.75)) - 1, solved);
}

}  // namespace
}  // namespace zwang::mayer_shock_test
