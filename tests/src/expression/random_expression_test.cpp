// Properties of every formula, tested on random ones: derivatives, intervals, rounding scales, text.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "src/expression/derivative.h"
#include "src/expression/interval.h"
#include "src/expression/print_expression.h"
#include "src/expression/scaled.h"
#include "src/formula/parse.h"
#include "tests/support/system_builder.h"

namespace zwang::random_expression_test {
namespace {

constexpr std::size_t symbol_count = 5;  // x, y, x', t, p
constexpr double epsilon = std::numeric_limits<double>::epsilon();

using Point = std::array<double, symbol_count>;

Symbol symbol_number(std::size_t i) {
  constexpr Symbol symbols[] = {{SymbolKind::coordinate, 0},
                                {SymbolKind::coordinate, 1},
                                {SymbolKind::velocity, 0},
                                {SymbolKind::time, 0},
                                {SymbolKind::parameter, 0}};
  return symbols[i];
}

std::size_t number_of(const Symbol& symbol) {
  for (std::size_t i = 0; i < symbol_count; ++i)
    if (symbol_number(i) == symbol) return i;
  return 0;
}

std::string generic_name(const Symbol& symbol) {
  constexpr const char* names[] = {"x", "y", "x'", "t", "p"};
  return names[number_of(symbol)];
}

template <class Number>
Number run(const Expressions& pool, Expr e, const std::array<Number, symbol_count>& at) {
  return Program(pool, {e}).run<Number>(
      {.time = at[3], .parameters = {&at[4], 1}, .coordinates = {&at[0], 2}, .velocities = {&at[2], 1}})[0];
}

// --- Random formulas ----------------------------------------------------------------------------------

class Generator {
 public:
  Generator(Expressions& pool, std::uint64_t seed) : pool_(pool), dice(seed) {}

  // Partial functions mostly get arguments for which they are defined; otherwise nearly every formula would
  // be undefined.
  Expr formula(int depth) {
    if (depth == 0 || dice.chance(0.1)) return leaf();
    const Expr a = formula(depth - 1);
    switch (dice.below(20)) {
      case 0:
      case 1:
        return pool_.add(a, formula(depth - 1));
      case 2:
      case 3:
        return pool_.subtract(a, formula(depth - 1));
      case 4:
      case 5:
      case 6:
        return pool_.multiply(a, formula(depth - 1));
      case 7:
        return pool_.divide(a, tame(formula(depth - 1)));
      case 8:
        return pool_.apply(Op::power, a, pool_.constant(static_cast<double>(dice.below(4))));
      case 9:
        return pool_.apply(Op::power, tame(a), pool_.apply(Op::tanh, formula(depth - 1)));
      case 10:
        return pool_.negate(a);
      case 11:
        return pool_.apply(pick({Op::atan2, Op::hypot}), a, formula(depth - 1));
      case 12:
      case 13:
        return pool_.apply(pick({Op::minimum, Op::maximum}), a, formula(depth - 1));
      case 14:
        return pool_.apply(Op::wrap, a, dice.chance(0.5) ? pool_.constant(2) : tame(formula(depth - 1)));
      case 15:
        return pool_.apply(pick({Op::log, Op::sqrt}), tame(a));
      case 16:
        return pool_.apply(pick({Op::asin, Op::acos}),
                           pool_.multiply(pool_.constant(0.9), pool_.apply(Op::sin, a)));
      case 17:
        return pool_.apply(pick({Op::exp, Op::sinh, Op::cosh}), pool_.apply(Op::tanh, a));
      case 18:
        return pool_.apply(pick({Op::abs, Op::sign, Op::floor}), a);
      default:
        return pool_.apply(pick({Op::sin, Op::cos, Op::tan, Op::atan, Op::tanh}), a);
    }
  }

  Point point() {
    Point made;
    for (double& value : made) value = dice.between(-2, 2);
    return made;
  }

 private:
  Expr leaf() {
    if (dice.chance(0.3)) return pool_.constant(std::round(dice.between(-30, 30)) / 10);
    return pool_.symbol(symbol_number(dice.below(symbol_count)));
  }
  Expr tame(Expr a) {
    if (dice.chance(0.1)) return a;
    return pool_.add(pool_.apply(Op::abs, a), pool_.constant(0.5));
  }
  Op pick(std::initializer_list<Op> list) { return list.begin()[dice.below(list.size())]; }

  Expressions& pool_;

 public:
  Dice dice;
};

// --- Extended precision -------------------------------------------------------------------------------

// The formula in long double, with its branch at every kink.
struct Extended {
  long double value = 0;
  bool defined = true;  // at every node, also where the value does not show it
  std::vector<long double> sides;
};

// Functions of one argument without a kink.
using Function = long double (*)(long double);
const std::map<Op, Function> smooth_functions = {
    {Op::sin, std::sin},   {Op::cos, std::cos},   {Op::tan, std::tan},   {Op::asin, std::asin},
    {Op::acos, std::acos}, {Op::atan, std::atan}, {Op::sinh, std::sinh}, {Op::cosh, std::cosh},
    {Op::tanh, std::tanh}, {Op::exp, std::exp},   {Op::log, std::log},   {Op::sqrt, std::sqrt}};

// Operations with kinks; each adds the side of the kink it is on.
long double kinked_value(Op op, const std::array<long double, 4>& arguments,
                         std::vector<long double>& sides) {
  const auto [a, b, c, d] = arguments;
  const auto compared = [&] { return (a > b) - (a < b); };
  const auto on_side = [&](long double side) { return sides.emplace_back(side); };
  switch (op) {
    case Op::abs:
      on_side((a > 0) - (a < 0));
      return std::abs(a);
    case Op::sign:
      return on_side((a > 0) - (a < 0));
    case Op::floor:
      return on_side(std::floor(a));
    case Op::atan2:
      on_side(b < 0 && a < 0);
      return std::atan2(a, b);
    case Op::minimum:
      on_side(compared());
      return a < b ? a : b;
    case Op::maximum:
      on_side(compared());
      return a > b ? a : b;
    case Op::wrap:
      return a - b * on_side(std::ceil(a / b - 0.5L));
    case Op::if_less:
      on_side(compared());
      return a < b ? c : d;
    default:
      throw std::logic_error("an operation without a value in extended precision");
  }
}

long double value_of(Op op, const std::array<long double, 4>& arguments, std::vector<long double>& sides) {
  const auto [a, b, c, d] = arguments;
  if (const auto found = smooth_functions.find(op); found != smooth_functions.end()) return found->second(a);
  switch (op) {
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::multiply:
      return a * b;
    case Op::divide:
      return a / b;
    case Op::negate:
      return -a;
    case Op::power:
      return std::pow(a, b);
    case Op::hypot:
      return std::hypot(a, b);
    default:
      return kinked_value(op, arguments, sides);
  }
}

Extended extended(const Expressions& pool, Expr e, const std::array<long double, symbol_count>& at) {
  std::unordered_map<std::uint32_t, long double> values;
  Extended made;
  for (const Expr x : pool.reachable({e})) {
    const Node& node = pool.node(x);
    std::array<long double, 4> arguments{};
    for (int i = 0; i < arity(node.op); ++i) {
      const auto k = static_cast<std::size_t>(i);
      arguments[k] = values.at(node.arguments[k].id);
    }
    const long double y = node.op == Op::constant ? node.value
                          : node.op == Op::symbol ? at[number_of(node.symbol)]
                                                  : value_of(node.op, arguments, made.sides);
    values[x.id] = y;
    made.defined = made.defined && std::isfinite(y);
  }
  made.value = values.at(e.id);
  return made;
}

Extended extended(const Expressions& pool, Expr e, const Point& at) {
  std::array<long double, symbol_count> wide;
  std::copy(at.begin(), at.end(), wide.begin());
  return extended(pool, e, wide);
}

// Central differences extrapolated to h = 0 (Richardson). `valid` only where no kink lies within reach and
// the last two extrapolations agree.
struct Numerical {
  bool valid = false;
  long double slope = 0, doubt = 0;
};

Numerical numerical_derivative(const Expressions& pool, Expr e, std::size_t along, const Point& at) {
  constexpr int levels = 7;
  const Extended here = extended(pool, e, at);
  std::array<std::array<long double, levels>, levels> table{};
  for (int i = 0; i < levels; ++i) {
    const long double h = 0.02L / (1 << i);
    std::array<long double, symbol_count> left, right;
    std::copy(at.begin(), at.end(), left.begin());
    right = left;
    left[along] -= h;
    right[along] += h;
    const Extended before = extended(pool, e, left), after = extended(pool, e, right);
    if (before.sides != here.sides || after.sides != here.sides) return {};
    // The value may hide an operation outside its domain: the sign of a root of a negative number.
    if (!here.defined || !before.defined || !after.defined) return {};
    const auto row = static_cast<std::size_t>(i);
    table[row][0] = (after.value - before.value) / (2 * h);
    long double factor = 4;
    for (std::size_t j = 1; j <= row; ++j, factor *= 4)
      table[row][j] = table[row][j - 1] + (table[row][j - 1] - table[row - 1][j - 1]) / (factor - 1);
  }
  const long double best = table[levels - 1][levels - 1];
  const long double doubt = std::abs(best - table[levels - 1][levels - 2]);
  return {std::isfinite(best) && doubt <= 1e-9L * (1 + std::abs(best)), best, doubt};
}

// --- Properties ---------------------------------------------------------------------------------------

void expect_derivatives_agree(bool second, std::uint64_t seed) {
  constexpr int trials = 600;
  int judged = 0;
  for (int trial = 0; trial < trials; ++trial) {
    Expressions pool;
    Generator random(pool, seed + static_cast<std::uint64_t>(trial));
    Expr e = random.formula(4);
    if (second) e = derivative(pool, e, symbol_number(random.dice.below(symbol_count)));
    const std::size_t along = random.dice.below(symbol_count);
    const Expr slope = derivative(pool, e, symbol_number(along));
    const Point at = random.point();
    const Numerical expected = numerical_derivative(pool, e, along, at);
    if (!expected.valid) continue;
    ++judged;
    const std::array<Scaled, symbol_count> scaled = {Scaled(at[0]), Scaled(at[1]), Scaled(at[2]),
                                                     Scaled(at[3]), Scaled(at[4])};
    // The rounding of the exact derivative, and the accuracy of the numerical one.
    const double rounding = 64 * epsilon * run(pool, slope, scaled).scale;
    const double allowed = rounding + 1e3 * static_cast<double>(expected.doubt) + 1e-13;
    EXPECT_NEAR(run(pool, slope, at), static_cast<double>(expected.slope), allowed)
        << "trial " << trial << ": d/d(symbol " << along << ") of " << expression_text(pool, e, generic_name);
  }
  // A test that skips nearly every formula would pass with any derivatives.
  EXPECT_GT(judged, trials / 2);
}

TEST(RandomExpressionTest, FirstDerivativesAgreeWithDifferencesAwayFromKinks) {
  expect_derivatives_agree(false, 1000);
}

TEST(RandomExpressionTest, SecondDerivativesAgreeWithDifferencesOfTheFirst) {
  expect_derivatives_agree(true, 5000);
}

TEST(RandomExpressionTest, MixedSecondDerivativesDoNotDependOnTheOrder) {
  for (std::uint64_t trial = 0; trial < 400; ++trial) {
    Expressions pool;
    Generator random(pool, 9000 + trial);
    const Expr e = random.formula(4);
    const Expr xy = derivative(pool, derivative(pool, e, symbol_number(0)), symbol_number(1));
    const Expr yx = derivative(pool, derivative(pool, e, symbol_number(1)), symbol_number(0));
    const Point at = random.point();
    const std::array<Scaled, symbol_count> scaled = {Scaled(at[0]), Scaled(at[1]), Scaled(at[2]),
                                                     Scaled(at[3]), Scaled(at[4])};
    const double first = run(pool, xy, at), second = run(pool, yx, at);
    if (!std::isfinite(first) || !std::isfinite(second)) continue;
    const double rounding = 64 * epsilon * (run(pool, xy, scaled).scale + run(pool, yx, scaled).scale);
    EXPECT_NEAR(first, second, rounding) << "trial " << trial;
  }
}

TEST(RandomExpressionTest, AnIntervalEnclosesTheValuesOfItsPoints) {
  int judged = 0;
  for (std::uint64_t trial = 0; trial < 2000; ++trial) {
    Expressions pool;
    Generator random(pool, 20'000 + trial);
    const Expr e = random.formula(4);
    std::array<Interval, symbol_count> box;
    for (Interval& side : box) {
      side = Interval(random.dice.between(-3, 3));
      if (!random.dice.chance(0.2)) side.high += random.dice.between(0, 4);
    }
    const Interval bounds = run(pool, e, box);
    for (int sample = 0; sample < 20; ++sample) {
      Point at;
      std::array<Scaled, symbol_count> scaled;
      for (std::size_t i = 0; i < symbol_count; ++i) {
        at[i] = std::clamp(random.dice.between(box[i].low - 0.5, box[i].high + 0.5), box[i].low, box[i].high);
        scaled[i] = Scaled(at[i]);
      }
      const double value = run(pool, e, at);
      if (!std::isfinite(value)) continue;
      ++judged;
      // The bounds are not rounded outwards: the rounding of the value itself is allowed.
      const double scale = run(pool, e, scaled).scale;
      const double allowed = std::isfinite(scale) ? 16 * epsilon * scale : 1e-9;
      EXPECT_GE(value, bounds.low - allowed) << "trial " << trial;
      EXPECT_LE(value, bounds.high + allowed) << "trial " << trial;
    }
  }
  EXPECT_GT(judged, 30'000);
}

bool has_zero_base(const Expressions& pool, Expr e, const Point& at) {
  for (const Expr node : pool.reachable({e}))
    if (pool.node(node).op == Op::power && run(pool, pool.node(node).arguments[0], at) == 0) return true;
  return false;
}

bool wraps_by_formula(const Expressions& pool, Expr e) {
  for (const Expr node : pool.reachable({e}))
    if (pool.node(node).op == Op::wrap && !pool.is_constant(pool.node(node).arguments[1])) return true;
  return false;
}

TEST(RandomExpressionTest, TheScaleBoundsTheRoundingError) {
  int judged = 0;
  for (std::uint64_t trial = 0; trial < 20'000; ++trial) {
    Expressions pool;
    Generator random(pool, 40'000 + trial);
    const Expr e = random.formula(5);
    const Point at = random.point();
    std::array<Scaled, symbol_count> scaled;
    for (std::size_t i = 0; i < symbol_count; ++i) scaled[i] = Scaled(at[i]);
    const Scaled found = run(pool, e, scaled);
    const Extended exact = extended(pool, e, at);
    if (!exact.defined || !std::isfinite(found.value)) continue;
    // Powers of zero, computed periods and the neighbourhood of poles have tests of their own.
    if (std::abs(found.value) > 1e6 || has_zero_base(pool, e, at) || wraps_by_formula(pool, e)) continue;
    // Next to a jump double and long double may be on different sides: rounding is not tested there.
    const Extended nearby = extended(pool, e, [&] {
      Point moved = at;
      for (double& value : moved) value *= 1 + 64 * epsilon;
      return moved;
    }());
    if (nearby.sides != exact.sides) continue;
    ++judged;
    EXPECT_EQ(found.value, run(pool, e, at));
    const auto error = static_cast<double>(std::abs(static_cast<long double>(found.value) - exact.value));
    EXPECT_LE(error, epsilon * found.scale)
        << "trial " << trial << ": " << expression_text(pool, e, generic_name) << " at " << at[0] << ", "
        << at[1] << ", " << at[2] << ", " << at[3] << ", " << at[4];
  }
  EXPECT_GT(judged, 14'000);
}

TEST(RandomExpressionTest, TextParsesBackToTheSameExpression) {
  for (std::uint64_t trial = 0; trial < 3000; ++trial) {
    Expressions pool;
    Generator random(pool, 60'000 + trial);
    const Expr e = random.formula(5);
    // Sums on the right of a sum have a test of their own.
    bool nested = false;
    for (const Expr node : pool.reachable({e})) {
      const Op inner = pool.node(pool.node(node).arguments[1]).op;
      nested = nested || (pool.node(node).op == Op::add && (inner == Op::add || inner == Op::subtract));
    }
    if (nested) continue;
    Scope scope;
    scope.scalars["x"] = {pool.symbol(symbol_number(0)), pool.symbol(symbol_number(2)), allow_positions};
    scope.scalars["y"] = {pool.symbol(symbol_number(1)), {}, allow_positions};
    scope.scalars["p"] = {pool.symbol(symbol_number(4)), {}, allow_parameters};
    const std::string text = expression_text(pool, e, generic_name, 100'000);
    EXPECT_EQ(parse_expression(pool, text, scope, ~0u, {}), e) << text;
  }
}

}  // namespace
}  // namespace zwang::random_expression_test
