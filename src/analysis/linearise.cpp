// Symbolic derivatives of the equations at rest, and their evaluation.
#include "src/analysis/linearise.h"

#include "src/base/index.h"
#include "src/expression/derivative.h"
#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/system/system.h"

namespace zwang {

namespace {}  // namespace

bool Linearisation::finite() const {
  for (const Eigen::MatrixXd* m :
       {&mass, &stiffness, &damping, &coupling, &rows, &values_q, &rates_q, &rates_v, &rates_z})
    if (!m->allFinite()) return false;
  return force.allFinite() && values.allFinite() && rates.allFinite();
}

RestEquations::RestEquations(const Equations& equations) : equations_(&equations) {
  Expressions pool = *equations.system().pool;  // a copy for the derivatives made here
  for (std::size_t j = 0; j < equations.system().rates.size(); ++j)
    if (!equations.system().is_orientation(j)) states_.push_back(j);
  std::vector<Expr> roots;
  differentiate(pool, roots);
  program_ = Program(pool, roots);
}

void RestEquations::differentiate(Expressions& pool, std::vector<Expr>& roots) {
  const System& system = equations_->system();
  const auto add = [&](Expr e, SymbolKind kind, std::size_t variable, Entry entry) {
    const std::size_t symbol = kind == SymbolKind::auxiliary ? states_[variable] : variable;
    const Expr slope = derivative(pool, e, {kind, static_cast<std::uint32_t>(symbol)});
    if (pool.is_zero(slope)) return;
    entry.column = variable;
    entries_.push_back(entry);
    roots.push_back(slope);
  };
  const std::size_t n = system.size(), nz = states_.size();
  const SymbolKind q = SymbolKind::coordinate, v = SymbolKind::velocity, z = SymbolKind::auxiliary;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) add(system.applied[i], q, k, {Block::force_q, i});
    for (std::size_t k = 0; k < n; ++k) add(system.applied[i], v, k, {Block::force_v, i});
    for (std::size_t k = 0; k < nz; ++k) add(system.applied[i], z, k, {Block::force_z, i});
  }
  for (std::size_t i = 0; i < nz; ++i) {
    const Expr rate = system.rates[states_[i]];
    for (std::size_t k = 0; k < n; ++k) add(rate, q, k, {Block::rates_q, i});
    for (std::size_t k = 0; k < n; ++k) add(rate, v, k, {Block::rates_v, i});
    for (std::size_t k = 0; k < nz; ++k) add(rate, z, k, {Block::rates_z, i});
  }
  for (std::size_t s = 0; s < system.constraints.size(); ++s) {
    const Constraint& constraint = system.constraints[s];
    for (std::size_t k = 0; k < n; ++k) add(constraint.value, q, k, {Block::value_q, 0, 0, s});
    for (std::size_t c = 0; c < constraint.columns.size(); ++c)
      for (std::size_t k = 0; k < n; ++k) {
        add(constraint.row[c], q, k, {Block::row_q, constraint.columns[c], 0, s});
        add(constraint.row[c], v, k, {Block::row_v, constraint.columns[c], 0, s});
      }
  }
}

Linearisation RestEquations::at(const Eigen::VectorXd& q, const Eigen::VectorXd& z,
                                const std::vector<std::size_t>& set,
                                const Eigen::VectorXd& multipliers) const {
  const System& system = equations_->system();
  const State state{0, q, Eigen::VectorXd::Zero(index(system.size())), z};
  Linearisation made = blank(state, set);
  std::vector<Eigen::Index> place(system.constraints.size(), -1);  // in the set
  for (Eigen::Index s = 0; s < index(set.size()); ++s) {
    const std::size_t condition = set[static_cast<std::size_t>(s)];
    const Row row = equations_->row(condition, state);
    place[condition] = s;
    made.values(s) = row.value;
    made.rows.row(s) = row.a;
  }

  std::vector<double> out(program_.outputs());
  equations_->evaluate(program_, state, {}, {}, out);
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    const bool of_condition = entries_[e].block == Block::value_q || entries_[e].block == Block::row_q ||
                              entries_[e].block == Block::row_v;
    if (!of_condition)
      put_slope(entries_[e], out[e], made);
    else if (const Eigen::Index s = place[entries_[e].condition]; s >= 0)
      put_condition_slope(entries_[e], out[e], s, multipliers(s), made);
  }
  return made;
}

// Mass, force and rates at a state; everything else zero and of the right size.
Linearisation RestEquations::blank(const State& state, const std::vector<std::size_t>& set) const {
  const Eigen::Index n = index(equations_->size()), nz = index(states_.size());
  const Eigen::Index r = index(set.size());
  Linearisation made;
  const Dynamics dynamics = equations_->dynamics(state);
  made.mass = dynamics.mass;
  made.force = dynamics.applied;
  made.rates = dynamics.rates(states_);
  for (Eigen::MatrixXd* m : {&made.stiffness, &made.damping}) m->setZero(n, n);
  made.coupling.setZero(n, nz);
  made.rates_q.setZero(nz, n);
  made.rates_v.setZero(nz, n);
  made.rates_z.setZero(nz, nz);
  made.rows.setZero(r, n);
  made.values.setZero(r);
  made.values_q.setZero(r, n);
  made.row_slopes.assign(set.size(), Eigen::MatrixXd::Zero(n, n));
  return made;
}

void RestEquations::put_slope(const Entry& entry, double slope, Linearisation& made) {
  const Eigen::Index i = index(entry.row), k = index(entry.column);
  switch (entry.block) {
    case Block::force_q:
      made.stiffness(i, k) += slope;
      break;
    case Block::force_v:
      made.damping(i, k) += slope;
      break;
    case Block::force_z:
      made.coupling(i, k) = slope;
      break;
    case Block::rates_q:
      made.rates_q(i, k) = slope;
      break;
    case Block::rates_v:
      made.rates_v(i, k) = slope;
      break;
    case Block::rates_z:
      made.rates_z(i, k) = slope;
      break;
    default:
      break;
  }
}

// Condition s of the set, with its multiplier.
void RestEquations::put_condition_slope(const Entry& entry, double slope, Eigen::Index s, double multiplier,
                                        Linearisation& made) {
  const Eigen::Index i = index(entry.row), k = index(entry.column);
  if (entry.block == Block::value_q) made.values_q(s, k) = slope;
  if (entry.block == Block::row_v) made.damping(i, k) -= multiplier * slope;
  if (entry.block == Block::row_q) {
    // alpha_ik = U_ik + sum h_s dp_si/dq_k with h = -lambda [voss-8]
    made.row_slopes[static_cast<std::size_t>(s)](i, k) = slope;
    made.stiffness(i, k) -= multiplier * slope;
  }
}

}  // namespace zwang
