// Compilation of the expressions that a motion evaluates.
#include "src/reference/motion_formulas.h"

#include "src/system/row_structure.h"
#include "src/system/system.h"

namespace zwang {

double parameter_value(const Equations& equations, Expr e) {
  return equations.evaluate(Program(*equations.system().pool, {e}), State{});
}

MotionFormulas::MotionFormulas(const Equations& equations) {
  const System& system = equations.system();
  const Expressions& pool = *system.pool;
  std::vector<Expr> roots;
  for (const NamedExpr& observable : system.observables) roots.push_back(observable.value);
  observables = Program(pool, roots);
  if (system.density) divergence.emplace(equations);
  integrands = Program(pool, system.integrands);
  if (system.stop) stop = Program(pool, {*system.stop});
  for (const WatchFormula& watch : system.watches) watches.push_back(Program(pool, {watch.value}));
  roots.clear();
  for (const Turn& turn : system.turns) roots.insert(roots.end(), {turn.rate, turn.longest});
  turns = Program(pool, roots);
  for (const Expr kink : system.kinks) kinks.push_back(Program(pool, {kink}));
  for (const Expr branch : system.branches) branches.push_back(Program(pool, {branch}));
  for (const Transition& transition : system.transitions)
    transitions.push_back(Program(pool, {transition.value}));
  for (const Constraint& constraint : system.constraints) {
    reaches.push_back(Program(pool, {constraint.reach}));
    restitution.push_back(parameter_value(equations, constraint.restitution));
  }
  rows_may_become_dependent = zwang::rows_may_become_dependent(system);
}

}  // namespace zwang
