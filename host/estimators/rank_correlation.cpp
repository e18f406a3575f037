#include "host/estimators/rank_correlation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "host/platform/parallel.h"

namespace zwang {

namespace {

// Twice the mean rank, counted from 1: an integer even for ties. 0: missing.
using Ranks = std::vector<std::uint32_t>;

// Places of values in their range, in 32 bits, above the numbers of their rows: one word for each row with a value. A
// larger value has no smaller place.
std::vector<std::uint64_t> places_with_rows(std::span<const double> values) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double x : values) {
    if (!std::isfinite(x)) continue;
    low = std::min(low, x);
    high = std::max(high, x);
  }
  constexpr double last = 4294967295;
  const double per_width = last / (high - low);
  std::vector<std::uint64_t> made;
  made.reserve(values.size());
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (std::isnan(values[row])) continue;
    // NaN for equal values and ranges that are not finite.
    const double place = (values[row] - low) * per_width;
    const std::uint64_t whole = !(place > 0) ? 0 : place < last ? std::uint64_t(place) : std::uint64_t(last);
    made.push_back(whole << 32 | row);
  }
  return made;
}

// Sorts by the upper 32 bits, eleven at a time; words that agree in them keep their order.
void sort_by_place(std::vector<std::uint64_t>& words) {
  constexpr int digits = 11, passes = 3;
  constexpr std::size_t radix = std::size_t{1} << digits;
  const auto digit = [](std::uint64_t word, int pass) { return word >> (32 + digits * pass) & (radix - 1); };
  std::array<std::vector<std::size_t>, passes> begin;
  for (auto& one : begin) one.resize(radix, 0);
  for (const std::uint64_t word : words)
    for (int pass = 0; pass < passes; ++pass) ++begin[std::size_t(pass)][digit(word, pass)];
  std::vector<std::uint64_t> sorted(words.size());
  for (int pass = 0; pass < passes; ++pass) {
    std::vector<std::size_t>& next = begin[std::size_t(pass)];
    std::size_t passed = 0;
    for (std::size_t& entry : next) passed += std::exchange(entry, passed);
    for (const std::uint64_t word : words) sorted[next[digit(word, pass)]++] = word;
    words.swap(sorted);
  }
}

// Writes the ranks of all rows with a value and returns their number. The values at places first + 1 ... last are equal:
// their mean rank is (first + 1 + last) / 2.
std::size_t rank_values(std::span<const double> values, Ranks& ranks) {
  std::vector<std::uint64_t> words = places_with_rows(values);
  sort_by_place(words);
  const auto row_of = [](std::uint64_t word) { return word & 0xffffffff; };
  const auto value_of = [&](std::uint64_t word) { return values[row_of(word)]; };
  const auto before = [&](std::uint64_t a, std::uint64_t b) { return value_of(a) < value_of(b); };
  for (std::size_t first = 0, last = 0; first < words.size(); first = last) {
    while (last < words.size() && words[last] >> 32 == words[first] >> 32) ++last;
    if (last - first == 1) {
      ranks[row_of(words[first])] = std::uint32_t(first + 1 + last);
      continue;
    }
    const auto from = words.begin() + std::ptrdiff_t(first), to = words.begin() + std::ptrdiff_t(last);
    // Equal values, as counts have, are in order already.
    if (!std::is_sorted(from, to, before)) std::sort(from, to, before);
    for (std::size_t equal = first, end = first; equal < last; equal = end) {
      while (end < last && value_of(words[end]) == value_of(words[equal])) ++end;
      for (std::size_t k = equal; k < end; ++k) ranks[row_of(words[k])] = std::uint32_t(equal + 1 + end);
    }
  }
  return words.size();
}

// Ranks within a subset of the `rows` rows, from the ranks among all rows: by counting instead of sorting
// again.
void rank_again(Ranks& ranks, std::size_t rows) {
  std::vector<std::uint32_t> count(rows + 1, 0);
  for (const std::uint32_t rank : ranks) ++count[place_of_rank(rank)];
  std::uint32_t passed = 0;
  for (std::uint32_t& entry : count) {
    const std::uint32_t equal = entry;
    entry = 2 * passed + 1 + equal;
    passed += equal;
  }
  for (std::uint32_t& rank : ranks) rank = count[place_of_rank(rank)];
}

// Integer sums are exact. In floating point, a million equal products of tied ranks would all be rounded in
// the same direction. 2^31 members, the largest number that has ranks, need 93 bits.
__extension__ using Whole = __int128;

// The sum of products of distances from the mean rank. Products are summed in 64 bits as long as they fit.
Whole product_sum(const Ranks& a, const Ranks& b) {
  // Twice the mean of 1 ... n.
  const auto mean = static_cast<std::int64_t>(a.size()) + 1;
  const auto fit = static_cast<std::size_t>(std::max<std::int64_t>((std::int64_t{1} << 62) / mean / mean, 1));
  Whole all = 0;
  for (std::size_t begin = 0; begin < a.size(); begin += fit) {
    const std::size_t end = std::min(a.size(), begin + fit);
    std::int64_t some = 0;
    for (std::size_t k = begin; k < end; ++k) some += (a[k] - mean) * (b[k] - mean);
    all += some;
  }
  return all;
}

double correlation_of(const Ranks& a, const Ranks& b, Whole aa, Whole bb) {
  if (a.size() < 2 || aa == 0 || bb == 0) return std::numeric_limits<double>::quiet_NaN();
  return std::clamp(double(product_sum(a, b)) / std::sqrt(double(aa) * double(bb)), -1.0, 1.0);
}

}  // namespace

struct RankCorrelation::RankedColumn {
  Ranks ranks;
  std::size_t present = 0;  // rows with a value
  Whole squares = 0;        // product_sum(ranks, ranks) if all have one

  bool complete() const { return present == ranks.size(); }
  double correlation_with(const RankedColumn& other) const;
};

// If the rows with both values are all rows with a value of one column, its ranks among them are known
// already.
double RankCorrelation::RankedColumn::correlation_with(const RankedColumn& other) const {
  if (complete() && other.complete()) return correlation_of(ranks, other.ranks, squares, other.squares);
  Ranks both, others;
  both.reserve(std::min(present, other.present));
  others.reserve(both.capacity());
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    if (ranks[k] == 0 || other.ranks[k] == 0) continue;
    both.push_back(ranks[k]);
    others.push_back(other.ranks[k]);
  }
  if (both.size() != present) rank_again(both, ranks.size());
  if (others.size() != other.present) rank_again(others, ranks.size());
  return correlation_of(both, others, product_sum(both, both), product_sum(others, others));
}

RankCorrelation::RankCorrelation(std::vector<std::span<const double>> columns, ColumnRanker ranker)
    : columns_(std::move(columns)), ranked_(columns_.size()), ranker_(std::move(ranker)) {}
RankCorrelation::~RankCorrelation() = default;

void RankCorrelation::rank(std::size_t column) {
  RankedColumn& made = ranked_[column];
  made.ranks.resize(columns_[column].size(), 0);
  if (ranker_) {
    if (const auto present = ranker_(columns_[column], made.ranks)) {
      made.present = *present;
      return;
    }
  }
  made.present = rank_values(columns_[column], made.ranks);
}

std::span<const std::uint32_t> RankCorrelation::ranks(std::size_t column) const {
  return ranked_[column].ranks;
}

Matrix RankCorrelation::matrix(unsigned threads) {
  const std::size_t n = columns_.size();
  in_parallel(n, threads, [&](std::size_t c) {
    if (ranked_[c].complete()) ranked_[c].squares = product_sum(ranked_[c].ranks, ranked_[c].ranks);
  });
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) pairs.emplace_back(i, j);
  }
  Matrix made(n * n);
  in_parallel(pairs.size(), threads, [&](std::size_t k) {
    const auto [i, j] = pairs[k];
    made[i * n + j] = made[j * n + i] = ranked_[i].correlation_with(ranked_[j]);
  });
  return made;
}

Matrix rank_correlation_matrix(std::span<const std::span<const double>> columns, unsigned threads,
                               const ColumnRanker& ranker) {
  RankCorrelation ranks({columns.begin(), columns.end()}, ranker);
  in_parallel(ranks.columns(), threads, [&](std::size_t c) { ranks.rank(c); });
  return ranks.matrix(threads);
}

}  // namespace zwang
