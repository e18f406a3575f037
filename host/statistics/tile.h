// Sixteen columns of the statistics with all their data: the unit of work of a thread.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "host/estimators/histogram.h"
#include "host/estimators/moments.h"
#include "host/estimators/quantile_sketch.h"
#include "host/estimators/quantiles.h"
#include "host/platform/bytes.h"
#include "host/statistics/reduction_plan.h"
#include "host/statistics/replicates.h"
#include "host/statistics/tree.h"

namespace zwang {

// The data that a tile stores, the same for all its columns.
struct TileSetup {
  std::size_t columns = 0;  // at most tile_columns
  long long members = 0;    // of the whole ensemble
  long long stride = 0;     // values of members 0, stride, 2 stride ... are stored; 0: none
  std::size_t buckets = 0;  // of each column's sketch; 0: none
  int replicates = 0;
  std::function<int(long long)> replicate_of;  // member -> replicate
};

// Values of consecutive members in a table; the columns of this tile begin at `values`.
struct TileRows {
  const double* values = nullptr;
  std::size_t row_length = 0;  // from one member to the next
  const char* entered = nullptr;
  std::size_t count = 0;
};

class ColumnTile {
 public:
  ColumnTile(TileSetup setup, long long first_block);

  // At most as many rows as are missing in the open block.
  void fill(const TileRows& rows);
  bool full() const { return open_rows_ == block_members; }
  // Adds the open block to the statistics. Only the last block may be incomplete.
  void close();

  // Blocks reduced on a device: nodes of the tree in order, then the values and counts of each column (null
  // if there are none). No block may be open.
  void push_node(int level, long long number, TilePart part);
  void add_counts(std::size_t column, const std::vector<double>* kept, const BlockSummary::Sketch* sketch,
                  const std::vector<long long>* histogram);

  // To be called before the first block is closed.
  void set_pivots(std::span<const double> pivots);
  void set_histogram(std::size_t column, const Histogram& empty);

  // Appends the members that follow.
  void join(const ColumnTile& next);

  const TileSetup& setup() const { return setup_; }
  TilePart part() const;  // over the blocks closed so far
  std::span<const double> kept(std::size_t column) const { return kept_[column]; }
  const std::vector<QuantileSketch>& sketches() const { return sketches_; }
  const std::optional<Histogram>& histogram(std::size_t column) const { return histograms_[column]; }
  std::vector<double> open_values(std::size_t column) const;
  std::size_t open_rows() const { return open_rows_; }

  // device_values: further values of a column, saved after those stored here.
  using DeviceValues = std::function<std::vector<double>(std::size_t column)>;
  void save(ByteWriter& bytes, const DeviceValues& device_values = {}) const;
  // Into a new tile that begins at the same block, with pivots and histograms set. `members`: the number it
  // contained.
  void load(ByteReader& bytes, long long members);

 private:
  void load_tree(ByteReader& bytes);
  void reserve_kept(std::size_t column);
  void keep_values();
  void count_values();
  ReplicateMeans replicate_means(const TileMoments& moments) const;

  TileSetup setup_;
  long long first_block_;
  long long block_;           // number of the open block
  std::vector<double> open_;  // block_members x tile_columns, NaN: no value
  std::size_t open_rows_ = 0;
  MergeTree<TilePart, merged_parts> tree_;
  std::vector<std::vector<double>> kept_;                          // by column
  std::vector<QuantileSketch> sketches_;                           // by column, or empty
  std::array<std::optional<Histogram>, tile_columns> histograms_;  // by column
};

}  // namespace zwang
