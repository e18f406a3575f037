// Moments, compared with a two-pass computation in long double, on data for which naive formulas fail.
#include "host/estimators/moments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "host/statistics/tree.h"

namespace zwang::moments_test {
namespace {

// Rounding of some thousand members in double, relative to the size of each moment.
constexpr double tolerance = 1e-12;

using Column = std::vector<double>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

class Draws {
 public:
  explicit Draws(unsigned seed) : generator_(seed) {}
  double uniform() { return (double(generator_() >> 11) + 0.5) * 0x1p-53; }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform()); }

 private:
  std::mt19937_64 generator_;
};

// One column through blocks and tree; the other columns contain other values.
Moments by_blocks(const Column& column, std::size_t place = 5) {
  MergeTree<TileMoments, merged_moments> tree;
  std::vector<double> rows(std::size_t{block_members} * tile_columns);
  for (std::size_t first = 0; first < column.size(); first += block_members) {
    std::fill(rows.begin(), rows.end(), -7.25);
    for (std::size_t k = 0; k < block_members; ++k) {
      rows[k * tile_columns + place] = first + k < column.size() ? column[first + k] : nan;
    }
    tree.push({0, static_cast<long long>(first / block_members), block_moments(rows)});
  }
  return column_moments(tree.folded({}), place);
}

struct Plain {
  long long count = 0;
  long double mean = 0, m2 = 0, m3 = 0, m4 = 0;
};

// Relative to the first value, from which all others differ by little: where a long double has eleven more bits than
// a double, as on x86-64, the mean itself would not be known well enough.
Plain two_pass(const Column& column) {
  Plain plain;
  const auto known = std::find_if(column.begin(), column.end(), [](double x) { return !std::isnan(x); });
  const long double origin = known == column.end() ? 0 : *known;
  for (const double x : column) {
    if (std::isnan(x)) continue;
    ++plain.count;
    plain.mean += x - origin;
  }
  plain.mean /= static_cast<long double>(plain.count);
  for (const double x : column) {
    if (std::isnan(x)) continue;
    const long double d = (x - origin) - plain.mean;
    plain.m2 += d * d;
    plain.m3 += d * d * d;
    plain.m4 += d * d * d * d;
  }
  plain.mean += origin;
  return plain;
}

void expect_plain(const Column& column) {
  const Moments found = by_blocks(column);
  const Plain plain = two_pass(column);
  const auto n = static_cast<long double>(plain.count);
  const auto std = static_cast<double>(std::sqrt(plain.m2 / (n - 1)));
  const auto mean = static_cast<double>(plain.mean);
  const long double variance = plain.m2 / n;
  EXPECT_EQ(found.count, plain.count);
  EXPECT_NEAR(found.mean, mean, tolerance * std + 2e-16 * std::abs(mean));
  EXPECT_NEAR(found.std / std, 1, tolerance);
  EXPECT_NEAR(found.standard_error, found.std / std::sqrt(double(n)), 1e-15 * found.std);
  const auto skewness = static_cast<double>(plain.m3 / n / std::pow(variance, 1.5L));
  const auto kurtosis = static_cast<double>(plain.m4 / n / (variance * variance));
  EXPECT_NEAR(found.skewness, skewness, tolerance * (1 + std::abs(skewness)));
  EXPECT_NEAR(found.kurtosis + 3, kurtosis, tolerance * kurtosis);
}

template <class Function>
Column column_of(std::size_t count, const Function& value) {
  Column column;
  for (std::size_t k = 0; k < count; ++k) column.push_back(value(k));
  return column;
}

TEST(Moments, EqualTwoPassesOnNormalValues) {
  Draws draws(1);
  expect_plain(column_of(5000, [&](std::size_t) { return draws.normal(); }));
}

TEST(Moments, KeepTheirDigitsUnderALargeOffset) {
  Draws draws(2);
  expect_plain(column_of(5000, [&](std::size_t) { return 1e9 + 1e-3 * draws.normal(); }));
}

TEST(Moments, KeepTheirDigitsWhenTheOffsetDrifts) {
  Draws draws(3);
  expect_plain(column_of(9000, [&](std::size_t k) { return 1e6 + 10 * double(k) + draws.normal(); }));
}

TEST(Moments, EqualTwoPassesOnAHeavyTail) {
  Draws draws(4);
  expect_plain(
      column_of(8000, [&](std::size_t) { return std::tan(std::numbers::pi * (draws.uniform() - 0.5)); }));
}

TEST(Moments, EqualTwoPassesWhenValuesAreMissing) {
  Draws draws(5);
  // Whole blocks are missing too.
  expect_plain(column_of(6000, [&](std::size_t k) {
    const double x = std::exp(draws.normal());
    return k < 700 || k % 3 == 0 || (k > 2000 && k < 3000) ? nan : x;
  }));
}

TEST(Moments, EqualTwoPassesOnAtoms) {
  Draws draws(6);
  expect_plain(column_of(4000, [&](std::size_t) { return draws.uniform() < 0.99 ? 0.1 : -3.0; }));
}

TEST(Moments, OfAConstantHaveNoSpreadAtAll) {
  const Moments found = by_blocks(Column(1000, 0.1));
  EXPECT_EQ(found.mean, 0.1);
  EXPECT_EQ(found.std, 0);
  EXPECT_EQ(found.standard_error, 0);
  EXPECT_TRUE(std::isnan(found.skewness));
  EXPECT_TRUE(std::isnan(found.kurtosis));
}

TEST(Moments, OfNoValueAndOfOneValueAreUndefined) {
  const Moments none = by_blocks(Column(300, nan));
  EXPECT_EQ(none.count, 0);
  EXPECT_TRUE(std::isnan(none.mean));
  EXPECT_TRUE(std::isnan(none.minimum));

  Column single(300, nan);
  single[280] = 4;
  const Moments one = by_blocks(single);
  EXPECT_EQ(one.mean, 4);
  EXPECT_EQ(one.minimum, 4);
  EXPECT_TRUE(std::isnan(one.std));
}

TEST(Moments, CountInfiniteValuesAndKeepTheExtremes) {
  Column column(600, 2.0);
  column[3] = infinity;
  column[400] = 1;
  const Moments above = by_blocks(column);
  EXPECT_EQ(above.count, 600);
  EXPECT_EQ(above.infinite, 1);
  EXPECT_EQ(above.mean, infinity);
  EXPECT_EQ(above.minimum, 1);
  EXPECT_EQ(above.maximum, infinity);
  EXPECT_TRUE(std::isnan(above.std));

  column[599] = -infinity;
  EXPECT_TRUE(std::isnan(by_blocks(column).mean));
}

TEST(Moments, FindTheExtremesInAnyPosition) {
  Draws draws(7);
  Column column = column_of(1500, [&](std::size_t) { return draws.uniform(); });
  column[0] = -5;
  column[1499] = 9;
  const Moments found = by_blocks(column);
  EXPECT_EQ(found.minimum, -5);
  EXPECT_EQ(found.maximum, 9);
}

TEST(Moments, LeaveOutSkewnessAndKurtosisWherePowersUnderflow) {
  Draws draws(8);
  const Moments found = by_blocks(column_of(500, [&](std::size_t) { return 1e-80 * draws.normal(); }));
  EXPECT_GT(found.std, 0);
  EXPECT_TRUE(std::isnan(found.kurtosis));
}

TEST(Moments, AreTheSameInEveryColumnOfATile) {
  Draws draws(9);
  const Column column = column_of(3000, [&](std::size_t) { return draws.normal(); });
  const Moments first = by_blocks(column, 0);
  for (std::size_t place = 1; place < tile_columns; ++place) {
    const Moments other = by_blocks(column, place);
    EXPECT_EQ(first.mean, other.mean);
    EXPECT_EQ(first.kurtosis, other.kurtosis);
  }
}

std::string bracketed(const std::string& a, const std::string& b) { return "(" + a + b + ")"; }

// Two halves of the blocks, each with its own tree, give the nodes of the whole tree.
TEST(MergeTree, GivesTheSameAnswerForAnySplit) {
  using Tree = MergeTree<std::string, bracketed>;
  const auto leaf = [](long long k) { return std::string(1, char('a' + k)); };
  Tree whole;
  for (long long k = 0; k < 13; ++k) whole.push({0, k, leaf(k)});
  EXPECT_EQ(whole.folded(""), "((((ab)(cd))((ef)(gh)))(((ij)(kl))m))");

  for (long long split = 0; split <= 13; ++split) {
    Tree left, right;
    for (long long k = 0; k < split; ++k) left.push({0, k, leaf(k)});
    for (long long k = split; k < 13; ++k) right.push({0, k, leaf(k)});
    for (const auto& node : right.nodes()) left.push(node);
    EXPECT_EQ(left.folded(""), whole.folded("")) << split;
  }
}

}  // namespace
}  // namespace zwang::moments_test
