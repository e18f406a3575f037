// Eigenvalue problems of small oscillations about an equilibrium [voss-8].
#include "src/analysis/modes.h"

#include <algorithm>
#include <cmath>

#include "src/analysis/linearise.h"
#include "src/base/error.h"
#include "src/system/equations.h"
#include "src/system/mass_metric.h"
#include "src/system/system.h"

namespace zwang {

namespace {

using Complex = std::complex<double>;
using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Rounding of a root, relative to the size of the matrix and the condition of the root.
constexpr double rounding = 1e-13;
// Beyond this condition two coinciding roots share their shape. A double root with only one shape is split by
// the square root of rounding, and its condition is about 1e8.
constexpr double merged = 1e6;
// Rows of unit length nearer than this to the span of the others depend on them.
constexpr double dependence = 1e-9;

// Orthonormal basis of the directions that the rows leave free.
MatrixXd free_directions(MatrixXd rows) {
  const Index n = rows.cols();
  for (Index i = 0; i < rows.rows(); ++i)
    if (rows.row(i).norm() > 0) rows.row(i).normalize();
  if (rows.rows() == 0) return MatrixXd::Identity(n, n);
  Eigen::ColPivHouseholderQR<MatrixXd> qr;
  qr.setThreshold(dependence);
  qr.compute(rows.transpose());
  const MatrixXd q = qr.householderQ() * MatrixXd::Identity(n, n);
  return q.rightCols(n - qr.rank());
}

Index rank(const MatrixXd& rows) { return rows.rows() == 0 ? 0 : rows.cols() - free_directions(rows).cols(); }

// The linear equations with q measured in the mass metric: M = L L^T, x = L^T dq.
struct Metric {
  Eigen::LLT<MatrixXd> factor;
  MatrixXd stiffness, damping, coupling, rows, values_q, rates_q, rates_v, rates_z;

  explicit Metric(const Linearisation& linear) : factor(linear.mass), rates_z(linear.rates_z) {
    const auto left = [&](const MatrixXd& m) { return MatrixXd(factor.matrixL().solve(m)); };
    const auto right = [&](const MatrixXd& m) {
      return m.rows() == 0 ? m : MatrixXd(left(m.transpose()).transpose());
    };
    stiffness = right(left(linear.stiffness));
    damping = right(left(linear.damping));
    coupling = left(linear.coupling);
    rows = right(linear.rows);
    values_q = right(linear.values_q);
    rates_q = right(linear.rates_q);
    rates_v = right(linear.rates_v);
  }
};

// Rows by kind. `homogeneous` rows are velocity conditions that also hold at rest near the equilibrium; each
// adds a root 0.
struct RowKinds {
  std::vector<Index> holonomic, homogeneous, driven;
};

RowKinds sort_rows(const System& system, const std::vector<std::size_t>& set, const Metric& metric) {
  RowKinds kinds;
  for (std::size_t k = 0; k < set.size(); ++k) {
    const auto s = static_cast<Index>(k);
    if (system.constraints[set[k]].holonomic)
      kinds.holonomic.push_back(s);
    else
      (metric.values_q.row(s).isZero(0) ? kinds.homogeneous : kinds.driven).push_back(s);
  }
  return kinds;
}

MatrixXd chosen(const MatrixXd& rows, std::vector<Index> first, const std::vector<Index>& second = {}) {
  first.insert(first.end(), second.begin(), second.end());
  return rows(first, Eigen::all);
}

// --- Eigenvalues and their conditions ---

struct Roots {
  Eigen::VectorXcd values;
  MatrixXcd vectors;
  VectorXd condition;
  double size = 0;  // of the matrix
};

Roots roots_of(const MatrixXd& matrix, bool symmetric) {
  Roots made;
  made.size = matrix.norm();
  if (matrix.rows() == 0) return made;
  if (symmetric) {
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(0.5 * (matrix + matrix.transpose()));
    made.values = solver.eigenvalues().cast<Complex>();
    made.vectors = solver.eigenvectors().cast<Complex>();
    made.condition = VectorXd::Ones(matrix.rows());
    return made;
  }
  const Eigen::EigenSolver<MatrixXd> solver(matrix);
  made.values = solver.eigenvalues();
  made.vectors = solver.eigenvectors();
  for (Index i = 0; i < made.vectors.cols(); ++i) made.vectors.col(i).normalize();
  // 1 / |y^H x| with left and right vectors of length 1: the rows of the inverse are the left vectors.
  const MatrixXcd inverse = made.vectors.fullPivLu().inverse();
  made.condition.resize(matrix.rows());
  for (Index i = 0; i < matrix.rows(); ++i) {
    const double condition = inverse.row(i).norm();
    made.condition(i) = std::isfinite(condition) ? std::clamp(condition, 1.0, 1e8) : 1e8;
  }
  return made;
}

// --- The two eigenproblems ---

void normalise(Eigen::VectorXcd& shape) {
  Index largest = 0;
  // The first of equal entries, so that the sign does not depend on rounding.
  for (Index i = 1; i < shape.size(); ++i)
    if (std::abs(shape(i)) > (1 + 1e-9) * std::abs(shape(largest))) largest = i;
  if (shape.size() > 0 && std::abs(shape(largest)) > 0) shape /= Complex(shape(largest));
  for (Complex& entry : shape) {
    if (std::abs(entry.real()) < 1e-15) entry.real(0);
    if (std::abs(entry.imag()) < 1e-15) entry.imag(0);
  }
}

// No velocities in the equations: x = N y, y'' = N^T K N y. The multipliers are eliminated by N.
void second_order_modes(const Metric& metric, const MatrixXd& free, const MatrixXd& reduced, Modes& made) {
  const Roots roots = roots_of(reduced, made.symmetric);
  for (Index i = 0; i < roots.values.size(); ++i) {
    Mode mode;
    mode.condition = roots.condition(i);
    const double noise = rounding * roots.size * mode.condition;
    mode.squared = roots.values(i);
    mode.zero = std::abs(mode.squared) <= noise;
    if (mode.zero) mode.squared = 0;
    if (std::abs(mode.squared.imag()) <= noise && mode.condition < merged) mode.squared.imag(0);
    mode.root = std::sqrt(mode.squared);
    for (Index k = 0; k < roots.values.size() && !made.symmetric; ++k)
      if (k != i && mode.condition >= merged && std::abs(roots.values(k) - roots.values(i)) <= noise)
        mode.shared = true;
    mode.shape = metric.factor.matrixU().solve((free.cast<Complex>() * roots.vectors.col(i)).eval());
    normalise(mode.shape);
    made.modes.push_back(std::move(mode));
  }
}

// The general case: w = (x, x', z) obeys w' = J w and stays in the admissible directions.
void first_order_modes(const Metric& metric, const RowKinds& kinds, Modes& made) {
  const Index n = metric.stiffness.rows(), nz = metric.rates_z.rows(), r = metric.rows.rows();
  // Accelerations that satisfy the rows: P (K x + C x' + E z) - B^+ (g_q x').
  const MatrixXd free = free_directions(metric.rows);
  const MatrixXd keep = free * free.transpose();
  MatrixXd driven = MatrixXd::Zero(n, n);
  if (r > 0) {
    MatrixXd slopes = metric.values_q;
    for (const Index s : kinds.holonomic) slopes.row(s).setZero();
    Eigen::CompleteOrthogonalDecomposition<MatrixXd> rows;
    rows.setThreshold(dependence);
    driven = rows.compute(metric.rows).solve(slopes);
  }
  MatrixXd flow = MatrixXd::Zero(2 * n + nz, 2 * n + nz);
  flow.block(0, n, n, n).setIdentity();
  flow.block(n, 0, n, n) = keep * metric.stiffness;
  flow.block(n, n, n, n) = keep * metric.damping - driven;
  flow.block(n, 2 * n, n, nz) = keep * metric.coupling;
  flow.block(2 * n, 0, nz, n) = metric.rates_q;
  flow.block(2 * n, n, nz, n) = metric.rates_v;
  flow.block(2 * n, 2 * n, nz, nz) = metric.rates_z;

  // A x = 0 (for velocity conditions with constant 0, which excludes their roots 0), A x' + g_q x = 0.
  const MatrixXd on_positions = chosen(metric.rows, kinds.holonomic, kinds.homogeneous);
  const MatrixXd driving = chosen(metric.values_q, kinds.driven),
                 on_velocities = chosen(metric.rows, kinds.driven);
  const Index p = on_positions.rows(), d = driving.rows();
  MatrixXd allowed = MatrixXd::Zero(2 * p + d, 2 * n + nz);
  allowed.block(0, 0, p, n) = on_positions;
  allowed.block(p, n, p, n) = on_positions;
  allowed.block(2 * p, 0, d, n) = driving;
  allowed.block(2 * p, n, d, n) = on_velocities;
  const MatrixXd basis = free_directions(allowed);
  const Roots roots = roots_of(basis.transpose() * flow * basis, false);
  for (Index i = 0; i < roots.values.size(); ++i) {
    Mode mode;
    mode.condition = roots.condition(i);
    const double noise = rounding * roots.size * mode.condition;
    mode.root = roots.values(i);
    mode.zero = std::abs(mode.root) <= noise;
    if (mode.zero) mode.root = 0;
    if (std::abs(mode.root.real()) <= noise && mode.condition < merged) mode.root.real(0);
    mode.squared = mode.root * mode.root;
    for (Index k = 0; k < roots.values.size(); ++k)
      if (k != i && mode.condition >= merged && std::abs(roots.values(k) - roots.values(i)) <= noise)
        mode.shared = true;
    const Eigen::VectorXcd whole = basis.cast<Complex>() * roots.vectors.col(i);
    mode.shape = metric.factor.matrixU().solve(whole.head(n).eval());
    normalise(mode.shape);
    made.modes.push_back(std::move(mode));
  }
}

void order(std::vector<Mode>& modes) {
  std::stable_sort(modes.begin(), modes.end(), [](const Mode& a, const Mode& b) {
    const double fa = std::abs(a.root.imag()), fb = std::abs(b.root.imag());
    const double same = 1e-9 * (std::abs(a.root) + std::abs(b.root));
    if (std::abs(fa - fb) > same) return fa < fb;
    if (std::abs(a.root.real() - b.root.real()) > same) return a.root.real() > b.root.real();
    return a.root.imag() > b.root.imag() + same;
  });
}

// --- Properties of the matrix and its quadratic form ---

Definiteness definiteness(const MatrixXd& matrix) {
  if (matrix.rows() == 0) return Definiteness::empty;
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(0.5 * (matrix + matrix.transpose()),
                                                       Eigen::EigenvaluesOnly);
  const VectorXd values = solver.eigenvalues();
  const double noise = rounding * matrix.norm();
  const bool negative = values.minCoeff()<-noise, positive = values.maxCoeff()> noise;
  if (negative && positive) return Definiteness::indefinite;
  if (values.cwiseAbs().minCoeff() <= noise) return Definiteness::semidefinite;
  return negative ? Definiteness::negative : Definiteness::positive;
}

// Dependent rows leave combinations of multipliers undetermined. True if the characteristic matrix depends on
// these.
bool depends_on_multipliers(const Linearisation& linear, const Metric& metric, const MatrixXd& free) {
  const MatrixXd combinations = free_directions(metric.rows.transpose());  // r x k
  const MatrixXd directions = metric.factor.matrixU().solve(free);
  for (Index k = 0; k < combinations.cols(); ++k) {
    MatrixXd change = MatrixXd::Zero(linear.mass.rows(), linear.mass.cols());
    double size = 0;
    for (Index s = 0; s < combinations.rows(); ++s) {
      const MatrixXd& slopes = linear.row_slopes[static_cast<std::size_t>(s)];
      change += combinations(s, k) * slopes;
      size += std::abs(combinations(s, k)) * (directions.transpose() * slopes * directions).norm();
    }
    if ((directions.transpose() * change * directions).norm() > dependence * size) return true;
  }
  return false;
}

// Verification of the roots: the smallest singular value of [lambda^2 M - lambda C - K, A^T; A, 0] over its
// size, at the worst root. It shares no bases or Schur forms with the solver, and does not apply with
// auxiliaries or driven conditions.
double bordered_residual(const Linearisation& linear, const Metric& metric, const std::vector<Mode>& modes) {
  const Index n = linear.mass.rows(), r = linear.rows.rows();
  MatrixXd unit = metric.rows;
  for (Index s = 0; s < r; ++s)
    if (unit.row(s).norm() > 0) unit.row(s).normalize();
  double worst = 0;
  for (const Mode& mode : modes) {
    MatrixXcd bordered = MatrixXcd::Zero(n + r, n + r);
    bordered.topLeftCorner(n, n) = mode.squared * MatrixXcd::Identity(n, n) -
                                   mode.root * metric.damping.cast<Complex>() -
                                   metric.stiffness.cast<Complex>();
    const double size = std::max(bordered.norm(), std::abs(mode.squared));
    if (!(size > 0)) continue;
    bordered /= size;
    bordered.topRightCorner(n, r) = unit.transpose().cast<Complex>();
    bordered.bottomLeftCorner(r, n) = unit.cast<Complex>();
    const VectorXd values = Eigen::JacobiSVD<MatrixXcd>(bordered).singularValues();
    worst = std::max(worst, values(values.size() - 1) / mode.condition);
  }
  return worst;
}

// A force like sqrt(x^2 + y^2) has a value but no derivative at the origin.
void require_smooth(const System& system, const Linearisation& linear) {
  if (linear.finite()) return;
  std::vector<std::string> rough;
  for (std::size_t i = 0; i < system.size(); ++i) {
    const auto k = static_cast<Index>(i);
    if (!linear.stiffness.row(k).allFinite() || !linear.damping.row(k).allFinite() ||
        !linear.coupling.row(k).allFinite())
      rough.push_back("a force on " + system.coordinates[i]);
  }
  throw Error({.message = "the equations cannot be linearised at the equilibrium",
               .found = (rough.empty() ? "a condition or rate" : joined(rough)) +
                        " without a finite derivative there",
               .expected = "forces and conditions that are smooth at rest",
               .hint = "if a term of the formula is switched off by a parameter, leave it out"});
}

// Friction and bounded multipliers are set-valued at rest: there is no linear system of small motions about it.
void refuse_set_valued_forces(const System& system) {
  std::vector<std::string> names;
  for (const Constraint& constraint : system.constraints)
    if (constraint.friction || constraint.limit || constraint.breaks_with_link)
      names.push_back("'" + constraint.name + "' (" + (constraint.friction ? "friction" : "limit") + ")");
  if (names.empty()) return;
  throw Error(
      {.message = "a system with friction or limits has no modes of oscillation",
       .found = joined(names) + ", whose force at rest is not a function of the state",
       .expected = "constraints without friction and limit",
       .hint = "friction = 0 counts as friction too: leave the keys out to see the modes without them"});
}

}  // namespace

Modes find_modes(const RestEquations& rest, const State& start, double tolerance) {
  const System& system = rest.equations().system();
  refuse_set_valued_forces(system);
  Modes made;

  // The equilibrium.
  made.equilibrium = find_equilibrium(rest, start, tolerance);
  const Equilibrium& at = made.equilibrium;
  if (!at.found) {
    made.reason =
        "no position near the start was found where the reactions of the conditions balance the forces";
    return made;
  }

  // The linear equations there.
  VectorXd multipliers(static_cast<Index>(at.set.size()));
  for (std::size_t k = 0; k < at.set.size(); ++k)
    multipliers(static_cast<Index>(k)) = at.multipliers(static_cast<Index>(at.set[k]));
  made.linear = rest.at(at.state.q, at.state.z, at.set, multipliers);
  require_smooth(system, made.linear);
  const Metric metric(made.linear);
  const RowKinds kinds = sort_rows(system, at.set, metric);
  const MatrixXd free = free_directions(metric.rows);
  const MatrixXd reduced = free.transpose() * metric.stiffness * free;

  // Properties of the characteristic matrix [voss-8].
  made.asymmetry = reduced.norm() > 0 ? (reduced - reduced.transpose()).norm() / reduced.norm() : 0;
  made.symmetric = made.asymmetry <= 1e-11;
  made.form = definiteness(reduced);
  made.second_order = rest.states().empty() && metric.damping.isZero(0) && kinds.driven.empty();
  made.redundant = rank(metric.rows) < metric.rows.rows();
  made.singular = made.redundant && depends_on_multipliers(made.linear, metric, free);
  made.structural_zeros =
      static_cast<int>(rank(metric.rows) - rank(chosen(metric.rows, kinds.holonomic, kinds.driven)));

  // Its roots, and the verdict on stability.
  if (made.second_order)
    second_order_modes(metric, free, reduced, made);
  else
    first_order_modes(metric, kinds, made);
  order(made.modes);
  if (rest.states().empty() && kinds.driven.empty())
    made.residual = bordered_residual(made.linear, metric, made.modes);
  decide(system, made);
  return made;
}

}  // namespace zwang
