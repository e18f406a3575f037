// Generated values of an ensemble, and the bits of statistics for comparison.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "host/statistics/statistics.h"

namespace zwang {

// Members with several kinds of columns: an offset, a heavy tail, late outputs missing, whole numbers, rare
// values.
struct MadeUpEnsemble {
  explicit MadeUpEnsemble(long long count, std::size_t times = 7) : members(count), outputs(times) {
    std::mt19937_64 generator(99);
    const auto uniform = [&] { return (double(generator() >> 11) + 0.5) * 0x1p-53; };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (long long k = 0; k < count; ++k) {
      const double u = uniform(), v = uniform(), w = uniform();
      entered.push_back(w < 0.03 ? 0 : 1);
      for (std::size_t t = 0; t < outputs; ++t) {
        observables.push_back(1e6 + std::sin(double(t) + 6 * u));
        observables.push_back(t > 4 && v < 0.5 ? nan : std::tan(3.14159 * (u - 0.5)) * double(t));
        observables.push_back(entered.back() != 0 ? v - w : 1e300);
      }
      measures.push_back(std::floor(10 * u * v));
      measures.push_back(v < 0.9 ? nan : u);
      inputs.push_back(u);
      inputs.push_back(v);
    }
  }

  StatisticsPlan plan() const {
    StatisticsPlan made;
    made.members = members;
    made.outputs = outputs;
    made.observables = 3;
    made.measures = 2;
    made.inputs = 2;
    made.quantiles = {0.05, 0.5, 0.95};
    made.histograms = {{.of_measure = false, .index = 2, .bins = 20, .range = Range{-1, 1}},
                       {.of_measure = false, .index = 1, .bins = 10, .range = {}},
                       {.of_measure = true, .index = 0, .bins = 10, .range = {}}};
    return made;
  }

  MemberRows rows(long long first, long long count) const {
    const auto f = std::size_t(first), n = std::size_t(count), series = outputs * 3;
    return {first, std::span(entered).subspan(f, n), std::span(observables).subspan(f * series, n * series),
            std::span(measures).subspan(f * 2, n * 2), std::span(inputs).subspan(f * 2, n * 2)};
  }

  // Members [first, end) in batches of one size.
  void add_to(Statistics& statistics, long long first, long long end, long long batch,
              unsigned threads) const {
    for (long long k = first; k < end; k += batch) statistics.add(rows(k, std::min(batch, end - k)), threads);
  }

  StatisticsResult result(const StatisticsPlan& plan, long long batch, unsigned threads) const {
    Statistics statistics(plan);
    add_to(statistics, 0, members, batch, threads);
    return statistics.finish(threads);
  }

  long long members;
  std::size_t outputs;
  std::vector<char> entered;
  std::vector<double> observables, measures, inputs;
};

// Every number of a result, as bits.
inline std::vector<std::uint64_t> bits_of(const StatisticsResult& result) {
  std::vector<std::uint64_t> bits;
  const auto number = [&](double x) { bits.push_back(std::bit_cast<std::uint64_t>(x)); };
  const auto count = [&](long long n) { bits.push_back(std::uint64_t(n)); };
  const auto share = [&](const Proportion& p) {
    for (const long long n : {p.hits, p.of}) count(n);
    for (const double x : {p.low, p.high}) number(x);
  };
  count(result.members);
  count(result.entered);
  std::vector<const std::vector<SeriesStatistics>*> lists = {&result.observables, &result.measures,
                                                             &result.inputs};
  for (const GivenResult& given : result.givens) {
    share(given.share);
    for (const double x : given.shift) number(x);
    for (const double x : given.shift_error) number(x);
    for (const auto* list : {&given.measures, &given.inputs, &given.observables}) lists.push_back(list);
  }
  for (const auto* list : lists) {
    for (const SeriesStatistics& s : *list) {
      const Moments& m = s.moments;
      for (const long long n : {m.count, m.infinite, s.missing}) count(n);
      for (const double x : {m.mean, m.std, m.standard_error, m.skewness, m.kurtosis, m.minimum, m.maximum,
                             s.standard_error, s.mean_low, s.mean_high}) {
        number(x);
      }
      if (s.probability) share(*s.probability);
      if (s.occurs) share(*s.occurs);
      count(s.undecided);
      for (const Quantile& q : s.quantiles) {
        for (const double x : {q.value, q.low, q.high}) number(x);
      }
    }
  }
  for (const QuantileBasis& basis : {result.observable_quantiles, result.measure_quantiles}) {
    count(basis.exact);
    number(basis.relative_error);
  }
  for (const HistogramResult& h : result.histograms) {
    for (const double x : h.edges) number(x);
    for (const auto& counts : h.counts) {
      for (const long long n : counts) count(n);
    }
    for (const long long n : h.below) count(n);
    for (const long long n : h.above) count(n);
  }
  for (const ExceedanceResult& curve : result.exceedances) {
    for (const double x : curve.at) number(x);
    for (const Proportion& p : curve.above) share(p);
    number(curve.relative_error);
  }
  for (const FirstOrderIndex& one : result.first_order) {
    for (const double x : {one.index, one.null95}) number(x);
    for (const long long n : {one.bins, one.members}) count(n);
  }
  for (const PickFreezeResult& of : result.pick_freeze)
    for (const SobolIndex& one : of.inputs)
      for (const double x : {one.first, one.first_stderr, one.total, one.total_stderr}) number(x);
  for (const double x : result.covariance) number(x);
  for (const double x : result.rank_correlation) number(x);
  count(result.rank_stride);
  return bits;
}

}  // namespace zwang
