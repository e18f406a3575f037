// Serialises a tile of columns.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "host/estimators/moments.h"
#include "host/estimators/quantile_sketch.h"
#include "host/platform/bytes.h"
#include "host/statistics/replicates.h"
#include "host/statistics/tile.h"
#include "host/statistics/tree.h"

namespace zwang {

namespace {

constexpr std::size_t most_nodes = 128;  // two per level of the tree

// The arrays of the moments, in one order for saving and loading.
template <class Moments, class Action>
void each_array(Moments& m, const Action& action) {
  action(m.finite);
  action(m.above);
  action(m.below);
  action(m.pivot);
  action(m.offset);
  action(m.m2);
  action(m.m3);
  action(m.m4);
  action(m.minimum);
  action(m.maximum);
}

// Refuses counts that do not add up to the members, and a minimum above the maximum.
void require_possible(const ByteReader& bytes, const TileMoments& moments, long long members) {
  for (std::size_t c = 0; c < tile_columns; ++c) {
    long long left = members;
    for (const long long count : {moments.finite[c], moments.above[c], moments.below[c]}) {
      bytes.require_count(count, left);
      left -= count;
    }
    if (left < members && !(moments.minimum[c] <= moments.maximum[c]))
      bytes.refuse("a minimum above the maximum", "a minimum below the maximum");
  }
}

}  // namespace

void ColumnTile::save(ByteWriter& bytes, const DeviceValues& device_values) const {
  bytes.number<std::uint64_t>(tree_.nodes().size());
  for (const auto& node : tree_.nodes()) {
    bytes.number<std::int32_t>(node.level);
    bytes.number(node.number);
    each_array(node.value.moments, [&](const auto& values) { bytes.numbers(values); });
    bytes.numbers(node.value.replicates.count);
    bytes.numbers(node.value.replicates.offset);
  }
  bytes.number<std::uint64_t>(open_rows_);
  bytes.numbers(
      std::vector<double>(open_.begin(), open_.begin() + std::ptrdiff_t(open_rows_ * tile_columns)));
  for (std::size_t c = 0; c < setup_.columns; ++c) {
    std::vector<double> more = device_values ? device_values(c) : std::vector<double>{};
    more.insert(more.begin(), kept_[c].begin(), kept_[c].end());
    bytes.numbers(more);
    if (!sketches_.empty()) sketches_[c].save(bytes);
    if (histograms_[c]) histograms_[c]->save(bytes);
  }
}

void ColumnTile::load(ByteReader& bytes, long long members) {
  load_tree(bytes);
  open_rows_ = bytes.length(block_members - 1);
  std::vector<double> rows;
  bytes.numbers(rows, open_rows_ * tile_columns);
  if (rows.size() != open_rows_ * tile_columns ||
      (block_ - first_block_) * block_members + static_cast<long long>(open_rows_) != members) {
    bytes.refuse("a number of rows that does not match", "as many rows as members");
  }
  std::copy(rows.begin(), rows.end(), open_.begin());

  // Members 0, stride, 2 stride ... of the closed blocks.
  const auto kept_before = [&](long long block) {
    return setup_.stride > 0 ? (block * block_members + setup_.stride - 1) / setup_.stride : 0;
  };
  const auto kept_rows = std::uint64_t(kept_before(block_) - kept_before(first_block_));
  const TileMoments moments = part().moments;
  for (std::size_t c = 0; c < setup_.columns; ++c) {
    const long long values = column_moments(moments, c).count;
    bytes.numbers(kept_[c], kept_rows);
    if (kept_[c].size() != kept_rows)
      bytes.refuse("another number of values", "the values of the stored members");
    // Order statistics are selected among them, so their number must match.
    const auto known =
        std::count_if(kept_[c].begin(), kept_[c].end(), [](double x) { return !std::isnan(x); });
    if (setup_.stride == 1 && known != values)
      bytes.refuse("a number of values that does not match", "as many values as counted");
    if (!sketches_.empty())
      sketches_[c] = QuantileSketch::load(bytes, sketches_[c].pivot(), setup_.buckets, values);
    if (histograms_[c]) histograms_[c]->load(bytes, values);
  }
}

void ColumnTile::load_tree(ByteReader& bytes) {
  const std::size_t replicate_size = std::size_t(setup_.replicates) * tile_columns;
  const std::uint64_t nodes = bytes.length(most_nodes);
  for (std::uint64_t k = 0; k < nodes; ++k) {
    MergeTree<TilePart, merged_parts>::Node node;
    node.level = bytes.number<std::int32_t>();
    node.number = bytes.number<long long>();
    // Nodes follow one another without gaps.
    if (node.level < 0 || node.level > 50 || node.number != block_ >> node.level ||
        node.first_block() != block_) {
      bytes.refuse("a tree with gaps", "blocks without gaps");
    }
    each_array(node.value.moments, [&](auto& values) { bytes.numbers(values); });
    const long long most = (node.end_block() - block_) * block_members;
    require_possible(bytes, node.value.moments, most);
    bytes.numbers(node.value.replicates.count, replicate_size);
    bytes.numbers(node.value.replicates.offset, replicate_size);
    if (node.value.replicates.count.size() != replicate_size ||
        node.value.replicates.offset.size() != replicate_size) {
      bytes.refuse("another number of replicates", "the number in the study");
    }
    bytes.require_counts(node.value.replicates.count, most);
    block_ = node.end_block();
    tree_.push(std::move(node));
  }
}

}  // namespace zwang
