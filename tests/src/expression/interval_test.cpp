// Interval bounds of expressions.
#include "src/expression/interval.h"

#include <gtest/gtest.h>

#include <cmath>

#include "src/formula/parse.h"

namespace zwang::interval_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class IntervalTest : public ::testing::Test {
 protected:
  Interval bounds(const std::string& text, const Interval& a, const Interval& b = Interval(0)) {
    const Expr e = parse_expression(pool, text, scope, allow_parameters, {});
    const Interval p[] = {a, b};
    return Program(pool, {e}).run<Interval>({.parameters = p})[0];
  }

  Expressions pool;
  Scope scope = {.scalars = {{"a", {pool.symbol(SymbolKind::parameter, 0), {}, allow_parameters}},
                             {"b", {pool.symbol(SymbolKind::parameter, 1), {}, allow_parameters}}},
                 .vectors = {},
                 .conditions = {},
                 .events = {},
                 .kinetic = {},
                 .potential = {}};
};

TEST_F(IntervalTest, EachOperationHasItsExactRange) {
  const struct {
    const char* formula;
    Interval a, b, expected;
  } cases[] = {{"a + b", {1, 2}, {10, 20}, {11, 22}},
               {"a - b", {1, 2}, {10, 20}, {-19, -8}},
               {"a*b", {-1, 2}, {-3, 4}, {-6, 8}},
               {"a/b", {1, 2}, {2, 4}, {0.25, 1}},
               {"a/b", {-1, 2}, {-4, -2}, {-1, 0.5}},
               {"-a", {-1, 2}, {}, {-2, 1}},
               {"a^2", {-3, 2}, {}, {0, 9}},
               {"a^2", {-3, -2}, {}, {4, 9}},
               {"a^3", {-3, 2}, {}, {-27, 8}},
               {"a^(-2)", {-3, 2}, {}, {1.0 / 9, infinity}},
               {"a^0.5", {4, 9}, {}, {2, 3}},
               {"abs(a)", {-3, 2}, {}, {0, 3}},
               {"abs(a)", {-3, -2}, {}, {2, 3}},
               {"sqrt(a)", {4, 9}, {}, {2, 3}},
               {"sign(a)", {-3, 0}, {}, {-1, 0}},
               {"floor(a)", {-1.5, 2.5}, {}, {-2, 2}},
               {"min(a, b)", {-1, 5}, {0, 2}, {-1, 2}},
               {"max(a, b)", {-1, 5}, {0, 2}, {0, 5}},
               {"hypot(a, b)", {-3, 1}, {4, 4}, {4, 5}},
               {"cosh(a)", {-1, 0.5}, {}, {1, std::cosh(1)}},
               {"exp(a)", {-infinity, 0}, {}, {0, 1}},
               {"acos(a)", {-5, 5}, {}, {0, M_PI}}};
  for (const auto& [formula, a, b, expected] : cases) {
    const Interval found = bounds(formula, a, b);
    EXPECT_DOUBLE_EQ(found.low, expected.low) << formula;
    EXPECT_DOUBLE_EQ(found.high, expected.high) << formula;
  }
}

TEST_F(IntervalTest, WhatIsNotKnownIsEverything) {
  for (const char* formula : {"1/a", "tan(a)", "a^b", "log(abs(a))"}) {
    const Interval found = bounds(formula, {-1, 1}, {0.1, 0.2});
    EXPECT_EQ(found.low, -infinity) << formula;
  }
  const Interval difference = bounds("a - b", Interval::everything(), Interval::everything());
  EXPECT_EQ(difference.low, -infinity);
  EXPECT_EQ(difference.high, infinity);
}

TEST_F(IntervalTest, ZeroTimesTheUnboundedIsZero) {
  const Interval found = bounds("a*b", Interval(0), Interval::everything());
  EXPECT_EQ(found.low, 0);
  EXPECT_EQ(found.high, 0);
}

TEST_F(IntervalTest, PeriodicFunctionsStayInTheirRange) {
  for (const char* formula : {"sin(a)", "cos(a)", "wrap(a, 2)", "tanh(a)"}) {
    const Interval found = bounds(formula, Interval::everything());
    EXPECT_EQ(found.low, -1) << formula;
    EXPECT_EQ(found.high, 1) << formula;
  }
}

TEST_F(IntervalTest, PointsGiveWhatTheNumbersGive) {
  // With a wrong bound, conditions that a state can meet would count as impossible: 7*cos(x) >= 525/75 at x =
  // 0.
  for (const auto& [p, q] : {std::pair{525.0, 75.0}, {49.0, 49.0}, {1.0, 3.0}, {-1050.0, 75.0}}) {
    const Interval found = bounds("a/b", Interval(p), Interval(q));
    EXPECT_LE(found.low, p / q) << p << "/" << q;
    EXPECT_GE(found.high, p / q) << p << "/" << q;
  }
}

}  // namespace
}  // namespace zwang::interval_test
