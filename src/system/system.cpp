#include "src/system/system.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "kernels/base/layout.h"
#include "src/expression/derivative.h"
#include "src/system/general_variation.h"

namespace zwang {

namespace {

// The points' own kinetic energy and gravity's potential, beside what the user wrote.
void add_points(System& system) {
  Expressions& pool = *system.pool;
  system.kinetic_energy = system.kinetic;
  system.potential_energy = system.potential;
  for (const Point& point : system.points) {
    for (std::size_t k = 0; k < point.dimension; ++k) {
      const Expr v = pool.symbol(SymbolKind::velocity, point.first + k);
      const Expr half_mass = pool.multiply(pool.constant(0.5), point.mass);
      system.kinetic_energy = pool.add(system.kinetic_energy, pool.multiply(half_mass, pool.square(v)));
      if (k >= system.gravity.size()) continue;
      const Expr q = pool.symbol(SymbolKind::coordinate, point.first + k);
      const Expr weight = pool.multiply(point.mass, system.gravity[k]);
      system.potential_energy = pool.subtract(system.potential_energy, pool.multiply(weight, q));
    }
  }
}

void derive_mass(System& system, const std::vector<Expr>& momentum) {
  Expressions& pool = *system.pool;
  for (std::size_t i = 0; i < system.size(); ++i)
    for (const Symbol& symbol : pool.symbols({momentum[i]})) {
      if (symbol.kind != SymbolKind::velocity || symbol.index > i) continue;
      const Expr entry = derivative(pool, momentum[i], symbol);
      if (!pool.is_zero(entry)) system.mass.push_back({i, symbol.index, entry});
    }
}

// Q = F - V_q - (T_vq v + T_vt - T_q); total_derivative of T_v is just T_vq v + T_vt.
void derive_force(System& system, const std::vector<Expr>& momentum) {
  Expressions& pool = *system.pool;
  for (std::size_t i = 0; i < system.size(); ++i) {
    const Symbol q{SymbolKind::coordinate, static_cast<std::uint32_t>(i)};
    Expr total = pool.subtract(system.force[i], derivative(pool, system.potential_energy, q));
    total = pool.subtract(total, total_derivative(pool, momentum[i]));
    total = pool.add(total, derivative(pool, system.kinetic_energy, q));
    system.applied.push_back(total);
  }
}

// [voss] Energy law. With h = T_v v - T + V: dh/dt = F v + V_t - T_t - (power -lambda A v of the conditions).
// For T quadratic in v and free of t, h is T + V.
void derive_energy(System& system, const std::vector<Expr>& momentum) {
  Expressions& pool = *system.pool;
  const Symbol t{SymbolKind::time, 0};
  Expr twice = pool.zero();
  system.power =
      pool.subtract(derivative(pool, system.potential_energy, t), derivative(pool, system.kinetic_energy, t));
  for (std::size_t i = 0; i < system.size(); ++i) {
    const Expr v = pool.symbol(SymbolKind::velocity, i);
    twice = pool.add(twice, pool.multiply(momentum[i], v));
    if (!pool.is_zero(system.force[i]))
      system.power = pool.add(system.power, pool.multiply(system.force[i], v));
  }
  system.energy = pool.add(pool.subtract(twice, system.kinetic_energy), system.potential_energy);
}

void collect_integrands(System& system) {
  for (Measure& measure : system.measures) {
    if (measure.reduction != Reduction::integral && measure.reduction != Reduction::mean) continue;
    measure.integral = system.integrands.size();
    system.integrands.push_back(measure.value);
  }
}

// d/dt as far as the state tells it: accelerations are left out, and rates known only with them.
Expr rate_of_turn(System& system, Expr argument) {
  Expressions& pool = *system.pool;
  Expr rate = total_derivative(pool, argument);
  for (const Symbol& symbol : pool.symbols({argument})) {
    if (symbol.kind != SymbolKind::auxiliary) continue;
    const Expr own = system.rates[symbol.index];
    if (pool.mentions(own, SymbolKind::multiplier)) continue;
    rate = pool.add(rate, pool.multiply(derivative(pool, argument, symbol), own));
  }
  return rate;
}

// Half of a denominator: 1/(w^2 + x^2) is a bump too. A thousandth more, since halving what goes through zero has no end, and
// steps too short for the clock: a float's has seven digits.
Expr share_of(Expressions& pool, Expr denominator) {
  return pool.add(pool.constant(1e-3), pool.multiply(pool.constant(0.5), pool.apply(Op::abs, denominator)));
}

// What comes and goes with its argument, and how far that may run within one step.
struct Run {
  Expr argument, longest;
};

std::optional<Run> longest_run(Expressions& pool, const Node& node) {
  const Expr x = node.arguments[0];
  switch (node.op) {
    // A quarter of a box, or one radian: eleven samples of a step then see every image and every swing.
    case Op::wrap:
      return Run{x, pool.multiply(pool.constant(0.25), node.arguments[1])};
    case Op::floor:
      return Run{x, pool.constant(0.25)};
    case Op::sin:
    case Op::cos:
    case Op::tan:
      return Run{x, pool.one()};
    // Steps and bumps, exp(-x^2): what matters is near 0, and far from there the argument may run in proportion.
    case Op::exp:
    case Op::tanh:
    case Op::atan:
      return Run{x, pool.add(pool.one(), pool.multiply(pool.constant(0.25), pool.apply(Op::abs, x)))};
    case Op::log:
      return Run{x, share_of(pool, x)};
    case Op::divide:
      return Run{node.arguments[1], share_of(pool, node.arguments[1])};
    case Op::atan2: {  // turns about at once where both are near zero
      const Expr distance = pool.apply(Op::hypot, x, node.arguments[1]);
      return Run{distance, share_of(pool, distance)};
    }
    case Op::power:
      if (!pool.is_constant(node.arguments[1]) || pool.node(node.arguments[1]).value >= 0)
        return std::nullopt;
      return Run{x, share_of(pool, x)};
    default:
      return std::nullopt;
  }
}

// Equations hold all the time: nothing is looked for in them.
void collect_turns(System& system) {
  Expressions& pool = *system.pool;
  std::vector<Expr> roots;
  for (const Constraint& constraint : system.constraints)
    if (!constraint.equation) roots.push_back(constraint.value);
  for (const WatchFormula& watch : system.watches) roots.push_back(watch.value);
  if (system.stop) roots.push_back(*system.stop);
  for (const Measure& measure : system.measures)
    if (is_extreme(measure)) roots.push_back(measure.value);
  roots.insert(roots.end(), system.kinks.begin(), system.kinks.end());
  for (const Expr e : pool.reachable(roots)) {
    const Node node = pool.node(e);
    const std::optional<Run> run = longest_run(pool, node);
    if (!run) continue;
    const Expr rate = rate_of_turn(system, run->argument);
    if (!pool.is_zero(rate)) system.turns.push_back({rate, run->longest});
  }
}

// Something whose roots a step can look for: it moves, and is a function of the state. A multiplier is none; kinks in those are
// left to the step size.
bool has_roots(const Expressions& pool, Expr e) {
  bool moves = false;
  for (const Symbol& symbol : pool.symbols({e})) {
    if (symbol.kind == SymbolKind::multiplier || symbol.kind == SymbolKind::closed) return false;
    moves = moves || symbol.kind != SymbolKind::parameter;
  }
  return moves;
}

// Nodes that something stands on which is not defined everywhere: a root of what may be less than zero by a rounding.
std::vector<char> under_edges(const Expressions& pool, const std::vector<Expr>& roots) {
  std::vector<char> under(pool.size(), 0);
  const std::vector<Expr> nodes = pool.reachable(roots);
  for (auto e = nodes.rbegin(); e != nodes.rend(); ++e) {
    const Node& node = pool.node(*e);
    const bool whole = node.op == Op::power && pool.is_constant(node.arguments[1]) &&
                       std::floor(pool.node(node.arguments[1]).value) == pool.node(node.arguments[1]).value;
    const bool edge = node.op == Op::sqrt || node.op == Op::log || node.op == Op::asin ||
                      node.op == Op::acos || (node.op == Op::power && !whole);
    for (int i = 0; i < arity(node.op); ++i)
      under[node.arguments[static_cast<std::size_t>(i)].id] |= edge || under[e->id];
  }
  return under;
}

// A function that has a root where it jumps or bends, and what is constant from one root to the next.
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

// The function while its branch is known.
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

// Steps end where an integrand jumps or bends, and between those places it is smooth. Where it is not defined a rounding
// further on, it stays as the study has it.
void collect_kinks(System& system) {
  Expressions& pool = *system.pool;
  const std::vector<char> under = under_edges(pool, system.integrands);
  Replacements kept;
  std::vector<Expr> others;
  for (const Expr e : pool.reachable(system.integrands)) {
    const Node node = pool.node(e);
    const std::optional<Branching> branching = branching_of(pool, node);
    if (!branching || !has_roots(pool, branching->root)) continue;
    if (under[e.id]) {
      others.push_back(branching->root);
      continue;
    }
    auto known = std::find(system.branches.begin(), system.branches.end(), branching->branch);
    if (known == system.branches.end()) {
      system.kinks.push_back(branching->root);
      known = system.branches.insert(known, branching->branch);
    }
    const auto place = static_cast<std::size_t>(known - system.branches.begin());
    Node inner = node;  // what it stands on came before it
    for (std::size_t i = 0; i < static_cast<std::size_t>(arity(node.op)); ++i)
      inner.arguments[i] = replaced(pool, node.arguments[i], kept);
    kept[e.id] = on_branch(pool, inner, pool.symbol(SymbolKind::branch, place));
  }
  for (const Expr root : others)
    if (std::find(system.kinks.begin(), system.kinks.end(), root) == system.kinks.end())
      system.kinks.push_back(root);
  for (Expr& integrand : system.integrands) integrand = replaced(pool, integrand, kept);
}

}  // namespace

Constraint derive_constraint(Expressions& pool, const ConditionFormula& formula) {
  Constraint made;
  static_cast<ConditionFormula&>(made) = formula;
  made.moving = pool.mentions(formula.value, SymbolKind::time);
  // A = f_q, c = d/dt of f' at a = 0 [mayer-16]; for velocity conditions A = g_v, c = g_q v + g_t: that g enters by g_v
  // alone makes the path the straightest [maurer-8] [voss-4..6].
  const SymbolKind kind = formula.holonomic ? SymbolKind::coordinate : SymbolKind::velocity;
  made.rate = formula.holonomic ? total_derivative(pool, formula.value) : formula.value;
  made.rest = total_derivative(pool, made.rate);
  for (const Symbol& symbol : pool.symbols({formula.value})) {
    if (symbol.kind != kind) continue;
    const Expr entry = derivative(pool, formula.value, symbol);
    if (pool.is_zero(entry)) continue;
    made.columns.push_back(symbol.index);
    made.row.push_back(entry);
    if (pool.mentions(entry, SymbolKind::velocity)) made.linear = false;
  }
  Expr squares = pool.zero();
  for (const Expr entry : made.row) squares = pool.add(squares, pool.square(entry));
  made.reach = formula.end_gradient ? *formula.end_gradient : pool.apply(Op::sqrt, squares);
  return made;
}

System::System(Description description) : Description(std::move(description)) {
  Expressions& expressions = *pool;
  force.resize(size(), expressions.zero());
  add_points(*this);
  std::vector<Expr> momentum;  // T_v
  for (std::size_t i = 0; i < size(); ++i)
    momentum.push_back(
        derivative(expressions, kinetic_energy, {SymbolKind::velocity, static_cast<std::uint32_t>(i)}));
  derive_mass(*this, momentum);
  derive_force(*this, momentum);
  derive_energy(*this, momentum);
  for (const ConditionFormula& formula : conditions)
    constraints.push_back(derive_constraint(expressions, formula));
  vary_generally(*this);
  collect_integrands(*this);
  collect_kinks(*this);
  collect_turns(*this);
}

bool System::any_general() const {
  return std::any_of(conditions.begin(), conditions.end(),
                     [](const ConditionFormula& c) { return c.general.has_value(); });
}

bool System::impulses_shift() const {
  return std::none_of(impulses.begin(), impulses.end(), [this](const ImpulseFormula& impulse) {
    return std::any_of(impulse.amounts.begin(), impulse.amounts.end(),
                       [this](Expr e) { return pool->mentions(e, SymbolKind::velocity); });
  });
}

std::string System::symbol_name(const Symbol& symbol) const {
  switch (symbol.kind) {
    case SymbolKind::parameter:
      return parameters[symbol.index];
    case SymbolKind::coordinate:
      return coordinates[symbol.index];
    case SymbolKind::velocity:
      return coordinates[symbol.index] + "'";
    case SymbolKind::auxiliary:
      return auxiliaries[symbol.index];
    case SymbolKind::multiplier:
      return "multiplier(" + conditions[symbol.index].name + ")";
    case SymbolKind::closed:
      return "closed(" + conditions[symbol.index].name + ")";
    default:
      return "t";
  }
}

}  // namespace zwang
