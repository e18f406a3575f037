#include "host/run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>

#include "host/backend/batch.h"
#include "host/estimators/histogram.h"
#include "host/estimators/moments.h"
#include "host/platform/buffer_pool.h"
#include "host/platform/parallel.h"
#include "host/platform/stage_times.h"
#include "host/platform/stopwatch.h"
#include "host/run/all_failed.h"
#include "host/run/count_members.h"
#include "host/sample/start_shocks.h"
#include "host/statistics/plan.h"
#include "host/statistics/reduction_plan.h"
#include "host/statistics/statistics_result.h"
#include "host/study/study.h"
#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/base/error.h"
#include "src/expression/expression.h"
#include "src/system/system.h"

namespace zwang {

void add_performance(RunPerformance& sum, const RunPerformance& next) {
  sum.threads = std::max(sum.threads, next.threads);
  sum.wall_s += next.wall_s;
  sum.compile_s += next.compile_s;
  sum.sample_s += next.sample_s;
  sum.integrate_s += next.integrate_s;
  sum.statistics_s += next.statistics_s;
  sum.write_s += next.write_s;
  sum.trajectories_s += next.trajectories_s;
}

void take_statistics(RunResult& result, const Study& study, std::vector<StatisticsResult> points) {
  if (study.sweeps.empty())
    result.statistics = std::move(points.front());
  else
    result.points = std::move(points);
}

EnsembleRun::EnsembleRun(const Study& study, Backend& backend, RunOptions options)
    : study_(study),
      backend_(backend),
      options_(std::move(options)),
      threads_(thread_count(options_.threads)),
      sampler_(study),
      record_layout_(study, sampler_.drawn()),
      statistics_(ensemble_plan(study, sampler_, options_.statistics_memory), options_.first),
      until_(until_rule(study)),
      batch_size_(study, backend, options_.batch, static_cast<bool>(options_.members)),
      end_(options_.end.value_or(study.ensemble.members)),
      position_(options_.first) {
  assert(options_.first <= end_ && end_ <= study.ensemble.members);
  refuse_unstored_given(study, statistics_, options_.statistics_memory);
  performance_.threads = backend.threads();
  performance_.compile_s = backend.compile_seconds;
}

// A batch does not go past a decision of `until`.
long long EnsembleRun::last_of_decision(long long first) const {
  if (!until_) return end_;
  const long long place = study_.ensemble.place_in_point(first), begin = first - place;
  return std::min(end_, begin + next_decision(place, study_.ensemble.per_point()));
}

// Nor past the members that decide whether everything fails, unless a device integrates so many together.
long long EnsembleRun::last_end(long long first) const {
  const long long last = last_of_decision(first);
  return first < early_members && judges_first_members() ? std::min(last, early_members) : last;
}

bool EnsembleRun::judges_first_members() const {
  return options_.stop_if_all_fail && options_.first == 0 && end_ > early_members && study_.sweeps.empty() &&
         std::none_of(study_.parameters.begin(), study_.parameters.end(), [](const ParameterRule& rule) {
           return rule.distribution && rule.distribution->kind == Distribution::Kind::grid;
         });
}

void EnsembleRun::judge_first_members() {
  if (position_ == early_members && tally_.failed == tally_.members && judges_first_members())
    throw AllFailed(tally_);
}

long long EnsembleRun::batch_end(long long begin, long long up_to) const {
  const long long place = study_.ensemble.place_in_point(begin), point = begin - place;
  if (!reduces_on_device()) {
    const long long last = std::min(last_end(begin), up_to);
    return std::min(last, begin + batch_size_.next(last - begin));
  }
  const long long last = std::min({last_of_decision(begin), up_to, point + study_.ensemble.per_point()});
  const long long end = std::min(last, begin + batch_size_.next(last - begin));
  // The device reduces whole blocks of a point: an open block is completed first, and a batch ends at the end
  // of a block.
  if (place % block_members != 0) return std::min(end, point + (place / block_members + 1) * block_members);
  const long long whole = point + (end - point) / block_members * block_members;
  return end < std::min(end_, point + study_.ensemble.per_point()) && whole > begin ? whole : end;
}

Batch EnsembleRun::draw(long long begin, long long end, std::size_t block) {
  const StageTimer timer("draw");
  const Stopwatch drawing;
  std::vector<unsigned long long> numbers(static_cast<std::size_t>(end - begin));
  const long long first = begin + static_cast<long long>(block) * study_.ensemble.members;
  std::iota(numbers.begin(), numbers.end(), static_cast<unsigned long long>(first));
  Batch made = prepare_batch(study_, sampler_, numbers, threads_);
  performance_.sample_s += drawing.seconds();
  return made;
}

EnsembleRun::Integrated EnsembleRun::integrate(long long begin, long long end, std::size_t block) {
  Integrated made;
  made.batch = draw(begin, end, block);
  const StageTimer timer("integrate");
  const Stopwatch integrating;
  made.results = backend_.run(made.batch, {.observables = block == 0});
  performance_.integrate_s += integrating.seconds();
  return made;
}

EnsembleRun::Rows EnsembleRun::rows_of(long long begin, const Integrated& members) const {
  const Batch& batch = members.batch;
  const std::vector<std::size_t>& drawn = sampler_.drawn();
  const std::size_t parameters = study_.system->parameters.size();
  Rows made;
  made.entered.resize(batch.count);
  made.failed.resize(batch.count);
  made.inputs.resize(batch.count * drawn.size());
  for (std::size_t k = 0; k < batch.count; ++k) {
    const long long member = begin + static_cast<long long>(k);
    made.entered[k] = enters(study_.ensemble, member, members.results.status[k]) ? 1 : 0;
    made.failed[k] = failed_at_end(members.results.status[k]) ? 1 : 0;
    for (std::size_t j = 0; j < drawn.size(); ++j)
      made.inputs[k * drawn.size() + j] = batch.parameters[k * parameters + drawn[j]];
  }
  made.rows = {.first = begin,
               .entered = made.entered,
               .observables = members.results.observables,
               .measures = members.results.measures,
               .inputs = made.inputs,
               .failed = made.failed};
  return made;
}

// The first members of the point, in which this part begins.
void EnsembleRun::set_pilot() {
  const long long point = statistics_.current_point(), per_point = study_.ensemble.per_point();
  if (!pilot_ || pilot_point_ != point)
    pilot_ = integrate(point * per_point, point * per_point + std::min<long long>(block_members, per_point));
  pilot_point_ = point;
  Rows rows = rows_of(point * per_point, *pilot_);
  rows.rows.first = 0;
  statistics_.current().set_pilot(rows.rows);
}

// Whether the present point needs no more members. Without a sweep the run is then done.
void EnsembleRun::decide_until() {
  if (!until_) return;
  if (study_.sweeps.empty()) {
    sure_ = until_met(*until_, statistics_.current());
  } else if (study_.ensemble.place_in_point(position_) != 0 && until_met(*until_, statistics_.current())) {
    statistics_.end_point(threads_);
    position_ = statistics_.position();
  }
}

void EnsembleRun::advance(long long up_to) {
  const Stopwatch all;
  if (statistics_.current().needs_pilot()) set_pilot();
  if (advances_by_blocks(up_to)) {
    advance_by_blocks(up_to);
  } else {
    const long long begin = position_, end = batch_end(begin, up_to);
    advance_by_members(begin, end);
    batch_size_.learn(end - begin, all.seconds());
  }
  performance_.wall_s += all.seconds();
  judge_first_members();
  report_progress(performance_.wall_s);
}

void EnsembleRun::advance_by_members(long long begin, long long end) {
  const Integrated members = integrate(begin, end);
  Rows rows = rows_of(begin, members);
  if (study_.sensitivity) add_other_blocks(begin, end, members.results, rows);

  const Stopwatch counting;
  add_to_tally(tally_, study_.ensemble, begin, members.batch, members.results);
  statistics_.add(rows.rows, threads_);
  performance_.statistics_s += counting.seconds();
  position_ = end;
  decide_until();
  if (!options_.members) return;
  const std::shared_ptr<HostBuffer> records = record_pool_.take(members.batch.count * record_layout_.bytes());
  record_layout_.pack(members.batch, members.results, records->data(), threads_);
  write(begin, records);
}

// Pick-freeze: the other blocks of the rows [begin, end). Their members are counted, but enter no statistics
// of their own.
void EnsembleRun::add_other_blocks(long long begin, long long end, const BatchResults& plain, Rows& made) {
  const SensitivitySettings& settings = *study_.sensitivity;
  const std::size_t rows = plain.status.size(), blocks = settings.blocks(), measures = settings.of.size();
  const std::size_t width = study_.system->member_values();
  made.row_values.resize(rows * blocks * measures);
  made.row_whole = made.entered;
  const auto take = [&](std::size_t block, const BatchResults& results) {
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t m = 0; m < measures; ++m)
        made.row_values[(row * blocks + block) * measures + m] =
            results.measures[row * width + settings.of[m]];
  };
  take(0, plain);
  const long long entered = tally_.entered;
  for (std::size_t block = 1; block < blocks; ++block) {
    const Integrated members = integrate(begin, end, block);
    const long long first = begin + static_cast<long long>(block) * study_.ensemble.members;
    add_to_tally(tally_, study_.ensemble, first, members.batch, members.results);
    for (std::size_t row = 0; row < rows; ++row) {
      if (!failed_at_end(members.results.status[row])) continue;
      made.row_whole[row] = 0;
      ++made.failed[row];
    }
    take(block, members.results);
  }
  tally_.entered = entered;
  tally_.blocks = static_cast<long long>(blocks);
  tally_.block_size = study_.ensemble.members;
  made.rows.row_values = made.row_values;
  made.rows.row_whole = made.row_whole;
}

void EnsembleRun::write(long long begin, std::shared_ptr<const HostBuffer> records) {
  const StageTimer timer("write members");
  const Stopwatch writing;
  options_.members(begin, std::move(records));
  performance_.write_s += writing.seconds();
}

void EnsembleRun::report_progress(double seconds) const {
  if (!options_.progress) return;
  const long long blocks = study_.sensitivity ? static_cast<long long>(study_.sensitivity->blocks()) : 1;
  options_.progress({.done = (position_ - options_.first) * blocks,
                     .of = (end_ - options_.first) * blocks,
                     .failed = tally_.failed,
                     .may_stop_early = until_.has_value(),
                     .seconds = seconds,
                     .too_few = reduces_on_device() && position_ - options_.first <= early_members});
}

RunPart EnsembleRun::part() const {
  return {.first = options_.first,
          .end = end_,
          .position = position_,
          .sure = sure_,
          .tally = tally_,
          .performance = performance_};
}

void EnsembleRun::restore(const RunPart& part, EnsembleStatistics statistics) {
  assert(part.first == options_.first && part.end == end_ && position_ == options_.first);
  assert(statistics.position() == part.position);
  position_ = part.position;
  sure_ = part.sure;
  tally_ = part.tally;
  const RunPerformance own = performance_;
  performance_ = part.performance;
  performance_.threads = own.threads;
  performance_.compile_s += own.compile_s;
  statistics_ = std::move(statistics);
}

void EnsembleRun::begin(long long first, long long end) {
  assert(under_way_.empty());
  options_.first = position_ = first;
  end_ = end;
  until_.reset();
  sure_ = false;
  tally_ = {};
  performance_ = {};
  performance_.threads = backend_.threads();
  statistics_ = EnsembleStatistics(plan(), first);
}

void EnsembleRun::join(const RunPart& part, const EnsembleStatistics& statistics) {
  assert(part.first == position_ && part.position == part.end && part.end <= end_);
  const Stopwatch counting;
  statistics_.join(statistics, threads_);
  join_tally(tally_, part.tally);
  position_ = part.end;
  decide_until();
  add_performance(performance_, part.performance);
  performance_.statistics_s += counting.seconds();
  judge_first_members();
  report_progress(performance_.wall_s);
}

RunResult EnsembleRun::origin() const {
  RunResult made;
  made.backend = backend_.name();
  made.device = backend_.device();
  made.precision = study_.integrator.single ? "single" : "double";
  made.requested = study_.members_in_all();
  made.inputs = sampler_.drawn_names();
  return made;
}

RunResult EnsembleRun::finish() {
  RunResult made = origin();
  const Stopwatch counting;
  take_statistics(made, study_, statistics_.finish(threads_, backend_.column_ranker()));
  performance_.statistics_s += counting.seconds();
  performance_.wall_s += counting.seconds();
  made.sure_early = sure_ && position_ < end_;
  if (!study_.sweeps.empty() && until_)
    made.sure_early = std::all_of(made.points.begin(), made.points.end(),
                                  [](const StatisticsResult& point) { return point.met_until; });
  made.tally = tally_;
  made.start_shocks = start_shocks(study_);
  made.performance = performance_;
  return made;
}

RunResult run_ensemble(const Study& study, Backend& backend, RunOptions options) {
  EnsembleRun run(study, backend, std::move(options));
  while (!run.done()) run.advance();
  return run.finish();
}

}  // namespace zwang
