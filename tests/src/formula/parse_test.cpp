// The formula language: grammar, positions of errors, conditions, measures, hostile input.
#include "src/formula/parse.h"

#include <gtest/gtest.h>

#include <cmath>

#include "src/expression/evaluate.h"
#include "tests/support/system_builder.h"

namespace zwang::parse_test {
namespace {

constexpr unsigned everything = ~0u;

// x, y with velocities, the parameter p, the auxiliary z; points a, b in space, c in the plane; a moving
// anchor.
class ParseTest : public ::testing::Test {
 protected:
  ParseTest() {
    builder.parameter("p", 0.5);
    builder.coordinate("x", 2, 3).coordinate("y", -1, 0.25);
    builder.point("a", "1", {1, 2, 3}, {0.1, 0.2, 0.3}).point("b", "1", {4, 6, 3}, {1, 0, 0});
    builder.point("c", "1", {3, 4}, {6, 8}).point("d", "1", {0, 1});
    builder.auxiliary("z", 7, "0").anchor("hook", {"t", "2*t", "0"});
    builder.require("wall", "x <= 9").require("rod", "distance(c, d) == 2").watch("gate", "x");
    scope = builder.scope();
    scope.kinetic = builder.formula("x'^2/2");
    scope.potential = builder.formula("9.81*y");
  }

  Expr parse(const std::string& text, unsigned allowed = everything) {
    return parse_expression(builder.pool(), text, scope, allowed, {.place = "here"});
  }
  Condition condition(const std::string& text, bool strict = false) {
    return parse_condition(builder.pool(), text, scope, everything, {.place = "here"}, strict);
  }
  // A measure that is one reduction.
  ReducedFormula measure(const std::string& text) {
    std::optional<ReducedFormula> found;
    MeasureScope measures;
    measures.allowed_inside = everything;
    measures.reduce = [&](const ReducedFormula& reduced) {
      found = reduced;
      return builder.pool().symbol(SymbolKind::reduction, 0);
    };
    parse_measure(builder.pool(), text, scope, measures, {.place = "here"});
    return found.value_or(ReducedFormula{});
  }
  double value(const std::string& text, double t = 0) {
    const Mechanism mechanism = builder.make();
    State state = mechanism.start;
    state.t = t;
    return mechanism.equations->evaluate(Program(builder.pool(), {parse(text)}), state);
  }
  // The problem with which a text is rejected; a text that is accepted fails the test.
  template <class Parse>
  Problem refused(const Parse& attempt) {
    try {
      attempt();
    } catch (const Error& error) {
      EXPECT_EQ(error.problems().size(), 1u);
      return error.problems().front();
    }
    ADD_FAILURE() << "accepted";
    return {};
  }
  Problem refused_expression(const std::string& text, unsigned allowed = everything) {
    return refused([&] { parse(text, allowed); });
  }

  SystemBuilder builder;
  Scope scope;
};

// --- Grammar ------------------------------------------------------------------------------------------

TEST_F(ParseTest, OperatorsBindAsInMathematics) {
  const struct {
    const char* formula;
    double expected;  // x = 2, y = -1
  } cases[] = {{"-x^2", -4},      {"(-x)^2", 4}, {"2^3^2", 512},    {"x^-1", 0.5},   {"2^-x^2", 0.0625},
               {"1 - 2 - 3", -4}, {"8/4/2", 1},  {"8/4*2", 4},      {"2 + 3*4", 14}, {"(2 + 3)*4", 20},
               {"--x", 2},        {"-+-+x", 2},  {"2*-x", -4},      {"1--1", 2},     {"3 - -x", 5},
               {"-x*3", -6},      {"2*x^3", 16}, {"+x", 2},         {"1e3", 1000},   {".5 + 1.", 1.5},
               {"1.5E-1", 0.15},  {"4^0.5", 2},  {"\n x\t+\r1 ", 3}};
  for (const auto& [formula, expected] : cases) EXPECT_DOUBLE_EQ(value(formula), expected) << formula;
}

TEST_F(ParseTest, FunctionsMeanWhatTheirNamesSay) {
  const struct {
    const char* formula;
    double expected;
  } cases[] = {{"sign(0)", 0},
               {"sign(-3)", -1},
               {"sign(x)", 1},
               {"min(3, x)", 2},
               {"max(1, 5, x, 4)", 5},
               {"min(7, 6, 5, 4, 3)", 3},
               {"hypot(3, 4)", 5},
               {"atan2(1, 0)", M_PI / 2},
               {"atan2(0, -1)", M_PI},
               {"floor(-1.5)", -2},
               {"abs(y)", 1},
               {"pi", M_PI},
               {"log(exp(2))", 2},
               {"asin(1) + acos(1)", M_PI / 2},
               {"sinh(0) + cosh(0) + tanh(0)", 1},
               {"sqrt(x + 2)", 2}};
  for (const auto& [formula, expected] : cases) EXPECT_DOUBLE_EQ(value(formula), expected) << formula;
}

TEST_F(ParseTest, WrapBringsIntoTheHalfOpenPeriod) {
  for (const auto& [x, image] : {std::pair{0.0, 0.0},
                                 {0.9, 0.9},
                                 {1.0, 1.0},
                                 {-1.0, 1.0},
                                 {1.1, -0.9},
                                 {3.0, 1.0},
                                 {-3.0, 1.0},
                                 {2.0, 0.0},
                                 {-2.5, -0.5},
                                 {1e6, 0.0}})
    EXPECT_NEAR(value("wrap(" + std::to_string(x) + ", 2)"), image, 1e-15) << x;
}

TEST_F(ParseTest, PrimesAndDotsNameVelocitiesAndCoordinates) {
  EXPECT_EQ(value("x'"), 3);
  EXPECT_EQ(value("a.x + 10*a.y + 100*a.z"), 321);
  EXPECT_DOUBLE_EQ(value("a.z'"), 0.3);
  EXPECT_EQ(value("hook.y + hook.y'", 5), 12);
  EXPECT_EQ(value("z + p"), 7.5);
  EXPECT_EQ(value("t", 4), 4);
}

TEST_F(ParseTest, VectorHelpersAreWhatGeometrySays) {
  EXPECT_DOUBLE_EQ(value("distance(a, b)"), 5);
  EXPECT_DOUBLE_EQ(value("distance(hook, a)", 1), 3);
  EXPECT_DOUBLE_EQ(value("dot(a, b)"), 4 + 12 + 9);
  EXPECT_DOUBLE_EQ(value("dot(c, c')"), 18 + 32);
  EXPECT_DOUBLE_EQ(value("norm(c)"), 5);
  EXPECT_DOUBLE_EQ(value("norm(c')"), 10);
  EXPECT_DOUBLE_EQ(value("speed(c)"), 10);
  EXPECT_DOUBLE_EQ(value("speed(hook)"), std::sqrt(5));
}

TEST_F(ParseTest, MisusedVectorsAreErrors) {
  EXPECT_NE(refused_expression("distance(a, c)").message.find("different dimensions"), std::string::npos);
  EXPECT_NE(refused_expression("dot(c, hook)").message.find("different dimensions"), std::string::npos);
  EXPECT_NE(refused_expression("a + 1").message.find("not a number"), std::string::npos);
  for (const char* text : {"distance(a)", "distance(a, b, c)", "distance(a', b)", "norm(x)", "norm(1)",
                           "speed(a')", "distance(x, y)", "norm()", "a.w", "c.z", "a'"})
    EXPECT_THROW(parse(text), Error) << text;
}

TEST_F(ParseTest, WrongFormulasAreErrors) {
  for (const char* text : {"",
                           " ",
                           "x +",
                           "* x",
                           "x y",
                           "2x",
                           "x''",
                           "t'",
                           "pi'",
                           "p'",
                           "z'",
                           "sin",
                           "sin x",
                           "sin()",
                           "sin(1, 2)",
                           "min(1)",
                           "max()",
                           "hypot(1)",
                           "hypot(1, 2, 3)",
                           "wrap(1)",
                           "foo(1)",
                           "foo",
                           "(x",
                           "x)",
                           "()",
                           "x**2",
                           "x ! y",
                           "x = 1",
                           "x <= 1",
                           "1 < 2",
                           "1e",
                           "1e400",
                           "0x10",
                           "1.2.3",
                           "a.",
                           ".x",
                           "x.",
                           "x..y",
                           "a.x.y",
                           "1,2",
                           "#",
                           "x'y",
                           "kinetic(1)",
                           "multiplier()",
                           "multiplier(1)",
                           "multiplier(nothing)",
                           "final(x)",
                           "x^",
                           "x^^2",
                           "-",
                           "\x80",
                           "ü",
                           "x\x01"})
    EXPECT_THROW(parse(text), Error) << text;
}

TEST_F(ParseTest, WhatAPlaceForbidsIsRefused) {
  EXPECT_THROW(parse("x", allow_parameters), Error);
  EXPECT_THROW(parse("t", allow_parameters), Error);
  EXPECT_THROW(parse("x'", allow_positions), Error);
  EXPECT_THROW(parse("z", allow_positions), Error);
  EXPECT_THROW(parse("speed(a)", allow_positions), Error);
  EXPECT_THROW(parse("norm(a)", allow_parameters), Error);
  EXPECT_THROW(parse("reaction(wall)", everything & ~allow_reactions), Error);
  EXPECT_NO_THROW(parse("p + 1", allow_parameters));
}

// --- Positions of errors ------------------------------------------------------------------------------

TEST_F(ParseTest, ErrorsPointAtTheCharacter) {
  const struct {
    const char* formula;
    int column;
    const char* found;
  } cases[] = {{"x + foo", 5, "foo"},
               {"2*x)", 4, ")"},
               {"sin(x", 6, "the end of the formula"},
               {"x + $", 5, "$"},
               {"1 + 2x", 5, "2x"},
               {"x <= 2", 3, "<="},
               {"x + + * 2", 7, "*"},
               {"x**2", 2, "**"},
               {"distance(a, q)", 13, "q"},
               {"multiplier(wal)", 12, "wal"}};
  for (const auto& [formula, column, found] : cases) {
    const Problem problem = refused_expression(formula);
    EXPECT_EQ(problem.where.line, 1) << formula;
    EXPECT_EQ(problem.where.column, column) << formula;
    EXPECT_EQ(problem.found, found) << formula;
    EXPECT_EQ(problem.message.substr(0, 6), "here: ") << formula;
    EXPECT_FALSE(problem.expected.empty()) << formula;
  }
}

TEST_F(ParseTest, ASimilarNameIsSuggested) {
  EXPECT_EQ(refused_expression("kook.x + 1").hint, "did you mean 'hook.x'?");
  EXPECT_EQ(refused_expression("cosinus(x)").hint, "");
  EXPECT_EQ(refused_expression("sine(x)").hint, "did you mean 'sin'?");
  EXPECT_EQ(refused_expression("reaction(wal)").hint, "did you mean 'wall'?");
}

// --- Conditions ---------------------------------------------------------------------------------------

TEST_F(ParseTest, ConditionsHaveOneComparison) {
  EXPECT_EQ(condition("x <= 1").comparison, Comparison::less_equal);
  EXPECT_EQ(condition("x >= 1").comparison, Comparison::greater_equal);
  EXPECT_EQ(condition("x == 1").comparison, Comparison::equal);
  EXPECT_EQ(condition("x > 1", true).comparison, Comparison::greater);
  EXPECT_EQ(condition("x < 1", true).comparison, Comparison::less);
  for (const char* text :
       {"x", "x < 1", "x > 1", "x = 1", "x != 1", "x <= 1 <= 2", "<= 1", "x <=", "x <= 1 2", "x =< 1"})
    EXPECT_THROW(condition(text), Error) << text;
  EXPECT_THROW(condition("x == 1", true), Error);
}

TEST_F(ParseTest, ADistanceIsRecognisedOnlyAsAWholeSide) {
  for (const char* whole : {"distance(a, b) <= 1", "1 >= distance(a, b)", "(distance(a, b)) == 1",
                            "norm(c) <= p", "((norm(c))) >= 2", "distance(hook, a) <= 1 + t"}) {
    const Condition c = condition(whole);
    EXPECT_TRUE(c.left_distance || c.right_distance) << whole;
  }
  for (const char* part : {"2*distance(a, b) <= 1", "distance(a, b) + x <= 1", "distance(a, b)^2 <= 1",
                           "norm(c') <= 1", "norm(hook) <= x", "speed(c) <= 1", "-distance(a, b) <= 1",
                           "sqrt(x^2 + y^2) <= 1", "distance(a, b) - distance(c, d) <= 1"}) {
    const Condition c = condition(part);
    EXPECT_FALSE(c.left_distance || c.right_distance) << part;
  }
}

TEST_F(ParseTest, ADistanceKnowsItsEnds) {
  const Condition c = condition("distance(hook, a) <= 2");
  ASSERT_TRUE(c.left_distance);
  EXPECT_EQ(c.left_distance->first_end, scope.vectors.at("a").position);
  EXPECT_EQ(c.left_distance->difference.size(), 3u);
}

// --- Measures -----------------------------------------------------------------------------------------

TEST_F(ParseTest, MeasuresAreOneReduction) {
  EXPECT_EQ(measure("maximum(x)").reduction, Reduction::maximum);
  EXPECT_EQ(measure("maximum(x)").pattern, EventPattern::none);
  EXPECT_EQ(measure("maximum(impulse(wall))").pattern, EventPattern::impulse);
  EXPECT_EQ(measure("total(impulse(wall))").reduction, Reduction::total);
  EXPECT_EQ(measure("count(event(gate))").pattern, EventPattern::watched);
  EXPECT_EQ(measure("first(release(rod))").name, "rod");
  EXPECT_EQ(measure("last(shock(wall))").reduction, Reduction::last);
  EXPECT_EQ(measure("count(accumulation(wall))").pattern, EventPattern::accumulation);
  const ReducedFormula at = measure("at(contact(wall), x + y)");
  EXPECT_EQ(at.reduction, Reduction::at);
  EXPECT_EQ(at.value, parse("x + y"));
  for (const char* text :
       {"x", "maximum", "maximum()", "maximum(x) + y", "t*final(x)", "count(x)", "count(impulse(wall))",
        "total(shock(wall))", "minimum(impulse(wall))", "first(event(gat))", "at(release(wall))", "at(x, y)",
        "final(maximum(x))", "count(shock())", "count(shock(1))", "mean(x, y)", "count(event(wall))",
        "median(x)", ""})
    EXPECT_THROW(measure(text), Error) << text;
}

// --- Hostile input ------------------------------------------------------------------------------------

TEST_F(ParseTest, FormulasTooDeepOrTooLongEndInAnError) {
  const std::string many(10'000, '('), signs(10'000, '-');
  std::string powers = "x", calls;
  for (int k = 0; k < 10'000; ++k) {
    powers += "^x";
    calls += "sin(";
  }
  EXPECT_THROW(parse(many + "x" + std::string(10'000, ')')), Error);
  EXPECT_THROW(parse(many), Error);
  EXPECT_THROW(parse(powers), Error);
  EXPECT_THROW(parse(calls + "x" + std::string(10'000, ')')), Error);
  EXPECT_THROW(parse(std::string(200'001, '1')), Error);
  EXPECT_THROW(parse(std::string(200'001, ' ')), Error);
  EXPECT_EQ(value(signs + "x"), 2);  // a chain of signs is not nesting
}

TEST_F(ParseTest, TheLongestFormulaAllowedParses) {
  std::string sum = "x";
  while (sum.size() + 2 <= 200'000) sum += "+x";
  EXPECT_EQ(value(sum), 2 * (static_cast<double>(sum.size()) + 1) / 2);
}

TEST_F(ParseTest, ArbitraryTextEndsInAnErrorOrParses) {
  const char* words[] = {"x",      "y'",        "a",           "b.x",       "t",         "p",
                         "pi",     "1",         "2.5",         "1e3",       ".",         "'",
                         "(",      ")",         ",",           "+",         "-",         "*",
                         "/",      "^",         "<=",          ">=",        "==",        "<",
                         "sin(",   "min(",      "wrap(",       "norm(",     "distance(", "dot(",
                         "speed(", "kinetic()", "foo",         " ",         "**",        "event(gate)",
                         "final(", "count(",    "shock(wall)", "reaction(", "at(",       "impulse(wall)",
                         "wall",   "\n",        "=",           "!=",        "maximum(",  "hook"};
  Dice dice(7);
  int accepted = 0;
  for (int trial = 0; trial < 20'000; ++trial) {
    std::string text;
    const std::size_t length = 1 + dice.below(12);
    const bool bytes = trial % 4 == 0;
    for (std::size_t k = 0; k < length; ++k) {
      if (bytes)
        text += static_cast<char>(dice.below(256));
      else
        text += words[dice.below(std::size(words))];
    }
    const auto attempt = [&](const auto& parse_it) {
      try {
        parse_it();
        ++accepted;
      } catch (const Error& error) {
        EXPECT_FALSE(error.problems().empty());
        const int column = error.problems().front().where.column;
        EXPECT_GE(column, 1) << text;
        EXPECT_LE(column, static_cast<int>(text.size()) + 1) << text;
      }
    };
    attempt([&] { parse(text); });
    attempt([&] { condition(text); });
    attempt([&] { measure(text); });
  }
  EXPECT_GT(accepted, 100);  // the random texts include enough valid formulas
}

TEST(NameTest, NamesAndReservedWordsAreToldApart) {
  EXPECT_TRUE(is_name("_a1"));
  for (const char* text : {"", "1a", "a-b", "a.b", "a b", "ä"}) EXPECT_FALSE(is_name(text)) << text;
  for (const char* word : {"t", "pi", "sin", "wrap", "distance", "kinetic", "reaction", "hypot"})
    EXPECT_TRUE(is_reserved(word)) << word;
  EXPECT_FALSE(is_reserved("x"));
}

}  // namespace
}  // namespace zwang::parse_test
