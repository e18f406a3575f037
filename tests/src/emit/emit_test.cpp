// The text of emitted models: its form, its cost, and what it must not contain. emit_truth_test verifies its
// numbers.
#include "src/emit/emit.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <regex>
#include <sstream>

#include "src/emit/elimination.h"
#include "tests/support/emit_subjects.h"
#include "tests/support/system_builder.h"

namespace zwang::emit_test {
namespace {

std::string text_of(const SystemBuilder& builder) { return emit_model(*builder.make().system).text; }

// The lines of one function, from its signature to its closing brace.
std::string function_of(const std::string& text, const std::string& name) {
  const std::size_t start = text.find(" " + name + "(");
  if (start == std::string::npos) return "";
  return text.substr(start, text.find("\n  }\n", start) - start);
}

std::size_t occurrences(const std::string& text, const std::string& piece) {
  std::size_t count = 0;
  for (std::size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) ++count;
  return count;
}

SystemBuilder point_on_string() {
  SystemBuilder builder;
  builder.parameter("g", 9.81).parameter("L", 1).point("bob", "1", {0, -1}, {5, 0}).gravity({"0", "-g"});
  builder.anchor("nail", {"0", "0"}).require("string", "distance(bob, nail) <= L");
  builder.observe("tension", "reaction(string)").measure("integral(open(string))");
  return builder;
}

SystemBuilder double_string() {
  SystemBuilder builder;
  builder.parameter("g", 9.81).parameter("L1", 1).parameter("L2", 1).parameter("m", 2);
  builder.point("a", "1", {0, -1}, {4, 0}).point("b", "m", {0, -2}, {6, 0}).gravity({"0", "-g"});
  builder.anchor("nail", {"0", "0"}).require("upper", "distance(a, nail) <= L1");
  builder.require("lower", "distance(a, b) <= L2").measure("count(shock(upper))").measure("maximum(b.y)");
  return builder;
}

// Two rods in angles, with a coupled mass matrix that changes with the angles; a stop, a watched function, an
// impulse and a condition imposed later.
SystemBuilder double_pendulum() {
  SystemBuilder builder;
  builder.parameter("m", 1.5).parameter("g", 9.81).coordinate("a", 0.4, 0).coordinate("b", -0.9, 0);
  builder.kinetic("0.5*a'^2 + 0.5*m*(a'^2 + b'^2 + 2*a'*b'*cos(a - b))");
  builder.potential("-g*((1 + m)*cos(a) + m*cos(b))").force("b", "-0.1*b'");
  builder.require("stop", "a <= 1", "0.5").require("lock", "a + b == 0", "0", "2*m");
  builder.watch("straight", "a - b").impulse("1", "b", {"0.5"}, true).observe("reach", "sin(a) + sin(b)");
  return builder;
}

SystemBuilder chain(int links) {
  SystemBuilder builder;
  builder.parameter("L", 0.1).anchor("p0", {"0", "0"}).gravity({"0", "-9.81"});
  for (int i = 1; i <= links; ++i) {
    const std::string point = "p" + std::to_string(i), before = "p" + std::to_string(i - 1);
    builder.point(point, "0.1", {0.1 * i, 0});
    builder.require("c" + std::to_string(i), "distance(" + before + ", " + point + ") <= L");
  }
  return builder;
}

SystemBuilder disks_in_a_box(int count) {
  SystemBuilder builder;
  for (int i = 0; i < count; ++i) {
    const std::string disk = "d" + std::to_string(i);
    builder.point(disk, "1", {0.3 * i, 0.1}, {1, 0});
    for (const char* wall : {".x >= 0.1", ".x <= 9", ".y >= 0.1", ".y <= 9"})
      builder.require(disk + wall, disk + wall, "1");
    for (int j = 0; j < i; ++j)
      builder.require(disk + std::to_string(j), "distance(" + disk + ", d" + std::to_string(j) + ") >= 0.2",
                      "1");
  }
  return builder;
}

// ZWANG_WRITE_GOLDEN in the environment rewrites the files; then check the differences.
void expect_golden(const std::string& name, const SystemBuilder& builder) {
  const std::string path = std::string(ZWANG_SOURCE_DIR) + "/tests/golden/" + name + ".model";
  const std::string actual = text_of(builder);
  if (std::getenv("ZWANG_WRITE_GOLDEN")) std::ofstream(path) << actual;
  std::stringstream expected;
  expected << std::ifstream(path).rdbuf();
  EXPECT_EQ(actual, expected.str());
}

TEST(EmitTest, TheModelOfAPointOnAStringReadsAsWritten) {
  expect_golden("point_on_string", point_on_string());
}
TEST(EmitTest, TheModelOfADoubleStringReadsAsWritten) { expect_golden("double_string", double_string()); }
TEST(EmitTest, TheModelOfADoublePendulumReadsAsWritten) {
  expect_golden("double_pendulum", double_pendulum());
}

TEST(EmitTest, ANumberComesBackFromItsTextBitByBit) {
  Dice dice(1);
  for (int i = 0; i < 1000; ++i) {
    const double x = dice.between(-1, 1) * std::pow(10.0, dice.between(-300, 300));
    const std::string text = literal(x);
    ASSERT_EQ(text.substr(0, 2), "R(");
    EXPECT_EQ(std::strtod(text.c_str() + 2, nullptr), x) << text;
  }
  EXPECT_EQ(literal(9.81), "R(9.81)");
  EXPECT_EQ(literal(-2), "R(-2)");
  EXPECT_EQ(literal(-0.0), "R(-0.0)");
  EXPECT_EQ(literal(9007199254740993.0), "R(9007199254740992.0)");  // too long for an int
  EXPECT_EQ(literal(std::numeric_limits<double>::infinity()), "infinity<R>()");
  EXPECT_EQ(literal(-std::numeric_limits<double>::infinity()), "-infinity<R>()");
  EXPECT_EQ(literal(std::nan("")), "missing<R>()");
}

TEST(EmitTest, NamesOfTheStudyNeverEnterTheText) {
  const auto model = [](const std::string& p, const std::string& x, const std::string& c,
                        const std::string& e) {
    SystemBuilder builder;
    builder.parameter(p, 2).coordinate(x, 1, 1).kinetic(x + "'^2*" + p).auxiliary(x + p, 0, x);
    builder.require(c, x + " <= " + p, p).watch(e, x + "*" + x + p).stop(x + " > 7").impulse("1", x, {p});
    builder.observe(c + e, "reaction(" + c + ")").measure("integral(closed(" + c + "))");
    return text_of(builder);
  };
  const std::string text = model("__asm__", "system", "exit_zone", "trigraph_zone");
  for (const char* name : {"asm", "system", "zone"}) EXPECT_EQ(occurrences(text, name), 0u) << name;
  EXPECT_EQ(text, model("k1", "while", "R", "constexpr"));
}

TEST(EmitTest, TheTextIsAFunctionOfTheSystemAloneAndLeavesItUntouched) {
  const Mechanism mechanism = double_pendulum().make();
  const std::size_t before = mechanism.system->pool->size();
  const std::string text = emit_model(*mechanism.system).text;
  EXPECT_EQ(emit_model(*mechanism.system).text, text);
  EXPECT_EQ(mechanism.system->pool->size(), before);
}

TEST(EmitTest, AChainCostsInProportionToItsLength) {
  const EmittedModel three = emit_model(*chain(3).make().system),
                     fifteen = emit_model(*chain(15).make().system);
  ASSERT_TRUE(three.masked && fifteen.masked && !fifteen.is_long);
  EXPECT_GT(three.motion_operations, 0);
  // Five times, and a little more because the first and last links are cheaper than the inner ones.
  EXPECT_LE(static_cast<double>(fifteen.motion_operations),
            6.5 * static_cast<double>(three.motion_operations));
  EXPECT_EQ(fifteen.motion_by_kind.divisions, 15);  // one for each pivot
  EXPECT_EQ(occurrences(function_of(fifteen.text, "motion"), "for ("), 0u);
}

// Beyond fifteen conditions formulas of the same shape are loops: tables grow with the chain, the code does
// not.
TEST(EmitTest, TheCodeOfALongChainDoesNotGrowWithIt) {
  const EmittedModel twenty = emit_model(*chain(20).make().system),
                     eighty = emit_model(*chain(80).make().system);
  ASSERT_TRUE(twenty.is_long && eighty.is_long && twenty.masked && eighty.masked);
  const auto code = [](const EmittedModel& model) {
    return model.text.substr(model.text.find("struct Model"));
  };
  EXPECT_NEAR(static_cast<double>(code(eighty).size()), static_cast<double>(code(twenty).size()), 200);
  EXPECT_EQ(occurrences(code(eighty), "\n"), occurrences(code(twenty), "\n"));
  EXPECT_GT(occurrences(function_of(eighty.text, "motion"), "for ("), 0u);
  EXPECT_NEAR(static_cast<double>(eighty.motion_operations),
              4.0 * static_cast<double>(twenty.motion_operations),
              0.1 * static_cast<double>(eighty.motion_operations));
}

TEST(EmitTest, ManyConditionsThatMayAllMeetAreLeftToTheSolversList) {
  const EmittedModel crowd = emit_model(*disks_in_a_box(12).make().system);
  EXPECT_FALSE(crowd.masked);
  EXPECT_NE(crowd.text.find("masked = false"), std::string::npos);
  for (const char* name : {"motion", "position_step", "velocity_step"})
    EXPECT_EQ(function_of(crowd.text, name), "") << name;
  EXPECT_NE(function_of(crowd.text, "free_motion"), "");
  EXPECT_NE(function_of(crowd.text, "row"), "");
  EXPECT_TRUE(emit_model(*disks_in_a_box(3).make().system).masked);
  // A mass matrix that is not diagonal would have to be factored in the text.
  SystemBuilder coupled = disks_in_a_box(12);
  coupled.coordinate("a", 0, 0).coordinate("b", 0, 0).kinetic("0.5*a'^2 + 0.5*b'^2 + 0.1*a'*b'");
  const std::string text = emit_model(*coupled.make().system).text;
  EXPECT_NE(text.find("masked = false"), std::string::npos);
  EXPECT_EQ(function_of(text, "free_motion"), "");
}

TEST(EmitTest, WithAnEquationAlwaysInForceThereIsNoFreeMotion) {
  SystemBuilder builder;
  builder.point("p", "1", {1, 0}).require("rod", "norm(p) == 1").require("wall", "p.x <= 2");
  const std::string text = text_of(builder);
  EXPECT_NE(text.find("has_free_motion = false"), std::string::npos);
  EXPECT_EQ(function_of(text, "free_motion"), "");
  // The rod needs no select; each entry of the wall's row does.
  EXPECT_EQ(occurrences(function_of(text, "motion"), "held[0]"), 0u);
  EXPECT_GT(occurrences(function_of(text, "motion"), "held[1]"), 0u);
}

TEST(EmitTest, WhatDependsOnParametersAloneIsComputedOncePerMember) {
  SystemBuilder builder;
  builder.parameter("m", 2).parameter("k", 3).coordinate("x", 1, 0).kinetic("0.5*m*x'^2");
  builder.potential("0.5*sqrt(k)*x^2/exp(m)").measure("maximum(2*sqrt(k)*x)");
  const std::string text = text_of(builder);
  EXPECT_EQ(occurrences(text, "sqrt("), 1u);
  EXPECT_EQ(occurrences(text, "exp("), 1u);
  EXPECT_EQ(occurrences(function_of(text, "make_constants"), "sqrt("), 1u);
  EXPECT_EQ(occurrences(function_of(text, "motion"), " / "), 0u);
}

TEST(EmitTest, WhatTheTimeAloneDecidesStandsApart) {
  SystemBuilder builder;
  builder.parameter("A", 2).coordinate("x", 1, 0).kinetic("0.5*x'^2").potential("0.5*x^2");
  builder.force("x", "A*cos(3*t) - x*exp(-t) + 2*t").require("wall", "x <= 1 + 0.1*sin(5*t)");
  const EmittedModel made = emit_model(*builder.make().system);
  EXPECT_NE(made.text.find("drives = 4"), std::string::npos) << made.text;
  const std::string drive = function_of(made.text, "drive");
  EXPECT_EQ(occurrences(drive, "cos("), 2u) << drive;  // the force, and the speed of the wall
  for (const char* function : {"cos(", "exp(", "sin("}) {
    EXPECT_GE(occurrences(drive, function), 1u) << drive;
    for (const char* name : {"motion", "free_motion"})
      EXPECT_EQ(occurrences(function_of(made.text, name), function), 0u) << name;
  }
  // A value that is only a product is not stored.
  EXPECT_EQ(occurrences(function_of(made.text, "motion"), "* t"), 1u);
  EXPECT_EQ(made.motion_by_kind.functions, 0);
}

TEST(EmitTest, WhatWouldBeTooMuchToKeepStaysInTheMotion) {
  SystemBuilder builder;
  std::string kinetic = "0";
  for (int i = 0; i < 12; ++i) {
    const std::string x = "x" + std::to_string(i);
    builder.coordinate(x, 1, 0);
    kinetic += " + " + x + "'^2";
  }
  builder.kinetic(kinetic);
  for (int i = 0; i < 12; ++i) builder.force("x" + std::to_string(i), "cos(" + std::to_string(i + 2) + "*t)");
  const EmittedModel made = emit_model(*builder.make().system);
  EXPECT_EQ(made.drives, 0u);
  EXPECT_EQ(occurrences(function_of(made.text, "motion"), "cos("), 12u);
}

TEST(EmitTest, ASharedSubexpressionIsComputedOnce) {
  SystemBuilder builder;
  builder.coordinate("a", 1, 1).coordinate("b", 1, 1).kinetic("a'^2 + b'^2 + a'*b'*cos(a - b)");
  builder.potential("cos(a - b)").require("c", "sin(a - b) <= 0");
  for (const char* function : {"motion", "free_motion", "velocity_step"}) {
    const std::string text = function_of(text_of(builder), function);
    EXPECT_EQ(occurrences(text, "cos("), 1u) << text;
    EXPECT_EQ(occurrences(text, "q[0] - q[1]"), 1u) << text;
  }
}

// Points of bodies and normals of surfaces are full of zeros.
TEST(EmitTest, ConditionsHaveNoProductsWithZero) {
  for (const Subject& subject : configured_systems()) {
    const std::string rows = function_of(emit_model(*subject.system).text, "row");
    EXPECT_EQ(occurrences(rows, "R(0) *"), 0U) << subject.name;
    EXPECT_EQ(occurrences(rows, "* R(0)"), 0U) << subject.name;
  }
}

TEST(EmitTest, LinesFitThePageAndNeverBranchOnANumber) {
  for (const SystemBuilder& builder : {point_on_string(), double_pendulum(), chain(12), disks_in_a_box(12)}) {
    std::stringstream lines(text_of(builder));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 110u) << line;
      EXPECT_FALSE(std::regex_search(line, std::regex(R"(\bif \(|\?|\bstd::|\bdouble\b)"))) << line;
    }
  }
}

TEST(EmitTest, FormulasOfAnyDepthAndSharingAreEmitted) {
  SystemBuilder builder;
  builder.coordinate("x", 1, 1).coordinate("y", 1, 1).kinetic("x'^2 + y'^2");
  Expressions& pool = builder.pool();
  const Expr x = builder.formula("x"), y = builder.formula("y");
  // Written out, each of these would need more than all memory.
  Expr deep = x, squares = x, products = y, sums = x;
  for (int i = 0; i < 3000; ++i) deep = pool.apply(Op::sin, deep);
  for (int i = 0; i < 80; ++i) squares = pool.add(pool.square(squares), y);
  for (int i = 0; i < 80; ++i) products = pool.multiply(products, pool.multiply(products, x));
  for (int i = 0; i < 80; ++i) sums = pool.add(sums, pool.subtract(sums, y));
  Expr all = pool.add(pool.add(deep, squares), pool.add(products, sums));
  Mechanism mechanism = builder.make();
  mechanism.system->observables.push_back({"all", all});
  EXPECT_LT(emit_model(*mechanism.system).text.size(), 500'000u);
}

TEST(EmitTest, AChainIsEliminatedFromBothEnds) {
  Pattern path(6);
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    path[i].insert(i + 1);
    path[i + 1].insert(i);
  }
  const EliminationPlan plan = plan_elimination(path, PivotOrder::least_fill);
  EXPECT_EQ(plan.order, (std::vector<std::size_t>{0, 5, 1, 4, 2, 3}));
  for (const auto& reached : plan.reached) EXPECT_LE(reached.size(), 1u);
}

TEST(EmitTest, TheHubOfAStarGoesLast) {
  Pattern star(7);
  for (std::size_t i = 1; i < star.size(); ++i) {
    star[0].insert(i);
    star[i].insert(0);
  }
  const EliminationPlan plan = plan_elimination(star, PivotOrder::least_fill);
  EXPECT_EQ(plan.order.back(), 0u);
  // Eliminated first, it would connect all the others to each other.
  EXPECT_LT(2 * plan.multiplications, plan_elimination(star, PivotOrder::natural).multiplications);
}

// A random sparse matrix with positive pivots, solved symbolically and by Eigen.
TEST(EmitTest, TheSymbolicSolveIsTheSolve) {
  Dice dice(7);
  for (int trial = 0; trial < 30; ++trial) {
    const std::size_t size = 1 + dice.below(8);
    Expressions pool;
    SparseMatrix matrix;
    SparseVector right;
    const auto n = static_cast<Eigen::Index>(size);
    Eigen::MatrixXd numbers = Eigen::MatrixXd::Zero(n, n);
    std::vector<double> values;
    const auto entry = [&](double value) {
      values.push_back(value);
      return pool.symbol(SymbolKind::coordinate, values.size() - 1);
    };
    Eigen::VectorXd b = dice.vector(n, -1, 1);
    Pattern pattern(size);
    for (std::size_t i = 0; i < size; ++i) {
      right[i] = entry(b(static_cast<Eigen::Index>(i)));
      for (std::size_t j = 0; j <= i; ++j) {
        if (i != j && !dice.chance(0.4)) continue;
        const double value = i == j ? 10 + dice.between(0, 1) : dice.between(-1, 1);
        matrix[{i, j}] = entry(value);
        const auto row = static_cast<Eigen::Index>(i), column = static_cast<Eigen::Index>(j);
        numbers(row, column) = numbers(column, row) = value;
        if (i == j) continue;
        pattern[i].insert(j);
        pattern[j].insert(i);
      }
    }
    const SymbolicFactor factor(pool, plan_elimination(pattern, PivotOrder::least_fill), matrix,
                                Pivots::may_vanish);
    std::vector<Expr> roots;
    for (const auto& [i, e] : factor.solve(right)) roots.push_back(e);
    // The share below which a pivot is rounding is evaluated as the symbol "time".
    const std::vector<double> x =
        Program(pool, roots).run<double>({.time = 1e-14, .parameters = {}, .coordinates = values});
    const Eigen::VectorXd expected = numbers.ldlt().solve(b);
    for (std::size_t i = 0; i < size; ++i) EXPECT_NEAR(x[i], expected(static_cast<Eigen::Index>(i)), 1e-14);
  }
}

TEST(EmitTest, RearrangedFormulasShareDifferencesAndReciprocals) {
  SystemBuilder builder;
  builder.parameter("L", 2).coordinate("x", 1, 1).coordinate("y", 1, 1).kinetic("x'^2 + y'^2");
  for (const char* formula :
       {"x - y", "(y - x)/L", "x/(x + y) + y/(x + y)", "(x^2 + y^2)^(-1.5)", "x*y/L - x*x/L + 2*(x/L)"})
    builder.measure("maximum(" + std::string(formula) + ")");
  const std::string text = function_of(text_of(builder), "measured");
  EXPECT_EQ(occurrences(text, "q[0] - q[1]"), 1u) << text;
  EXPECT_EQ(occurrences(text, "q[1] - q[0]"), 0u) << text;
  EXPECT_EQ(occurrences(text, " / "), 2u) << text;  // one for x + y, one for the root
  EXPECT_EQ(occurrences(text, "power("), 0u) << text;
  EXPECT_NE(text.find("cube(sqrt("), std::string::npos) << text;
}

// A driven point on a spring; its series with no condition held.
SystemBuilder driven(const std::string& force) {
  SystemBuilder builder;
  builder.parameter("A", 1.5).coordinate("x", 0.5, 0).kinetic("0.5*x'^2").potential("0.5*x^2");
  builder.force("x", force).require("wall", "x <= 1", "0.8");
  return builder;
}

TEST(EmitSeries, TermsPassThroughSumsAndStayWithProducts) {
  const EmittedSeries made = emit_model(*driven("A*cos(0.9*t) - 0.04*x'").make().system).series;
  EXPECT_EQ(made.obstacle, "");
  // An angle that grows linearly needs only the term before; the work is a product of two series.
  EXPECT_EQ(occurrences(made.text, "even_turn_term<d>(s.u[0], s.u[1], s.u[2]);"), 2u);
  EXPECT_EQ(occurrences(made.text, "product_term<d>("), 2u);
  EXPECT_EQ(made.sums, 1);
  EXPECT_EQ(occurrences(made.text, "rate[0] = k[0] * s.u[2][d] - R(0.04) * v[0] - q[0];"), 3u);
}

TEST(EmitSeries, FunctionsOfTheStateNeedAllEarlierTerms) {
  const EmittedSeries made = emit_model(*driven("-sin(x)*sqrt(1 + x^2)/(2 + x)").make().system).series;
  EXPECT_EQ(made.obstacle, "");
  for (const char* sum : {"turn_term<d>(", "root_term<d>(", "quotient_term<d>(", "square_term<d>("})
    EXPECT_NE(made.text.find(sum), std::string::npos) << sum;
}

TEST(EmitSeries, WhatHasNoneSaysWhy) {
  EXPECT_EQ(emit_model(*driven("-abs(x)").make().system).series.obstacle, "abs()");
  EXPECT_EQ(emit_model(*driven("-(x + 2)^1.5").make().system).series.obstacle, "");
  EXPECT_EQ(emit_model(*driven("-(x + 2)^1.3").make().system).series.obstacle,
            "a power of the state that is no whole number up to 8");
  SystemBuilder rod;
  rod.point("bob", "1", {0, -1}).gravity({"0", "-9.81"}).anchor("nail", {"0", "0"});
  rod.require("rod", "distance(bob, nail) == 1");
  EXPECT_EQ(emit_model(*rod.make().system).series.obstacle, "a condition that always holds");
  EXPECT_EQ(emit_model(*disks_in_a_box(12).make().system).series.obstacle, "too many conditions");
}

}  // namespace
}  // namespace zwang::emit_test
