// Minima of the constraint at singular positions.
#include "src/laws/singular.h"

#include <algorithm>
#include <cmath>

#include "kernels/base/status.h"
#include "src/base/error.h"
#include "src/laws/vanishing_row.h"
#include "src/quadratic_program/quadratic_program.h"
#include "src/quadratic_program/solve.h"
#include "src/system/equations.h"
#include "src/system/mass_metric.h"

namespace zwang {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double dependence = 1e-10;  // of rows of unit length
constexpr double loose = 1e-9;        // for numbers computed through a solve
constexpr std::size_t few_inequalities = 10;

// Orthonormal basis of the null space of the rows, in columns.
MatrixXd kernel(const MatrixXd& rows) {
  const Index n = rows.cols();
  if (rows.rows() == 0) return MatrixXd::Identity(n, n);
  Eigen::ColPivHouseholderQR<MatrixXd> qr;
  qr.setThreshold(dependence);
  qr.compute(rows.transpose());
  return (MatrixXd(qr.householderQ()) * MatrixXd::Identity(n, n)).rightCols(n - qr.rank());
}

// Rows of unit length in the mass metric; z = L^T (a - a0), so that a row is u z + gap.
struct UnitRow {
  std::string name;
  bool equation = false;
  Eigen::RowVectorXd u;
  double gap = 0;
};

// The least constraint under linear rows and at most one quadric, with z measured from the free motion.
class ConeProgram {
 public:
  ConeProgram(const MatrixXd& mass, const VectorXd& free) : factor_(mass), free_(free) {
    // Until a quadric is added: one that every point satisfies.
    const Index n = free.size();
    quadric_ = {MatrixXd::Zero(n, n), VectorXd::Zero(n), 0, true};
  }

  void add_row(const std::string& name, bool equation, const Eigen::RowVectorXd& row, double rest) {
    UnitRow made{name, equation, factor_.matrixL().solve(row.transpose()).transpose(), row.dot(free_) + rest};
    const double length = made.u.norm();
    made.u /= length;
    made.gap /= length;
    rows_.push_back(made);
  }
  // q(a) = a^T H a + s . a + r, transformed to z.
  void add_quadric(const VanishingRow& row, bool equation) {
    Quadric moved;
    const auto left = [&](const MatrixXd& m) { return MatrixXd(factor_.matrixL().solve(m)); };
    moved.matrix = left(left(row.curvature).transpose());
    moved.matrix = (0.5 * (moved.matrix + moved.matrix.transpose())).eval();
    moved.linear = left(row.curvature * free_ + 0.5 * row.slope);
    moved.constant = free_.dot(row.curvature * free_) + row.slope.dot(free_) + row.rest;
    // A constant that cancels to rounding is zero: the free motion lies on the cone.
    const double terms = (row.curvature.cwiseAbs() * free_.cwiseAbs()).dot(free_.cwiseAbs()) +
                         row.slope.cwiseAbs().dot(free_.cwiseAbs()) + std::abs(row.rest);
    if (std::abs(moved.constant) <= 1e-15 * terms) moved.constant = 0;
    moved.inequality = !equation;
    quadric_ = moved;
    quadric_name_ = row.name;
  }

  bool small_enough() const {
    return static_cast<std::size_t>(std::count_if(
               rows_.begin(), rows_.end(), [](const UnitRow& r) { return !r.equation; })) <= few_inequalities;
  }

  // Every set of pressing linear inequalities, every local minimum with it.
  std::vector<SingularMinimum> minima() const {
    std::vector<Found> all = enumerate(true);
    std::erase_if(all, [&](const Found& one) { return one.vertex && can_be_left(one); });
    std::vector<SingularMinimum> found;
    for (Found& one : all) found.push_back(std::move(one.minimum));
    std::stable_sort(found.begin(), found.end(), [](const SingularMinimum& a, const SingularMinimum& b) {
      return a.distance < b.distance * (1 - 1e-12);
    });
    for (SingularMinimum& minimum : found)
      minimum.absolute = minimum.distance <= found[0].distance * (1 + loose);
    return found;
  }

 private:
  struct Found {
    SingularMinimum minimum;
    VectorXd z;
    bool vertex = false;  // the quadric's gradient is 0 here too
  };

  std::vector<Found> enumerate(bool vertices) const {
    std::vector<std::size_t> equations, inequalities;
    for (std::size_t k = 0; k < rows_.size(); ++k)
      (rows_[k].equation ? equations : inequalities).push_back(k);
    std::vector<Found> found;
    for (std::size_t bits = 0; bits < std::size_t{1} << inequalities.size(); ++bits) {
      std::vector<std::size_t> set = equations;
      for (std::size_t k = 0; k < inequalities.size(); ++k)
        if (bits >> k & 1) set.push_back(inequalities[k]);
      try_set(set, equations.size(), vertices, found);
    }
    return found;
  }

  // At a vertex the multipliers do not decide whether it is a minimum. The admissible set near it is a cone
  // with its tip there: a nearer point anywhere in that cone means that the distance decreases from the tip.
  bool can_be_left(const Found& vertex) const {
    ConeProgram near = *this;
    std::erase_if(near.rows_, [&](const UnitRow& row) {
      const double value = row.u.dot(vertex.z) + row.gap;
      return !row.equation && std::abs(value) > loose * (vertex.z.norm() + std::abs(row.gap));
    });
    for (const Found& other : near.enumerate(false))
      if (other.minimum.distance < vertex.minimum.distance * (1 - loose)) return true;
    return false;
  }

  // z = base + N y satisfies the rows of the set; base is the shortest such z, orthogonal to N.
  void try_set(const std::vector<std::size_t>& set, std::size_t equations, bool vertices,
               std::vector<Found>& found) const {
    const auto r = static_cast<Index>(set.size());
    MatrixXd u(r, free_.size());
    VectorXd gap(r);
    for (Index k = 0; k < r; ++k) {
      u.row(k) = rows_[set[static_cast<std::size_t>(k)]].u;
      gap(k) = rows_[set[static_cast<std::size_t>(k)]].gap;
    }
    const MatrixXd n = kernel(u);
    // Dependent inequalities: a smaller set has the same point.
    if (set.size() > equations && free_.size() - n.cols() < r) return;
    VectorXd base = VectorXd::Zero(free_.size());
    Eigen::CompleteOrthogonalDecomposition<MatrixXd> solver;
    solver.setThreshold(dependence);
    if (r > 0) {
      base = solver.compute(u).solve(-gap);
      if ((u * base + gap).norm() > loose * (gap.norm() + base.norm())) return;
    }
    Quadric within;
    within.matrix = n.transpose() * quadric_.matrix * n;
    within.linear = n.transpose() * quadric_.slope(base);
    within.constant = quadric_.value(base);
    within.inequality = quadric_.inequality;
    // Curvature, slope and value that are only rounding of the products are zero.
    const double size = quadric_.matrix.norm();
    const double slopes = size * base.norm() + quadric_.linear.norm();
    const double values = slopes * base.norm() + std::abs(quadric_.constant);
    if (within.matrix.norm() <= 1e-13 * size) within.matrix.setZero();
    if (within.linear.norm() <= 1e-14 * slopes) within.linear.setZero();
    if (std::abs(within.constant) <= 1e-14 * values) within.constant = 0;
    for (const NearestPoint& point : nearest_points(within)) {
      const VectorXd z = base + n * point.z;
      const bool vertex = size > 0 && quadric_.slope(z).norm() <= loose * size * z.norm();
      if (vertex && !vertices) continue;
      // z + nu (H z + b) + U^T mu = 0 gives the reactions of the linear rows.
      VectorXd mu = VectorXd::Zero(r);
      if (r > 0)
        mu = Eigen::CompleteOrthogonalDecomposition<MatrixXd>(u.transpose())
                 .solve(-(z + point.multiplier * quadric_.slope(z)));
      if (!vertex && !pushes(mu, equations, z)) continue;
      add(set, mu, n, base, point, vertex, found);
    }
  }

  bool pushes(const VectorXd& mu, std::size_t equations, const VectorXd& z) const {
    for (auto k = static_cast<Index>(equations); k < mu.size(); ++k)
      if (mu(k) <= loose * z.norm()) return false;  // a row that does not push is found with the smaller set
    return true;
  }

  void add(const std::vector<std::size_t>& set, const VectorXd& mu, const MatrixXd& n, const VectorXd& base,
           const NearestPoint& point, bool vertex, std::vector<Found>& found) const {
    SingularMinimum made;
    const VectorXd center = base + n * point.center;
    const MatrixXd basis = n * point.basis;
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      if (std::find(set.begin(), set.end(), k) != set.end()) continue;
      const double middle = rows_[k].u.dot(center) + rows_[k].gap;
      const double swing = point.radius * (rows_[k].u * basis).norm();
      const double zero = loose * (center.norm() + point.radius + std::abs(rows_[k].gap));
      if (middle - swing > zero) return;
      if (middle + swing > zero) made.partial = basis.cols() > 0;
      if (middle + swing > zero && basis.cols() == 0) return;
    }
    const auto acceleration = [&](const VectorXd& z) { return VectorXd(free_ + factor_.matrixU().solve(z)); };
    const VectorXd z = base + n * point.z;
    made.acceleration = acceleration(z);
    made.distance = z.norm();
    made.constraint = 0.5 * z.squaredNorm();
    made.reaction = factor_.matrixL() * z;
    made.center = acceleration(center);
    made.radius = point.radius;
    made.basis = factor_.matrixU().solve(basis);
    for (std::size_t k = 0; k < set.size(); ++k)
      if (rows_[set[k]].equation || mu(static_cast<Index>(k)) > 0)
        made.pressing.push_back(rows_[set[k]].name);
    if (!quadric_.inequality || point.multiplier > 0) made.pressing.push_back(quadric_name_);
    tidy(made);
    for (const Found& other : found)
      if ((other.z - z).norm() <= loose * (z.norm() + other.z.norm())) return;
    found.push_back({std::move(made), z, vertex});
  }

  // Sets entries to zero that are only rounding.
  void tidy(SingularMinimum& made) const {
    const double size = free_.norm() + made.acceleration.norm();
    for (VectorXd* x : {&made.acceleration, &made.center})
      for (double& entry : *x)
        if (std::abs(entry) <= 1e-15 * size) entry = 0;
    for (double& entry : made.basis.reshaped())
      if (std::abs(entry) <= 1e-15) entry = 0;
  }

  Eigen::LLT<MatrixXd> factor_;
  VectorXd free_;
  std::vector<UnitRow> rows_;
  Quadric quadric_;
  std::string quadric_name_;
};

// --- The rows as they are ---

void describe_rows(const LeastConstraint& gauss, SingularPosition& made) {
  const MassMetric metric(gauss.dynamics.mass);
  MatrixXd unit = metric.rows(gauss.program.rows);
  VectorXd length = unit.rowwise().norm();
  for (Index i = 0; i < unit.rows(); ++i) {
    if (!(length(i) > 0)) length(i) = 1;
    unit.row(i) /= length(i);
  }
  const MatrixXd free = kernel(unit);
  made.rank = static_cast<int>(unit.cols() - free.cols());
  made.null_directions = Eigen::LLT<MatrixXd>(gauss.dynamics.mass).matrixU().solve(free);
  // Combinations that vanish: the kernel of the transposed rows, in the caller's scaling.
  MatrixXd combinations = kernel(unit.transpose()).transpose();
  for (Index k = 0; k < combinations.rows(); ++k) {
    combinations.row(k) = combinations.row(k).cwiseQuotient(length.transpose());
    Index largest = 0;
    combinations.row(k).cwiseAbs().maxCoeff(&largest);
    combinations.row(k) /= double(combinations(k, largest));
    for (double& entry : combinations.row(k))
      if (std::abs(entry) < 1e-14) entry = 0;
  }
  made.dependencies = combinations;
  made.contradictions = combinations * gauss.program.offsets;
  const VectorXd terms = combinations.cwiseAbs() * gauss.program.offsets.cwiseAbs();
  for (Index k = 0; k < made.contradictions.size(); ++k)
    if (std::abs(made.contradictions(k)) <= loose * terms(k)) made.contradictions(k) = 0;
}

// --- Conditions with a vanishing row ---

// The solution with the remaining linear conditions alone, which is all that d'Alembert's principle uses.
void solve_dalembert(const LeastConstraint& gauss, const std::vector<char>& vanishes,
                     SingularPosition& made) {
  QuadraticProgram left;
  left.mass = gauss.program.mass;
  left.free = gauss.program.free;
  std::vector<Index> kept;
  for (std::size_t k = 0; k < gauss.rows.size(); ++k)
    if (!vanishes[k]) {
      kept.push_back(static_cast<Index>(k));
      left.equation.push_back(gauss.program.equation[k]);
    }
  left.rows = gauss.program.rows(kept, Eigen::all);
  left.offsets = gauss.program.offsets(kept);
  const QpSolution solution = solve_qp(left);
  if (!solution.feasible) return;
  made.dalembert = solution.x;
  for (const VanishingRow& row : made.vanishing) {
    const VectorXd& a = solution.x;
    const double value = a.dot(row.curvature * a) + row.slope.dot(a) + row.rest;
    const double terms = (row.curvature.cwiseAbs() * a.cwiseAbs()).dot(a.cwiseAbs()) +
                         row.slope.cwiseAbs().dot(a.cwiseAbs()) + std::abs(row.rest);
    std::size_t k = 0;
    while (gauss.rows[k] != row.condition) ++k;
    if (gauss.program.equation[k] ? std::abs(value) > loose * terms : value > loose * terms)
      made.dalembert_breaks.push_back(row.name);
  }
}

std::string conclude(const SingularPosition& made) {
  const auto absolute = std::count_if(made.minima.begin(), made.minima.end(),
                                      [](const SingularMinimum& m) { return m.absolute; });
  if (!made.untreated.empty()) return made.untreated;
  if (made.minima.empty()) return "no acceleration is admissible";
  std::string text;
  if (made.minima[0].basis.cols() > 0)
    text = "a continuum of accelerations has the same least constraint: Gauss's principle does not decide";
  else if (absolute > 1)
    text = std::to_string(absolute) +
           " accelerations have the same least constraint: Gauss's principle does not decide";
  else if (made.minima.size() > 1)
    text = "one absolute minimum of the constraint, " + std::to_string(made.minima.size() - 1) +
           " more local: Gauss's principle decides if the absolute one is meant";
  else
    text = "one minimum of the constraint: Gauss's principle decides";
  if (!made.dalembert_breaks.empty())
    text += "; d'Alembert's principle does not: what it allows breaks " + list_text(made.dalembert_breaks);
  return text;
}

void examine_vanishing_rows(const Equations& equations, const State& state, const Sizes& sizes,
                            const LeastConstraint& gauss, const std::vector<char>& vanishes,
                            SingularPosition& made) {
  ConeProgram program(gauss.program.mass, gauss.program.free);
  int quadrics = 0;
  for (std::size_t k = 0; k < gauss.rows.size(); ++k) {
    const auto i = static_cast<Index>(k);
    const bool equation = gauss.program.equation[k];
    const std::string& name = equations.system().constraints[gauss.rows[k]].name;
    if (!vanishes[k]) {
      program.add_row(name, equation, gauss.program.rows.row(i), gauss.program.offsets(i));
      continue;
    }
    // With A = 0 the second derivative is c whatever the acceleration.
    const double c = std::abs(gauss.program.offsets(i)) <= gauss.slack(i) ? 0 : gauss.program.offsets(i);
    if (!equation && c < 0) continue;
    const VanishingRow row = vanishing_row(equations, gauss.rows[k], state, sizes);
    made.vanishing.push_back(row);
    const bool linear = row.order > 0 && row.curvature.isZero(0);
    if (c != 0 || (linear && row.slope.isZero(0) && (equation || row.rest > 0)))
      made.untreated = "no acceleration is admissible: " + name + " is broken whatever the acceleration";
    else if (row.order == 0)
      made.untreated =
          name + " does not restrict accelerations up to its fourth derivative: minima not computed";
    else if (linear && !row.slope.isZero(0))
      program.add_row(name, equation, row.slope.transpose(), row.rest);
    else if (!linear && quadrics++ == 0)
      program.add_quadric(row, equation);
  }
  if (quadrics > 1)
    made.untreated = "more than one condition is quadratic in the accelerations: minima not computed";
  if (!program.small_enough()) made.untreated = "too many closed inequalities: minima not computed";
  solve_dalembert(gauss, vanishes, made);
  if (made.untreated.empty()) made.minima = program.minima();
  made.conclusion = conclude(made);
}

}  // namespace

std::optional<SingularPosition> singular_position(const Equations& equations, const State& state,
                                                  const Sizes& sizes, const LeastConstraint& gauss) {
  if (gauss.rows.empty() || gauss.status == Status::not_finite) return {};
  SingularPosition made;
  describe_rows(gauss, made);
  std::vector<char> vanishing_rows;
  for (const std::size_t condition : gauss.rows)
    vanishing_rows.push_back(vanishes(equations.scaled_row(condition, state, sizes)));
  const bool vanishing = std::find(vanishing_rows.begin(), vanishing_rows.end(), 1) != vanishing_rows.end();
  const bool inconsistent = gauss.status == Status::infeasible;
  const bool dependent = made.rank < static_cast<int>(gauss.rows.size());
  if (!vanishing && !inconsistent && !dependent) return {};

  if (vanishing) made.kinds.emplace_back("vanishing gradient");
  if (inconsistent) made.kinds.emplace_back("inconsistent");
  const auto gone = std::count(vanishing_rows.begin(), vanishing_rows.end(), 1);
  if (!inconsistent && made.rank < static_cast<int>(gauss.rows.size()) - gone)
    made.kinds.emplace_back("redundant");
  if (vanishing)
    examine_vanishing_rows(equations, state, sizes, gauss, vanishing_rows, made);
  else if (inconsistent)
    made.conclusion = "no acceleration is admissible: the conditions contradict each other";
  else
    made.conclusion = "the acceleration is unique, the multipliers are not";
  return made;
}

}  // namespace zwang
