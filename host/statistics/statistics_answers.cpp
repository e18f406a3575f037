// Results beyond moments and quantiles: probabilities, exceedance, members with a flag, first-order indices.
#include <algorithm>
#include <cmath>

#include "host/estimators/first_order.h"
#include "host/estimators/moments.h"
#include "host/estimators/nan.h"
#include "host/estimators/proportion.h"
#include "host/estimators/quantile_sketch.h"
#include "host/estimators/quantiles.h"
#include "host/estimators/rank_correlation.h"
#include "host/platform/parallel.h"
#include "host/statistics/plan.h"
#include "host/statistics/quantile_source.h"
#include "host/statistics/replicates.h"
#include "host/statistics/statistics.h"
#include "host/statistics/statistics_result.h"

namespace zwang {

// --- Flags -------------------------------------------------------------------------------------------------

// Flags are 0 or 1: their mean times their number is a whole number up to rounding.
long long Statistics::members_with_flag(std::size_t flag) const {
  const Tile& tile = tile_of(Kind::flag, flag);
  const Moments moments = column_moments(tile.columns.part().moments, flag - tile.first_column);
  return moments.count == 0 ? 0 : std::llround(moments.mean * double(moments.count));
}

// The stored values of a measure over the members with a flag.
std::vector<double> Statistics::masked_values(const Tile& tile, std::size_t column) const {
  const std::size_t place = tile.first_column + column, measure = place % plan_.measures;
  const std::size_t flag = plan_.givens[place / plan_.measures].flag;
  const Tile &values = tile_of(Kind::measure, measure), &flags = tile_of(Kind::flag, flag);
  const std::span<const double> all = values.columns.kept(measure - values.first_column),
                                chosen = flags.columns.kept(flag - flags.first_column);
  std::vector<double> made;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (chosen[k] == 1) made.push_back(all[k]);
  return made;
}

// --- Probabilities -----------------------------------------------------------------------------------------

// The members with 1, if all values of the column are exactly 0 or 1. Buckets whose relative error is 0 hold
// exact values.
std::optional<Proportion> Statistics::zero_one(const Tile& tile, std::size_t column,
                                               const Moments& moments) const {
  const long long count = moments.count;
  const auto is_either = [](double x) { return x == 0 || x == 1; };
  if (count == 0 || !is_either(moments.minimum) || !is_either(moments.maximum)) return {};
  if (tile.columns.setup().buckets > 0) {
    const QuantileSketch& sketch = tile.columns.sketches()[column];
    if (sketch.relative_error() != 0) return {};
    const long long ones = sketch.count_above(0.5), zeros = count - ones;
    const std::vector<long long> last_zero = {std::max(zeros - 1, 0LL)},
                                 first_one = {std::min(zeros, count - 1)};
    if ((zeros > 0 && sketch.values_at(last_zero)[0] != 0) ||
        (ones > 0 && sketch.values_at(first_one)[0] != 1))
      return {};
    return proportion(ones, count);
  }
  long long ones = 0;
  const auto counted = [&](std::span<const double> values) {
    for (const double x : values) {
      if (!std::isnan(x) && !is_either(x)) return false;
      ones += x == 1 ? 1 : 0;
    }
    return true;
  };
  const bool all_are = tile.kind == Kind::given_measure ? counted(masked_values(tile, column))
                                                        : counted(tile.columns.kept(column));
  if (!all_are) return {};
  return proportion(ones, count);
}

std::optional<Proportion> Statistics::probability_so_far(std::size_t measure) const {
  const Tile& tile = tile_of(Kind::measure, measure);
  const std::size_t column = measure - tile.first_column;
  return zero_one(tile, column, column_moments(tile.columns.part().moments, column));
}

// `members`: over which the series was made.
void Statistics::finish_measure(std::size_t measure, const Tile& tile, std::size_t column, long long members,
                                SeriesStatistics& series) const {
  const MeasureTraits traits = plan_.traits.empty() ? MeasureTraits{} : plan_.traits[measure];
  if ((traits.can_be_missing || series.missing > 0) && !traits.probability)
    series.occurs = proportion(series.moments.count, members);
  series.probability = zero_one(tile, column, series.moments);
  if (!series.probability && traits.probability) series.probability = proportion(0, 0);
  if (!series.probability) return;
  series.by_form = traits.probability;
  series.mean_low = series.probability->low;
  series.mean_high = series.probability->high;
  if (traits.undecided && tile.kind == Kind::measure) series.undecided = members_with_flag(*traits.undecided);
}

// --- Exceedance --------------------------------------------------------------------------------------------

namespace {

// Ranks of the order statistics that k values exceed, k spread evenly in log k from count - 1 down to 1:
// ascending.
std::vector<long long> exceedance_ranks(long long count, std::size_t points) {
  std::vector<long long> ranks;
  if (count < 2) return ranks;
  const double top = std::log(double(count - 1));
  for (std::size_t i = 0; i < points; ++i) {
    const double share = points == 1 ? 0 : double(i) / double(points - 1);
    const long long above = std::clamp(std::llround(std::exp(top * (1 - share))), 1LL, count - 1);
    const long long rank = count - 1 - above;
    if (ranks.empty() || rank > ranks.back()) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace

ExceedanceResult Statistics::exceedance_result(const ExceedancePlan& plan,
                                               const SeriesStatistics& series) const {
  const Tile& tile = tile_of(Kind::measure, plan.measure);
  const std::size_t column = plan.measure - tile.first_column;
  const long long count = series.moments.count, members = count + series.missing;
  ExceedanceResult made{plan.measure, plan.at, {}, 0};

  // Members above x: counted among sorted values, or in buckets.
  std::vector<double> sorted;
  std::function<long long(double)> above;
  if (tile.columns.setup().buckets > 0) {
    const QuantileSketch& sketch = tile.columns.sketches()[column];
    made.relative_error = sketch.relative_error();
    above = [&](double x) {
      if (x >= series.moments.maximum) return 0LL;
      return x < series.moments.minimum ? count : sketch.count_above(x);
    };
  } else {
    for (const double x : tile.columns.kept(column))
      if (!std::isnan(x)) sorted.push_back(x);
    std::sort(sorted.begin(), sorted.end());
    above = [&](double x) {
      return static_cast<long long>(sorted.end() - std::upper_bound(sorted.begin(), sorted.end(), x));
    };
  }
  if (plan.at.empty()) {
    const std::vector<long long> ranks = exceedance_ranks(count, plan.points);
    made.at = quantile_source(tile, column, series.moments)->order_statistics(ranks);
    made.at.erase(std::unique(made.at.begin(), made.at.end()), made.at.end());
  }
  for (const double x : made.at) made.above.push_back(proportion(count == 0 ? 0 : above(x), members));
  return made;
}

// --- Members with a flag -----------------------------------------------------------------------------------

// By chance the mean over k of n members differs from that of all with the variance std_given^2 (1/k - 1/n).
void Statistics::finish_givens(StatisticsResult& result) const {
  for (GivenResult& given : result.givens) {
    const double k = double(given.share.hits), n = double(given.share.of);
    for (std::size_t i = 0; i < plan_.inputs; ++i) {
      const Moments &some = given.inputs[i].moments, &all = result.inputs[i].moments;
      given.shift.push_back((some.mean - all.mean) / all.std);
      given.shift_error.push_back(some.std / all.std * std::sqrt(std::max(1 / k - 1 / n, 0.0)));
    }
  }
}

// --- First-order indices -----------------------------------------------------------------------------------

std::vector<FirstOrderIndex> Statistics::first_order(const RankCorrelation& ranks,
                                                     const StatisticsResult& result, unsigned threads) const {
  std::vector<FirstOrderIndex> made(plan_.measures * plan_.inputs);
  // Bins take 8 bytes per stored member while they are made and 4 afterwards: no more of them at once than a quarter of
  // the statistics memory holds.
  const auto rows = static_cast<std::size_t>(members_ / storage_.stride + 1);
  const auto at_once =
      static_cast<unsigned>(std::clamp<std::size_t>(plan_.memory / 4 / (8 * rows), 1, std::max(threads, 1U)));
  const auto bins_of = [&](std::size_t input, std::span<const double> values, long long present) {
    const bool by_value = !plan_.input_takes_choices.empty() && plan_.input_takes_choices[input] != 0;
    return input_bins(ranks.ranks(plan_.measures + input), values, by_value, bins_for(present));
  };
  // Measures that all members have share the bins of an input.
  std::vector<InputBins> of_all(plan_.inputs);
  const bool shares = 4 * rows * plan_.inputs <= plan_.memory / 4 && plan_.measures > 1;
  in_parallel(shares ? plan_.inputs : 0, at_once, [&](std::size_t input) {
    of_all[input] = bins_of(input, {}, std::ssize(ranks.ranks(plan_.measures + input)));
  });
  in_parallel(made.size(), at_once, [&](std::size_t k) {
    const std::size_t measure = k / plan_.inputs, input = k % plan_.inputs;
    const Tile& tile = tile_of(Kind::measure, measure);
    const std::span<const double> values = tile.columns.kept(measure - tile.first_column);
    const auto present = std::count_if(values.begin(), values.end(), [](double x) { return !std::isnan(x); });
    made[k] = {nan, nan, 0, present, ""};
    if (present < fewest_for_first_order) {
      made[k].reason = "fewer than 200 members";
      return;
    }
    if (const auto& probability = result.measures[measure].probability;
        probability && !probability->decides()) {
      made[k].reason = "fewer than 10 hits or misses";
      return;
    }
    made[k] = shares && present == std::ssize(values)
                  ? first_order_index(of_all[input], values)
                  : first_order_index(bins_of(input, values, present), values);
  });
  return made;
}

}  // namespace zwang
