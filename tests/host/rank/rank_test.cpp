// Runs over several ranks: ranges are assigned and joined, and the files equal those of a run on one rank.
// Ranks are threads here, so that they can be slow, silent or wrong on demand; mpi_test.cpp starts real ones.
#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "host/backend/cuda/library.h"
#include "host/platform/child_process.h"
#include "host/platform/machine_error.h"
#include "host/rank/coordinator.h"
#include "host/results/run_files.h"
#include "host/study_file/load_study.h"
#include "tests/support/run_fixture.h"
#include "tests/support/run_results.h"

namespace zwang::rank_test {
namespace {

namespace fs = std::filesystem;

// --- Work distribution ------------------------------------------------------------------------------------

class WorkDistributionTest : public ::testing::Test {
 protected:
  static WorkDistribution distribution(long long begin, long long end, long long size) {
    static const Study study = read_study(thrown_ball, "ball.toml");
    return {begin, end, [end](long long) { return end; }, BatchSize(study, 1, size)};
  }
};

TEST_F(WorkDistributionTest, RangesAreConsecutiveWholeBlocksAndCoverAllMembers) {
  WorkDistribution work = distribution(512, 2000, 300);
  long long at = 512;
  for (int worker = 0; const auto range = work.next(worker, 0); worker = 1 - worker) {
    EXPECT_EQ(range->first, at);
    EXPECT_TRUE(range->first % 256 == 0 && (range->end % 256 == 0 || range->end == 2000));
    at = range->end;
    EXPECT_TRUE(work.accept_result(worker, *range, 0.1));
    work.joined(at);
  }
  EXPECT_EQ(at, 2000);
}

TEST_F(WorkDistributionTest, AnOverdueRangeIsAssignedAgainAndTheFirstResultCounts) {
  WorkDistribution work = distribution(0, 512, 256);
  const auto slow = work.next(0, 0), other = work.next(1, 0);
  ASSERT_TRUE(slow && other);
  EXPECT_TRUE(work.accept_result(1, *other, 0.5));
  EXPECT_FALSE(work.next(1, 1)) << "not yet: it may be about to come";
  EXPECT_FALSE(work.next(0, 100)) << "the slow one has it already";
  EXPECT_EQ(work.next(1, 100), slow);
  EXPECT_TRUE(work.accept_result(1, *slow, 0.5));
  EXPECT_FALSE(work.accept_result(0, *slow, 200)) << "too late";
  work.joined(512);
  EXPECT_FALSE(work.next(1, 1000));
}

TEST_F(WorkDistributionTest, ResultsHeldBackByAnUnfinishedRangeAreBoundedInNumber) {
  WorkDistribution work = distribution(0, 1'000'000, 256);
  ASSERT_TRUE(work.next(0, 0));  // never finished
  int assigned = 0;
  while (const auto range = work.next(1, 0)) {
    EXPECT_TRUE(work.accept_result(1, *range, 0.01));
    ASSERT_LT(++assigned, 100);
  }
  EXPECT_GT(assigned, 4);
}

TEST(RankDevice, RanksOfAMachineUseItsDevicesInTurn) {
  Mailbox one, other;
  for (int rank = 0; rank < 5; ++rank) {
    const LocalLink link(rank, 5, one, other);
    EXPECT_EQ(rank_device(link, {4, 2}), rank % 2 == 0 ? 4 : 2);
    EXPECT_EQ(rank_device(link, {7}), 7);
    if (cuda::devices_here() == 0) {
      EXPECT_EQ(rank_device(link, {}), 0) << "the backend will say that there is none";
    }
    EXPECT_GE(rank_threads(link), 1U);
  }
}

// --- A run over several ranks ------------------------------------------------------------------------------

// Rank 0's link to ranks that are threads.
class ThreadRanks : public RankLink {
 public:
  using Work = std::function<void(RankLink& link)>;
  explicit ThreadRanks(std::vector<Work> others) : boxes_(others.size() + 1) {
    for (std::size_t k = 1; k < boxes_.size(); ++k)
      threads_.emplace_back([this, k, work = others[k - 1]] {
        LocalLink link(static_cast<int>(k), size(), boxes_[0], boxes_[k]);
        work(link);
      });
  }
  ~ThreadRanks() override {
    for (std::size_t k = 1; k < boxes_.size(); ++k) boxes_[k].put({0, MessageKind::stop, ""});
  }

  int rank() const override { return 0; }
  int size() const override { return static_cast<int>(boxes_.size()); }
  int local_rank() const override { return 0; }
  int local_size() const override { return size(); }
  std::string host() const override { return "here"; }
  void send(int to, MessageKind kind, std::string bytes) override {
    boxes_[static_cast<std::size_t>(to)].put({0, kind, std::move(bytes)});
  }
  std::optional<RankMessage> receive() override { return boxes_[0].take(); }
  void leave() override {}
  [[noreturn]] void abort(int code) override { std::_Exit(code); }

 private:
  std::vector<Mailbox> boxes_;
  std::vector<std::jthread> threads_;
};

class Ranks : public ::testing::Test {
 protected:
  static constexpr std::size_t memory = std::size_t{1}
                                        << 20;  // small: quantiles of buckets, which need a pilot
  Ranks()
      : study(read_study(thrown_ball + "[output]\nmembers = true\ntrajectories = [1700, 0]\n", "ball.toml",
                         {"ensemble.members=3000"})) {}

  static WorkerSettings settings(long long batch = 100) {
    WorkerSettings made;
    made.run.threads = 1;
    made.run.batch = batch;
    made.run.statistics_memory = memory;
    return made;
  }
  ThreadRanks::Work worker(const Study& of, WorkerSettings own = settings()) const {
    return [&of, own](RankLink& link) {
      BackendReference backend(of, 1);
      work_for_rank_zero(link, of, backend, own);
    };
  }
  void run(const std::string& out, RankCoordinator* coordinator, bool resume = false,
           long long stop_at = -1) {
    ResultFolder results(folder / out, {.resume = resume});
    BackendReference backend(study, 1);
    RunOptions options{.threads = 1, .batch = 100, .statistics_memory = memory};
    options.progress = [stop_at](const RunProgress& progress) {
      if (stop_at >= 0 && progress.done >= stop_at) throw Interrupted(SIGINT);
    };
    run_into(results, study, backend, options, [] {},
             {.checkpoints = {.seconds = 0}, .coordinator = coordinator});
  }
  Files whole_run() {
    run("whole", nullptr);
    return files_in(folder / "whole");
  }

  Study study;
  Scratch scratch;
  fs::path folder = scratch.path();
};

TEST_F(Ranks, AnyNumberOfRanksWritesTheFilesOfOne) {
  const Files whole = whole_run();
  for (const std::size_t others : {0U, 1U, 3U})
    for (const bool rank_zero_works : {true, false}) {
      if (others == 0 && !rank_zero_works) continue;
      ThreadRanks link(std::vector<ThreadRanks::Work>(others, worker(study, settings(700))));
      BackendReference backend(study, 1);
      RankCoordinator coordinator(link, study, rank_zero_works ? &backend : nullptr, settings());
      const std::string out = std::to_string(others) + (rank_zero_works ? " and one" : "");
      run(out, &coordinator);
      expect_same(files_in(folder / out), whole, out);
      EXPECT_LE(coordinator.threads(), others + 1);
    }
}

TEST_F(Ranks, ARankThatNeverAnswersDoesNotBlockTheOthers) {
  const Files whole = whole_run();
  std::atomic<int> swallowed = 0;
  const auto silent = [&](RankLink& link) {
    // Reports ready for the same run, then does nothing: the ranges assigned to it are never finished.
    BackendReference backend(study, 1);
    const EnsembleRun run(study, backend, settings().run);
    link.send(0, MessageKind::ready,
              readiness_bytes({"nowhere", 1, run_identity(study, run.origin(), memory, {})}));
    for (;;) {
      const auto message = link.receive();
      if (message && message->kind == MessageKind::stop) return;
      if (message) ++swallowed;
      ::usleep(1000);
    }
  };
  ThreadRanks link({silent, worker(study)});
  RankCoordinator coordinator(link, study, nullptr, settings());
  run("held", &coordinator);
  expect_same(files_in(folder / "held"), whole, "with a silent rank");
  EXPECT_GT(swallowed, 0) << "it was given something";
}

TEST_F(Ranks, ARunInterruptedOnManyRanksResumesOnOneAndViceVersa) {
  const Files whole = whole_run();
  {
    ThreadRanks link({worker(study), worker(study)});
    RankCoordinator coordinator(link, study, nullptr, settings());
    EXPECT_THROW(run("many", &coordinator, false, 500), Interrupted);
  }
  run("many", nullptr, true);
  expect_same(files_in(folder / "many"), whole, "from many to one");

  // A run on one rank may stop anywhere, here at 1100; ranges are joined at multiples of 256.
  EXPECT_THROW(run("one", nullptr, false, 1100), Interrupted);
  {
    ThreadRanks link({worker(study)});
    BackendReference backend(study, 1);
    RankCoordinator coordinator(link, study, &backend, settings());
    run("one", &coordinator, true);
  }
  expect_same(files_in(folder / "one"), whole, "from one to many");
}

TEST_F(Ranks, AStudyWithUntilStopsAtTheSameMember) {
  study =
      read_study(thrown_ball, "ball.toml",
                 {"ensemble.members=20000", R"(ensemble.until={measure="highest", relative_stderr=0.01})"});
  const Files whole = whole_run();
  ThreadRanks link({worker(study), worker(study)});
  BackendReference backend(study, 1);
  RankCoordinator coordinator(link, study, &backend, settings());
  run("many", &coordinator);
  expect_same(files_in(folder / "many"), whole, "until");
}

TEST_F(Ranks, UntilOnASweepLeavesTheSameMembersOut) {
  std::string text = thrown_ball + "[output]\nmembers = true\n";
  text.replace(text.find("restitution = 0.4"), 17, "restitution = { sweep = { values = [0.1, 0.5, 0.9] } }");
  text.replace(text.find("members = 300"), 13,
               "members_per_point = 5000\nuntil = { measure = \"landing\", relative_stderr = 0.006 }");
  study = read_study(text, "ball.toml");
  const Files whole = whole_run();
  ThreadRanks link({worker(study), worker(study)});
  BackendReference backend(study, 1);
  RankCoordinator coordinator(link, study, &backend, settings());
  run("many", &coordinator);
  expect_same(files_in(folder / "many"), whole, "until on a sweep");
}

TEST_F(Ranks, AnErrorOfARankIsReportedWithItsNumber) {
  const Study other = read_study(thrown_ball, "ball.toml", {"ensemble.members=3000", "ensemble.seed=9"});
  {
    ThreadRanks link({worker(other)});
    RankCoordinator coordinator(link, study, nullptr, settings());
    const std::string message = message_of<MachineError>([&] { run("a", &coordinator); });
    EXPECT_NE(message.find("rank 1 on this process would run something else: its seed differs"),
              std::string::npos)
        << message;
  }
  const auto failing = [](RankLink& link) {
    try {
      throw MachineError(
          {.message = "the device is on fire", .found = "smoke", .expected = "none", .hint = "water"});
    } catch (...) {
      report_error_to_rank_zero(link);
    }
  };
  {
    ThreadRanks link({failing, worker(study)});
    RankCoordinator coordinator(link, study, nullptr, settings());
    const std::string message = message_of<MachineError>([&] { run("b", &coordinator); });
    EXPECT_NE(message.find("rank 1: the device is on fire"), std::string::npos) << message;
    EXPECT_NE(message.find("water"), std::string::npos) << message;
  }
  WorkerSettings interrupted = settings();
  interrupted.check = [] { throw Interrupted(SIGTERM); };
  ThreadRanks link({worker(study, interrupted)});
  RankCoordinator coordinator(link, study, nullptr, settings());
  EXPECT_THROW(run("c", &coordinator), Interrupted);
}

}  // namespace
}  // namespace zwang::rank_test
