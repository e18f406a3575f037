// One choice of modes: the linear system of its held rows, and whether Coulomb's law and the bounds admit it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "src/base/index.h"
#include "src/laws/cone_multipliers.h"
#include "src/laws/mode_problem.h"

namespace zwang {

namespace {

// Pivots below this share of the largest, of rows of unit length, make the rows dependent.
constexpr double pivot_threshold = 1e-12;
// Dependent rows are contradictory when the least-squares solution misses them by more than this share.
constexpr double row_contradiction = 1e-11;
// A row is a combination of others, and a deflection is zero, up to this share of its terms.
constexpr double dependent_part = 1e-8;
// A slip that begins must point along its friction, to this share of its size.
constexpr double direction_error = 1e-7;

}  // namespace

ModeSolver::ModeSolver(const ModeProblem& problem) : problem_(problem), mass_(problem.mass) {
  usable_ = mass_.info() == Eigen::Success && problem.free.allFinite() && problem.rows.allFinite() &&
            problem.offsets.allFinite();
  if (!usable_) return;
  unit_.resize(problem.rows.rows(), problem.rows.cols());
  if (problem.rows.rows() > 0) unit_ = mass_.matrixL().solve(problem.rows.transpose()).transpose();
  phi_ = unit_ * unit_.transpose();
  gap_ = problem.rows * problem.free + problem.offsets;
  lengths_ = phi_.diagonal().cwiseSqrt();
  for (double& length : lengths_)
    if (!(length > 0)) length = 1;
}

double ModeSolver::length(const Eigen::VectorXd& x) const { return std::sqrt(x.dot(problem_.mass * x)); }

double ModeSolver::size(const Eigen::VectorXd& x) const { return length(problem_.free) + length(x); }

double ModeSolver::rounding() const {
  return lengths_.size() > 0 ? problem_.slack.cwiseQuotient(lengths_).maxCoeff() : 0;
}

// The force of a contact that slips is A_N + mu d A_T per unit of its multiplier [friction-4]; yielding rows are known
// forces [limit-2].
ModeSolver::Held ModeSolver::held_rows(const std::vector<ElementMode>& modes) const {
  Held held;
  const Eigen::Index rows = problem_.rows.rows();
  held.known = Eigen::VectorXd::Zero(rows);
  std::vector<Eigen::VectorXd> columns;
  const auto hold = [&](Eigen::Index row) {
    held.rows.push_back(row);
    columns.push_back(Eigen::VectorXd::Unit(rows, row));
  };
  for (std::size_t i = 0; i < modes.size(); ++i) {
    const ModeElement& element = problem_.elements[i];
    const ElementMode& mode = modes[i];
    if (mode.kind == ModeKind::open) continue;
    if (element.kind == ModeElement::Kind::bound && mode.kind == ModeKind::slip) {
      held.known(element.row) = element.limit * mode.direction(0);
      continue;
    }
    hold(element.row);
    for (Eigen::Index k = 0; k < element.tangents; ++k) {
      if (mode.kind == ModeKind::hold)
        hold(element.row + 1 + k);
      else
        columns.back()(element.row + 1 + k) = element.cone * mode.direction(k);
    }
  }
  held.forces.resize(rows, index(columns.size()));
  for (std::size_t k = 0; k < columns.size(); ++k) held.forces.col(index(k)) = columns[k];
  return held;
}

ModeCandidate ModeSolver::solve_given(std::vector<ElementMode> modes) const {
  ModeCandidate made;
  made.modes = std::move(modes);
  const Held held = held_rows(made.modes);
  const Eigen::Index count = index(held.rows.size());
  made.noise = Eigen::VectorXd::Zero(gap_.size());
  Eigen::VectorXd lambda = Eigen::VectorXd::Zero(count);
  made.solvable = true;
  if (count > 0) {
    // In rows of unit length, so that decisions about dependence have no units.
    const Eigen::MatrixXd phi = phi_(held.rows, Eigen::all);
    const Eigen::VectorXd length = lengths_(held.rows);
    const Eigen::MatrixXd system =
        length.cwiseInverse().asDiagonal() * (phi * held.forces) * length.cwiseInverse().asDiagonal();
    const Eigen::VectorXd right = (gap_(held.rows) - phi * held.known).cwiseQuotient(length);
    Eigen::FullPivLU<Eigen::MatrixXd> lu(system);
    lu.setThreshold(pivot_threshold);
    const Eigen::VectorXd slack = problem_.slack(held.rows).cwiseQuotient(length);
    Eigen::VectorXd solution, noise;
    if (lu.rank() == count) {
      solution = lu.solve(right);
      noise = lu.inverse().cwiseAbs() * slack;
    } else {
      made.redundant = true;
      Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition;
      decomposition.setThreshold(1e-10);
      decomposition.compute(system);
      solution = decomposition.solve(right);
      noise = decomposition.pseudoInverse().cwiseAbs() * slack;
      made.solvable = (system * solution - right).norm() <= row_contradiction * right.norm() + slack.norm();
    }
    lambda = solution.cwiseQuotient(length);
    const Eigen::VectorXd carried = noise.cwiseQuotient(length);
    for (Eigen::Index k = 0; k < count; ++k) made.noise(held.rows[static_cast<std::size_t>(k)]) = carried(k);
    if (made.solvable && made.redundant) {
      DependentMultipliers all;
      share_loads(unit_(held.rows, Eigen::all), held.forces.transpose() * unit_, lambda, all);
      lambda = all.particular;
    }
  }
  apply_multipliers(held, lambda, made);
  return made;
}

void ModeSolver::apply_multipliers(const Held& held, const Eigen::VectorXd& lambda,
                                   ModeCandidate& candidate) const {
  candidate.multipliers = held.forces * lambda + held.known;
  candidate.x = problem_.free;
  if (candidate.multipliers.size() > 0)
    candidate.x -= mass_.solve(problem_.rows.transpose() * candidate.multipliers);
  candidate.residuals = problem_.rows * candidate.x + problem_.offsets;
  candidate.solvable = candidate.solvable && candidate.x.allFinite() && candidate.multipliers.allFinite();
}

// Dependent rows: the multipliers inside their cones that are nearest to those of contacts with equal compliance, if
// there are any [friction-9].
void ModeSolver::represent(ModeCandidate& candidate) const {
  const Held held = held_rows(candidate.modes);
  DependentMultipliers all;
  const auto place = [&](Eigen::Index row) {
    return static_cast<Eigen::Index>(std::find(held.rows.begin(), held.rows.end(), row) - held.rows.begin());
  };
  for (std::size_t i = 0; i < candidate.modes.size(); ++i) {
    const ModeElement& element = problem_.elements[i];
    const ModeKind mode = candidate.modes[i].kind;
    if (mode == ModeKind::open || element.kind == ModeElement::Kind::equation) continue;
    const double infinity = std::numeric_limits<double>::infinity();
    if (element.kind == ModeElement::Kind::bound) {
      if (mode == ModeKind::hold)
        all.bounds.push_back({place(element.row), element.one_sided ? 0 : -element.limit, element.limit});
      continue;
    }
    all.bounds.push_back({place(element.row), 0, infinity});
    if (element.kind == ModeElement::Kind::friction && mode == ModeKind::hold)
      all.cones.push_back(
          {place(element.row), place(element.row + 1), element.tangents, element.cone_static});
  }
  all.noise = candidate.noise(held.rows);
  const Eigen::VectorXd lambda = candidate.multipliers(held.rows);
  share_loads(unit_(held.rows, Eigen::all), held.forces.transpose() * unit_, lambda, all);
  const std::optional<Eigen::VectorXd> found = nearest_in_cones(all);
  candidate.solvable = found.has_value();
  if (found) apply_multipliers(held, *found, candidate);
}

ModeCandidate ModeSolver::solve(std::vector<ElementMode> modes) const {
  ModeCandidate candidate;
  candidate.modes = std::move(modes);
  find_directions(candidate);
  if (candidate.solvable && candidate.redundant) represent(candidate);
  return candidate;
}

bool ModeSolver::admits(const ModeCandidate& candidate, bool carried) const {
  if (!candidate.solvable) return false;
  for (std::size_t i = 0; i < candidate.modes.size(); ++i)
    if (!admits_element(candidate, i, carried) || contradicts_deflection(candidate, i)) return false;
  return true;
}

// Rows of equal compliance [friction-15]: lambda of each is its deflection, and that of a row that depends on the held
// ones follows from theirs. A contact that is open without separating must not be pressed, and a bounded row that yields
// without moving must be deflected as far as its limit: otherwise it would press others by as much as it bears.
bool ModeSolver::contradicts_deflection(const ModeCandidate& candidate, std::size_t i) const {
  const ModeElement& element = problem_.elements[i];
  const ElementMode& mode = candidate.modes[i];
  const bool bound = element.kind == ModeElement::Kind::bound;
  const double residual = candidate.residuals(element.row), slack = problem_.slack(element.row);
  if (bound ? mode.kind != ModeKind::slip || element.direction.size() > 0 || std::abs(residual) > slack
            : mode.kind != ModeKind::open || residual < -slack)
    return false;
  const Held held = held_rows(candidate.modes);
  if (held.rows.empty()) return false;
  const Eigen::MatrixXd rows = unit_(held.rows, Eigen::all).transpose();
  const Eigen::VectorXd row = unit_.row(element.row).transpose();
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition;
  decomposition.setThreshold(1e-10);
  decomposition.compute(rows);
  const Eigen::VectorXd parts = decomposition.solve(row);
  if (!((rows * parts - row).norm() <= dependent_part * row.norm())) return false;
  const Eigen::VectorXd lambda = candidate.multipliers(held.rows);
  const double deflection = parts.dot(lambda);
  const double small = dependent_part * parts.cwiseAbs().dot(lambda.cwiseAbs());
  return bound ? mode.direction(0) * deflection < element.limit * (1 - dependent_part) - small
               : deflection > small;
}

bool ModeSolver::admits_element(const ModeCandidate& candidate, std::size_t i, bool carried) const {
  const ModeElement& element = problem_.elements[i];
  const ElementMode& mode = candidate.modes[i];
  const auto row_zero = [&](Eigen::Index row) {
    const double own = problem_.slack(row);
    return carried ? own + phi_.row(row).cwiseAbs().dot(candidate.noise) : own;
  };
  const auto force_zero = [&](Eigen::Index row) {
    const double own = problem_.slack(row) / (lengths_(row) * lengths_(row));
    return carried ? std::max(own, candidate.noise(row)) : own;
  };
  const Eigen::Index n = element.row, t = element.row + 1, tangents = element.tangents;
  const double force = candidate.multipliers(n);
  if (element.kind == ModeElement::Kind::equation) return true;
  if (mode.kind == ModeKind::open) return candidate.residuals(n) <= row_zero(n);
  if (element.kind == ModeElement::Kind::bound) {
    if (mode.kind == ModeKind::slip) return candidate.residuals(n) * mode.direction(0) >= -row_zero(n);
    if (candidate.redundant) return true;
    if (element.one_sided && force < -force_zero(n)) return false;
    return std::abs(force) <= element.limit + force_zero(n);
  }
  // Forces that are not unique were chosen inside their cones and bounds.
  if (!candidate.redundant && !(force >= -force_zero(n))) return false;
  if (element.kind == ModeElement::Kind::inequality) return true;
  if (mode.kind == ModeKind::hold) {
    if (candidate.redundant) return true;
    double zero = element.cone_static * force_zero(n);
    for (Eigen::Index k = 0; k < tangents; ++k) zero += force_zero(t + k);
    return candidate.multipliers.segment(t, tangents).norm() <= element.cone_static * force + zero;
  }
  if (element.direction.size() > 0) return true;  // the slip has this direction already
  double zero = 0;
  for (Eigen::Index k = 0; k < tangents; ++k) zero += row_zero(t + k);
  const Eigen::VectorXd slip = candidate.residuals.segment(t, tangents);
  const double along = slip.dot(mode.direction);
  return along >= -zero && (slip - along * mode.direction).norm() <= zero + direction_error * std::abs(along);
}

std::vector<SlipStiffness> ModeSolver::stiffness(const std::vector<ElementMode>& modes) const {
  std::vector<ElementMode> others = modes;
  for (std::size_t i = 0; i < modes.size(); ++i)
    if (modes[i].kind == ModeKind::slip && problem_.elements[i].kind == ModeElement::Kind::friction)
      others[i].kind = ModeKind::open;
  const Held held = held_rows(others);
  const Eigen::MatrixXd b = unit_(held.rows, Eigen::all);
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition;
  decomposition.setThreshold(1e-10);
  if (b.rows() > 0) decomposition.compute(b);
  // What the holding rows leave of a force in the mass metric.
  const auto left = [&](Eigen::VectorXd force) {
    if (b.rows() == 0) return force;
    force -= decomposition.solve(Eigen::VectorXd(b * force));
    return force;
  };
  std::vector<SlipStiffness> made;
  for (std::size_t i = 0; i < modes.size(); ++i) {
    const ModeElement& element = problem_.elements[i];
    if (modes[i].kind != ModeKind::slip || element.kind != ModeElement::Kind::friction) continue;
    const Eigen::VectorXd normal = unit_.row(element.row).transpose();
    Eigen::VectorXd force = normal;
    for (Eigen::Index k = 0; k < element.tangents; ++k)
      force += element.cone * modes[i].direction(k) * unit_.row(element.row + 1 + k).transpose();
    const Eigen::VectorXd free_normal = left(normal);
    // What holds decides the motion of this contact: kappa is 0/0, and its force is shared, not determined by kappa.
    if (!(free_normal.norm() > dependent_part * normal.norm())) continue;
    made.push_back({element.condition, free_normal.dot(force), free_normal.dot(normal), gap_(element.row)});
  }
  return made;
}

}  // namespace zwang
