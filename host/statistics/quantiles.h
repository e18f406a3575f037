// Quantiles of a sample with their 95 % intervals, from whatever knows the order statistics.
//
// The quantile p of n values is at position (n - 1) p of the sorted values, linearly between neighbours: type 7 of
// Hyndman and Fan (The American Statistician 50 (1996) 361), NumPy's default. The interval is between two order
// statistics and free of any assumption about the distribution, members being independent. Scrambled Sobol points
// spread more evenly than that; the interval is then on the safe side.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace zwang {

struct Quantile {
  double value = 0;
  double low = 0, high = 0;  // NaN where the sample is too small to say
};

// Values of the order statistics of these ranks (from 0, ascending, none twice).
using OrderStatistics = std::function<std::vector<double>(std::span<const long long> ranks)>;

// One for each probability in [0, 1]; NaN throughout without values.
std::vector<Quantile> estimate_quantiles(long long count, std::span<const double> probabilities,
                                         const OrderStatistics& order_statistics);

// The exact order statistics; `values` (no NaN among them) are rearranged.
std::vector<double> select_ranks(std::span<double> values, std::span<const long long> ranks);

}  // namespace zwang
