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
  Expressions pool = *equations.system().pool;  // a copy: derivatives are made here and forgotten
  std::vector<Expr> roots;
  differentiate(pool, roots);
  program_ = Program(pool, roots);
}

void RestEquations::differentiate(Expressions& pool, std::vector<Expr>& roots) {
  const System& system = equations_->system();
  const auto add = [&](Expr e, SymbolKind kind, std::size_t variable, Entry entry) {
    const Expr slope = derivative(pool, e, {kind, static_cast<std::uint32_t>(variable)});
    if (pool.is_zero(slope)) return;
    entry.column = variable;
    entries_.push_back(entry);
    roots.push_back(slope);
  };
  const std::size_t n = system.size(), nz = system.rates.size();
  const SymbolKind q = SymbolKind::coordinate, v = SymbolKind::velocity, z = SymbolKind::auxiliary;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) add(system.applied[i], q, k, {Block::force_q, i});
    for (std::size_t k = 0; k < n; ++k) add(system.applied[i], v, k, {Block::force_v, i});
    for (std::size_t k = 0; k < nz; ++k) add(system.applied[i], z, k, {Block::force_z, i});
  }
  for (std::size_t i = 0; i < nz; ++i) {
    for (std::size_t k = 0; k < n; ++k) add(system.rates[i], q, k, {Block::rates_q, i});
    for (std::size_t k = 0; k < n; ++k) add(system.rates[i], v, k, {Block::rates_v, i});
    for (std::size_t k = 0; k < nz; ++k) add(system.rates[i], z, k, {Block::rates_z, i});
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
  const Eigen::Index n = index(system.size()), nz = index(system.rates.size()), r = index(set.size());
  const State state{0, q, Eigen::VectorXd::Zero(n), z};
  Linearisation made;
  const Dynamics dynamics = equations_->dynamics(state);
  made.mass = dynamics.mass;
  made.force = dynamics.applied;
  made.rates = dynamics.rates;
  for (Eigen::MatrixXd* m : {&made.stiffness, &made.damping}) m->setZero(n, n);
  made.coupling.setZero(n, nz);
  made.rates_q.setZero(nz, n);
  made.rates_v.setZero(nz, n);
  made.rates_z.setZero(nz, nz);
  made.rows.setZero(r, n);
  made.values.setZero(r);
  made.values_q.setZero(r, n);
  made.row_slopes.assign(set.size(), Eigen::MatrixXd::Zero(n, n));
  std::vector<Eigen::Index> place(system.constraints.size(), -1);  // in the set
  for (Eigen::Index s = 0; s < r; ++s) {
    const std::size_t condition = set[static_cast<std::size_t>(s)];
    const Row row = equations_->row(condition, state);
    place[condition] = s;
    made.values(s) = row.value;
    made.rows.row(s) = row.a;
  }

  std::vector<double> out(program_.outputs());
  equations_->evaluate(program_, state, {}, {}, out);
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    const Entry& entry = entries_[e];
    const Eigen::Index i = index(entry.row), k = index(entry.column);
    const Eigen::Index s = system.constraints.empty() ? -1 : place[entry.condition];
    switch (entry.block) {
      case Block::force_q:
        made.stiffness(i, k) += out[e];
        break;
      case Block::force_v:
        made.damping(i, k) += out[e];
        break;
      case Block::force_z:
        made.coupling(i, k) = out[e];
        break;
      case Block::rates_q:
        made.rates_q(i, k) = out[e];
        break;
      case Block::rates_v:
        made.rates_v(i, k) = out[e];
        break;
      case Block::rates_z:
        made.rates_z(i, k) = out[e];
        break;
      case Block::value_q:
        if (s >= 0) made.values_q(s, k) = out[e];
        break;
      case Block::row_q:  // alpha_ik = U_ik + sum h_s dp_si/dq_k with h = -lambda [voss-8]
        if (s < 0) break;
        made.row_slopes[static_cast<std::size_t>(s)](i, k) = out[e];
        made.stiffness(i, k) -= multipliers(s) * out[e];
        break;
      case Block::row_v:
        if (s >= 0) made.damping(i, k) -= multipliers(s) * out[e];
        break;
    }
  }
  return made;
}

}  // namespace zwang
