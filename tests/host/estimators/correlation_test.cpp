// Covariance and rank correlation, compared with direct computations in long double.
#include "host/estimators/correlation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "host/estimators/moments.h"
#include "host/estimators/rank_correlation.h"
#include "host/statistics/tree.h"

namespace zwang::correlation_test {
namespace {

using Column = std::vector<double>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double tolerance = 1e-12;  // rounding of some thousand members, relative to the spreads

// Related columns with offsets, ties, missing values and a constant.
std::vector<Column> columns_of(std::size_t rows) {
  std::mt19937_64 generator(21);
  const auto uniform = [&] { return (double(generator() >> 11) + 0.5) * 0x1p-53; };
  std::vector<Column> columns(5);
  for (std::size_t k = 0; k < rows; ++k) {
    const double u = uniform(), v = uniform();
    columns[0].push_back(1e8 + u);
    columns[1].push_back(u < 0.2 ? nan : std::exp(5 * u) + v);
    columns[2].push_back(std::floor(5 * (v - u)));
    columns[3].push_back(v < 0.3 || (k > 300 && k < 900) ? nan : -v * v);
    columns[4].push_back(2.5);
  }
  return columns;
}

CoMoments by_blocks(const std::vector<Column>& columns) {
  MergeTree<CoMoments, merged_comoments> tree;
  const std::size_t n = columns.size(), rows = columns[0].size();
  for (std::size_t first = 0; first < rows; first += block_members) {
    std::vector<double> block(block_members * n, nan);
    for (std::size_t k = 0; k < std::min<std::size_t>(block_members, rows - first); ++k) {
      for (std::size_t c = 0; c < n; ++c) block[k * n + c] = columns[c][first + k];
    }
    tree.push({0, static_cast<long long>(first / block_members), block_comoments(block, n)});
  }
  return tree.folded(CoMoments(n));
}

struct Plain {
  long double covariance = 0, correlation = 0;
  double scale = 0;
};

Plain plain_pair(const Column& a, const Column& b) {
  long double n = 0, mean_a = 0, mean_b = 0, ab = 0, aa = 0, bb = 0;
  const auto each = [&](const auto& action) {
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (!std::isnan(a[k]) && !std::isnan(b[k])) action(a[k], b[k]);
    }
  };
  each([&](long double x, long double y) {
    ++n;
    mean_a += x;
    mean_b += y;
  });
  mean_a /= n;
  mean_b /= n;
  each([&](long double x, long double y) {
    ab += (x - mean_a) * (y - mean_b);
    aa += (x - mean_a) * (x - mean_a);
    bb += (y - mean_b) * (y - mean_b);
  });
  return {ab / (n - 1), ab / std::sqrt(aa * bb), static_cast<double>(std::sqrt(aa * bb) / (n - 1))};
}

TEST(Covariance, EqualsTwoPassesOverTheMembersThatHaveBoth) {
  const std::vector<Column> columns = columns_of(3333);
  const Matrix matrix = covariance_matrix(by_blocks(columns));
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 5; ++j) {
      const Plain plain = plain_pair(columns[i], columns[j]);
      EXPECT_NEAR(matrix[i * 5 + j], static_cast<double>(plain.covariance), tolerance * plain.scale)
          << i << j;
    }
  }
}

TEST(Covariance, OfPairsWithoutCommonMembersIsUndefined) {
  std::vector<Column> columns(2, Column(600, nan));
  for (std::size_t k = 0; k < 600; ++k) columns[k % 2][k] = double(k);
  const Matrix matrix = covariance_matrix(by_blocks(columns));
  EXPECT_TRUE(std::isnan(matrix[1]));
  EXPECT_GT(matrix[0], 0);
  EXPECT_GT(matrix[3], 0);
}

// In the first block both columns have values, but never in the same member: later blocks use the pivots it
// set.
TEST(Covariance, IsRightAfterABlockWithoutPairs) {
  std::vector<Column> columns = columns_of(1500);
  columns = {columns[0], columns[2]};
  for (std::size_t k = 0; k < 300; ++k) columns[k % 2][k] = nan;
  columns[0][1] = -40;
  columns[1][0] = 1000;
  const Plain plain = plain_pair(columns[0], columns[1]);
  EXPECT_NEAR(covariance_matrix(by_blocks(columns))[1], static_cast<double>(plain.covariance),
              1e-6 * plain.scale);
}

// Ranks by comparing all pairs of values.
Column plain_ranks(const Column& values, const Column& other) {
  Column ranks(values.size(), nan);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i]) || std::isnan(other[i])) continue;
    double below = 0, equal = 0;
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (std::isnan(values[k]) || std::isnan(other[k])) continue;
      below += values[k] < values[i];
      equal += values[k] == values[i];
    }
    ranks[i] = below + (equal + 1) / 2;
  }
  return ranks;
}

TEST(RankCorrelation, IsTheCorrelationOfRanksComputedDirectly) {
  const std::vector<Column> columns = columns_of(1200);
  const std::vector<std::span<const double>> spans(columns.begin(), columns.end());
  const Matrix matrix = rank_correlation_matrix(spans, 2);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      const Plain plain =
          plain_pair(plain_ranks(columns[i], columns[j]), plain_ranks(columns[j], columns[i]));
      EXPECT_NEAR(matrix[i * 5 + j], static_cast<double>(plain.correlation), tolerance) << i << j;
    }
    EXPECT_TRUE(std::isnan(matrix[i * 5 + 4]));  // a constant has no correlation
  }
}

TEST(RankCorrelation, IsOneForMonotoneRelations) {
  Column a, b, c;
  for (int k = 0; k < 500; ++k) {
    a.push_back(std::sin(double(k)));
    b.push_back(std::exp(20 * a.back()));
    c.push_back(-a.back() * a.back() * a.back());
  }
  const std::vector<std::span<const double>> spans{a, b, c};
  const Matrix matrix = rank_correlation_matrix(spans, 1);
  EXPECT_NEAR(matrix[1], 1, 1e-15);
  EXPECT_NEAR(matrix[2], -1, 1e-15);
}

TEST(RankCorrelation, IsTheSameForAnyNumberOfThreads) {
  const std::vector<Column> columns = columns_of(700);
  const std::vector<std::span<const double>> spans(columns.begin(), columns.end());
  const Matrix one = rank_correlation_matrix(spans, 1), four = rank_correlation_matrix(spans, 4);
  for (std::size_t k = 0; k < one.size(); ++k) EXPECT_TRUE(one[k] == four[k] || std::isnan(one[k]));
}

// The second column has three values, and the products have few more: floating-point sums of a million of
// them would all be rounded in the same direction and lose four digits. With blocks of n/2, n/4, n/4 members,
// r^2 = 27/32 n^2 / (n^2 - 1).
TEST(RankCorrelationTest, IsExactForAMillionMembersWithTies) {
  constexpr std::size_t n = 1'000'000;
  std::vector<double> a(n), b(n);
  for (std::size_t k = 0; k < n; ++k) {
    a[k] = double(k);
    b[k] = k < n / 2 ? 0 : k < 3 * n / 4 ? 1 : 2;
  }
  const std::vector<std::span<const double>> columns = {a, b};
  const Matrix matrix = rank_correlation_matrix(columns, 2);
  const double size = double(n);
  EXPECT_NEAR(matrix[1], std::sqrt(27.0 / 32 * size * size / (size * size - 1)), 1e-15);
  EXPECT_EQ(matrix[0], 1);
}

}  // namespace
}  // namespace zwang::correlation_test
