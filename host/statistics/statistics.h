// Statistics of an ensemble, member by member, in bounded memory.
//
// The same members give the same bits for any number of threads, any batches and any shards: moments and covariances
// are merged in a fixed binary tree over blocks of 256 member numbers, everything else is integer counts or the values
// themselves.
#pragma once

#include <istream>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "host/statistics/column_store.h"
#include "host/statistics/correlation.h"
#include "host/statistics/histogram.h"
#include "host/statistics/moments.h"
#include "host/statistics/plan.h"
#include "host/statistics/quantiles.h"
#include "host/statistics/reduction_plan.h"
#include "host/statistics/replicates.h"
#include "host/statistics/statistics_result.h"
#include "host/statistics/tile.h"
#include "host/statistics/tree.h"

namespace zwang {

// Consecutive members. NaN is missing; what stands in the rows of members that did not enter does not matter.
struct MemberRows {
  long long first = 0;
  std::span<const char> entered;        // count
  std::span<const double> observables;  // count x outputs x observables
  std::span<const double> measures;     // count x measures
  std::span<const double> inputs;       // count x inputs drawn
};

// What is fixed from the first 256 members where not everything is kept: where buckets are fine, and how far automatic
// histograms reach.
struct Pilot {
  std::vector<double> pivots;  // by column
  std::vector<Range> ranges;   // by histogram of the plan
  bool operator==(const Pilot&) const = default;
};

class Statistics {
 public:
  // first_member: where a shard begins, a multiple of 256.
  explicit Statistics(StatisticsPlan plan, long long first_member = 0);

  // A shard that does not begin at member 0 must be shown members 0 to 255 (or all, if fewer) before its own where
  // this says so; they are looked at, not counted.
  bool needs_pilot() const { return !pilot_ && first_member_ > 0 && wants_pilot(); }
  void set_pilot(const MemberRows& first_members);

  // Members in order, each batch beginning where the last one ended.
  void add(const MemberRows& rows, unsigned threads = 1);

  // Whole blocks that were reduced elsewhere, in order like members. Only where this says so: in between come members one
  // by one, the first block where it fixes the buckets, and the last, incomplete one.
  bool accepts_blocks() const;
  // What to reduce. Whose parameters the inputs are, and which members do not count, is for the caller to add.
  ReductionPlan reduction() const;
  void add_blocks(const ReductionPlan& plan, const BlockSummary& blocks, long long entered,
                  unsigned threads = 1);

  // Members added so far, entered or not.
  long long members() const { return members_; }
  long long entered() const { return entered_; }  // of these
  long long first_member() const { return first_member_; }

  // A measure's mean over the complete blocks so far.
  MeanEstimate measure_so_far(std::size_t measure) const;

  // Appends the shard that follows. Throws Error where it does not follow or is of another study.
  void join(const Statistics& next);

  // Everything so far, to go on later or to be joined. Loading throws Error on bytes that are damaged or of another
  // plan; `name` says what to call them.
  void save(std::ostream& stream) const;
  static Statistics load(StatisticsPlan plan, std::istream& stream, const std::string& name);

  // The end: takes in the last, incomplete block. Nothing can be added afterwards.
  StatisticsResult finish(unsigned threads = 1);

  const Storage& storage() const { return storage_; }

 private:
  enum class Kind { observable, measure, input };
  struct Tile {
    Kind kind;
    std::size_t first_column;  // among those of its kind
    ColumnTile columns;
  };

  void add_tiles(Kind kind, std::size_t columns, long long stride, std::size_t buckets);
  bool wants_pilot() const;
  Pilot pilot_of_open_block() const;
  void apply_pilot(Pilot pilot);
  void prepare_histograms();
  Tile& tile_of(Kind kind, std::size_t column);
  const Tile& tile_of(Kind kind, std::size_t column) const;
  std::size_t column_number(const Tile& tile) const;
  TileRows tile_rows(const Tile& tile, const MemberRows& rows, std::size_t begin, std::size_t count) const;
  void fill_related(const MemberRows& rows, std::size_t begin, std::size_t count);
  void close_related();
  void add_first_block(const MemberRows& rows, std::size_t& begin);
  std::size_t open_rows() const { return std::size_t(members_ % block_members); }
  std::vector<std::size_t> histogram_columns(const HistogramPlan& histogram) const;

  void close_last_block();
  // Observables whose values are kept elsewhere: order statistics of all columns at once, and what is needed for them.
  void select_on_device();
  std::vector<double> device_values(std::size_t column) const;
  template <class Ask>
  auto with_all_values(const Ask& ask) const;
  std::optional<Range> device_finite_range(std::size_t column) const;
  std::vector<Histogram> device_histograms(const std::vector<std::size_t>& columns,
                                         const Histogram& empty) const;
  std::vector<Quantile> quantiles_of(const Tile& tile, std::size_t column, const Moments& moments) const;
  void finish_tile(const Tile& tile, StatisticsResult& result) const;
  QuantileBasis basis_of(Kind kind) const;
  HistogramResult histogram_result(const HistogramPlan& histogram) const;
  Matrix rank_correlation(unsigned threads) const;
  void check_follows(const Statistics& next) const;

  StatisticsPlan plan_;
  Storage storage_;
  long long first_member_ = 0;
  long long members_ = 0, entered_ = 0;
  bool finished_ = false;
  std::optional<Pilot> pilot_;
  std::vector<Tile> tiles_;

  // Values of observables that stayed with whoever reduced them; those of other members lie in the tiles.
  std::vector<std::shared_ptr<ColumnStore>> device_columns_;
  struct Selected {
    std::vector<long long> ranks;
    std::vector<double> values;
    double at(long long rank) const;
  };
  std::vector<Selected> selected_;  // by column of observables, where some are away

  // Measures and inputs side by side, for their covariances.
  std::vector<double> related_open_;  // block_members x related
  MergeTree<CoMoments, merged_comoments> related_tree_;
};

}  // namespace zwang
