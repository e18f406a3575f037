// Expressions: sharing, simplification, constants, deep formulas, text.
#include "src/expression/expression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "src/base/error.h"
#include "src/expression/derivative.h"
#include "src/expression/evaluate.h"
#include "src/expression/print_expression.h"
#include "src/formula/parse.h"

namespace zwang::expression_test {
namespace {

// Deep enough that any recursion over the formula would overflow an ordinary stack of 8 MiB.
constexpr int deep = 100'000;
constexpr int wide = 50'000;

class ExpressionTest : public ::testing::Test {
 protected:
  Expr parse(const std::string& text) {
    return parse_expression(pool, text, scope, allow_time | allow_parameters | allow_positions, {});
  }
  double value(Expr e, double at_x, double at_y = 0) {
    const double q[] = {at_x, at_y};
    const double parameters[] = {1.0};
    return Program(pool, {e}).run<double>({.time = 0.25, .parameters = parameters, .coordinates = q})[0];
  }
  std::string text(Expr e, std::size_t limit = 600) {
    return expression_text(
        pool, e,
        [](const Symbol& s) {
          return std::string(s.kind == SymbolKind::parameter ? "p" : s.index == 0 ? "x" : "y");
        },
        limit);
  }

  Expressions pool;
  Expr x = pool.symbol(SymbolKind::coordinate, 0), y = pool.symbol(SymbolKind::coordinate, 1);
  Expr p = pool.symbol(SymbolKind::parameter, 0);
  Scope scope = {.scalars = {{"x", {x, {}, allow_positions}},
                             {"y", {y, {}, allow_positions}},
                             {"p", {p, {}, allow_parameters}}},
                 .vectors = {},
                 .conditions = {},
                 .events = {},
                 .kinetic = {},
                 .potential = {}};
};

// --- Sharing ------------------------------------------------------------------------------------------

TEST_F(ExpressionTest, EqualSubexpressionsAreOneNode) {
  const Expr first = parse("sin(x*y + 2)^2 + cos(x*y + 2)");
  const std::size_t size = pool.size();
  const Expr second = parse("sin(x*y + 2)^2 + cos(x*y + 2)");

  EXPECT_EQ(first, second);
  EXPECT_EQ(pool.size(), size);
  EXPECT_EQ(pool.node(pool.node(first).arguments[1]).arguments[0],
            pool.node(pool.node(pool.node(first).arguments[0]).arguments[0]).arguments[0]);
}

TEST_F(ExpressionTest, DifferentSymbolsNumbersAndOperationsAreDifferentNodes) {
  EXPECT_NE(x, y);
  EXPECT_NE(pool.symbol(SymbolKind::velocity, 0), x);
  EXPECT_NE(pool.constant(1), pool.constant(std::nextafter(1.0, 2.0)));
  EXPECT_NE(pool.constant(0.0), pool.constant(-0.0));
  EXPECT_NE(pool.subtract(x, y), pool.subtract(y, x));
  EXPECT_NE(pool.apply(Op::sin, x), pool.apply(Op::cos, x));
}

TEST_F(ExpressionTest, ArgumentsAreOlderThanTheNodesThatUseThem) {
  const Expr e = parse("wrap(atan2(x, y)*t, 2) + max(x, y, p)^min(2, y) - hypot(sinh(x), abs(y))");
  derivative(pool, derivative(pool, e, {SymbolKind::coordinate, 0}), {SymbolKind::coordinate, 1});
  for (std::uint32_t id = 0; id < pool.size(); ++id)
    for (int i = 0; i < arity(pool.node({id}).op); ++i)
      EXPECT_LT(pool.node({id}).arguments[static_cast<std::size_t>(i)].id, id);
}

TEST_F(ExpressionTest, ReachableNodesAreAscendingAndComplete) {
  const Expr e = parse("x*y + sin(x)");
  const std::vector<Expr> nodes = pool.reachable({e});
  ASSERT_EQ(nodes.size(), 5u);  // x, y, x*y, sin(x), the sum
  for (std::size_t i = 1; i < nodes.size(); ++i) EXPECT_LT(nodes[i - 1].id, nodes[i].id);
  EXPECT_EQ(nodes.back(), e);
  EXPECT_TRUE(pool.mentions(e, SymbolKind::coordinate));
  EXPECT_FALSE(pool.mentions(e, SymbolKind::parameter));
}

// --- Simplification never changes where a formula is defined ------------------------------------------

TEST_F(ExpressionTest, ZeroTimesATotalFormulaVanishes) {
  for (const char* total : {"x", "sin(x)*y", "x^3", "abs(x) + t", "atan2(x, y)", "hypot(x, y)", "exp(x)",
                            "tanh(x)", "max(x, y)", "floor(x)", "x/3", "sin(x/2)*y"}) {
    EXPECT_EQ(pool.multiply(pool.zero(), parse(total)), pool.zero()) << total;
    EXPECT_EQ(pool.multiply(parse(total), pool.zero()), pool.zero()) << total;
  }
}

TEST_F(ExpressionTest, ZeroTimesAPartialFormulaStaysUndefinedWhereItWas) {
  const struct {
    const char* formula;
    double x;  // where it is undefined
  } cases[] = {{"log(x)", -1},    {"1/x", 0},          {"sqrt(x)", -1},     {"x^0.5", -1},
               {"x^(-1)", 0},     {"asin(x + 3)", -1}, {"acos(x - 1)", -1}, {"sin(1/x)", 0},
               {"x^(y + 1)", -1}, {"wrap(y, x)", 0}};
  for (const auto& [formula, x_there] : cases)
    for (const Expr e :
         {pool.multiply(pool.zero(), parse(formula)), pool.multiply(parse(formula), pool.zero())}) {
      EXPECT_FALSE(pool.is_constant(e)) << formula;
      EXPECT_TRUE(std::isnan(value(e, x_there, 0.5))) << formula;
    }
}

TEST_F(ExpressionTest, ZeroTimesAQuotientThatIsDefinedWhereItOccursVanishes) {
  const Expr quotient = parse("2/(x^2 + y^2)");
  EXPECT_FALSE(pool.is_constant(pool.multiply(pool.zero(), pool.multiply(quotient, parse("x")))));
  pool.declare_total(quotient);
  EXPECT_EQ(pool.multiply(pool.zero(), pool.multiply(quotient, parse("y"))), pool.zero());
}

TEST_F(ExpressionTest, DifferencesAndQuotientsOfPartialFormulasStay) {
  EXPECT_TRUE(std::isnan(value(parse("log(x) - log(x)"), -1)));
  EXPECT_TRUE(std::isnan(value(parse("x/x"), 0)));
  EXPECT_TRUE(std::isnan(value(parse("sqrt(x)/sqrt(x)"), 0)));
  EXPECT_EQ(parse("x - x"), pool.zero());
  EXPECT_EQ(parse("x*y - x*y"), pool.zero());
}

TEST_F(ExpressionTest, APowerWithExponentZeroStays) {
  EXPECT_FALSE(pool.is_constant(parse("x^0")));
  EXPECT_FALSE(pool.is_constant(parse("log(x)^0")));
  EXPECT_EQ(value(parse("x^0"), 3), 1);
}

TEST_F(ExpressionTest, BranchesThatAgreeStayWhereTheComparisonIsPartial) {
  const Expr partial = pool.if_less(parse("log(x)"), y, p, p);
  EXPECT_NE(partial, p);
  EXPECT_EQ(pool.if_less(x, y, p, p), p);
}

TEST_F(ExpressionTest, NeutralElementsAndDoubleSignsGo) {
  EXPECT_EQ(parse("x + 0"), x);
  EXPECT_EQ(parse("0 + x"), x);
  EXPECT_EQ(parse("x - 0"), x);
  EXPECT_EQ(parse("0 - x"), pool.negate(x));
  EXPECT_EQ(parse("1*x"), x);
  EXPECT_EQ(parse("x*1"), x);
  EXPECT_EQ(parse("x/1"), x);
  EXPECT_EQ(parse("x^1"), x);
  EXPECT_EQ(parse("--x"), x);
  EXPECT_EQ(parse("x*(-1)"), pool.negate(x));
  EXPECT_EQ(parse("x - (-y)"), parse("x + y"));
  EXPECT_EQ(parse("(2*x)/2"), x);
  EXPECT_EQ(parse("2*(3*x)"), parse("6*x"));
}

// --- Constants ----------------------------------------------------------------------------------------

TEST_F(ExpressionTest, ConstantsFoldToWhatEvaluationGives) {
  EXPECT_EQ(parse("2^3^2"), pool.constant(512));
  EXPECT_EQ(parse("sin(0.5) + 1"), pool.constant(std::sin(0.5) + 1));
  EXPECT_EQ(parse("max(1, 3, 2)"), pool.constant(3));
  EXPECT_EQ(parse("sign(-4)*floor(-1.5)"), pool.constant(2));
}

TEST_F(ExpressionTest, ConstantsThatAreNotFiniteStayVisible) {
  for (const char* undefined : {"1/0", "0/0", "log(0)", "log(-1)", "sqrt(-1)", "exp(1000)", "asin(2)",
                                "(-8)^(1/3)", "wrap(1, 0)", "1e308*10"}) {
    const Expr e = parse(undefined);
    EXPECT_FALSE(pool.is_constant(e)) << undefined;
    EXPECT_FALSE(std::isfinite(value(e, 0))) << undefined;
  }
  EXPECT_EQ(text(parse("1/0")), "1/0");
}

TEST_F(ExpressionTest, AnUndefinedConstantIsNotMultipliedAway) {
  EXPECT_TRUE(std::isnan(value(parse("0*(1/0)"), 0)));
  EXPECT_TRUE(std::isnan(value(parse("0*x*(0/0)"), 1)));
  EXPECT_TRUE(std::isnan(value(parse("1/0 - 1/0"), 0)));
}

TEST_F(ExpressionTest, NotANumberPassesThroughChoices) {
  const Expr nan = parse("log(x)");  // at x = -1
  for (const Op op : {Op::minimum, Op::maximum, Op::hypot, Op::atan2}) {
    EXPECT_TRUE(std::isnan(value(pool.apply(op, nan, y), -1, 2))) << name_of(op);
    EXPECT_TRUE(std::isnan(value(pool.apply(op, y, nan), -1, 2))) << name_of(op);
  }
  EXPECT_TRUE(std::isnan(value(pool.apply(Op::sign, nan), -1)));
  EXPECT_TRUE(std::isnan(value(pool.apply(Op::floor, nan), -1)));
}

// --- Size ---------------------------------------------------------------------------------------------

TEST_F(ExpressionTest, AFlatSumOfFiftyThousandTermsIsBuiltDifferentiatedEvaluatedAndPrinted) {
  Expr sum = pool.zero();
  for (int k = 1; k <= wide; ++k)
    sum = pool.add(sum, pool.apply(Op::sin, pool.multiply(pool.constant(k), x)));
  const Expr slope = derivative(pool, sum, {SymbolKind::coordinate, 0});

  // d/dx of sum sin(k x) at 0 is the sum of k: whole numbers, exact in doubles.
  EXPECT_EQ(value(sum, 0), 0);
  EXPECT_EQ(value(slope, 0), 0.5 * wide * (wide + 1.0));
  EXPECT_EQ(text(sum).substr(0, 22), "sin(x) + sin(2*x) + si");
  EXPECT_LE(text(slope).size(), 603u);
}

TEST_F(ExpressionTest, ALongChainDoesNotOverflowTheStack) {
  Expr chain = x, tower = x;
  for (int k = 0; k < deep; ++k) {
    chain = pool.apply(Op::sin, chain);
    tower = pool.negate(pool.add(tower, y));
  }
  const Expr slope = derivative(pool, chain, {SymbolKind::coordinate, 0});

  // sin applied n times to x falls like sqrt(3/n); its slope at 0 is 1.
  EXPECT_NEAR(value(chain, 1), std::sqrt(3.0 / deep), 1e-3 * std::sqrt(3.0 / deep));
  EXPECT_EQ(value(slope, 0), 1);
  EXPECT_EQ(value(tower, 1, 0), 1);
  EXPECT_LE(text(chain).size(), 603u);
  EXPECT_LE(text(slope).size(), 603u);
}

// --- Text ---------------------------------------------------------------------------------------------

TEST_F(ExpressionTest, TextKeepsTheParenthesesThatMatter) {
  for (const char* formula :
       {"-x^2",        "(-x)^2",           "x - (y - p)", "x/(y*p)", "x/y*p",
        "x*(y/p)",     "(x^y)^p",          "x^y^p",       "x^(-y)",  "-(x + y)",
        "-(x*y)",      "(-x)*y",           "x*(-2)",      "(-2)^x",  "2 - (-x)*y",
        "(x + y)*p",   "1e-30*x",          "x - 1e+20",   "-2 + x",  "min(x, max(y, p))",
        "wrap(-x, 2)", "atan2(-x, y + p)", "x*(y*p)",     "-(-2)^x"}) {
    const Expr e = parse(formula);
    EXPECT_EQ(parse(text(e)), e) << formula << " is written as " << text(e);
  }
}

TEST_F(ExpressionTest, ASumInsideASumKeepsItsParentheses) {
  // x + (y + p) and (x + y) + p round differently: 1e20 + (-1e20 + 1) is 0, (1e20 - 1e20) + 1 is 1.
  for (const char* formula : {"x + (y + p)", "x + (y - p)"}) {
    const Expr e = parse(formula);
    EXPECT_EQ(parse(text(e)), e) << formula << " is written as " << text(e);
  }
}

TEST_F(ExpressionTest, TextTooLongIsCutAndSaysSo) {
  Expr e = x;
  for (int k = 0; k < 40; ++k) e = pool.multiply(e, pool.add(e, y));  // 2^40 symbols when written out
  const std::string cut = text(e, 100);
  EXPECT_EQ(cut.size(), 103u);
  EXPECT_EQ(cut.substr(100), "...");
}

}  // namespace
}  // namespace zwang::expression_test
