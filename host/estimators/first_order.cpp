#include "host/estimators/first_order.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "host/estimators/f_distribution.h"
#include "host/estimators/nan.h"

namespace zwang {

namespace {

// Members with both values, counted by the input's rank.
struct RankCounts {
  std::vector<std::uint32_t> at;  // by rank, 1 to 2 rows
  long long members = 0;
  double sum = 0;
  bool finite = true;
};

RankCounts counted(std::span<const std::uint32_t> ranks, std::span<const double> values) {
  RankCounts made;
  made.at.resize(2 * ranks.size() + 1, 0);
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    if (ranks[k] == 0 || std::isnan(values[k])) continue;
    ++made.at[ranks[k]];
    ++made.members;
    made.sum += values[k];
    made.finite = made.finite && std::isfinite(values[k]);
  }
  return made;
}

// The bin of every rank: by the middle of its members among all, or one bin for each rank. Replaces the
// counts. Returns the number of bins that are not empty.
long long assign_bins(RankCounts& counts, bool by_value, long long bins) {
  const double per_bin = double(counts.members) / double(bins);
  long long passed = 0, used = 0, last = -1;
  for (std::uint32_t& entry : counts.at) {
    if (entry == 0) continue;
    const double middle = double(passed) + double(entry) / 2;
    const auto place = by_value ? last + 1 : std::min(static_cast<long long>(middle / per_bin), bins - 1);
    passed += entry;
    if (place != last) ++used;
    last = place;
    entry = static_cast<std::uint32_t>(used - 1);
  }
  return used;
}

}  // namespace

long long bins_for(long long members) {
  auto root = static_cast<long long>(std::cbrt(double(members)));
  while ((root + 1) * (root + 1) * (root + 1) <= members) ++root;
  while (root * root * root > members) --root;
  return std::clamp<long long>(root, 4, 50);
}

FirstOrderIndex first_order_index(std::span<const std::uint32_t> ranks, std::span<const double> values,
                                  bool by_value, long long bins) {
  RankCounts counts = counted(ranks, values);
  FirstOrderIndex made{nan, nan, 0, counts.members, ""};
  if (!counts.finite) return made.reason = "infinite values", made;
  const double n = double(counts.members), mean = counts.sum / n;
  const long long used = assign_bins(counts, by_value, bins);
  if (used < 2) return made.reason = "the input has one value", made;
  if (used >= counts.members) return made.reason = "as many bins as members", made;

  // Sums over bins, relative to the mean of all.
  std::vector<double> sum(static_cast<std::size_t>(used), 0), square(sum), count(sum);
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    if (ranks[k] == 0 || std::isnan(values[k])) continue;
    const std::size_t bin = counts.at[ranks[k]];
    const double d = values[k] - mean;
    sum[bin] += d;
    square[bin] += d * d;
    ++count[bin];
  }
  double within = 0, total = 0, all = 0;
  for (std::size_t b = 0; b < sum.size(); ++b) {
    within += square[b] - sum[b] * sum[b] / count[b];
    total += square[b];
    all += sum[b];
  }
  total -= all * all / n;
  if (!(total > 0)) return made.reason = "the measure is constant", made;

  const double m = double(used);
  made.bins = used;
  made.index = 1 - (within / (n - m)) / (total / (n - 1));
  made.null95 = 1 - (n - 1) / ((m - 1) * f_quantile(0.95, m - 1, n - m) + n - m);
  return made;
}

}  // namespace zwang
