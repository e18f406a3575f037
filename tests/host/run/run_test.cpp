// EnsembleRun: batches, tally, statistics, early stopping.
#include "host/run/run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <sstream>

#include "host/backend/batch.h"
#include "host/run/count_members.h"
#include "host/sample/member.h"
#include "host/study_file/load_study.h"
#include "tests/support/run_fixture.h"

namespace zwang::run_test {
namespace {

Study thrown(const std::vector<std::string>& overrides = {}) {
  return read_study(thrown_ball, "ball.toml", overrides);
}

long long count_of(const RunTally& tally, Status status) {
  return tally.status[static_cast<std::size_t>(status)];
}

// The whole state of the statistics as bytes.
std::string bytes_of(const EnsembleStatistics& statistics) {
  std::ostringstream stream;
  statistics.save(stream);
  return stream.str();
}

std::string bytes_by_batches(const Study& study, long long batch) {
  BackendReference backend(study, 2);
  EnsembleRun run(study, backend, {.threads = 2, .batch = batch});
  while (!run.done()) run.advance();
  return bytes_of(run.statistics());
}

TEST(EnsembleRunTest, BatchesChangeNoBit) {
  const Study study = thrown();
  const std::string whole = bytes_by_batches(study, 300);
  for (const long long batch : {1, 7, 256, 0}) EXPECT_EQ(bytes_by_batches(study, batch), whole) << batch;
  EXPECT_NE(bytes_by_batches(thrown({"ensemble.seed=2"}), 300), whole);
}

TEST(EnsembleRunTest, MembersAreTheOnesThatReplayShows) {
  const Study study = thrown({"ensemble.members=40"});
  std::vector<double> highest;
  long long expected = 0;
  RunOptions options{.batch = 13};
  const MemberRecordLayout layout(study, Sampler(study).drawn());
  options.members = [&](long long first, const std::shared_ptr<const HostBuffer>& records) {
    EXPECT_EQ(first, expected);
    const std::span<const char> bytes = records->bytes();
    expected += static_cast<long long>(bytes.size() / layout.bytes());
    for (std::size_t at = 0; at < bytes.size(); at += layout.bytes())
      highest.push_back(MemberRecordLayout::real(bytes.data() + at, layout.places().measures));
  };
  const RunResult result = run_by_reference(study, options);
  ASSERT_EQ(highest.size(), 40U);
  for (const unsigned long long member : {0, 12, 13, 39}) {
    const Trajectory motion = replay_member(study, prepare_member(study, member), study_plan(study));
    EXPECT_EQ(highest[member], motion.measures[0]);
  }
  const double mean = std::accumulate(highest.begin(), highest.end(), 0.0) / 40;
  EXPECT_NEAR(result.statistics.measures[0].moments.mean, mean, 1e-14);
  EXPECT_EQ(result.inputs, std::vector<std::string>{"speed_up"});
  EXPECT_EQ(result.backend, "reference");
}

TEST(EnsembleRunTest, PartsJoinedAreTheWhole) {
  const Study study = thrown({"ensemble.members=600"});
  BackendReference backend(study, 2);
  EnsembleRun left(study, backend, {.threads = 2, .end = 512});
  EnsembleRun right(study, backend, {.threads = 2, .first = 512});
  while (!left.done()) left.advance();
  while (!right.done()) right.advance();
  EXPECT_EQ(right.tally().members, 88);
  EnsembleStatistics joined = left.statistics();
  joined.join(right.statistics());
  EXPECT_EQ(bytes_of(joined), bytes_by_batches(study, 0));
}

// 1 MiB is enough for the measures and inputs of 600 members but not for their observables, whose buckets are
// then set by members 0 to 255.
TEST(EnsembleRunTest, APartInTheMiddleUsesTheBucketsOfTheWhole) {
  const Study study = thrown({"ensemble.members=600", "time.samples=400"});
  BackendReference backend(study, 2);
  const RunOptions small{.threads = 2, .statistics_memory = 1 << 20};
  RunOptions part = small;
  part.first = 512;
  EnsembleRun left(study, backend, {.threads = 2, .statistics_memory = 1 << 20, .end = 512});
  EnsembleRun right(study, backend, part), whole(study, backend, small);
  ASSERT_FALSE(whole.statistics().storage().exact_observables);
  for (EnsembleRun* run : {&left, &right, &whole})
    while (!run->done()) run->advance();
  EnsembleStatistics joined = left.statistics();
  joined.join(right.statistics());
  EXPECT_EQ(bytes_of(joined), bytes_of(whole.statistics()));
}

TEST(EnsembleRunTest, ComputesTheQuantilesAndHistogramsOfTheStudy) {
  const RunResult result = run_by_reference(thrown({"statistics.quantiles=[0.1, 0.9]"}));
  EXPECT_EQ(result.statistics.measures[0].quantiles.size(), 2U);
  ASSERT_EQ(result.statistics.histograms.size(), 2U);
  const HistogramResult &height = result.statistics.histograms[0], &landing = result.statistics.histograms[1];
  EXPECT_FALSE(height.of_measure);
  EXPECT_EQ(height.counts.size(), 4U);
  EXPECT_EQ(height.edges.size(), 8U);
  EXPECT_TRUE(landing.of_measure);
  EXPECT_EQ(landing.index, 1U);
  EXPECT_EQ(landing.edges, (std::vector<double>{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}));
}

TEST(EnsembleRunTest, TheNominalMemberIsRunButNotCounted) {
  const RunResult result = run_by_reference(thrown({"ensemble.include_nominal=true", "ensemble.members=50"}));
  EXPECT_EQ(result.tally.members, 50);
  EXPECT_EQ(result.tally.entered, 49);
  EXPECT_EQ(result.tally.failed, 0);
  EXPECT_EQ(count_of(result.tally, Status::ok), 50);
  EXPECT_EQ(result.statistics.entered, 49);
  EXPECT_EQ(result.statistics.measures[0].moments.count, 49);
}

TEST(EnsembleRunTest, StopsEarlyAtTheSameMemberForAnyBatches) {
  const std::string goal = "ensemble.until={measure=\"highest\", relative_stderr=";
  const Study sure = thrown({"ensemble.members=6000", goal + "0.004}"});
  for (const long long batch : {0, 100, 5000}) {
    const RunResult result = run_by_reference(sure, {.batch = batch});
    EXPECT_EQ(result.tally.members, 2048) << "std / mean is 0.165: 0.0036 by 2048 members, 0.0051 by 1024";
    EXPECT_TRUE(result.sure_early);
    EXPECT_EQ(result.requested, 6000);
    const SeriesStatistics& highest = result.statistics.measures[0];
    EXPECT_LE(highest.standard_error, 0.004 * highest.moments.mean);
  }
  const RunResult capped = run_by_reference(thrown({"ensemble.members=1500", goal + "1e-6}"}));
  EXPECT_EQ(capped.tally.members, 1500);
  EXPECT_FALSE(capped.sure_early);
}

TEST(EnsembleRunTest, FailuresOfEveryKindAreCountedAndNotInTheStatistics) {
  const Study study = read_study(troubles, "troubles.toml");
  std::vector<Status> ends;
  RunOptions options;
  const MemberRecordLayout layout(study, Sampler(study).drawn());
  options.members = [&](long long, const std::shared_ptr<const HostBuffer>& records) {
    const std::span<const char> bytes = records->bytes();
    for (std::size_t at = 0; at < bytes.size(); at += layout.bytes())
      ends.push_back(
          static_cast<Status>(MemberRecordLayout::whole(bytes.data() + at, layout.places().status)));
  };
  const RunResult result = run_by_reference(study, options);
  const RunTally& tally = result.tally;

  // The direction of a member is drawn and determines its status.
  const std::vector<Status> expected = {Status::ok,         Status::inconsistent_start, Status::singular,
                                        Status::step_limit, Status::not_finite,         Status::infeasible};
  std::array<long long, status_count> counts{};
  std::array<std::vector<long long>, status_count> examples;
  for (unsigned long long member = 0; member < 120; ++member) {
    const double way = prepare_member(study, member).inputs.parameters[0];
    const Status status = expected[static_cast<std::size_t>(way)];
    EXPECT_EQ(ends[member], status) << "member " << member << " of way " << way;
    ++counts[static_cast<std::size_t>(status)];
    auto& list = examples[static_cast<std::size_t>(status)];
    if (status != Status::ok && list.size() < RunTally::examples_kept)
      list.push_back(static_cast<long long>(member));
  }
  EXPECT_EQ(tally.status, counts);
  EXPECT_EQ(tally.examples, examples);
  for (const Status status : expected) EXPECT_GT(count_of(tally, status), 0) << status_name(status);

  // Every member is counted once; the statistics are over those that did not fail.
  EXPECT_EQ(tally.members, 120);
  EXPECT_EQ(tally.entered + tally.failed, 120);
  EXPECT_EQ(tally.entered, count_of(tally, Status::ok));
  EXPECT_EQ(std::accumulate(tally.status.begin(), tally.status.end(), 0LL), 120);
  EXPECT_DOUBLE_EQ(failed_share(tally), static_cast<double>(tally.failed) / 120);
  EXPECT_EQ(result.statistics.entered, tally.entered);
  const SeriesStatistics &far = result.statistics.measures[0], &way = result.statistics.inputs[0],
                         &push = result.statistics.inputs[1];
  EXPECT_EQ(far.moments.count, tally.entered);
  EXPECT_NEAR(far.moments.mean, push.moments.mean / 2, 1e-8) << "push t^2 / 2 at t = 1, in every member";
  EXPECT_EQ(way.moments.maximum, 0) << "the others are not in the statistics of the inputs either";
}

// Half of the starts lie beyond the wall at 0, by 1/4 on average; the others are not moved.
TEST(EnsembleRunTest, CountsStartsMovedOrDrawnAgain) {
  const std::string text = R"toml(
[[point]]
name = "p"
mass = 1
position = [{ uniform = [-0.5, 0.5] }]
[[constraint]]
name = "wall"
require = "p.x <= 0"
[ensemble]
members = 400
consistency = "project"
[time]
end = 0.1
samples = 2
)toml";
  const RunTally moved = run_by_reference(read_study(text, "starts.toml")).tally;
  double total = 0, largest = 0;
  long long count = 0;
  const Study study = read_study(text, "starts.toml");
  for (unsigned long long member = 0; member < 400; ++member) {
    const double beyond = std::max(0.0, prepare_member(study, member).inputs.start.q(0));
    total += beyond;
    largest = std::max(largest, beyond);
    count += beyond > 0 ? 1 : 0;
  }
  EXPECT_GT(count, 100);
  EXPECT_EQ(moved.moved, count);
  EXPECT_NEAR(moved.total_position_move.value(), total, 1e-12);
  EXPECT_NEAR(moved.largest_position_move, largest, 1e-15);
  EXPECT_EQ(moved.redrawn, 0);

  const Study rejecting = read_study(text, "starts.toml", {"ensemble.consistency=reject"});
  long long redrawn = 0;
  for (unsigned long long member = 0; member < 400; ++member)
    redrawn += prepare_member(rejecting, member).attempts - 1;
  const RunTally drawn = run_by_reference(rejecting).tally;
  EXPECT_GT(redrawn, 100);
  EXPECT_EQ(drawn.redrawn, redrawn);
  EXPECT_EQ(drawn.refused_draws, redrawn) << "every member found a start";
  EXPECT_EQ(drawn.draws, 400 + redrawn);
  EXPECT_EQ(drawn.moved, 0);
}

// Half of the members can never start: all of their thousand draws count as refused.
TEST(EnsembleRunTest, MembersThatGiveUpCountAmongTheRefusedDraws) {
  const Study study = read_study(R"toml(
[parameters]
wall = { grid = [-1, 2, 4] }
[[point]]
name = "p"
mass = 1
position = [{ uniform = [0, 1] }]
[[constraint]]
name = "wall"
require = "p.x >= wall"
[ensemble]
members = 4
consistency = "reject"
[time]
end = 0.1
samples = 2
)toml",
                                 "walls.toml");
  const RunTally tally = run_by_reference(study).tally;
  EXPECT_EQ(tally.status[static_cast<std::size_t>(Status::inconsistent_start)], 2);
  EXPECT_EQ(tally.draws, 2 * 1000 + 2);
  EXPECT_EQ(tally.redrawn, 2 * 999);
  EXPECT_EQ(tally.refused_draws, 2 * 1000);
}

// Moves of such different sizes that sums in doubles depend on their order.
TEST(EnsembleRunTest, PartsJoinToTheTallyOfTheWholeInAnyOrder) {
  const Study study = read_study(R"toml(
[parameters]
size = { lognormal = { mean = 0, std = 12 } }
[[point]]
name = "p"
mass = 1
position = ["size"]
velocity = ["-size"]
[[constraint]]
name = "wall"
require = "p.x <= 0"
[[constraint]]
name = "floor"
require = "p.x >= -1"
[ensemble]
members = 1024
consistency = "project"
[time]
end = 0.1
samples = 2
)toml",
                                 "parts.toml");
  const RunTally whole = run_by_reference(study).tally;
  EXPECT_GT(whole.moved, 300);
  std::vector<RunTally> parts;
  for (const long long first : {0, 256, 512, 768}) {
    RunOptions options;
    options.first = first;
    options.end = first + 256;
    parts.push_back(run_by_reference(study, options).tally);
  }
  for (const std::vector<std::size_t>& order :
       {std::vector<std::size_t>{0, 1, 2, 3}, {3, 1, 0, 2}, {2, 3, 1, 0}}) {
    RunTally joined;
    for (const std::size_t part : order) join_tally(joined, parts[part]);
    EXPECT_EQ(joined.members, whole.members);
    EXPECT_EQ(joined.status, whole.status);
    EXPECT_EQ(joined.examples, whole.examples);
    EXPECT_EQ(joined.events, whole.events);
    EXPECT_EQ(joined.moved, whole.moved);
    EXPECT_EQ(joined.draws, whole.draws);
    EXPECT_EQ(joined.total_position_move.value(), whole.total_position_move.value());
    EXPECT_EQ(joined.largest_position_move, whole.largest_position_move);
    EXPECT_EQ(joined.worst.energy_drift, whole.worst.energy_drift);
  }
}

TEST(EnsembleRunTest, AnExceptionFromProgressEndsTheRun) {
  RunOptions options{.batch = 10};
  long long told = 0;
  options.progress = [&](const RunProgress& progress) {
    told = progress.done;
    EXPECT_EQ(progress.of, 300);
    if (progress.done >= 50) throw std::runtime_error("enough");
  };
  EXPECT_THROW(run_by_reference(thrown(), options), std::runtime_error);
  EXPECT_EQ(told, 50);
}

TEST(BatchSizeTest, FollowsTheClockWithinItsBounds) {
  const Study study = thrown();
  BatchSize size(study, 2, 0);
  EXPECT_EQ(size.next(), 32);
  size.learn(32, 0.001);
  EXPECT_EQ(size.next(), 128) << "grows fourfold at most: the first members may have been easy ones";
  size.learn(128, 0.1);
  EXPECT_EQ(size.next(), 256);
  size.learn(256, 100);
  EXPECT_EQ(size.next(), 32);
  for (int i = 0; i < 40; ++i) size.learn(size.next(), 1e-9);
  EXPECT_GT(size.next(), 10'000);
  EXPECT_LT(size.next(), 1'000'000) << "64 MiB";
  BatchSize fixed(study, 2, 77);
  fixed.learn(77, 1e-9);
  EXPECT_EQ(fixed.next(), 77);
}

}  // namespace
}  // namespace zwang::run_test
