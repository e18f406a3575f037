// Quantiles of a sample with their 95 % confidence intervals, computed from order statistics.
//
// The quantile p of n values is at position (n - 1) p of the sorted values, linearly between neighbours: type
// 7 of Hyndman and Fan (The American Statistician 50 (1996) 361), NumPy's default. The interval lies between
// two order statistics and assumes independent members but nothing about the distribution. Scrambled Sobol
// points are spread more evenly; the interval is then conservative.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace zwang {

struct Quantile {
  double value = 0;
  double low = 0, high = 0;  // NaN if the sample is too small
};

// Returns the order statistics of these ranks (from 0, ascending, none twice).
using OrderStatistics = std::function<std::vector<double>(std::span<const long long> ranks)>;

// One quantile for each probability in [0, 1]; all NaN if count is 0.
std::vector<Quantile> estimate_quantiles(long long count, std::span<const double> probabilities,
                                         const OrderStatistics& order_statistics);

// The ranks whose order statistics estimate_quantiles needs: ascending, none twice; empty if count is 0.
std::vector<long long> ranks_needed(long long count, std::span<const double> probabilities);

// The exact order statistics of `values`, which must not contain NaN and are rearranged.
std::vector<double> select_ranks(std::span<double> values, std::span<const long long> ranks);

}  // namespace zwang
