// Least-norm multipliers inside cones by cutting planes, and the excess over the cones by enumeration of vertices.
#include "src/laws/cone_multipliers.h"

#include <cmath>
#include <limits>

#include "src/base/index.h"
#include "src/quadratic_program/quadratic_program.h"
#include "src/quadratic_program/solve.h"

namespace zwang {

namespace {

constexpr double null_threshold = 1e-10;
constexpr int cut_limit = 60;
constexpr std::size_t vertex_limit = 200'000;

// C lambda - d <= tau t
struct Cut {
  Eigen::VectorXd c;
  double d = 0;
  double tau = 0;    // 1: a side of a cone or of a bound, 0: the sign of a normal force
  double noise = 0;  // of C lambda
};

double noise_of(const DependentMultipliers& all, const Eigen::VectorXd& c) {
  return c.cwiseAbs().dot(all.noise);
}

Cut cone_cut(const DependentMultipliers& all, const HeldCone& cone, const Eigen::VectorXd& direction) {
  Cut cut{Eigen::VectorXd::Zero(all.particular.size())};
  for (Eigen::Index k = 0; k < cone.tangents; ++k) cut.c(cone.tangent + k) = direction(k);
  cut.c(cone.normal) = -cone.cone;
  cut.tau = 1;
  cut.noise = noise_of(all, cut.c);
  return cut;
}

// Signs of the normal forces, both sides of planar cones, four of spatial ones, and the bounds.
std::vector<Cut> first_cuts(const DependentMultipliers& all) {
  std::vector<Cut> cuts;
  for (const HeldBound& bound : all.bounds)
    for (const double sign : {-1.0, 1.0}) {
      const double limit = sign > 0 ? bound.most : -bound.least;
      if (!std::isfinite(limit)) continue;
      Cut cut{Eigen::VectorXd::Zero(all.particular.size())};
      cut.c(bound.row) = sign;
      cut.d = limit;
      cut.noise = noise_of(all, cut.c);
      cuts.push_back(std::move(cut));
    }
  for (const HeldCone& cone : all.cones)
    for (Eigen::Index k = 0; k < cone.tangents; ++k)
      for (const double sign : {-1.0, 1.0})
        cuts.push_back(cone_cut(all, cone, sign * Eigen::VectorXd::Unit(cone.tangents, k)));
  return cuts;
}

// Adds the side of every spatial cone that lambda leaves by more than `over`; false if it leaves none.
bool cut_again(const DependentMultipliers& all, const Eigen::VectorXd& lambda, double over,
               std::vector<Cut>& cuts) {
  bool added = false;
  for (const HeldCone& cone : all.cones) {
    if (cone.tangents == 1) continue;
    const Eigen::VectorXd force = lambda.segment(cone.tangent, cone.tangents);
    const double size = force.norm(), excess = size - cone.cone * lambda(cone.normal);
    if (!(excess > over + 1e-13 * size) || !(size > 0)) continue;
    cuts.push_back(cone_cut(all, cone, force / size));
    added = true;
  }
  return added;
}

// The least t at w: the largest violation of the cuts with tau = 1. NaN where a sign is violated.
double excess_at(const std::vector<Cut>& cuts, const Eigen::VectorXd& lambda) {
  double t = -std::numeric_limits<double>::infinity();
  for (const Cut& cut : cuts) {
    const double value = cut.c.dot(lambda) - cut.d;
    if (cut.tau == 0 && value > 10 * cut.noise + 1e-12 * std::abs(cut.d)) return std::nan("");
    if (cut.tau > 0) t = std::max(t, value);
  }
  return t;
}

// The linear programme in (w, t): its minimum is at a vertex, where as many cuts are tight as there are unknowns.
struct Vertices {
  const DependentMultipliers& all;
  const std::vector<Cut>& cuts;
  double best = std::numeric_limits<double>::infinity();
  Eigen::VectorXd lambda = all.particular;
  std::size_t tried = 0;

  void visit(std::vector<std::size_t>& chosen, std::size_t next) {
    const auto unknowns = static_cast<std::size_t>(all.null.cols()) + 1;
    if (chosen.size() == unknowns) {
      judge(chosen);
      return;
    }
    for (std::size_t k = next; k < cuts.size() && tried < vertex_limit; ++k) {
      chosen.push_back(k);
      visit(chosen, k + 1);
      chosen.pop_back();
    }
  }
  void judge(const std::vector<std::size_t>& chosen) {
    ++tried;
    const Eigen::Index size = index(chosen.size());
    Eigen::MatrixXd matrix(size, size);
    Eigen::VectorXd right(size);
    for (Eigen::Index i = 0; i < size; ++i) {
      const Cut& cut = cuts[chosen[static_cast<std::size_t>(i)]];
      matrix.row(i).head(size - 1) = cut.c.transpose() * all.null;
      matrix(i, size - 1) = -cut.tau;
      right(i) = cut.d - cut.c.dot(all.particular);
    }
    const Eigen::FullPivLU<Eigen::MatrixXd> lu(matrix);
    if (!lu.isInvertible()) return;
    const Eigen::VectorXd solution = lu.solve(right);
    const Eigen::VectorXd at = all.particular + all.null * solution.head(size - 1);
    const double t = excess_at(cuts, at);
    if (t < best) {
      best = t;
      lambda = at;
    }
  }
};

}  // namespace

void split_along_null_space(const Eigen::MatrixXd& forces, const Eigen::VectorXd& solution,
                            DependentMultipliers& made) {
  const Eigen::Index count = forces.cols();
  Eigen::VectorXd lengths = forces.colwise().norm();
  for (double& length : lengths)
    if (!(length > 0)) length = 1;
  Eigen::FullPivLU<Eigen::MatrixXd> lu(forces * lengths.cwiseInverse().asDiagonal());
  lu.setThreshold(null_threshold);
  const Eigen::Index dimension = lu.dimensionOfKernel();
  made.particular = solution;
  made.null.resize(count, dimension);
  if (dimension == 0) return;
  const Eigen::MatrixXd kernel = lengths.cwiseInverse().asDiagonal() * lu.kernel();
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(kernel);
  made.null = qr.householderQ() * Eigen::MatrixXd::Identity(count, dimension);
  made.particular -= made.null * (made.null.transpose() * solution);
}

std::optional<Eigen::VectorXd> least_norm_in_cones(const DependentMultipliers& all) {
  std::vector<Cut> cuts = first_cuts(all);
  Eigen::VectorXd lambda = all.particular;
  for (int pass = 0; pass < cut_limit; ++pass) {
    QuadraticProgram program;
    const Eigen::Index unknowns = all.null.cols();
    program.mass = Eigen::MatrixXd::Identity(unknowns, unknowns);
    program.free = Eigen::VectorXd::Zero(unknowns);
    std::vector<Eigen::RowVectorXd> rows;
    std::vector<double> offsets;
    for (const Cut& cut : cuts) {
      const double offset = cut.c.dot(all.particular) - cut.d - cut.noise;
      const Eigen::RowVectorXd row = cut.c.transpose() * all.null;
      if (row.norm() > 1e-12 * cut.c.norm()) {
        rows.push_back(row);
        offsets.push_back(offset);
      } else if (offset > 0) {
        return std::nullopt;
      }
    }
    program.rows.resize(index(rows.size()), unknowns);
    program.offsets.resize(index(rows.size()));
    for (std::size_t k = 0; k < rows.size(); ++k) {
      program.rows.row(index(k)) = rows[k];
      program.offsets(index(k)) = offsets[k];
    }
    program.equation.assign(rows.size(), 0);
    if (unknowns > 0) {
      const QpSolution solution = solve_qp(program);
      if (!solution.feasible) return std::nullopt;
      lambda = all.particular + all.null * solution.x;
    }
    const double over = 1e-12 * lambda.cwiseAbs().maxCoeff();
    if (!cut_again(all, lambda, over, cuts)) return lambda;
  }
  return lambda;
}

double smallest_excess(const DependentMultipliers& all) {
  std::vector<Cut> cuts = first_cuts(all);
  double best = excess_at(cuts, all.particular);
  for (int pass = 0; pass < cut_limit; ++pass) {
    Vertices vertices{all, cuts};
    std::vector<std::size_t> chosen;
    vertices.visit(chosen, 0);
    if (!std::isfinite(vertices.best)) return best;
    best = vertices.best;
    const std::size_t before = cuts.size();
    const double scale = vertices.lambda.cwiseAbs().maxCoeff();
    if (!cut_again(all, vertices.lambda, best + 1e-12 * scale, cuts) || cuts.size() == before) break;
  }
  return best;
}

}  // namespace zwang
