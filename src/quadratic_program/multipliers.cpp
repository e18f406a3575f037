// Least-norm multipliers for dependent rows, and the solution in the caller's units.
#include "src/quadratic_program/multipliers.h"
#include "src/base/machine_epsilon.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace zwang {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using namespace active_set;

namespace {

// The tight rows as a basis and rows that depend on it: u_c = sum_b combination(b, c) u_b.
struct Basis {
  std::vector<int> basis;
  std::vector<int> dependent;
  MatrixXd combination;  // |basis| x |dependent|
};

// The basis takes long rows first. A dependent row is then a combination of rows at least as long as itself,
// and in raw multipliers lambda = mu / length its coefficients, times length_c / length_b, stay bounded even
// when the lengths differ by 10^12. A basis by pivoting on the unit rows would not have this property.
Basis long_basis(const UnitRows& rows, std::vector<int> tight) {
  std::stable_sort(tight.begin(), tight.end(), [&](int a, int b) { return rows.length[a] > rows.length[b]; });
  const auto m = static_cast<Eigen::Index>(tight.size());
  MatrixXd Q(rows.unit.cols(), m), R = MatrixXd::Zero(m, m), C = MatrixXd::Zero(m, m);
  Basis result;
  Eigen::Index k = 0;
  for (const int i : tight) {
    // Gram-Schmidt; two passes reach rounding.
    VectorXd rest = rows.unit.row(i), along = VectorXd::Zero(k);
    for (int pass = 0; pass < 2; ++pass) {
      const VectorXd part = Q.leftCols(k).transpose() * rest;
      rest -= Q.leftCols(k) * part;
      along += part;
    }
    const MatrixXd upper = R.topLeftCorner(k, k);
    MatrixXd inverse = MatrixXd::Identity(k, k);
    if (k > 0) upper.triangularView<Eigen::Upper>().solveInPlace(inverse);
    VectorXd coefficients = inverse * along;
    const double distance = rest.norm();
    if (distance > dependence_tolerance(coefficients.lpNorm<1>())) {
      R.col(k).head(k) = along;
      R(k, k) = distance;
      Q.col(k++) = rest / distance;
      result.basis.push_back(i);
      continue;
    }

    // A coefficient that is only rounding would couple unrelated multipliers.
    const VectorXd noise = inverse.cwiseAbs() * (upper.cwiseAbs() * coefficients.cwiseAbs());
    for (Eigen::Index b = 0; b < k; ++b) {
      if (std::abs(coefficients[b]) <= dependence_tolerance(noise[b])) coefficients[b] = 0;
    }
    C.col(static_cast<Eigen::Index>(result.dependent.size())).head(k) = coefficients;
    result.dependent.push_back(i);
  }
  result.combination = C.topLeftCorner(k, static_cast<Eigen::Index>(result.dependent.size()));
  return result;
}

// The lambda of least norm among all valid ones. With w the multipliers of the dependent rows, those of the
// basis are lambda_b = p_b - (K w)_b, K(b, c) = combination(b, c) length_c / length_b, and
//
//     minimise 1/2 |w|^2 + 1/2 |p - K w|^2   subject to   w_c >= 0 and (p - K w)_b >= 0 for inequalities
//
// is once more a quadratic program, with mass 1 + K^T K.
struct LeastNorm {
  std::vector<int> rows;  // basis, then dependent rows
  MatrixXd map;           // lambda of these rows = map w + shift
  VectorXd shift;
  std::vector<int> bounded;  // places in `rows` of the inequalities that w can move
  QuadraticProgram program;
};

LeastNorm least_norm_program(const UnitRows& rows, const ActiveSet& active, const Basis& split,
                             const std::vector<char>& equation) {
  const auto k = static_cast<Eigen::Index>(split.basis.size());
  const auto m = static_cast<Eigen::Index>(split.dependent.size());
  const VectorXd length_b = rows.length(split.basis), length_c = rows.length(split.dependent);
  const MatrixXd K = length_b.cwiseInverse().asDiagonal() * split.combination * length_c.asDiagonal();
  const VectorXd mu = active.mu(split.basis) + split.combination * active.mu(split.dependent);
  const VectorXd p = mu.cwiseQuotient(length_b);

  LeastNorm question;
  question.rows = split.basis;
  question.rows.insert(question.rows.end(), split.dependent.begin(), split.dependent.end());
  question.map.resize(k + m, m);
  question.map << -K, MatrixXd::Identity(m, m);
  question.shift.resize(k + m);
  question.shift << p, VectorXd::Zero(m);
  for (int i = 0; i < static_cast<int>(k + m); ++i) {
    if (!equation[question.rows[i]] && !question.map.row(i).isZero(0)) question.bounded.push_back(i);
  }

  question.program.mass = question.map.transpose() * question.map;
  question.program.free = question.program.mass.llt().solve(K.transpose() * p);
  question.program.rows = -question.map(question.bounded, Eigen::all);
  question.program.offsets = -question.shift(question.bounded);
  question.program.equation.assign(question.bounded.size(), 0);
  return question;
}

// Makes mu balance z again after small multipliers have been set to 0. The long pushing rows take the
// difference: for a short row the same force is a large change of lambda. No result if that fails.
std::optional<VectorXd> balanced(const UnitRows& rows, const VectorXd& z, VectorXd mu, double zero) {
  bool pulls = true;
  for (Eigen::Index attempt = 0; pulls && attempt <= mu.size(); ++attempt) {
    std::vector<int> pushing = rows.equations;
    for (const int i : rows.inequalities) {
      if (mu[i] > 0) pushing.push_back(i);
    }
    const std::vector<int> basis = long_basis(rows, std::move(pushing)).basis;
    if (basis.empty()) break;
    const VectorXd missing = -z - rows.unit.transpose() * mu;
    const MatrixXd columns = rows.unit(basis, Eigen::all).transpose();
    mu(basis) += columns.colPivHouseholderQr().solve(missing);

    pulls = false;
    for (const int i : rows.inequalities) {
      pulls = pulls || mu[i] < -zero;
      mu[i] = std::max(mu[i], 0.0);
    }
  }
  if ((z + rows.unit.transpose() * mu).norm() > rows.tie * z.norm() + 4 * zero) return std::nullopt;
  return mu;
}

// The multipliers of least norm, on unit rows.
std::optional<VectorXd> least_norm(const UnitRows& rows, const ActiveSet& active, const Basis& split,
                                   const std::vector<char>& equation, const ActiveSetSolver& solver) {
  const LeastNorm question = least_norm_program(rows, active, split, equation);
  UnitRows inner = unit_rows(question.program);

  // Zero is decided in unit multipliers, as everywhere: lambda of a long row is small but not negligible.
  // Where lambdas many orders of magnitude apart are coupled this may leave no solution; then the rounding of
  // the largest decides.
  const double zero = 64 * machine_epsilon * (active.z.norm() + active.mu.lpNorm<1>());
  inner.rounding = 0;
  inner.tie = 64 * machine_epsilon;
  for (const int i : inner.inequalities) {
    const int row = question.rows[question.bounded[i]];
    inner.floor[i] = zero / (rows.length[row] * inner.length[i]);
  }
  const ActiveSet found = solver(inner);
  if (!found.feasible) return std::nullopt;

  VectorXd w = inner.root.transpose().triangularView<Eigen::Upper>().solve(found.z);
  w += question.program.free;
  VectorXd lambda = question.map * w + question.shift;
  for (const int i : inner.inequalities) {
    if (found.mu[i] > 0) lambda[question.bounded[i]] = 0;
  }
  VectorXd mu = VectorXd::Zero(rows.gap.size());
  mu(question.rows) = lambda.cwiseProduct(rows.length(question.rows));
  for (const int i : rows.inequalities) {
    if (mu[i] <= zero) mu[i] = 0;
  }
  return balanced(rows, active.z, std::move(mu), zero);
}

}  // namespace

QpSolution active_set::solution_at(const QuadraticProgram& program, const UnitRows& rows,
                                   const ActiveSet& active, const ActiveSetSolver& solver) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  QpSolution solution;
  solution.x = VectorXd::Constant(program.free.size(), nan);
  solution.multipliers = solution.residuals = VectorXd::Constant(program.offsets.size(), nan);
  solution.pressing.assign(program.equation.size(), 0);
  if (!active.feasible) return solution;
  solution.feasible = true;

  solution.x = program.free + rows.root.transpose().triangularView<Eigen::Upper>().solve(active.z);
  solution.residuals = program.rows * solution.x + program.offsets;

  const Basis split = long_basis(rows, active.tight);
  solution.redundant = !split.dependent.empty();
  VectorXd mu = active.mu;
  // Row lengths some 10^12 apart can, rarely, make the search fail; mu as it is remains valid.
  if (solution.redundant) mu = least_norm(rows, active, split, program.equation, solver).value_or(mu);

  solution.multipliers.setZero();
  for (const int i : active.tight) {
    solution.multipliers[i] = mu[i] / rows.length[i];
    solution.pressing[i] = program.equation[i] || mu[i] > 0;
  }
  return solution;
}

}  // namespace zwang
