// An ensemble from its first member to its statistics: members are drawn, integrated, counted and forgotten,
// batch after batch, in the order of their numbers.
#pragma once

#include <functional>
#include <limits>
#include <optional>

#include "host/backend/backend.h"
#include "host/backend/batch_size.h"
#include "host/run/run_result.h"
#include "host/sample/draw_plan.h"
#include "host/sample/sampler.h"
#include "host/statistics/plan.h"
#include "host/statistics/reduction_plan.h"
#include "host/statistics/run_tally.h"
#include "host/statistics/statistics.h"
#include "host/statistics/until.h"
#include "host/study/study.h"

namespace zwang {

struct RunProgress {
  long long done = 0, of = 0;  // members
  long long failed = 0;
  bool may_stop_early = false;  // `until`: `of` is the cap
  double seconds = 0;           // since the first batch began
};

struct RunOptions {
  unsigned threads = 0;  // that draw and do statistics; 0: as many as the machine has cores
  long long batch = 0;   // members at a time; 0: chosen. Changes no bit.
  std::size_t statistics_memory = std::size_t{512} << 20;  // beyond it quantiles are of buckets
  // The part of the ensemble to run: [first, end), first a multiple of 256; all of it where not given.
  long long first = 0;
  std::optional<long long> end = std::nullopt;

  // Told after every batch. Whatever they throw ends the run.
  std::function<void(long long first, const Batch& batch, const BatchResults& results)> members = {};
  std::function<void(const RunProgress& progress)> progress = {};
};

// Where a run stands, beside its statistics: what it takes to go on elsewhere or later.
struct RunPart {
  long long first = 0, end = 0, position = 0;  // [first, position) of [first, end) are done
  bool sure = false;                           // `until` was met
  RunTally tally;
  RunPerformance performance;
};

// Seconds of both; the larger number of threads.
void add_performance(RunPerformance& sum, const RunPerformance& next);

// What statistics a study asks for. The sampler must outlive the plan.
StatisticsPlan statistics_plan(const Study& study, const Sampler& sampler, std::size_t memory);

// A run on its way: statistics and tally of the members [first, position). Study and backend must outlive it.
class EnsembleRun {
 public:
  // Throws Error as Sampler does.
  EnsembleRun(const Study& study, Backend& backend, RunOptions options);
  EnsembleRun(const EnsembleRun&) = delete;
  EnsembleRun& operator=(const EnsembleRun&) = delete;

  bool done() const { return position_ >= end_ || sure_; }
  // By one batch, which ends at `up_to` at the latest. Throws Error where a member's draw or start is
  // impossible.
  void advance(long long up_to = std::numeric_limits<long long>::max());
  RunResult finish();  // once

  RunPart part() const;
  // Goes on where another run of the same study stood. Before the first advance().
  void restore(const RunPart& part, Statistics statistics);
  // Starts over with another part of the ensemble, first a multiple of 256: what a worker does for whoever
  // collects. When to stop is then the collector's business.
  void begin(long long first, long long end);
  // Takes in the part that follows, run elsewhere. Where this run stands must be a multiple of 256.
  void join(const RunPart& part, const Statistics& statistics);
  // Where a piece of the ensemble that begins at `first` must end at the latest.
  long long last_end(long long first) const;
  // As the statistics of this run are laid out: for loading some.
  StatisticsPlan plan() const { return statistics_plan(study_, sampler_, options_.statistics_memory); }

  // What is known beforehand: backend, device, precision, names of the inputs.
  RunResult origin() const;
  const Sampler& sampler() const { return sampler_; }
  const Statistics& statistics() const { return statistics_; }
  const RunTally& tally() const { return tally_; }

 private:
  struct Integrated {
    Batch batch;
    BatchResults results;
  };
  struct Rows;
  long long batch_end(long long up_to) const;
  Batch draw(long long begin, long long end);
  Batch leave_drawing_to_device(long long begin, long long end) const;
  Integrated integrate(long long begin, long long end);
  void advance_by_members(long long begin, long long end);
  void advance_by_blocks(long long begin, long long end);
  ReductionPlan reduction() const;
  void add_tail(const ReducedMembers& part);
  void write(long long begin, const Batch& batch, const BatchResults& results);
  Rows rows_of(long long begin, const Integrated& members) const;
  void set_pilot();
  void report_progress(double seconds) const;

  const Study& study_;
  Backend& backend_;
  RunOptions options_;
  unsigned threads_;
  Sampler sampler_;
  std::optional<DrawPlan> draw_plan_;  // where the backend draws
  Statistics statistics_;
  std::optional<UntilRule> until_;
  BatchSize batch_size_;
  std::optional<Integrated> pilot_;  // members 0 to 255, once somebody had to look at them
  long long end_, position_;
  bool sure_ = false;
  RunTally tally_;
  RunPerformance performance_;
};

// All of it.
RunResult run_ensemble(const Study& study, Backend& backend, RunOptions options);

}  // namespace zwang
