#include "host/statistics/tile.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "host/statistics/bytes.h"
#include "host/statistics/moments.h"
#include "host/statistics/nan.h"

namespace zwang {

namespace {

constexpr std::size_t most_nodes = 128;  // two per level

}  // namespace

ColumnTile::ColumnTile(TileSetup setup, long long first_block)
    : setup_(std::move(setup)),
      first_block_(first_block),
      block_(first_block),
      open_(std::size_t{block_members} * tile_columns, nan),
      kept_(setup_.columns) {
  assert(setup_.columns <= tile_columns);
}

void ColumnTile::fill(const TileRows& rows) {
  assert(open_rows_ + rows.count <= block_members);
  for (std::size_t k = 0; k < rows.count; ++k, ++open_rows_) {
    if (rows.entered[k] == 0) continue;
    const double* from = rows.values + k * rows.row_length;
    std::copy(from, from + setup_.columns, open_.begin() + std::ptrdiff_t(open_rows_ * tile_columns));
  }
}

void ColumnTile::close() {
  if (open_rows_ == 0) return;
  TilePart part;
  part.moments = block_moments(open_);
  part.replicates = replicate_means(part.moments);
  tree_.push({0, block_, std::move(part)});
  keep_values();
  count_values();

  std::fill(open_.begin(), open_.end(), nan);
  open_rows_ = 0;
  ++block_;
}

ReplicateMeans ColumnTile::replicate_means(const TileMoments& moments) const {
  if (setup_.replicates == 0) return {};
  std::array<int, block_members> replicate_of{};
  for (std::size_t row = 0; row < open_rows_; ++row) {
    replicate_of[row] = setup_.replicate_of(block_ * block_members + static_cast<long long>(row));
  }
  return block_replicates(open_, moments.pivot, replicate_of, setup_.replicates);
}

// All the room at once: growing by doubling would take twice the budget. Untouched pages cost nothing.
void ColumnTile::reserve_kept(std::size_t column) {
  if (setup_.stride > 0) kept_[column].reserve(std::size_t((setup_.members - 1) / setup_.stride + 1));
}

void ColumnTile::keep_values() {
  if (setup_.stride == 0) return;
  // The first member of this block that is kept; with a wide stride there may be none.
  const long long first = block_ * block_members;
  const long long skip = (setup_.stride - first % setup_.stride) % setup_.stride;
  for (std::size_t c = 0; c < setup_.columns; ++c) {
    reserve_kept(c);
    for (long long row = skip; row < static_cast<long long>(open_rows_); row += setup_.stride) {
      kept_[c].push_back(open_[std::size_t(row) * tile_columns + c]);
    }
  }
}

void ColumnTile::count_values() {
  for (std::size_t c = 0; c < setup_.columns; ++c) {
    if (setup_.buckets == 0 && !histograms_[c]) continue;
    const std::vector<double> values = open_values(c);
    if (setup_.buckets > 0) sketches_[c].add(values);
    if (histograms_[c]) {
      for (const double x : values) histograms_[c]->add(x);
    }
  }
}

void ColumnTile::set_pivots(std::span<const double> pivots) {
  assert(block_ == first_block_ && pivots.size() == setup_.columns);
  if (setup_.buckets == 0) return;
  sketches_.clear();
  for (const double pivot : pivots) sketches_.emplace_back(pivot, setup_.buckets);
}

void ColumnTile::set_histogram(std::size_t column, const Histogram& empty) { histograms_[column] = empty; }

TilePart ColumnTile::part() const {
  TilePart none;
  const std::size_t size = std::size_t(setup_.replicates) * tile_columns;
  none.replicates.count.resize(size, 0);
  none.replicates.offset.resize(size, 0.0);
  return tree_.folded(std::move(none));
}

std::vector<double> ColumnTile::open_values(std::size_t column) const {
  std::vector<double> values(open_rows_);
  for (std::size_t row = 0; row < open_rows_; ++row) values[row] = open_[row * tile_columns + column];
  return values;
}

void ColumnTile::join(const ColumnTile& next) {
  assert(open_rows_ == 0 && next.first_block_ == block_);
  for (const auto& node : next.tree_.nodes()) tree_.push(node);
  for (std::size_t c = 0; c < setup_.columns; ++c) {
    reserve_kept(c);
    kept_[c].insert(kept_[c].end(), next.kept_[c].begin(), next.kept_[c].end());
    if (setup_.buckets > 0) sketches_[c].merge(next.sketches_[c]);
    if (histograms_[c]) histograms_[c]->merge(*next.histograms_[c]);
  }
  block_ = next.block_;
  open_ = next.open_;
  open_rows_ = next.open_rows_;
}

void ColumnTile::push_node(int level, long long number, TilePart part) {
  assert(open_rows_ == 0 && number << level == block_);
  tree_.push({level, number, std::move(part)});
  block_ = (number + 1) << level;
}

void ColumnTile::take_counts(std::size_t column, const std::vector<double>* kept,
                             const BlockSummary::Sketch* sketch, const std::vector<long long>* histogram) {
  if (kept != nullptr) {
    reserve_kept(column);
    kept_[column].insert(kept_[column].end(), kept->begin(), kept->end());
  }
  if (sketch != nullptr) sketches_[column].add_counts(sketch->extras, sketch->entries);
  if (histogram != nullptr) histograms_[column]->add_counts(*histogram);
}

// --- Bytes --------------------------------------------------------------------------------------------------

namespace {

// One list of a part's arrays serves both ways.
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

// Counts that members can have, and ends in order where there is something between them.
void require_possible(const ByteReader& bytes, const TileMoments& moments, long long members) {
  for (std::size_t c = 0; c < tile_columns; ++c) {
    long long left = members;
    for (const long long count : {moments.finite[c], moments.above[c], moments.below[c]}) {
      bytes.require_count(count, left);
      left -= count;
    }
    if (left < members && !(moments.minimum[c] <= moments.maximum[c]))
      bytes.refuse("a smallest value above the largest", "ends in order");
  }
}

}  // namespace

void ColumnTile::save(ByteWriter& bytes, const KeptElsewhere& kept_elsewhere) const {
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
    std::vector<double> more = kept_elsewhere ? kept_elsewhere(c) : std::vector<double>{};
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
    bytes.refuse("rows that do not add up", "as many as members");
  }
  std::copy(rows.begin(), rows.end(), open_.begin());

  // Members 0, stride, 2 stride ... of the blocks that are closed.
  const auto kept_before = [&](long long block) {
    return setup_.stride > 0 ? (block * block_members + setup_.stride - 1) / setup_.stride : 0;
  };
  const auto kept_rows = std::uint64_t(kept_before(block_) - kept_before(first_block_));
  const TileMoments moments = part().moments;
  for (std::size_t c = 0; c < setup_.columns; ++c) {
    const long long values = column_moments(moments, c).count;
    bytes.numbers(kept_[c], kept_rows);
    if (kept_[c].size() != kept_rows) bytes.refuse("another number of values", "those of the members kept");
    // Ranks are sought among them.
    const auto known =
        std::count_if(kept_[c].begin(), kept_[c].end(), [](double x) { return !std::isnan(x); });
    if (setup_.stride == 1 && known != values)
      bytes.refuse("values that do not add up", "as many as counted");
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
      bytes.refuse("another number of replicates", "that of the study");
    }
    bytes.require_counts(node.value.replicates.count, most);
    block_ = node.end_block();
    tree_.push(std::move(node));
  }
}

}  // namespace zwang
