#include "host/run/run.h"

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
#include "host/statistics/plan.h"
#include "host/statistics/reduction_plan.h"
#include "host/study/study.h"
#include "kernels/base/status.h"
#include "src/system/system.h"

namespace zwang {

namespace {

template <class Named>
std::size_t index_of(const std::vector<Named>& list, const std::string& name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Named& entry) { return entry.name == name; });
  return static_cast<std::size_t>(found - list.begin());
}

// A name in both [observe] and [measure] means the observable.
HistogramPlan histogram_plan(const System& system, const std::string& name,
                             const HistogramSettings& settings) {
  HistogramPlan plan;
  plan.index = index_of(system.observables, name);
  plan.of_measure = plan.index == system.observables.size();
  if (plan.of_measure) plan.index = index_of(system.measures, name);
  plan.bins = static_cast<std::size_t>(settings.bins);
  if (settings.range) plan.range = Range{settings.range->first, settings.range->second};
  return plan;
}

std::optional<UntilRule> until_rule(const Study& study) {
  const std::optional<UntilSettings>& until = study.ensemble.until;
  if (!until) return {};
  return UntilRule{index_of(study.system->measures, until->measure), until->relative_stderr};
}

}  // namespace

void add_performance(RunPerformance& sum, const RunPerformance& next) {
  sum.threads = std::max(sum.threads, next.threads);
  sum.wall_s += next.wall_s;
  sum.compile_s += next.compile_s;
  sum.sample_s += next.sample_s;
  sum.integrate_s += next.integrate_s;
  sum.statistics_s += next.statistics_s;
  sum.write_s += next.write_s;
}

StatisticsPlan statistics_plan(const Study& study, const Sampler& sampler, std::size_t memory) {
  const System& system = *study.system;
  StatisticsPlan plan;
  plan.members = study.ensemble.members;
  plan.outputs = study.time.outputs.size();
  plan.observables = system.observables.size();
  plan.measures = system.measures.size();
  plan.inputs = sampler.drawn().size();
  plan.quantiles = study.statistics.quantiles;
  for (const auto& [name, settings] : study.statistics.histograms)
    plan.histograms.push_back(histogram_plan(system, name, settings));
  plan.memory = memory;
  if (sampler.replicates() > 1) {
    plan.replicates = static_cast<int>(sampler.replicates());
    plan.replicate_of = [&sampler](long long member) {
      return static_cast<int>(sampler.replicate_of(static_cast<unsigned long long>(member)));
    };
  }
  return plan;
}

// The rows of a batch for the statistics, with the arrays they refer to.
struct EnsembleRun::Rows {
  std::vector<char> entered;
  std::vector<double> inputs;
  MemberRows rows;
};

EnsembleRun::EnsembleRun(const Study& study, Backend& backend, RunOptions options)
    : study_(study),
      backend_(backend),
      options_(std::move(options)),
      threads_(thread_count(options_.threads)),
      sampler_(study),
      record_layout_(study, sampler_.drawn()),
      statistics_(statistics_plan(study, sampler_, options_.statistics_memory), options_.first),
      until_(until_rule(study)),
      batch_size_(study, backend, options_.batch, static_cast<bool>(options_.members)),
      end_(options_.end.value_or(study.ensemble.members)),
      position_(options_.first) {
  assert(options_.first <= end_ && end_ <= study.ensemble.members);
  performance_.threads = backend.threads();
  performance_.compile_s = backend.compile_seconds;
  if (backend.draws()) draw_plan_ = draw_plan(study, sampler_);
}

// A batch does not go past a decision of `until`.
long long EnsembleRun::last_end(long long first) const {
  const long long last = until_ ? next_decision(first, end_) : end_;
  // Nor past the members that decide whether everything fails.
  return first < early_members && judges_first_members() ? std::min(last, early_members) : last;
}

bool EnsembleRun::judges_first_members() const {
  return options_.stop_if_all_fail && options_.first == 0 && end_ > early_members &&
         std::none_of(study_.parameters.begin(), study_.parameters.end(), [](const ParameterRule& rule) {
           return rule.distribution && rule.distribution->kind == Distribution::Kind::grid;
         });
}

void EnsembleRun::judge_first_members() {
  if (position_ == early_members && tally_.failed == tally_.members && judges_first_members())
    throw AllFailed(tally_);
}

long long EnsembleRun::batch_end(long long begin, long long up_to) const {
  const long long last = std::min(last_end(begin), up_to);
  const long long end = std::min(last, begin + batch_size_.next(last - begin));
  if (!backend_.reduces()) return end;
  // The device reduces whole blocks: an open block is completed first, and a batch ends at the end of a
  // block.
  if (under_way_.empty() && !statistics_.accepts_blocks())
    return std::min(end, (begin / block_members + 1) * block_members);
  const long long whole = end / block_members * block_members;
  return end < end_ && whole > begin ? whole : end;
}

Batch EnsembleRun::draw(long long begin, long long end) {
  const StageTimer timer("draw");
  const Stopwatch drawing;
  std::vector<unsigned long long> numbers(static_cast<std::size_t>(end - begin));
  std::iota(numbers.begin(), numbers.end(), static_cast<unsigned long long>(begin));
  Batch made = prepare_batch(study_, sampler_, numbers, threads_);
  performance_.sample_s += drawing.seconds();
  return made;
}

EnsembleRun::Integrated EnsembleRun::integrate(long long begin, long long end) {
  Integrated made;
  made.batch = draw(begin, end);
  const StageTimer timer("integrate");
  const Stopwatch integrating;
  made.results = backend_.run(made.batch, {});
  performance_.integrate_s += integrating.seconds();
  return made;
}

EnsembleRun::Rows EnsembleRun::rows_of(long long begin, const Integrated& members) const {
  const Batch& batch = members.batch;
  const std::vector<std::size_t>& drawn = sampler_.drawn();
  const std::size_t parameters = study_.system->parameters.size();
  Rows made;
  made.entered.resize(batch.count);
  made.inputs.resize(batch.count * drawn.size());
  for (std::size_t k = 0; k < batch.count; ++k) {
    const long long member = begin + static_cast<long long>(k);
    made.entered[k] = enters(study_.ensemble, member, members.results.status[k]) ? 1 : 0;
    for (std::size_t j = 0; j < drawn.size(); ++j)
      made.inputs[k * drawn.size() + j] = batch.parameters[k * parameters + drawn[j]];
  }
  made.rows = {.first = begin,
               .entered = made.entered,
               .observables = members.results.observables,
               .measures = members.results.measures,
               .inputs = made.inputs};
  return made;
}

void EnsembleRun::set_pilot() {
  if (!pilot_) pilot_ = integrate(0, std::min<long long>(block_members, study_.ensemble.members));
  statistics_.set_pilot(rows_of(0, *pilot_).rows);
}

void EnsembleRun::advance(long long up_to) {
  const Stopwatch all;
  if (statistics_.needs_pilot()) set_pilot();
  if (!under_way_.empty() || (backend_.reduces() && statistics_.accepts_blocks())) {
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

  const Stopwatch counting;
  add_to_tally(tally_, study_.ensemble, begin, members.batch, members.results);
  statistics_.add(rows_of(begin, members).rows, threads_);
  performance_.statistics_s += counting.seconds();
  position_ = end;
  sure_ = until_ && until_met(*until_, statistics_);
  if (!options_.members) return;
  const std::shared_ptr<HostBuffer> records = record_pool_.take(members.batch.count * record_layout_.bytes());
  record_layout_.pack(members.batch, members.results, records->data(), threads_);
  write(begin, records);
}

void EnsembleRun::write(long long begin, std::shared_ptr<const HostBuffer> records) {
  const StageTimer timer("write members");
  const Stopwatch writing;
  options_.members(begin, std::move(records));
  performance_.write_s += writing.seconds();
}

void EnsembleRun::report_progress(double seconds) const {
  if (!options_.progress) return;
  options_.progress({.done = position_ - options_.first,
                     .of = end_ - options_.first,
                     .failed = tally_.failed,
                     .may_stop_early = until_.has_value(),
                     .seconds = seconds});
}

RunPart EnsembleRun::part() const {
  return {.first = options_.first,
          .end = end_,
          .position = position_,
          .sure = sure_,
          .tally = tally_,
          .performance = performance_};
}

void EnsembleRun::restore(const RunPart& part, Statistics statistics) {
  assert(part.first == options_.first && part.end == end_ && position_ == options_.first);
  assert(statistics.first_member() + statistics.members() == part.position);
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
  statistics_ = Statistics(plan(), first);
}

void EnsembleRun::join(const RunPart& part, const Statistics& statistics) {
  assert(part.first == position_ && part.position == part.end && part.end <= end_);
  const Stopwatch counting;
  statistics_.join(statistics);
  join_tally(tally_, part.tally);
  position_ = part.end;
  sure_ = until_ && until_met(*until_, statistics_);
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
  made.requested = study_.ensemble.members;
  made.inputs = sampler_.drawn_names();
  return made;
}

RunResult EnsembleRun::finish() {
  RunResult made = origin();
  const Stopwatch counting;
  made.statistics = statistics_.finish(threads_, backend_.column_ranker());
  performance_.statistics_s += counting.seconds();
  performance_.wall_s += counting.seconds();
  made.sure_early = sure_ && position_ < end_;
  made.tally = tally_;
  made.performance = performance_;
  return made;
}

RunResult run_ensemble(const Study& study, Backend& backend, RunOptions options) {
  EnsembleRun run(study, backend, std::move(options));
  while (!run.done()) run.advance();
  return run.finish();
}

}  // namespace zwang
