// Residual of Coulomb's law and of bounds, with allowance for rounding.
#include "src/quadratic_program/friction_residual.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/base/machine_epsilon.h"

namespace zwang {

namespace {

// Rows of unit length in the mass metric, with the rounding of their residuals.
struct UnitState {
  Eigen::VectorXd residual, force, length, noise;
};

// The distance of a force from the set of those that the law allows at this slip: a point of the circle of radius
// mu N along the slip, or a point of the disc of radius mu_s N where there is no slip. Both are allowed while the
// slip is within rounding: the smaller distance counts, and slip itself counts beside a force inside the disc.
double coulomb_distance(const Eigen::VectorXd& force, const Eigen::VectorXd& slip, double cone,
                        double cone_static, double normal, double noise) {
  const double size = slip.norm();
  const double beyond = std::max(0.0, force.norm() - cone_static * normal);
  const double as_stick = std::max(beyond, std::max(0.0, size - noise));
  if (!(size > 0)) return as_stick;
  const double as_slip = (force - cone * normal / size * slip).norm();
  return std::min(as_stick, as_slip);
}

}  // namespace

double friction_residual(const JudgedForces& problem, const Eigen::VectorXd& x,
                         const Eigen::VectorXd& multipliers) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (!x.allFinite() || !multipliers.allFinite()) return infinity;
  const Eigen::LDLT<Eigen::MatrixXd> factor(problem.mass);
  const double rounding = 4 * static_cast<double>(x.size() + 2) * machine_epsilon;
  const Eigen::VectorXd sizes = x.cwiseAbs().cwiseMax(problem.free.cwiseAbs());
  const Eigen::Index count = problem.rows.rows();
  UnitState unit{Eigen::VectorXd(count), Eigen::VectorXd(count), Eigen::VectorXd(count),
                 Eigen::VectorXd(count)};
  double pushes = 0, shared = 0;
  for (Eigen::Index i = 0; i < count; ++i) {
    const Eigen::VectorXd a = problem.rows.row(i);
    const double length = std::sqrt(a.dot(factor.solve(a)));
    unit.length(i) = length > 0 ? length : 1;
    unit.residual(i) = (a.dot(x) + problem.offsets(i)) / unit.length(i);
    unit.force(i) = multipliers(i) * unit.length(i);
    unit.noise(i) = rounding * (a.cwiseAbs().dot(sizes) + std::abs(problem.offsets(i))) / unit.length(i);
    if (problem.slack.size() > 0) unit.noise(i) = std::max(unit.noise(i), problem.slack(i) / unit.length(i));
    pushes += std::abs(unit.force(i));
    shared = std::max(shared, unit.noise(i));
  }
  const Eigen::VectorXd step = x - problem.free;
  double size = std::sqrt(std::max(0.0, step.dot(problem.mass * step)));
  double worst = 0;
  // Forces carry the rounding of all rows through the solve.
  const double zero = shared * (1 + static_cast<double>(count));
  const auto raise = [&](double violation) { worst = std::max(worst, violation - zero); };
  for (const Eigen::Index i : problem.equations) raise(std::abs(unit.residual(i)));
  const auto one_sided = [&](Eigen::Index i) {
    raise(unit.residual(i));
    raise(-unit.force(i));
    raise(std::min(unit.force(i), -unit.residual(i)));
  };
  for (const Eigen::Index i : problem.inequalities) one_sided(i);
  for (const JudgedContact& contact : problem.contacts) {
    one_sided(contact.row);
    const Eigen::Index t = contact.row + 1, n = contact.tangents;
    const double scale = unit.length(t);
    const double normal = std::max(multipliers(contact.row), 0.0);
    const Eigen::VectorXd force = scale * multipliers.segment(t, n);
    const Eigen::VectorXd slip = (problem.rows.middleRows(t, n) * x + problem.offsets.segment(t, n)) / scale;
    if (contact.slip.size() > 0)
      raise((force - scale * contact.cone * normal * contact.slip / contact.slip.norm()).norm());
    else
      raise(coulomb_distance(force, slip, scale * contact.cone, scale * contact.cone_static, normal, zero));
    size = std::max(size, slip.norm());
  }
  for (const JudgedBound& bound : problem.bounds) {
    const Eigen::Index i = bound.row;
    const double limit = bound.limit * unit.length(i), force = unit.force(i), rate = unit.residual(i);
    raise(std::abs(force) - limit);
    if (bound.one_sided) raise(-force);
    const double inside =
        bound.one_sided ? std::min(limit - force, std::max(force, rate)) : limit - std::abs(force);
    raise(std::min(std::abs(rate), inside));
    if (!bound.one_sided && rate * force < 0) raise(std::min(std::abs(rate), std::abs(force)));
  }
  for (Eigen::Index i = 0; i < count; ++i) size = std::max(size, std::abs(unit.force(i)));
  const Eigen::VectorXd force = problem.mass * step + problem.rows.transpose() * multipliers;
  const double noise = rounding * (problem.mass.diagonal().cwiseSqrt().dot(sizes) + pushes);
  worst = std::max(worst, std::sqrt(std::max(0.0, force.dot(factor.solve(force)))) - noise);
  return worst > 0 ? worst / size : 0;
}

}  // namespace zwang
