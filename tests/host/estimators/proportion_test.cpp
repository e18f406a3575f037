// Wilson's interval of a proportion.
#include "host/estimators/proportion.h"

#include <gtest/gtest.h>

#include <cmath>

namespace zwang::proportion_test {
namespace {

// A-wilson: closed form and root of the score equation to 20 digits; rounding of a few operations.
TEST(Proportion, HasWilsonsInterval) {
  struct Case {
    long long hits, of;
    double low, high;
  };
  const Case cases[] = {{0, 10, 0.0, 0.27753279986288925},
                        {10, 10, 0.72246720013711075, 1.0},
                        {1, 20000, 8.8262822729748496e-6, 0.00028319057022604026},
                        {20, 20000, 0.00064746604642727322, 0.0015441859375651431},
                        {839, 20000, 0.039258446985889066, 0.044817477245108382},
                        {512, 1024, 0.46943284426047429, 0.53056715573952571},
                        {0, 1, 0.0, 0.79345068562276261}};
  for (const Case& one : cases) {
    const Proportion found = proportion(one.hits, one.of);
    EXPECT_NEAR(found.low, one.low, 1e-13 * one.low) << one.hits << " of " << one.of;
    EXPECT_NEAR(found.high, one.high, 1e-13 * one.high) << one.hits << " of " << one.of;
  }
}

TEST(Proportion, StaysInsideZeroAndOneAndContainsTheShare) {
  for (const long long n : {1LL, 2LL, 7LL, 1000LL, 1'000'000'000'000LL})
    for (const long long k : {0LL, 1LL, n / 3, n - 1, n}) {
      const Proportion found = proportion(k, n), other = proportion(n - k, n);
      EXPECT_GE(found.low, 0);
      EXPECT_LE(found.high, 1);
      EXPECT_LE(found.low, found.share());
      EXPECT_GE(found.high, found.share());
      EXPECT_EQ(found.low == 0, k == 0);
      EXPECT_EQ(found.high == 1, k == n);
      EXPECT_NEAR(found.low, 1 - other.high, 1e-15);  // of the complement
    }
  EXPECT_TRUE(std::isnan(proportion(0, 0).share()));
  EXPECT_TRUE(std::isnan(proportion(0, 0).low));
}

}  // namespace
}  // namespace zwang::proportion_test
