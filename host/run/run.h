// Runs an ensemble: draws members, integrates them and adds them to the statistics, batch by batch in the
// order of their numbers. Members are not kept.
#pragma once

#include <deque>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "host/backend/backend.h"
#include "host/backend/batch_size.h"
#include "host/backend/member_bytes.h"
#include "host/estimators/rank_correlation.h"
#include "host/platform/buffer_pool.h"
#include "host/platform/stopwatch.h"
#include "host/run/ensemble_plan.h"
#include "host/run/run_result.h"
#include "host/sample/draw_plan.h"
#include "host/sample/sampler.h"
#include "host/statistics/deferred_plan.h"
#include "host/statistics/ensemble_statistics.h"
#include "host/statistics/plan.h"
#include "host/statistics/reduction_plan.h"
#include "host/statistics/run_tally.h"
#include "host/statistics/statistics.h"
#include "host/statistics/statistics_result.h"
#include "host/statistics/until.h"
#include "host/study/study.h"

namespace zwang {

struct RunProgress {
  long long done = 0, of = 0;  // members
  long long failed = 0;
  bool may_stop_early = false;  // `until` is given: `of` is the limit
  double seconds = 0;           // since the first batch began
  bool too_few = false;         // so few are done that they say nothing about the speed of a device
};

struct RunOptions {
  unsigned threads = 0;  // for drawing and statistics; 0: the number of cores
  long long batch = 0;   // members per batch; 0: chosen. Does not change results.
  std::size_t statistics_memory = std::size_t{512} << 20;  // beyond it quantiles are estimated from buckets
  // Throws AllFailed if the first early_members members of the ensemble all fail. Not with grids or
  // sweeps, whose first members are one corner and not a sample.
  bool stop_if_all_fail = false;
  // The part of the ensemble to run: [first, end), both where blocks begin; the whole by default.
  long long first = 0;
  std::optional<long long> end = std::nullopt;

  // Called after every batch. An exception from them ends the run. The records of its members, packed as
  // MemberRecordLayout says, may be kept and read by other threads; their memory is used again when they are
  // dropped.
  std::function<void(long long first, std::shared_ptr<const HostBuffer> records)> members = {};
  std::function<void(const RunProgress& progress)> progress = {};
};

// The state of a run apart from its statistics, as needed to continue it later or in another process.
struct RunPart {
  long long first = 0, end = 0, position = 0;  // [first, position) of [first, end) are done
  bool sure = false;                           // `until` was met
  RunTally tally;
  RunPerformance performance;
};

// Adds the seconds; takes the larger number of threads.
void add_performance(RunPerformance& sum, const RunPerformance& next);

// Moves the results of the points into their place: one set of statistics, or one for each point of the
// sweeps.
void take_statistics(RunResult& result, const Study& study, std::vector<StatisticsResult> points);

// A run in progress: statistics and tally of the members [first, position). Study and backend must outlive
// it.
class EnsembleRun {
 public:
  // Throws Error as Sampler does.
  EnsembleRun(const Study& study, Backend& backend, RunOptions options);
  EnsembleRun(const EnsembleRun&) = delete;
  EnsembleRun& operator=(const EnsembleRun&) = delete;

  bool done() const { return position_ >= end_ || sure_; }
  // Counts one more batch, which ends at `up_to` at the latest. On a device the next batches are integrated
  // meanwhile; no batch that has begun goes beyond `up_to`. Throws Error if a member cannot be drawn or
  // started.
  void advance(long long up_to = std::numeric_limits<long long>::max());
  RunResult finish();  // once
  // Whether finish() uses the backend's device: for values that are there, or to rank long columns.
  bool needs_device() const {
    return statistics_.has_device_values() ||
           statistics_.longest_column() >= static_cast<long long>(long_column);
  }

  RunPart part() const;
  // Continues from the state of another run of the same study. To be called before the first advance().
  void restore(const RunPart& part, EnsembleStatistics statistics);
  // Starts over with another part of the ensemble, where a block begins. Used by workers; early stopping
  // is then decided by the process that collects the parts.
  void begin(long long first, long long end);
  // Appends the part that follows, run by another process. The position of this run must be one at which a
  // block begins.
  void join(const RunPart& part, const EnsembleStatistics& statistics);
  // The last possible end of a range of members that begins at `first`: the next `until` decision, or the
  // end.
  long long last_end(long long first) const;
  // The plan of this run's statistics, needed to load statistics.
  EnsemblePlan plan() const { return ensemble_plan(study_, sampler_, options_.statistics_memory); }
  MemberBlocks blocks() const { return {study_.ensemble.points(), study_.ensemble.per_point()}; }

  // The fields that are known before the run: backend, device, precision, names of the inputs.
  RunResult origin() const;
  const Sampler& sampler() const { return sampler_; }
  const EnsembleStatistics& statistics() const { return statistics_; }
  const RunTally& tally() const { return tally_; }

 private:
  struct Integrated {
    Batch batch;
    BatchResults results;
  };
  // The rows of members for the statistics, with the arrays they refer to.
  struct Rows {
    std::vector<char> entered, row_whole;
    std::vector<int> failed;
    std::vector<double> inputs, row_values;
    MemberRows rows;
  };
  // A batch that a device integrates and reduces.
  struct BatchUnderWay {
    long long begin = 0, end = 0;
    Batch batch;
    std::shared_ptr<DeferredPlan> plan;
    std::shared_ptr<HostBuffer> records;  // null: not wanted
    double begun_s = 0;                   // by clock_
    std::future<ReducedBatch> reduced;    // last: its thread uses the others
  };
  long long batch_end(long long begin, long long up_to) const;
  Batch draw(long long begin, long long end, std::size_t block = 0);
  Batch draw_on_device_or_here(long long begin, long long end);
  // `block`: of pick-freeze; observables are wanted of block 0 only.
  Integrated integrate(long long begin, long long end, std::size_t block = 0);
  void add_other_blocks(long long begin, long long end, const BatchResults& plain, Rows& made);
  void advance_by_members(long long begin, long long end);
  void advance_by_blocks(long long up_to);
  void begin_batches(long long up_to);
  void count_reduced(const BatchUnderWay& done, const ReducedBatch& reduced);
  bool advances_by_blocks(long long up_to);
  std::shared_ptr<DeferredPlan> plan_of_batch();
  ReductionPlan with_draws(ReductionPlan plan) const;
  void judge_first_members(const ReducedBatch& reduced) const;
  void add_tail(const ReducedMembers& part, long long shift);
  void write(long long begin, std::shared_ptr<const HostBuffer> records);
  Rows rows_of(long long begin, const Integrated& members) const;
  Rows rows_of(long long first, const DeviceRows& members) const;
  Rows rows_of_first_block(long long first, const DeviceRows& members) const;
  void set_pilot();
  // The rows of records, and of pick-freeze, whose values are needed together, are counted on the host. So
  // are points of a sweep with few members: a batch on the device ends with its point.
  bool reduces_on_device() const {
    return backend_.reduces() && study_.system->records.empty() && !study_.sensitivity &&
           (study_.sweeps.empty() || study_.ensemble.per_point() >= backend_.fewest_reduced());
  }
  void decide_until();
  void report_progress(double seconds) const;
  long long last_of_decision(long long first) const;
  bool judges_first_members() const;
  void judge_first_members();

  const Study& study_;
  Backend& backend_;
  RunOptions options_;
  unsigned threads_;
  Sampler sampler_;
  MemberRecordLayout record_layout_;
  BufferPool record_pool_;
  std::optional<DrawPlan> draw_plan_;  // set if the backend draws the members of planned_point_
  std::optional<long long> planned_point_;
  EnsembleStatistics statistics_;
  std::optional<UntilRule> until_;
  BatchSize batch_size_;
  std::optional<Integrated> pilot_;  // the first 256 members of a point, if the statistics needed them
  long long pilot_point_ = 0;        // of the sweeps
  long long end_, position_;
  bool sure_ = false;
  RunTally tally_;
  RunPerformance performance_;
  Stopwatch clock_;
  double last_end_s_ = 0;                                 // when the last batch on a device ended, by clock_
  std::deque<std::unique_ptr<BatchUnderWay>> under_way_;  // in the order of their members
  std::shared_ptr<DeferredPlan> first_plan_;              // while the batch with the first block is under way
};

// Runs the whole ensemble.
RunResult run_ensemble(const Study& study, Backend& backend, RunOptions options);

}  // namespace zwang
