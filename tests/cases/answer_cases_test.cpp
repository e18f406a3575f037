// Known answers about probabilities, sweeps and sensitivity, by the reference and by the kernels.
// The members of the sizes in the statements take the reference minutes: it has fewer in the default tier.
#include "tests/support/answer_cases.h"
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
#include "tests/support/ensemble_study.h"
#include "tests/support/scratch.h"

namespace zwang::answer_cases_test {
namespace {

// --- Probability -------------------------------------------------------------------------------------------

// A-wilson
TEST_P(AnswerOnBackend, WilsonsIntervalHoldsForEveryCount) {
  struct Case {
    std::size_t hits, of;
    double low, high;
  };
  for (const Case& one :
       {Case{0, 10, 0.0, 0.27753279986288925}, Case{10, 10, 0.72246720013711075, 1.0},
        Case{1, 20000, 8.8262822729748496e-6, 0.00028319057022604026},
        Case{20, 20000, 0.00064746604642727322, 0.0015441859375651431},
        Case{839, 20000, 0.039258446985889066, 0.044817477245108382},
        Case{512, 1024, 0.46943284426047429, 0.53056715573952571}, Case{0, 1, 0.0, 0.79345068562276261}}) {
    if (one.of > 2000 && GetParam().divisor > 1) continue;
    std::vector<double> bits(one.of, 0.0);
    std::fill_n(bits.begin(), one.hits, 1.0);
    const Scratch folder;
    const Study study = study_with_column(folder, "bits.csv", "b", bits, R"toml(title = "Wilson"
[parameters]
b = { file = "bits.csv", column = "b" }
[[coordinate]]
name = "x"
position = "b"
[system]
kinetic = "0.5*x'^2"
[time]
end = 1
[measure]
yes   = "probability(final(x) > 0.5)"
plain = "final(x)"
[ensemble]
members = )toml" + std::to_string(one.of) + "\n");
    const RunResult found = run(study);
    for (const SeriesStatistics& series : found.statistics.measures) {
      ASSERT_TRUE(series.probability);
      EXPECT_EQ(series.probability->hits, static_cast<long long>(one.hits));
      EXPECT_EQ(series.probability->of, static_cast<long long>(one.of));
      EXPECT_NEAR(series.probability->low, one.low, 1e-12 * one.low);
      EXPECT_NEAR(series.probability->high, one.high, 1e-12 * one.high);
    }
  }
}

// A-exceedance
TEST_P(AnswerOnBackend, AnExceedanceCurveCountsStrictlyAbove) {
  const Scratch folder;
  const Study study =
      study_with_column(folder, "values.csv", "b", {3, 1, 4, 1, 5, 9, 2, 6, 5, 3}, R"toml(title = "Exceedance"
[parameters]
b = { file = "values.csv", column = "b" }
[[coordinate]]
name = "x"
position = "b"
[system]
kinetic = "0.5*x'^2"
[ensemble]
members = 10
[time]
end = 1
[measure]
m = "final(x)"
[statistics]
exceedance.m = { at = [0, 1, 2.5, 3, 5, 8.75, 9] }
)toml");
  const ExceedanceResult found = run(study).statistics.exceedances.at(0);
  const long long hits[] = {10, 8, 7, 5, 2, 1, 0};
  const double low[] = {0.72246720013711075,
                        0.4901624715366417,
                        0.39677814746114532,
                        0.23659309051256398,
                        0.056682151454375255,
                        0.017876213095072904,
                        0.0};
  const double high[] = {1.0,
                         0.94331784854562475,
                         0.89220873259369898,
                         0.76340690948743602,
                         0.5098375284633583,
                         0.4041500267952385,
                         0.27753279986288925};
  ASSERT_EQ(found.above.size(), 7U);
  for (std::size_t k = 0; k < 7; ++k) {
    EXPECT_EQ(found.above[k].hits, hits[k]);
    EXPECT_EQ(found.above[k].of, 10);
    EXPECT_NEAR(found.above[k].low, low[k], 1e-12);
    EXPECT_NEAR(found.above[k].high, high[k], 1e-12);
  }
}

// A-first-passage
TEST_P(AnswerOnBackend, AWallThatHalfOfTheMembersNeverMeet) {
  const Study study = read_study(R"toml(title = "A wall that half of the members never meet"
[parameters]
v0 = { normal = { mean = 0, std = 1 } }
[[coordinate]]
name = "x"
position = -1
velocity = "v0"
[system]
kinetic = "0.5*x'^2"
[[constraint]]
name = "wall"
require = "x <= 0"
restitution = 1
[ensemble]
members = 100000
[time]
end = 1.5
[measure]
when   = "first(shock(wall))"
early  = "probability(first(shock(wall)) <= 1.5)"
never  = "probability(not first(shock(wall)) <= 1.5)"
middle = "probability(when > 0.75 and when <= 1.5)"
hits   = "count(shock(wall))"
[[given]]
name = "hit"
when = "hits > 0"
)toml",
                                 "case.toml", {number_of_members("ensemble.members", 100'000)});
  const RunResult found = run(study);
  const auto hits = [&](std::size_t m) { return found.statistics.measures[m].probability->hits; };
  const auto n = static_cast<double>(study.ensemble.members);
  expect_share(hits(1), n, 0.25249253754692291, "early");
  expect_share(hits(2), n, 0.74750746245307709, "never");
  expect_share(hits(3), n, 0.16128131782105504, "middle");
  EXPECT_EQ(hits(1) + hits(2), study.ensemble.members);
  const GivenResult& hit = found.statistics.givens[0];
  EXPECT_EQ(hit.share.hits, hits(1));
  expect_mean(hit.inputs[0], 1.2651780073420442, "mean of v0 given a hit");
  expect_variance(hit.inputs[0], std::pow(0.49272366964933851, 2), "variance of v0 given a hit");
}

// --- Sweeps ------------------------------------------------------------------------------------------------

// B-oscillator-passage: P(max > c) = exp(-c^2/2); with common draws the counts never increase.
TEST_P(AnswerOnBackend, TheChanceOfPassingALevelFallsAlongTheSweep) {
  // Nine points: a fifth of the members of other statements for the reference.
  const long long each = GetParam().divisor > 1 ? 200 : 20'000;
  const Study study = read_study(R"toml(title = "Does the oscillation exceed c?"
[parameters]
c = { sweep = [0, 4, 9] }
a = { normal = { mean = 0, std = 1 } }
b = { normal = { mean = 0, std = 1 } }
[[coordinate]]
name = "x"
position = "a"
velocity = "b"
[system]
kinetic = "0.5*x'^2"
potential = "0.5*x^2"
[ensemble]
members_per_point = 20000
[time]
end = "2*pi"
[measure]
over = "probability(maximum(x) > c)"
)toml",
                                 "case.toml", {"ensemble.members_per_point=" + std::to_string(each)});
  const RunResult found = run(study);
  const double expected[] = {1.0,
                             0.8824969025845954,
                             0.60653065971263342,
                             0.32465246735834973,
                             0.13533528323661269,
                             0.043936933623407417,
                             0.011108996538242306,
                             0.0021874911181828851,
                             0.00033546262790251184};
  long long before = each;
  for (std::size_t i = 0; i < 9; ++i) {
    const Proportion& share = *found.points[i].measures[0].probability;
    const double p = expected[i], n = static_cast<double>(each);
    EXPECT_NEAR(share.share(), p, alarm * std::sqrt(p * (1 - p) / n) + 1e-12) << i;
    EXPECT_LE(share.hits, before) << i;
    before = share.hits;
  }
}

const std::string bounces = R"toml(title = "Bounces against restitution"
[parameters]
e = { sweep = { from = 0.6, to = 0.95, count = 8 } }
h = { uniform = [0.9, 1.1] }
[[coordinate]]
name = "z"
position = "h"
[system]
kinetic = "0.5*z'^2"
potential = "9.81*z"
[[constraint]]
name = "floor"
require = "z >= 0"
restitution = "e"
[ensemble]
members_per_point = 4000
[time]
end = 1.7
[measure]
bounces = "count(shock(floor))"
)toml";

// B-bounces (i)
TEST_P(AnswerOnBackend, BouncesAgainstRestitutionAreWholeNumbers) {
  const RunResult found =
      run(read_study(bounces, "case.toml", {"parameters.h=1", "ensemble.members_per_point=1"}));
  const double expected[] = {5, 4, 3, 3, 2, 2, 2, 2};
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(found.points[i].measures[0].moments.mean, expected[i]) << i;
}

// B-bounces (ii)
TEST_P(AnswerOnBackend, BouncesFromRandomHeightsHaveTheirMean) {
  const RunResult found =
      run(read_study(bounces, "case.toml", {number_of_members("ensemble.members_per_point", 4000)}));
  const double expected[] = {
      5.8529220781766006, 3.6934301493843675, 3.0, 2.8937502972651605, 2.2080753799553619, 2.0, 2.0, 2.0};
  for (std::size_t i = 0; i < 8; ++i) {
    const SeriesStatistics& count = found.points[i].measures[0];
    EXPECT_LE(std::abs(count.moments.mean - expected[i]), alarm * count.standard_error) << i;
  }
}

// B-log-sweep
TEST_P(AnswerOnBackend, ALogSweepOfDampingHasItsClosedForm) {
  const Scratch folder;
  const Study study = study_with_column(folder, "v.csv", "v", {1, 2, 3, 4}, R"toml(title = "Damping"
[parameters]
c  = { sweep = { from = 0.1, to = 10, count = 5, scale = "log" } }
v0 = { file = "v.csv", column = "v" }
[[coordinate]]
name = "x"
position = 0
velocity = "v0"
[system]
kinetic = "0.5*x'^2"
[system.force]
x = "-c*x'"
[ensemble]
members_per_point = 4
[time]
end = 2
[measure]
far = "final(x)"
)toml");
  const std::vector<double>& values = study.sweeps.at(0).values;
  EXPECT_EQ(values.front(), 0.1);
  EXPECT_EQ(values.back(), 10);
  const RunResult found = run(study);
  const double expected[] = {4.5317311730504535, 3.7055126180956143, 2.1616617919084683, 0.78915290214659682,
                             0.24999999948471159};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(values[i] / std::pow(10.0, -1 + static_cast<double>(i) / 2), 1, 1e-15);
    EXPECT_NEAR(found.points[i].measures[0].moments.mean / expected[i], 1, 1e-8) << i;
  }
}

// --- Sensitivity -------------------------------------------------------------------------------------------

void expect_indices(const PickFreezeResult& found, const std::vector<double>& first,
                    const std::vector<double>& total) {
  for (std::size_t i = 0; i < first.size(); ++i) {
    expect_within(found.inputs[i].first, first[i], found.inputs[i].first_stderr, "first order");
    expect_within(found.inputs[i].total, total[i], found.inputs[i].total_stderr, "total");
  }
}

// D-linear
TEST_P(AnswerOnBackend, IndicesOfALinearMotionAreSharesOfTheVariance) {
  const Study study = read_study(R"toml(title = "Linear"
[parameters]
x0 = { normal = { mean = 1, std = 0.2 } }
v0 = { normal = { mean = 0, std = 0.3 } }
a  = { uniform = [-0.1, 0.1] }
[[coordinate]]
name = "x"
position = "x0"
velocity = "v0"
[system]
kinetic = "0.5*x'^2"
[system.force]
x = "a"
[time]
end = 3
[measure]
far = "final(x)"
[sensitivity]
base = 4096
of = ["far"]
)toml",
                                 "case.toml", {number_of_members("sensitivity.base", 4096)});
  const RunResult found = run(study);
  const std::vector<double> shares = {0.043596730245231608, 0.88283378746594005, 0.073569482288828338};
  EXPECT_EQ(found.tally.members, members(4096) * 5);
  expect_indices(found.statistics.pick_freeze[0], shares, shares);
}

// D-ishigami
TEST_P(AnswerOnBackend, IndicesOfIshigamisFunction) {
  const Study study = read_study(R"toml(title = "Ishigami"
[parameters]
a = { uniform = ["-pi", "pi"] }
b = { uniform = ["-pi", "pi"] }
c = { uniform = ["-pi", "pi"] }
[[coordinate]]
name = "x"
position = 0
[system]
kinetic = "0.5*x'^2"
[time]
end = 1
[measure]
y = "final(sin(a) + 7*sin(b)^2 + 0.1*c^4*sin(a))"
[sensitivity]
base = 16384
)toml",
                                 "case.toml", {number_of_members("sensitivity.base", 16'384)});
  const PickFreezeResult found = run(study).statistics.pick_freeze[0];
  expect_indices(found, {0.31390519114781145, 0.44241114479004081, 0.0},
                 {0.55758885520995919, 0.44241114479004081, 0.24368366406214773});
}

const auto case_name = [](const testing::TestParamInfo<CaseRun>& given) {
  return std::string(given.param.name);
};

INSTANTIATE_TEST_SUITE_P(Cases, AnswerOnBackend,
                         testing::Values(CaseRun{"reference", "reference", 64}, CaseRun{"cpu", "cpu", 1}),
                         case_name);
// The sizes of the statements by the reference: minutes, in the long tier.
INSTANTIATE_TEST_SUITE_P(WholeCases, AnswerOnBackend, testing::Values(CaseRun{"reference", "reference", 1}),
                         case_name);

}  // namespace
}  // namespace zwang::answer_cases_test
