// Derivation of a System from its description: energies, mass matrix, forces, constraint rows, kinks, turns.
#include <algorithm>

#include "kernels/base/layout.h"
#include "src/expression/derivative.h"
#include "src/expression/expression.h"
#include "src/system/body.h"
#include "src/system/friction.h"
#include "src/system/general_variation.h"
#include "src/system/kinks_and_turns.h"
#include "src/system/system.h"

namespace zwang {

namespace {

void derive_mass(System& system, const std::vector<Expr>& momentum) {
  Expressions& pool = *system.pool;
  for (std::size_t i = 0; i < system.size(); ++i)
    for (const Symbol& symbol : pool.symbols({momentum[i]})) {
      if (symbol.kind != SymbolKind::velocity || symbol.index > i) continue;
      const Expr entry = derivative(pool, momentum[i], symbol);
      if (!pool.is_zero(entry)) system.mass.push_back({i, symbol.index, entry});
    }
}

// Q = F - V_q - (T_vq v + T_vt - T_q); total_derivative of T_v is T_vq v + T_vt.
void derive_force(System& system, const std::vector<Expr>& momentum) {
  Expressions& pool = *system.pool;
  for (std::size_t i = 0; i < system.size(); ++i) {
    const Symbol q{SymbolKind::coordinate, static_cast<std::uint32_t>(i)};
    Expr total = pool.subtract(system.force[i], derivative(pool, system.potential_energy, q));
    total = pool.subtract(total, total_derivative(pool, momentum[i]));
    total = pool.add(total, derivative(pool, system.kinetic_energy, q));
    system.applied.push_back(total);
  }
  // [body-1] Lagrange's equations hold for coordinates; for body rates -omega x (I omega) is added, which does no
  // work.
  for (const Body& body : system.bodies) {
    if (!body.spatial()) continue;
    const std::vector<Expr> torque = BodyFormulas(pool, body).gyroscopic_torque();
    for (std::size_t k = 0; k < 3; ++k) {
      Expr& total = system.applied[body.first_turn() + k];
      total = pool.add(total, torque[k]);
    }
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
  for (ReductionFormula& formula : system.reductions) {
    if (formula.reduction != Reduction::integral && formula.reduction != Reduction::mean) continue;
    formula.integral = system.integrands.size();
    system.integrands.push_back(formula.value);
  }
}

}  // namespace

Expr whole_kinetic_energy(const Description& description) {
  Expressions& pool = *description.pool;
  Expr total = description.kinetic;
  for (const Point& point : description.points)
    for (std::size_t k = 0; k < point.dimension; ++k) {
      const Expr v = pool.symbol(SymbolKind::velocity, point.first + k);
      const Expr half_mass = pool.multiply(pool.constant(0.5), point.mass);
      total = pool.add(total, pool.multiply(half_mass, pool.square(v)));
    }
  for (const Body& body : description.bodies)
    total = pool.add(total, BodyFormulas(pool, body).kinetic_energy());
  return total;
}

Expr whole_potential_energy(const Description& description) {
  Expressions& pool = *description.pool;
  Expr total = description.potential;
  const auto add_weight = [&](Expr mass, std::size_t first, std::size_t dimension) {
    for (std::size_t k = 0; k < std::min(dimension, description.gravity.size()); ++k) {
      const Expr q = pool.symbol(SymbolKind::coordinate, first + k);
      total = pool.subtract(total, pool.multiply(pool.multiply(mass, description.gravity[k]), q));
    }
  };
  for (const Point& point : description.points) add_weight(point.mass, point.first, point.dimension);
  for (const Body& body : description.bodies) add_weight(body.mass, body.first, body.dimension);
  return total;
}

System::System(Description description) : Description(std::move(description)) {
  Expressions& expressions = *pool;
  force.resize(size(), expressions.zero());
  kinetic_energy = whole_kinetic_energy(*this);
  potential_energy = whole_potential_energy(*this);
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
  derive_friction(*this);
  collect_integrands(*this);
  collect_kinks(*this);
  collect_turns(*this);
}

}  // namespace zwang
