// Formulas of [measure]: arithmetic of reductions, conditions, and missing values.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "src/base/error.h"
#include "src/expression/evaluate.h"
#include "src/formula/parse.h"
#include "tests/support/system_builder.h"

namespace zwang::parse_measure_test {
namespace {

constexpr double missing_value = std::numeric_limits<double>::quiet_NaN();

// A world of one coordinate and one parameter; the reductions final(x), maximum(x), minimum(x) are numbers 0,
// 1, 2.
class MeasureFormulas : public testing::Test {
 protected:
  MeasureFormulas() {
    builder.parameter("p", 3).coordinate("x", 1).kinetic("x'^2/2");
    scope = builder.measure_scope();
    scope.reduce = [this](const ReducedFormula& reduced) {
      const std::size_t place = reduced.reduction == Reduction::final     ? 0
                                : reduced.reduction == Reduction::maximum ? 1
                                                                          : 2;
      return builder.pool().symbol(SymbolKind::reduction, place);
    };
  }

  MeasureFormula parse(const std::string& text) {
    return parse_measure(builder.pool(), text, builder.scope(), scope, {.place = "here"});
  }
  double evaluate(Expr e, const std::vector<double>& reductions) {
    const std::vector<double> parameters = {3};
    return Program(builder.pool(), {e}).run<double>({.parameters = parameters, .reductions = reductions})[0];
  }
  double value(const std::string& text, const std::vector<double>& reductions) {
    return evaluate(parse(text).value, reductions);
  }

  SystemBuilder builder;
  MeasureScope scope;
};

TEST_F(MeasureFormulas, CombineReductionsParametersAndEarlierMeasures) {
  EXPECT_EQ(value("maximum(x) - minimum(x)", {0, 5, 2}), 3);
  EXPECT_EQ(value("2*final(x)^2 + p", {4, 0, 0}), 35);
  scope.earlier["span"] = parse("maximum(x) - minimum(x)").value;
  EXPECT_EQ(value("span/p", {0, 8, 2}), 2);
  EXPECT_EQ(value("p", {0, 0, 0}), 3);
}

TEST_F(MeasureFormulas, AreMissingWhereAnOperandIs) {
  for (const char* text :
       {"final(x) + 1", "min(final(x), 2)", "max(2, final(x))", "0*final(x)", "final(x) - final(x)",
        "final(x)^0", "hypot(final(x), 1)", "sign(final(x))", "min(sqrt(final(x)), 1)"}) {
    EXPECT_TRUE(std::isnan(value(text, {missing_value, 1, 1}))) << text;
    EXPECT_FALSE(std::isnan(value(text, {2, missing_value, missing_value}))) << text;
  }
  // Undefined is missing too.
  EXPECT_TRUE(std::isnan(value("min(sqrt(final(x)), 1)", {-1, 0, 0})));
  scope.earlier["root"] = parse("sqrt(final(x))").value;
  EXPECT_TRUE(std::isnan(value("max(root, 1)", {-1, 0, 0})));
  EXPECT_TRUE(std::isnan(value("0*root", {-1, 0, 0})));
}

TEST_F(MeasureFormulas, ComparisonsAreFalseForMissingValues) {
  const auto holds = [&](const std::string& condition, double x) {
    return value("probability(" + condition + ")", {x, 0, 0});
  };
  for (const char* condition :
       {"final(x) < 2", "final(x) <= 2", "final(x) > 2", "final(x) >= 2", "2 <= final(x)"}) {
    EXPECT_EQ(holds(condition, missing_value), 0) << condition;
    EXPECT_EQ(holds(std::string("not ") + condition, missing_value), 1) << condition;
  }
  EXPECT_EQ(holds("final(x) < 2", 2), 0);
  EXPECT_EQ(holds("final(x) <= 2", 2), 1);
  EXPECT_EQ(holds("final(x) > 2", 2), 0);
  EXPECT_EQ(holds("final(x) >= 2", 2), 1);
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(holds("final(x) > 2", infinite), 1);
  EXPECT_EQ(holds("final(x) <= final(x)", infinite), 1);
}

TEST_F(MeasureFormulas, NotBindsCloserThanAndAndCloserThanOr) {
  // a: final(x) > 0, b: maximum(x) > 0, c: minimum(x) > 0
  const std::string a = "final(x) > 0", b = "maximum(x) > 0", c = "minimum(x) > 0";
  for (int k = 0; k < 8; ++k) {
    const bool x = k & 1, y = k & 2, z = k & 4;
    const std::vector<double> numbers = {x ? 1.0 : -1.0, y ? 1.0 : -1.0, z ? 1.0 : -1.0};
    const auto holds = [&](const std::string& condition) {
      return value("probability(" + condition + ")", numbers) == 1;
    };
    EXPECT_EQ(holds(a + " or " + b + " and " + c), x || (y && z));
    EXPECT_EQ(holds("(" + a + " or " + b + ") and " + c), (x || y) && z);
    EXPECT_EQ(holds("not " + a + " and " + b), !x && y);
    EXPECT_EQ(holds("not (" + a + " and " + b + ")"), !(x && y));
    EXPECT_EQ(holds("not not " + a), x);
    EXPECT_EQ(holds("((final(x)) > (0)) and (" + b + ")"), x && y);
    EXPECT_EQ(holds("(final(x) + 1)*2 > 2 or (" + c + ")"), x || z);
  }
}

TEST_F(MeasureFormulas, TellWhetherAMissingValueDecided) {
  const MeasureFormula formula = parse("probability(final(x) > 0 or maximum(x) > 0)");
  EXPECT_TRUE(formula.probability);
  EXPECT_EQ(evaluate(formula.undecided, {1, 1, 0}), 0);
  EXPECT_EQ(evaluate(formula.undecided, {missing_value, 1, 0}), 1);
  EXPECT_EQ(evaluate(formula.value, {missing_value, 1, 0}), 1);
  EXPECT_EQ(evaluate(formula.undecided, {missing_value, missing_value, 0}), 1);
}

TEST_F(MeasureFormulas, RefuseWhatIsNoMeasure) {
  scope.later = {"next"};
  for (const char* text :
       {"", "x", "t", "final(x) > 1", "probability(final(x))", "probability(final(x) = 1)",
        "1 + probability(p > 1)", "probability(p > 1) and p > 2", "probability(p > 1 and)",
        "probability((p > 1)", "probability(p > 1))", "probability(not)", "next", "final(next)",
        "final(probability(x > 1))", "probability(p > 1 > 0)", "probability(p > 1 and p)", "and", "p and p"})
    EXPECT_THROW(parse(text), Error) << text;
}

}  // namespace
}  // namespace zwang::parse_measure_test
