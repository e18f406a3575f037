#include "host/statistics/quantile_source.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "host/estimators/quantile_sketch.h"
#include "host/estimators/quantiles.h"

namespace zwang {

std::vector<double> StoredValues::order_statistics(std::span<const long long> ranks) const {
  std::vector<double> values;
  for (const double x : values_) {
    if (!std::isnan(x)) values.push_back(x);
  }
  return select_ranks(values, ranks);
}

std::vector<double> SketchedValues::order_statistics(std::span<const long long> ranks) const {
  std::vector<double> values = sketch_.values_at(ranks);
  for (double& x : values) x = std::clamp(x, minimum_, maximum_);
  return values;
}

SelectedValues::SelectedValues(std::vector<long long> ranks, std::vector<double> values)
    : ranks_(std::move(ranks)), values_(std::move(values)) {
  assert(ranks_.size() == values_.size());
}

std::vector<double> SelectedValues::order_statistics(std::span<const long long> ranks) const {
  std::vector<double> values;
  for (const long long rank : ranks) values.push_back(at(rank));
  return values;
}

double SelectedValues::at(long long rank) const {
  const auto place = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
  assert(place != ranks_.end() && *place == rank);
  return values_[static_cast<std::size_t>(place - ranks_.begin())];
}

}  // namespace zwang
