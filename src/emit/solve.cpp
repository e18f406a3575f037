// Symbolic accelerations, multipliers and projection steps with held rows.
#include "src/emit/solve.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "src/emit/elimination.h"
#include "src/expression/derivative.h"
#include "src/expression/expression.h"

namespace zwang {

namespace {

// A sum in which x and -x cancel and x + x is 2 x: the forces on both ends of a link cancel in the total.
class Sum {
 public:
  void add(const Expressions& pool, Expr e) {
    if (pool.is_zero(e)) return;
    const auto [negative, size] = without_sign(pool, e);
    auto it = std::find_if(terms_.begin(), terms_.end(), [x = size](const auto& t) { return t.first == x; });
    if (it == terms_.end()) it = terms_.insert(it, {size, 0});
    it->second += negative ? -1 : 1;
  }
  Expr value(Expressions& pool) const {
    Expr total = pool.zero();
    const auto times = [&](int count, Expr e) { return pool.multiply(pool.constant(count), e); };
    for (const auto& [e, count] : terms_)
      if (count > 0) total = pool.add(total, times(count, e));
    for (const auto& [e, count] : terms_)
      if (count < 0) total = pool.subtract(total, times(-count, e));
    return total;
  }

 private:
  std::vector<std::pair<Expr, int>> terms_;
};

// The sum of weight * x: equal x are collected (both ends of a link), then equal weights (the coordinates of
// a point).
class WeightedSum {
 public:
  void add(Expressions& pool, Expr weight, Expr x) {
    const auto [negative, size] = without_sign(pool, x);
    sum_for(size, weights_).add(pool, negative ? pool.negate(weight) : weight);
  }
  Expr value(Expressions& pool) const {
    std::vector<std::pair<Expr, Sum>> groups;  // by weight
    for (const auto& [x, sum] : weights_) {
      const auto [negative, weight] = without_sign(pool, sum.value(pool));
      sum_for(weight, groups).add(pool, negative ? pool.negate(x) : x);
    }
    Sum total;
    for (const auto& [weight, inner] : groups)
      total.add(pool, signed_product(pool, weight, inner.value(pool)));
    return total.value(pool);
  }

 private:
  static Sum& sum_for(Expr key, std::vector<std::pair<Expr, Sum>>& list) {
    auto it = std::find_if(list.begin(), list.end(), [key](const auto& pair) { return pair.first == key; });
    if (it == list.end()) it = list.insert(it, {key, {}});
    return it->second;
  }

  std::vector<std::pair<Expr, Sum>> weights_;  // by x
};

SparseMatrix mass_matrix(const System& system) {
  SparseMatrix matrix;
  for (const MassEntry& entry : system.mass) matrix[{entry.row, entry.column}] = entry.value;
  return matrix;
}

}  // namespace

bool is_always_held(const ConditionFormula& condition) {
  return condition.equation && !condition.from && !condition.until && !condition.slip_of &&
         !condition.limit && !condition.breaks_with_link;
}

long long estimated_multiplications(const System& system, long long limit) {
  const EliminationPlan mass =
      plan_elimination(pattern_of(mass_matrix(system), system.size()), PivotOrder::natural, limit);
  long long count = mass.multiplications;
  // The non-zero entries of L^-1 A^T, row by row.
  std::vector<std::set<std::size_t>> rows;
  for (const Constraint& constraint : system.constraints) {
    std::set<std::size_t>& row = rows.emplace_back(constraint.columns.begin(), constraint.columns.end());
    for (const std::size_t p : mass.order) {
      if (!row.contains(p)) continue;
      row.insert(mass.reached[p].begin(), mass.reached[p].end());
      count += static_cast<long long>(mass.reached[p].size());
    }
  }
  // Their products are the entries of Phi.
  Pattern phi(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j <= i && count <= limit; ++j) {
      const auto common =
          std::count_if(rows[i].begin(), rows[i].end(), [&](std::size_t k) { return rows[j].contains(k); });
      count += common;
      if (common == 0 || i == j) continue;
      phi[i].insert(j);
      phi[j].insert(i);
    }
  if (count > limit) return count;
  return count + plan_elimination(phi, PivotOrder::least_fill, limit).multiplications;
}

namespace {

// M factorised, the rows that are held, and Phi.
class HeldRows {
 public:
  HeldRows(const System& system, bool holonomic_only)
      : system_(system),
        pool_(*system.pool),
        mass_(pool_, plan_elimination(pattern_of(mass_matrix(system), system.size()), PivotOrder::natural),
              mass_matrix(system), Pivots::positive),
        rows_(system.constraints.size()) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Constraint& constraint = system.constraints[i];
      if (holonomic_only && !constraint.holonomic) continue;
      for (std::size_t k = 0; k < constraint.columns.size(); ++k)
        rows_[i][constraint.columns[k]] = where_held(i, constraint.row[k]);
    }
    matrix_ = phi_matrix();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto found = matrix_.find({i, i});
      weights_.push_back(found == matrix_.end() ? pool_.zero() : found->second);
    }
  }

  // Eliminates the conditions symbolically.
  void factorise() { phi_.emplace(pool_, plan(), matrix_, Pivots::may_vanish); }
  EliminationPlan plan() const {
    return plan_elimination(pattern_of(matrix_, rows_.size()), PivotOrder::least_fill);
  }

  // [friction-4] Friction in slip makes Phi unsymmetric: column j is A_j + drag_j A_T, the direction in which the
  // multiplier of contact j acts.
  void factorise_with_drags() {
    columns_ = rows_;
    for (const Friction& friction : system_.frictions)
      for (std::size_t k = 0; k < friction.rows.size(); ++k) {
        const Constraint& slip = system_.constraints[friction.rows[k]];
        for (std::size_t c = 0; c < slip.columns.size(); ++c) {
          const Expr push =
              where_held(friction.contact, signed_product(pool_, friction.drag[k], slip.row[c]));
          Expr& target = columns_[friction.contact].try_emplace(slip.columns[c], pool_.zero()).first->second;
          target = pool_.add(target, push);
        }
      }
    GeneralMatrix phi;
    SparseMatrix symmetric_pattern;
    std::vector<SparseVector> half, other;
    for (const SparseVector& row : rows_) half.push_back(mass_.forward(row));
    for (const SparseVector& column : columns_) other.push_back(mass_.forward(column));
    for (std::size_t i = 0; i < half.size(); ++i)
      for (std::size_t j = 0; j < half.size(); ++j) {
        WeightedSum sum;
        for (const auto& [k, a] : half[i])
          if (const auto b = other[j].find(k); b != other[j].end())
            sum.add(pool_, mass_.inverse_pivots()[k], signed_product(pool_, a, b->second));
        phi[{i, j}] = sum.value(pool_);
        if (!pool_.is_zero(phi.at({i, j}))) symmetric_pattern[{std::max(i, j), std::min(i, j)}] = pool_.one();
      }
    general_.emplace(pool_,
                     plan_elimination(pattern_of(symmetric_pattern, rows_.size()), PivotOrder::least_fill),
                     phi, weights_);
  }
  SparseVector solve_phi(const SparseVector& b) const {
    return general_ ? general_->solve(b) : phi_->solve(b);
  }

  // A select and not a product: the entry of a row that is not held may be infinite or undefined.
  Expr where_held(std::size_t i, Expr e) {
    if (is_always_held(system_.constraints[i])) return e;
    const auto [negative, size] = without_sign(pool_, e);
    const Expr held = pool_.symbol(SymbolKind::closed, i);
    const Expr chosen = pool_.if_less(pool_.zero(), held, size, pool_.zero());
    return negative ? pool_.negate(chosen) : chosen;
  }

  // A^T x; with drags, what the multipliers x push.
  SparseVector transposed_times(const SparseVector& x) const {
    std::map<std::size_t, Sum> sums;
    const std::vector<SparseVector>& pushes = general_ ? columns_ : rows_;
    for (std::size_t i = 0; i < pushes.size(); ++i)
      for (const auto& [k, a] : pushes[i]) sums[k].add(pool_, signed_product(pool_, a, entry(pool_, x, i)));
    SparseVector made;
    for (const auto& [k, sum] : sums) made[k] = sum.value(pool_);
    return made;
  }

  const std::vector<SparseVector>& rows() const { return rows_; }
  const SymbolicFactor& mass() const { return mass_; }
  const SparseMatrix& matrix() const { return matrix_; }  // Phi
  const SymbolicFactor& phi() const { return *phi_; }
  const std::vector<Expr>& weights() const { return weights_; }  // the diagonal of Phi

  std::vector<Stage> stages() const;

 private:
  // Phi = A M^-1 A^T = (L^-1 A^T)^T D^-1 (L^-1 A^T) [mayer-15]
  SparseMatrix phi_matrix() const {
    std::vector<SparseVector> half;
    for (const SparseVector& row : rows_) half.push_back(mass_.forward(row));
    std::map<std::size_t, std::vector<std::size_t>> users;  // rows by column
    SparseMatrix phi;
    for (std::size_t i = 0; i < half.size(); ++i) {
      std::set<std::size_t> others;
      for (const auto& [k, a] : half[i]) {
        users[k].push_back(i);
        others.insert(users[k].begin(), users[k].end());
      }
      for (const std::size_t j : others) {
        WeightedSum sum;
        for (const auto& [k, a] : half[i])
          if (const auto b = half[j].find(k); b != half[j].end())
            sum.add(pool_, mass_.inverse_pivots()[k], signed_product(pool_, a, b->second));
        const Expr value = sum.value(pool_);
        if (!pool_.is_zero(value)) phi[{i, j}] = value;
      }
    }
    return phi;
  }

  const System& system_;
  Expressions& pool_;
  SymbolicFactor mass_;
  std::vector<SparseVector> rows_;  // A, by condition; empty where it takes no part
  SparseMatrix matrix_;
  std::vector<Expr> weights_;
  std::optional<SymbolicFactor> phi_;
  std::vector<SparseVector> columns_;  // with drags: the direction of each multiplier
  std::optional<SymbolicGeneralFactor> general_;
};

std::vector<Stage> HeldRows::stages() const {
  std::vector<Expr> entries;
  for (const SparseVector& row : rows_)
    for (const auto& [k, a] : row) entries.push_back(a);
  std::string order;
  for (const std::size_t p : general_ ? general_->order() : phi_->order()) order += " " + std::to_string(p);
  const bool selects = !std::all_of(system_.constraints.begin(), system_.constraints.end(), is_always_held);
  return {{selects ? "rows A, zero where not held" : "rows A", entries},
          {"M factorised", mass_.values()},
          {"Phi = A M^-1 A^T factorised, conditions eliminated in the order" + order,
           general_ ? general_->values() : phi_->values()}};
}

std::vector<Expr> dense(const Expressions& pool, const SparseVector& vector, std::size_t size) {
  std::vector<Expr> made;
  for (std::size_t i = 0; i < size; ++i) made.push_back(entry(pool, vector, i));
  return made;
}

SparseVector sparse(const Expressions& pool, const std::vector<Expr>& list) {
  SparseVector made;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (!pool.is_zero(list[i])) made[i] = list[i];
  return made;
}

// What the held conditions are off, on the level of positions or of velocities.
std::vector<Expr> residuals_of(const System& system, HeldRows& held, bool positions) {
  std::vector<Expr> residuals;
  for (std::size_t i = 0; i < system.constraints.size(); ++i) {
    const Constraint& constraint = system.constraints[i];
    const bool takes_part = constraint.holonomic || !positions;
    residuals.push_back(takes_part ? held.where_held(i, positions ? constraint.value : constraint.rate)
                                   : system.pool->zero());
  }
  return residuals;
}

// -M^-1 A^T multipliers
std::vector<Expr> change_by(const System& system, const HeldRows& held, const SparseVector& multipliers) {
  Expressions& pool = *system.pool;
  const SparseVector pull = held.mass().solve(held.transposed_times(multipliers));
  std::vector<Expr> change;
  for (const Expr e : dense(pool, pull, system.size())) change.push_back(pool.negate(e));
  return change;
}

SymbolicStep solve_step(const System& system, bool positions) {
  Expressions& pool = *system.pool;
  HeldRows held(system, positions);
  held.factorise();
  SymbolicStep made;
  made.residuals = residuals_of(system, held, positions);
  const SparseVector multipliers = held.phi().solve(sparse(pool, made.residuals));
  made.multipliers = dense(pool, multipliers, system.constraints.size());
  made.weights = held.weights();
  made.change = change_by(system, held, multipliers);
  made.stages = held.stages();
  made.stages.push_back({"multipliers", made.multipliers});
  return made;
}

// Phi0 = A M^-1 Q + c, the value of f'' in free motion [mayer-16]
SparseVector excess_of(const System& system, HeldRows& held, const SparseVector& free) {
  Expressions& pool = *system.pool;
  SparseVector excess;
  for (std::size_t i = 0; i < system.constraints.size(); ++i) {
    WeightedSum free_part;
    for (const auto& [k, a] : held.rows()[i]) free_part.add(pool, entry(pool, free, k), a);
    Sum sum;
    sum.add(pool, free_part.value(pool));
    sum.add(pool, held.where_held(i, system.constraints[i].rest));
    excess[i] = sum.value(pool);
  }
  return excess;
}

// M a = Q - A^T lambda [mayer-14], written a = M^-1 Q - M^-1 A^T lambda
std::vector<Expr> acceleration_by(const System& system, const HeldRows& held, const SparseVector& free,
                                  const SparseVector& multipliers) {
  Expressions& pool = *system.pool;
  const SparseVector change = held.mass().solve(held.transposed_times(multipliers));
  std::vector<Expr> acceleration;
  for (std::size_t k = 0; k < system.size(); ++k) {
    Sum sum;
    sum.add(pool, entry(pool, free, k));
    sum.add(pool, pool.negate(entry(pool, change, k)));
    acceleration.push_back(sum.value(pool));
  }
  return acceleration;
}

// The power of reactions is -lambda A v [voss]. For a position condition A v = f' - f_t, and f' = 0 while it
// is held: the power is lambda f_t, and zero where the condition does not move.
Expr work_of(const System& system, HeldRows& held, const std::vector<Expr>& multipliers) {
  Expressions& pool = *system.pool;
  Sum work;
  work.add(pool, system.power);
  for (std::size_t i = 0; i < system.constraints.size(); ++i) {
    const Constraint& constraint = system.constraints[i];
    if (constraint.holonomic) {
      const Expr moves = derivative(pool, constraint.value, {SymbolKind::time, 0});
      if (!pool.is_zero(moves))
        work.add(pool, signed_product(pool, multipliers[i], held.where_held(i, moves)));
      continue;
    }
    WeightedSum along;
    for (const auto& [k, a] : held.rows()[i]) along.add(pool, pool.symbol(SymbolKind::velocity, k), a);
    work.add(pool, pool.negate(signed_product(pool, multipliers[i], along.value(pool))));
  }
  for (const Friction& friction : system.frictions)
    for (std::size_t k = 0; k < friction.rows.size(); ++k) {
      const Constraint& slip = system.constraints[friction.rows[k]];
      WeightedSum along;
      for (std::size_t c = 0; c < slip.columns.size(); ++c)
        along.add(pool, pool.symbol(SymbolKind::velocity, slip.columns[c]), slip.row[c]);
      const Expr force = signed_product(pool, friction.drag[k], multipliers[friction.contact]);
      work.add(pool, pool.negate(signed_product(pool, force, along.value(pool))));
    }
  return work.value(pool);
}

}  // namespace

SymbolicMotion solve_motion(const System& system) {
  Expressions& pool = *system.pool;
  HeldRows held(system, false);
  if (system.frictions.empty())
    held.factorise();
  else
    held.factorise_with_drags();
  SymbolicMotion made;

  const SparseVector free = held.mass().solve(sparse(pool, system.applied));
  const SparseVector excess = excess_of(system, held, free);

  // Phi lambda = Phi0 [mayer-17]
  const SparseVector multipliers = held.solve_phi(excess);
  made.acceleration = acceleration_by(system, held, free, multipliers);

  made.multipliers = dense(pool, multipliers, system.constraints.size());
  made.work = work_of(system, held, made.multipliers);

  made.stages = held.stages();
  made.stages.push_back({"Phi0, what f'' would be in free motion", dense(pool, excess, excess.size())});
  made.stages.push_back({"multipliers", made.multipliers});
  made.stages.push_back({"accelerations", made.acceleration});
  return made;
}

std::vector<Expr> solve_free_motion(const System& system) {
  Expressions& pool = *system.pool;
  const SymbolicFactor mass(
      pool, plan_elimination(pattern_of(mass_matrix(system), system.size()), PivotOrder::natural),
      mass_matrix(system), Pivots::positive);
  return dense(pool, mass.solve(sparse(pool, system.applied)), system.size());
}

// Rates of y = (q, v, z, integrals, and the work where there is any).
std::vector<Expr> motion_rates(const System& system, const std::vector<Expr>& acceleration,
                               const std::vector<Expr>& auxiliary, const std::vector<Expr>& integrands,
                               Expr work) {
  std::vector<Expr> rates;
  // The angles of infinitesimal turns of bodies stay zero; their orientations turn [body-1].
  for (std::size_t i = 0; i < system.size(); ++i)
    rates.push_back(system.is_turn(i) ? system.pool->zero() : system.pool->symbol(SymbolKind::velocity, i));
  for (const std::vector<Expr>* list : {&acceleration, &auxiliary, &integrands})
    rates.insert(rates.end(), list->begin(), list->end());
  if (system.does_work()) rates.push_back(work);
  return rates;
}

bool has_free_motion(const System& system, bool masked) {
  const auto on_diagonal = [](const MassEntry& e) { return e.row == e.column; };
  const bool short_text =
      masked || (!system.density && std::all_of(system.mass.begin(), system.mass.end(), on_diagonal));
  return short_text && std::none_of(system.constraints.begin(), system.constraints.end(), is_always_held);
}

bool has_light_events(const System& system, bool masked) {
  constexpr std::size_t few_coordinates = 6, few_conditions = 3;
  const auto light = [](const Constraint& c) { return c.linear && (c.equation || c.holonomic); };
  return masked && !system.bounds_forces() && system.size() <= few_coordinates &&
         !system.constraints.empty() && system.constraints.size() <= few_conditions && !system.density &&
         !system.any_general() && std::all_of(system.constraints.begin(), system.constraints.end(), light);
}

bool has_free_impacts(const System& system, bool masked) {
  // Beyond, the text of the elimination takes long to compile.
  constexpr std::size_t most_equations = 6, most_coordinates_with_equations = 12;
  if (!system.bounds.empty() || !system.link_limits.empty() || system.density || system.any_general())
    return false;
  std::vector<bool> is_slip(system.constraints.size(), false);
  for (const Friction& friction : system.frictions)
    for (const std::size_t row : friction.rows) is_slip[row] = true;
  bool fits = true, rebounds = false;
  std::size_t equations = 0;
  for (std::size_t i = 0; i < system.constraints.size(); ++i) {
    const Constraint& c = system.constraints[i];
    fits = fits && (c.equation ? c.linear : c.holonomic);
    rebounds = rebounds || (!c.equation && !system.pool->is_constant(c.restitution, 0));
    equations += c.equation && !is_slip[i] ? 1 : 0;
  }
  const bool few = masked && equations <= most_equations && system.size() <= most_coordinates_with_equations;
  return fits && rebounds && (equations == 0 || few) && !has_light_events(system, masked);
}

SymbolicSizes solve_sizes(const System& system) {
  Expressions& pool = *system.pool;
  const std::vector<Expr> free = solve_free_motion(system);
  WeightedSum push, speed;
  for (std::size_t k = 0; k < system.size(); ++k) push.add(pool, system.applied[k], free[k]);
  for (const MassEntry& entry : system.mass) {
    const Expr v = pool.symbol(SymbolKind::velocity, entry.row),
               w = pool.symbol(SymbolKind::velocity, entry.column);
    const Expr both = signed_product(pool, v, w);
    speed.add(pool, entry.row == entry.column ? entry.value : pool.multiply(pool.constant(2), entry.value),
              both);
  }
  return {push.value(pool), speed.value(pool)};
}

SymbolicDependence solve_dependence(const System& system) {
  HeldRows held(system, false);
  held.factorise();
  return {held.phi().smallest_pivot_share(), held.stages()};
}

namespace {

// The multipliers as symbols.
SparseVector multiplier_symbols(const System& system) {
  SparseVector made;
  for (std::size_t i = 0; i < system.constraints.size(); ++i)
    made[i] = system.pool->symbol(SymbolKind::multiplier, i);
  return made;
}

}  // namespace

HeldEquations motion_equations(const System& system) {
  Expressions& pool = *system.pool;
  HeldRows held(system, false);
  const SparseVector free = held.mass().solve(sparse(pool, system.applied));
  const SparseVector multipliers = multiplier_symbols(system);
  HeldEquations made{held.matrix(), held.plan(), {}, {}, {}};
  made.right = dense(pool, excess_of(system, held, free), system.constraints.size());
  made.result = acceleration_by(system, held, free, multipliers);
  made.work = work_of(system, held, dense(pool, multipliers, system.constraints.size()));
  return made;
}

HeldEquations step_equations(const System& system, bool positions) {
  HeldRows held(system, positions);
  return {held.matrix(),
          held.plan(),
          residuals_of(system, held, positions),
          change_by(system, held, multiplier_symbols(system)),
          {}};
}

SymbolicStep solve_position_step(const System& system) { return solve_step(system, true); }

SymbolicStep solve_velocity_step(const System& system) { return solve_step(system, false); }

}  // namespace zwang
