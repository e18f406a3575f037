// A tally as bytes: every number of it in one fixed order.
#include "host/run_tally.h"

namespace zwang {

namespace {

// The order of the numbers, once for both ways. `Tally` is const where they are saved.
template <class Tally, class Visit>
void each_number(Tally& tally, Visit&& visit) {
  visit(tally.members);
  visit(tally.entered);
  visit(tally.failed);
  for (auto& count : tally.status) visit(count);
  for (auto& count : tally.events) visit(count);
  visit(tally.worst.position_violation);
  visit(tally.worst.velocity_violation);
  visit(tally.worst.energy_drift);
  visit(tally.worst.energy_size);
  visit(tally.worst.kkt);
  visit(tally.worst.carnot);
  visit(tally.worst.energy_created);
  visit(tally.steps);
  visit(tally.rejected);
  visit(tally.redundant);
  visit(tally.moved);
  visit(tally.largest_position_move);
  visit(tally.largest_velocity_move);
  visit(tally.draws);
  visit(tally.redrawn);
  visit(tally.refused_draws);
}

}  // namespace

void save_tally(ByteWriter& bytes, const RunTally& tally) {
  each_number(tally, [&](const auto& number) { bytes.number(number); });
  for (const std::vector<long long>& examples : tally.examples) bytes.numbers(examples);
  tally.total_position_move.save(bytes);
  tally.total_velocity_move.save(bytes);
}

RunTally load_tally(ByteReader& bytes) {
  RunTally tally;
  each_number(tally,
              [&](auto& number) { number = bytes.number<std::remove_reference_t<decltype(number)>>(); });
  for (std::vector<long long>& examples : tally.examples) bytes.numbers(examples, RunTally::examples_kept);
  tally.total_position_move.load(bytes);
  tally.total_velocity_move.load(bytes);
  return tally;
}

}  // namespace zwang
