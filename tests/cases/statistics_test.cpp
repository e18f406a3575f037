// Ensembles with distributions known in closed form (the cases tagged "statistics"), and the gain of Sobol points.
//
// Every number is tested by its z-score, its error in standard errors. A correct answer has |z| < 4.5 in all but
// 7 of a million cases; with the 50 or so scores below, a correct program would fail for one seed in 3000. The
// seed is fixed, so a failure here is an error and not chance.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "tests/support/ensemble_study.h"

namespace zwang::statistics_test {
namespace {

constexpr double pi = std::numbers::pi;

constexpr const char* oscillator = R"toml(
[[joint]]
names = ["x0", "v0"]
mean = [1, -0.5]
covariance = [[0.04, -0.02], [-0.02, 0.09]]
[[point]]
name = "p"
mass = 1
position = ["x0"]
velocity = ["v0"]
[system]
potential = "2*p.x^2"
[ensemble]
members = 40000
[time]
at = [1.3]
[measure]
x = "final(p.x)"
v = "final(p.x')"
)toml";

// X-l-linear-gauss-1
TEST(StatisticsCases, ALinearMotionCarriesAGaussianToAGaussian) {
  const EnsembleStudy run(oscillator);
  expect_mean(run.measure("x"), -0.98576409632431329261, "mean of x");
  expect_mean(run.measure("v"), -0.60255836695845485362, "mean of v");

  // For Gaussians the covariance of a sample has the variance (c_ii c_jj + c_ij^2) / n,
  const double expected[2][2] = {{0.044184067431079831035, 0.0060901230490951429590},
                                 {0.0060901230490951429590, 0.073263730275680675861}};
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 2; ++j) {
      const double cross = expected[i][j] * expected[i][j];
      const double error = std::sqrt((expected[i][i] * expected[j][j] + cross) / run.members());
      expect_within(run.covariance(i, j), expected[i][j], error, "covariance");
    }

  // and the fourth central moment has the variance 96 sigma^8 / n.
  const Moments& x = run.measure("x").moments;
  const double second = x.std * x.std * (run.members() - 1) / run.members();
  expect_within((x.kurtosis + 3) * second * second, 0.0058566954442626283782,
                std::sqrt(96 / run.members()) * std::pow(expected[0][0], 2), "fourth moment");
}

// X-l-arcsine: an oscillator of random phase, and a point driven round a circle by its constraint alone.
TEST(StatisticsCases, ARandomPhaseGivesTheArcsineLawAtAllTimes) {
  const EnsembleStudy run(R"toml(
[parameters]
phase = { uniform = [0, "2*pi"] }
angle = { uniform = [0, "2*pi"] }
[[point]]
name = "p"
mass = 1
position = ["cos(phase)"]
velocity = ["-sin(phase)"]
[[point]]
name = "c"
mass = 1
position = ["cos(angle)", "sin(angle)"]
velocity = ["-1.7*sin(angle)", "1.7*cos(angle)"]
[system]
potential = "0.5*p.x^2"
[[constraint]]
name = "circle"
require = "norm(c) == 1"
[ensemble]
members = 20000
[time]
at = [0, 0.7, 5]
[observe]
p2 = "p.x^2"
p4 = "p.x^4"
pa = "abs(p.x)"
ph = "0.5 - 0.5*sign(p.x - 0.5)"
x2 = "c.x^2"
x4 = "c.x^4"
xa = "abs(c.x)"
xh = "0.5 - 0.5*sign(c.x - 0.5)"
yh = "0.5 - 0.5*sign(c.y - 0.5)"
)toml");
  for (std::size_t time = 0; time < 3; ++time) {
    for (const char* name : {"p2", "x2"}) expect_mean(run.observable(name, time), 0.5, name);
    for (const char* name : {"p4", "x4"}) expect_mean(run.observable(name, time), 0.375, name);
    for (const char* name : {"pa", "xa"}) expect_mean(run.observable(name, time), 2 / pi, name);
    for (const char* name : {"ph", "xh", "yh"}) expect_mean(run.observable(name, time), 2.0 / 3, name);
  }
}

// X-l-wall-first-passage: three walls, e = 0, 1/2 and 1, met by three points of the same speed.
TEST(StatisticsCases, AGaussianSpeedMeetsAWall) {
  const EnsembleStudy run(R"toml(
[parameters]
v = { normal = { mean = 0, std = 1 } }
[[point]]
name = "a"
mass = 1
position = [-1]
velocity = ["v"]
[[point]]
name = "b"
mass = 1
position = [-1]
velocity = ["v"]
[[point]]
name = "c"
mass = 1
position = [-1]
velocity = ["v"]
[[constraint]]
name = "dead"
require = "a.x <= 0"
[[constraint]]
name = "half"
require = "b.x <= 0"
restitution = 0.5
[[constraint]]
name = "elastic"
require = "c.x <= 0"
restitution = 1
[ensemble]
members = 40000
[time]
at = [1.482602218505601861, 1.5]
[observe]
hit = "closed(dead)"
a = "a.x"
b = "b.x"
c = "c.x"
energy = "0.5*a.x'^2"
[measure]
first = "first(contact(dead))"
)toml");
  expect_mean(run.observable("hit", 0), 0.25, "a quarter has hit by the quartile of the hitting time");
  expect_mean(run.observable("hit", 1), 0.2524925375469229131, "share that has hit");
  expect_mean(run.observable("a", 1), -1.226679470736605402, "mean place, e = 0");
  expect_mean(run.observable("b", 1), -1.340019206104908103, "mean place, e = 1/2");
  expect_mean(run.observable("c", 1), -1.453358941473210804, "mean place, e = 1");
  expect_mean(run.observable("energy", 1), 0.2672710627190878068, "kinetic energy, e = 0");
  // Members without a hit have no time of a hit.
  const SeriesStatistics& first = run.measure("first");
  EXPECT_EQ(first.moments.count + first.missing, 40000);
  expect_share(first.moments.count, run.members(), 0.2524925375469229131, "members with a hitting time");
}

// X-l-sphere-leave-stat
TEST(StatisticsCases, WhereAPointLeavesASphere) {
  const EnsembleStudy run(R"toml(
[[point]]
name = "p"
mass = 1
position = [0, 1]
velocity = [{ uniform = [0, 1] }, 0]
[system]
gravity = [0, -1]
[[constraint]]
name = "sphere"
require = "norm(p) >= 1"
[ensemble]
members = 10000
[time]
end = 40
samples = 2
stop = "p.y < 0.5"
[measure]
cosine = "at(release(sphere), p.y)"
)toml");
  const SeriesStatistics& cosine = run.measure("cosine");
  EXPECT_EQ(cosine.missing, 0);
  expect_mean(cosine, 7.0 / 9, "mean cosine");
  expect_variance(cosine, 4.0 / 405, "variance of the cosine");
  const auto low = std::count_if(run.measures.begin(), run.measures.end(), [](double x) { return x < 0.75; });
  expect_share(low, run.members(), 0.5, "share below 0.75");
}

// X-l-elastic-bounce-stat
TEST(StatisticsCases, AnElasticBallOfRandomPhase) {
  const EnsembleStudy run(R"toml(
[parameters]
phase = { uniform = ["-sqrt(2)", "sqrt(2)"] }
[[point]]
name = "ball"
mass = 1
position = ["1 - phase^2/2"]
velocity = ["-phase"]
[system]
gravity = [-1]
[[constraint]]
name = "ground"
require = "ball.x >= 0"
restitution = 1
[ensemble]
members = 20000
[time]
at = [0, 1.1, 5]
[observe]
z = "ball.x"
z2 = "ball.x^2"
low = "0.5 - 0.5*sign(ball.x - 0.5)"
[measure]
hits = "count(shock(ground))"
)toml");
  for (std::size_t time = 0; time < 3; ++time) {
    expect_mean(run.observable("z", time), 2.0 / 3, "height");
    expect_mean(run.observable("z2", time), 8.0 / 15, "height squared");
    expect_mean(run.observable("low", time), 1 - std::sqrt(0.5), "share in the lower half");
  }
  expect_mean(run.measure("hits"), 5 / (2 * std::numbers::sqrt2), "hits");
}

// X-l-half-oscillator
TEST(StatisticsCases, AnOscillatorFoldedByAnElasticStopStaysHalfNormal) {
  const EnsembleStudy run(R"toml(
[parameters]
a = { normal = { mean = 0, std = 1 } }
b = { normal = { mean = 0, std = 1 } }
[[point]]
name = "p"
mass = 1
position = ["abs(a)"]
velocity = ["b*sign(a)"]
[system]
potential = "0.5*p.x^2"
[[constraint]]
name = "stop"
require = "p.x >= 0"
restitution = 1
[ensemble]
members = 20000
[time]
at = [0.4, 2, "pi"]
[observe]
x = "p.x"
x2 = "p.x^2"
near = "0.5 - 0.5*sign(p.x - 1)"
[measure]
impacts = "count(shock(stop))"
)toml");
  for (std::size_t time = 0; time < 3; ++time) {
    expect_mean(run.observable("x", time), std::sqrt(2 / pi), "x");
    expect_mean(run.observable("x2", time), 1, "x squared");
    expect_mean(run.observable("near", time), 0.68268949213708589717, "share up to 1");
  }
  // Exact: every member meets the stop once in half a period.
  EXPECT_EQ(run.measure("impacts").moments.minimum, 1);
  EXPECT_EQ(run.measure("impacts").moments.maximum, 1);
}

// X-l-box-collisions
TEST(StatisticsCases, APointInABoxStaysUniformAndHitsAtAKnownRate) {
  const EnsembleStudy run(R"toml(
[[point]]
name = "p"
mass = 1
position = [{ uniform = [0, 1] }]
velocity = [{ normal = { mean = 0, std = 1 } }]
[[constraint]]
name = "left"
require = "p.x >= 0"
restitution = 1
[[constraint]]
name = "right"
require = "p.x <= 1"
restitution = 1
[ensemble]
members = 20000
[time]
at = [5]
[observe]
x = "p.x"
[measure]
left = "count(shock(left))"
right = "count(shock(right))"
)toml");
  const double hits = run.measure("left").moments.mean + run.measure("right").moments.mean;
  const double variance = run.covariance(0, 0) + 2 * run.covariance(0, 1) + run.covariance(1, 1);
  expect_within(hits, 5 * std::sqrt(2 / pi), std::sqrt(variance / run.members()), "hits");
  expect_mean(run.observable("x", 0), 0.5, "place");
  expect_variance(run.observable("x", 0), 1.0 / 12, "variance of the place");
}

// X-l-elastic-inversions: late enough for all collisions, except in one member of a billion.
TEST(StatisticsCases, EqualBallsCollideAsOftenAsTheirSpeedsAreInverted) {
  std::string text;
  const std::size_t balls = 6;
  for (std::size_t i = 0; i < balls; ++i)
    text += "[[point]]\nname = \"b" + std::to_string(i) + "\"\nmass = 1\nposition = [" + std::to_string(i) +
            "]\nvelocity = [{ normal = { mean = 0, std = 1 } }]\n";
  for (std::size_t i = 0; i + 1 < balls; ++i)
    text += "[[constraint]]\nname = \"c" + std::to_string(i) + "\"\nrequire = \"b" + std::to_string(i) +
            ".x <= b" + std::to_string(i + 1) + ".x\"\nrestitution = 1\n";
  text += "[ensemble]\nmembers = 20000\n[time]\nat = [1e10]\n[measure]\n";
  for (std::size_t i = 0; i + 1 < balls; ++i)
    text += "n" + std::to_string(i) + " = \"count(shock(c" + std::to_string(i) + "))\"\n";
  const EnsembleStudy run(text);

  const std::size_t pairs = balls - 1, state = 2 * balls;
  double mean = 0, variance = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    mean += run.result.statistics.measures[i].moments.mean;
    for (std::size_t j = 0; j < pairs; ++j) variance += run.covariance(i, j);
  }
  std::vector<long long> collisions(16, 0);
  double fourth = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(run.study.ensemble.members); ++k) {
    const auto first = run.measures.begin() + static_cast<std::ptrdiff_t>(k * pairs);
    const double count = std::accumulate(first, first + static_cast<std::ptrdiff_t>(pairs), 0.0);
    ASSERT_LE(count, 15);
    ++collisions[static_cast<std::size_t>(count)];
    fourth += std::pow(count - 7.5, 4) / run.members();
    const double* v = run.ends.data() + k * state + balls;
    EXPECT_TRUE(std::is_sorted(v, v + balls)) << "member " << k;
  }
  expect_within(mean, 7.5, std::sqrt(85.0 / 12 / run.members()), "mean");
  expect_within(variance, 85.0 / 12, std::sqrt((fourth - variance * variance) / run.members()), "variance");
  expect_share(collisions[0], run.members(), 1.0 / 720, "no collision");
  expect_share(collisions[15], run.members(), 1.0 / 720, "every collision");
  expect_share(collisions[7], run.members(), 101.0 / 720, "seven collisions");
}

// X-f-sinai-mfp: uniform outside the disk by rejection, so that collisions come at a steady rate from the
// start.
TEST(StatisticsCases, TheMeanFreePathAmongDisks) {
  for (const auto& [radius, path] :
       {std::pair(0.2, 2.1858407346410206762), {0.3, 1.1954277686281976809}, {0.4, 0.62168146928204135231}}) {
    const EnsembleStudy run(R"toml(
[parameters]
R = 0.2
angle = { uniform = [0, "2*pi"] }
[[point]]
name = "p"
mass = 1
position = [{ uniform = [-0.5, 0.5] }, { uniform = [-0.5, 0.5] }]
velocity = ["cos(angle)", "sin(angle)"]
[[constraint]]
name = "disk"
require = "wrap(p.x, 1)^2 + wrap(p.y, 1)^2 >= R^2"
restitution = 1
[ensemble]
members = 3000
consistency = "reject"
[time]
at = [5]
[measure]
hits = "count(shock(disk))"
)toml",
                            {"parameters.R=" + std::to_string(radius)});
    expect_mean(run.measure("hits"), 5 / path, "hits");
    // Draws are rejected with the probability pi R^2, so the number of extra draws is geometric.
    const double p = 1 - pi * radius * radius;
    expect_within(static_cast<double>(run.result.tally.redrawn) / run.members(), (1 - p) / p,
                  std::sqrt((1 - p) / (p * p) / run.members()), "draws rejected");
  }
}

// The error of a mean of 2^14 members, over independent scramblings: random points have the error theory
// predicts, Sobol points a far smaller one, and the standard error reported for them is neither too small nor
// too large.
TEST(Sobol, BeatsRandomPointsTenfoldInVarianceOnASmoothMeasure) {
  constexpr long long members = 1 << 14;
  constexpr double exact = -0.98576409632431329261, variance = 0.044184067431079831035;
  constexpr int seeds = 6;
  const Overrides size = {"ensemble.members=" + std::to_string(members)};
  double random = 0, sobol = 0, score = 0;
  for (int seed = 1; seed <= seeds; ++seed)
    for (const char* sampler : {"random", "sobol"}) {
      Overrides overrides = size;
      overrides.push_back(std::string("ensemble.sampler=") + sampler);
      overrides.push_back("ensemble.seed=" + std::to_string(seed));
      const EnsembleStudy run(oscillator, overrides);
      const SeriesStatistics& x = run.measure("x");
      const double error = x.moments.mean - exact;
      (std::string(sampler) == "sobol" ? sobol : random) += error * error / seeds;
      if (std::string(sampler) == "sobol") score += std::pow(error / x.standard_error, 2) / seeds;
    }
  EXPECT_GT(random, 10 * sobol);
  EXPECT_GT(variance / static_cast<double>(members), 10 * sobol);
  RecordProperty("gain", std::to_string(random / sobol));
  // The mean of six squared z-scores (Student, 15 degrees) lies between these but for one seed in a thousand.
  EXPECT_GT(score, 0.05);
  EXPECT_LT(score, 6);
  std::printf("variance: random %.3g, Sobol %.3g; mean squared z of Sobol %.2f\n", random, sobol, score);
}

}  // namespace
}  // namespace zwang::statistics_test
