// Known answers from the classical literature: sliding off surfaces, bouncing, rolling, pendulums. Closed
// forms, elliptic integrals and quadratures in 20 digits and more.
#include <limits>

#include "tests/support/study_runs.h"

namespace zwang::classic_test {
namespace {

constexpr double pi = 3.14159265358979323846;
// Some thousands of steps of rtol 1e-13 on numbers of order 1.
constexpr double integrated = 1e-11;

// --- Off a smooth surface: near the top, errors grow like exp(t sqrt(g curvature)) ---

TEST(Classic, ThePointLeavesTheSphereAtTheCosineTwoThirdsAndALittle) {
  const StudyRun run(config("sphere_slide"));
  expect_sound(run);
  const std::vector<Event> releases = run.events(EventKind::release, "sphere");
  ASSERT_EQ(releases.size(), 1u);
  EXPECT_NEAR(releases[0].t, 2.8343330500682914995, integrated);
  EXPECT_NEAR(run.measure("cos_leave"), 0.67, integrated);
  const StudyRun until(sampled(config("sphere_slide"), {releases[0].t}));
  expect_near(until.at(releases[0].t).state.q, {0.74236109811869856628, 0.67}, integrated, "q there");
  expect_near(until.at(releases[0].t).state.v, {0.54841863571545414799, -0.60764874722161651141}, integrated,
              "v there");
  const std::vector<Event> landings = run.events(EventKind::shock, "ground");
  ASSERT_EQ(landings.size(), 1u);
  EXPECT_NEAR(landings[0].t, 4.1526222561566979016, integrated);
  EXPECT_NEAR(run.measure("landing_x"), 1.4653354660001115754, integrated);
}

const char* const off_a_curve = R"toml(
title = "Off a smooth curve"
[[point]]
name = "p"
mass = 1
position = [0, 1]
velocity = [0.05, 0]
[system]
gravity = [0, -1]
[[constraint]]
name = "curve"
require = "p.x^2/4 + p.y^2 >= 1"
[time]
end = 8
samples = 2
[measure]
x = "at(release(curve), p.x)"
y = "at(release(curve), p.y)"
x_rate = "at(release(curve), p.x')"
y_rate = "at(release(curve), p.y')"
)toml";

TEST(Classic, ThePointLeavesTheEllipseAtTheRootOfItsCubic) {
  const StudyRun run(written(off_a_curve));
  expect_sound(run);
  ASSERT_EQ(run.events(EventKind::release).size(), 1u);
  EXPECT_NEAR(run.events(EventKind::release)[0].t, 7.097535892406401057, integrated);
  EXPECT_NEAR(run.measure("x"), 1.703691417257922529, integrated);
  EXPECT_NEAR(run.measure("y"), 0.5237927917511110884, integrated);
}

TEST(Classic, ThePointLeavesTheCatenaryWhereItsCoshHasDoubled) {
  const StudyRun run(
      written(off_a_curve, {"constraint.0.require=p.y >= 1 - cosh(p.x)",
                            "point.0.position=[0.01, \"1 - cosh(0.01)\"]", "point.0.velocity=[0, 0]"}));
  expect_sound(run);
  ASSERT_EQ(run.events(EventKind::release).size(), 1u);
  // Errors grow exp(6) = 400-fold from the start to the release.
  const double grown = 10 * integrated;
  EXPECT_NEAR(run.events(EventKind::release)[0].t, 5.988045403579367343, grown);
  EXPECT_NEAR(run.measure("x"), 1.317015630508425748, integrated);
  EXPECT_NEAR(run.measure("x_rate"), 0.7070891040325994921, integrated);
  EXPECT_NEAR(run.measure("y_rate"), -1.224795901279764981, integrated);
}

// --- Bouncing ---

TEST(Classic, TheBouncingBallComesToRestWhereTheGeometricSeriesEnds) {
  const double impacts[] = {0.45152364098573090445, 1.1739614665629003516, 1.7519117270246359093,
                            2.2142719353940243554,  2.5841601020895351124, 2.8800706354459437179,
                            3.1167990621310706023};
  const double heights[] = {0.64, 0.4096, 0.262144, 0.16777216, 0.1073741824};
  std::vector<double> times(std::size(heights));
  for (std::size_t k = 0; k < times.size(); ++k) times[k] = (impacts[k] + impacts[k + 1]) / 2;
  times.push_back(5);
  const StudyRun run(sampled(config("bouncing_ball"), times));
  expect_sound(run);
  const std::vector<Event> shocks = run.events(EventKind::shock);
  ASSERT_GE(shocks.size(), std::size(impacts));
  for (std::size_t k = 0; k < std::size(impacts); ++k) EXPECT_NEAR(shocks[k].t, impacts[k], integrated);
  for (std::size_t k = 0; k < std::size(heights); ++k) {
    EXPECT_NEAR(run.position("ball.x", times[k]), heights[k], integrated);
    EXPECT_NEAR(run.velocity("ball.x", times[k]), 0, integrated);
  }
  ASSERT_EQ(run.events(EventKind::accumulation).size(), 1u);
  EXPECT_NEAR(run.events(EventKind::accumulation)[0].t, 4.0637127688715781401, integrated);
  // The integrand |v| has a kink at every apex, where a step ends; there are some 80 of them.
  EXPECT_NEAR(run.measure("path_length"), 4.5555555555555555556, integrated);
  EXPECT_NEAR(run.position("ball.x", 5), 0, algebra);
  EXPECT_NEAR(run.velocity("ball.x", 5), 0, algebra);
  EXPECT_NEAR(run.multiplier("ground", 5), 9.81, algebra);
}

const char* const ball_on_a_table = R"toml(
title = "A ball on a vibrating table"
[parameters]
A = 0.01
e = 0.8
z0 = 0.3
t0 = 0
om = "20*pi"
[[point]]
name = "ball"
mass = 1
position = ["z0"]
velocity = [0]
[system]
gravity = [-9.81]
[[constraint]]
name = "table"
require = "ball.x >= A*sin(om*(t + t0))"
restitution = "e"
[time]
end = 2.5
samples = 2
)toml";

TEST(Classic, ABallOnAVibratingTableHitsItSixTimesAsForetold) {
  struct Impact {
    double t, z, v_minus, v_plus;
  };
  const Impact known[] = {
      {0.2463779615031581851, 0.002256199919614427823, -2.416967802345981796, 0.8317625974677956193},
      {0.4109060555735946986, 0.006328648012967280377, -0.7822580053631865777, 1.501476460487219605},
      {0.7156768402107252237, 0.008332748109169287141, -1.488324936803030846, 1.815928763642892215},
      {1.092773202576722924, -0.004386295035233228407, -1.883386551167545226, 2.523078794380947890},
      {1.604340782375099091, 0.002693705869566184054, -2.495399163441122309, 3.085488061967644596},
      {2.231262898113790752, 0.009235690977626147029, -3.064617893428920600, 2.018042905206151675},
  };
  const StudyRun run(written(ball_on_a_table));
  expect_sound(run);
  const std::vector<Event> shocks = run.events(EventKind::shock);
  ASSERT_EQ(shocks.size(), std::size(known));
  // An error of the impact's time grows (1 + e) A om^2/g = 7.24-fold per bounce; the velocity's is A om^2 =
  // 39.5 times the time's. The first impact is known to some roundings.
  double grown = 16 * std::numeric_limits<double>::epsilon();
  for (std::size_t k = 0; k < std::size(known); ++k) {
    SCOPED_TRACE(k);
    EXPECT_NEAR(shocks[k].t, known[k].t, grown);
    EXPECT_NEAR(0.01 * std::sin(20 * pi * shocks[k].t), known[k].z, grown);
    EXPECT_NEAR(shocks[k].velocity_before(0), known[k].v_minus, 40 * grown);
    EXPECT_NEAR(shocks[k].velocity_after(0), known[k].v_plus, 80 * grown);
    grown *= 7.24;
  }
}

TEST(Classic, ThePeriodOneMotionOnTheTableRepeats) {
  const StudyRun run(written(ball_on_a_table, {"parameters.A=0.003", "parameters.e=0.5",
                                               "parameters.z0=0.01375536368146686128473120",
                                               "parameters.t0=0.05828965168051167626848443"}));
  expect_sound(run);
  const double t0 = 0.05828965168051167626848443;
  const std::vector<Event> shocks = run.events(EventKind::shock);
  ASSERT_EQ(shocks.size(), 25u);  // at 0.05, 0.15, ... 2.45
  // Stable: errors shrink from bounce to bounce.
  const double repeated = 1e-13;
  for (std::size_t k = 0; k < shocks.size(); ++k) {
    EXPECT_NEAR(shocks[k].t + t0, 0.10828965168051167627 + 0.1 * static_cast<double>(k), repeated);
    EXPECT_NEAR(std::fmod(20 * pi * (shocks[k].t + t0), 2 * pi), 0.52085417640627531912, 100 * repeated);
    EXPECT_NEAR(shocks[k].velocity_before(0), -0.4905, 10 * repeated);
    EXPECT_NEAR(shocks[k].velocity_after(0), 0.4905, 10 * repeated);
    EXPECT_NEAR(0.003 * std::sin(20 * pi * (shocks[k].t + t0)), 0.0014928636814668612847, repeated);
  }
}

}  // namespace
}  // namespace zwang::classic_test
