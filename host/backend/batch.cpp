#include "host/backend/batch.h"

#include <algorithm>
#include <cassert>

#include "host/platform/parallel.h"
#include "host/sample/prepared_member.h"
#include "host/sample/sampler.h"
#include "host/statistics/deferred_plan.h"
#include "host/statistics/reduction_plan.h"
#include "host/study/study.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

ReducedBatch Backend::run_reduced(const Batch&, long long, DeferredPlan&, const RecordTarget&) {
  assert(false);  // must not be called if reduces() is false
  return {};
}

namespace {

Batch allocate_batch(const System& system, std::size_t count) {
  Batch batch;
  batch.count = count;
  batch.parameters.resize(count * system.parameters.size());
  batch.starts.resize(count * (2 * system.size() + system.auxiliaries.size()));
  batch.prepared.resize(count);
  batch.position_moved.resize(count);
  batch.velocity_moved.resize(count);
  batch.drawn_change.resize(count);
  batch.drawn_change_of.resize(count, -1);
  batch.attempts.resize(count);
  return batch;
}

void put(const PreparedMember& member, std::size_t k, Batch& batch) {
  const std::vector<double>& parameters = member.inputs.parameters;
  const State& start = member.start;
  std::copy(parameters.begin(), parameters.end(), batch.parameters.data() + k * parameters.size());
  double* to = batch.starts.data() + k * static_cast<std::size_t>(2 * start.q.size() + start.z.size());
  to = std::copy(start.q.begin(), start.q.end(), to);
  to = std::copy(start.v.begin(), start.v.end(), to);
  std::copy(start.z.begin(), start.z.end(), to);
  batch.prepared[k] = member.preparation.status;
  batch.position_moved[k] = member.preparation.position_moved;
  batch.velocity_moved[k] = member.preparation.velocity_moved;
  batch.drawn_change[k] = member.drawn_change;
  batch.drawn_change_of[k] = member.drawn_change_of;
  batch.attempts[k] = member.attempts;
}

}  // namespace

Batch prepare_batch(const Study& study, std::span<const unsigned long long> members, unsigned threads) {
  return prepare_batch(study, Sampler(study), members, threads);
}

Batch prepare_batch(const Study& study, const Sampler& sampler, std::span<const unsigned long long> members,
                    unsigned threads) {
  Batch batch = allocate_batch(*study.system, members.size());
  // Members are prepared in chunks so that the scratch of one thread is reused for many members.
  constexpr std::size_t chunk = 256;
  in_parallel((batch.count + chunk - 1) / chunk, threads, [&](std::size_t part) {
    Sampler::Scratch scratch;
    PreparedMember member;
    for (std::size_t k = part * chunk; k < std::min(batch.count, (part + 1) * chunk); ++k) {
      sampler.prepare(members[k], scratch, member);
      put(member, k, batch);
    }
  });
  return batch;
}

}  // namespace zwang
