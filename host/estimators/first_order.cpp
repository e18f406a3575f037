#include "host/estimators/first_order.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "host/estimators/f_distribution.h"
#include "host/estimators/nan.h"
#include "host/estimators/rank_correlation.h"

namespace zwang {

namespace {

// The bin of every rank: by the middle of its members among all, or one bin for each rank. Replaces the number of
// members at each rank. Returns the number of bins that are not empty.
long long assign_bins(std::vector<std::uint32_t>& at_rank, long long members, bool by_value, long long bins) {
  const double per_bin = double(members) / double(bins);
  long long passed = 0, used = 0, last = -1;
  for (std::uint32_t& entry : at_rank) {
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

InputBins input_bins(std::span<const std::uint32_t> ranks, std::span<const double> values, bool by_value,
                     long long bins) {
  const auto counts = [&](std::size_t row) {
    return ranks[row] != 0 && (values.empty() || !std::isnan(values[row]));
  };
  InputBins made;
  std::vector<std::uint32_t> at_rank(ranks.size() + 1, 0);
  long long members = 0;
  for (std::size_t row = 0; row < ranks.size(); ++row)
    if (counts(row)) {
      ++at_rank[place_of_rank(ranks[row])];
      ++members;
    }
  made.used = assign_bins(at_rank, members, by_value, bins);
  made.of.resize(ranks.size());
  for (std::size_t row = 0; row < ranks.size(); ++row)
    made.of[row] = counts(row) ? at_rank[place_of_rank(ranks[row])] : InputBins::none;
  return made;
}

FirstOrderIndex first_order_index(const InputBins& bins, std::span<const double> values) {
  FirstOrderIndex made{nan, nan, 0, 0, ""};
  double sum_of_all = 0;
  bool finite = true;
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (bins.of[row] == InputBins::none) continue;
    ++made.members;
    sum_of_all += values[row];
    finite = finite && std::isfinite(values[row]);
  }
  if (!finite) return made.reason = "infinite values", made;
  const double n = double(made.members), mean = sum_of_all / n;
  if (bins.used < 2) return made.reason = "the input has one value", made;
  if (bins.used >= made.members) return made.reason = "as many bins as members", made;

  // Sums over bins, relative to the mean of all.
  struct Sums {
    double first = 0, second = 0, count = 0;
  };
  std::vector<Sums> sums(static_cast<std::size_t>(bins.used));
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (bins.of[row] == InputBins::none) continue;
    Sums& sum = sums[bins.of[row]];
    const double d = values[row] - mean;
    sum.first += d;
    sum.second += d * d;
    ++sum.count;
  }
  double within = 0, total = 0, all = 0;
  for (const Sums& sum : sums) {
    within += sum.second - sum.first * sum.first / sum.count;
    total += sum.second;
    all += sum.first;
  }
  total -= all * all / n;
  if (!(total > 0)) return made.reason = "the measure is constant", made;

  const double m = double(bins.used);
  made.bins = bins.used;
  made.index = 1 - (within / (n - m)) / (total / (n - 1));
  made.null95 = 1 - (n - 1) / ((m - 1) * f_quantile(0.95, m - 1, n - m) + n - m);
  return made;
}

}  // namespace zwang
