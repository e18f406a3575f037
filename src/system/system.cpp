// Rows of a constraint, and properties of a system.
#include "src/system/system.h"

#include <algorithm>

#include "src/expression/derivative.h"
#include "src/expression/operation.h"

namespace zwang {

bool mentions_reactions(const Expressions& pool, Expr e) {
  return pool.mentions(e, SymbolKind::multiplier) || pool.mentions(e, SymbolKind::closed);
}

Constraint derive_constraint(Expressions& pool, const ConditionFormula& formula) {
  Constraint made;
  static_cast<ConditionFormula&>(made) = formula;
  made.moving = pool.mentions(formula.value, SymbolKind::time);
  // A = f_q, c = d/dt of f' at a = 0 [mayer-16]; for velocity conditions A = g_v, c = g_q v + g_t. Because g
  // enters by g_v alone, the path is the straightest [maurer-8] [voss-4..6].
  const SymbolKind kind = formula.holonomic ? SymbolKind::coordinate : SymbolKind::velocity;
  made.rate = formula.holonomic ? total_derivative(pool, formula.value) : formula.value;
  made.rest = total_derivative(pool, made.rate);
  const auto add_column = [&](const Symbol& symbol) {
    const Expr entry = derivative(pool, formula.value, symbol);
    if (pool.is_zero(entry)) return;
    made.columns.push_back(symbol.index);
    made.row.push_back(entry);
    if (pool.mentions(entry, SymbolKind::velocity)) made.linear = false;
  };
  for (const Symbol& symbol : pool.symbols({formula.value}))
    if (symbol.kind == kind) add_column(symbol);
  if (formula.holonomic)
    for (const std::uint32_t i : pool.turning({formula.value})) add_column({SymbolKind::coordinate, i});
  Expr squares = pool.zero();
  for (const Expr entry : made.row) squares = pool.add(squares, pool.square(entry));
  made.reach = formula.end_gradient ? *formula.end_gradient : pool.apply(Op::sqrt, squares);
  if (formula.slip_of)
    made.reach = pool.one();  // tangential forces and impulses are multipliers as they stand
  return made;
}

bool System::rates_need_multipliers() const {
  return std::any_of(rates.begin(), rates.end(), [this](Expr e) { return mentions_reactions(*pool, e); });
}

bool System::does_work() const {
  if (!pool->is_zero(power)) return true;
  return std::any_of(constraints.begin(), constraints.end(),
                     [](const Constraint& c) { return c.moving || !c.holonomic; });
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

bool System::reactions_bend() const {
  const auto mentions = [this](Expr e) { return mentions_reactions(*pool, e); };
  return std::any_of(kinks.begin(), kinks.end(), mentions) || (stop && mentions(*stop)) ||
         std::any_of(watches.begin(), watches.end(),
                     [&](const WatchFormula& watch) { return mentions(watch.value); }) ||
         std::any_of(transitions.begin(), transitions.end(),
                     [&](const Transition& transition) { return mentions(transition.value); });
}

std::optional<std::size_t> only_reduction(const Expressions& pool, const Measure& measure) {
  const Node& node = pool.node(measure.value);
  if (node.op != Op::symbol || node.symbol.kind != SymbolKind::reduction) return {};
  return node.symbol.index;
}

bool Description::is_turn(std::size_t coordinate) const {
  return std::any_of(bodies.begin(), bodies.end(), [&](const Body& body) {
    return body.spatial() && coordinate >= body.first_turn() && coordinate < body.first_turn() + 3;
  });
}

bool Description::is_orientation(std::size_t auxiliary) const {
  return std::any_of(bodies.begin(), bodies.end(), [&](const Body& body) {
    return body.spatial() && auxiliary >= body.state && auxiliary < body.state + body.states();
  });
}

std::string Description::velocity_name(std::size_t coordinate) const {
  return is_turn(coordinate) ? coordinates[coordinate] : coordinates[coordinate] + "'";
}

std::size_t Description::record_room() const {
  std::size_t room = 0;
  for (const RecordFormula& record : records) room += record.room();
  return room;
}

std::vector<Expr> Description::member_value_formulas() const {
  std::vector<Expr> formulas;
  for (const Measure& measure : measures) formulas.push_back(measure.value);
  formulas.insert(formulas.end(), flags.begin(), flags.end());
  return formulas;
}

std::string System::symbol_name(const Symbol& symbol) const {
  switch (symbol.kind) {
    case SymbolKind::parameter:
      return parameters[symbol.index];
    case SymbolKind::coordinate:
      return coordinates[symbol.index];
    case SymbolKind::velocity:
      return velocity_name(symbol.index);
    case SymbolKind::auxiliary:
      return auxiliaries[symbol.index];
    case SymbolKind::multiplier:
      return "multiplier(" + conditions[symbol.index].name + ")";
    case SymbolKind::closed:
      return "closed(" + conditions[symbol.index].name + ")";
    case SymbolKind::mode:
      return "mode " + std::to_string(symbol.index + 1);
    case SymbolKind::reduction:
      return "reduction " + std::to_string(symbol.index + 1);
    default:
      return "t";
  }
}

bool is_autonomous(const System& system) {
  const auto timed = [&](Expr e) { return system.pool->mentions(e, SymbolKind::time); };
  const auto any = [](const auto& list, auto test) { return std::any_of(list.begin(), list.end(), test); };
  return !any(system.mass, [&](const MassEntry& e) { return timed(e.value); }) &&
         !any(system.applied, timed) && !any(system.rates, timed) && !any(system.kinks, timed) &&
         !any(system.integrands, timed) && !(system.stop && timed(*system.stop)) &&
         !any(system.constraints,
              [&](const Constraint& c) { return timed(c.value) || timed(c.rate) || timed(c.rest); }) &&
         !any(system.watches, [&](const WatchFormula& w) { return timed(w.value); }) &&
         !any(system.reductions,
              [&](const ReductionFormula& r) { return is_extreme(r) && timed(r.value); }) &&
         !any(system.transitions, [&](const Transition& t) { return timed(t.value); }) &&
         !any(system.frictions, [&](const Friction& f) { return timed(f.cone) || timed(f.cone_static); });
}

}  // namespace zwang
