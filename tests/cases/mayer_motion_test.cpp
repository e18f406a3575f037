// Known answers for Mayer 1899 I (Leipz. Ber. 51, 224-244): accelerations under inequalities, and motions
// that leave conditions and meet them again. Rational numbers are exact; decimals come from closed forms in
// 40 digits.
#include <limits>

#include "src/base/error.h"
#include "tests/support/study_runs.h"

namespace zwang::mayer_motion_test {
namespace {

// Integrated over times of order 10 by some thousands of steps of rtol 1e-13 each.
constexpr double integrated = 1e-11;

// --- Section 3, one condition: a point of mass 2 slides inside the unit sphere with (1, -2, 0) ---

struct SphereCase {
  const char* what;
  Overrides force;
  double phi0, lambda;
  std::initializer_list<double> a;
  const char* state;
};

TEST(MayerMotion, OneClosedConditionPressesIfTheFreeMotionBreaksIt) {
  const SphereCase cases[] = {
      {"pressed", {}, 577.0 / 50, 577.0 / 25, {-577.0 / 75, -577.0 / 150, -127.0 / 60}, "pressing"},
      {"free", {"parameters.X1=-30", "parameters.X3=0"}, -5, 0, {-15, 0, 0}, "yielding"},
      {"limit", {"parameters.X1=-15", "parameters.X3=0"}, 0, 0, {-7.5, 0, 0}, "yielding"},
  };
  for (const SphereCase& known : cases) {
    SCOPED_TRACE(known.what);
    const Explanation found = explained(config("point_in_sphere", known.force));
    ASSERT_EQ(found.rows, std::vector<std::string>{"sphere"});
    // Terms of f'' are of order 10: Phi0 and lambda may differ by their rounding.
    EXPECT_NEAR(found.phi(0, 0), 0.5, algebra);
    EXPECT_NEAR(found.phi0(0), known.phi0, 10 * algebra);
    EXPECT_NEAR(condition(found, "sphere").multiplier, known.lambda, 10 * algebra);
    EXPECT_EQ(condition(found, "sphere").state, known.state);
    expect_near(found.acceleration, known.a, 10 * algebra, "acceleration");
    EXPECT_EQ(found.position, "regular");
    expect_sound(StudyRun(config("point_in_sphere", known.force)));
  }
}

TEST(MayerMotion, AtTheLimitThePointPartsFromTheSphereOnceAndWithoutChattering) {
  // Free motion q + v t + a t^2/2 with a = (-15/2, 0, 0): 2 f = -15/2 t^3 + 225/16 t^4, zero again at t =
  // 8/15.
  const StudyRun run(sampled(config("point_in_sphere", {"parameters.X1=-15", "parameters.X3=0"}), {0.6}));
  expect_sound(run);
  ASSERT_GE(run.trajectory.events.size(), 2u);
  ASSERT_LE(run.trajectory.events.size(),
            3u);  // a release may be listed at the start; then contact and shock
  const std::vector<Event> contacts = run.events(EventKind::contact);
  ASSERT_EQ(contacts.size(), 1u);
  EXPECT_NEAR(contacts[0].t, 8.0 / 15, 1e-13);
}

// --- Section 3, two conditions: string f1 and wall f2, with Phi = [[125/6, 3/2 sigma], [3/2 sigma, 1/2]] ---

struct StringWallCase {
  const char* what;
  Overrides numbers;  // sigma, X1, X2; X3 = 3 and X4 = 0 throughout
  double sigma;
  double phi1_0, phi2_0;    // f'' in free motion
  double phi2_1, phi1_2;    // f2'' under the string alone, f1'' under the wall alone
  double lambda1, lambda2;  // of the string, of the wall
  std::initializer_list<double> a;
  std::vector<std::string> pressing;
};

Overrides sigma_force(double sigma, double X1, double X2) {
  return {"parameters.sigma=" + number_text(sigma), "parameters.X1=" + number_text(X1),
          "parameters.X2=" + number_text(X2)};
}

const StringWallCase string_wall_cases[] = {
    {"A, both yield", sigma_force(1, -6, -9), 1, -5, -1, -16.0 / 25, -2, 0, 0, {-3, -4.5, 1, 0}, {}},
    {"B1, the string presses",
     sigma_force(1, -6, 6),
     1,
     25,
     -1,
     -14.0 / 5,
     28,
     6.0 / 5,
     0,
     {-24.0 / 5, 3.0 / 5, 11.0 / 5, 8.0 / 5},
     {"string"}},
    {"B2, the wall yields though the free motion breaks it",
     sigma_force(1, -2, 3),
     1,
     25,
     1,
     -4.0 / 5,
     22,
     6.0 / 5,
     0,
     {-14.0 / 5, -9.0 / 10, 11.0 / 5, 8.0 / 5},
     {"string"}},
    {"C, the wall presses though the free motion respects it",
     sigma_force(-1, -2, 3),
     -1,
     25,
     -1,
     4.0 / 5,
     22,
     66.0 / 49,
     100.0 / 49,
     {-2, -117.0 / 98, 115.0 / 49, 88.0 / 49},
     {"string", "wall"}},
    {"E, both press",
     sigma_force(1, 4, -1.5),
     1,
     25,
     4,
     11.0 / 5,
     13,
     39.0 / 49,
     275.0 / 49,
     {-2, -459.0 / 196, 88.0 / 49, 52.0 / 49},
     {"string", "wall"}},
};

TEST(MayerMotion, WithTwoClosedConditionsOnlyTheLeastConstraintTellsWhichPress) {
  for (const StringWallCase& known : string_wall_cases) {
    SCOPED_TRACE(known.what);
    const Explanation found = explained(config("string_and_wall", known.numbers));
    ASSERT_EQ(found.rows, (std::vector<std::string>{"string", "wall"}));
    const double phi12 = found.phi(0, 1);
    EXPECT_NEAR(found.phi(0, 0), 125.0 / 6, 10 * algebra);
    EXPECT_NEAR(phi12, known.sigma * 3 / 2, algebra);
    EXPECT_NEAR(found.phi(1, 1), 0.5, algebra);
    // Velocity terms of f1'' are 25 before they meet the forces.
    EXPECT_NEAR(found.phi0(0), known.phi1_0, 10 * algebra);
    EXPECT_NEAR(found.phi0(1), known.phi2_0, algebra);
    EXPECT_NEAR(found.phi0(1) - phi12 * found.phi0(0) / found.phi(0, 0), known.phi2_1, 10 * algebra);
    EXPECT_NEAR(found.phi0(0) - phi12 * found.phi0(1) / found.phi(1, 1), known.phi1_2, 10 * algebra);
    EXPECT_NEAR(found.multipliers(0), known.lambda1, 2 * algebra);
    EXPECT_NEAR(found.multipliers(1), known.lambda2, 2 * algebra);
    expect_near(found.acceleration, known.a, algebra, "acceleration");
    EXPECT_EQ(accepted_sets(found), std::vector<std::vector<std::string>>{known.pressing});
    EXPECT_EQ(found.position, "regular");
    expect_sound(StudyRun(config("string_and_wall", known.numbers)));
  }
}

// The file's text with other relations: what Ostrogradsky's rule would solve.
std::string as_equations(bool with_wall) {
  std::string text = config("string_and_wall").text;
  const auto change = [&text](const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    if (at == std::string::npos) throw std::out_of_range("the config no longer says " + from);
    text.replace(at, from.size(), to);
  };
  change("- 25)/2 <= 0\"", "- 25)/2 == 0\"");
  change("p1.y^2/2) <= 0\"", with_wall ? "p1.y^2/2) == 0\"" : "p1.y^2/2) <= 1\"");
  return text;
}

TEST(MayerMotion, OstrogradskysChoicePullsOrBreaksAWall) {
  // B2: string and wall as equations: the wall would have to pull.
  const Explanation pulls = explained(written(as_equations(true), sigma_force(1, -2, 3)));
  EXPECT_NEAR(condition(pulls, "string").multiplier, 66.0 / 49, 2 * algebra);
  EXPECT_NEAR(condition(pulls, "wall").multiplier, -100.0 / 49, 2 * algebra);
  expect_near(pulls.acceleration, {-2, -117.0 / 98, 115.0 / 49, 88.0 / 49}, algebra, "acceleration");

  // C: the string alone: the wall, moved out of the way here, would be broken with f2'' = 4/5.
  const Explanation breaks = explained(written(as_equations(false), sigma_force(-1, -2, 3)));
  EXPECT_NEAR(condition(breaks, "string").multiplier, 6.0 / 5, 2 * algebra);
  expect_near(breaks.acceleration, {-14.0 / 5, -9.0 / 10, 11.0 / 5, 8.0 / 5}, algebra, "acceleration");
  // f2'' = sigma (a1 + kappa (v2^2 + y1 a2)) with kappa = 2, v2 = 1, y1 = 0
  EXPECT_NEAR(-(breaks.acceleration(0) + 2), 4.0 / 5, algebra);
}

TEST(MayerMotion, BothErrorsAtOnceInOneState) {
  // One respected wall presses and one broken wall yields: 50 l1 - 3 l3 = 85, -3 l1 + l3 = -1, f2'' = 2 - 3
  // l1.
  const Explanation found = explained(config("ostrogradsky"));
  expect_near(found.phi0, {85, 2, -1}, 10 * algebra, "Phi0");
  expect_near(found.multipliers, {2, 0, 5}, 10 * algebra, "lambda");
  expect_near(found.second, {0, -4, 0}, 10 * algebra, "f''");
  expect_near(found.acceleration, {-4, 1, 0, -2}, 10 * algebra, "acceleration");
  EXPECT_EQ(accepted_sets(found), (std::vector<std::vector<std::string>>{{"string", "wall_2"}}));
}

// --- Section 4: motions ---

TEST(MayerMotion, TheStringPendulumSlackensJerksAndSwingsOnAsTheEllipticIntegralsSay) {
  const double t_taut = 3.959140159247166156, period = 6.333154741601697871;
  const StudyRun run(sampled(config("string_pendulum"), {0, 10, t_taut + period}));
  expect_sound(run);
  EXPECT_NEAR(run.observable("tension", 0), 4.5, algebra);

  const std::vector<Event> releases = run.events(EventKind::release);
  ASSERT_EQ(releases.size(), 1u);
  EXPECT_NEAR(releases[0].t, 1.509650416463988058, integrated);
  const StudyRun until(sampled(config("string_pendulum"), {releases[0].t}));
  expect_near(until.trajectory.last.state.q, {0.8660254037844386468, 0.5}, integrated, "where it slackens");
  expect_near(until.trajectory.last.state.v, {-0.3535533905932737622, 0.6123724356957945245}, integrated,
              "velocity there");

  // The flight lasts sqrt(6) and ends exactly at the bottom.
  const std::vector<Event> shocks = run.events(EventKind::shock);
  ASSERT_EQ(shocks.size(), 1u);
  EXPECT_NEAR(shocks[0].t, t_taut, integrated);
  EXPECT_NEAR(shocks[0].t - releases[0].t, std::sqrt(6.0), integrated);
  expect_near(shocks[0].velocity_before, {-0.3535533905932737622, -1.837117307087383574}, integrated, "v-");
  expect_near(shocks[0].velocity_after, {-0.3535533905932737622, 0}, integrated, "v+");
  EXPECT_NEAR(run.impulse(shocks[0], "string"), 1.837117307087383574, integrated);
  EXPECT_NEAR(shocks[0].energy_lost, 1.6875, integrated);

  expect_near(run.at(10).state.q, {0.1017012309067902614, -0.9948149876394322444}, integrated, "q(10)");
  expect_near(run.at(10).state.v, {-0.3368149957382833574, -0.03443303536844599275}, integrated, "v(10)");
  expect_near(run.at(run.end()).state.q, {0, -1}, integrated, "one period after the jerk");
  expect_near(run.at(run.end()).state.v, {-0.3535533905932737622, 0}, integrated, "velocity there");
}

TEST(MayerMotion, AWallIsLeftAndMetAgainAsTheForceTurns) {
  const StudyRun run(config("wall_force_reversal"));
  expect_sound(run);
  const std::vector<Event> shocks = run.events(EventKind::shock), releases = run.events(EventKind::release);
  ASSERT_EQ(shocks.size(), 2u);
  ASSERT_EQ(releases.size(), 2u);
  EXPECT_NEAR(releases[0].t, 1.82347658193697527, integrated);
  EXPECT_NEAR(shocks[0].t, 8.88220161033843575, integrated);
  EXPECT_NEAR(shocks[0].velocity_before(0), 1.31277946157906533, integrated);
  EXPECT_NEAR(std::cos(shocks[0].t) + 0.25, -0.606381241791433169, integrated);
  EXPECT_NEAR(shocks[1].t, 14.2025011877283582, integrated);
  EXPECT_NEAR(shocks[1].velocity_before(0), 1.81159733051439333, integrated);
  EXPECT_NEAR(std::cos(shocks[1].t) + 0.25, 0.184712224072826751, integrated);
  EXPECT_NEAR(releases[1].t, 14.3898471962961482, integrated);
  for (const Event& shock : shocks) {
    EXPECT_EQ(shock.velocity_after(0), 0);
    EXPECT_NEAR(run.impulse(shock, "wall"), shock.velocity_before(0), algebra);
  }
  EXPECT_NEAR(run.position("p.x", 20), -2.15586234630608475, integrated);
  EXPECT_NEAR(run.velocity("p.x", 20), 1.34723761510173638, integrated);
  // While the wall holds the point its multiplier is the force.
  for (const double t : {0.0, 0.5, 1.0, 1.5, 14.3})
    EXPECT_NEAR(run.multiplier("wall", t), std::cos(t) + 0.25, integrated);
}

TEST(MayerMotion, ThePointIsCapturedInTheCorner) {
  const StudyRun run(config("corner_capture"));
  expect_sound(run);
  const std::vector<Event> shocks = run.events(EventKind::shock);
  ASSERT_EQ(shocks.size(), 1u);
  EXPECT_NEAR(shocks[0].t, std::sqrt(2.0), integrated);
  EXPECT_NEAR(shocks[0].velocity_before(0), std::sqrt(2.0), integrated);
  EXPECT_NEAR(shocks[0].energy_lost, 1, integrated);
  for (const double t : {0.5, 1.4, 1.5, 5.0}) {
    EXPECT_NEAR(run.multiplier("ground", t), 1, algebra);
    EXPECT_NEAR(run.multiplier("wall", t), t < 1.41 ? 0 : 1, algebra);
  }
  expect_near(run.at(5).state.q, {1, 0}, algebra, "in the corner");
  expect_near(run.at(5).state.v, {0, 0}, algebra, "at rest");
}

TEST(MayerMotion, BouncesIntoTheCornerAccumulateWhereTheGeometricSeriesEnds) {
  for (const double gap : {1e-3, 1e-5, 1e-8}) {
    SCOPED_TRACE(gap);
    Study study = config("corner_capture", {"parameters.e=0.5"});
    study.integrator.accumulation_gap = gap;
    const StudyRun run(study);
    expect_sound(run);
    const std::vector<Event> shocks = run.events(EventKind::shock);
    ASSERT_GE(shocks.size(), 3u);
    EXPECT_NEAR(shocks[0].t, std::sqrt(2.0), integrated);
    EXPECT_NEAR(shocks[1].t, 2.82842712474619010, integrated);
    EXPECT_NEAR(shocks[2].t, 3.53553390593273762, integrated);

    // The wall is at x = 1: a hop begins and ends there to a rounding or two of x. That is a change of v^2/2
    // by 2 eps, of the speed by 2 eps/v, of the hop's duration by 4 eps/v. The last hop before the completion
    // has about v = gap, but not below 2e-6: flatter ones are below the threshold of zero (4e-12) and not
    // followed.
    const double epsilon = std::numeric_limits<double>::epsilon();
    const double resolved = std::max(integrated, 4 * epsilon / std::max(gap, 2e-6));
    const std::vector<Event> accumulations = run.events(EventKind::accumulation);
    ASSERT_EQ(accumulations.size(), 1u);
    EXPECT_TRUE(run.lists(accumulations[0], "wall"));
    EXPECT_NEAR(accumulations[0].t, 4.24264068711928515, resolved);
    EXPECT_NEAR(run.multiplier("ground", 5), 1, algebra);
    EXPECT_NEAR(run.multiplier("wall", 5), 1, algebra);
    expect_near(run.at(5).state.q, {1, 0}, algebra, "in the corner");
    expect_near(run.at(5).state.v, {0, 0}, algebra, "at rest");
  }
}

TEST(MayerMotion, HowTheBouncesEndDoesNotDependOnHowLongTheStudyRunsOn) {
  for (const double end : {5.0, 1e3, 1e6, 1e9}) {
    SCOPED_TRACE(end);
    const StudyRun run(sampled(config("corner_capture", {"parameters.e=0.5"}), {end}));
    expect_sound(run);
    ASSERT_EQ(run.events(EventKind::accumulation).size(), 1u);
    EXPECT_NEAR(run.events(EventKind::accumulation)[0].t, 4.24264068711928515, 1e-9);
    // After twenty bounces the energy is 4^-20: the remaining bounces are negligible.
    EXPECT_LE(run.events(EventKind::accumulation)[0].energy_lost, 1e-9);
  }
}

}  // namespace
}  // namespace zwang::mayer_motion_test
