// Known answers about sequences of recorded states, by the reference and by the kernels.
#include <gtest/gtest.h>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numbers>
#include "host/backend/member_bytes.h"
#include "host/backend/record_rows.h"
#include "host/platform/buffer_pool.h"
#include "host/results/labels.h"
#include "host/results/record_histograms.h"
#include "host/run/backend_factory.h"
#include "host/run/ensemble_plan.h"
#include "host/run/run.h"
#include "host/sample/sampler.h"
#include "host/study_file/load_study.h"
#include "src/base/error.h"
#include "src/system/system.h"
#include "tests/support/answer_cases.h"
#include "tests/support/ensemble_study.h"
#include "tests/support/scratch.h"

namespace zwang::answer_sequences_test {
namespace {

// --- Sequences ---------------------------------------------------------------------------------------------

// C-table: take-off speed pi at the phase acos(pi (1 - e)/((1 + e) Gamma)) of each period.
TEST_P(AnswerOnBackend, ABallOnAShakenTableHasItsOrbits) {
  const std::string table = R"toml(title = "Ball on a shaken table"
[parameters]
Gamma = 1.2
e = 0.5
[[coordinate]]
name = "z"
position = "2.0585768255549091216"
velocity = "-2.6314290450464884556"
[system]
kinetic = "0.5*z'^2"
potential = "z"
[[constraint]]
name = "table"
require = "z >= Gamma*sin(t)"
restitution = "e"
[time]
end = "200*pi"
[[record]]
name = "hits"
at = "shock(table)"
values = { v = "z'", phase = "wrap(t - pi, 2*pi)" }
skip = 40
most = 48
[measure]
p = "period(hits, 1e-5)"
v = "last(hits.v)"
phase = "last(hits.phase)"
spread = "maximum(hits.phase) - minimum(hits.phase)"
)toml";
  // Flights are parabolas, impacts are located to contact_tolerance = 1e-12, and a stable orbit forgets errors.
  constexpr double located = 1e-10;
  struct Case {
    double gamma, period, phase;  // phase 0: the orbit of one impact a period is unstable
  };
  for (const Case& one : {Case{1.2, 1, 0.51016360854330478}, Case{1.35, 1, 0.68296982094233587},
                          Case{1.5, 1, std::acos(std::numbers::pi / 3 / 1.5)}, Case{1.6, 2, 0}}) {
    // On the orbit at t = 0: a time tau after the last take-off, at the phase before.
    std::vector<std::string> overrides = {"parameters.Gamma=" + number_text(one.gamma)};
    const double tau = 2 * std::numbers::pi - one.phase;
    const double position = one.gamma * std::sin(one.phase) + std::numbers::pi * tau - tau * tau / 2;
    if (one.phase > 0) {
      overrides.push_back("coordinate.0.position=" + number_text(position));
      overrides.push_back("coordinate.0.velocity=" + number_text(std::numbers::pi - tau));
    }
    const RunResult found = run(read_study(table, "case.toml", overrides));
    const auto measure = [&](std::size_t m) { return found.statistics.measures[m].moments.mean; };
    EXPECT_EQ(measure(0), one.period) << one.gamma;
    if (one.phase == 0) continue;
    EXPECT_NEAR(measure(1), std::numbers::pi, located) << one.gamma;
    EXPECT_NEAR(measure(2) + std::numbers::pi, one.phase, located) << one.gamma;
    EXPECT_NEAR(measure(3), 0, located) << one.gamma;
  }
}

const std::string two_sinks = R"toml(title = "Two sinks"
[parameters]
s0 = { sweep = { values = [-1, -0.9, -0.8, -0.7, -0.6, -0.5, -0.4, -0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6,
  0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 2.7, 2.8, 2.9, 3] } }
[[coordinate]]
name = "x"
position = 0
[[auxiliary]]
name = "s"
initial = "s0"
rate = "s - s^3"
[system]
kinetic = "0.5*x'^2"
[time]
end = 30
[[record]]
name = "tail"
every = 1
from = 20
values = { s = "s" }
most = 9
[measure]
p     = "period(tail, 1e-6)"
which = "label(tail, 1e-3)"
ended = "last(tail.s)"
[statistics]
histogram."tail.s" = { bins = 3, range = [-1.5, 1.5] }
)toml";

// C-basins: three labels in the order of their first member, and the pooled values of the record.
TEST_P(AnswerOnBackend, BasinsOfTwoSinksAndTheirSaddle) {
  const RunResult found = run_with_records(read_study(two_sinks, "case.toml")).result;
  const std::map<double, double> sinks = {{1, -1}, {2, 0}, {3, 1}};
  ASSERT_EQ(found.points.size(), 41U);
  for (const StatisticsResult& point : found.points) {
    EXPECT_EQ(point.measures[0].moments.mean, 1);
    EXPECT_NEAR(point.measures[2].moments.mean, sinks.at(point.measures[1].moments.mean), 1e-8);
  }
  ASSERT_EQ(found.labels.size(), 1U);
  EXPECT_EQ(found.labels[0].of, 41);
  EXPECT_EQ(found.labels[0].members[0], 0);
  EXPECT_EQ(found.labels[0].members[1], 10);
  EXPECT_EQ(found.labels[0].members[2], 1);
  EXPECT_EQ(found.labels[0].members[3], 30);

  ASSERT_EQ(found.record_histograms.size(), 1U);
  EXPECT_EQ(found.record_histograms[0].name, "tail.s");
  std::array<long long, 3> pooled{};
  for (const RecordHistogram::Counts& counts : found.record_histograms[0].points) {
    EXPECT_EQ(counts.below + counts.above, 0);
    for (std::size_t k = 0; k < 3; ++k) pooled[k] += counts.bins[k];
  }
  EXPECT_EQ(pooled, (std::array<long long, 3>{90, 9, 270}));
}

// Formulas with labels are evaluated once all members have ended.
TEST_P(AnswerOnBackend, LabelsCombineWithOtherReductionsAndParameters) {
  const Study study = read_study(
      two_sinks + R"toml([[given]]
name = "right"
when = "which >= 3 and s0 < 1"
)toml",
      "case.toml",
      {"measure.second=\"probability(which >= 2)\"", "measure.mixed=\"label(tail, 1e-3)*final(s) + s0\""});
  const RunResult found = run_with_records(study).result;
  for (std::size_t p = 0; p < 41; ++p) {
    const std::vector<SeriesStatistics>& measures = found.points[p].measures;
    const double label = p < 10 ? 1 : p == 10 ? 2 : 3, start = study.sweeps[0].values[p];
    EXPECT_EQ(measures[1].moments.mean, label);
    EXPECT_EQ(measures[3].moments.mean, label >= 2 ? 1 : 0);
    EXPECT_NEAR(measures[4].moments.mean, label * (label - 2) + start, label * 1e-8) << p;  // s to 1e-8
    EXPECT_EQ(found.points[p].givens[0].share.hits, label == 3 && start < 1 ? 1 : 0) << p;
  }
}

TEST_P(AnswerOnBackend, AnAuxiliaryStateFollowsItsClosedForm) {
  const RunResult found =
      run(read_study(two_sinks, "case.toml",
                     {"parameters.s0=2.5", "time.end=3", "record.0.from=0", "measure.ended=\"final(s)\""}));
  EXPECT_NEAR(found.statistics.measures[2].moments.mean, 1.0010427044988344, 1e-8);
}

// C-grazing: the steady motion touches the stop at A = 0.19338. Starts beyond the stop are moved onto it.
TEST_P(AnswerOnBackend, ImpactsBeginWhereTheSteadyMotionGrazes) {
  const Study study = read_study(R"toml(title = "Impact oscillator"
[parameters]
zeta = 0.02
omega = 0.9
A = { sweep = [0.185, 0.205, 21] }
e = 0.8
[[coordinate]]
name = "x"
position = "A*5.0807573002460156166"
velocity = "A*0.86640282383142582094"
[system]
kinetic = "0.5*x'^2"
potential = "0.5*x^2"
[system.force]
x = "-2*zeta*x' + A*cos(omega*t)"
[[constraint]]
name = "stopper"
require = "x <= 1"
restitution = "e"
[ensemble]
consistency = "project"
[time]
end = "200"
[measure]
hits = "count(shock(stopper))"
)toml",
                                 "case.toml");
  const RunResult found = run(study);
  for (std::size_t i = 0; i < 21; ++i) {
    const double hits = found.points[i].measures[0].moments.mean, amplitude = study.sweeps[0].values[i];
    if (amplitude < 0.19338045402780499)
      EXPECT_EQ(hits, 0) << amplitude;
    else
      EXPECT_GE(hits, 1) << amplitude;
  }
}

}  // namespace
}  // namespace zwang::answer_sequences_test
