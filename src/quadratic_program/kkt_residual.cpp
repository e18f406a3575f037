// Residual of the KKT conditions, with allowance for rounding.
#include "src/quadratic_program/kkt_residual.h"
#include "src/base/machine_epsilon.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace zwang {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// One row scaled to unit length in the mass metric; values in the unit of |x - x0|_M.
struct CheckedRow {
  bool equation = false;
  double gap = 0;       // at x0
  double residual = 0;  // at x
  double mu = 0;        // multiplier
  double noise = 0;     // rounding of the residual
};

// Rows with A_i = 0 have no length. They are left out if c_i meets them; otherwise there is no result.
std::optional<std::vector<CheckedRow>> checked_rows(const QuadraticProgram& program, const VectorXd& x,
                                                    const VectorXd& multipliers,
                                                    const Eigen::LDLT<MatrixXd>& factor, double rounding) {
  const auto& [M, x0, A, c, equation] = program;
  const VectorXd sizes = x.cwiseAbs().cwiseMax(x0.cwiseAbs());
  std::vector<CheckedRow> checked;
  for (Eigen::Index i = 0; i < A.rows(); ++i) {
    const VectorXd a = A.row(i);
    const bool is_equation = equation[i] != 0;
    if (a.isZero(0)) {
      if (is_equation ? c[i] != 0 : c[i] > 0) return std::nullopt;
      continue;
    }
    const double length = std::sqrt(a.dot(factor.solve(a)));  // [mayer-15]
    checked.push_back({.equation = is_equation,
                       .gap = (a.dot(x0) + c[i]) / length,  // [mayer-16]
                       .residual = (a.dot(x) + c[i]) / length,
                       .mu = multipliers[i] * length,
                       .noise = rounding * (a.cwiseAbs().dot(sizes) + std::abs(c[i])) / length});
  }
  return checked;
}

}  // namespace

// The largest of four numbers, each in the unit of |x - x0|_M, divided by the size of the problem:
//
//     stationarity      |M (x - x0) + A^T lambda| in the norm of M^-1
//     admissibility     |A_i x + c_i| of an equation, its positive part of an inequality
//     sign              the negative part of an inequality's multiplier
//     complementarity   min(multiplier, slack) of an inequality: one of the two is zero
//
// The size is the largest of |x - x0|_M and the violations of the free motion; all zero counts as solved.
// Inequalities that the free motion respects do not enter the size: a wall a kilometre away must not hide an
// error of a millimetre. Rounding of x, A_i x, c_i and A^T lambda to double precision does not count as an
// error. It matters when x0 is large compared with x - x0, and when multipliers are large compared with the
// force they add up to. x is as uncertain as the rows that determine it, so each row is allowed its own
// rounding and the largest rounding of the tight rows. Nothing here is shared with the solvers, not even the
// factorisation of M.
double kkt_residual(const QuadraticProgram& program, const VectorXd& x, const VectorXd& multipliers) {
  if (!program.all_finite() || !x.allFinite() || !multipliers.allFinite()) return infinity;
  const MatrixXd& M = program.mass;
  const Eigen::LDLT<MatrixXd> factor(M);
  const double rounding = 4 * static_cast<double>(x.size() + 2) * machine_epsilon;
  const auto checked = checked_rows(program, x, multipliers, factor, rounding);
  if (!checked) return infinity;

  const VectorXd step = x - program.free;
  double size = std::sqrt(std::max(0.0, step.dot(M * step)));
  double shared = 0, pushes = 0;
  for (const CheckedRow& row : *checked) {
    size = std::max(size, row.equation ? std::abs(row.gap) : row.gap);
    pushes += std::abs(row.mu);
    if (row.equation || std::abs(row.residual) <= row.noise) shared = std::max(shared, row.noise);
  }

  double worst = 0;
  for (const CheckedRow& row : *checked) {
    const double noise = row.noise + shared;
    if (row.equation) {
      worst = std::max(worst, std::abs(row.residual) - noise);
    } else {
      worst = std::max({worst, row.residual - noise, -row.mu, std::min(row.mu, -row.residual - noise)});
    }
  }

  // |dx|_M <= sum sqrt(M_jj) |dx_j| bounds the effect of rounding x.
  const VectorXd sizes = x.cwiseAbs().cwiseMax(program.free.cwiseAbs());
  const VectorXd force = M * step + program.rows.transpose() * multipliers;  // [mayer-14] [mayer2-9]
  const double noise = rounding * (M.diagonal().cwiseSqrt().dot(sizes) + pushes);
  worst = std::max(worst, std::sqrt(std::max(0.0, force.dot(factor.solve(force)))) - noise);
  return worst > 0 ? worst / size : 0;
}

}  // namespace zwang
