#include "src/divergence.h"

#include "src/derivative.h"

namespace zwang {

namespace {

Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }

}  // namespace

// div = sum_k da_k/dv_k + sum_j dz'_j/dz_j. Differentiating M a + A^T lambda = Q, A a + c = 0 by v_k:
//   M da + A^T dlambda = Q_vk - (A_vk)^T lambda,   A da = -c_vk - A_vk a,
// which contains the terms in A_v that conditions nonlinear in v add to Voss's formula (11).
double flow_divergence(const Equations& equations, const State& state, const std::vector<std::size_t>& set,
                       const Eigen::VectorXd& accelerations, const Eigen::VectorXd& multipliers) {
  const System& system = equations.system();
  Expressions pool = *system.pool;  // a copy: derivatives are made here and forgotten
  const Eigen::Index n = index(system.size()), r = index(set.size());
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(n + r, n + r);
  matrix.topLeftCorner(n, n) = equations.mass(state);
  for (std::size_t s = 0; s < set.size(); ++s) {
    matrix.row(n + index(s)).head(n) = equations.row(set[s], state).a;
    matrix.col(n + index(s)).head(n) = matrix.row(n + index(s)).head(n).transpose();
  }
  const Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver(matrix);
  const auto slope = [&](Expr e, Symbol symbol) {
    const Expr d = derivative(pool, e, symbol);
    return pool.is_zero(d) ? 0.0 : equations.evaluate(Program(pool, {d}), state);
  };
  double divergence = 0;
  for (std::size_t k = 0; k < system.size(); ++k) {
    const Symbol v{SymbolKind::velocity, static_cast<std::uint32_t>(k)};
    Eigen::VectorXd right = Eigen::VectorXd::Zero(n + r);
    for (std::size_t i = 0; i < system.size(); ++i) right(index(i)) = slope(system.applied[i], v);
    for (std::size_t s = 0; s < set.size(); ++s) {
      const Constraint& constraint = system.constraints[set[s]];
      right(n + index(s)) = -slope(constraint.rest, v);
      for (std::size_t c = 0; c < constraint.columns.size(); ++c) {
        const double entry = slope(constraint.row[c], v);
        right(index(constraint.columns[c])) -= entry * multipliers(index(set[s]));
        right(n + index(s)) -= entry * accelerations(index(constraint.columns[c]));
      }
    }
    divergence += solver.solve(right)(index(k));
  }
  for (std::size_t j = 0; j < system.rates.size(); ++j)
    divergence += slope(system.rates[j], {SymbolKind::auxiliary, static_cast<std::uint32_t>(j)});
  return divergence;
}

}  // namespace zwang
