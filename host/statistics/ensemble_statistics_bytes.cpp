// Serialises the statistics of an ensemble: the results of complete points, the state of the others.
#include <fmt/format.h>

#include <cstdint>

#include "host/estimators/correlation.h"
#include "host/estimators/first_order.h"
#include "host/estimators/moments.h"
#include "host/estimators/proportion.h"
#include "host/estimators/quantiles.h"
#include "host/platform/bytes.h"
#include "host/statistics/ensemble_statistics.h"
#include "host/statistics/pick_freeze.h"
#include "host/statistics/plan.h"
#include "host/statistics/statistics.h"
#include "host/statistics/statistics_result.h"

namespace zwang {

namespace {

constexpr std::uint64_t ensemble_magic = 0x73746e696f707a77;  // identifies the format
constexpr std::uint64_t most_numbers = std::uint64_t{1} << 40;

template <class Series, class Visit>
void each_series_number(Series& series, const Visit& visit) {
  visit(series.moments.count);
  visit(series.moments.infinite);
  visit(series.moments.mean);
  visit(series.moments.std);
  visit(series.moments.standard_error);
  visit(series.moments.skewness);
  visit(series.moments.kurtosis);
  visit(series.moments.minimum);
  visit(series.moments.maximum);
  visit(series.missing);
  visit(series.standard_error);
  visit(series.mean_low);
  visit(series.mean_high);
}

void save_share(ByteWriter& bytes, const std::optional<Proportion>& share) {
  bytes.number<char>(share ? 1 : 0);
  if (!share) return;
  for (const long long count : {share->hits, share->of}) bytes.number(count);
  for (const double bound : {share->low, share->high}) bytes.number(bound);
}

std::optional<Proportion> load_share(ByteReader& bytes) {
  if (bytes.number<char>() == 0) return {};
  Proportion share;
  for (long long* count : {&share.hits, &share.of}) *count = bytes.number<long long>();
  for (double* bound : {&share.low, &share.high}) *bound = bytes.number<double>();
  return share;
}

void save_list(ByteWriter& bytes, const std::vector<SeriesStatistics>& list) {
  for (const SeriesStatistics& series : list) {
    each_series_number(series, [&](auto number) { bytes.number(number); });
    bytes.number<std::uint64_t>(series.quantiles.size());
    for (const Quantile& quantile : series.quantiles)
      for (const double x : {quantile.value, quantile.low, quantile.high}) bytes.number(x);
    save_share(bytes, series.probability);
    bytes.number<char>(series.by_form ? 1 : 0);
    bytes.number(series.undecided);
    save_share(bytes, series.occurs);
  }
}

void load_list(ByteReader& bytes, std::size_t count, std::size_t quantiles,
               std::vector<SeriesStatistics>& list) {
  list.resize(count);
  for (SeriesStatistics& series : list) {
    each_series_number(
        series, [&](auto& number) { number = bytes.number<std::remove_reference_t<decltype(number)>>(); });
    const std::uint64_t found = bytes.length(quantiles);
    if (found != quantiles) bytes.refuse("another number of quantiles", "the quantiles of the study");
    series.quantiles.resize(quantiles);
    for (Quantile& quantile : series.quantiles)
      for (double* x : {&quantile.value, &quantile.low, &quantile.high}) *x = bytes.number<double>();
    series.probability = load_share(bytes);
    series.by_form = bytes.number<char>() != 0;
    series.undecided = bytes.number<long long>();
    series.occurs = load_share(bytes);
  }
}

void save_basis(ByteWriter& bytes, const QuantileBasis& basis) {
  bytes.number<char>(basis.exact ? 1 : 0);
  bytes.number(basis.relative_error);
}

QuantileBasis load_basis(ByteReader& bytes) {
  QuantileBasis basis;
  basis.exact = bytes.number<char>() != 0;
  basis.relative_error = bytes.number<double>();
  return basis;
}

void save_histogram(ByteWriter& bytes, const HistogramResult& histogram) {
  bytes.numbers(histogram.edges);
  bytes.number<std::uint64_t>(histogram.counts.size());
  for (const std::vector<long long>& counts : histogram.counts) bytes.numbers(counts);
  bytes.numbers(histogram.below);
  bytes.numbers(histogram.above);
}

HistogramResult load_histogram(ByteReader& bytes, const HistogramPlan& plan, std::size_t outputs) {
  HistogramResult histogram;
  histogram.of_measure = plan.of_measure;
  histogram.index = plan.index;
  const std::size_t rows = plan.of_measure ? 1 : outputs;
  const auto wrong = [&] { bytes.refuse("another histogram", "the histogram of the study"); };
  bytes.numbers(histogram.edges, plan.bins + 1);
  histogram.counts.resize(bytes.length(rows));
  for (std::vector<long long>& counts : histogram.counts) {
    bytes.numbers(counts, plan.bins);
    if (counts.size() != plan.bins) wrong();
  }
  bytes.numbers(histogram.below, rows);
  bytes.numbers(histogram.above, rows);
  if (histogram.edges.size() != plan.bins + 1 || histogram.counts.size() != rows ||
      histogram.below.size() != rows || histogram.above.size() != rows)
    wrong();
  return histogram;
}

void load_matrix(ByteReader& bytes, std::size_t side, Matrix& matrix) {
  bytes.numbers(matrix, most_numbers);
  if (matrix.size() != side * side) bytes.refuse("another matrix", "one row for each measure and input");
}

void save_exceedance(ByteWriter& bytes, const ExceedanceResult& curve) {
  bytes.number<std::uint64_t>(curve.measure);
  bytes.numbers(curve.at);
  for (const Proportion& share : curve.above) save_share(bytes, share);
  bytes.number(curve.relative_error);
}

ExceedanceResult load_exceedance(ByteReader& bytes, std::size_t measures) {
  ExceedanceResult curve;
  curve.measure = bytes.number<std::uint64_t>();
  if (curve.measure >= measures) bytes.refuse("a curve of another measure", "a measure of the study");
  bytes.numbers(curve.at, most_numbers);
  for (std::size_t k = 0; k < curve.at.size(); ++k)
    curve.above.push_back(load_share(bytes).value_or(Proportion{}));
  curve.relative_error = bytes.number<double>();
  return curve;
}

void save_given(ByteWriter& bytes, const GivenResult& given) {
  save_share(bytes, given.share);
  save_list(bytes, given.measures);
  save_list(bytes, given.inputs);
  save_list(bytes, given.observables);
  bytes.numbers(given.shift);
  bytes.numbers(given.shift_error);
}

GivenResult load_given(ByteReader& bytes, const StatisticsPlan& plan, const GivenPlan& of) {
  GivenResult given;
  given.share = load_share(bytes).value_or(Proportion{});
  load_list(bytes, plan.measures, plan.quantiles.size(), given.measures);
  load_list(bytes, plan.inputs, 0, given.inputs);
  load_list(bytes, of.observables ? plan.outputs * plan.observables : 0, plan.quantiles.size(),
            given.observables);
  bytes.numbers(given.shift, plan.inputs);
  bytes.numbers(given.shift_error, plan.inputs);
  if (given.shift.size() != plan.inputs || given.shift_error.size() != plan.inputs)
    bytes.refuse("another number of inputs", "the inputs of the study");
  return given;
}

void save_index(ByteWriter& bytes, const FirstOrderIndex& one) {
  for (const double number : {one.index, one.null95}) bytes.number(number);
  for (const long long count : {one.bins, one.members}) bytes.number(count);
  bytes.text(one.reason);
}

FirstOrderIndex load_index(ByteReader& bytes) {
  FirstOrderIndex one;
  for (double* number : {&one.index, &one.null95}) *number = bytes.number<double>();
  for (long long* count : {&one.bins, &one.members}) *count = bytes.number<long long>();
  one.reason = bytes.text(256);
  return one;
}

}  // namespace

void save_result(ByteWriter& bytes, const StatisticsResult& result) {
  for (const long long count : {result.members, result.entered, result.failed, result.rank_stride})
    bytes.number(count);
  bytes.number<char>(result.met_until ? 1 : 0);
  save_list(bytes, result.observables);
  save_list(bytes, result.measures);
  save_list(bytes, result.inputs);
  save_basis(bytes, result.observable_quantiles);
  save_basis(bytes, result.measure_quantiles);
  for (const HistogramResult& histogram : result.histograms) save_histogram(bytes, histogram);
  bytes.numbers(result.covariance);
  bytes.numbers(result.rank_correlation);
  bytes.number<std::uint64_t>(result.exceedances.size());
  for (const ExceedanceResult& curve : result.exceedances) save_exceedance(bytes, curve);
  for (const GivenResult& given : result.givens) save_given(bytes, given);
  bytes.number<std::uint64_t>(result.first_order.size());
  for (const FirstOrderIndex& one : result.first_order) save_index(bytes, one);
  for (const PickFreezeResult& one : result.pick_freeze) save_pick_freeze_result(bytes, one);
}

StatisticsResult load_result(ByteReader& bytes, const StatisticsPlan& plan) {
  StatisticsResult result;
  result.members = bytes.count(plan.members);
  result.entered = bytes.count(result.members);
  result.failed = bytes.count(result.members * plan.members_per_row());
  result.rank_stride = bytes.number<long long>();
  result.met_until = bytes.number<char>() != 0;
  load_list(bytes, plan.outputs * plan.observables, plan.quantiles.size(), result.observables);
  load_list(bytes, plan.measures, plan.quantiles.size(), result.measures);
  load_list(bytes, plan.inputs, 0, result.inputs);
  result.observable_quantiles = load_basis(bytes);
  result.measure_quantiles = load_basis(bytes);
  for (const HistogramPlan& histogram : plan.histograms)
    result.histograms.push_back(load_histogram(bytes, histogram, plan.outputs));
  load_matrix(bytes, plan.related(), result.covariance);
  load_matrix(bytes, plan.related(), result.rank_correlation);
  result.exceedances.resize(bytes.length(plan.measures));
  for (ExceedanceResult& curve : result.exceedances) curve = load_exceedance(bytes, plan.measures);
  for (const GivenPlan& given : plan.givens) result.givens.push_back(load_given(bytes, plan, given));
  result.first_order.resize(bytes.length(plan.measures * plan.inputs));
  for (FirstOrderIndex& one : result.first_order) one = load_index(bytes);
  if (plan.pick_freeze)
    for (std::size_t m = 0; m < plan.pick_freeze->measures.size(); ++m)
      result.pick_freeze.push_back(load_pick_freeze_result(bytes, plan.pick_freeze->inputs, result.members));
  return result;
}

void EnsembleStatistics::save(std::ostream& stream) const {
  {
    ByteWriter bytes(stream);
    bytes.number(ensemble_magic);
    for (const long long number : {plan_.points, plan_.point.members, first_member_, position_, members_})
      bytes.number(number);
    bytes.number(entered_);
    bytes.number<std::uint64_t>(points_.size());
    for (const PointPart& point : points_) {
      bytes.number(point.number);
      bytes.number(point.failed);
      bytes.number<char>(point.result ? 1 : 0);
      if (point.result) save_result(bytes, *point.result);
    }
    bytes.finish();
  }
  for (const PointPart& point : points_)
    if (point.statistics) point.statistics->save(stream);
}

EnsembleStatistics EnsembleStatistics::load(EnsemblePlan plan, std::istream& stream,
                                            const std::string& name) {
  ByteReader bytes(stream, name);
  if (bytes.number<std::uint64_t>() != ensemble_magic)
    bytes.refuse("another file format", "statistics of an ensemble");
  const auto points = bytes.number<long long>(), per_point = bytes.number<long long>();
  if (points != plan.points || per_point != plan.point.members)
    bytes.refuse(fmt::format("{} points of {} members", points, per_point),
                 fmt::format("{} points of {} members", plan.points, plan.point.members));
  const MemberBlocks blocks = plan.blocks();
  const auto first = bytes.number<long long>(), position = bytes.number<long long>(),
             members = bytes.number<long long>();
  if (first < 0 || position < first || position > blocks.members() || !blocks.is_boundary(first) ||
      members < 0 || members > position - first)
    bytes.refuse(fmt::format("members {} to {}", first, position), "members of the study");
  EnsembleStatistics made(std::move(plan), first);
  made.points_.clear();
  made.position_ = position;
  made.members_ = members;
  made.entered_ = bytes.count(members);
  const std::uint64_t begun = bytes.length(static_cast<std::uint64_t>(points));
  long long previous = -1, counted = 0, entered = 0;
  for (std::uint64_t k = 0; k < begun; ++k) {
    PointPart point;
    point.number = bytes.number<long long>();
    if (point.number <= previous || point.number >= points || point.number < first / per_point ||
        point.number > position / per_point)
      bytes.refuse("points out of order", "the points of the recorded members");
    previous = point.number;
    point.failed = bytes.count(per_point * made.plan_.point.members_per_row());
    if (bytes.number<char>() != 0) {
      point.result = load_result(bytes, made.plan_.point);
      counted += point.result->members;
      entered += point.result->entered;
    }
    made.points_.push_back(std::move(point));
  }
  bytes.finish();
  for (PointPart& point : made.points_) {
    if (point.result) continue;
    point.statistics = Statistics::load(made.plan_.point, stream, name);
    counted += point.statistics->members();
    entered += point.statistics->entered();
  }
  if (counted != members || entered != made.entered_)
    bytes.refuse("statistics of other members", "statistics of the members recorded");
  return made;
}

}  // namespace zwang
