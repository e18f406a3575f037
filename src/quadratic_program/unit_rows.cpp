// Scaling to unit rows, tolerances, and the active set at a point.
#include "src/quadratic_program/unit_rows.h"
#include "src/base/machine_epsilon.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace zwang {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using namespace active_set;

namespace {

// Far above rounding, far below any intended difference in a model. It also decides whether rows are
// dependent: a row left out as dependent can then be violated by no more than a tie.
constexpr double tie_tolerance = 1e-11;

// A row counts as vanishing when its length is this share of the length that the sizes of its entries allow.
constexpr double vanishing_part = 1e-14;

}  // namespace

UnitRows active_set::unit_rows(const QuadraticProgram& program) {
  const auto& [M, x0, A, c, equation] = program;
  UnitRows rows;
  rows.unit = A;
  if (!program.all_finite()) return rows;
  const Eigen::LLT<MatrixXd> factor(M);
  if (factor.info() != Eigen::Success) return rows;

  rows.usable = true;
  rows.root = factor.matrixL();
  const auto L = rows.root.triangularView<Eigen::Lower>();
  if (A.rows() > 0) rows.unit = L.solve(A.transpose()).transpose();
  rows.length = rows.unit.rowwise().norm();  // the square roots of Phi_ii [mayer-15]
  rows.gap = A * x0 + c;                     // Phi^0 [mayer-16]
  rows.floor = A.cwiseAbs() * x0.cwiseAbs() + c.cwiseAbs();
  rows.rounding = 2 * static_cast<double>(x0.size() + 2) * machine_epsilon;
  rows.tie = tie_tolerance;

  const MatrixXd inverse_root = L.solve(MatrixXd::Identity(x0.size(), x0.size()));
  const VectorXd allowed = (A.cwiseAbs() * inverse_root.cwiseAbs().transpose()).rowwise().norm();
  for (int i = 0; i < static_cast<int>(A.rows()); ++i) {
    const bool is_equation = equation[i] != 0;
    if (rows.length[i] <= vanishing_part * allowed[i]) {
      // It restricts nothing: c_i is met or not, and there is no size to compare it with.
      if (is_equation ? c[i] != 0 : c[i] > 0) rows.contradiction = i;
      rows.unit.row(i).setZero();
      rows.length[i] = rows.gap[i] = rows.floor[i] = 0;
      continue;
    }
    rows.unit.row(i) /= rows.length[i];
    rows.gap[i] /= rows.length[i];
    rows.floor[i] *= rows.rounding / rows.length[i];
    (is_equation ? rows.equations : rows.inequalities).push_back(i);
  }
  return rows;
}

double active_set::dependence_tolerance(double sum_of_coefficients) {
  return tie_tolerance + 32 * machine_epsilon * sum_of_coefficients;
}

// A unit row and its b are known to a few units in the last place. Through the solve, with P the
// pseudo-inverse, an error e of the right-hand sides moves z by P e, the residual of another row by (u_j P) e
// and mu by (P^T P) e. Without this, redundant but ill-conditioned rows would violate one another by
// rounding.
Tolerances active_set::tolerances(const UnitRows& rows, const EqualityPoint& point, Zero zero) {
  const double rounding = rows.rounding * point.z.norm();
  Tolerances result;
  result.residual = rows.floor.array() + rounding;
  result.multiplier = VectorXd::Constant(point.mu.size(), rounding);
  if (zero == Zero::rounding) return result;

  const VectorXd error = result.residual(point.rows);
  result.residual += (rows.unit * point.inverse).cwiseAbs() * error;
  result.multiplier += (point.inverse.transpose() * point.inverse).cwiseAbs() * error;
  if (zero == Zero::carried) return result;

  // The problem's size: the distance of this point, or of the free motion from meeting any one condition.
  // Rows that the free motion respects do not count; otherwise one distant wall would hide all the near ones.
  double size = point.z.norm();
  for (const int i : rows.equations) size = std::max(size, std::abs(rows.gap[i]));
  for (const int i : rows.inequalities) size = std::max(size, rows.gap[i]);
  result.residual.array() += rows.tie * size;
  result.multiplier.array() += rows.tie * size;
  return result;
}

// A row is tight by its residual at this point, without the propagated rounding: a multiplier on a row that
// is measurably slack would be wrong, whatever the sign of the rounding error.
ActiveSet active_set::active_set_at(const UnitRows& rows, const EqualityPoint& point) {
  ActiveSet active{.feasible = true, .z = point.z, .mu = {}, .tight = rows.equations};
  active.mu = VectorXd::Zero(rows.gap.size());
  active.mu(point.rows) = point.mu;
  const double tied = rows.tie * point.z.norm();
  double noise = rows.rounding * point.z.norm();
  for (const int i : point.rows) noise = std::max(noise, rows.floor[i]);
  for (const int i : rows.inequalities) {
    const double residual = rows.unit.row(i).dot(point.z) + rows.gap[i];
    if (active.mu[i] <= tied) active.mu[i] = 0;
    if (active.mu[i] > 0 || residual >= -(tied + noise + rows.floor[i])) active.tight.push_back(i);
  }
  return active;
}

}  // namespace zwang
