// Batches whose statistics are computed on a device. Several are under way at the same time: one is
// integrated while another one is reduced there and a third one is counted here. They are counted in the
// order of their members.
#include <algorithm>
#include <cassert>
#include <exception>
#include <utility>

#include "host/backend/backend.h"
#include "host/estimators/moments.h"
#include "host/platform/stage_times.h"
#include "host/platform/stopwatch.h"
#include "host/run/all_failed.h"
#include "host/run/count_members.h"
#include "host/run/run.h"
#include "host/sample/draw_plan.h"
#include "host/statistics/deferred_plan.h"
#include "host/statistics/plan.h"
#include "host/statistics/reduction_plan.h"
#include "host/statistics/run_tally.h"
#include "host/statistics/statistics.h"
#include "host/study/study.h"
#include "kernels/base/status.h"
#include "src/system/system.h"

namespace zwang {

// A point of the sweeps has a plan of its own. Batches that are under way are all of one point.
Batch EnsembleRun::draw_on_device_or_here(long long begin, long long end) {
  const long long point = study_.ensemble.point_of(begin);
  if (backend_.draws() && planned_point_ != point) {
    assert(under_way_.empty());
    draw_plan_ = draw_plan(study_, sampler_, static_cast<unsigned long long>(point));
    planned_point_ = point;
  }
  if (!draw_plan_) return draw(begin, end);
  Batch made;
  made.count = static_cast<std::size_t>(end - begin);
  made.device_sampling = &*draw_plan_;
  return made;
}

// Begins batches until as many are under way as the backend takes. With `until` there is one at a time,
// because its result decides whether there is another one. Those under way are of one point of the sweeps,
// whose statistics say what is reduced; members are numbered in the point, as its statistics number them.
void EnsembleRun::begin_batches(long long up_to) {
  const std::size_t at_once = until_ ? 1 : backend_.batches_at_once();
  for (;;) {
    const long long begin = under_way_.empty() ? position_ : under_way_.back()->end;
    if (under_way_.size() >= at_once || begin >= std::min(end_, up_to)) return;
    const EnsembleSettings& ensemble = study_.ensemble;
    if (!under_way_.empty() && ensemble.point_of(begin) != ensemble.point_of(under_way_.front()->begin))
      return;
    const long long place = ensemble.place_in_point(begin);
    if (place % block_members != 0) return;  // an open block is completed by members
    auto next = std::make_unique<BatchUnderWay>();
    next->begin = begin;
    next->end = batch_end(begin, up_to);
    next->batch = draw_on_device_or_here(begin, next->end);
    next->plan = plan_of_batch();
    RecordTarget target;
    if (options_.members) {
      next->records = record_pool_.take(next->batch.count * record_layout_.bytes());
      target = {&record_layout_, next->records->data()};
    }
    next->begun_s = clock_.seconds();
    next->reduced = std::async(std::launch::async, [this, target, place, own = next.get()] {
      const StageTimer timer("integrate");
      try {
        return backend_.run_reduced(own->batch, place, *own->plan, target);
      } catch (...) {
        own->plan->abandon(std::current_exception());
        throw;
      }
    });
    under_way_.push_back(std::move(next));
  }
}

// The next batch begins before this one is counted, so that the device always has work.
void EnsembleRun::advance_by_blocks(long long up_to) {
  begin_batches(up_to);
  const ReducedBatch reduced = [&] {
    const StageTimer timer("integrate: wait for a batch");
    return under_way_.front()->reduced.get();
  }();
  const std::unique_ptr<BatchUnderWay> done = std::move(under_way_.front());
  under_way_.pop_front();
  if (done->begin == 0) judge_first_members(reduced);
  if (done->plan == first_plan_) {
    if (statistics_.current().awaits_pilot())
      statistics_.current().set_pilot(rows_of_first_block(done->begin, first_plan_->first_block()).rows);
    first_plan_.reset();
  }
  // Times of batches under way together overlap: each is counted from the end of the one before.
  const double now_s = clock_.seconds(), seconds = now_s - std::max(done->begun_s, last_end_s_);
  last_end_s_ = now_s;
  performance_.integrate_s += seconds;
  batch_size_.learn(done->end - done->begin, seconds);
  position_ = done->end;
  // The next point begins once this one is counted.
  const bool same_point = study_.ensemble.point_of(position_) == study_.ensemble.point_of(done->begin);
  if (!until_ && same_point) begin_batches(up_to);
  count_reduced(*done, reduced);
  decide_until();
  if (!options_.members) return;
  record_layout_.enter_starts(done->batch, done->records->data(), threads_);
  write(done->begin, done->records);
}

// The statistics of whole blocks were computed on the device; an incomplete last block is added here.
void EnsembleRun::count_reduced(const BatchUnderWay& done, const ReducedBatch& reduced) {
  const StageTimer timer("count batches");
  const Stopwatch counting;
  add_starts_to_tally(tally_, study_.ensemble, done.begin, done.batch);
  const long long shift = done.begin - study_.ensemble.place_in_point(done.begin);
  for (const ReducedMembers& part : reduced.parts) {
    const long long failed_before = tally_.failed;
    add_ends_to_tally(tally_, part, shift);
    auto entered = static_cast<long long>(part.tally.entered);
    const long long tail = part.first + part.blocks.blocks * block_members;
    for (std::size_t k = 0; k < part.tail.status.size(); ++k)
      entered -=
          enters(study_.ensemble, tail + static_cast<long long>(k), static_cast<Status>(part.tail.status[k]));
    statistics_.add_blocks(done.plan->made(), part.blocks, entered, tally_.failed - failed_before, threads_);
    add_tail(part, shift);
  }
  performance_.statistics_s += counting.seconds();
}

// The plan of the next batch. The first block of a point, from which the pivots of buckets come, is a part of the point's
// first batch: the batches that begin before it has ended share a plan that its first block makes.
std::shared_ptr<DeferredPlan> EnsembleRun::plan_of_batch() {
  if (first_plan_) return first_plan_;
  if (!statistics_.current().awaits_pilot())
    return std::make_shared<DeferredPlan>(with_draws(statistics_.current_reduction()));
  const StatisticsPlan& point = statistics_.plan().point;
  const long long shift = position_ - study_.ensemble.place_in_point(position_);
  first_plan_ = std::make_shared<DeferredPlan>(
      with_draws(Statistics::reduction_with_pilot(point, {})), [this, point, shift](const DeviceRows& block) {
        return with_draws(Statistics::reduction_with_pilot(point, rows_of_first_block(shift, block).rows));
      });
  return first_plan_;
}

// With what the reduction has to know of the draws.
ReductionPlan EnsembleRun::with_draws(ReductionPlan plan) const {
  plan.parameters = study_.system->parameters.size();
  for (const std::size_t parameter : sampler_.drawn()) plan.drawn.push_back(static_cast<int>(parameter));
  plan.nominal = study_.ensemble.include_nominal;
  plan.first_drawn = plan.nominal ? 1 : 0;
  return plan;
}

// Whether the next members are reduced on the device: whole blocks, of which the first may set the pilot.
bool EnsembleRun::advances_by_blocks(long long up_to) {
  if (!under_way_.empty()) return true;
  if (!reduces_on_device()) return false;
  if (!statistics_.current().awaits_pilot()) return statistics_.accepts_blocks();
  return batch_end(position_, up_to) - position_ >= block_members;
}

// The same members decide as where they are a batch of their own (all_failed.h).
void EnsembleRun::judge_first_members(const ReducedBatch& reduced) const {
  if (!judges_first_members()) return;
  RunTally early;
  for (const ReducedMembers& part : reduced.parts)
    for (std::size_t k = 0; k < part.status.size() && early.members < early_members; ++k)
      add_end_to_tally(early, early.members, static_cast<Status>(part.status[k]));
  if (early.members == early_members && early.failed == early.members) throw AllFailed(early);
}

EnsembleRun::Rows EnsembleRun::rows_of(long long first, const DeviceRows& members) const {
  const std::size_t count = members.status.size(), parameters = study_.system->parameters.size();
  Rows made;
  for (std::size_t k = 0; k < count; ++k) {
    const long long member = first + static_cast<long long>(k);
    made.entered.push_back(enters(study_.ensemble, member, static_cast<Status>(members.status[k])) ? 1 : 0);
    for (const std::size_t drawn : sampler_.drawn())
      made.inputs.push_back(members.parameters[k * parameters + drawn]);
  }
  made.rows = {.first = first,
               .entered = made.entered,
               .observables = members.observables,
               .measures = members.measures,
               .inputs = made.inputs};
  return made;
}

// Numbered in the point, as the pilot wants them.
EnsembleRun::Rows EnsembleRun::rows_of_first_block(long long first, const DeviceRows& members) const {
  Rows made = rows_of(first, members);
  made.rows.first = 0;
  return made;
}

void EnsembleRun::add_tail(const ReducedMembers& part, long long shift) {
  if (part.tail.status.empty()) return;
  const long long first = shift + part.first + part.count - static_cast<long long>(part.tail.status.size());
  statistics_.add(rows_of(first, part.tail).rows, threads_);
}

}  // namespace zwang
