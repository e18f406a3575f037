// Serialises partial statistics, for checkpoints, shards and ranks.
#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <limits>

#include "host/estimators/correlation.h"
#include "host/estimators/moments.h"
#include "host/platform/bytes.h"
#include "host/statistics/plan.h"
#include "host/statistics/statistics.h"
#include "host/toml/raw_text.h"
#include "src/base/error.h"

namespace zwang {

namespace {

constexpr std::uint64_t magic = 0x54535a7473747361;  // identifies the format
constexpr std::uint32_t version = 2;                 // of the format: raised with every change
constexpr std::size_t longest_plan = 1 << 20;        // characters

void save_pilot(ByteWriter& bytes, const std::optional<Pilot>& pilot) {
  bytes.number<char>(pilot ? 1 : 0);
  if (!pilot) return;
  bytes.numbers(pilot->pivots);
  for (const auto& [low, high] : pilot->ranges) {
    bytes.number(low);
    bytes.number(high);
  }
}

std::optional<Pilot> load_pilot(ByteReader& bytes, const StatisticsPlan& plan) {
  if (bytes.number<char>() == 0) return std::nullopt;
  Pilot pilot;
  bytes.numbers(pilot.pivots, plan.columns());
  if (pilot.pivots.size() != plan.columns()) bytes.refuse("too few pivots", "one for each column");
  for (const double pivot : pilot.pivots)
    if (!std::isfinite(pivot)) bytes.refuse("a pivot that is not finite", "a finite number");
  for (std::size_t h = 0; h < plan.histograms.size(); ++h) {
    const auto low = bytes.number<double>(), high = bytes.number<double>();
    if (!(low < high) || !std::isfinite(low) || !std::isfinite(high))
      bytes.refuse("an impossible range", "two finite numbers in order");
    pilot.ranges.push_back({low, high});
  }
  return pilot;
}

void save_related(ByteWriter& bytes, const CoMoments& value) {
  bytes.numbers(value.known);
  bytes.numbers(value.pivot);
  bytes.numbers(value.count);
  bytes.numbers(value.offset_i);
  bytes.numbers(value.offset_j);
  bytes.numbers(value.product);
}

CoMoments load_related(ByteReader& bytes, std::size_t columns, long long members) {
  CoMoments value(columns);
  const auto load = [&](auto& values) {
    const std::size_t size = values.size();
    bytes.numbers(values, size);
    if (values.size() != size) bytes.refuse("too few covariances", "one for each pair");
  };
  load(value.known);
  load(value.pivot);
  load(value.count);
  bytes.require_counts(value.count, members);
  load(value.offset_i);
  load(value.offset_j);
  load(value.product);
  return value;
}

}  // namespace

void Statistics::save(std::ostream& stream) const {
  assert(!finished_);
  ByteWriter bytes(stream);
  bytes.number(magic);
  bytes.number(version);
  bytes.text(plan_text(plan_));
  bytes.number(first_member_);
  bytes.number(members_);
  bytes.number(entered_);
  save_pilot(bytes, pilot_);
  for (const Tile& tile : tiles_) {
    if (is_series(tile.kind) && !device_columns_.empty())
      tile.columns.save(bytes, [&](std::size_t c) { return device_values(column_number(tile) + c); });
    else
      tile.columns.save(bytes);
  }

  bytes.number<std::uint64_t>(related_tree_.nodes().size());
  for (const auto& node : related_tree_.nodes()) {
    bytes.number<std::int32_t>(node.level);
    bytes.number(node.number);
    save_related(bytes, node.value);
  }
  bytes.numbers(related_open_);
  if (pick_freeze_) pick_freeze_->save(bytes);
  bytes.finish();
}

Statistics Statistics::load(StatisticsPlan plan, std::istream& stream, const std::string& name) {
  ByteReader bytes(stream, name);

  // Format, version and plan.
  if (bytes.number<std::uint64_t>() != magic) bytes.refuse("another file format", "partial statistics");
  const auto found = bytes.number<std::uint32_t>();
  if (found != version) bytes.refuse(fmt::format("version {}", found), fmt::format("version {}", version));
  const std::string text = bytes.text(longest_plan);
  if (text != plan_text(plan)) bytes.refuse(printable(text), plan_text(plan));
  const auto first = bytes.number<long long>(), members = bytes.number<long long>();
  if (first < 0 || first % block_members != 0 || members < 0 || first > plan.members ||
      members > plan.members - first) {
    bytes.refuse(fmt::format("{1} members from member {0}", first, members), "members of the study");
  }

  Statistics statistics(std::move(plan), first);
  statistics.members_ = members;
  statistics.entered_ = bytes.count(members);
  if (auto pilot = load_pilot(bytes, statistics.plan_)) {
    if (!statistics.wants_pilot()) bytes.refuse("a pilot", "none: every value is stored");
    statistics.apply_pilot(std::move(*pilot));
  }
  const bool pilot_set = first > 0 ? members > 0 : members >= block_members;
  if (statistics.wants_pilot() && pilot_set && !statistics.pilot_)
    bytes.refuse("no pilot", "the pilot of the first members");
  for (Tile& tile : statistics.tiles_) tile.columns.load(bytes, members);

  long long block = first / block_members;
  const std::uint64_t nodes = bytes.length(128);
  for (std::uint64_t k = 0; k < nodes; ++k) {
    const auto level = bytes.number<std::int32_t>();
    const auto number = bytes.number<long long>();
    if (level < 0 || level > 50 || number != block >> level || number << level != block) {
      bytes.refuse("a tree with gaps", "blocks without gaps");
    }
    const long long end = (number + 1) << level;
    CoMoments moments = load_related(bytes, statistics.plan_.related(), (end - block) * block_members);
    statistics.related_tree_.push({level, number, std::move(moments)});
    block = end;
  }
  if (statistics.plan_.related() > 0 && block != (first + members) / block_members) {
    bytes.refuse("covariances of other members", "covariances of the same members");
  }
  const std::size_t open = statistics.related_open_.size();
  bytes.numbers(statistics.related_open_, open);
  if (statistics.related_open_.size() != open) bytes.refuse("too few rows", "a whole block");
  if (statistics.pick_freeze_) statistics.pick_freeze_->load(bytes, members);
  bytes.finish();
  return statistics;
}

}  // namespace zwang
