// Rounding scales of expressions.
#include "src/expression/scaled.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "src/system/equations.h"
#include "tests/support/system_builder.h"

namespace zwang::scaled_test {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

class ScaledTest : public ::testing::Test {
 protected:
  Scaled run(const std::string& text, const Scaled& x, const Scaled& y = Scaled(0)) {
    const Expr e = parse_expression(pool, text, scope, allow_parameters, {});
    const Scaled p[] = {x, y};
    return Program(pool, {e}).run<Scaled>({.parameters = p})[0];
  }

  Expressions pool;
  Scope scope = {.scalars = {{"x", {pool.symbol(SymbolKind::parameter, 0), {}, allow_parameters}},
                             {"y", {pool.symbol(SymbolKind::parameter, 1), {}, allow_parameters}}},
                 .vectors = {},
                 .conditions = {},
                 .events = {},
                 .kinetic = {},
                 .potential = {}};
};

TEST_F(ScaledTest, CancellationLeavesTheSizeOfTheTerms) {
  const Scaled difference = run("x - y", Scaled(1000), Scaled(1000));
  EXPECT_EQ(difference.value, 0);
  EXPECT_EQ(difference.scale, 2000);
}

TEST_F(ScaledTest, AnInputMayHaveALargerScaleThanItsValue) {
  // A coordinate that is 0 now but was 5 a moment ago has the rounding of 5.
  EXPECT_EQ(run("3*x", Scaled(0, 5)).scale, 15);
  EXPECT_EQ(run("sin(x)", Scaled(0, 5)).scale, 5);
}

TEST_F(ScaledTest, SlopesPassErrorsOn) {
  EXPECT_DOUBLE_EQ(run("sin(x)", Scaled(M_PI, M_PI)).scale, M_PI + std::sin(M_PI));
  EXPECT_DOUBLE_EQ(run("exp(x)", Scaled(2, 2)).scale, 3 * std::exp(2));
  EXPECT_DOUBLE_EQ(run("sqrt(x)", Scaled(4, 4)).scale, 0.25 * 4 + 2);
  EXPECT_DOUBLE_EQ(run("x/y", Scaled(6, 6), Scaled(3, 3)).scale, 2 + 2 + 2);
  EXPECT_EQ(run("max(x, y)", Scaled(1, 7), Scaled(2, 9)).scale, 9);
  EXPECT_EQ(run("min(x, y)", Scaled(1, 7), Scaled(2, 9)).scale, 7);
}

TEST_F(ScaledTest, ConditionsInSmallerUnitsHaveTheSameVerdict) {
  // Powers of two are exact, so value and scale are multiplied exactly when every length is.
  const auto string_with = [](double unit) {
    SystemBuilder b;
    b.parameter("L", 1.3 * unit)
        .anchor("hook", {"0", "0"})
        .point("load", "1", {1.2 * unit, 0.5 * unit}, {0.1 * unit, 0});
    b.require("string", "distance(load, hook) <= L").require("wall", "load.x + load.y/3 <= 2*L");
    return b.make();
  };
  const Mechanism metres = string_with(1), small = string_with(1024);
  for (const std::size_t condition : {0u, 1u}) {
    const auto large = metres.equations->scaled_row(condition, metres.start, sizes_of(metres.start));
    const auto tiny = small.equations->scaled_row(condition, small.start, sizes_of(small.start));
    for (const std::size_t part : {0u, 1u, 2u}) {
      EXPECT_EQ(tiny[part].value, 1024 * large[part].value);
      EXPECT_EQ(tiny[part].scale, 1024 * large[part].scale);
    }
  }
}

// --- The scale stays a finite bound -------------------------------------------------------------------

TEST_F(ScaledTest, TheScaleOfARootOrPowerOfAnExactZeroIsANumber) {
  // Conditions such as speed(a) <= c begin here whenever a starts at rest.
  for (const char* formula : {"sqrt(x)", "x^0.5", "x^0", "sqrt(x^2 + y^2) - 1"})
    EXPECT_FALSE(std::isnan(run(formula, Scaled(0)).scale)) << formula;
}

TEST_F(ScaledTest, WrappingManyPeriodsMultipliesThePeriodsError) {
  // 300 periods lie between x and its image: the period's own error counts 300 times.
  const double x = 1000.3, y = 11;
  const Scaled found = run("wrap(x, sqrt(y))", Scaled(x), Scaled(y));
  const long double period = std::sqrt(static_cast<long double>(y));
  const long double exact = x - period * std::ceil(x / period - 0.5L);
  EXPECT_LE(std::abs(static_cast<double>(found.value - exact)), epsilon * found.scale);
  // And a period with an error of its own (scale 100 times its size).
  EXPECT_GE(run("wrap(x, y)", Scaled(x), Scaled(3.3, 330)).scale, 300 * 330);
}

TEST_F(ScaledTest, AFlatSumIsBoundedByItsScale) {
  // Every addition rounds: the scale must grow with the partial sums, not only with the terms.
  Expr sum = pool.zero();
  const Expr x = pool.symbol(SymbolKind::parameter, 0);
  long double exact = 0;
  for (int k = 0; k < 10'000; ++k) {
    sum = pool.add(sum, x);
    exact += 0.1;
  }
  const Scaled p[] = {Scaled(0.1)};
  const Scaled found = Program(pool, {sum}).run<Scaled>({.parameters = p})[0];
  EXPECT_LE(std::abs(static_cast<double>(found.value - exact)), epsilon * found.scale);
}

}  // namespace
}  // namespace zwang::scaled_test
