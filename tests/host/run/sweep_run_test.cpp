// Runs of sweeps: each point has the bits of the plain study at its value, whatever the batches and parts.
#include <gtest/gtest.h>

#include <bit>
#include <sstream>

#include "host/backend/backend_reference.h"
#include "host/run/run.h"
#include "host/statistics/ensemble_statistics.h"
#include "host/statistics/plan.h"
#include "host/statistics/statistics_result.h"
#include "host/study_file/config_text.h"
#include "host/study_file/load_study.h"
#include "tests/support/run_fixture.h"

namespace zwang::sweep_run_test {
namespace {

// The thrown ball with its restitution swept.
std::string ball_text(const std::string& restitution, const std::string& ensemble) {
  std::string text = thrown_ball;
  const auto put = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  put("restitution = 0.4", "restitution = \"e\"");
  put("[parameters]\n", "[parameters]\ne = " + restitution + "\n");
  put("members = 300", ensemble);
  return text;
}

RunResult result_of(const Study& study, RunOptions options = {}) {
  BackendReference backend(study, 2);
  options.threads = 2;
  return run_ensemble(study, backend, options);
}

std::string result_bytes(const StatisticsResult& result) {
  std::ostringstream stream;
  ByteWriter bytes(stream);
  save_result(bytes, result);
  return stream.str();
}

std::string all_bytes(const std::vector<StatisticsResult>& points) {
  std::string all;
  for (const StatisticsResult& point : points) all += result_bytes(point);
  return all;
}

void expect_points_of_plain_runs(const std::string& ensemble, const std::string& members) {
  const std::vector<std::string> values = {"0.1", "0.4", "0.9"};
  const Study swept =
      read_study(ball_text("{ sweep = { values = [0.1, 0.4, 0.9] } }", ensemble), "b.toml", {});
  const RunResult result = result_of(swept);
  ASSERT_EQ(result.points.size(), 3U);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Study plain = read_study(ball_text(values[i], ensemble), "b.toml", {});
    EXPECT_EQ(std::to_string(plain.ensemble.members), members);
    EXPECT_EQ(result_bytes(result.points[i]), result_bytes(result_of(plain).statistics)) << values[i];
  }
}

TEST(SweepRunTest, EachPointHasTheBitsOfThePlainStudy) {
  expect_points_of_plain_runs("members_per_point = 300", "300");
}

TEST(SweepRunTest, SoItHasWithEverySamplerAndTheNominalMember) {
  expect_points_of_plain_runs("members_per_point = 40\nsampler = \"sobol\"", "40");
  expect_points_of_plain_runs("members_per_point = 40\nsampler = \"latin-hypercube\"", "40");
  expect_points_of_plain_runs("members_per_point = 40\ninclude_nominal = true", "40");
}

TEST(SweepRunTest, BatchesAndPartsChangeNoBit) {
  const Study study = read_study(
      ball_text("{ sweep = { values = [0.1, 0.4, 0.9] } }", "members_per_point = 300"), "b.toml", {});
  BackendReference backend(study, 2);
  const std::string whole = all_bytes(result_of(study).points);
  for (const long long batch : {1LL, 77LL, 256LL, 450LL})
    EXPECT_EQ(all_bytes(result_of(study, {.batch = batch}).points), whole) << batch;
  // Three parts, of which two begin within a point; the first is saved and loaded.
  const MemberBlocks blocks{3, 300};
  std::optional<EnsembleStatistics> joined;
  for (long long shard = 0; shard < 4; ++shard) {
    const auto [first, end] = shard_members(blocks, shard, 4);
    EnsembleRun run(study, backend, {.threads = 2, .first = first, .end = end});
    while (!run.done()) run.advance();
    std::stringstream stream;
    run.statistics().save(stream);
    const EnsembleStatistics loaded = EnsembleStatistics::load(run.plan(), stream, "part");
    if (!joined)
      joined = loaded;
    else
      joined->join(loaded);
    if (shard < 3) continue;
    EXPECT_EQ(all_bytes(joined->finish()), whole);
  }
}

// A throw with three draws; its indices by the points of a sweep of the time.
std::string throw_text(const std::string& time, const std::string& ensemble) {
  return "title = \"t\"\n[parameters]\nT = " + time + R"toml(
x0 = { normal = { mean = 1, std = 0.2 } }
v0 = { normal = { mean = 0, std = 0.3 } }
a = { uniform = [-0.1, 0.1] }
[[coordinate]]
name = "x"
position = "x0"
velocity = "v0*T"
[system]
kinetic = "0.5*x'^2"
[system.force]
x = "a"
[time]
end = 2
samples = 2
stop = "x > 6"
[measure]
far = "final(x)"
beyond = "probability(far > 1.5)"
[sensitivity]
base = 600
[ensemble]
)toml" + ensemble;
}

TEST(SweepRunTest, SobolIndicesOfAPointAreThoseOfThePlainStudy) {
  for (const char* sampler : {"random", "latin-hypercube", "sobol"}) {
    const std::string ensemble = std::string("sampler = \"") + sampler + "\"\n";
    const Study swept = read_study(throw_text("{ sweep = { values = [1, 3] } }", ensemble), "t.toml", {});
    EXPECT_EQ(swept.ensemble.members, 1200);
    EXPECT_EQ(swept.members_in_all(), 6000);
    const RunResult result = result_of(swept);
    EXPECT_EQ(result.tally.members, 6000);
    EXPECT_EQ(result.tally.entered, 1200);
    for (std::size_t i = 0; i < 2; ++i) {
      const Study plain = read_study(throw_text(i == 0 ? "1" : "3", ensemble), "t.toml", {});
      const StatisticsResult expected = result_of(plain).statistics;
      ASSERT_EQ(expected.pick_freeze.size(), 2U);
      EXPECT_EQ(result_bytes(result.points[i]), result_bytes(expected)) << sampler << ", point " << i;
    }
    // x(2) = x0 + 2 T v0 + 2 a: v0 explains more where T is larger.
    EXPECT_LT(result.points[0].pick_freeze[0].inputs[1].total,
              result.points[1].pick_freeze[0].inputs[1].total);
  }
}

TEST(SweepRunTest, SobolIndicesByPointDoNotDependOnBatchesOrParts) {
  const Study study = read_study(
      throw_text("{ sweep = { values = [1, 3, 5] } }", "streams = \"independent\"\n"), "t.toml", {});
  const std::string whole = all_bytes(result_of(study).points);
  for (const long long batch : {77LL, 600LL, 1000LL})
    EXPECT_EQ(all_bytes(result_of(study, {.batch = batch}).points), whole) << batch;
  BackendReference backend(study, 2);
  std::optional<EnsembleStatistics> joined;
  for (long long shard = 0; shard < 4; ++shard) {
    const auto [first, end] = shard_members(MemberBlocks{3, 600}, shard, 4);
    EnsembleRun run(study, backend, {.threads = 2, .first = first, .end = end});
    while (!run.done()) run.advance();
    std::stringstream stream;
    run.statistics().save(stream);
    const EnsembleStatistics loaded = EnsembleStatistics::load(run.plan(), stream, "part");
    if (joined)
      joined->join(loaded);
    else
      joined = loaded;
  }
  EXPECT_EQ(all_bytes(joined->finish()), whole);
}

TEST(SweepRunTest, UntilJudgesAnIndexAtEachPoint) {
  const Study study =
      read_study(throw_text("{ sweep = { values = [1, 3] } }",
                            "until = { index = \"T.x0\", measure = \"far\", absolute_halfwidth = 0.03 }\n"),
                 "t.toml", {"sensitivity.base=5000"});
  const RunResult result = result_of(study);
  for (const StatisticsResult& point : result.points) {
    EXPECT_TRUE(point.met_until);
    EXPECT_LT(point.members, 5000);
    EXPECT_LE(1.96 * point.pick_freeze[0].inputs[0].total_stderr, 0.03);
    EXPECT_EQ(point.pick_freeze[0].rows + point.pick_freeze[0].failed, point.members);
  }
}

TEST(SweepRunTest, BlocksDoNotGoBeyondPoints) {
  const MemberBlocks blocks{3, 300};
  EXPECT_EQ(blocks.blocks_per_point(), 2);
  EXPECT_EQ(blocks.begin_of(1), 256);
  EXPECT_EQ(blocks.begin_of(2), 300);
  EXPECT_EQ(blocks.boundary_from(1), 256);
  EXPECT_EQ(blocks.boundary_from(257), 300);
  EXPECT_TRUE(blocks.is_boundary(556));
  EXPECT_EQ(shard_members(blocks, 0, 4), (std::pair<long long, long long>{0, 256}));
  EXPECT_EQ(shard_members(blocks, 3, 4).second, 900);
}

TEST(SweepRunTest, UntilIsJudgedAtEachPoint) {
  const Study study = read_study(
      ball_text("{ sweep = { values = [0, 0.9] } }",
                "members_per_point = 3000\nuntil = { measure = \"highest\", relative_stderr = 0.02 }"),
      "b.toml", {});
  const RunResult result = result_of(study);
  for (const StatisticsResult& point : result.points) {
    EXPECT_EQ(point.members, 1024);
    EXPECT_TRUE(point.met_until);
  }
  EXPECT_EQ(result.tally.members, 2048);
}

}  // namespace
}  // namespace zwang::sweep_run_test
