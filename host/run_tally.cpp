#include "host/run_tally.h"

#include <cmath>

namespace zwang {

namespace {

bool ended_well(Status status) { return status == Status::ok || status == Status::stopped; }

void add_start(RunTally& tally, const Batch& batch, std::size_t k) {
  const double position = batch.position_moved[k], velocity = batch.velocity_moved[k];
  if (position > 0 || velocity > 0) ++tally.moved;
  tally.largest_position_move = std::fmax(tally.largest_position_move, position);
  tally.largest_velocity_move = std::fmax(tally.largest_velocity_move, velocity);
  tally.total_position_move += position;
  tally.total_velocity_move += velocity;
  tally.redrawn += batch.attempts[k] - 1;
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

void add_end(RunTally& tally, long long member, Status status) {
  const auto how = static_cast<std::size_t>(status);
  ++tally.status[how];
  if (!ended_well(status)) ++tally.failed;
  std::vector<long long>& examples = tally.examples[how];
  if (status != Status::ok && examples.size() < RunTally::examples_kept) examples.push_back(member);
}

}  // namespace

bool enters(const EnsembleSettings& ensemble, long long member, Status status) {
  return ended_well(status) && !(ensemble.include_nominal && member == 0);
}

void add_to_tally(RunTally& tally, const EnsembleSettings& ensemble, long long first, const Batch& batch,
                  const BatchResults& results) {
  for (std::size_t k = 0; k < batch.count; ++k) {
    const long long member = first + static_cast<long long>(k);
    const Status status = results.status[k];
    ++tally.members;
    if (enters(ensemble, member, status)) ++tally.entered;
    add_end(tally, member, status);
    // A start that could not be made consistent was moved somewhere, but not onto the conditions.
    if (batch.prepared[k] == Status::ok) add_start(tally, batch, k);
    if (ended_well(status)) add_audit(tally.worst, results.audits[k]);
    for (std::size_t kind = 0; kind < event_kinds; ++kind)
      tally.events[kind] += results.event_counts[k * event_kinds + kind];
    tally.steps += results.steps[k];
    tally.rejected += results.rejected[k];
    if (results.redundant[k] != 0) ++tally.redundant;
  }
}

double failed_share(const RunTally& tally) {
  return tally.members > 0 ? static_cast<double>(tally.failed) / static_cast<double>(tally.members) : 0;
}

}  // namespace zwang
