// The functions of the emitted model that eliminate multipliers: motion, steps onto the conditions, events in registers.
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "src/emit/function.h"
#include "src/emit/model_writer.h"
#include "src/emit/rewrite.h"
#include "src/emit/solve.h"
#include "src/expression/derivative.h"
#include "src/expression/expression.h"
#include "src/system/system.h"

namespace zwang {

namespace {

using Formulas = std::vector<Expr>;

// d log rho/dt = -div [voss-11], div = sum_k da_k/dv_k + sum_j dz'_j/dz_j, by differentiating the expressions
// of the motion. Terms that do not depend on velocities (Phi and its factors, for conditions linear in them)
// are shared.
Expr density_rate(Expressions& pool, const Formulas& acceleration, const Formulas& auxiliary) {
  Expr rate = pool.zero();
  for (std::size_t k = 0; k < acceleration.size(); ++k)
    rate = pool.subtract(
        rate, derivative(pool, acceleration[k], {SymbolKind::velocity, static_cast<std::uint32_t>(k)}));
  for (std::size_t j = 0; j < auxiliary.size(); ++j)
    rate = pool.subtract(
        rate, derivative(pool, auxiliary[j], {SymbolKind::auxiliary, static_cast<std::uint32_t>(j)}));
  return rate;
}

}  // namespace

// With the multipliers and the states of the conditions replaced.
Formulas ModelWriter::with(const Replacements& replacements, const Formulas& formulas) const {
  Formulas list;
  for (const Expr e : formulas) list.push_back(replaced(pool_, e, replacements));
  return list;
}

Formulas ModelWriter::auxiliary_rates(const Formulas& acceleration, const Replacements& replacements) const {
  Formulas rates = with(replacements, system_.rates);
  if (system_.density) rates[*system_.density] = density_rate(pool_, acceleration, rates);
  return rates;
}

void ModelWriter::add_motion() {
  const SymbolicMotion motion = solve_motion(system_);
  Replacements solved;
  for (std::size_t i = 0; i < system_.constraints.size(); ++i)
    solved[pool_.symbol(SymbolKind::multiplier, i).id] = motion.multipliers[i];
  FunctionCase made;
  made.stages = motion.stages;
  append_array(made, "lambda", motion.multipliers);
  append_array(made, "rate",
               motion_rates(system_, motion.acceleration, auxiliary_rates(motion.acceleration, solved),
                            with(solved, system_.integrands), replaced(pool_, motion.work, solved)));
  add("rates of q, v, z, integrals and work with the conditions held that `held` names, and their "
      "multipliers",
      "void", "motion", {{"const R*", "w"}, {"const R*", "held"}, {"R*", "rate"}, {"R*", "lambda"}}, {made})
      .role = FunctionRole::motion;
}

void ModelWriter::add_free_motion() {
  Replacements nothing_held;
  for (std::size_t i = 0; i < system_.constraints.size(); ++i) {
    const Expr lambda = pool_.symbol(SymbolKind::multiplier, i), held = pool_.symbol(SymbolKind::closed, i);
    nothing_held[lambda.id] = nothing_held[held.id] = pool_.zero();
  }
  FunctionCase free;
  const Formulas acceleration = solve_free_motion(system_);
  const Formulas rates = motion_rates(system_, acceleration, auxiliary_rates(acceleration, nothing_held),
                                      with(nothing_held, system_.integrands), system_.power);
  append_array(free, "rate", rates);
  free_rates_.assign(rates.begin() + static_cast<std::ptrdiff_t>(system_.size()), rates.end());
  add("the same with no condition held", "void", "free_motion", {{"const R*", "w"}, {"R*", "rate"}}, {free})
      .role = FunctionRole::free_motion;
}

void ModelWriter::add_steps() {
  const auto add_step = [this](const SymbolicStep& step, const std::string& comment, const std::string& name,
                               const std::string& residual, const std::string& change) {
    FunctionCase made = fill_array(pool_, residual, step.residuals);
    append_array(made, change, step.change);
    made.stages = step.stages;
    add(comment, "void", name, {{"const R*", "held"}, {"R*", residual}, {"R*", change}}, {made}).role =
        FunctionRole::in_steps;
  };
  add_step(solve_position_step(system_), "f of the position conditions held, and the smallest step onto them",
           "position_step", "f", "dq");
  add_step(solve_velocity_step(system_), "f' or g of the conditions held, and the smallest step onto them",
           "velocity_step", "f_rate", "dv");
}

// Only where the rows may become dependent.
void ModelWriter::add_dependence() {
  const SymbolicDependence dependence = solve_dependence(system_);
  add("smallest pivot of Phi over its diagonal entry", "R", "pivot_share", {{"const R*", "held"}},
      {{dependence.stages, {{"", dependence.share}}}})
      .role = FunctionRole::in_steps;
}

// The functions with which lanes handle a common event in registers (kernels/lanes/fast_event.h).
void ModelWriter::add_light_events() {
  const std::size_t n = system_.size();
  const auto pick = [this](auto part) {
    return of_conditions([part](const Constraint& c) { return c.*part; });
  };
  FunctionCase rows = fill_array(pool_, "value", pick(&Constraint::value));
  append_array(rows, "rate", pick(&Constraint::rate));
  append_array(rows, "rest", pick(&Constraint::rest));
  Formulas a(n * system_.constraints.size(), pool_.zero());
  for (std::size_t i = 0; i < system_.constraints.size(); ++i) {
    const Constraint& constraint = system_.constraints[i];
    for (std::size_t k = 0; k < constraint.columns.size(); ++k)
      a[i * n + constraint.columns[k]] = constraint.row[k];
  }
  append_array(rows, "a", a);
  add("f, f', c and A of every condition", "void", "rows",
      {{"R*", "value"}, {"R*", "rate"}, {"R*", "rest"}, {"R*", "a"}}, {rows})
      .role = FunctionRole::in_steps;

  const SymbolicStep step = solve_velocity_step(system_);
  FunctionCase strike = fill_array(pool_, "dv", step.change);
  append_array(strike, "impulse", step.multipliers);
  append_array(strike, "weight", step.weights);
  strike.stages = step.stages;
  add("a shock without rebound of the conditions held, its impulses, and the diagonal of Phi", "void",
      "strike", {{"const R*", "held"}, {"R*", "dv"}, {"R*", "impulse"}, {"R*", "weight"}}, {strike})
      .role = FunctionRole::in_steps;

  Formulas diagonal(n, pool_.zero());
  for (const MassEntry& entry : system_.mass)
    if (entry.row == entry.column) diagonal[entry.row] = entry.value;
  const SymbolicSizes sizes = solve_sizes(system_);
  FunctionCase scales = fill_array(pool_, "m", diagonal);
  append_array(scales, "e", pick(&Constraint::restitution));
  append_array(scales, "reaction", pick(&Constraint::reach));
  scales.outputs.push_back({"push", sizes.push});
  scales.outputs.push_back({"speed", sizes.speed});
  add("the diagonal of M, restitutions, reactions per unit of multiplier; Q M^-1 Q and v M v", "void",
      "scales", {{"R*", "m"}, {"R*", "e"}, {"R*", "reaction"}, {"R&", "push"}, {"R&", "speed"}}, {scales})
      .role = FunctionRole::event_scales;
}

}  // namespace zwang
