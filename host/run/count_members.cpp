#include "host/run/count_members.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "host/backend/kernel_buffers.h"
#include "host/statistics/reduction_plan.h"
#include "host/study/study.h"
#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "kernels/reduce/reduce_layout.h"
#include "kernels/reduce/worst_share.h"
#include "src/reference/trajectory.h"

namespace zwang {

namespace {

bool ended_well(Status status) { return status == Status::ok || status == Status::stopped; }

// Adds counts; an overflow saturates.
void add_count(long long& sum, long long next) {
  if (__builtin_add_overflow(sum, next, &sum)) sum = std::numeric_limits<long long>::max();
}

bool is_nominal(const EnsembleSettings& ensemble, long long member) {
  return ensemble.include_nominal && ensemble.place_in_point(member) == 0;
}

void add_draws(RunTally& tally, const EnsembleSettings& ensemble, const Batch& batch, std::size_t k) {
  const bool gave_up = ensemble.consistency == Consistency::reject && batch.prepared[k] != Status::ok;
  tally.draws += batch.attempts[k];
  tally.redrawn += batch.attempts[k] - 1;
  tally.refused_draws += batch.attempts[k] - (gave_up ? 0 : 1);
}

// Of two equal changes the one of the lower number counts, so that the order of adding does not matter.
void add_drawn_change(RunTally& tally, double change, long long of) {
  const bool lower = change == tally.largest_drawn_change && of >= 0 && of < tally.largest_drawn_change_of;
  if (!(change > tally.largest_drawn_change) && !lower) return;
  tally.largest_drawn_change = change;
  tally.largest_drawn_change_of = of;
}

void add_move(RunTally& tally, const Batch& batch, std::size_t k) {
  const double position = batch.position_moved[k], velocity = batch.velocity_moved[k];
  if (position == 0 && velocity == 0) return;  // the usual case
  if (position > 0 || velocity > 0) ++tally.moved;
  tally.largest_position_move = std::fmax(tally.largest_position_move, position);
  tally.largest_velocity_move = std::fmax(tally.largest_velocity_move, velocity);
  tally.total_position_move.add(position);
  tally.total_velocity_move.add(velocity);
  if (batch.drawn_change[k] > RunTally::drawn_change_noted) ++tally.drawn_changed;
  add_drawn_change(tally, batch.drawn_change[k], batch.drawn_change_of[k]);
}

void add_audit(Audit& worst, const Audit& audit) {
  const auto keep = [](double& largest, double value) { largest = std::fmax(largest, value); };
  keep(worst.position_violation, audit.position_violation);
  keep(worst.velocity_violation, audit.velocity_violation);
  keep(worst.energy_drift, audit.energy_drift);
  keep(worst.energy_size, audit.energy_size);
  keep(worst.kkt, audit.kkt);
  keep(worst.carnot, audit.carnot);
  keep(worst.energy_created, audit.energy_created);
}

// Of two members with the same share the first counts, so that the order of adding does not matter.
void add_share(WorstShare& worst, double share, long long member) {
  if (share > worst.share || (share == worst.share && share > 0 && member < worst.member))
    worst = {share, member};
}

void add_shares(RunTally& tally, const Audit& audit, long long member) {
  const std::array<double, audit_shares> shares = {audit.energy_share, audit.condition_share,
                                                   audit.shock_share};
  for (std::size_t k = 0; k < shares.size(); ++k) add_share(tally.shares[k], kept_share(shares[k]), member);
}

// The smallest numbers, ascending.
void add_example(std::vector<long long>& examples, long long member) {
  examples.insert(std::upper_bound(examples.begin(), examples.end(), member), member);
  if (examples.size() > RunTally::examples_kept) examples.pop_back();
}

void add_end(RunTally& tally, long long member, Status status) {
  const auto how = static_cast<std::size_t>(status);
  ++tally.status[how];
  if (!ended_well(status)) ++tally.failed;
  if (status != Status::ok) add_example(tally.examples[how], member);
}

}  // namespace

bool failed_at_end(Status status) { return !ended_well(status); }

bool enters(const EnsembleSettings& ensemble, long long member, Status status) {
  return ended_well(status) && !is_nominal(ensemble, member);
}

void add_to_tally(RunTally& tally, const EnsembleSettings& ensemble, long long first, const Batch& batch,
                  const BatchResults& results) {
  add_starts_to_tally(tally, ensemble, first, batch);
  for (std::size_t k = 0; k < batch.count; ++k) {
    const long long member = first + static_cast<long long>(k);
    const Status status = results.status[k];
    if (enters(ensemble, member, status)) ++tally.entered;
    add_end(tally, member, status);
    if (ended_well(status)) add_audit(tally.worst, results.audits[k]);
    if (ended_well(status) || status == Status::inaccurate) add_shares(tally, results.audits[k], member);
    for (std::size_t kind = 0; kind < event_kinds; ++kind)
      tally.events[kind] += results.event_counts[k * event_kinds + kind];
    tally.steps += results.steps[k];
    tally.rejected += results.rejected[k];
    if (results.redundant[k] != 0) ++tally.redundant;
  }
}

void add_starts_to_tally(RunTally& tally, const EnsembleSettings& ensemble, long long first,
                         const Batch& batch) {
  tally.members += static_cast<long long>(batch.count);
  // Members drawn by the backend need one draw each, and their starts are consistent.
  if (batch.device_sampling != nullptr) tally.draws += static_cast<long long>(batch.count);
  for (std::size_t k = 0; k < batch.prepared.size(); ++k) {
    // A start that could not be made consistent was moved, but not onto the constraints: not counted.
    if (batch.prepared[k] == Status::ok) add_move(tally, batch, k);
    if (!is_nominal(ensemble, first + static_cast<long long>(k))) add_draws(tally, ensemble, batch, k);
  }
}

void add_ends_to_tally(RunTally& tally, const ReducedMembers& members, long long shift) {
  const TallyCounts& counts = members.tally;
  const auto whole = [](unsigned long long count) { return static_cast<long long>(count); };
  tally.entered += whole(counts.entered);
  for (std::size_t how = 0; how < status_count; ++how) {
    tally.status[how] += whole(counts.status[how]);
    if (!ended_well(static_cast<Status>(how))) tally.failed += whole(counts.status[how]);
    // Members are in the order of their numbers.
    std::vector<long long>& examples = tally.examples[how];
    for (const long long member : members.examples[how])
      if (examples.size() < RunTally::examples_kept) examples.push_back(shift + member);
  }
  for (std::size_t kind = 0; kind < event_kinds; ++kind) tally.events[kind] += whole(counts.events[kind]);
  add_audit(tally.worst, audit_of(counts.worst));
  for (std::size_t k = 0; k < audit_shares; ++k)
    if (counts.shares[k] > 0)
      add_share(tally.shares[k], share_of_key(counts.shares[k]),
                shift + members.first + member_of_key(counts.shares[k]));
  tally.steps += whole(counts.steps);
  tally.rejected += whole(counts.rejected);
  tally.redundant += whole(counts.redundant);
}

void add_end_to_tally(RunTally& tally, long long member, Status status) {
  ++tally.members;
  add_end(tally, member, status);
}

void join_tally(RunTally& tally, const RunTally& next) {
  tally.blocks = std::max(tally.blocks, next.blocks);
  tally.block_size = std::max(tally.block_size, next.block_size);
  add_count(tally.members, next.members);
  add_count(tally.entered, next.entered);
  add_count(tally.failed, next.failed);
  for (std::size_t how = 0; how < status_count; ++how) {
    add_count(tally.status[how], next.status[how]);
    std::vector<long long>& examples = tally.examples[how];
    examples.insert(examples.end(), next.examples[how].begin(), next.examples[how].end());
    std::sort(examples.begin(), examples.end());
    if (examples.size() > RunTally::examples_kept) examples.resize(RunTally::examples_kept);
  }
  for (std::size_t kind = 0; kind < event_kinds; ++kind) add_count(tally.events[kind], next.events[kind]);
  add_audit(tally.worst, next.worst);
  for (std::size_t k = 0; k < audit_shares; ++k)
    add_share(tally.shares[k], next.shares[k].share, next.shares[k].member);
  add_count(tally.steps, next.steps);
  add_count(tally.rejected, next.rejected);
  add_count(tally.redundant, next.redundant);
  add_count(tally.moved, next.moved);
  tally.largest_position_move = std::fmax(tally.largest_position_move, next.largest_position_move);
  tally.largest_velocity_move = std::fmax(tally.largest_velocity_move, next.largest_velocity_move);
  tally.total_position_move.add(next.total_position_move);
  tally.total_velocity_move.add(next.total_velocity_move);
  add_count(tally.drawn_changed, next.drawn_changed);
  add_drawn_change(tally, next.largest_drawn_change, next.largest_drawn_change_of);
  add_count(tally.draws, next.draws);
  add_count(tally.redrawn, next.redrawn);
  add_count(tally.refused_draws, next.refused_draws);
}

double failed_share(const RunTally& tally) {
  return tally.members > 0 ? static_cast<double>(tally.failed) / static_cast<double>(tally.members) : 0;
}

}  // namespace zwang
