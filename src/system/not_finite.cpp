// Searches the formulas of a system, operation by operation, for the first one without a finite value.
#include "src/system/not_finite.h"

#include <cmath>
#include <span>
#include <vector>

#include "src/base/error.h"
#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"
#include "src/expression/print_expression.h"
#include "src/system/system.h"

namespace zwang {

namespace {

struct NamedFormula {
  std::string name;
  Expr value;
  bool positive = false;  // must be > 0, not only finite
};

// The formulas as the study writes them come before those derived from them.
std::vector<NamedFormula> formulas_of(const System& system) {
  std::vector<NamedFormula> list;
  for (const Point& point : system.points)
    list.push_back({"the mass of '" + point.name + "'", point.mass, true});
  list.push_back({"the kinetic energy", system.kinetic});
  list.push_back({"the potential", system.potential});
  for (std::size_t i = 0; i < system.gravity.size(); ++i)
    list.push_back({"gravity, entry " + std::to_string(i + 1), system.gravity[i]});
  for (std::size_t i = 0; i < system.force.size(); ++i)
    list.push_back({"the force on " + system.coordinates[i], system.force[i]});
  for (std::size_t i = 0; i < system.rates.size(); ++i)
    list.push_back({"the rate of " + system.auxiliaries[i], system.rates[i]});
  for (const ConditionFormula& condition : system.conditions)
    list.push_back({"the constraint '" + condition.name + "'", condition.value});
  for (const MassEntry& entry : system.mass) {
    const bool diagonal = entry.row == entry.column;
    list.push_back({"the " + std::string(diagonal ? "inertia of " : "mass matrix entry of ") +
                        system.coordinates[entry.row] +
                        (diagonal ? "" : " and " + system.coordinates[entry.column]),
                    entry.value, diagonal});
  }
  for (std::size_t i = 0; i < system.applied.size(); ++i)
    list.push_back({"the generalized force on " + system.coordinates[i], system.applied[i]});
  for (const Constraint& constraint : system.constraints) {
    list.push_back({"the rate of the constraint '" + constraint.name + "'", constraint.rate});
    list.push_back({"the second derivative of the constraint '" + constraint.name + "'", constraint.rest});
    for (const Expr entry : constraint.row)
      list.push_back({"the gradient of the constraint '" + constraint.name + "'", entry});
  }
  for (const WatchFormula& watch : system.watches)
    list.push_back({"the event '" + watch.name + "'", watch.value});
  if (system.stop) list.push_back({"[time] stop", *system.stop});
  for (const Expr integrand : system.integrands) list.push_back({"the integrand of a measure", integrand});
  return list;
}

// The first operation of a formula that turns finite arguments into a value that is not finite.
std::string first_failure(const System& system, const Inputs<double>& inputs, Expr root) {
  const Expressions& pool = *system.pool;
  std::vector<double> values(root.id + 1, 0.0);
  for (const Expr e : pool.reachable({root})) {
    const Node& node = pool.node(e);
    if (node.op == Op::constant) {
      values[e.id] = node.value;
      continue;
    }
    const auto argument = [&](std::size_t k) { return values[node.arguments[k].id]; };
    values[e.id] = node.op == Op::symbol
                       ? inputs[node.symbol]
                       : apply_operation<double>(node.op, argument(0), argument(1), argument(2), argument(3));
    if (std::isfinite(values[e.id])) continue;
    constexpr std::size_t longest = 80;
    std::string text = expression_text(pool, e, system.namer(), longest) + " = " + number_text(values[e.id]);
    for (int k = 0; node.op != Op::symbol && k < arity(node.op); ++k) {
      const Expr used = node.arguments[static_cast<std::size_t>(k)];
      if (!pool.is_constant(used))
        text += ", " + expression_text(pool, used, system.namer(), longest) + " = " +
                number_text(values[used.id]);
    }
    return text;
  }
  return "";
}

double value_of(const System& system, const Inputs<double>& inputs, Expr e) {
  return Program(*system.pool, {e}).run<double>(inputs).front();
}

bool mentions_branches(const Expressions& pool, Expr e) { return pool.mentions(e, SymbolKind::branch); }

std::string failure_at(const Equations& equations, const State& state) {
  const System& system = equations.system();
  const auto span_of = [](const Eigen::VectorXd& x) {
    return std::span<const double>(x.data(), static_cast<std::size_t>(x.size()));
  };
  Eigen::VectorXd modes = state.modes;
  if (modes.size() == 0) modes.setZero(static_cast<Eigen::Index>(system.modes));
  const Inputs<double> inputs{.time = state.t,
                              .parameters = equations.parameters(),
                              .coordinates = span_of(state.q),
                              .velocities = span_of(state.v),
                              .auxiliaries = span_of(state.z),
                              .modes = span_of(modes)};
  for (const NamedFormula& formula : formulas_of(system)) {
    if (mentions_reactions(*system.pool, formula.value) || mentions_branches(*system.pool, formula.value))
      continue;
    const double value = value_of(system, inputs, formula.value);
    if (!std::isfinite(value)) {
      const std::string failure = first_failure(system, inputs, formula.value);
      return formula.name + ": " + (failure.empty() ? number_text(value) : failure);
    }
    if (formula.positive && !(value > 0)) {
      const bool plain = system.pool->node(formula.value).op == Op::constant;
      return formula.name + ": " +
             (plain ? "" : expression_text(*system.pool, formula.value, system.namer(), 80) + " = ") +
             number_text(value) + ", not positive";
    }
  }
  return "";
}

}  // namespace

std::string describe_not_finite(const Equations& equations, const State& state, bool ahead) {
  std::string text = failure_at(equations, state);
  if (!ahead || !text.empty() || !state.v.allFinite()) return text;
  // In units of the time in which the state moves by its own size.
  const double size = std::max(state.q.lpNorm<Eigen::Infinity>(), 1e-300),
               speed = std::max(state.v.lpNorm<Eigen::Infinity>(), 1e-300);
  const double unit = std::isfinite(size / speed) ? size / speed : 1;
  for (double share = 1e-15; share < 20; share *= 10) {
    State next = state;
    next.q += share * unit * state.v;
    next.t += share * unit;
    text = failure_at(equations, next);
    if (!text.empty()) return text;
  }
  return "";
}

}  // namespace zwang
