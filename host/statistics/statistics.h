// Statistics of an ensemble in bounded memory.
//
// Results are bit-identical for any number of threads, any batches and any shards: moments and covariances
// are merged in a fixed binary tree over blocks of 256 member numbers, and everything else is integer counts
// or the values themselves.
#pragma once

#include <istream>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "host/estimators/correlation.h"
#include "host/estimators/first_order.h"
#include "host/estimators/histogram.h"
#include "host/estimators/moments.h"
#include "host/estimators/proportion.h"
#include "host/estimators/quantiles.h"
#include "host/estimators/rank_correlation.h"
#include "host/statistics/column_store.h"
#include "host/statistics/pick_freeze.h"
#include "host/statistics/plan.h"
#include "host/statistics/quantile_source.h"
#include "host/statistics/reduction_plan.h"
#include "host/statistics/replicates.h"
#include "host/statistics/statistics_result.h"
#include "host/statistics/tile.h"
#include "host/statistics/tree.h"

namespace zwang {

// Consecutive members. NaN: missing. The rows of members that did not enter are ignored.
struct MemberRows {
  long long first = 0;
  std::span<const char> entered;        // count
  std::span<const double> observables;  // count x outputs x observables
  std::span<const double> measures;     // count x (measures + flags)
  std::span<const double> inputs;       // count x inputs drawn
  // Pick-freeze, else left out: the rows of which these members are block A, as PickFreeze::add() takes them.
  std::span<const double> row_values = {};  // count x blocks x measures of pick-freeze
  std::span<const char> row_whole = {};     // count: no member of the row failed
  // Members that failed, of all blocks, counted by EnsembleStatistics; may be left out.
  std::span<const int> failed = {};  // count
};

// Derived from the first 256 members if not all values are stored: the pivots of the buckets, and the ranges
// of automatic histograms.
struct Pilot {
  std::vector<double> pivots;  // by column
  std::vector<Range> ranges;   // by histogram of the plan
  bool operator==(const Pilot&) const = default;
};

class Statistics {
 public:
  // first_member: of the shard, a multiple of 256.
  explicit Statistics(StatisticsPlan plan, long long first_member = 0);

  // If needs_pilot(), a shard that does not begin at member 0 must be given the members 0 to 255 (or all, if
  // fewer) before its own members. They set the pilot and are not counted. Statistics that begin at member 0 and await the
  // pilot may be given them too, before blocks are added.
  bool needs_pilot() const { return first_member_ > 0 && awaits_pilot(); }
  bool awaits_pilot() const { return !pilot_ && wants_pilot() && members_ == 0; }
  void set_pilot(const MemberRows& first_members);

  // Members in order; each batch begins where the last one ended.
  void add(const MemberRows& rows, unsigned threads = 1);

  std::vector<PickFreezeResult> pick_freeze_so_far() const {
    return pick_freeze_ ? pick_freeze_->results() : std::vector<PickFreezeResult>{};
  }

  // Whole blocks reduced on a device, in order like members, are accepted only if accepts_blocks(). Otherwise
  // members are added one by one: the first block if it sets the pilot, and a last, incomplete block.
  bool accepts_blocks() const;
  // What to compute on the device. The caller adds the parameters of the inputs and whether a nominal member
  // exists.
  ReductionPlan reduction() const;
  // The plan of statistics that begin with these members, the first block. Without members: as long as that plan.
  static ReductionPlan reduction_with_pilot(const StatisticsPlan& plan, const MemberRows& first_block);
  void add_blocks(const ReductionPlan& plan, const BlockSummary& blocks, long long entered,
                  unsigned threads = 1);

  // Members added so far, entered or not.
  long long members() const { return members_; }
  long long entered() const { return entered_; }  // of these, in the statistics
  long long first_member() const { return first_member_; }

  // Mean of a measure over the complete blocks so far.
  MeanEstimate measure_so_far(std::size_t measure) const;
  // The members with 1 over the complete blocks so far, if the measure is 0 or 1 in all of them.
  std::optional<Proportion> probability_so_far(std::size_t measure) const;

  // Appends the shard that follows. Throws Error if it does not follow or belongs to another study.
  void join(const Statistics& next);

  // The state so far, to continue later or to be joined. Loading throws Error if the bytes are damaged or
  // belong to another plan; `name` is their name in messages.
  void save(std::ostream& stream) const;
  static Statistics load(StatisticsPlan plan, std::istream& stream, const std::string& name);

  // Closes the last, incomplete block and computes the results. Nothing can be added afterwards.
  // `ranker`: for the rank correlations, if another machine does them.
  StatisticsResult finish(unsigned threads = 1, const ColumnRanker& ranker = {});

  bool has_device_values() const { return !device_columns_.empty(); }

  const Storage& storage() const { return storage_; }

 private:
  // In the order of their columns. The given_ kinds are columns of the members with a flag: by flag, then as
  // the kind without it.
  enum class Kind { observable, given_observable, measure, flag, input, given_measure, given_input };
  static bool is_series(Kind kind) { return kind == Kind::observable || kind == Kind::given_observable; }
  struct Tile {
    Kind kind;
    std::size_t first_column;  // among those of its kind
    ColumnTile columns;
  };

  // Rows with the tables of the given_ kinds, in which values of members without the flag are missing.
  struct Tables {
    MemberRows rows;
    std::vector<double> observables, measures, inputs;
  };
  Tables tables_of(const MemberRows& rows) const;
  std::size_t columns_of(Kind kind) const;
  std::size_t first_column_of(Kind kind) const;

  void add_tiles(Kind kind, long long stride, std::size_t buckets);
  bool wants_pilot() const;
  Pilot pilot_of_open_block() const;
  void apply_pilot(Pilot pilot);
  void prepare_histograms();
  Tile& tile_of(Kind kind, std::size_t column);
  const Tile& tile_of(Kind kind, std::size_t column) const;
  std::size_t column_number(const Tile& tile) const;
  TileRows tile_rows(const Tile& tile, const Tables& tables, std::size_t begin, std::size_t count) const;
  void fill_related(const MemberRows& rows, std::size_t begin, std::size_t count);
  void close_related();
  void add_first_block(const Tables& tables, std::size_t& begin);
  std::size_t open_rows() const { return std::size_t(members_ % block_members); }
  std::vector<std::size_t> histogram_columns(const HistogramPlan& histogram) const;

  void close_last_block();
  // Observables with values on the device: order statistics of all columns at once, and the functions that
  // use them.
  void select_on_device();
  std::vector<double> device_values(std::size_t column) const;
  template <class Ask>
  auto with_all_values(const Ask& ask) const;
  std::optional<Range> device_finite_range(std::size_t column) const;
  std::vector<Histogram> device_histograms(const std::vector<std::size_t>& columns,
                                           const Histogram& empty) const;
  std::unique_ptr<QuantileSource> quantile_source(const Tile& tile, std::size_t column,
                                                  const Moments& moments) const;
  void finish_column(const Tile& tile, const TilePart& part, std::size_t column,
                     StatisticsResult& result) const;
  SeriesStatistics& series_at(Kind kind, std::size_t column, StatisticsResult& result,
                              long long& members) const;
  QuantileBasis basis_of(Kind kind) const;
  HistogramResult histogram_result(const HistogramPlan& histogram) const;
  RankCorrelation rank_correlation(const ColumnRanker& ranker) const;
  void check_follows(const Statistics& next) const;

  // Probabilities, exceedance, conditional statistics and first-order indices (statistics_answers.cpp).
  std::vector<double> masked_values(const Tile& tile, std::size_t column) const;
  std::optional<Proportion> zero_one(const Tile& tile, std::size_t column, const Moments& moments) const;
  void finish_measure(std::size_t measure, const Tile& tile, std::size_t column, long long members,
                      SeriesStatistics& series) const;
  ExceedanceResult exceedance_result(const ExceedancePlan& plan, const SeriesStatistics& series) const;
  void finish_givens(StatisticsResult& result) const;
  std::vector<FirstOrderIndex> first_order(const RankCorrelation& ranks, const StatisticsResult& result,
                                           unsigned threads) const;
  long long members_with_flag(std::size_t flag) const;

  StatisticsPlan plan_;
  Storage storage_;
  long long first_member_ = 0;
  long long members_ = 0, entered_ = 0;
  bool finished_ = false;
  std::optional<Pilot> pilot_;
  std::vector<Tile> tiles_;

  // Values of observables that are resident on the device; those of other members are in the tiles.
  std::vector<std::shared_ptr<ColumnStore>> device_columns_;
  std::vector<SelectedValues> selected_;  // by column of (given) observables, if some are on the device

  std::optional<PickFreeze> pick_freeze_;

  // Rows of measures and inputs, for their covariances.
  std::vector<double> related_open_;  // block_members x related
  MergeTree<CoMoments, merged_comoments> related_tree_;
};

}  // namespace zwang
