#include "host/estimators/quantiles.h"

#include <algorithm>
#include <cmath>

#include "host/estimators/intervals.h"
#include "host/estimators/nan.h"

namespace zwang {

namespace {

// Positions of a quantile and its interval among the sorted values.
struct Places {
  long long left = 0, right = 0;  // neighbours of the quantile ...
  double share = 0;               // ... and the fraction of the distance from left to right
  RankInterval interval;
};

Places places_of(long long count, double p) {
  const double position = double(count - 1) * p;
  Places places;
  places.left = std::clamp(static_cast<long long>(std::floor(position)), 0LL, count - 1);
  places.right = std::min(places.left + 1, count - 1);
  places.share = position - double(places.left);
  places.interval = quantile_ranks(count, p);
  return places;
}

std::vector<Places> all_places(long long count, std::span<const double> probabilities) {
  std::vector<Places> places;
  for (const double p : probabilities) places.push_back(places_of(count, p));
  return places;
}

// Every rank that occurs, once.
std::vector<long long> ranks_of(const std::vector<Places>& places, long long count) {
  std::vector<long long> ranks;
  for (const Places& place : places) {
    for (const long long rank : {place.left, place.right, place.interval.low, place.interval.high}) {
      if (rank >= 0 && rank < count) ranks.push_back(rank);
    }
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

// Interpolates from the nearer end, so that both ends are exact. Equal ends may be infinite.
double between(double a, double b, double share) {
  if (a == b || share == 0) return a;
  return share < 0.5 ? a + (b - a) * share : b - (b - a) * (1 - share);
}

void select_between(std::span<double> values, std::size_t offset, std::span<const long long> ranks,
                    std::span<double> found) {
  if (ranks.empty()) return;

  // The middle rank splits both values and ranks, which takes log2(ranks) passes over the values.
  const std::size_t middle = ranks.size() / 2;
  const std::size_t place = std::size_t(ranks[middle]) - offset;
  std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(place), values.end());
  found[middle] = values[place];
  select_between(values.first(place), offset, ranks.first(middle), found.first(middle));
  select_between(values.subspan(place + 1), offset + place + 1, ranks.subspan(middle + 1),
                 found.subspan(middle + 1));
}

}  // namespace

std::vector<long long> ranks_needed(long long count, std::span<const double> probabilities) {
  return count < 1 ? std::vector<long long>{} : ranks_of(all_places(count, probabilities), count);
}

std::vector<Quantile> estimate_quantiles(long long count, std::span<const double> probabilities,
                                         const OrderStatistics& order_statistics) {
  if (count < 1) return std::vector<Quantile>(probabilities.size(), {nan, nan, nan});

  const std::vector<Places> places = all_places(count, probabilities);
  const std::vector<long long> ranks = ranks_of(places, count);
  const std::vector<double> values = order_statistics(ranks);

  const auto value_at = [&](long long rank) {
    const auto place = std::lower_bound(ranks.begin(), ranks.end(), rank);
    return place != ranks.end() && *place == rank ? values[std::size_t(place - ranks.begin())] : nan;
  };
  std::vector<Quantile> quantiles;
  quantiles.reserve(places.size());
  for (const Places& place : places) {
    quantiles.push_back({.value = between(value_at(place.left), value_at(place.right), place.share),
                         .low = value_at(place.interval.low),
                         .high = value_at(place.interval.high)});
  }
  return quantiles;
}

std::vector<double> select_ranks(std::span<double> values, std::span<const long long> ranks) {
  std::vector<double> found(ranks.size());
  select_between(values, 0, ranks, found);
  // -0 and 0 compare equal, and which of them is selected depends on the library: always return 0.
  for (double& x : found) x += 0.0;
  return found;
}

}  // namespace zwang
