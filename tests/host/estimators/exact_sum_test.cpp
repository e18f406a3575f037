#include "host/estimators/exact_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace zwang::exact_sum_test {
namespace {

double sum_of(const std::vector<double>& terms) {
  ExactSum sum;
  for (const double term : terms) sum.add(term);
  return sum.value();
}

TEST(ExactSumTest, OneTermIsReturnedUnchanged) {
  const double smallest = std::numeric_limits<double>::denorm_min();
  for (const double x : {0.0, smallest, 3 * smallest, std::numeric_limits<double>::min(), 0.1, 1.0, 1.5, 1e22,
                         4294967295.0, 0x1.fffffffffffffp+31, std::numeric_limits<double>::max()})
    EXPECT_EQ(sum_of({x}), x) << x;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> mantissa(1, 2);
  std::uniform_int_distribution<int> exponent(-1080, 1022);
  for (int k = 0; k < 2000; ++k) {
    const double x = std::ldexp(mantissa(random), exponent(random));
    ASSERT_EQ(sum_of({x}), x);
  }
}

TEST(ExactSumTest, SmallTermsAreNotLostInLargeSums) {
  EXPECT_EQ(sum_of({1, 0x1p-53}), 1) << "a tie goes to the even neighbour";
  EXPECT_EQ(sum_of({1, 0x1p-53, 0x1p-1074}), 1 + 0x1p-52) << "and the smallest number breaks it";
  EXPECT_EQ(sum_of({1 + 0x1p-52, 0x1p-53}), 1 + 0x1p-51);
  EXPECT_EQ(sum_of(std::vector<double>(1 << 12, 0x1p-64)), 0x1p-52);
  std::vector<double> terms(1 << 12, 0x1p-64);
  terms.insert(terms.begin(), 1);
  EXPECT_EQ(sum_of(terms), 1 + 0x1p-52);
}

TEST(ExactSumTest, CarriesPropagateThroughAllDigits) {
  // 2^1000 - 2^-1000 in parts, then the last part.
  ExactSum sum;
  for (int e = -1000; e < 1000; ++e) sum.add(std::ldexp(1.0, e));
  EXPECT_EQ(sum.value(), 0x1p1000) << "rounded up";
  sum.add(0x1p-1000);
  EXPECT_EQ(sum.value(), 0x1p1000);
  ExactSum same;
  same.add(0x1p1000);
  ExactSum both = sum;
  both.add(same);
  EXPECT_EQ(both.value(), 0x1p1001);
}

TEST(ExactSumTest, OrderAndPartsDoNotMatter) {
  std::mt19937_64 random(2);
  std::lognormal_distribution<double> size(0, 40);
  std::vector<double> terms(3000);
  for (double& term : terms) term = size(random);
  const double whole = sum_of(terms);
  long double check = 0;
  for (const double term : terms) check += term;
  EXPECT_NEAR(whole / static_cast<double>(check), 1, 1e-12);
  for (int round = 0; round < 5; ++round) {
    std::shuffle(terms.begin(), terms.end(), random);
    ExactSum parts[3], joined;
    for (std::size_t k = 0; k < terms.size(); ++k) parts[k % 3].add(terms[k]);
    for (const int part : {2, 0, 1}) joined.add(parts[part]);
    EXPECT_EQ(joined.value(), whole);
  }
}

TEST(ExactSumTest, SumsBeyondTheLargestDoubleAreInfinite) {
  const double largest = std::numeric_limits<double>::max(),
               infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(sum_of({largest, largest}), infinity);
  EXPECT_EQ(sum_of({1, infinity, 1}), infinity);
}

}  // namespace
}  // namespace zwang::exact_sum_test
