#include "host/statistics/run_tally_bytes.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/base/status.h"

namespace zwang {

namespace {

// The order of the numbers, for saving and loading. `Tally` is const for saving.
template <class Tally, class Visit>
void each_number(Tally& tally, Visit&& visit) {
  visit(tally.members);
  visit(tally.blocks);
  visit(tally.block_size);
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
  for (auto& worst : tally.shares) {
    visit(worst.share);
    visit(worst.member);
  }
  visit(tally.steps);
  visit(tally.rejected);
  visit(tally.redundant);
  visit(tally.moved);
  visit(tally.largest_position_move);
  visit(tally.largest_velocity_move);
  visit(tally.drawn_changed);
  visit(tally.largest_drawn_change);
  visit(tally.largest_drawn_change_of);
  visit(tally.draws);
  visit(tally.redrawn);
  visit(tally.refused_draws);
}

// Refuses counts that so many rows of the range cannot have. Without pick-freeze a row is a member.
void require_possible(const ByteReader& bytes, const RunTally& tally,
                      const std::pair<long long, long long>& range, long long rows) {
  constexpr long long any = std::numeric_limits<long long>::max() / 2;  // leaves room for adding others
  constexpr long long most_blocks = 1'000'000;
  bytes.require_count(tally.blocks, most_blocks);
  bytes.require_count(tally.block_size, any / most_blocks);
  if (tally.members % std::max(tally.blocks, 1LL) != 0 ||
      tally.members / std::max(tally.blocks, 1LL) != rows || (tally.blocks > 1) != (tally.block_size > 0))
    bytes.refuse("a tally of other members", "a tally of the recorded members");
  const long long members = tally.members;
  const auto recorded = [&](long long member) {
    if (member < 0 || (tally.blocks > 1 && member / tally.block_size >= tally.blocks)) return false;
    const long long row = tally.blocks > 1 ? member % tally.block_size : member;
    return row >= range.first && row < range.second;
  };
  long long left = members;
  for (const long long count : tally.status) {
    bytes.require_count(count, left);
    left -= count;
  }
  const auto ended = [&](Status status) { return tally.status[static_cast<std::size_t>(status)]; };
  const long long well = ended(Status::ok) + ended(Status::stopped);
  if (left != 0 || tally.failed != members - well)
    bytes.refuse("statuses that do not add up", "one for each member");
  bytes.require_count(tally.entered, well);
  for (const std::vector<long long>& examples : tally.examples)
    for (const long long member : examples)
      if (!recorded(member)) bytes.refuse("an example outside the recorded members", "a recorded member");
  for (const WorstShare& worst : tally.shares)
    if (worst.member != -1 && !recorded(worst.member))
      bytes.refuse("a worst member outside the recorded members", "a recorded member");
  bytes.require_counts(tally.events, any);
  for (const long long count : {tally.redundant, tally.moved, tally.drawn_changed})
    bytes.require_count(count, members);
  bytes.require_count(tally.largest_drawn_change_of + 1, any);
  for (const long long count : {tally.steps, tally.rejected, tally.draws, tally.redrawn, tally.refused_draws})
    bytes.require_count(count, any);
}

}  // namespace

void save_tally(ByteWriter& bytes, const RunTally& tally) {
  each_number(tally, [&](const auto& number) { bytes.number(number); });
  for (const std::vector<long long>& examples : tally.examples) bytes.numbers(examples);
  tally.total_position_move.save(bytes);
  tally.total_velocity_move.save(bytes);
}

RunTally load_tally(ByteReader& bytes, std::pair<long long, long long> range, long long rows) {
  RunTally tally;
  each_number(tally,
              [&](auto& number) { number = bytes.number<std::remove_reference_t<decltype(number)>>(); });
  for (std::vector<long long>& examples : tally.examples) bytes.numbers(examples, RunTally::examples_kept);
  tally.total_position_move.load(bytes);
  tally.total_velocity_move.load(bytes);
  require_possible(bytes, tally, range, rows);
  return tally;
}

}  // namespace zwang
