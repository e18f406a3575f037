// Batches whose statistics are computed on a device. Several are under way at the same time: one is
// integrated while another one is reduced there and a third one is counted here. They are counted in the
// order of their members.
#include <algorithm>
#include <cassert>
#include <utility>

#include "host/backend/backend.h"
#include "host/estimators/moments.h"
#include "host/platform/stage_times.h"
#include "host/platform/stopwatch.h"
#include "host/run/all_failed.h"
#include "host/run/count_members.h"
#include "host/run/run.h"
#include "host/sample/draw_plan.h"
#include "host/statistics/reduction_plan.h"
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
    // While a large batch is under way, a small one beside it takes many times as long as alone.
    if (position_ < early_members && begin >= early_members && judges_first_members()) return;
    const EnsembleSettings& ensemble = study_.ensemble;
    if (!under_way_.empty() && ensemble.point_of(begin) != ensemble.point_of(under_way_.front()->begin))
      return;
    const long long place = ensemble.place_in_point(begin);
    if (place % block_members != 0) return;  // an open block is completed by members
    auto next = std::make_unique<BatchUnderWay>();
    next->begin = begin;
    next->end = batch_end(begin, up_to);
    next->batch = draw_on_device_or_here(begin, next->end);
    next->plan = reduction();
    RecordTarget target;
    if (options_.members) {
      next->records = record_pool_.take(next->batch.count * record_layout_.bytes());
      target = {&record_layout_, next->records->data()};
    }
    next->begun_s = clock_.seconds();
    next->reduced = std::async(std::launch::async, [this, target, place, own = next.get()] {
      const StageTimer timer("integrate");
      return backend_.run_reduced(own->batch, place, own->plan, target);
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
    for (std::size_t k = 0; k < part.tail_status.size(); ++k)
      entered -=
          enters(study_.ensemble, tail + static_cast<long long>(k), static_cast<Status>(part.tail_status[k]));
    statistics_.add_blocks(done.plan, part.blocks, entered, tally_.failed - failed_before, threads_);
    add_tail(part, shift);
  }
  performance_.statistics_s += counting.seconds();
}

ReductionPlan EnsembleRun::reduction() const {
  ReductionPlan plan = statistics_.current_reduction();
  plan.parameters = study_.system->parameters.size();
  for (const std::size_t parameter : sampler_.drawn()) plan.drawn.push_back(static_cast<int>(parameter));
  plan.nominal = study_.ensemble.include_nominal;
  plan.first_drawn = plan.nominal ? 1 : 0;
  return plan;
}

void EnsembleRun::add_tail(const ReducedMembers& part, long long shift) {
  const std::size_t rows = part.tail_status.size(), parameters = study_.system->parameters.size();
  if (rows == 0) return;
  const long long first = shift + part.first + part.count - static_cast<long long>(rows);
  std::vector<char> entered;
  std::vector<double> inputs;
  for (std::size_t k = 0; k < rows; ++k) {
    const long long member = first + static_cast<long long>(k);
    entered.push_back(enters(study_.ensemble, member, static_cast<Status>(part.tail_status[k])) ? 1 : 0);
    for (const std::size_t drawn : sampler_.drawn())
      inputs.push_back(part.tail_parameters[k * parameters + drawn]);
  }
  statistics_.add({.first = first,
                   .entered = entered,
                   .observables = part.tail_observables,
                   .measures = part.tail_measures,
                   .inputs = inputs},
                  threads_);
}

}  // namespace zwang
