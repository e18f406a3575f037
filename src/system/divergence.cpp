// Derivatives of accelerations by velocities and auxiliaries, for the divergence.
#include "src/system/divergence.h"

#include <algorithm>

#include "src/base/index.h"
#include "src/expression/derivative.h"
#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/system/system.h"

namespace zwang {

namespace {}  // namespace

FlowDivergence::FlowDivergence(const Equations& equations) : equations_(equations) {
  const System& system = equations.system();
  Expressions pool = *system.pool;  // a copy for the derivatives made here
  const std::size_t n = system.size(), nz = system.rates.size();
  std::vector<Expr> formulas;
  for (std::size_t x = 0; x < n + nz; ++x) {
    for (const MassEntry& entry : system.mass)
      add(pool, entry.value, {Part::mass, x, entry.row, entry.column}, formulas);
    for (std::size_t i = 0; i < n; ++i) add(pool, system.applied[i], {Part::applied, x, i}, formulas);
    for (std::size_t s = 0; s < system.constraints.size(); ++s) {
      const Constraint& constraint = system.constraints[s];
      add(pool, constraint.rest, {Part::rest, x, s}, formulas);
      for (std::size_t k = 0; k < constraint.columns.size(); ++k)
        add(pool, constraint.row[k], {Part::row, x, s, constraint.columns[k]}, formulas);
    }
    for (std::size_t f = 0; f < system.frictions.size(); ++f)
      for (std::size_t k = 0; k < system.frictions[f].drag.size(); ++k)
        add(pool, system.frictions[f].drag[k], {Part::drag, x, f, k}, formulas);
    if (x >= n) add(pool, system.rates[x - n], {Part::rate, x, x - n}, formulas);
  }
  values_ = Program(pool, formulas);
  out_.resize(formulas.size());
}

void FlowDivergence::add(Expressions& pool, Expr e, Slope slope, std::vector<Expr>& formulas) {
  const std::size_t n = equations_.size(), x = slope.variable;
  const Symbol variable{x < n ? SymbolKind::velocity : SymbolKind::auxiliary,
                        static_cast<std::uint32_t>(x < n ? x : x - n)};
  const Expr made = derivative(pool, e, variable);
  if (pool.is_zero(made)) return;
  slopes_.push_back(slope);
  formulas.push_back(made);
}

// div = sum_k da_k/dv_k + sum_j dz'_j/dz_j. Differentiating M a + A^T lambda = Q, A a + c = 0 by a variable
// x:
//   M da + A^T dlambda = Q_x - M_x a - (A_x)^T lambda,   A da = -c_x - A_x a,
// which contains the terms in A_v that conditions nonlinear in v add to Voss's formula (11) [voss-11]. A
// multiplier rho of a general condition is a state with the rate lambda and contributes dlambda/drho. A contact that
// slips has the force -(A_N + drag A_T)^T lambda_N [friction-4]: its column is that sum, and the multipliers of its
// slip rows are drag lambda_N.
double FlowDivergence::at(const State& state, const std::vector<std::size_t>& set,
                          const Eigen::VectorXd& accelerations, const Eigen::VectorXd& multipliers) const {
  const System& system = equations_.system();
  const Eigen::Index n = index(system.size()), nz = index(system.rates.size()), r = index(set.size());
  std::vector<Eigen::Index> place(system.constraints.size(), -1);  // of a condition among the rows
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(n + r, n + r);
  matrix.topLeftCorner(n, n) = equations_.mass(state);
  for (std::size_t s = 0; s < set.size(); ++s) {
    place[set[s]] = n + index(s);
    matrix.row(n + index(s)).head(n) = equations_.row(set[s], state).a;
    matrix.col(n + index(s)).head(n) = matrix.row(n + index(s)).head(n).transpose();
  }
  Eigen::VectorXd forces = multipliers;
  for (std::size_t f = 0; f < system.frictions.size(); ++f) {
    const Friction& friction = system.frictions[f];
    if (place[friction.contact] < 0) continue;
    const Eigen::VectorXd drag = equations_.friction(f, state).drag;
    for (std::size_t k = 0; k < friction.rows.size(); ++k) {
      const Eigen::VectorXd along = drag(index(k)) * equations_.row(friction.rows[k], state).a.transpose();
      matrix.col(place[friction.contact]).head(n) += along;
      forces(index(friction.rows[k])) += drag(index(k)) * multipliers(index(friction.contact));
    }
  }

  // All right-hand sides at once, one column for each variable.
  equations_.evaluate(values_, state, {}, {}, out_);
  Eigen::MatrixXd right = Eigen::MatrixXd::Zero(n + r, n + nz);
  double divergence = 0;
  for (std::size_t k = 0; k < slopes_.size(); ++k) {
    const Slope& slope = slopes_[k];
    const Eigen::Index x = index(slope.variable), i = index(slope.i), j = index(slope.j);
    const double d = out_[k];
    if (slope.part == Part::applied) right(i, x) += d;
    if (slope.part == Part::rate) divergence += d;
    if (slope.part == Part::mass) {
      right(i, x) -= d * accelerations(j);
      if (i != j) right(j, x) -= d * accelerations(i);
    }
    if (slope.part == Part::drag && place[system.frictions[slope.i].contact] >= 0) {
      const Friction& friction = system.frictions[slope.i];
      right.col(x).head(n) -= d * multipliers(index(friction.contact)) *
                              equations_.row(friction.rows[slope.j], state).a.transpose();
    }
    if (slope.part == Part::row && (place[slope.i] >= 0 || forces(i) != 0)) right(j, x) -= d * forces(i);
    const bool of_condition = slope.part == Part::rest || slope.part == Part::row;
    if (!of_condition || place[slope.i] < 0) continue;
    right(place[slope.i], x) -= slope.part == Part::rest ? d : d * accelerations(j);
  }
  if (slopes_.empty()) return 0;
  const Eigen::MatrixXd changes =
      Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd>(matrix).solve(right);
  for (Eigen::Index k = 0; k < n; ++k) divergence += changes(k, k);
  for (const std::size_t s : set)
    if (const std::optional<std::size_t>& rho = system.constraints[s].general)
      divergence += changes(place[s], n + index(*rho));
  return divergence;
}

}  // namespace zwang
