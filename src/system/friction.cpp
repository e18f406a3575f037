// Derivation of cones, drags, transitions and dissipated energies.
#include "src/system/friction.h"

#include "src/expression/expression.h"
#include "src/expression/operation.h"
#include "src/expression/vector_algebra.h"

namespace zwang {

namespace {

Expr mode(Expressions& pool, std::size_t index) { return pool.symbol(SymbolKind::mode, index); }

// The unit vector along which friction acts [friction-3]. In the plane it is the sign that the slip had at the
// start of the phase: taken at each stage, the sign would chatter at the end of the phase. In space it is the
// direction of the line of s, on the side of the direction e that the slip had: s sign(s e)/|s|. It continues
// smoothly through s = 0, as the sign in the plane does. Where slip begins, s = 0 has no direction: a speed of
// the size of rounding along e is added.
std::vector<Expr> slip_direction(Expressions& pool, std::size_t first_mode, const std::vector<Expr>& slip) {
  if (slip.size() == 1) return {mode(pool, first_mode)};
  std::vector<Expr> e, shifted;
  const Expr rounding = mode(pool, first_mode + 2);
  for (std::size_t k = 0; k < 2; ++k) {
    e.push_back(mode(pool, first_mode + k));
    shifted.push_back(pool.add(slip[k], pool.multiply(rounding, e[k])));
  }
  const Expr side = pool.apply(Op::sign, dot(pool, shifted, e)), size = length_of(pool, shifted);
  const Expr scale = pool.if_less(pool.zero(), size, pool.divide(side, size), pool.zero());
  return {pool.multiply(shifted[0], scale), pool.multiply(shifted[1], scale)};
}

void add_friction(System& system, std::size_t contact) {
  Expressions& pool = *system.pool;
  const Constraint& constraint = system.constraints[contact];
  Friction made;
  made.contact = contact;
  made.first_mode = constraint.friction->first_mode;
  std::vector<Expr> slip, forces, directions;
  for (std::size_t j = 0; j < system.constraints.size(); ++j) {
    if (system.constraints[j].slip_of != contact) continue;
    directions.push_back(mode(pool, made.first_mode + made.rows.size()));
    made.rows.push_back(j);
    slip.push_back(system.constraints[j].rate);
    forces.push_back(pool.symbol(SymbolKind::multiplier, j));
  }
  made.cone = friction_cone(pool, constraint, constraint.friction->coefficient);
  made.cone_static = friction_cone(pool, constraint, constraint.friction->coefficient_static);
  made.drag = friction_drag(pool, constraint, slip);

  const Expr normal = pool.symbol(SymbolKind::multiplier, contact);
  const Expr beyond_cone = pool.subtract(length_of(pool, forces), pool.multiply(made.cone_static, normal));
  const std::size_t number = system.frictions.size();
  system.transitions.push_back({TransitionKind::slide, number, beyond_cone});
  // In space the motion across the slip decays ever faster as the slip vanishes, and steps come ever closer to its
  // end without reaching it: a slip within rounding has ended [friction-8].
  const Expr rounding = made.rows.size() == 1 ? pool.zero() : mode(pool, made.first_mode + 2);
  system.transitions.push_back(
      {TransitionKind::stick, number, pool.subtract(rounding, dot(pool, slip, directions))});
  if (constraint.dissipated)
    system.rates[*constraint.dissipated] = pool.multiply(normal, dot(pool, made.drag, slip));
  system.frictions.push_back(std::move(made));
}

// A yielding condition is the known force -A^T L sign(s) [limit-2]. A condition on positions holds again at the
// place where it stopped [limit-1].
void add_yield(System& system, Bound& made) {
  Expressions& pool = *system.pool;
  Constraint& constraint = system.constraints[made.condition];
  made.sign = constraint.limit->sign;
  const Expr force = yield_force(pool, *constraint.limit);
  Expr speed = pool.zero();
  for (std::size_t k = 0; k < constraint.columns.size(); ++k) {
    Expr& applied = system.applied[constraint.columns[k]];
    applied = pool.subtract(applied, pool.multiply(constraint.row[k], force));
    const Expr v = pool.symbol(SymbolKind::velocity, constraint.columns[k]);
    speed = pool.add(speed, pool.multiply(constraint.row[k], v));
  }
  system.power = pool.subtract(system.power, pool.multiply(force, speed));
  if (constraint.dissipated) system.rates[*constraint.dissipated] = pool.multiply(force, constraint.rate);
  if (!constraint.holonomic) return;
  made.offset = constraint.limit->offset;
  constraint.value = pool.subtract(constraint.value, mode(pool, *made.offset));
}

void add_bound(System& system, std::size_t condition) {
  Expressions& pool = *system.pool;
  Bound made;
  made.condition = condition;
  made.breaks = system.constraints[condition].limit->breaks;
  if (!made.breaks) add_yield(system, made);
  const Constraint& constraint = system.constraints[condition];
  const Expr multiplier = pool.symbol(SymbolKind::multiplier, condition);
  const Expr size = constraint.equation ? pool.apply(Op::abs, multiplier) : multiplier;
  const Expr beyond = pool.subtract(size, constraint.limit->limit);
  const std::size_t number = system.bounds.size();
  system.transitions.push_back({made.breaks ? TransitionKind::fail : TransitionKind::yield, number, beyond});
  if (made.sign) {
    const Expr back = pool.negate(pool.multiply(mode(pool, *made.sign), constraint.rate));
    system.transitions.push_back({TransitionKind::lock, number, back});
  }
  system.bounds.push_back(made);
}

// [limit-3] for a link of several rows: the norm of its force, or of its torque, against the bound.
void add_link_limit(System& system, std::size_t number) {
  Expressions& pool = *system.pool;
  const LinkLimitFormula& link = system.link_limits[number];
  std::vector<Expr> load;
  for (std::size_t k = 0; k < link.loaded; ++k)
    load.push_back(pool.symbol(SymbolKind::multiplier, link.first_loaded + k));
  system.transitions.push_back(
      {TransitionKind::part, number, pool.subtract(length_of(pool, load), link.limit)});
}

}  // namespace

bool projected_at_start(const ConditionFormula& condition, bool rate) {
  if (condition.slip_of) return false;
  const bool yields = condition.limit && !condition.limit->breaks;
  return !yields || (condition.holonomic && !rate);
}

Expr friction_cone(Expressions& pool, const Constraint& contact, Expr coefficient) {
  return contact.friction->derived ? pool.multiply(coefficient, contact.reach) : coefficient;
}

std::vector<Expr> friction_drag(Expressions& pool, const Constraint& contact, const std::vector<Expr>& slip) {
  const Expr cone = friction_cone(pool, contact, contact.friction->coefficient);
  std::vector<Expr> drag;
  for (const Expr d : slip_direction(pool, contact.friction->first_mode, slip))
    drag.push_back(pool.multiply(cone, d));
  return drag;
}

Expr yield_force(Expressions& pool, const LimitFormula& limit) {
  return limit.breaks ? pool.zero() : pool.multiply(limit.limit, mode(pool, limit.sign));
}

void derive_friction(System& system) {
  for (std::size_t i = 0; i < system.constraints.size(); ++i) {
    if (system.constraints[i].friction) add_friction(system, i);
    if (system.constraints[i].limit) add_bound(system, i);
  }
  for (std::size_t l = 0; l < system.link_limits.size(); ++l) add_link_limit(system, l);
}

}  // namespace zwang
