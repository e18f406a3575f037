// Intervals: tables, brute force, and coverage by simulation.
//
// Seeds are fixed. Bounds on coverage are set for a false-alarm rate of 1e-6 each: the probability that
// another seed fails although nothing is wrong.
#include "host/estimators/intervals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "host/estimators/quantiles.h"

namespace zwang::intervals_test {
namespace {

constexpr double normal_bound = 4.8916384757;  // two-sided 1e-6 point of the standard normal

double uniform(std::mt19937_64& generator) { return (double(generator() >> 11) + 0.5) * 0x1p-53; }

TEST(StudentReach, EqualsTheTables) {
  EXPECT_TRUE(std::isnan(student_reach(0)));
  // Closed forms: tan(0.475 pi), and for two degrees p / sqrt((1 - p^2) / 2) with p = 0.95.
  EXPECT_NEAR(student_reach(1), std::tan(0.475 * std::numbers::pi), 1e-9);
  EXPECT_NEAR(student_reach(2), 0.95 / std::sqrt((1 - 0.95 * 0.95) / 2), 1e-10);
  // Printed tables.
  EXPECT_NEAR(student_reach(4), 2.776, 5e-4);
  EXPECT_NEAR(student_reach(15), 2.131, 5e-4);
  EXPECT_NEAR(student_reach(30), 2.042, 5e-4);
  EXPECT_NEAR(student_reach(120), 1.980, 5e-4);
  EXPECT_NEAR(student_reach(1'000'000'000), 1.959963984540054, 1e-8);
}

TEST(StudentReach, HasNoStepWhereTheFormulaChanges) {
  // Both formulas fall by about 1.2e-5 per degree here.
  const double before = student_reach(199) - student_reach(200),
               across = student_reach(200) - student_reach(201);
  EXPECT_NEAR(across / before, 1, 0.02);
}

double binomial_below(long long n, double p, long long k) {  // P(B <= k)
  double sum = 0;
  for (long long i = 0; i <= k; ++i) {
    sum += std::exp(std::lgamma(double(n) + 1) - std::lgamma(double(i) + 1) - std::lgamma(double(n - i) + 1) +
                    double(i) * std::log(p) + double(n - i) * std::log(1 - p));
  }
  return sum;
}

TEST(QuantileRanks, AreTheTightestWithTheRequiredCoverage) {
  for (const long long n : {1, 2, 5, 6, 30, 100, 999}) {
    for (const double p : {0.01, 0.05, 0.5, 0.9}) {
      const RankInterval ranks = quantile_ranks(n, p);
      // Too high with a probability of at most 2.5 %; one rank further would exceed it.
      if (ranks.low >= 0) {
        EXPECT_LE(binomial_below(n, p, ranks.low), 0.025) << n << " " << p;
      }
      EXPECT_GT(binomial_below(n, p, ranks.low + 1), 0.025) << n << " " << p;
      if (ranks.high < n) {
        EXPECT_LE(1 - binomial_below(n, p, ranks.high), 0.025 + 1e-12) << n << " " << p;
      }
      EXPECT_GT(1 - binomial_below(n, p, ranks.high - 1), 0.025) << n << " " << p;
    }
  }
}

TEST(QuantileRanks, ChangeFormulasWithoutAJump) {
  // Variance 1e4 is at n = 40000 for p = 1/2; the exact interval just below, the approximate one just above.
  for (const double p : {0.5, 0.05, 0.99}) {
    const auto n = static_cast<long long>(1e4 / (p * (1 - p)));
    const RankInterval below = quantile_ranks(n - 1, p), above = quantile_ranks(n + 100, p);
    EXPECT_NEAR(double(above.low - below.low), 100 * p, 4);
    EXPECT_NEAR(double(above.high - below.high), 100 * p, 4);
  }
}

TEST(QuantileRanks, AreOpenWhereTheSampleIsTooSmall) {
  EXPECT_EQ(quantile_ranks(5, 0.5).low, -1);  // 2^-5 is above 2.5 %
  EXPECT_EQ(quantile_ranks(6, 0.5).low, 0);
  EXPECT_EQ(quantile_ranks(20, 0.99).high, 20);
  EXPECT_EQ(quantile_ranks(10, 0.0).low, -1);
  EXPECT_EQ(quantile_ranks(10, 1.0).high, 10);
}

struct Coverage {
  long long count, trials;
  double p;
};

class QuantileInterval : public testing::TestWithParam<Coverage> {};

TEST_P(QuantileInterval, CoversTheTrueValueAtLeastAsOftenAsStated) {
  const auto [count, trials, p] = GetParam();
  std::mt19937_64 generator(11);
  std::vector<double> values(std::size_t(count), 0.0);
  const std::vector<double> probabilities{p};
  long long covered = 0;
  for (long long trial = 0; trial < trials; ++trial) {
    for (double& x : values) x = uniform(generator);
    const Quantile quantile = estimate_quantiles(count, probabilities, [&](std::span<const long long> ranks) {
      return select_ranks(values, ranks);
    })[0];
    // The p-quantile of the uniform distribution is p. An open side covers everything.
    covered += !(quantile.low > p) && !(quantile.high < p);
  }
  const double share = double(covered) / double(trials), sigma = std::sqrt(0.05 * 0.95 / double(trials));
  EXPECT_GT(share, 0.95 - normal_bound * sigma);
  EXPECT_LT(share, 0.985);  // and not simply because it is wide
}

INSTANTIATE_TEST_SUITE_P(Samples, QuantileInterval,
                         testing::Values(Coverage{50, 20000, 0.5}, Coverage{200, 20000, 0.05},
                                         Coverage{1000, 5000, 0.95}, Coverage{50000, 1000, 0.5}),
                         [](const auto& test) {
                           return "Of" + std::to_string(test.param.count) + "ValuesAt" +
                                  std::to_string(int(100 * test.param.p)) + "Percent";
                         });

TEST(MeanInterval, CoversTheTrueValueAsOftenAsStatedForFiveNormalValues) {
  std::mt19937_64 generator(12);
  constexpr int trials = 40000, count = 5;
  int covered = 0;
  for (int trial = 0; trial < trials; ++trial) {
    double sum = 0, squares = 0;
    for (int k = 0; k < count; ++k) {
      const double x =
          std::sqrt(-2 * std::log(uniform(generator))) * std::cos(2 * std::numbers::pi * uniform(generator));
      sum += x;
      squares += x * x;
    }
    const double mean = sum / count;
    const double error = std::sqrt((squares - count * mean * mean) / (count - 1) / count);
    covered += std::abs(mean) <= student_reach(count - 1) * error;
  }
  EXPECT_NEAR(double(covered) / trials, 0.95, normal_bound * std::sqrt(0.05 * 0.95 / trials));
}

}  // namespace
}  // namespace zwang::intervals_test
