// Terms of the general variation in M, Q and the energy.
#include "src/system/general_variation.h"

#include <algorithm>

#include "src/expression/derivative.h"
#include "src/expression/expression.h"

namespace zwang {

namespace {

Symbol symbol_of(SymbolKind kind, std::size_t i) { return {kind, static_cast<std::uint32_t>(i)}; }

void add_to_mass(System& system, std::size_t row, std::size_t column, Expr amount) {
  const auto found = std::find_if(system.mass.begin(), system.mass.end(), [&](const MassEntry& entry) {
    return entry.row == row && entry.column == column;
  });
  if (found == system.mass.end())
    system.mass.push_back({row, column, amount});
  else
    found->value = system.pool->add(found->value, amount);
}

// With L + rho g in place of L [maurer-5], d/dt of its v-derivative minus its q-derivative is Q. Written out,
// g_v = A:
//   (M + rho g_vv) a = Q + rho (g_q - g_vq v - g_vt) - A^T rho'        [maurer-7] [voss-12]
// Together with A a + c = 0 this is the special problem with other M and Q, and its lambda is rho'. Special
// conditions remain unchanged, with multipliers sigma = lambda of their own [maurer-10].
void add_force_and_mass(System& system, const Constraint& g, Expr rho) {
  Expressions& pool = *system.pool;
  const auto entry = [&](std::size_t i) {
    const auto found = std::find(g.columns.begin(), g.columns.end(), i);
    return found == g.columns.end() ? pool.zero()
                                    : g.row[static_cast<std::size_t>(found - g.columns.begin())];
  };
  for (std::size_t i = 0; i < system.size(); ++i) {
    const Expr turning = pool.subtract(derivative(pool, g.value, symbol_of(SymbolKind::coordinate, i)),
                                       total_derivative(pool, entry(i)));
    if (!pool.is_zero(turning)) system.applied[i] = pool.add(system.applied[i], pool.multiply(rho, turning));
    for (std::size_t j = 0; j <= i; ++j) {
      const Expr bend = derivative(pool, entry(i), symbol_of(SymbolKind::velocity, j));
      if (!pool.is_zero(bend)) add_to_mass(system, i, j, pool.multiply(rho, bend));
    }
  }
}

// The energy of L + rho g is h = T_v v - T + V + rho (g_v v - g), with dh/dt = (power without reactions) -
// rho g_t. The reaction -lambda A of this condition, whose power -lambda A v is counted elsewhere, does no
// work on h: its power is subtracted again here.
void add_energy(System& system, const Constraint& g, Expr rho, Expr lambda) {
  Expressions& pool = *system.pool;
  Expr along = pool.zero();
  for (std::size_t k = 0; k < g.columns.size(); ++k)
    along = pool.add(along, pool.multiply(g.row[k], pool.symbol(SymbolKind::velocity, g.columns[k])));
  const Expr moves = derivative(pool, g.value, symbol_of(SymbolKind::time, 0));
  system.energy = pool.add(system.energy, pool.multiply(rho, pool.subtract(along, g.value)));
  system.power =
      pool.add(pool.subtract(system.power, pool.multiply(rho, moves)), pool.multiply(lambda, along));
}

}  // namespace

void vary_generally(System& system) {
  Expressions& pool = *system.pool;
  for (std::size_t i = 0; i < system.constraints.size(); ++i) {
    const Constraint& constraint = system.constraints[i];
    if (!constraint.general) continue;
    const Expr rho = pool.symbol(SymbolKind::auxiliary, *constraint.general);
    const Expr lambda = pool.symbol(SymbolKind::multiplier, i);
    system.rates[*constraint.general] = lambda;
    // A position condition enters as g = f'. Then g_q = f_qq v + f_qt equals d/dt f_q, the terms in rho
    // vanish, and the motion is that of the special problem.
    if (constraint.holonomic) continue;
    add_force_and_mass(system, constraint, rho);
    add_energy(system, constraint, rho, lambda);
  }
}

}  // namespace zwang
