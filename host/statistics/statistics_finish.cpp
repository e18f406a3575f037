// Computes the results from the partial statistics.
#include <algorithm>
#include <cmath>

#include "host/estimators/correlation.h"
#include "host/estimators/histogram.h"
#include "host/estimators/moments.h"
#include "host/estimators/proportion.h"
#include "host/estimators/quantile_sketch.h"
#include "host/estimators/quantiles.h"
#include "host/estimators/rank_correlation.h"
#include "host/platform/parallel.h"
#include "host/platform/stage_times.h"
#include "host/statistics/plan.h"
#include "host/statistics/quantile_source.h"
#include "host/statistics/replicates.h"
#include "host/statistics/statistics.h"
#include "host/statistics/statistics_result.h"

namespace zwang {

StatisticsResult Statistics::finish(unsigned threads, const ColumnRanker& ranker) {
  const StageTimer all("finish statistics");
  close_last_block();
  select_on_device();  // before finish_tile and histogram_result, which read selected_
  StatisticsResult result;
  result.members = members_;
  result.entered = entered_;

  // Results of single columns.
  result.observables.resize(plan_.outputs * plan_.observables);
  result.measures.resize(plan_.measures);
  result.givens.resize(plan_.givens.size());
  for (std::size_t g = 0; g < plan_.givens.size(); ++g) {
    result.givens[g].share = proportion(members_with_flag(plan_.givens[g].flag), entered_);
    result.givens[g].measures.resize(plan_.measures);
    result.givens[g].inputs.resize(plan_.inputs);
    result.givens[g].observables.resize(plan_.givens[g].observables ? plan_.series() : 0);
  }
  result.inputs.resize(plan_.inputs);
  RankCorrelation ranks = rank_correlation(ranker);
  {
    const StageTimer timer("finish statistics: columns");
    // Each column is a task of its own: one tile holds all measures, whose values are sorted. The longest
    // come first.
    std::vector<std::pair<const Tile*, TilePart>> parts;
    for (auto tile = tiles_.rbegin(); tile != tiles_.rend(); ++tile) parts.emplace_back(&*tile, TilePart{});
    in_parallel(parts.size(), threads,
                [&](std::size_t k) { parts[k].second = parts[k].first->columns.part(); });
    std::vector<std::pair<std::size_t, std::size_t>> columns;  // part, column of its tile
    for (std::size_t p = 0; p < parts.size(); ++p)
      for (std::size_t c = 0; c < parts[p].first->columns.setup().columns; ++c) columns.emplace_back(p, c);
    in_parallel(ranks.columns() + columns.size(), threads, [&](std::size_t k) {
      if (k < ranks.columns()) return ranks.rank(k);
      const auto [p, c] = columns[k - ranks.columns()];
      finish_column(*parts[p].first, parts[p].second, c, result);
    });
  }
  result.observable_quantiles = basis_of(Kind::observable);
  result.measure_quantiles = basis_of(Kind::measure);

  // Results over several columns.
  result.histograms.resize(plan_.histograms.size());
  // One thread only if values are on a device.
  in_parallel(plan_.histograms.size(), device_columns_.empty() ? threads : 1,
              [&](std::size_t h) { result.histograms[h] = histogram_result(plan_.histograms[h]); });
  result.covariance = covariance_matrix(related_tree_.folded(CoMoments(plan_.related())));
  for (const ExceedancePlan& exceedance : plan_.exceedances)
    result.exceedances.push_back(exceedance_result(exceedance, result.measures[exceedance.measure]));
  finish_givens(result);
  result.pick_freeze = pick_freeze_so_far();
  const StageTimer timer("finish statistics: ranks");
  result.first_order = first_order(ranks, result, threads);
  result.rank_correlation = ranks.matrix(threads);
  result.rank_stride = storage_.stride;
  device_columns_.clear();
  return result;
}

void Statistics::close_last_block() {
  if (finished_) return;
  finished_ = true;
  if (open_rows() == 0) return;
  if (wants_pilot() && !pilot_) apply_pilot(pilot_of_open_block());
  for (Tile& tile : tiles_) tile.columns.close();
  close_related();
}

// --- One column --------------------------------------------------------------------------------------------

void Statistics::finish_column(const Tile& tile, const TilePart& part, std::size_t c,
                               StatisticsResult& result) const {
  if (tile.kind == Kind::flag) return;
  const std::size_t column = tile.first_column + c;
  long long members = entered_;
  SeriesStatistics& series = series_at(tile.kind, column, result, members);
  series.moments = column_moments(part.moments, c);
  series.missing = members - series.moments.count;
  const MeanEstimate mean = mean_estimate(part, c);
  series.standard_error = mean.standard_error;
  series.mean_low = mean.low();
  series.mean_high = mean.high();
  if (tile.kind == Kind::input || tile.kind == Kind::given_input) return;
  series.quantiles =
      estimate_quantiles(series.moments.count, plan_.quantiles, [&](std::span<const long long> ranks) {
        return quantile_source(tile, c, series.moments)->order_statistics(ranks);
      });
  if (tile.kind == Kind::measure || tile.kind == Kind::given_measure)
    finish_measure(column % plan_.measures, tile, c, members, series);
}

// Where the results of a column belong. `members`: of which members.
SeriesStatistics& Statistics::series_at(Kind kind, std::size_t column, StatisticsResult& result,
                                        long long& members) const {
  if (kind == Kind::observable) return result.observables[column];
  if (kind == Kind::measure) return result.measures[column];
  if (kind == Kind::input) return result.inputs[column];
  const std::size_t width = kind == Kind::given_measure ? plan_.measures
                            : kind == Kind::given_input ? plan_.inputs
                                                        : plan_.series();
  std::size_t g = column / width;
  if (kind == Kind::given_observable) {
    // Only some of them have observables.
    std::size_t left = g;
    for (g = 0; !plan_.givens[g].observables || left > 0; ++g) left -= plan_.givens[g].observables ? 1 : 0;
  }
  GivenResult& given = result.givens[g];
  members = given.share.hits;
  auto& list = kind == Kind::given_measure ? given.measures
               : kind == Kind::given_input ? given.inputs
                                           : given.observables;
  return list[column % width];
}

std::unique_ptr<QuantileSource> Statistics::quantile_source(const Tile& tile, std::size_t column,
                                                            const Moments& moments) const {
  if (!device_columns_.empty() && is_series(tile.kind))
    return std::make_unique<SelectedValues>(selected_[column_number(tile) + column]);
  if (tile.columns.setup().buckets > 0)
    return std::make_unique<SketchedValues>(tile.columns.sketches()[column], moments.minimum,
                                            moments.maximum);
  if (tile.kind == Kind::given_measure) return std::make_unique<OwnValues>(masked_values(tile, column));
  return std::make_unique<StoredValues>(tile.columns.kept(column));
}

QuantileBasis Statistics::basis_of(Kind kind) const {
  QuantileBasis basis;
  basis.exact = kind == Kind::measure ? storage_.exact_measures : storage_.exact_observables;
  for (const Tile& tile : tiles_) {
    if (tile.kind != kind) continue;
    for (const QuantileSketch& sketch : tile.columns.sketches()) {
      basis.relative_error = std::max(basis.relative_error, sketch.relative_error());
    }
  }
  return basis;
}

// --- Several columns ---------------------------------------------------------------------------------------

HistogramResult Statistics::histogram_result(const HistogramPlan& plan) const {
  HistogramResult result;
  result.of_measure = plan.of_measure;
  result.index = plan.index;
  const Kind kind = plan.of_measure ? Kind::measure : Kind::observable;
  const std::vector<std::size_t> columns = histogram_columns(plan);

  // An automatic range over stored values spans the smallest to the largest value at any time.
  const bool on_device = !plan.of_measure && !device_columns_.empty();
  std::optional<Histogram> empty;
  const bool exact = plan.of_measure ? storage_.exact_measures : storage_.exact_observables;
  if (!plan.range && exact) {
    std::optional<Range> found;
    for (const std::size_t column : columns) {
      const Tile& tile = tile_of(kind, column);
      found = joined_range(found, on_device ? device_finite_range(column)
                                            : finite_range(tile.columns.kept(column - tile.first_column)));
    }
    const Range range = histogram_range(found, 0);
    empty.emplace(range.low, range.high, plan.bins);
  }

  std::vector<Histogram> counted;
  if (empty && on_device) counted = device_histograms(columns, *empty);
  for (const std::size_t column : columns) {
    const Tile& tile = tile_of(kind, column);
    Histogram histogram;
    if (!counted.empty()) {
      histogram = counted[result.counts.size()];
    } else if (empty) {
      histogram = *empty;
      for (const double x : tile.columns.kept(column - tile.first_column)) histogram.add(x);
    } else if (tile.columns.histogram(column - tile.first_column)) {
      histogram = *tile.columns.histogram(column - tile.first_column);
    }
    result.edges = histogram.edges();
    result.counts.push_back(histogram.counts());
    result.below.push_back(histogram.below());
    result.above.push_back(histogram.above());
  }
  return result;
}

RankCorrelation Statistics::rank_correlation(const ColumnRanker& ranker) const {
  std::vector<std::span<const double>> columns;
  for (const Tile& tile : tiles_) {
    if (tile.kind != Kind::measure && tile.kind != Kind::input) continue;
    for (std::size_t c = 0; c < tile.columns.setup().columns; ++c) columns.push_back(tile.columns.kept(c));
  }
  return RankCorrelation(std::move(columns), ranker);
}

}  // namespace zwang
