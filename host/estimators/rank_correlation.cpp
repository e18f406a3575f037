#include "host/estimators/rank_correlation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "host/platform/parallel.h"

namespace zwang {

namespace {

// Twice the mean rank, counted from 1: an integer even for ties. 0: missing.
using Ranks = std::vector<std::uint32_t>;

struct RankedColumn {
  Ranks ranks;
  bool complete = true;
};

RankedColumn ranked(std::span<const double> values) {
  RankedColumn column;
  column.ranks.resize(values.size(), 0);
  // Pairs of value and row: sorting row numbers alone would access the values in random order.
  std::vector<std::pair<double, std::uint32_t>> order;
  order.reserve(values.size());
  for (std::uint32_t row = 0; row < values.size(); ++row) {
    if (!std::isnan(values[row])) order.emplace_back(values[row], row);
  }
  column.complete = order.size() == values.size();
  std::sort(order.begin(), order.end());

  // The values at places first + 1 ... last are equal: their mean rank is (first + 1 + last) / 2.
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    while (last < order.size() && order[last].first == order[first].first) ++last;
    for (std::size_t k = first; k < last; ++k)
      column.ranks[order[k].second] = std::uint32_t(first + 1 + last);
  }
  return column;
}

// Ranks within a subset of the `rows` rows, from the ranks among all rows: by counting instead of sorting
// again.
void rank_again(Ranks& ranks, std::size_t rows) {
  std::vector<std::uint32_t> count(2 * rows + 1, 0);
  for (const std::uint32_t rank : ranks) ++count[rank];
  std::uint32_t passed = 0;
  for (std::uint32_t& entry : count) {
    const std::uint32_t equal = entry;
    entry = 2 * passed + 1 + equal;
    passed += equal;
  }
  for (std::uint32_t& rank : ranks) rank = count[rank];
}

// Integer sums are exact. In floating point, a million equal products of tied ranks would all be rounded in
// the same direction. 2^31 members, the largest number that has ranks, need 93 bits.
__extension__ using Whole = __int128;

double correlation_of(const Ranks& a, const Ranks& b) {
  if (a.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  // Twice the mean of 1 ... n.
  const auto mean = static_cast<std::int64_t>(a.size()) + 1;
  Whole ab = 0, aa = 0, bb = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const std::int64_t da = a[k] - mean, db = b[k] - mean;
    ab += da * db;
    aa += da * da;
    bb += db * db;
  }
  if (aa == 0 || bb == 0) return std::numeric_limits<double>::quiet_NaN();
  return std::clamp(double(ab) / std::sqrt(double(aa) * double(bb)), -1.0, 1.0);
}

double pair_correlation(const RankedColumn& a, const RankedColumn& b) {
  if (a.complete && b.complete) return correlation_of(a.ranks, b.ranks);
  Ranks both_a, both_b;
  for (std::size_t k = 0; k < a.ranks.size(); ++k) {
    if (a.ranks[k] == 0 || b.ranks[k] == 0) continue;
    both_a.push_back(a.ranks[k]);
    both_b.push_back(b.ranks[k]);
  }
  rank_again(both_a, a.ranks.size());
  rank_again(both_b, a.ranks.size());
  return correlation_of(both_a, both_b);
}

}  // namespace

Matrix rank_correlation_matrix(std::span<const std::span<const double>> columns, unsigned threads) {
  const std::size_t n = columns.size();
  std::vector<RankedColumn> ranks(n);
  in_parallel(n, threads, [&](std::size_t c) { ranks[c] = ranked(columns[c]); });

  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) pairs.emplace_back(i, j);
  }
  Matrix matrix(n * n);
  in_parallel(pairs.size(), threads, [&](std::size_t k) {
    const auto [i, j] = pairs[k];
    matrix[i * n + j] = matrix[j * n + i] = pair_correlation(ranks[i], ranks[j]);
  });
  return matrix;
}

}  // namespace zwang
