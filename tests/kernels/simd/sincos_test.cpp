// Branch-free sines and cosines (kernels/simd/sincos.h) against those of the C library in long double.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels/simd/pack.h"
#include "kernels/simd/sincos.h"

namespace zwang::sincos_test {
namespace {

// The error in units of the last place of the result.
double roundings_off(double actual, long double expected) {
  const double size = std::abs(static_cast<double>(expected));
  return static_cast<double>(std::abs(actual - expected)) / (std::nextafter(size, 2.0) - size);
}

void expect_exact(double x) {
  EXPECT_LE(roundings_off(sin_reduced(x, 0), sinl(x)), 1.6) << x;
  EXPECT_LE(roundings_off(sin_reduced(x, 1), cosl(x)), 1.6) << x;
}

class BranchFreeSines : public testing::Test {
 protected:
  void SetUp() override {
    if (!ZWANG_FUSES) GTEST_SKIP() << "without fused multiply-add they are not used";
  }
  std::mt19937_64 random_{1};
};

TEST_F(BranchFreeSines, AreExactForModerateAngles) {
  for (const double most : {1.0, 10.0, 1e5, moderate_angle}) {
    std::uniform_real_distribution<double> angle(-most, most);
    for (int i = 0; i < 50'000; ++i) expect_exact(angle(random_));
  }
  for (const double x : {0.0, 1e-300, 1e-9, -0.785398163397448, 0.785398163397449}) expect_exact(x);
}

// Near multiples of pi/2 nearly all digits of the angle cancel.
TEST_F(BranchFreeSines, AreExactNextToWholeQuarterTurns) {
  std::uniform_int_distribution<int> quarters(-600'000'000, 600'000'000);
  for (int i = 0; i < 50'000; ++i) {
    const double x = quarters(random_) * 1.5707963267948966;
    for (const double next : {x, std::nextafter(x, 1e300), std::nextafter(x, -1e300)}) expect_exact(next);
  }
}

TEST_F(BranchFreeSines, OfPacksUseTheLibraryForLanesOutOfRange) {
  for (const double other : {0.5, 1e15, -3e300}) {
    Pack<double> x(0.3);
    set_lane(x, 0, other);
    const Pack<double> sine = sin(x), cosine = cos(x);
    for (int lane = 0; lane < Pack<double>::count; ++lane) {
      EXPECT_LE(roundings_off(lane_of(sine, lane), sinl(lane_of(x, lane))), 1.6) << other;
      EXPECT_LE(roundings_off(lane_of(cosine, lane), cosl(lane_of(x, lane))), 1.6) << other;
    }
    EXPECT_EQ(lane_of(sine, 1), lane_of(sin(Pack<double>(0.3)), 0)) << "whatever the other lanes are";
    EXPECT_EQ(lane_of(cosine, 1), lane_of(cos(Pack<double>(0.3)), 0)) << "whatever the other lanes are";
  }
}

TEST_F(BranchFreeSines, ReportArgumentsOutOfRange) {
  EXPECT_TRUE((cos(CheckedSinCos(0.9) * CheckedSinCos(100)) + sin(-CheckedSinCos(7))).in_range);
  EXPECT_FALSE((CheckedSinCos(2) * cos(CheckedSinCos(1e10)) + CheckedSinCos(1)).in_range);
  EXPECT_FALSE(exp(sin(CheckedSinCos(std::nan("")))).in_range);
}

}  // namespace
}  // namespace zwang::sincos_test
