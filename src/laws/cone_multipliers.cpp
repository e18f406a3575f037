// Multipliers inside cones by cutting planes, and the least excess over the cones as a linear programme.
#include "src/laws/cone_multipliers.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/base/index.h"
#include "src/quadratic_program/quadratic_program.h"
#include "src/quadratic_program/solve.h"

namespace zwang {

namespace {

constexpr double null_threshold = 1e-10;
constexpr double shared_threshold = 1e-6;  // of the entries of a dependence
constexpr int cut_limit = 60;
constexpr int proximal_limit = 50;
constexpr int refinement_limit = 30;

// An orthonormal basis of the null space of a matrix, whose columns may have any length.
Eigen::MatrixXd null_space(const Eigen::MatrixXd& matrix) {
  const Eigen::Index count = matrix.cols();
  Eigen::VectorXd lengths = matrix.colwise().norm();
  for (double& length : lengths)
    if (!(length > 0)) length = 1;
  Eigen::FullPivLU<Eigen::MatrixXd> lu(matrix * lengths.cwiseInverse().asDiagonal());
  lu.setThreshold(null_threshold);
  const Eigen::Index dimension = lu.dimensionOfKernel();
  if (dimension == 0) return Eigen::MatrixXd(count, 0);
  const Eigen::MatrixXd kernel = lengths.cwiseInverse().asDiagonal() * lu.kernel();
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(kernel);
  return qr.householderQ() * Eigen::MatrixXd::Identity(count, dimension);
}

// C lambda - d <= 0: a side of a cone or of a bound, or the sign of a normal force
struct Cut {
  Eigen::VectorXd c;
  double d = 0;
  double noise = 0;  // of C lambda
};

double noise_of(const DependentMultipliers& all, const Eigen::VectorXd& c) {
  return c.cwiseAbs().dot(all.noise);
}

Cut cone_cut(const DependentMultipliers& all, const HeldCone& cone, const Eigen::VectorXd& direction) {
  Cut cut{Eigen::VectorXd::Zero(all.particular.size())};
  for (Eigen::Index k = 0; k < cone.tangents; ++k) cut.c(cone.tangent + k) = direction(k);
  cut.c(cone.normal) = -cone.cone;
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

// minimise 1/2 (w - free)^T mass (w - free) under all cuts of particular + null w.
struct CutProgram {
  Eigen::MatrixXd mass;
  Eigen::VectorXd free, w;
  Eigen::VectorXd pushes;  // of the cuts: their multipliers in the programme
};

bool solve_under(const DependentMultipliers& all, const std::vector<Cut>& cuts, CutProgram& made) {
  const Eigen::Index unknowns = all.null.cols();
  QuadraticProgram program;
  program.mass = made.mass;
  program.free = made.free;
  std::vector<std::size_t> kept;
  for (std::size_t k = 0; k < cuts.size(); ++k) {
    const double offset = cuts[k].c.dot(all.particular) - cuts[k].d - cuts[k].noise;
    if ((cuts[k].c.transpose() * all.null).norm() > 1e-12 * cuts[k].c.norm())
      kept.push_back(k);
    else if (offset > 0)
      return false;
  }
  program.rows.resize(index(kept.size()), unknowns);
  program.offsets.resize(index(kept.size()));
  program.equation.assign(kept.size(), 0);
  for (std::size_t k = 0; k < kept.size(); ++k) {
    const Cut& cut = cuts[kept[k]];
    program.rows.row(index(k)) = cut.c.transpose() * all.null;
    program.offsets(index(k)) = cut.c.dot(all.particular) - cut.d - cut.noise;
  }
  made.w = made.free;
  made.pushes = Eigen::VectorXd::Zero(index(cuts.size()));
  if (unknowns == 0) return true;
  const QpSolution solution = solve_qp(program);
  if (!solution.feasible) return false;
  made.w = solution.x;
  for (std::size_t k = 0; k < kept.size(); ++k) made.pushes(index(kept[k])) = solution.multipliers(index(k));
  return true;
}

// Cuts leave a cone in space by rounding, and the nearest point along it is known to the square root of that only.
// Newton's method, the curvature of the cones included, finds it: each cone is replaced by its tangent plane at the last
// point. Returns w of the cuts where it does not converge.
Eigen::VectorXd refined(const DependentMultipliers& all, const std::vector<Cut>& cuts,
                        const CutProgram& from) {
  std::vector<const HeldCone*> cones;  // in space, pressed against by the solution
  Eigen::VectorXd w = from.w;
  Eigen::VectorXd lambda = all.particular + all.null * w;
  std::vector<double> pressed;
  for (const HeldCone& cone : all.cones) {
    if (cone.tangents == 1) continue;
    double sum = 0;
    for (std::size_t k = 0; k < cuts.size(); ++k)
      if (cuts[k].c.segment(cone.tangent, cone.tangents).norm() > 0) sum += from.pushes(index(k));
    if (sum == 0) continue;
    cones.push_back(&cone);
    pressed.push_back(sum);
  }
  if (cones.empty()) return w;
  std::vector<Cut> planes;
  for (const Cut& cut : cuts) {
    const bool of_cone = std::any_of(cones.begin(), cones.end(), [&](const HeldCone* cone) {
      return cut.c.segment(cone->tangent, cone->tangents).norm() > 0;
    });
    if (!of_cone) planes.push_back(cut);
  }
  const std::size_t flat = planes.size();
  double last = std::numeric_limits<double>::infinity();
  for (int pass = 0; pass < refinement_limit; ++pass) {
    planes.resize(flat);
    CutProgram next{Eigen::MatrixXd::Identity(w.size(), w.size()), {}, {}, {}};
    for (std::size_t k = 0; k < cones.size(); ++k) {
      const HeldCone& cone = *cones[k];
      const Eigen::VectorXd force = lambda.segment(cone.tangent, cone.tangents);
      const double size = force.norm();
      if (!(size > 1e-6 * lambda.cwiseAbs().maxCoeff()))
        return from.w;  // at its tip there is no tangent plane
      const Eigen::VectorXd d = force / size;
      const Eigen::MatrixXd along = all.null.middleRows(cone.tangent, cone.tangents);
      next.mass +=
          pressed[k] / size * (along.transpose() * along - (along.transpose() * d) * (d.transpose() * along));
      planes.push_back(cone_cut(all, cone, d));
    }
    next.free = w - next.mass.ldlt().solve(w);
    if (!solve_under(all, planes, next)) return from.w;
    const double moved = (next.w - w).norm();
    w = next.w;
    lambda = all.particular + all.null * w;
    for (std::size_t k = 0; k < cones.size(); ++k) pressed[k] = next.pushes(index(flat + k));
    if (moved <= 1e-14 * lambda.norm() || (moved <= 1e-9 * lambda.norm() && moved >= last)) return w;
    last = moved;
  }
  return from.w;
}

// A point of the linear programme: minimise t under all cuts.
struct LeastExcess {
  double t = 0;
  Eigen::VectorXd w;
};

// Proximal steps, each the quadratic programme: minimise t + ((w, t) - centre)^2/(2 reach). For a linear programme they
// end at its solution after finitely many. Where all margins can grow without bound, t stops at -10 times the forces.
LeastExcess least_excess(const DependentMultipliers& all, const std::vector<Cut>& cuts, LeastExcess from) {
  const Eigen::Index unknowns = all.null.cols(), rows = index(cuts.size());
  const double size = all.particular.cwiseAbs().maxCoeff(), reach = 10 * size;
  if (!(size > 0)) return from;
  QuadraticProgram program;
  program.mass = Eigen::MatrixXd::Identity(unknowns + 1, unknowns + 1);
  program.rows.resize(rows, unknowns + 1);
  program.offsets.resize(rows);
  program.equation.assign(cuts.size(), 0);
  for (Eigen::Index k = 0; k < rows; ++k) {
    const Cut& cut = cuts[static_cast<std::size_t>(k)];
    program.rows.row(k).head(unknowns) = cut.c.transpose() * all.null;
    program.rows(k, unknowns) = -1;
    program.offsets(k) = cut.c.dot(all.particular) - cut.d;
  }
  for (int pass = 0; pass < proximal_limit && from.t > -reach; ++pass) {
    program.free.resize(unknowns + 1);
    program.free << from.w, from.t - reach;
    const QpSolution found = solve_qp(program);
    if (!found.feasible) return from;
    const double gained = from.t - found.x(unknowns);
    from = {found.x(unknowns), found.x.head(unknowns)};
    if (pass > 0 && !(gained > 1e-14 * size)) break;
  }
  return from;
}

}  // namespace

Eigen::MatrixXd dependences_of(const Eigen::MatrixXd& rows) { return null_space(rows.transpose()); }

void share_loads(const Eigen::MatrixXd& rows, const Eigen::MatrixXd& forces, const Eigen::VectorXd& solution,
                 DependentMultipliers& made) {
  made.null = null_space(forces.transpose());
  made.particular = solution;
  if (!(rows - forces).isZero(0)) {
    // Changes of the multipliers that move no held row, but may move the system along the surface. They are as many as
    // the dependences of the rows, unless kappa of a slipping contact vanishes.
    Eigen::MatrixXd unit = rows;
    for (Eigen::Index k = 0; k < unit.rows(); ++k)
      if (unit.row(k).norm() > 0) unit.row(k).normalize();
    const Eigen::MatrixXd changes = null_space(unit * forces.transpose());
    const Eigen::MatrixXd dependences = dependences_of(rows);
    const Eigen::MatrixXd along = dependences.transpose() * changes;
    const Eigen::FullPivLU<Eigen::MatrixXd> lu(along);
    if (along.rows() == along.cols() && along.rows() > 0 && lu.isInvertible()) {
      made.particular -= changes * lu.solve(dependences.transpose() * solution);
      return;
    }
  }
  made.particular -= made.null * (made.null.transpose() * solution);
}

std::optional<Eigen::VectorXd> nearest_in_cones(const DependentMultipliers& all) {
  std::vector<Cut> cuts = first_cuts(all);
  const Eigen::Index unknowns = all.null.cols();
  CutProgram best{Eigen::MatrixXd::Identity(unknowns, unknowns), Eigen::VectorXd::Zero(unknowns), {}, {}};
  for (int pass = 0; pass < cut_limit; ++pass) {
    if (!solve_under(all, cuts, best)) return std::nullopt;
    const Eigen::VectorXd lambda = all.particular + all.null * best.w;
    const double over = 1e-12 * lambda.cwiseAbs().maxCoeff();
    if (!cut_again(all, lambda, over, cuts)) break;
  }
  return all.particular + all.null * refined(all, cuts, best);
}

bool is_shared(const DependentMultipliers& all, Eigen::Index row) {
  return all.null.cols() == 0 || all.null.row(row).cwiseAbs().maxCoeff() > shared_threshold;
}

std::vector<char> sharing_with(const DependentMultipliers& all, std::vector<char> rows) {
  // The projector onto the dependences does not depend on their basis.
  const Eigen::MatrixXd together = all.null * all.null.transpose();
  for (bool grows = true; grows;) {
    grows = false;
    for (Eigen::Index i = 0; i < together.rows(); ++i)
      for (Eigen::Index k = 0; k < together.cols(); ++k) {
        char& joins = rows[static_cast<std::size_t>(k)];
        if (!rows[static_cast<std::size_t>(i)] || joins || !(std::abs(together(i, k)) > shared_threshold))
          continue;
        joins = 1;
        grows = true;
      }
  }
  return rows;
}

double smallest_excess(const DependentMultipliers& given) {
  // Contacts whose forces are unique have event functions of their own.
  DependentMultipliers all = given;
  std::erase_if(all.cones, [&](const HeldCone& cone) {
    bool shared = is_shared(given, cone.normal);
    for (Eigen::Index k = 0; k < cone.tangents; ++k) shared = shared || is_shared(given, cone.tangent + k);
    return !shared;
  });
  std::erase_if(all.bounds, [&](const HeldBound& bound) { return !is_shared(given, bound.row); });
  std::vector<Cut> cuts = first_cuts(all);
  const double size = all.particular.size() > 0 ? all.particular.cwiseAbs().maxCoeff() : 0;
  double t = -std::numeric_limits<double>::infinity();
  for (const Cut& cut : cuts) t = std::max(t, cut.c.dot(all.particular) - cut.d);
  LeastExcess best{t, Eigen::VectorXd::Zero(all.null.cols())};
  for (int pass = 0; pass < cut_limit; ++pass) {
    best = least_excess(all, cuts, best);
    const Eigen::VectorXd lambda = all.particular + all.null * best.w;
    if (!cut_again(all, lambda, best.t + 1e-13 * size, cuts)) break;
    // The new cuts are beyond t at this point.
    for (const Cut& cut : cuts) best.t = std::max(best.t, cut.c.dot(lambda) - cut.d);
  }
  return best.t;
}

}  // namespace zwang
