// Secular equation of the distance to a quadric, with the hard case.
#include "src/quadratic_program/nearest_on_quadric.h"

#include <algorithm>
#include <cmath>

namespace zwang {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Tolerances for numbers of order 1.
constexpr double noise = 1e-13;  // for values computed directly from the caller's numbers
constexpr double loose = 1e-9;   // for values computed through a root

// Equal eigenvalues form one term of the secular equation.
struct Cluster {
  double d = 0;                // eigenvalue
  std::vector<Index> members;  // its directions
  double beta = 0;             // length of b there; exactly 0 where it is noise
};

// H = V diag(d) V^T, b = V beta, in units in which |H| = 1 and b, c are at most 1.
struct Diagonal {
  double size = 0;    // |H|
  double length = 0;  // one unit of z; 0: the origin is the vertex
  MatrixXd vectors;
  VectorXd d, beta;
  double constant = 0;
  std::vector<Cluster> clusters;

  double value(const VectorXd& y) const { return y.dot(d.cwiseProduct(y)) + 2 * beta.dot(y) + constant; }
};

Diagonal diagonalise(const Quadric& quadric) {
  Diagonal made;
  const double size = made.size = quadric.matrix.norm();
  made.length = std::max(quadric.linear.norm() / size, std::sqrt(std::abs(quadric.constant) / size));
  if (!(made.length > 0)) return made;
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(quadric.matrix / size);
  made.vectors = solver.eigenvectors();
  made.d = solver.eigenvalues();
  made.beta = made.vectors.transpose() * quadric.linear / (size * made.length);
  made.constant = quadric.constant / (size * made.length * made.length);
  for (Index i = 0; i < made.d.size(); ++i) {
    if (std::abs(made.d(i)) <= noise) made.d(i) = 0;
    if (std::abs(made.beta(i)) <= noise) made.beta(i) = 0;
    if (made.clusters.empty() || made.d(i) - made.clusters.back().d > 1e-11)
      made.clusters.push_back({made.d(i), {}, 0});
    Cluster& cluster = made.clusters.back();
    cluster.members.push_back(i);
    made.d(i) = cluster.d;
    cluster.beta = std::hypot(cluster.beta, made.beta(i));
  }
  return made;
}

// The secular equation: z_i = -nu beta_i / w_i with w_i = 1 + nu d_i, inserted into q. nu is represented as
// pole + shift, so that w is accurate near a pole, where the hard case begins.
struct Secular {
  const Diagonal& problem;
  std::vector<const Cluster*> terms;  // those with beta != 0
  double pole = 0;
  const Cluster* at_pole = nullptr;

  double w(const Cluster& term, double shift) const {
    return (&term == at_pole ? 0 : 1 + pole * term.d) + shift * term.d;
  }
  // phi = c - sum beta^2 nu (2 + nu d) / w^2,  phi' = -2 sum beta^2 / w^3
  double value(double shift, double* slope = nullptr, double* size = nullptr) const {
    const double nu = pole + shift;
    double sum = problem.constant, magnitude = std::abs(problem.constant), rise = 0;
    for (const Cluster* term : terms) {
      const double v = w(*term, shift), b2 = term->beta * term->beta;
      const double part = b2 * nu * (1 + v) / (v * v);
      sum -= part;
      magnitude += std::abs(part);
      rise -= 2 * b2 / (v * v * v);
    }
    if (slope) *slope = rise;
    if (size) *size = magnitude;
    return sum;
  }
  void measure_from_nearest_pole(double nu) {
    pole = 0;
    at_pole = nullptr;
    double nearest = std::abs(nu);
    for (const Cluster* term : terms)
      if (term->d != 0 && std::abs(nu + 1 / term->d) < nearest) {
        nearest = std::abs(nu + 1 / term->d);
        pole = -1 / term->d;
        at_pole = term;
      }
  }
};

// All nu at once, as eigenvalues: with T = [D, -W; -W, 0] and the border (-beta, nu beta) the Schur
// complement c - border^T T^-1 border is phi, so that phi = 0 where the pencil P0 + nu P1 of size 2k + 1 is
// singular.
std::vector<double> secular_roots(const Diagonal& problem, const std::vector<const Cluster*>& terms) {
  const auto k = static_cast<Index>(terms.size());
  MatrixXd p0 = MatrixXd::Zero(2 * k + 1, 2 * k + 1), p1 = p0;
  p0(0, 0) = problem.constant;
  for (Index i = 0; i < k; ++i) {
    const Cluster& term = *terms[static_cast<std::size_t>(i)];
    const Index x = 1 + i, y = 1 + k + i;
    p0(0, x) = p0(x, 0) = -term.beta;
    p0(x, x) = term.d;
    p0(x, y) = p0(y, x) = -1;
    p1(0, y) = p1(y, 0) = term.beta;
    p1(x, y) = p1(y, x) = -term.d;
  }
  // The shift is not a root, so that roots at 0 and at infinity are finite eigenvalues -1/(nu - shift).
  const double shift = 0.2718281828;
  const MatrixXd matrix = (p0 + shift * p1).fullPivLu().solve(p1);
  std::vector<double> roots;
  if (!matrix.allFinite()) return roots;
  const Eigen::VectorXcd values = Eigen::EigenSolver<MatrixXd>(matrix, false).eigenvalues();
  for (const std::complex<double>& value : values) {
    if (std::abs(value) < noise) continue;
    const std::complex<double> nu = shift - 1.0 / value;
    if (std::abs(nu.imag()) <= 1e-6 * (1 + std::abs(nu))) roots.push_back(nu.real());
  }
  return roots;
}

struct QuadricCandidate {
  VectorXd y;
  double nu = 0;
  double radius = 0;
  const Cluster* sphere = nullptr;  // directions in which the point may be rotated
};

// Where b is small in the directions of a pole, its two roots lie closer together than eigenvalues can
// resolve. There the equation is rest = beta^2 nu (1 + w) / w^2 with everything but w taken at the pole.
std::vector<double> shifts_beside_pole(const Secular& secular) {
  const Cluster& pole = *secular.at_pole;
  Secular others{secular.problem, {}, secular.pole};
  for (const Cluster* term : secular.terms)
    if (term != &pole) others.terms.push_back(term);
  const double squared = pole.beta * pole.beta * secular.pole / others.value(0);
  if (!(squared > 0)) return {};
  const double w = std::sqrt(squared);
  return {w / pole.d, -w / pole.d};
}

// Every point with y + nu (D y + beta) = 0 and nu not at a pole.
void add_regular(const Diagonal& problem, std::vector<QuadricCandidate>& found) {
  Secular secular{problem, {}};
  for (const Cluster& cluster : problem.clusters)
    if (cluster.beta > 0) secular.terms.push_back(&cluster);
  const auto refine = [&](double shift) {
    double slope = 0, size = 0;
    double value = secular.value(shift, &slope, &size);
    // Newton iteration down to rounding; the start is close.
    for (int iteration = 0; iteration < 30 && value != 0; ++iteration) {
      const double next = shift - value / slope;
      double next_slope = 0, next_size = 0;
      const double next_value = secular.value(next, &next_slope, &next_size);
      if (!(std::abs(next_value) < std::abs(value))) break;
      shift = next;
      value = next_value;
      slope = next_slope;
      size = next_size;
    }
    if (!(std::abs(value) <= loose * size)) return;
    QuadricCandidate candidate{VectorXd::Zero(problem.d.size()), secular.pole + shift};
    for (const Cluster* term : secular.terms)
      for (const Index i : term->members)
        candidate.y(i) = -candidate.nu * problem.beta(i) / secular.w(*term, shift);
    found.push_back(candidate);
  };
  for (const double root : secular_roots(problem, secular.terms)) {
    secular.measure_from_nearest_pole(root);
    refine(root - secular.pole);
  }
  for (const Cluster* term : secular.terms) {
    if (term->d == 0 || term->beta > 1e-3) continue;
    secular.at_pole = term;
    secular.pole = -1 / term->d;
    for (const double shift : shifts_beside_pole(secular)) refine(shift);
  }
}

// The hard case: nu at a pole with b = 0 in its directions. These are free, and q = 0 determines the distance
// in them.
void add_poles(const Diagonal& problem, std::vector<QuadricCandidate>& found) {
  for (const Cluster& pole : problem.clusters) {
    if (pole.d == 0 || pole.beta > 0) continue;
    QuadricCandidate candidate{VectorXd::Zero(problem.d.size()), -1 / pole.d};
    for (const Cluster& cluster : problem.clusters)
      for (const Index i : cluster.members)
        if (&cluster != &pole && problem.beta(i) != 0)
          candidate.y(i) = -candidate.nu * problem.beta(i) / (1 + candidate.nu * cluster.d);
    const double squared = -problem.value(candidate.y) / pole.d;
    if (!(squared >= -noise * (1 + candidate.y.squaredNorm()))) continue;
    candidate.radius = std::sqrt(std::max(squared, 0.0));
    candidate.sphere = &pole;
    found.push_back(candidate);
  }
}

// The second-order condition: W = I + nu D is positive in the directions tangent to the quadric, except for
// those along the family itself. Where W has no negative entry at all the point is the global minimum.
bool is_minimum(const Diagonal& problem, const VectorXd& y, double nu, Index family) {
  // At a vertex nu tends to infinity: no minimum, unless the quadric is only its vertex.
  const VectorXd slope = problem.d.cwiseProduct(y) + problem.beta;
  if (slope.norm() <= 1e-7 * y.norm()) return false;
  const VectorXd w = VectorXd::Ones(y.size()) + nu * problem.d;
  if (w.minCoeff() >= -loose) return true;
  const MatrixXd q =
      Eigen::HouseholderQR<MatrixXd>(slope).householderQ() * MatrixXd::Identity(y.size(), y.size());
  const MatrixXd tangent = q.rightCols(y.size() - 1);
  if (tangent.cols() == 0) return true;
  const VectorXd curvature = Eigen::SelfAdjointEigenSolver<MatrixXd>(
                                 tangent.transpose() * w.asDiagonal() * tangent, Eigen::EigenvaluesOnly)
                                 .eigenvalues();
  Index flat = 0;
  for (const double value : curvature) {
    if (value < -loose) return false;
    if (value <= loose) ++flat;
  }
  return flat <= family;
}

// The quadric is only its vertex: H is semidefinite, b = 0 in its kernel, and q(vertex) = 0.
bool vertex_only(const Diagonal& problem, VectorXd& vertex) {
  vertex = VectorXd::Zero(problem.d.size());
  for (const Cluster& cluster : problem.clusters) {
    if (cluster.d == 0 && cluster.beta > 0) return false;
    for (const Index i : cluster.members)
      if (cluster.d != 0) vertex(i) = -problem.beta(i) / cluster.d;
  }
  const bool one_sign = problem.d.minCoeff() >= 0 || problem.d.maxCoeff() <= 0;
  return one_sign && std::abs(problem.value(vertex)) <= noise * (1 + vertex.squaredNorm());
}

class Collector {
 public:
  explicit Collector(const Diagonal& problem) : problem_(problem) {}

  void add(const VectorXd& y, double nu) {
    NearestPoint point;
    point.z = problem_.length * (problem_.vectors * y);
    point.center = point.z;
    point.basis.resize(y.size(), 0);
    point.multiplier = nu / problem_.size;
    for (const NearestPoint& other : points_)
      if ((other.z - point.z).norm() <= loose * problem_.length && other.basis.cols() == 0) return;
    points_.push_back(std::move(point));
  }
  void add_family(const QuadricCandidate& candidate) {
    NearestPoint point;
    const std::vector<Index>& members = candidate.sphere->members;
    point.center = problem_.length * (problem_.vectors * candidate.y);
    point.radius = problem_.length * candidate.radius;
    // Directions along coordinates, where the eigenspace contains such: a circle is easiest to read in them.
    const MatrixXd space = problem_.vectors(Eigen::all, members);
    Eigen::ColPivHouseholderQR<MatrixXd> qr((space * space.transpose()).eval());
    point.basis = MatrixXd(qr.householderQ()).leftCols(space.cols());
    for (Index k = 0; k < point.basis.cols(); ++k) {
      Index largest = 0;
      point.basis.col(k).cwiseAbs().maxCoeff(&largest);
      if (point.basis(largest, k) < 0) point.basis.col(k) *= -1;
    }
    point.z = point.center + point.radius * point.basis.col(0);
    point.multiplier = candidate.nu / problem_.size;
    points_.push_back(std::move(point));
  }
  std::vector<NearestPoint> take() {
    std::stable_sort(points_.begin(), points_.end(), [](const NearestPoint& a, const NearestPoint& b) {
      return a.z.norm() < b.z.norm() * (1 - 1e-12);
    });
    return std::move(points_);
  }

 private:
  const Diagonal& problem_;
  std::vector<NearestPoint> points_;
};

void collect(const Diagonal& problem, const QuadricCandidate& candidate, Collector& collector) {
  if (!candidate.sphere || candidate.radius <= std::sqrt(noise)) {
    if (is_minimum(problem, candidate.y, candidate.nu, 0)) collector.add(candidate.y, candidate.nu);
    return;
  }
  VectorXd y = candidate.y;
  const std::vector<Index>& members = candidate.sphere->members;
  y(members[0]) = candidate.radius;
  if (!is_minimum(problem, y, candidate.nu, static_cast<Index>(members.size()) - 1)) return;
  if (members.size() > 1) return collector.add_family(candidate);
  collector.add(y, candidate.nu);
  y(members[0]) = -candidate.radius;
  collector.add(y, candidate.nu);
}

NearestPoint origin(Index size) {
  NearestPoint point;
  point.z = point.center = VectorXd::Zero(size);
  point.basis.resize(size, 0);
  return point;
}

// No curvature: a plane, or empty.
std::vector<NearestPoint> nearest_on_plane(const Quadric& quadric) {
  NearestPoint point = origin(quadric.linear.size());
  const double slope = quadric.linear.squaredNorm();
  const bool holds = quadric.inequality ? quadric.constant <= 0 : quadric.constant == 0;
  if (holds) return {point};
  if (!(slope > 0)) return {};
  point.multiplier = quadric.constant / (2 * slope);
  point.z = point.center = -point.multiplier * quadric.linear;
  return {point};
}

}  // namespace

std::vector<NearestPoint> nearest_points(const Quadric& quadric) {
  const Index size = quadric.linear.size();
  if (!(quadric.matrix.norm() > 0)) return nearest_on_plane(quadric);
  const Diagonal problem = diagonalise(quadric);
  if (!(problem.length > 0)) return {origin(size)};

  Collector collector(problem);
  const bool at_origin = std::abs(problem.constant) <= noise || (quadric.inequality && problem.constant <= 0);
  if (at_origin) collector.add(VectorXd::Zero(size), 0);
  // At a vertex the gradient is 0, and so is the multiplier.
  VectorXd vertex;
  if (vertex_only(problem, vertex)) {
    if (!at_origin) collector.add(vertex, 0);
    return collector.take();
  }
  std::vector<QuadricCandidate> candidates;
  add_regular(problem, candidates);
  add_poles(problem, candidates);
  for (const QuadricCandidate& candidate : candidates)
    if (!quadric.inequality || candidate.nu >= 0) collect(problem, candidate, collector);
  return collector.take();
}

}  // namespace zwang
