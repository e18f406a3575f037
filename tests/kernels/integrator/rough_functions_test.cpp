// Approximate powers from bit patterns, and the step length factor that uses them (kernels/base/portable.h,
// kernels/integrator/runge_kutta.h).
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/integrator/runge_kutta.h"
#include "kernels/simd/pack.h"

namespace zwang::rough_functions_test {
namespace {

template <class Real>
void expect_rough(Real smallest, Real largest) {
  for (Real x = smallest; x < largest; x *= Real(1.07)) {
    EXPECT_NEAR(rough_16th(x) / std::pow(x, Real(-1.0 / 16)), 1, 0.04) << x;
    EXPECT_NEAR(rough_3_32nds(x) / std::pow(x, Real(-3.0 / 32)), 1, 0.04) << x;
    EXPECT_NEAR(rough_inverse(x) * x, 1, 0.005) << x;
  }
}

TEST(RoughFunctions, AreAsAccurateAsStated) {
  expect_rough<double>(1e-300, 1e300);
  expect_rough<float>(1e-36f, 1e36f);
}

TEST(RoughFunctions, LanesOfAPackAreTheSameBits) {
  Pack<double> x(0);
  for (int lane = 0; lane < Pack<double>::count; ++lane) set_lane(x, lane, 0.3 + 7.1 * lane);
  for (int lane = 0; lane < Pack<double>::count; ++lane) {
    EXPECT_EQ(lane_of(rough_16th(x), lane), rough_16th(lane_of(x, lane)));
    EXPECT_EQ(lane_of(rough_3_32nds(x), lane), rough_3_32nds(lane_of(x, lane)));
    EXPECT_EQ(lane_of(rough_inverse(x), lane), rough_inverse(lane_of(x, lane)));
  }
}

// After a step without error the factor is the largest one, after a step without a valid error the smallest.
template <class Method>
void expect_bounds() {
  EXPECT_EQ((step_factor<Method>(0.0)), Method::grow);
  EXPECT_EQ((step_factor<Method>(1e300)), Method::shrink);
  EXPECT_EQ((step_factor<Method>(std::numeric_limits<double>::infinity())), Method::shrink);
  EXPECT_EQ((step_factor<Method>(std::numeric_limits<double>::quiet_NaN())), Method::shrink);
  EXPECT_EQ((step_factor<Method>(-std::numeric_limits<double>::quiet_NaN())), Method::shrink);
  EXPECT_LT((step_factor<Method>(1.0)), 1);
}

TEST(StepFactor, StaysWithinTheMethodsBounds) {
  expect_bounds<Tsit5>();
  expect_bounds<Dop853>();
}

}  // namespace
}  // namespace zwang::rough_functions_test
