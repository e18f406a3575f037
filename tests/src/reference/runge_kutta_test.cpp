// Coefficients, orders and dense output of the Runge-Kutta methods.
#include "src/reference/runge_kutta.h"

#include <gtest/gtest.h>

#include <cmath>

namespace zwang::runge_kutta_test {
namespace {

using Eigen::VectorXd;
using Method = IntegratorSettings::Method;

// The published coefficients have 16 digits and cancel by up to two.
constexpr double published = 2e-14;

// The tableau, read from the step itself. For y' = f(t, y) with y in R^7 the rate of stage k is set to the
// unit vector e_k, and the argument of stage s is then y0 + h sum_j a_sj e_j: the arguments give every a_sj,
// c_s and b_s.
struct Tableau {
  double a[7][7] = {}, c[7] = {}, b[7] = {}, error[7] = {};
};

Tableau read_tableau() {
  Tableau made;
  int stage = 0;
  const RightSide f = [&](double t, const VectorXd& y, VectorXd& rate) {
    ++stage;
    made.c[stage] = t;
    for (int j = 0; j < 7; ++j) made.a[stage][j] = y(j);
    rate = VectorXd::Unit(7, stage);
    return Status::ok;
  };
  const Step step = runge_kutta_step(Method::tsit5, f, 0, VectorXd::Zero(7), VectorXd::Unit(7, 0), 1);
  for (int j = 0; j < 7; ++j) {
    made.b[j] = step.end(j);
    made.error[j] = step.error(j);
  }
  return made;
}

// Sum over rooted trees: the elementary weights of orders 1 to 5, [sum of b_i Phi_i, 1/gamma].
struct OrderCondition {
  const char* tree;
  int order;
  double weight, expected;
};

std::vector<OrderCondition> order_conditions(const Tableau& m, const double (&b)[7]) {
  const auto apply = [&](const std::array<double, 7>& x) {
    std::array<double, 7> y{};
    for (std::size_t i = 0; i < 7; ++i)
      for (std::size_t j = 0; j < i; ++j) y[i] += m.a[i][j] * x[j];
    return y;
  };
  const auto times = [](const std::array<double, 7>& x, const std::array<double, 7>& y) {
    std::array<double, 7> z{};
    for (std::size_t i = 0; i < 7; ++i) z[i] = x[i] * y[i];
    return z;
  };
  const auto weigh = [&](const std::array<double, 7>& x) {
    double sum = 0;
    for (std::size_t i = 0; i < 7; ++i) sum += b[i] * x[i];
    return sum;
  };
  std::array<double, 7> one, c;
  one.fill(1);
  std::copy(std::begin(m.c), std::end(m.c), c.begin());
  const auto c2 = times(c, c), c3 = times(c2, c), ac = apply(c), ac2 = apply(c2);
  return {{"t", 1, weigh(one), 1},
          {"[t]", 2, weigh(c), 1.0 / 2},
          {"[t t]", 3, weigh(c2), 1.0 / 3},
          {"[[t]]", 3, weigh(ac), 1.0 / 6},
          {"[t t t]", 4, weigh(c3), 1.0 / 4},
          {"[t [t]]", 4, weigh(times(c, ac)), 1.0 / 8},
          {"[[t t]]", 4, weigh(ac2), 1.0 / 12},
          {"[[[t]]]", 4, weigh(apply(ac)), 1.0 / 24},
          {"[t t t t]", 5, weigh(times(c3, c)), 1.0 / 5},
          {"[t t [t]]", 5, weigh(times(c2, ac)), 1.0 / 10},
          {"[[t] [t]]", 5, weigh(times(ac, ac)), 1.0 / 20},
          {"[t [t t]]", 5, weigh(times(c, ac2)), 1.0 / 15},
          {"[[t t t]]", 5, weigh(apply(c3)), 1.0 / 20},
          {"[t [[t]]]", 5, weigh(times(c, apply(ac))), 1.0 / 30},
          {"[[t [t]]]", 5, weigh(apply(times(c, ac))), 1.0 / 40},
          {"[[[t t]]]", 5, weigh(apply(ac2)), 1.0 / 60},
          {"[[[[t]]]]", 5, weigh(apply(apply(ac))), 1.0 / 120}};
}

TEST(RungeKuttaTest, TheTableauSatisfiesEveryOrderConditionUpToTheFifth) {
  const Tableau tableau = read_tableau();
  for (const OrderCondition& condition : order_conditions(tableau, tableau.b))
    EXPECT_NEAR(condition.weight, condition.expected, published) << condition.tree;
  for (int i = 1; i < 7; ++i) {
    double sum = 0;
    for (int j = 0; j < i; ++j) sum += tableau.a[i][j];
    EXPECT_NEAR(sum, tableau.c[i], published) << "row " << i;
  }
}

TEST(RungeKuttaTest, TheEmbeddedMethodIsOfOrderFourAndNotFive) {
  Tableau tableau = read_tableau();
  double fourth[7];
  for (int j = 0; j < 7; ++j) fourth[j] = tableau.b[j] - tableau.error[j];
  double worst = 0;
  for (const OrderCondition& condition : order_conditions(tableau, fourth)) {
    if (condition.order <= 4) {
      EXPECT_NEAR(condition.weight, condition.expected, published) << condition.tree;
    } else {
      worst = std::max(worst, std::abs(condition.weight - condition.expected));
    }
  }
  EXPECT_GT(worst, 1e-5);  // otherwise the error could not be estimated
}

TEST(RungeKuttaTest, TheInterpolantIsOfOrderFourAtEveryFraction) {
  const Tableau tableau = read_tableau();
  for (const double theta : {0.1, 0.3, 0.5, 0.77, 0.95}) {
    const std::array<double, 7> weights = tsit5_weights(theta);
    double b[7];
    std::copy(weights.begin(), weights.end(), b);
    for (const OrderCondition& condition : order_conditions(tableau, b)) {
      if (condition.order > 4) continue;
      EXPECT_NEAR(condition.weight, condition.expected * std::pow(theta, condition.order), published)
          << condition.tree << " at " << theta;
    }
  }
}

TEST(RungeKuttaTest, TheInterpolantMeetsTheStepAndItsSlopesAtBothEnds) {
  const Tableau tableau = read_tableau();
  const std::array<double, 7> at_end = tsit5_weights(1), at_start = tsit5_weights(0);
  // b_i(theta) are polynomials of degree 4, so this difference is exact up to rounding / h.
  const double h = 1e-3;
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_NEAR(at_end[i], tableau.b[i], published);
    EXPECT_EQ(at_start[i], 0);
    const auto slope = [&](double theta) {
      return (-tsit5_weights(theta + 2 * h)[i] + 8 * tsit5_weights(theta + h)[i] -
              8 * tsit5_weights(theta - h)[i] + tsit5_weights(theta - 2 * h)[i]) /
             (12 * h);
    };
    EXPECT_NEAR(slope(0), i == 0 ? 1 : 0, 1e-10) << "stage " << i;
    EXPECT_NEAR(slope(1), i == 6 ? 1 : 0, 1e-10) << "stage " << i;
  }
}

// --- Measured on a nonlinear problem ------------------------------------------------------------------

// y' = -2 t y^2, y = 1/(1 + t^2); z' = z cos(t), z = exp(sin(t)).
Status rates(double t, const VectorXd& y, VectorXd& rate) {
  rate.resize(2);
  rate << -2 * t * y(0) * y(0), y(1) * std::cos(t);
  return Status::ok;
}

VectorXd solution(double t) { return Eigen::Vector2d(1 / (1 + t * t), std::exp(std::sin(t))); }

// Largest error at the end of [0, 2], and between the steps.
struct Errors {
  double end = 0, between = 0;
};

Errors integrate(Method method, int steps) {
  const double h = 2.0 / steps;
  VectorXd y = solution(0), rate;
  Errors errors;
  for (int k = 0; k < steps; ++k) {
    rates(k * h, y, rate);
    const Step step = runge_kutta_step(method, rates, k * h, y, rate, h);
    for (const double theta : {0.25, 0.5, 0.8})
      errors.between = std::max(errors.between,
                                (step.at(theta, method) - solution((k + theta) * h)).cwiseAbs().maxCoeff());
    y = step.end;
  }
  errors.end = (y - solution(2)).cwiseAbs().maxCoeff();
  return errors;
}

TEST(RungeKuttaTest, StepsConvergeWithTheirOrder) {
  // Halving h divides the error by 2^order; the measured exponent varies by a few tenths at finite h.
  for (const auto& [method, order] : {std::pair{Method::tsit5, 5.0}, {Method::rk4, 4.0}}) {
    const double measured = std::log2(integrate(method, 64).end / integrate(method, 128).end);
    EXPECT_NEAR(measured, order, 0.4);
  }
}

TEST(RungeKuttaTest, InterpolantsConvergeWithTheirOrder) {
  // One more than the order of the weights, since between the steps only the error of one step is measured.
  const double tsit5 =
      std::log2(integrate(Method::tsit5, 64).between / integrate(Method::tsit5, 128).between);
  const double rk4 = std::log2(integrate(Method::rk4, 64).between / integrate(Method::rk4, 128).between);
  EXPECT_GT(tsit5, 4.6);
  EXPECT_GT(rk4, 3.6);
}

TEST(RungeKuttaTest, TheErrorEstimateIsOfTheErrorsSize) {
  VectorXd y = solution(0.5), rate;
  rates(0.5, y, rate);
  for (const double h : {0.2, 0.1, 0.05}) {
    const Step step = runge_kutta_step(Method::tsit5, rates, 0.5, y, rate, h);
    const double estimate = step.error.cwiseAbs().maxCoeff();
    const double actual = (step.end - solution(0.5 + h)).cwiseAbs().maxCoeff();
    EXPECT_GT(estimate, actual);  // it estimates the fourth-order result, which is worse
    EXPECT_LT(estimate, 1e3 * actual);
  }
}

TEST(RungeKuttaTest, AStepWithoutRatesHasTheirStatus) {
  const RightSide stops = [](double t, const VectorXd& y, VectorXd& rate) {
    rate = y;
    return t < 0.5 ? Status::ok : Status::not_finite;
  };
  for (const Method method : {Method::tsit5, Method::rk4})
    EXPECT_EQ(runge_kutta_step(method, stops, 0, VectorXd::Ones(1), VectorXd::Ones(1), 1).status,
              Status::not_finite);
}

TEST(RungeKuttaTest, TheStepEndsAtItsEndsExactly) {
  VectorXd y = solution(0), rate;
  rates(0, y, rate);
  for (const Method method : {Method::tsit5, Method::rk4}) {
    const Step step = runge_kutta_step(method, rates, 0, y, rate, 0.1);
    EXPECT_EQ(step.at(0, method), y);
    EXPECT_EQ(step.at(1, method), step.end);
    VectorXd last;
    rates(0.1, step.end, last);
    EXPECT_EQ(step.rates[6], last);
  }
}

}  // namespace
}  // namespace zwang::runge_kutta_test
