// First-order indices by bins, and the F distribution behind their bound.
#include "host/estimators/first_order.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "host/estimators/f_distribution.h"
#include "host/estimators/rank_correlation.h"

namespace zwang::first_order_test {
namespace {

FirstOrderIndex index_of_columns(const std::vector<double>& input, const std::vector<double>& measure,
                                 bool by_value, long long bins) {
  RankCorrelation ranks({input});
  ranks.rank(0);
  return first_order_index(input_bins(ranks.ranks(0), measure, by_value, bins), measure);
}

// D-binned
TEST(FirstOrder, IsTheAdjustedCorrelationRatio) {
  std::vector<double> input;
  for (int k = 1; k <= 12; ++k) input.push_back(k);
  const std::vector<double> measure = {1, 2, 2, 3, 8, 9, 7, 8, 2, 1, 3, 2};
  const FirstOrderIndex found = index_of_columns(input, measure, false, 3);
  EXPECT_NEAR(found.index, 142.0 / 153, 1e-14);
  EXPECT_EQ(found.bins, 3);
  EXPECT_EQ(found.members, 12);
}

TEST(FirstOrder, SeesADependenceThatRanksDoNotSee) {
  std::mt19937_64 generator(3);
  const auto uniform = [&] { return (double(generator() >> 11) + 0.5) * 0x1p-53; };
  std::vector<double> input, other, measure;
  for (int k = 0; k < 20'000; ++k) {
    input.push_back(2 * uniform() - 1);
    other.push_back(uniform());
    measure.push_back(input.back() * input.back());
  }
  const FirstOrderIndex found = index_of_columns(input, measure, false, bins_for(20'000));
  EXPECT_GT(found.index, 0.98);
  const FirstOrderIndex idle = index_of_columns(other, measure, false, bins_for(20'000));
  EXPECT_LT(std::abs(idle.index), 2 * idle.null95);
  EXPECT_LT(idle.null95, 0.01);
  EXPECT_LT(std::abs(rank_correlation_matrix(std::vector<std::span<const double>>{input, measure}, 1)[1]),
            0.05);
}

// 5 % of the indices of an input without influence exceed null95: of 400, 20 with a standard deviation of
// 4.4.
TEST(FirstOrder, ExceedsItsBoundByChanceInFivePercent) {
  std::mt19937_64 generator(5);
  std::normal_distribution<double> normal;
  int above = 0;
  for (int repeat = 0; repeat < 400; ++repeat) {
    std::vector<double> input, measure;
    for (int k = 0; k < 500; ++k) {
      input.push_back(normal(generator));
      measure.push_back(normal(generator));
    }
    const FirstOrderIndex found = index_of_columns(input, measure, false, bins_for(500));
    above += found.index > found.null95 ? 1 : 0;
  }
  EXPECT_NEAR(above, 20, 4.5 * 4.4);
}

TEST(FirstOrder, LeavesOutMissingValuesAndKeepsEqualInputsTogether) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  // Three values of a choice; the measure is the value plus or minus 1.
  std::vector<double> input, measure;
  for (int k = 0; k < 60; ++k) {
    input.push_back(10 * (k % 3));
    measure.push_back(k % 5 == 0 ? none : input.back() + (k % 2 == 0 ? 1 : -1));
  }
  const FirstOrderIndex found = index_of_columns(input, measure, true, 4);
  EXPECT_EQ(found.bins, 3);
  EXPECT_EQ(found.members, 48);
  double mean = 0, total = 0, within = 0;
  for (const double y : measure)
    if (!std::isnan(y)) mean += y / 48;
  for (int v = 0; v < 3; ++v) {
    double sum = 0, squares = 0, count = 0;
    for (std::size_t k = 0; k < 60; ++k) {
      if (std::isnan(measure[k]) || input[k] != 10 * v) continue;
      sum += measure[k];
      squares += measure[k] * measure[k];
      ++count;
      total += (measure[k] - mean) * (measure[k] - mean);
    }
    within += squares - sum * sum / count;
  }
  EXPECT_NEAR(found.index, 1 - (within / 45) / (total / 47), 1e-12);
  EXPECT_TRUE(std::isnan(index_of_columns(std::vector<double>(60, 1.0), measure, false, 4).index));
  EXPECT_EQ(index_of_columns(input, std::vector<double>(60, 2.0), false, 4).reason,
            "the measure is constant");
}

TEST(FirstOrder, HasAsManyBinsAsTheCubeRootOfTheMembers) {
  EXPECT_EQ(bins_for(10), 4);
  EXPECT_EQ(bins_for(124), 4);
  EXPECT_EQ(bins_for(125), 5);
  EXPECT_EQ(bins_for(9999), 21);
  EXPECT_EQ(bins_for(1'000'000'000), 50);
}

// SciPy 1.x, scipy.stats.f.ppf
TEST(FDistribution, HasTheQuantilesOfTables) {
  EXPECT_NEAR(f_quantile(0.95, 3, 20), 3.098391212140781, 1e-10);
  EXPECT_NEAR(f_quantile(0.95, 20, 9979), 1.5715769713996959, 1e-10);
  EXPECT_NEAR(f_quantile(0.95, 1, 1), 161.4476387975882, 1e-7);
}

}  // namespace
}  // namespace zwang::first_order_test
