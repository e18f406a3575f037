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

using Order = std::vector<std::pair<double, std::uint32_t>>;  // value and row

// Distributes finite values between buckets of equal width. A larger value is never in an earlier bucket.
class Buckets {
 public:
  explicit Buckets(std::span<const double> values) {
    constexpr std::size_t values_per_bucket = 32, most = std::size_t{1} << 16;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const double x : values) {
      if (!std::isfinite(x)) continue;
      low = std::min(low, x);
      high = std::max(high, x);
    }
    count_ = std::clamp(values.size() / values_per_bucket, std::size_t{1}, most);
    low_ = low;
    per_width_ = double(count_) / (high - low);
    // No values, equal values, or a range that is not finite.
    if (!(high > low) || !std::isfinite(per_width_)) count_ = 1;
  }
  std::size_t count() const { return count_; }
  std::size_t of(double x) const {
    const double place = (x - low_) * per_width_;
    return count_ == 1 || !(place > 0) ? 0 : place < double(count_) ? std::size_t(place) : count_ - 1;
  }

 private:
  std::size_t count_ = 1;
  double low_ = 0, per_width_ = 0;
};

// Pairs of value and row: sorting row numbers alone would access the values in random order. Buckets that fit
// into the cache are sorted one by one; values that are all in one bucket are sorted as without buckets.
Order sorted_with_rows(std::span<const double> values) {
  const Buckets buckets(values);
  std::vector<std::uint32_t> begin(buckets.count() + 1, 0);
  for (const double x : values)
    if (!std::isnan(x)) ++begin[buckets.of(x) + 1];
  for (std::size_t k = 1; k < begin.size(); ++k) begin[k] += begin[k - 1];
  Order order(begin.back());
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (std::uint32_t row = 0; row < values.size(); ++row)
    if (!std::isnan(values[row])) order[next[buckets.of(values[row])]++] = {values[row], row};
  for (std::size_t k = 0; k < buckets.count(); ++k) {
    const auto first = order.begin() + begin[k], last = order.begin() + begin[k + 1];
    // Equal values, as counts have, are in the order of their rows already.
    if (!std::is_sorted(first, last)) std::sort(first, last);
  }
  return order;
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

// The values at places first + 1 ... last are equal: their mean rank is (first + 1 + last) / 2.
void RankCorrelation::rank(std::size_t column) {
  RankedColumn& made = ranked_[column];
  made.ranks.resize(columns_[column].size(), 0);
  if (ranker_) {
    if (const auto present = ranker_(columns_[column], made.ranks)) {
      made.present = *present;
      return;
    }
  }
  const Order order = sorted_with_rows(columns_[column]);
  made.present = order.size();
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    while (last < order.size() && order[last].first == order[first].first) ++last;
    for (std::size_t k = first; k < last; ++k) made.ranks[order[k].second] = std::uint32_t(first + 1 + last);
  }
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
