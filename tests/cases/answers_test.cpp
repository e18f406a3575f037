// Probabilities, exceedance, members with a condition, and sensitivity, with answers known in closed form.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "host/run/backend_factory.h"
#include "host/run/run.h"
#include "host/study_file/load_study.h"
#include "tests/support/ensemble_study.h"
#include "tests/support/scratch.h"

namespace zwang::answers_test {
namespace {

RunResult run_by(const std::string& backend_name, const Study& study, RunOptions options = {.threads = 2}) {
  const auto backend = make_backend(backend_name, study, {.threads = 2});
  return run_ensemble(study, *backend, std::move(options));
}

constexpr const char* wall = R"toml(
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
samples = 2
[measure]
when   = "first(shock(wall))"
early  = "probability(first(shock(wall)) <= 1.5)"
never  = "probability(not first(shock(wall)) <= 1.5)"
middle = "probability(when > 0.75 and when <= 1.5)"
hits   = "count(shock(wall))"
span   = "maximum(x) - minimum(x)"
later  = "min(when, 1) + 0*when"
[[given]]
name = "hit"
when = "hits > 0"
)toml";

// A-first-passage
TEST(AnswerCases, AComparisonWithATimeThatNeverCameIsFalse) {
  const EnsembleStudy run(wall);
  const auto share = [&](const char* name) { return *run.measure(name).probability; };
  expect_share(share("early").hits, run.members(), 0.25249253754692291, "early");
  expect_share(share("never").hits, run.members(), 0.74750746245307709, "never");
  expect_share(share("middle").hits, run.members(), 0.16128131782105504, "middle");
  EXPECT_EQ(share("early").hits + share("never").hits, 100'000);
  EXPECT_EQ(run.measure("early").undecided, share("never").hits);
  EXPECT_EQ(run.measure("when").occurs->hits, share("early").hits);
  // Missing operands make a result missing, also where the arithmetic would lose them.
  EXPECT_EQ(run.measure("later").missing, share("never").hits);

  const GivenResult& hit = run.result.statistics.givens[0];
  EXPECT_EQ(hit.share.hits, share("early").hits);
  EXPECT_EQ(hit.share.of, 100'000);
  expect_mean(hit.inputs[0], 1.2651780073420442, "mean of v0 given a hit");
  expect_variance(hit.inputs[0], std::pow(0.49272366964933851, 2), "variance of v0 given a hit");
}

TEST(AnswerCases, ObservablesOfSomeMembersAreRefusedBeyondTheMemory) {
  std::string text = wall;
  text.replace(text.find("[[given]]"), 9, "[observe]\nx = \"x\"\n[[given]]\nobservables = true");
  const Study study = read_study(text, "written.toml");
  const auto backend = make_backend("reference", study, {.threads = 1});
  const auto message = [&](std::size_t memory) -> std::string {
    try {
      EnsembleRun(study, *backend, {.threads = 1, .statistics_memory = memory});
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  // Two output times of one observable, of all members and of those selected.
  EXPECT_NE(message(1 << 20).find("4e+05 numbers, 3.05 MiB; the statistics have 1 MiB"), std::string::npos)
      << message(1 << 20);
  EXPECT_EQ(message(64 << 20), "");
}

TEST(AnswerCases, GiveTheSameBitsForBatchesThreadsAndBackends) {
  const Study study = read_study(wall, "written.toml", {"ensemble.members=3000"});
  const RunResult cpu = run_by("cpu", study), other = run_by("cpu", study, {.threads = 1, .batch = 333});
  const RunResult reference = run_by("reference", study);
  for (std::size_t m = 0; m < study.system->measures.size(); ++m) {
    const SeriesStatistics &a = cpu.statistics.measures[m], &b = other.statistics.measures[m],
                           &c = reference.statistics.measures[m];
    EXPECT_EQ(a.moments.mean, b.moments.mean);
    EXPECT_EQ(a.moments.count, c.moments.count);
    EXPECT_NEAR(a.moments.mean, c.moments.mean, 1e-8 * std::abs(c.moments.mean));
    ASSERT_EQ(a.probability.has_value(), c.probability.has_value());
    if (a.probability) {
      EXPECT_EQ(a.probability->hits, c.probability->hits);
    }
  }
  EXPECT_EQ(cpu.statistics.givens[0].inputs[0].moments.mean,
            other.statistics.givens[0].inputs[0].moments.mean);
}

constexpr const char* linear = R"toml(
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
samples = 2
[measure]
far = "final(x)"
)toml";

std::string with_sensitivity(int base) {
  return std::string(linear) + "[sensitivity]\nof = [\"far\"]\nbase = " + std::to_string(base) + "\n";
}

// D-linear
TEST(AnswerCases, SobolIndicesOfALinearMotionAreSharesOfTheVariance) {
  const EnsembleStudy run(with_sensitivity(4096));
  EXPECT_EQ(run.result.tally.members, 20'480);
  EXPECT_EQ(run.result.requested, 20'480);
  const PickFreezeResult& found = run.result.statistics.pick_freeze[0];
  const double expected[] = {0.043596730245231608, 0.88283378746594005, 0.073569482288828338};
  for (std::size_t i = 0; i < 3; ++i) {
    expect_within(found.inputs[i].first, expected[i], found.inputs[i].first_stderr, "first order");
    expect_within(found.inputs[i].total, expected[i], found.inputs[i].total_stderr, "total");
  }
  expect_within(found.interaction, 0, found.interaction_stderr, "interaction");

  // Block A is the plain run, bit for bit.
  const EnsembleStudy plain(linear, {"ensemble.members=4096"});
  EXPECT_EQ(run.measure("far").moments.mean, plain.measure("far").moments.mean);
  EXPECT_EQ(run.measure("far").moments.std, plain.measure("far").moments.std);
  EXPECT_EQ(run.result.statistics.rank_correlation, plain.result.statistics.rank_correlation);
}

TEST(AnswerCases, SobolIndicesDoNotDependOnBatchesOrSamplersOfABlock) {
  for (const char* sampler : {"random", "latin-hypercube", "sobol"}) {
    const Overrides overrides = {std::string("ensemble.sampler=\"") + sampler + "\""};
    const Study study = read_study(with_sensitivity(1024), "written.toml", overrides);
    const RunResult one = run_by("cpu", study), two = run_by("cpu", study, {.threads = 1, .batch = 100});
    for (std::size_t i = 0; i < 3; ++i) {
      const SobolIndex &a = one.statistics.pick_freeze[0].inputs[i],
                       &b = two.statistics.pick_freeze[0].inputs[i];
      EXPECT_EQ(a.first, b.first) << sampler;
      EXPECT_EQ(a.total_stderr, b.total_stderr) << sampler;
    }
    const Study plain = read_study(linear, "written.toml", {overrides[0], "ensemble.members=1024"});
    EXPECT_EQ(one.statistics.measures[0].moments.mean,
              run_by("cpu", plain).statistics.measures[0].moments.mean)
        << sampler;
  }
}

// D-ishigami
TEST(AnswerCases, SobolIndicesOfIshigamisFunction) {
  const EnsembleStudy run(R"toml(
[parameters]
a = { uniform = ["-pi", "pi"] }
b = { uniform = ["-pi", "pi"] }
c = { uniform = ["-pi", "pi"] }
idle = { uniform = [0, 1] }
[[coordinate]]
name = "x"
position = 0
[system]
kinetic = "0.5*x'^2"
[time]
end = 1
samples = 2
[measure]
y = "final(sin(a) + 7*sin(b)^2 + 0.1*c^4*sin(a))"
[sensitivity]
base = 16384
)toml");
  const PickFreezeResult& found = run.result.statistics.pick_freeze[0];
  const double first[] = {0.31390519114781145, 0.44241114479004081, 0, 0},
               total[] = {0.55758885520995919, 0.44241114479004081, 0.24368366406214773, 0};
  for (std::size_t i = 0; i < 3; ++i) {
    expect_within(found.inputs[i].first, first[i], found.inputs[i].first_stderr, "first order");
    expect_within(found.inputs[i].total, total[i], found.inputs[i].total_stderr, "total");
  }
  EXPECT_EQ(found.inputs[3].total, 0);  // an input that enters nothing
  EXPECT_NEAR(found.variance, 13.844587940719257, 0.5);
  // From block A alone: a lower estimate of the first order, and what chance explains for c.
  EXPECT_NEAR(run.result.statistics.first_order[1].index, first[1], 0.03);
  EXPECT_LT(run.result.statistics.first_order[1].index, first[1] + 0.02);
}

TEST(AnswerCases, UntilStopsOnceAnIndexIsKnown) {
  const Study study = read_study(with_sensitivity(65'536), "written.toml",
                                 {R"(ensemble.until={ index = "T.v0", absolute_halfwidth = 0.05 })"});
  const RunResult found = run_by("cpu", study);
  EXPECT_TRUE(found.sure_early);
  EXPECT_LT(found.tally.members, 65'536 * 5);
  EXPECT_LE(1.96 * found.statistics.pick_freeze[0].inputs[1].total_stderr, 0.05);
}

}  // namespace
}  // namespace zwang::answers_test
