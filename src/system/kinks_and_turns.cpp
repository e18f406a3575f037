// Kinks and jumps of integrands, and arguments that bound the step length.
#include "src/system/kinks_and_turns.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>
#include <unordered_map>
#include <vector>

#include "src/expression/derivative.h"
#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/expression/interval.h"
#include "src/expression/operation.h"

namespace zwang {

namespace {

// d/dt as far as it is a function of the state: terms with accelerations are left out, and so are rates that
// depend on multipliers.
Expr rate_of_turn(System& system, Expr argument) {
  Expressions& pool = *system.pool;
  Expr rate = total_derivative(pool, argument);
  for (const Symbol& symbol : pool.symbols({argument})) {
    if (symbol.kind != SymbolKind::auxiliary || system.is_orientation(symbol.index)) continue;
    const Expr own = system.rates[symbol.index];
    if (pool.mentions(own, SymbolKind::multiplier)) continue;
    rate = pool.add(rate, pool.multiply(derivative(pool, argument, symbol), own));
  }
  return rate;
}

// A denominator below this counts as a pole. Without it a denominator that passes through zero would halve the
// steps without end, below the resolution of time: a float has seven digits.
constexpr double pole_width = 1e-3;

// Half of the denominator, since 1/(w^2 + x^2) is a bump too, plus the width of a pole.
Expr share_of(Expressions& pool, Expr denominator) {
  return pool.add(pool.constant(pole_width),
                  pool.multiply(pool.constant(0.5), pool.apply(Op::abs, denominator)));
}

// The argument of a periodic or bump-like function, and how far it may run within one step. `pole`: an
// expression whose roots are poles of the function.
struct Run {
  Expr argument, longest;
  std::optional<Expr> pole{};
};

std::optional<Run> longest_run(Expressions& pool, const Node& node) {
  const Expr x = node.arguments[0];
  switch (node.op) {
    // A quarter of a period of wrap, or one radian: the eleven samples of a step then resolve every period.
    case Op::wrap:
      return Run{x, pool.multiply(pool.constant(0.25), node.arguments[1])};
    case Op::floor:
      return Run{x, pool.constant(0.25)};
    case Op::sin:
    case Op::cos:
      return Run{x, pool.one()};
    case Op::tan:
      return Run{x, pool.one(), pool.apply(Op::cos, x)};
    // Smooth steps and bumps such as exp(-x^2) change near 0; far from 0 the argument may run in proportion
    // to its size.
    case Op::exp:
    case Op::tanh:
    case Op::atan:
      return Run{x, pool.add(pool.one(), pool.multiply(pool.constant(0.25), pool.apply(Op::abs, x)))};
    case Op::log:
      return Run{x, share_of(pool, x), x};
    case Op::divide:
      return Run{node.arguments[1], share_of(pool, node.arguments[1]), node.arguments[1]};
    case Op::atan2: {  // changes quickly where both arguments are near zero
      const Expr distance = pool.apply(Op::hypot, x, node.arguments[1]);
      return Run{distance, share_of(pool, distance)};
    }
    case Op::power:
      if (!pool.is_constant(node.arguments[1]) || pool.node(node.arguments[1]).value >= 0)
        return std::nullopt;
      return Run{x, share_of(pool, x), x};
    default:
      return std::nullopt;
  }
}

// True where e changes within a step, so that its roots have to be located. Which conditions are closed
// changes at events only, and a step ends there.
bool has_roots(const Expressions& pool, Expr e) {
  const std::vector<Symbol> symbols = pool.symbols({e});
  return std::any_of(symbols.begin(), symbols.end(), [](const Symbol& symbol) {
    return symbol.kind != SymbolKind::parameter && symbol.kind != SymbolKind::closed;
  });
}

// The values an expression can have for any parameters and any state.
Interval range_of(const System& system, Expr e) {
  const std::size_t most = std::max(
      {system.parameters.size(), system.size(), system.auxiliaries.size(), system.constraints.size()});
  const std::vector<Interval> any(most, Interval::everything()), flags(most, Interval(0, 1));
  return Program(*system.pool, {e})
      .run<Interval>({.time = Interval::everything(),
                      .parameters = any,
                      .coordinates = any,
                      .velocities = any,
                      .auxiliaries = any,
                      .multipliers = any,
                      .closed = flags})
      .front();
}

// How an operation restricts its argument.
enum class Domain {
  whole,    // defined everywhere
  clear,    // defined in part, but the argument is always inside: sqrt(2 + sign(x))
  touching  // the argument may reach the edge, and rounding may carry it beyond
};

Domain domain_of(const System& system, const Node& node) {
  const Expressions& pool = *system.pool;
  const bool circular = node.op == Op::asin || node.op == Op::acos;
  const bool fractional = node.op == Op::power && !(pool.is_constant(node.arguments[1]) &&
                                                    std::floor(pool.node(node.arguments[1]).value) ==
                                                        pool.node(node.arguments[1]).value);
  if (!circular && !fractional && node.op != Op::sqrt && node.op != Op::log) return Domain::whole;
  const Interval range = range_of(system, node.arguments[0]);
  const bool inside = circular ? range.low > -1 && range.high < 1 : range.low > 0;
  return inside ? Domain::clear : Domain::touching;
}

// By node: the strictest domain of the operations above it.
std::vector<Domain> domains_above(const System& system, const std::vector<Expr>& roots) {
  const Expressions& pool = *system.pool;
  std::vector<Domain> above(pool.size(), Domain::whole);
  const std::vector<Expr> nodes = pool.reachable(roots);
  for (auto e = nodes.rbegin(); e != nodes.rend(); ++e) {
    const Node& node = pool.node(*e);
    const Domain own = domain_of(system, node);
    for (int i = 0; i < arity(node.op); ++i) {
      Domain& below = above[node.arguments[static_cast<std::size_t>(i)].id];
      below = std::max({below, own, above[e->id]});
    }
  }
  return above;
}

// A function that bends without a jump keeps its value beside the kink: below an operation with an edge it
// needs no branch, and without one it is never carried beyond the edge.
bool keeps_branch(const Node& node, Domain above) {
  const bool jumps = node.op == Op::sign || node.op == Op::floor || node.op == Op::wrap;
  return above == Domain::whole || (jumps && above == Domain::clear);
}

// A jump or kink: `root` has a root there, `branch` is constant from one root to the next.
struct Branching {
  Expr root, branch;
};

std::optional<Branching> branching_of(Expressions& pool, const Node& node) {
  const Expr x = node.arguments[0];
  const auto sign_of = [&](Expr e) { return Branching{e, pool.apply(Op::sign, e)}; };
  switch (node.op) {
    case Op::sign:
    case Op::abs:
      return sign_of(x);
    case Op::minimum:
    case Op::maximum:
      return sign_of(pool.subtract(x, node.arguments[1]));
    case Op::floor:
      return Branching{pool.apply(Op::sin, pool.multiply(pool.constant(std::numbers::pi), x)),
                       pool.apply(Op::floor, x)};
    case Op::wrap: {
      const Expr boxes = pool.divide(x, node.arguments[1]);
      return Branching{pool.apply(Op::cos, pool.multiply(pool.constant(std::numbers::pi), boxes)),
                       pool.apply(Op::floor, pool.add(boxes, pool.constant(0.5)))};
    }
    default:
      return std::nullopt;
  }
}

// The function with its branch given.
Expr on_branch(Expressions& pool, const Node& node, Expr branch) {
  const Expr x = node.arguments[0], y = node.arguments[1];
  switch (node.op) {
    case Op::abs:
      return pool.multiply(branch, x);
    case Op::minimum:
      return pool.if_less(pool.zero(), branch, y, x);
    case Op::maximum:
      return pool.if_less(branch, pool.zero(), y, x);
    case Op::wrap:
      return pool.subtract(x, pool.multiply(y, branch));
    default:
      return branch;
  }
}

}  // namespace

// Steps end at the jumps and kinks of an integrand, so that it is smooth within a step. Below operations that
// rounding can make undefined the integrand keeps its own formula, and only the root is located.
void collect_kinks(System& system) {
  Expressions& pool = *system.pool;
  const std::vector<Domain> above = domains_above(system, system.integrands);
  Replacements kept;
  std::vector<Expr> others;
  for (const Expr e : pool.reachable(system.integrands)) {
    const Node node = pool.node(e);
    const std::optional<Branching> branching = branching_of(pool, node);
    if (!branching || !has_roots(pool, branching->root)) continue;
    if (!keeps_branch(node, above[e.id])) {
      others.push_back(branching->root);
      continue;
    }
    auto known = std::find(system.branches.begin(), system.branches.end(), branching->branch);
    if (known == system.branches.end()) {
      system.kinks.push_back(branching->root);
      known = system.branches.insert(known, branching->branch);
    }
    const auto place = static_cast<std::size_t>(known - system.branches.begin());
    Node inner = node;  // its arguments come before it and are replaced already
    for (std::size_t i = 0; i < static_cast<std::size_t>(arity(node.op)); ++i)
      inner.arguments[i] = replaced(pool, node.arguments[i], kept);
    kept[e.id] = on_branch(pool, inner, pool.symbol(SymbolKind::branch, place));
  }
  for (const Expr root : others)
    if (std::find(system.kinks.begin(), system.kinks.end(), root) == system.kinks.end())
      system.kinks.push_back(root);
  for (Expr& integrand : system.integrands) integrand = replaced(pool, integrand, kept);
}

// Bounds of functions whose arguments have a pole. Beside a pole at the distance d the argument u of an outer
// function, as in atan(tan(x)), is about 1/d and may run by a share of itself only: steps of a share of d,
// which never pass the pole, although the outer function may be smooth there. Within the width of the pole a
// step may therefore always have the length that the denominator itself allows.
class PoleBounds {
 public:
  explicit PoleBounds(System& system) : system_(system), pool_(*system.pool) {}

  // `longest`, or beside a pole of the argument as far as the argument runs in the step allowed there.
  Expr widened(Expr argument, Expr rate, Expr longest) const {
    for (const Expr e : pool_.reachable({argument}))
      if (const auto pole = allowed_.find(e.id); pole != allowed_.end())
        longest = pool_.apply(Op::maximum, longest, pool_.multiply(pole->second, pool_.apply(Op::abs, rate)));
    return longest;
  }
  // Notes that `e` has a pole at the roots of `denominator`.
  void add(Expr e, Expr denominator) {
    const Expr rate = rate_of_turn(system_, denominator);
    if (pool_.is_zero(rate)) return;
    const Expr size = pool_.apply(Op::abs, denominator);
    const Expr time = pool_.apply(Op::abs, pool_.divide(share_of(pool_, denominator), rate));
    allowed_[e.id] = pool_.if_less(size, pool_.constant(pole_width), time, pool_.zero());
  }

 private:
  System& system_;
  Expressions& pool_;
  std::unordered_map<std::uint32_t, Expr> allowed_;  // function with a pole -> step allowed beside it, else 0
};

// Equations have no events, so their arguments do not bound the step. Arguments that contain multipliers do
// not either: their rates are no functions of the state.
void collect_turns(System& system) {
  Expressions& pool = *system.pool;
  std::vector<Expr> roots;
  for (const Constraint& constraint : system.constraints)
    if (!constraint.equation) roots.push_back(constraint.value);
  for (const WatchFormula& watch : system.watches) roots.push_back(watch.value);
  if (system.stop) roots.push_back(*system.stop);
  for (const ReductionFormula& formula : system.reductions)
    if (is_extreme(formula)) roots.push_back(formula.value);
  roots.insert(roots.end(), system.kinks.begin(), system.kinks.end());
  PoleBounds poles(system);
  for (const Expr e : pool.reachable(roots)) {  // arguments come before the functions of them
    const Node node = pool.node(e);
    const std::optional<Run> run = longest_run(pool, node);
    if (!run || mentions_reactions(pool, run->argument) || mentions_reactions(pool, run->longest)) continue;
    const Expr rate = rate_of_turn(system, run->argument);
    if (!pool.is_zero(rate)) system.turns.push_back({rate, poles.widened(run->argument, rate, run->longest)});
    if (run->pole) poles.add(e, *run->pole);
  }
}

}  // namespace zwang
