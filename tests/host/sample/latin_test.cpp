// Latin hypercubes: permutations that need no memory, and positions within strata.
#include "host/sample/latin.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

namespace zwang::latin_test {
namespace {

std::vector<std::uint64_t> images(const Shuffle& shuffle, std::uint64_t count) {
  std::vector<std::uint64_t> made;
  for (std::uint64_t k = 0; k < count; ++k) made.push_back(shuffle(k));
  return made;
}

TEST(Shuffle, PermutesRangesOfAnyLength) {
  for (const std::uint64_t count : {1, 2, 3, 10, 1023, 1024, 1025, 2048, 2049, 5000, 65536, 100'003}) {
    const std::vector<std::uint64_t> made = images(Shuffle(3, 4, count), count);
    const std::set<std::uint64_t> distinct(made.begin(), made.end());
    EXPECT_EQ(distinct.size(), count);
    EXPECT_EQ(*distinct.rbegin(), count - 1);
  }
}

TEST(Shuffle, StaysInRangeAndDistinctWithATrillionMembers) {
  constexpr std::uint64_t count = 999'999'999'999;
  const Shuffle shuffle(1, 2, count);
  std::set<std::uint64_t> seen;
  for (std::uint64_t k = 0; k < 1000; ++k) {
    EXPECT_LT(shuffle(k), count);
    seen.insert(shuffle(k));
    seen.insert(shuffle(count - 1 - k));
  }
  EXPECT_EQ(seen.size(), 2000U);
  EXPECT_GT(*seen.rbegin() - *seen.begin(), count / 100 * 95);
}

TEST(Shuffle, EveryOrderOfFourIsEquallyLikely) {
  constexpr std::uint64_t trials = 24'000;
  std::map<std::vector<std::uint64_t>, double> orders;
  for (std::uint64_t seed = 0; seed < trials; ++seed) ++orders[images(Shuffle(seed, 1, 4), 4)];
  ASSERT_EQ(orders.size(), 24U);
  // Each count has mean 1000 and standard deviation below sqrt(1000); a deviation of six standard deviations
  // occurs once in 2e7 tests.
  for (const auto& [order, times] : orders) EXPECT_LT(std::abs(times - 1000), 6 * std::sqrt(1000.0));
}

TEST(Shuffle, LongOnesLookRandom) {
  // 1500 needs the cipher on 11 bits, and some values need more than one application to be in range.
  constexpr std::uint64_t count = 1500, seeds = 400;
  std::vector<double> where(15, 0);
  double neighbours = 0, fixed = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const std::vector<std::uint64_t> made = images(Shuffle(seed, 8, count), count);
    ++where[made[seed % 10] / 100];
    const double middle = (count - 1) / 2.0, variance = (static_cast<double>(count) * count - 1) / 12;
    for (std::uint64_t k = 0; k < count; ++k) {
      fixed += made[k] == k;
      const double next = static_cast<double>(made[(k + 1) % count]) - middle;
      neighbours += (static_cast<double>(made[k]) - middle) * next / variance;
    }
  }
  // Fixed points: one per permutation on average, with variance one.
  EXPECT_LT(std::abs(fixed - seeds), 5 * std::sqrt(static_cast<double>(seeds)));
  // Serial correlation: -1 / (n - 1) per pair on average, so -1 per permutation; variance about n.
  EXPECT_LT(std::abs(neighbours + seeds), 5 * std::sqrt(static_cast<double>(seeds * count)));
  const double expected = seeds / 15.0;
  for (const double times : where) EXPECT_LT(std::abs(times - expected), 5 * std::sqrt(expected));
}

TEST(Shuffle, SeedAndNameMakeOthers) {
  for (const std::uint64_t count : {1000, 10'000}) {
    EXPECT_NE(images(Shuffle(1, 1, count), 50), images(Shuffle(2, 1, count), 50));
    EXPECT_NE(images(Shuffle(1, 1, count), 50), images(Shuffle(1, 2, count), 50));
    EXPECT_EQ(images(Shuffle(1, 1, count), 50), images(Shuffle(1, 1, count), 50));
  }
}

TEST(WithinStratum, KeepsToItsStratumAndBelowOne) {
  EXPECT_EQ(within_stratum(3, 10, 0.5), 0.35);
  EXPECT_EQ(within_stratum(0, 1, 0.25), 0.25);
  constexpr double smallest = 0x1p-53, largest = 1 - 0x1p-53;
  EXPECT_GT(within_stratum(0, 1'000'000'000'000, smallest), 0);
  // Here the sum rounds up to the whole count.
  EXPECT_LT(within_stratum(999'999'999'999, 1'000'000'000'000, largest), 1);
}

}  // namespace
}  // namespace zwang::latin_test
