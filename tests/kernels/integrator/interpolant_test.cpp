// The dense output of a step (kernels/integrator/interpolant.h) that is made from both ends of the step and the rates
// there, as that of implicit steps.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/integrator/interpolant.h"
#include "kernels/integrator/runge_kutta.h"

namespace zwang::interpolant_test {
namespace {

constexpr double rounding = 1e-13;
constexpr double t0 = 2.5, h = 0.8;

// Two positions, their velocities and an auxiliary quantity: motions under accelerations that are linear in time.
constexpr int n = 2, size = 5;
struct Motion {
  double position[n], velocity[n], acceleration[n], jerk[n];

  void state(double t, double* y, double* rate) const {
    for (int c = 0; c < n; ++c) {
      y[c] = position[c] + t * (velocity[c] + t * (acceleration[c] / 2 + t * jerk[c] / 6));
      y[n + c] = velocity[c] + t * (acceleration[c] + t * jerk[c] / 2);
      rate[c] = acceleration[c] + t * jerk[c];
    }
    y[2 * n] = 3 - t * t;
    rate[n] = -2 * t;
  }
};
constexpr Motion curved = {{1, -2}, {3, 0.5}, {-9.81, 4}, {2, 6}};
constexpr Motion uniform = {{1, -2}, {3, 0.5}, {0, 0}, {0, 0}};

template <class Method>
class InterpolantBetween : public testing::Test {
 protected:
  // Whatever was stored before is no part of the result.
  void make(const Motion& motion) {
    const double nothing = std::numeric_limits<double>::quiet_NaN();
    for (int c = 0; c < size; ++c) {
      dense.start[c] = dense.end[c] = nothing;
      for (int m = 0; m < Method::terms; ++m) dense.term[m][c] = nothing;
    }
    motion.state(0, from, first_rate);
    motion.state(h, to, last_rate);
    dense.make_between(t0, h, from, to, first_rate, last_rate);
  }
  double slope(double x, int c) const {
    constexpr double d = 1e-6;
    return (dense.at(x + d, c) - dense.at(x - d, c)) / (2 * d * h);
  }

  Interpolant<Method, n, size, double> dense;
  double from[size], to[size], first_rate[n + 1], last_rate[n + 1];
};
using Methods = testing::Types<Tsit5, Dop853>;
TYPED_TEST_SUITE(InterpolantBetween, Methods);

TYPED_TEST(InterpolantBetween, HasTheValuesAndSlopesOfBothEnds) {
  this->make(curved);
  for (int c = 0; c < size; ++c) {
    EXPECT_NEAR(this->dense.at(0, c), this->from[c], rounding) << c;
    EXPECT_NEAR(this->dense.at(1, c), this->to[c], rounding) << c;
    const double first = c < n ? this->from[n + c] : this->first_rate[c - n];
    const double last = c < n ? this->to[n + c] : this->last_rate[c - n];
    EXPECT_NEAR(this->slope(0, c), first, 1e-4) << c;
    EXPECT_NEAR(this->slope(1, c), last, 1e-4) << c;
  }
}

// Cubics in time, hence exact.
TYPED_TEST(InterpolantBetween, FollowsAMotionUnderLinearAccelerations) {
  for (const Motion& motion : {uniform, curved}) {
    this->make(motion);
    for (double x = 0; x <= 1; x += 0.125) {
      double y[size], rate[n + 1], dense[size];
      motion.state(x * h, y, rate);
      this->dense.at(x, dense);
      for (int c = 0; c < size; ++c) EXPECT_NEAR(dense[c], y[c], rounding) << c << " at " << x;
    }
  }
}

}  // namespace
}  // namespace zwang::interpolant_test
