#include "host/statistics/tile.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "host/estimators/moments.h"
#include "host/estimators/nan.h"
#include "host/platform/bytes.h"

namespace zwang {

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

// Reserves all memory at once: growing by doubling could take twice the budget. Untouched pages cost nothing.
void ColumnTile::reserve_kept(std::size_t column) {
  if (setup_.stride > 0) kept_[column].reserve(std::size_t((setup_.members - 1) / setup_.stride + 1));
}

void ColumnTile::keep_values() {
  if (setup_.stride == 0) return;
  // The first member of this block to store; with a large stride there may be none.
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

void ColumnTile::add_counts(std::size_t column, const std::vector<double>* kept,
                            const BlockSummary::Sketch* sketch, const std::vector<long long>* histogram) {
  if (kept != nullptr) {
    reserve_kept(column);
    kept_[column].insert(kept_[column].end(), kept->begin(), kept->end());
  }
  if (sketch != nullptr) sketches_[column].add_counts(sketch->extras, sketch->entries);
  if (histogram != nullptr) histograms_[column]->add_counts(*histogram);
}

}  // namespace zwang
