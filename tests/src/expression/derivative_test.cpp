// Symbolic derivatives compared with closed forms and differences.
#include "src/expression/derivative.h"

#include <gtest/gtest.h>

#include <cmath>

#include "src/expression/evaluate.h"
#include "src/formula/parse.h"

namespace zwang::derivative_test {
namespace {

constexpr Symbol along_x{SymbolKind::coordinate, 0}, along_y{SymbolKind::coordinate, 1};

// A few roundings of numbers of order one.
constexpr double rounding = 1e-14;

class DerivativeTest : public ::testing::Test {
 protected:
  DerivativeTest() {
    const auto add = [&](const char* name, std::size_t i) {
      scope.scalars[name] = {pool.symbol(SymbolKind::coordinate, i), pool.symbol(SymbolKind::velocity, i),
                             allow_positions};
    };
    add("x", 0);
    add("y", 1);
  }
  Expr parse(const std::string& text) {
    return parse_expression(pool, text, scope, allow_time | allow_positions | allow_velocities, {});
  }
  double value(Expr e, double x, double y = 0, double vx = 0, double vy = 0, double t = 0) {
    const double q[] = {x, y}, v[] = {vx, vy};
    return Program(pool, {e}).run<double>({.time = t, .coordinates = q, .velocities = v})[0];
  }
  double slope(const std::string& text, double x, double y = 0, Symbol along = along_x) {
    return value(derivative(pool, parse(text), along), x, y);
  }

  Expressions pool;
  Scope scope;
};

TEST_F(DerivativeTest, EveryFunctionHasItsTextbookSlope) {
  const double x = 0.4, y = -1.3;
  const struct {
    const char* formula;
    double expected;
  } cases[] = {{"x + y", 1},
               {"y - x", -1},
               {"x*y", y},
               {"y/x", -y / (x * x)},
               {"x/y", 1 / y},
               {"-x", -1},
               {"x^3", 3 * x * x},
               {"x^(-2)", -2 / (x * x * x)},
               {"x^0.5", 0.5 / std::sqrt(x)},
               {"x^x", std::pow(x, x) * (1 + std::log(x))},
               {"2^x", std::pow(2, x) * std::log(2)},
               {"sin(x)", std::cos(x)},
               {"cos(x)", -std::sin(x)},
               {"tan(x)", 1 / (std::cos(x) * std::cos(x))},
               {"asin(x)", 1 / std::sqrt(1 - x * x)},
               {"acos(x)", -1 / std::sqrt(1 - x * x)},
               {"atan(x)", 1 / (1 + x * x)},
               {"sinh(x)", std::cosh(x)},
               {"cosh(x)", std::sinh(x)},
               {"tanh(x)", 1 / (std::cosh(x) * std::cosh(x))},
               {"exp(x)", std::exp(x)},
               {"log(x)", 1 / x},
               {"sqrt(x)", 0.5 / std::sqrt(x)},
               {"abs(x)", 1},
               {"abs(-x*3)", 3},
               {"sign(x)", 0},
               {"floor(10*x)", 0},
               {"atan2(x, y)", y / (x * x + y * y)},
               {"atan2(y, x)", -y / (x * x + y * y)},
               {"min(x, y)", 0},
               {"max(x, y)", 1},
               {"min(y, x)", 0},
               {"hypot(x, y)", x / std::hypot(x, y)},
               {"wrap(7*x, 2)", 7},
               {"wrap(y, x)", -std::ceil(y / x - 0.5)}};
  for (const auto& [formula, expected] : cases)
    EXPECT_NEAR(slope(formula, x, y), expected, rounding * (1 + std::abs(expected))) << formula;
}

TEST_F(DerivativeTest, KinksAreDifferentiatedOnTheSideWhereTheStateIs) {
  EXPECT_EQ(slope("abs(x)", 1e-300), 1);
  EXPECT_EQ(slope("abs(x)", -1e-300), -1);
  EXPECT_EQ(slope("max(x^2, y)", 2, 3.9), 4);
  EXPECT_EQ(slope("max(x^2, y)", 2, 4.1), 0);
  EXPECT_EQ(slope("min(x^2, y)", 2, 3.9), 0);
  EXPECT_EQ(slope("min(x^2, y, 3*x)", 2, 7), 4);
  EXPECT_EQ(slope("min(x^2, y, 3*x)", 5, 100), 3);
  EXPECT_EQ(slope("floor(x) + x", 2.999), 1);
  EXPECT_EQ(slope("abs(sin(x))", 4), -std::cos(4.0));
}

TEST_F(DerivativeTest, AnIntegerPowerHasItsSlopeAtAndBelowZero) {
  EXPECT_EQ(slope("x^2", -3), -6);
  EXPECT_EQ(slope("x^2", 0), 0);
  EXPECT_EQ(slope("x^3", -2), 12);
  EXPECT_EQ(slope("x^1", 0), 1);
  EXPECT_EQ(value(derivative(pool, derivative(pool, parse("x^2"), along_x), along_x), 0), 2);
}

TEST_F(DerivativeTest, WhatDoesNotDependOnTheVariableHasNoSlope) {
  EXPECT_EQ(derivative(pool, parse("log(y)^y + t"), along_x), pool.zero());
  EXPECT_EQ(derivative(pool, parse("x*y"), {SymbolKind::velocity, 0}), pool.zero());
}

TEST_F(DerivativeTest, APolynomialOfDegreeThreeHasNoFourthDerivative) {
  Expr e = parse("2*x^3 - 5*x^2*y + y^3 - 7");
  for (int k = 0; k < 4; ++k) e = derivative(pool, e, along_x);
  EXPECT_EQ(value(e, 1.7, -2.2), 0);
}

TEST_F(DerivativeTest, TheTotalDerivativeTwiceIsTheSecondDerivativeAlongAUniformMotion) {
  // Along x = a + b t, y = c + d t the accelerations vanish, so total_derivative gives all of f''.
  const Expr f = parse("exp(x/3)*sin(y + t) + x*y*t^2");
  const Expr twice = total_derivative(pool, total_derivative(pool, f));
  const double a = 0.3, b = 1.1, c = -0.4, d = 0.7;
  const auto along = [&](double t) {
    const double x = a + b * t, y = c + d * t;
    return std::exp(x / 3) * std::sin(y + t) + x * y * t * t;
  };
  for (const double t : {0.0, 0.5, 1.3}) {
    const double h = 1e-3;  // fourth-order differences: h^4 and rounding / h^2 are both below 1e-9
    const double numerical =
        (-along(t + 2 * h) + 16 * along(t + h) - 30 * along(t) + 16 * along(t - h) - along(t - 2 * h)) /
        (12 * h * h);
    EXPECT_NEAR(value(twice, a + b * t, c + d * t, b, d, t), numerical, 3e-9);
  }
}

TEST_F(DerivativeTest, TheTotalDerivativeOfACircleIsItsCentripetalTerm) {
  // f = x^2 + y^2 - 1: f' = 2 (x vx + y vy), and f'' without accelerations is 2 (vx^2 + vy^2).
  const Expr f = parse("x^2 + y^2 - 1");
  const Expr rate = total_derivative(pool, f);
  EXPECT_EQ(value(rate, 3, 4, 5, 6), 2 * (15 + 24));
  EXPECT_EQ(value(total_derivative(pool, rate), 3, 4, 5, 6), 2 * (25 + 36));
}

TEST_F(DerivativeTest, TheTotalDerivativeOfAVelocityConditionLeavesTheAccelerationOut) {
  // g = y x' + sin(t): g_q v + g_t = y' x' + cos(t).
  const Expr g = parse("y*x' + sin(t)");
  EXPECT_EQ(value(total_derivative(pool, g), 1, 2, 3, 4, 0.5), 12 + std::cos(0.5));
}

}  // namespace
}  // namespace zwang::derivative_test
