#include "src/quadratic_program/quadratic_program.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "src/quadratic_program/enumerate.h"
#include "src/quadratic_program/pivot.h"

namespace zwang {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using namespace active_set;

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double infinity = std::numeric_limits<double>::infinity();

// Far above rounding, far below any difference a model means. It also decides that rows are dependent: a row
// left out as dependent can then be broken by no more than a tie.
constexpr double tie_tolerance = 1e-11;

// A row is taken to vanish when its length is this part of what the sizes of its entries allow.
constexpr double vanishing_part = 1e-14;

bool all_finite(const QuadraticProgram& program) {
  return program.mass.allFinite() && program.free.allFinite() && program.rows.allFinite() &&
         program.offsets.allFinite();
}

// ---------------------------------------------------------------------------------------------------------
// The judge
// ---------------------------------------------------------------------------------------------------------

// One row as the judge sees it, in the unit of |x - x0|_M: scaled to unit length in the mass metric.
struct JudgedRow {
  bool equation = false;
  double gap = 0;       // at x0
  double residual = 0;  // at x
  double mu = 0;        // multiplier
  double noise = 0;     // what rounding does to the residual
};

// Rows with A_i = 0 have no length: they are met or not, and are asked no more.
std::optional<std::vector<JudgedRow>> judged_rows(const QuadraticProgram& program, const VectorXd& x,
                                                  const VectorXd& multipliers,
                                                  const Eigen::LDLT<MatrixXd>& factor, double rounding) {
  const auto& [M, x0, A, c, equation] = program;
  const VectorXd sizes = x.cwiseAbs().cwiseMax(x0.cwiseAbs());
  std::vector<JudgedRow> judged;
  for (Eigen::Index i = 0; i < A.rows(); ++i) {
    const VectorXd a = A.row(i);
    const bool is_equation = equation[i] != 0;
    if (a.isZero(0)) {
      if (is_equation ? c[i] != 0 : c[i] > 0) return std::nullopt;
      continue;
    }
    const double length = std::sqrt(a.dot(factor.solve(a)));  // [mayer-15]
    judged.push_back({.equation = is_equation,
                      .gap = (a.dot(x0) + c[i]) / length,  // [mayer-16]
                      .residual = (a.dot(x) + c[i]) / length,
                      .mu = multipliers[i] * length,
                      .noise = rounding * (a.cwiseAbs().dot(sizes) + std::abs(c[i])) / length});
  }
  return judged;
}

}  // namespace

// The largest of four numbers, each in the unit of |x - x0|_M, divided by the size of the problem:
//
//     stationarity      |M (x - x0) + A^T lambda| in the norm of M^-1
//     admissibility     |A_i x + c_i| of an equation, its positive part of an inequality
//     sign              the negative part of an inequality's multiplier
//     complementarity   min(multiplier, slack) of an inequality: it presses or it yields
//
// The size is the largest of |x - x0|_M and the free motion's violations; all zero counts as solved.
// Inequalities the free motion respects do not enter it: a wall a kilometre away is no excuse for a
// millimetre here.
// What the rounding of x, A_i x, c_i and A^T lambda to double precision can do is not held against the
// solution. It matters when x0 is large beside x - x0, and when multipliers are large beside the force they
// add up to. x is as uncertain as the rows that hold it, so each row is allowed its own rounding and the
// worst among the tight rows.
// Nothing here is shared with the solvers, not even the factorisation of M.
double kkt_residual(const QuadraticProgram& program, const VectorXd& x, const VectorXd& multipliers) {
  if (!all_finite(program) || !x.allFinite() || !multipliers.allFinite()) return infinity;
  const MatrixXd& M = program.mass;
  const Eigen::LDLT<MatrixXd> factor(M);
  const double rounding = 4 * static_cast<double>(x.size() + 2) * epsilon;
  const auto judged = judged_rows(program, x, multipliers, factor, rounding);
  if (!judged) return infinity;

  const VectorXd step = x - program.free;
  double size = std::sqrt(std::max(0.0, step.dot(M * step)));
  double shared = 0, pushes = 0;
  for (const JudgedRow& row : *judged) {
    size = std::max(size, row.equation ? std::abs(row.gap) : row.gap);
    pushes += std::abs(row.mu);
    if (row.equation || std::abs(row.residual) <= row.noise) shared = std::max(shared, row.noise);
  }

  double worst = 0;
  for (const JudgedRow& row : *judged) {
    const double noise = row.noise + shared;
    if (row.equation) {
      worst = std::max(worst, std::abs(row.residual) - noise);
    } else {
      worst = std::max({worst, row.residual - noise, -row.mu, std::min(row.mu, -row.residual - noise)});
    }
  }

  // |dx|_M <= sum sqrt(M_jj) |dx_j| bounds what rounding x does.
  const VectorXd sizes = x.cwiseAbs().cwiseMax(program.free.cwiseAbs());
  const VectorXd force = M * step + program.rows.transpose() * multipliers;  // [mayer-14] [mayer2-9]
  const double noise = rounding * (M.diagonal().cwiseSqrt().dot(sizes) + pushes);
  worst = std::max(worst, std::sqrt(std::max(0.0, force.dot(factor.solve(force)))) - noise);
  return worst > 0 ? worst / size : 0;
}

// ---------------------------------------------------------------------------------------------------------
// Unit rows, and what counts as zero there
// ---------------------------------------------------------------------------------------------------------

UnitRows active_set::unit_rows(const QuadraticProgram& program) {
  const auto& [M, x0, A, c, equation] = program;
  UnitRows rows;
  rows.unit = A;
  if (!all_finite(program)) return rows;
  const Eigen::LLT<MatrixXd> factor(M);
  if (factor.info() != Eigen::Success) return rows;

  rows.usable = true;
  rows.root = factor.matrixL();
  const auto L = rows.root.triangularView<Eigen::Lower>();
  if (A.rows() > 0) rows.unit = L.solve(A.transpose()).transpose();
  rows.length = rows.unit.rowwise().norm();  // the square roots of Phi_ii [mayer-15]
  rows.gap = A * x0 + c;                     // Phi^0 [mayer-16]
  rows.floor = A.cwiseAbs() * x0.cwiseAbs() + c.cwiseAbs();
  rows.rounding = 2 * static_cast<double>(x0.size() + 2) * epsilon;
  rows.tie = tie_tolerance;

  const MatrixXd inverse_root = L.solve(MatrixXd::Identity(x0.size(), x0.size()));
  const VectorXd allowed = (A.cwiseAbs() * inverse_root.cwiseAbs().transpose()).rowwise().norm();
  for (int i = 0; i < static_cast<int>(A.rows()); ++i) {
    const bool is_equation = equation[i] != 0;
    if (rows.length[i] <= vanishing_part * allowed[i]) {
      // It constrains nothing: c_i is met or not, and there is no size to measure it by.
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
  return tie_tolerance + 32 * epsilon * sum_of_coefficients;
}

// A unit row and its b are known to a few units in the last place. Through the solve, with P the
// pseudo-inverse, an error e of the right-hand sides moves z by P e, another row's residual by (u_j P) e and
// mu by (P^T P) e. Without this, rows redundant but ill-conditioned would break one another by rounding.
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

  // The problem's size: how far this point is, or how far the free motion is from meeting some one condition.
  // Rows the free motion respects do not count, or one distant wall would hide all the near ones.
  double size = point.z.norm();
  for (const int i : rows.equations) size = std::max(size, std::abs(rows.gap[i]));
  for (const int i : rows.inequalities) size = std::max(size, rows.gap[i]);
  result.residual.array() += rows.tie * size;
  result.multiplier.array() += rows.tie * size;
  return result;
}

// Tight is judged by the residual at this point and not by what rounding may have carried into it: a
// multiplier on a row that is measurably slack would be wrong, on whichever side of the truth the row is.
ActiveSet active_set::settle(const UnitRows& rows, const EqualityPoint& point) {
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

// ---------------------------------------------------------------------------------------------------------
// Multipliers
// ---------------------------------------------------------------------------------------------------------

namespace {

// The tight rows as a basis and rows that depend on it: u_c = sum_b combination(b, c) u_b.
struct Basis {
  std::vector<int> basis;
  std::vector<int> dependent;
  MatrixXd combination;  // |basis| x |dependent|
};

// The basis is filled with long rows first. Then a dependent row leans only on rows at least as long as
// itself, and in raw multipliers lambda = mu / length its coefficients, times length_c / length_b, stay
// bounded even when the lengths differ by 10^12. A basis by pivoting on the unit rows would not do this.
Basis long_basis(const UnitRows& rows, std::vector<int> tight) {
  std::stable_sort(tight.begin(), tight.end(), [&](int a, int b) { return rows.length[a] > rows.length[b]; });
  const auto m = static_cast<Eigen::Index>(tight.size());
  MatrixXd Q(rows.unit.cols(), m), R = MatrixXd::Zero(m, m), C = MatrixXd::Zero(m, m);
  Basis result;
  Eigen::Index k = 0;
  for (const int i : tight) {
    // Gram-Schmidt, twice, which is enough.
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

    // A coefficient that is rounding would tie multipliers that have nothing to do with each other.
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

// Of all lambda that fit, the one of least norm. With w the multipliers of the dependent rows, those of the
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

// Makes mu balance z again after small multipliers have been set to 0. The long ones of the rows that push
// take what is missing: for a short row the same force is a large change of lambda. None if that fails.
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
  if ((z + rows.unit.transpose() * mu).norm() > tie_tolerance * z.norm() + 4 * zero) return std::nullopt;
  return mu;
}

// The multipliers of least norm, on unit rows.
std::optional<VectorXd> least_norm(const UnitRows& rows, const ActiveSet& active, const Basis& split,
                                   const std::vector<char>& equation, const ActiveSetSolver& solver) {
  const LeastNorm question = least_norm_program(rows, active, split, equation);
  UnitRows inner = unit_rows(question.program);

  // What is zero is decided in unit multipliers, as everywhere: lambda of a long row is small but not
  // negligible. Where lambdas many orders of magnitude apart are coupled that may leave no solution; then
  // rounding of the largest decides.
  const double zero = 64 * epsilon * (active.z.norm() + active.mu.lpNorm<1>());
  inner.rounding = 0;
  inner.tie = 64 * epsilon;
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

QpSolution active_set::finish(const QuadraticProgram& program, const UnitRows& rows, const ActiveSet& active,
                              const ActiveSetSolver& solver) {
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
  // Row lengths some 10^12 apart can defeat the search, though seldom; mu as it is fits all the same.
  if (solution.redundant) mu = least_norm(rows, active, split, program.equation, solver).value_or(mu);

  solution.multipliers.setZero();
  for (const int i : active.tight) {
    solution.multipliers[i] = mu[i] / rows.length[i];
    solution.pressing[i] = program.equation[i] || mu[i] > 0;
  }
  return solution;
}

QpSolution solve_qp(const QuadraticProgram& program) {
  // Enumeration takes up to 2^12 small solves, some milliseconds, and doubles with every row.
  const auto inequalities = std::count(program.equation.begin(), program.equation.end(), 0);
  return inequalities <= 12 ? enumerate_qp(program) : pivot_qp(program);
}

}  // namespace zwang
