// Hash-consing and simplification of expressions.
#include "src/expression/expression.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "src/base/error.h"
#include "src/expression/operation.h"

namespace zwang {

namespace {

std::size_t mix(std::size_t seed, std::size_t value) {
  return (seed ^ value) * 0x9E3779B97F4A7C15ull + (seed >> 29);
}

std::size_t hash_of(const Node& node) {
  std::size_t hash = mix(17, static_cast<std::size_t>(node.op));
  for (const Expr& argument : node.arguments) hash = mix(hash, argument.id);
  hash = mix(hash, std::bit_cast<std::uint64_t>(node.value));
  return mix(mix(hash, static_cast<std::size_t>(node.symbol.kind)), node.symbol.index);
}

bool same(const Node& a, const Node& b) {
  return a.op == b.op && a.arguments == b.arguments && a.symbol == b.symbol &&
         std::bit_cast<std::uint64_t>(a.value) == std::bit_cast<std::uint64_t>(b.value);
}

// Operations defined for every finite argument.
bool is_total(Op op) {
  switch (op) {
    case Op::divide:
    case Op::power:
    case Op::tan:
    case Op::asin:
    case Op::acos:
    case Op::log:
    case Op::sqrt:
    case Op::wrap:
      return false;
    default:
      return true;
  }
}

bool is_positive_integer(double x) { return x >= 1 && x == std::floor(x) && x < 1e9; }

}  // namespace

Expressions::Expressions() {
  intern({.op = Op::constant, .value = 0});
  intern({.op = Op::constant, .value = 1});
}

Expr Expressions::intern(const Node& node) {
  const std::size_t hash = hash_of(node);
  const auto [first, last] = index_.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if (same(nodes_[it->second], node)) return {it->second};
  if (nodes_.size() >= node_limit)
    throw Error({.message = "the study's formulas are too large",
                 .found = "more than " + std::to_string(node_limit) + " terms after differentiation",
                 .expected = "at most " + std::to_string(node_limit) + " terms"});
  const auto id = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(node);
  index_.emplace(hash, id);
  return {id};
}

Expr Expressions::constant(double value) { return intern({.op = Op::constant, .value = value}); }

Expr Expressions::symbol(Symbol symbol) { return intern({.op = Op::symbol, .symbol = symbol}); }

Expr Expressions::apply(Op op, std::array<Expr, 4> arguments) {
  const int count = arity(op);
  for (int i = count; i < 4; ++i) arguments[static_cast<std::size_t>(i)] = {};
  Expr result;
  if (simplify(op, arguments, result)) return result;
  Node made{.op = op, .total = is_total(op), .arguments = arguments};
  // x^3 is defined everywhere though power in general is not.
  if (op == Op::power && is_constant(arguments[1]) && is_positive_integer(node(arguments[1]).value))
    made.total = true;
  // As is x/2.
  if (op == Op::divide && is_constant(arguments[1]) && !is_zero(arguments[1])) made.total = true;
  for (int i = 0; i < count; ++i)
    made.total = made.total && node(arguments[static_cast<std::size_t>(i)]).total;
  return intern(made);
}

bool Expressions::simplify(Op op, const std::array<Expr, 4>& a, Expr& result) {
  // Fold constants, unless the value is not finite: the formula then stays undefined where it was.
  bool folds = true;
  for (int i = 0; i < arity(op); ++i) folds = folds && is_constant(a[static_cast<std::size_t>(i)]);
  if (folds) {
    const double value =
        apply_operation<double>(op, node(a[0]).value, node(a[1]).value, node(a[2]).value, node(a[3]).value);
    if (std::isfinite(value)) {
      result = constant(value);
      return true;
    }
    return false;
  }
  switch (op) {
    case Op::add:
    case Op::subtract:
      return simplify_sum(op, a[0], a[1], result);
    case Op::multiply:
    case Op::divide:
      return simplify_product(op, a[0], a[1], result);
    case Op::negate:
      if (node(a[0]).op != Op::negate) return false;
      result = node(a[0]).arguments[0];
      return true;
    case Op::power:
      // sqrt(s)^2 is s where s cannot be negative: speed(a)^2 stays quadratic in the velocities.
      if (is_constant(a[1], 2) && node(a[0]).op == Op::sqrt && is_sum_of_squares(node(a[0]).arguments[0]))
        return result = node(a[0]).arguments[0], true;
      if (!is_constant(a[1], 1)) return false;
      result = a[0];
      return true;
    case Op::minimum:
    case Op::maximum:
      if (a[0] != a[1]) return false;
      result = a[0];
      return true;
    case Op::if_less:
      if (a[2] != a[3] || !node(a[0]).total || !node(a[1]).total) return false;
      result = a[2];
      return true;
    default:
      return false;
  }
}

bool Expressions::simplify_sum(Op op, Expr a, Expr b, Expr& result) {
  if (is_zero(b)) return result = a, true;
  if (is_zero(a)) return result = op == Op::add ? b : negate(b), true;
  if (op == Op::subtract && a == b && node(a).total) return result = zero(), true;
  if (node(b).op == Op::negate) {
    const Expr inner = node(b).arguments[0];
    return result = op == Op::add ? subtract(a, inner) : add(a, inner), true;
  }
  if (is_constant(b) && node(b).value < 0) {
    const Expr positive = constant(-node(b).value);
    return result = op == Op::add ? subtract(a, positive) : add(a, positive), true;
  }
  return false;
}

bool Expressions::is_sum_of_squares(Expr e) const {
  // Sums are built from the left: descend along the first arguments.
  for (;; e = node(e).arguments[0]) {
    const Expr term = node(e).op == Op::add ? node(e).arguments[1] : e;
    const Node& last = node(term);
    const bool square = last.total && last.op == Op::power && is_constant(last.arguments[1], 2);
    if (!square) return false;
    if (node(e).op != Op::add) return true;
  }
}

// Whether x*y (or x/y) of two constants is exact, so that folding them changes no value.
bool Expressions::exact_factor(Op op, double x, double y, double& factor) const {
  factor = op == Op::multiply ? x * y : x / y;
  const double back = op == Op::multiply ? factor / y : factor * y;
  return std::isfinite(factor) && back == x && y != 0 && std::abs(x) <= 1e6 && std::abs(y) <= 1e6;
}

bool Expressions::simplify_product(Op op, Expr a, Expr b, Expr& result) {
  if (is_constant(b, 1)) return result = a, true;
  if (op == Op::multiply && is_constant(a, 1)) return result = b, true;
  if (is_zero(a) && op == Op::multiply && node(b).total) return result = zero(), true;
  if (is_zero(b) && op == Op::multiply && node(a).total) return result = zero(), true;
  if (is_constant(b, -1)) return result = negate(a), true;
  // (2*x)/2 and 2*(3*x), where the two numbers combine without rounding
  double factor = 0;
  const Expr number = op == Op::multiply ? a : b, other = op == Op::multiply ? b : a;
  if (is_constant(number) && node(other).op == Op::multiply && is_constant(node(other).arguments[0])) {
    const Expr inner = node(other).arguments[1];
    if (exact_factor(op, node(node(other).arguments[0]).value, node(number).value, factor))
      return result = multiply(constant(factor), inner), true;
  }
  if (is_constant(number) && node(other).op == Op::negate && op == Op::divide)
    return result = negate(divide(Expr(node(other).arguments[0]), number)), true;
  if (op == Op::multiply && is_constant(a, -1)) return result = negate(b), true;
  return false;
}

std::vector<Expr> Expressions::reachable(const std::vector<Expr>& roots) const {
  std::vector<char> seen(nodes_.size(), 0);
  std::vector<Expr> waiting = roots;
  std::vector<Expr> found;
  while (!waiting.empty()) {
    const Expr e = waiting.back();
    waiting.pop_back();
    if (seen[e.id]) continue;
    seen[e.id] = 1;
    found.push_back(e);
    for (int i = 0; i < arity(node(e).op); ++i)
      waiting.push_back(node(e).arguments[static_cast<std::size_t>(i)]);
  }
  std::sort(found.begin(), found.end(), [](Expr a, Expr b) { return a.id < b.id; });
  return found;
}

std::vector<Symbol> Expressions::symbols(const std::vector<Expr>& roots) const {
  std::vector<Symbol> found;
  for (const Expr e : reachable(roots))
    if (node(e).op == Op::symbol) found.push_back(node(e).symbol);
  return found;
}

void Expressions::define_slope(Expr e, std::size_t coordinate, Expr slope) {
  slopes_[e.id].insert_or_assign(static_cast<std::uint32_t>(coordinate), slope);
}

const Expr* Expressions::defined_slope(Expr e, std::size_t coordinate) const {
  const auto node = slopes_.find(e.id);
  if (node == slopes_.end()) return nullptr;
  const auto slope = node->second.find(static_cast<std::uint32_t>(coordinate));
  return slope == node->second.end() ? nullptr : &slope->second;
}

std::vector<std::uint32_t> Expressions::turning(const std::vector<Expr>& roots) const {
  std::set<std::uint32_t> found;
  if (slopes_.empty()) return {};
  for (const Expr e : reachable(roots)) {
    if (node(e).op != Op::symbol) continue;
    if (const auto turns = slopes_.find(e.id); turns != slopes_.end())
      for (const auto& [coordinate, slope] : turns->second) found.insert(coordinate);
  }
  return {found.begin(), found.end()};
}

bool Expressions::mentions_positions(Expr e) const {
  return mentions(e, SymbolKind::coordinate) || !turning({e}).empty();
}

bool Expressions::mentions(Expr e, SymbolKind kind) const {
  const std::vector<Symbol> found = symbols({e});
  return std::any_of(found.begin(), found.end(), [kind](const Symbol& s) { return s.kind == kind; });
}

Expr replaced(Expressions& pool, Expr e, const Replacements& replacements) {
  Replacements done = replacements;
  for (const Expr x : pool.reachable({e})) {
    if (done.contains(x.id)) continue;
    const Node node = pool.node(x);
    std::array<Expr, 4> arguments{};
    for (std::size_t i = 0; i < static_cast<std::size_t>(arity(node.op)); ++i)
      arguments[i] = done.at(node.arguments[i].id);
    done[x.id] = arity(node.op) == 0 || arguments == node.arguments ? x : pool.apply(node.op, arguments);
  }
  return done.at(e.id);
}

}  // namespace zwang
