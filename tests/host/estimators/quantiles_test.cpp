// Quantiles of small samples, compared with results computed by hand, and the selection of order statistics.
#include "host/estimators/quantiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace zwang::quantiles_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<Quantile> quantiles_of(std::vector<double> values, const std::vector<double>& probabilities) {
  return estimate_quantiles(static_cast<long long>(values.size()), probabilities,
                            [&](std::span<const long long> ranks) { return select_ranks(values, ranks); });
}

TEST(Quantiles, LieLinearlyBetweenNeighbours) {
  const auto found = quantiles_of({40, 10, 30, 20}, {0, 0.25, 0.5, 0.9, 1});
  EXPECT_DOUBLE_EQ(found[0].value, 10);
  EXPECT_DOUBLE_EQ(found[1].value, 17.5);
  EXPECT_DOUBLE_EQ(found[2].value, 25);
  EXPECT_DOUBLE_EQ(found[3].value, 37);
  EXPECT_DOUBLE_EQ(found[4].value, 40);
}

TEST(Quantiles, OfOneValueAreThatValueWithoutAnInterval) {
  const auto found = quantiles_of({3}, {0.05, 0.5});
  EXPECT_EQ(found[0].value, 3);
  EXPECT_TRUE(std::isnan(found[1].low));
  EXPECT_TRUE(std::isnan(found[1].high));
}

TEST(Quantiles, OfNoValuesAreUndefined) {
  const auto found = quantiles_of({}, {0.5});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(std::isnan(found[0].value));
}

TEST(Quantiles, AmongEqualValuesAreExactlyThatValue) {
  const auto found = quantiles_of(std::vector<double>(100, 0.1), {0.333});
  EXPECT_EQ(found[0].value, 0.1);
  EXPECT_EQ(found[0].low, 0.1);
  EXPECT_EQ(found[0].high, 0.1);
}

TEST(Quantiles, ReachInfinityWhereTheValuesDo) {
  const auto found = quantiles_of({-infinity, 1, infinity, infinity}, {0, 0.9, 1});
  EXPECT_EQ(found[0].value, -infinity);
  EXPECT_EQ(found[1].value, infinity);
  EXPECT_EQ(found[2].value, infinity);
}

TEST(Quantiles, LieInsideTheirIntervals) {
  std::vector<double> values(1000);
  std::iota(values.begin(), values.end(), 0.0);
  for (const Quantile& quantile : quantiles_of(values, {0.05, 0.25, 0.5, 0.75, 0.95})) {
    EXPECT_LT(quantile.low, quantile.value);
    EXPECT_GT(quantile.high, quantile.value);
  }
}

TEST(RanksNeeded, AreThoseThatEstimatingUses) {
  const std::vector<double> probabilities{0, 0.05, 0.5, 0.95, 1};
  for (const long long count : {0LL, 1LL, 7LL, 1000LL, 1'000'000LL}) {
    std::vector<long long> used;
    estimate_quantiles(count, probabilities, [&](std::span<const long long> ranks) {
      used.assign(ranks.begin(), ranks.end());
      return std::vector<double>(ranks.size());
    });
    EXPECT_EQ(ranks_needed(count, probabilities), used) << count;
  }
}

TEST(SelectRanks, FindsWhatSortingFinds) {
  std::mt19937_64 generator(3);
  for (const std::size_t count : {1U, 2U, 17U, 1000U}) {
    std::vector<double> values;
    for (std::size_t k = 0; k < count; ++k) values.push_back(double(generator() % 100));
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    std::vector<long long> ranks;
    for (std::size_t k = 0; k < count; k += 1 + generator() % 7) ranks.push_back(static_cast<long long>(k));

    const std::vector<double> found = select_ranks(values, ranks);
    for (std::size_t k = 0; k < ranks.size(); ++k) EXPECT_EQ(found[k], sorted[std::size_t(ranks[k])]);
  }
}

}  // namespace
}  // namespace zwang::quantiles_test
