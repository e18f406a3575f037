// Whole runs with statistics on the device give the bits of runs that copy every member to the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stdexcept>

#include "host/backend/batch_size.h"
#include "host/backend/device_records.h"
#include "host/backend/device_reduction.h"
#include "host/backend/device_sampling.h"
#include "host/run/all_failed.h"
#include "host/statistics/deferred_plan.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"
#include "tests/support/reduce_on_host.h"
#include "tests/support/run_fixture.h"
#include "tests/support/statistics_fixture.h"

namespace zwang::reduced_run_test {
namespace {

// The reference backend with reductions on a host device, in chunks of one size.
class ReducingBackend : public Backend {
 public:
  ReducingBackend(const Study& study, long long piece) : reference_(study, 2), piece_(piece) {}
  std::string name() const override { return reference_.name(); }
  std::string device() const override { return reference_.device(); }
  unsigned threads() const override { return 2; }
  BatchResults run(const Batch& batch, const Wanted& wanted) override {
    by_members += static_cast<long long>(batch.count);
    return reference_.run(batch, wanted);
  }
  bool reduces() const override { return true; }

  bool draws() const override { return true; }
  long long fewest_reduced() const override { return 1; }

  ReducedBatch run_reduced(const Batch& given, long long first, DeferredPlan& deferred,
                           const RecordTarget& records) override {
    const ReductionPlan& outline = deferred.outline();
    const Turn turn(*this);
    if (first == fails_at) throw std::runtime_error("a lost device");
    HostMachine& device = *machines_[turn.machine];
    ReducedBatch made;
    const Batch batch = given.device_sampling != nullptr ? drawn(device, given, first) : given;
    BatchResults results = reference_.run(batch, {});
    const auto count = static_cast<long long>(batch.count);
    by_blocks += count;
    std::vector<int> status, redundant(results.redundant.begin(), results.redundant.end());
    std::vector<long long> steps;
    std::vector<double> audits;
    for (std::size_t k = 0; k < batch.count; ++k) {
      status.push_back(static_cast<int>(results.status[k]));
      steps.insert(steps.end(), {results.steps[k], results.rejected[k]});
      const Audit& a = results.audits[k];
      audits.insert(audits.end(),
                    {a.position_violation, a.velocity_violation, a.energy_drift, a.energy_size, a.kkt,
                     a.carnot, a.energy_created, a.energy_share, a.condition_share, a.shock_share});
    }
    for (long long begin = 0; begin < count; begin += piece_) {
      const auto at = static_cast<std::size_t>(begin);
      KernelBatch there{};
      there.count = std::min(piece_, count - begin);
      there.parameters = batch.parameters.data() + at * outline.parameters;
      there.status = status.data() + at;
      there.measures = results.measures.data() + at * outline.measures;
      there.observables = results.observables.data() + at * outline.series;
      there.steps = steps.data() + 2 * at;
      there.event_counts = results.event_counts.data() + at * event_kinds;
      there.audits = audits.data() + at * audit_numbers;
      there.redundant = redundant.data() + at;
      there.end_time = results.end_time.data() + at;
      there.end_state = results.end_state.data() + at * (results.end_state.size() / batch.count);
      const ReductionPlan& plan = deferred.plan(first + begin, [&](std::size_t rows) {
        rows_read += static_cast<long long>(rows);
        return fetch_rows(device, outline, there, 0, rows);
      });
      made.parts.push_back(*reduce_members(device, plan, there, first + begin));
      if (records.layout != nullptr) {
        EXPECT_TRUE(fetch_member_records(device, *records.layout, there,
                                         records.records + at * records.layout->bytes()));
      }
    }
    return made;
  }

  std::size_t batches_at_once() const override { return at_once; }

  std::atomic<long long> by_members = 0, by_blocks = 0, drawn_on_device = 0, rows_read = 0;
  std::size_t at_once = 1;
  int most_at_once = 0;
  long long fails_at = -1;
  std::chrono::milliseconds patience{5'000};  // for the batches that are to be under way together

 private:
  // One of the machines for the time of a call, as a device's workers take turns.
  struct Turn {
    explicit Turn(ReducingBackend& backend) : of(backend) {
      std::unique_lock lock(of.guard_);
      if (of.free_.empty()) {
        of.free_.push_back(of.machines_.size());
        of.machines_.push_back(std::make_unique<HostMachine>());
      }
      machine = of.free_.back();
      of.free_.pop_back();
      of.most_at_once = std::max(of.most_at_once, ++of.running_);
      // The first batch ends when as many as possible have begun.
      of.changed_.notify_all();
      of.changed_.wait_for(lock, of.patience,
                           [&] { return of.most_at_once >= static_cast<int>(of.at_once); });
    }
    ~Turn() {
      const std::scoped_lock lock(of.guard_);
      --of.running_;
      of.free_.push_back(machine);
    }
    ReducingBackend& of;
    std::size_t machine = 0;
  };

  Batch drawn(HostMachine& device, const Batch& given, long long first) {
    Batch made;
    made.count = given.count;
    drawn_on_device += static_cast<long long>(given.count);
    made.parameters.resize(given.count * given.device_sampling->parameter_slots.size());
    made.starts.resize(given.count * given.device_sampling->start_slots.size());
    made.prepared.resize(given.count, Status::ok);
    made.attempts.resize(given.count, 1);
    made.position_moved.resize(given.count, 0);
    made.velocity_moved.resize(given.count, 0);
    std::vector<int> prepared(given.count, 7);
    KernelBatch there{};
    there.count = static_cast<long long>(given.count);
    there.parameters = made.parameters.data();
    there.starts = made.starts.data();
    there.prepared = prepared.data();
    EXPECT_TRUE(zwang::draw_on_device(device, *given.device_sampling, there, first));
    EXPECT_EQ(prepared, std::vector<int>(given.count, 0));
    return made;
  }

  BackendReference reference_;
  long long piece_;
  std::mutex guard_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<HostMachine>> machines_;
  std::vector<std::size_t> free_;
  int running_ = 0;
};

Study read(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return read_study(text, "written.toml", overrides);
}

void expect_same(const RunResult& found, const RunResult& expected) {
  const auto a = bits_of(found.statistics), b = bits_of(expected.statistics);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    const bool both_nan = std::isnan(std::bit_cast<double>(a[k])) && std::isnan(std::bit_cast<double>(b[k]));
    ASSERT_TRUE(both_nan || a[k] == b[k]) << "number " << k;
  }
  const RunTally &x = found.tally, &y = expected.tally;
  EXPECT_EQ(x.members, y.members);
  EXPECT_EQ(x.entered, y.entered);
  EXPECT_EQ(x.failed, y.failed);
  EXPECT_EQ(x.status, y.status);
  EXPECT_EQ(x.examples, y.examples);
  EXPECT_EQ(x.events, y.events);
  EXPECT_EQ(x.steps, y.steps);
  EXPECT_EQ(x.rejected, y.rejected);
  EXPECT_EQ(x.redundant, y.redundant);
  EXPECT_EQ(x.draws, y.draws);
  EXPECT_EQ(x.moved, y.moved);
  EXPECT_EQ(x.worst.energy_drift, y.worst.energy_drift);
  EXPECT_EQ(x.worst.kkt, y.worst.kkt);
  EXPECT_EQ(x.worst.energy_size, y.worst.energy_size);
  for (std::size_t k = 0; k < audit_shares; ++k) {
    EXPECT_EQ(x.shares[k].share, y.shares[k].share) << k;
    EXPECT_EQ(x.shares[k].member, y.shares[k].member) << k;
  }
  EXPECT_EQ(found.sure_early, expected.sure_early);
}

TEST(ReducedRun, GivesTheBitsOfARunThatCopiesMembers) {
  const Study study = read(thrown_ball, {"ensemble.members=1500"});
  const RunResult expected = run_by_reference(study);
  for (const long long piece : {256LL, 512LL, 100'000LL}) {
    ReducingBackend backend(study, piece);
    expect_same(run_ensemble(study, backend, {.threads = 2}), expected);
    EXPECT_EQ(backend.by_members, 0);
    EXPECT_EQ(backend.drawn_on_device, 1500);
  }
}

// The pivots of buckets come from the first block, which is a part of the first batch.
TEST(ReducedRun, SetsPivotsByTheFirstBlockOfTheFirstBatch) {
  const Study study = read(thrown_ball, {"ensemble.members=1500"});
  const RunOptions options{.threads = 2, .statistics_memory = 20'000};
  for (const long long piece : {256LL, 512LL, 100'000LL}) {
    ReducingBackend backend(study, piece);
    expect_same(run_ensemble(study, backend, options), run_by_reference(study, options));
    EXPECT_EQ(backend.by_members, 0);
    EXPECT_EQ(backend.rows_read, 256);
  }
}

TEST(ReducedRun, BatchesUnderWayWithTheFirstOneShareItsPivots) {
  const Study study = read(thrown_ball, {"ensemble.members=3000"});
  const RunOptions options{.threads = 2, .batch = 512, .statistics_memory = 20'000};
  const RunResult expected = run_by_reference(study, options);
  for (const std::size_t at_once : {1, 2, 5}) {
    ReducingBackend backend(study, 256);
    backend.at_once = at_once;
    expect_same(run_ensemble(study, backend, options), expected);
    EXPECT_EQ(backend.rows_read, 256);
    EXPECT_EQ(backend.by_members, 0);
  }
}

// Their batches would otherwise wait for pivots that never come.
TEST(ReducedRun, AFirstBatchThatFailsEndsThoseUnderWayWithIt) {
  const Study study = read(thrown_ball, {"ensemble.members=3000"});
  ReducingBackend backend(study, 256);
  backend.at_once = 2;
  backend.fails_at = 0;
  EXPECT_THROW(run_ensemble(study, backend, {.threads = 2, .batch = 512, .statistics_memory = 20'000}),
               std::runtime_error);
}

// As on the host, where they are a batch of their own.
TEST(ReducedRun, StopsIfTheFirstThousandMembersFail) {
  const Study fails = read(thrown_ball, {"ensemble.members=4000", "integrator.max_steps=1"});
  for (const long long piece : {256LL, 100'000LL}) {
    ReducingBackend backend(fails, piece);
    try {
      run_ensemble(fails, backend, {.threads = 2, .stop_if_all_fail = true});
      FAIL() << "all members were run";
    } catch (const AllFailed& stopped) {
      EXPECT_EQ(stopped.tally().members, 1024);
      EXPECT_EQ(stopped.tally().failed, 1024);
      EXPECT_EQ(stopped.tally().status[static_cast<int>(Status::step_limit)], 1024);
    }
  }
  const Study runs = read(thrown_ball, {"ensemble.members=4000"});
  ReducingBackend backend(runs, 256);
  expect_same(run_ensemble(runs, backend, {.threads = 2, .stop_if_all_fail = true}), run_by_reference(runs));
}

TEST(ReducedRun, CountsFailuresAndNamesThem) {
  const Study study = read(troubles, {"ensemble.members=700", "ensemble.include_nominal=true"});
  ReducingBackend backend(study, 256);
  expect_same(run_ensemble(study, backend, {.threads = 2}), run_by_reference(study));
}

TEST(ReducedRun, HandlesSobolReplicates) {
  const Study study = read(thrown_ball, {"ensemble.members=1100", "ensemble.sampler=\"sobol\""});
  ReducingBackend backend(study, 256);
  expect_same(run_ensemble(study, backend, {.threads = 2}), run_by_reference(study));
}

TEST(ReducedRun, CompletesAnOpenBlockFirst) {
  const Study study = read(thrown_ball, {"ensemble.members=1100"});
  ReducingBackend backend(study, 256);
  EnsembleRun run(study, backend, {.threads = 2});
  for (const long long up_to : {100LL, 300LL, 700LL}) run.advance(up_to);
  while (!run.done()) run.advance();
  expect_same(run.finish(), run_by_reference(study));
}

TEST(ReducedRun, PacksTheRecordsThatTheHostPacks) {
  // Drawn on the device, drawn on the host, and with starts that are moved or drawn again.
  for (const std::vector<std::string>& overrides :
       {std::vector<std::string>{"ensemble.members=600"},
        {"ensemble.members=600", "ensemble.sampler=\"sobol\""},
        {"ensemble.members=600", "ensemble.include_nominal=true"}}) {
    const Study study = read(thrown_ball, overrides);
    const auto records_of = [&](Backend& backend) {
      std::vector<char> all;
      RunOptions options{.threads = 2};
      options.members = [&](long long, const std::shared_ptr<const HostBuffer>& records) {
        all.insert(all.end(), records->bytes().begin(), records->bytes().end());
      };
      run_ensemble(study, backend, std::move(options));
      return all;
    };
    ReducingBackend reducing(study, 256);
    BackendReference plain(study, 2);
    const std::vector<char> found = records_of(reducing), expected = records_of(plain);
    EXPECT_EQ(found.size(), 600 * MemberRecordLayout(study, Sampler(study).drawn()).bytes());
    EXPECT_EQ(found, expected) << overrides.back();
  }
}

TEST(ReducedRun, CountsBatchesThatAreUnderWayTogetherInTheirOrder) {
  const Study study = read(thrown_ball, {"ensemble.members=3000"});
  const RunResult expected = run_by_reference(study);
  for (const std::size_t at_once : {2, 3, 5}) {
    ReducingBackend backend(study, 256);
    backend.at_once = at_once;
    std::vector<long long> firsts;
    RunOptions options{.threads = 2, .batch = 512};
    options.members = [&](long long first, const auto&) { firsts.push_back(first); };
    expect_same(run_ensemble(study, backend, std::move(options)), expected);
    EXPECT_EQ(firsts, (std::vector<long long>{0, 512, 1024, 1536, 2048, 2560}));
    EXPECT_EQ(backend.most_at_once, static_cast<int>(at_once));
  }
}

// The thrown ball with its restitution swept over two values.
std::string swept_ball(const std::string& ensemble) {
  std::string text = thrown_ball;
  const auto put = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  put("restitution = 0.4", "restitution = \"e\"");
  put("[parameters]\n", "[parameters]\ne = { sweep = { values = [0.1, 0.9] } }\n");
  put("members = 300", ensemble);
  return text;
}

void expect_same_points(const RunResult& found, const RunResult& expected) {
  ASSERT_EQ(found.points.size(), expected.points.size());
  for (std::size_t p = 0; p < found.points.size(); ++p) {
    RunResult a = found, b = expected;
    a.statistics = found.points[p];
    b.statistics = expected.points[p];
    expect_same(a, b);
    EXPECT_EQ(found.points[p].members, expected.points[p].members);
    EXPECT_EQ(found.points[p].failed, expected.points[p].failed);
    EXPECT_EQ(found.points[p].met_until, expected.points[p].met_until);
  }
}

TEST(ReducedRun, ReducesThePointsOfASweepOneAfterTheOther) {
  for (const char* ensemble :
       {"members_per_point = 300", "members_per_point = 256", "members_per_point = 100",
        "members_per_point = 270\nstreams = \"independent\"", "members_per_point = 270\nsampler = \"sobol\"",
        "members_per_point = 270\ninclude_nominal = true"}) {
    const Study study = read(swept_ball(ensemble));
    const RunResult expected = run_by_reference(study);
    for (const std::size_t at_once : {1, 2}) {
      ReducingBackend backend(study, 256);
      backend.at_once = at_once;
      backend.most_at_once =
          static_cast<int>(at_once);  // no batch has to begin beside the last one of a point
      expect_same_points(run_ensemble(study, backend, {.threads = 2, .batch = 256}), expected);
      EXPECT_EQ(backend.by_members, 0) << ensemble;
      const bool drawn = std::string(ensemble).find('\n') == std::string::npos;
      EXPECT_EQ(backend.drawn_on_device, drawn ? study.ensemble.members : 0) << ensemble;
    }
  }
}

TEST(ReducedRun, ReducesPointsWithBucketsUntilOpenBlocksAndParts) {
  const Study study = read(swept_ball("members_per_point = 600"));
  const RunOptions small{.threads = 2, .batch = 256, .statistics_memory = 10'000};
  ReducingBackend buckets(study, 256);
  expect_same_points(run_ensemble(study, buckets, small), run_by_reference(study, small));
  EXPECT_EQ(buckets.by_members, 0);
  EXPECT_EQ(buckets.rows_read, 2 * 256);

  const Study sure =
      read(swept_ball("members_per_point = 1500\nuntil = { measure = \"highest\", relative_stderr = 0.02 }"));
  ReducingBackend deciding(sure, 256);
  expect_same_points(run_ensemble(sure, deciding, {.threads = 2}), run_by_reference(sure));

  ReducingBackend interrupted(study, 256);
  EnsembleRun run(study, interrupted, {.threads = 2});
  for (const long long up_to : {100LL, 300LL, 650LL, 900LL}) run.advance(up_to);
  while (!run.done()) run.advance();
  expect_same_points(run.finish(), run_by_reference(study));
}

TEST(ReducedRun, CopiesThePointsOfASweepWithFewMembers) {
  const Study study = read(swept_ball("members_per_point = 100"));
  class FilledBackend : public ReducingBackend {
   public:
    using ReducingBackend::ReducingBackend;
    long long fewest_reduced() const override { return 101; }
  } backend(study, 256);
  expect_same_points(run_ensemble(study, backend, {.threads = 2}), run_by_reference(study));
  EXPECT_EQ(backend.by_blocks, 0);
}

TEST(ReducedRun, EndsWithTheErrorOfABatchUnderWay) {
  const Study study = read(thrown_ball, {"ensemble.members=3000"});
  ReducingBackend backend(study, 256);
  backend.at_once = 2;
  backend.fails_at = 1024;
  EnsembleRun run(study, backend, {.threads = 2, .batch = 512});
  run.advance();
  EXPECT_EQ(run.part().position, 512);
  run.advance();
  EXPECT_THROW(run.advance(), std::runtime_error);
  EXPECT_EQ(run.part().position, 1024);
}

TEST(ReducedRun, BatchesGrowOnceTheSpeedOfTheDeviceIsKnown) {
  const Study study = read(thrown_ball);
  ReducingBackend backend(study, 256);
  backend.at_once = 2;
  BatchSize size(study, backend, 0, false);
  const long long first = size.next();
  size.learn(768, 0.5);  // the members that decide whether everything fails
  EXPECT_EQ(size.next(), first);
  // Batches are equally large and end with a block: the first is a little smaller.
  const long long begun = size.next(1'000'000 - 1024) / 256 * 256;
  EXPECT_LT(begun, first);
  size.learn(begun, 0.01);
  EXPECT_EQ(size.next(), 16 * begun);
  size.learn(first, 0.01);
  EXPECT_EQ(size.next(), 16 * first);
  EXPECT_EQ(size.next(40 * first), (40 * first + 2) / 3);
  EXPECT_EQ(size.next(10 * first), 5 * first) << "one half is integrated while the other is reduced";
  EXPECT_GE(size.next(3 * first), 3 * first);
  size.learn(first, 60);
  EXPECT_EQ(size.next(), first) << "a slow study";
}

}  // namespace
}  // namespace zwang::reduced_run_test
