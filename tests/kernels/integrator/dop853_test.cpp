// The eighth-order pair of the kernels (kernels/integrator/dop853_coefficients.h) against the order
// conditions its coefficients must satisfy, rather than against another copy of them.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/integrator/interpolant.h"
#include "kernels/integrator/runge_kutta.h"

namespace zwang::dop853_test {
namespace {

// Coefficients have 30 digits in the paper and 16 here; sums of a dozen of them cancel a little.
constexpr double rounding = 2e-14;

TEST(Dop853, StagePositionsAreTheSumsOfTheirWeights) {
  for (int i = 1; i < Dop853::stages; ++i) {
    double sum = 0;
    for (int j = 0; j < i; ++j) sum += Dop853::a(i, j);
    EXPECT_NEAR(sum, Dop853::c(i), rounding * 100) << "stage " << i;
  }
}

// sum_i b_i c_i^(k-1) = 1/k, and with one application of A: sum_i b_i sum_j a_ij c_j^(k-1) = 1/(k (k+1)).
TEST(Dop853, WeightsIntegratePolynomialsUpToTheSeventhDegree) {
  for (int k = 1; k <= 8; ++k) {
    double sum = 0;
    for (int i = 0; i < Dop853::last; ++i) sum += Dop853::a(Dop853::last, i) * std::pow(Dop853::c(i), k - 1);
    EXPECT_NEAR(sum, 1.0 / k, rounding) << "degree " << k - 1;
  }
  for (int k = 1; k <= 7; ++k) {
    double sum = 0;
    for (int i = 0; i < Dop853::last; ++i)
      for (int j = 0; j < i; ++j)
        sum += Dop853::a(Dop853::last, i) * Dop853::a(i, j) * std::pow(Dop853::c(j), k - 1);
    EXPECT_NEAR(sum, 1.0 / (k * (k + 1)), 10 * rounding) << "degree " << k - 1;
  }
}

// They are differences of two formulas, of orders 5 and 3, and vanish on polynomials up to that degree.
TEST(Dop853, ErrorWeightsVanishOnPolynomials) {
  for (int which = 0; which < 2; ++which)
    for (int k = 1; k <= (which == 0 ? 5 : 3); ++k) {
      double sum = 0;
      for (int j = 0; j < Dop853::error_count; ++j)
        sum += Dop853::error(which, j) * std::pow(Dop853::c(j), k - 1);
      EXPECT_NEAR(sum, 0, rounding) << "formula " << which << ", degree " << k - 1;
    }
}

// A pendulum of large amplitude: q'' = -sin q, nonlinear in the positions, one step of length h from (1,
// 0.5).
struct Swing {
  double q, v;
};
using Arrays = StepArrays<Dop853, 1, 2, 2, double>;
void swing_rate(double, const double* y, double* rate) {
  rate[0] = y[1];
  rate[1] = -std::sin(y[0]);
}
void take(Arrays& step, double t, const double* y, double h) {
  double rate[2];
  swing_rate(t, y, rate);
  step.h = h;
  step.k[0][0] = rate[1];
  step.take(t, y, swing_rate);
}
Swing swing(Swing from, double duration, int steps) {
  double y[2] = {from.q, from.v};
  for (int i = 0; i < steps; ++i) {
    Arrays step;
    take(step, 0, y, duration / steps);
    y[0] = step.end[0];
    y[1] = step.end[1];
  }
  return {y[0], y[1]};
}

TEST(Dop853, HalvingTheStepDividesTheErrorByTwoToTheEighth) {
  const Swing from{1, 0.5}, truth = swing(from, 4, 400);
  const auto error = [&](int steps) {
    const Swing end = swing(from, 4, steps);
    return std::hypot(end.q - truth.q, end.v - truth.v);
  };
  EXPECT_LT(error(8), 1e-6);
  EXPECT_NEAR(std::log2(error(8) / error(16)), 8, 1);
}

TEST(Dop853, TheInterpolantIsOfTheSeventhOrderAndMeetsBothEnds) {
  const double y[2] = {1, 0.5};
  const auto worst = [&](double h) {
    Arrays step;
    take(step, 0, y, h);
    step.complete_interpolant(0, y, swing_rate);
    Interpolant<Dop853, 1, 2, double> interpolant;
    interpolant.make(step, 0, y);
    EXPECT_EQ(interpolant.at(0, 0), y[0]);
    EXPECT_NEAR(interpolant.at(1, 0), step.end[0], 1e-15);
    double off = 0;
    for (double x = 0.1; x < 0.95; x += 0.1) {
      const Swing there = swing({1, 0.5}, x * h, 100);
      off =
          std::max({off, std::abs(interpolant.at(x, 0) - there.q), std::abs(interpolant.at(x, 1) - there.v)});
    }
    return off;
  };
  EXPECT_LT(worst(0.5), 1e-8);
  EXPECT_NEAR(std::log2(worst(1.0) / worst(0.5)), 8, 1.2) << "a step of order seven errs by the eighth power";
}

// The defect at five nodes determines what the interpolant misses: the error becomes one of the ninth power.
TEST(Dop853, TheCorrectedInterpolantIsOfTheEighthOrderAndMeetsBothEnds) {
  const double y[2] = {1, 0.5};
  const auto worst = [&](double h, bool corrected) {
    Arrays step;
    take(step, 0, y, h);
    complete_stages<Dop853, 1, 2, 2>(step.stage_rates(), 0., h, y, swing_rate);
    Interpolant<Dop853, 1, 2, double> interpolant;
    interpolant.make(step, 0, y);
    InterpolantCorrection<2, double> correction;
    correction.make<2>(interpolant, corrected, swing_rate);
    EXPECT_EQ(correction.at(0, 1), 0);
    EXPECT_EQ(correction.at(1, 1), 0);
    double off = 0;
    for (double x = 0.05; x < 0.99; x += 0.1) {
      const Swing there = swing({1, 0.5}, x * h, 100);
      off = std::max({off, std::abs(interpolant.at(x, 0) + correction.at(x, 0) - there.q),
                      std::abs(interpolant.at(x, 1) + correction.at(x, 1) - there.v)});
    }
    return off;
  };
  EXPECT_LT(worst(0.5, true), 0.1 * worst(0.5, false));
  EXPECT_NEAR(std::log2(worst(1.0, true) / worst(0.5, true)), 9, 1.2);
}

// The slope of the nested form against differences.
TEST(Dop853, TheSlopeOfTheInterpolantIsThatOfItsValues) {
  const double y[2] = {1, 0.5};
  Arrays step;
  take(step, 0, y, 1);
  step.complete_interpolant(0, y, swing_rate);
  Interpolant<Dop853, 1, 2, double> interpolant;
  interpolant.make(step, 0, y);
  for (double x = 0.1; x < 0.95; x += 0.2)
    for (int c = 0; c < 2; ++c)
      EXPECT_NEAR(interpolant.slope(x, c), (interpolant.at(x + 1e-5, c) - interpolant.at(x - 1e-5, c)) / 2e-5,
                  1e-9);
}

// The estimate must scale with the step like the error, and the factor must propose a step of the right
// length.
TEST(Dop853, TheEstimateScalesWithTheStepAsItsOrder) {
  const double y[2] = {1, 0.5};
  const auto squared = [&](double h) {
    Arrays step;
    take(step, 0, y, h);
    return step.squared_error<2>(y, 1e-9, 1e-9);
  };
  EXPECT_GT(squared(1.0), squared(0.5));
  EXPECT_NEAR(std::log2(squared(0.4) / squared(0.2)) / 2, 8, 1.5);
}

}  // namespace
}  // namespace zwang::dop853_test
