// The directions of slips that begin in space [friction-7].
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "src/base/index.h"
#include "src/laws/cone_multipliers.h"
#include "src/laws/mode_problem.h"

namespace zwang {

namespace {

constexpr int approach_limit = 200;
constexpr int newton_limit_of_directions = 20;
// Newton's method takes over where the directions turn by less than this.
constexpr double near_solution = 1e-3;
constexpr double largest_turn = 0.5;

constexpr std::size_t most_sought = 3;
constexpr int newton_limit_of_angles = 40;

Eigen::VectorXd turned(const Eigen::VectorXd& d, double angle) {
  return Eigen::Vector2d(d(0) - angle * d(1), d(1) + angle * d(0)).normalized();
}

using SmallMatrix =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 2 * most_sought, 2 * most_sought>;
using SmallVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 2 * most_sought, 1>;

}  // namespace

// Contacts that begin to slip, all other rows of the modes eliminated: with the frictions T, the normal multipliers are
// x = b - C T and the slips r = a - E T. In the directions of the angles, T = D x.
struct ModeSolver::SlipsThatBegin {
  SmallVector b, a, cone;
  SmallMatrix c, e;

  SmallMatrix frictions(const SmallVector& angles, double quarter) const {
    SmallMatrix d = SmallMatrix::Zero(2 * cone.size(), cone.size());
    for (Eigen::Index j = 0; j < cone.size(); ++j) {
      d(2 * j, j) = cone(j) * std::cos(angles(j) + quarter);
      d(2 * j + 1, j) = cone(j) * std::sin(angles(j) + quarter);
    }
    return d;
  }

  // Newton's method in the angles for the slip across each direction, as far as rounding allows; the size of its smallest
  // step.
  double solve(SmallVector& angles) const {
    const Eigen::Index count = cone.size();
    double last = 1;
    SmallVector best = angles;
    double least = 1;
    for (int pass = 0; pass < newton_limit_of_angles && last > 1e-15; ++pass) {
      const SmallMatrix d = frictions(angles, 0), turn = frictions(angles, M_PI / 2);
      const Eigen::PartialPivLU<SmallMatrix> lu(SmallMatrix::Identity(count, count) + c * d);
      const SmallVector x = lu.solve(b), r = a - e * (d * x);
      SmallMatrix slope(count, count);
      SmallVector across(count);
      for (Eigen::Index j = 0; j < count; ++j) {
        const SmallVector turned = turn.col(j) * x(j);
        const SmallVector change = -e * (turned - d * lu.solve(c * turned));
        for (Eigen::Index i = 0; i < count; ++i) slope(i, j) = turn.col(i).dot(change) / cone(i);
        across(j) = turn.col(j).dot(r) / cone(j);
        slope(j, j) -= d.col(j).dot(r) / cone(j);
      }
      const SmallVector step = Eigen::FullPivLU<SmallMatrix>(slope).solve(-across);
      if (!step.allFinite()) return 1;
      last = step.cwiseAbs().maxCoeff();
      if (last <= least) {
        best = angles + step;
        least = last;
      }
      angles += step.cwiseMax(-largest_turn).cwiseMin(largest_turn);
    }
    angles = best;
    return least;
  }

  // Whether the contacts press and slip forwards, up to rounding, which is judged later.
  bool is_slip(const SmallVector& angles) const {
    const double rounding = std::sqrt(std::numeric_limits<double>::epsilon());
    const SmallMatrix d = frictions(angles, 0), turn = frictions(angles, M_PI / 2);
    const SmallVector x =
        Eigen::PartialPivLU<SmallMatrix>(SmallMatrix::Identity(cone.size(), cone.size()) + c * d).solve(b);
    const SmallVector t = d * x, r = a - e * t;
    const SmallVector normal = b.cwiseAbs() + c.cwiseAbs() * t.cwiseAbs();
    const SmallVector terms = a.cwiseAbs() + e.cwiseAbs() * t.cwiseAbs();
    for (Eigen::Index i = 0; i < cone.size(); ++i) {
      const double size = rounding * (terms(2 * i) + terms(2 * i + 1));
      if (!(x(i) >= -rounding * normal(i)) || !(d.col(i).dot(r) >= -size * cone(i)) ||
          !(std::abs(turn.col(i).dot(r)) <= size * cone(i)))
        return false;
    }
    return true;
  }

  // Every set of directions, from a grid of starts: the slip across, times a determinant, is a polynomial of low degree
  // in the cosines and sines of the angles, two contacts have at most 20 solutions.
  std::vector<SmallVector> all() const {
    std::vector<SmallVector> found;
    const Eigen::Index count = cone.size();
    const int per_angle = count == 3 ? 12 : 18;
    std::vector<int> node(static_cast<std::size_t>(count), 0);
    for (;;) {
      SmallVector angles(count);
      for (Eigen::Index j = 0; j < count; ++j)
        angles(j) =
            (node[static_cast<std::size_t>(j)] + 0.3 + 0.1 * static_cast<double>(j)) * 2 * M_PI / per_angle;
      if (solve(angles) <= 1e-9 && is_slip(angles)) {
        const auto same = [&](const SmallVector& other) {
          return ((angles - other) * 0.5).array().sin().abs().maxCoeff() <= 1e-6;
        };
        if (std::none_of(found.begin(), found.end(), same)) found.push_back(angles);
      }
      std::size_t j = 0;
      while (j < node.size() && ++node[j] == per_angle) node[j++] = 0;
      if (j == node.size()) return found;
    }
  }
};

// Nothing where the rows cannot be solved without the friction of these contacts.
std::optional<ModeSolver::SlipsThatBegin> ModeSolver::slips_that_begin(
    const std::vector<ElementMode>& modes, const std::vector<std::size_t>& unknown) const {
  std::vector<ElementMode> frictionless = modes;
  for (const std::size_t i : unknown)
    frictionless[i].direction = Eigen::VectorXd::Zero(problem_.elements[i].tangents);
  const Held held = held_rows(frictionless);
  const Eigen::MatrixXd phi = phi_(held.rows, Eigen::all);
  Eigen::MatrixXd system = phi * held.forces;
  // Dependent rows share the load as contacts of equal compliance [friction-15].
  const Eigen::MatrixXd dependences = dependences_of(unit_(held.rows, Eigen::all));
  system += system.diagonal().mean() * dependences * dependences.transpose();
  const Eigen::VectorXd length = lengths_(held.rows);
  Eigen::FullPivLU<Eigen::MatrixXd> lu(length.cwiseInverse().asDiagonal() * system *
                                       length.cwiseInverse().asDiagonal());
  lu.setThreshold(1e-12);
  if (!lu.isInvertible()) return std::nullopt;
  std::vector<Eigen::Index> normals, slips;
  SlipsThatBegin made;
  made.cone.resize(index(unknown.size()));
  for (std::size_t j = 0; j < unknown.size(); ++j) {
    const ModeElement& element = problem_.elements[unknown[j]];
    normals.push_back(element.row);
    slips.push_back(element.row + 1);
    slips.push_back(element.row + 2);
    made.cone(index(j)) = element.cone;
  }
  // Multipliers of all rows by the offsets alone, and by each friction.
  const auto solved = [&](const Eigen::MatrixXd& right) -> Eigen::MatrixXd {
    return held.forces * length.cwiseInverse().asDiagonal() *
           lu.solve(length.cwiseInverse().asDiagonal() * right);
  };
  const Eigen::VectorXd alone = solved(gap_(held.rows) - phi * held.known) + held.known;
  const Eigen::MatrixXd by_friction = solved(phi(Eigen::all, slips));
  made.b = alone(normals);
  made.c = by_friction(normals, Eigen::all);
  made.a = gap_(slips) - phi_(slips, Eigen::all) * alone;
  made.e = phi_(slips, slips) - phi_(slips, Eigen::all) * by_friction;
  return made;
}

std::vector<ModeCandidate> ModeSolver::solutions(const std::vector<ElementMode>& modes) const {
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i < modes.size(); ++i)
    if (modes[i].kind == ModeKind::slip && modes[i].direction.size() == 0) unknown.push_back(i);
  std::vector<ModeCandidate> found;
  if (!unknown.empty() && unknown.size() <= most_sought)
    if (const std::optional<SlipsThatBegin> begin = slips_that_begin(modes, unknown))
      for (const SmallVector& angles : begin->all()) {
        std::vector<ElementMode> directed = modes;
        for (std::size_t j = 0; j < unknown.size(); ++j) {
          const double angle = angles(index(j));
          directed[unknown[j]].direction = Eigen::Vector2d(std::cos(angle), std::sin(angle));
        }
        found.push_back(solve(std::move(directed)));
      }
  if (found.empty()) found.push_back(solve(modes));
  return found;
}

// A slip that begins in space has the direction of its own acceleration, d = s'/|s'|, which depends on d. The
// iterations start from the direction in which the contact would stick.
void ModeSolver::find_directions(ModeCandidate& candidate) const {
  std::vector<std::size_t> unknown;
  std::vector<ElementMode> sticking = candidate.modes;
  for (std::size_t i = 0; i < candidate.modes.size(); ++i)
    if (candidate.modes[i].kind == ModeKind::slip && candidate.modes[i].direction.size() == 0) {
      unknown.push_back(i);
      sticking[i].kind = ModeKind::hold;
    }
  if (unknown.empty()) {
    candidate = solve_given(candidate.modes);
    return;
  }
  const ModeCandidate stuck = solve_given(sticking);
  for (const std::size_t i : unknown) {
    const ModeElement& element = problem_.elements[i];
    Eigen::VectorXd force = Eigen::VectorXd::Unit(element.tangents, 0);
    if (stuck.solvable) force = stuck.multipliers.segment(element.row + 1, element.tangents);
    if (!(force.norm() > 0)) force = Eigen::VectorXd::Unit(element.tangents, 0);
    candidate.modes[i].direction = force / force.norm();
  }
  approach_directions(unknown, candidate);
  if (candidate.solvable) polish_directions(unknown, candidate);
}

// Fixed-point iterations of the projection on the cones.
void ModeSolver::approach_directions(const std::vector<std::size_t>& unknown,
                                     ModeCandidate& candidate) const {
  std::vector<ElementMode> modes = candidate.modes;
  for (int pass = 0; pass < approach_limit; ++pass) {
    candidate = solve_given(modes);
    if (!candidate.solvable) return;
    double moved = 0;
    for (const std::size_t i : unknown) {
      const Eigen::Index t = problem_.elements[i].row + 1;
      const double stiffness = phi_.diagonal().segment(t, 2).maxCoeff();
      const Eigen::VectorXd force =
          candidate.multipliers.segment(t, 2) + candidate.residuals.segment(t, 2) / stiffness;
      if (!(force.norm() > 0)) continue;
      const Eigen::VectorXd next = force / force.norm();
      moved = std::max(moved, (next - modes[i].direction).cwiseAbs().maxCoeff());
      modes[i].direction = next;
    }
    if (!(moved > near_solution)) return;
  }
}

// The slip across each direction.
Eigen::VectorXd ModeSolver::slip_across(const std::vector<std::size_t>& unknown,
                                        const ModeCandidate& candidate) const {
  Eigen::VectorXd across(index(unknown.size()));
  for (std::size_t j = 0; j < unknown.size(); ++j) {
    const Eigen::Index t = problem_.elements[unknown[j]].row + 1;
    const Eigen::VectorXd& d = candidate.modes[unknown[j]].direction;
    across(index(j)) = d(0) * candidate.residuals(t + 1) - d(1) * candidate.residuals(t);
  }
  return across;
}

// Newton's method in the angles: the iterations above turn ever slower where contacts are coupled. Each step must
// lessen the slip across.
void ModeSolver::polish_directions(const std::vector<std::size_t>& unknown, ModeCandidate& candidate) const {
  const double small = std::sqrt(std::numeric_limits<double>::epsilon());
  const auto count = index(unknown.size());
  Eigen::VectorXd across = slip_across(unknown, candidate);
  for (int pass = 0; pass < newton_limit_of_directions && !across.isZero(0); ++pass) {
    Eigen::MatrixXd matrix(count, count);
    for (Eigen::Index j = 0; j < count; ++j) {
      std::vector<ElementMode> modes = candidate.modes;
      ElementMode& mode = modes[unknown[static_cast<std::size_t>(j)]];
      mode.direction = turned(mode.direction, small);
      const ModeCandidate beside = solve_given(std::move(modes));
      matrix.col(j) = (slip_across(unknown, beside) - across) / small;
    }
    const Eigen::VectorXd step = Eigen::FullPivLU<Eigen::MatrixXd>(matrix).solve(-across);
    std::vector<ElementMode> modes = candidate.modes;
    for (Eigen::Index j = 0; j < count; ++j) {
      ElementMode& mode = modes[unknown[static_cast<std::size_t>(j)]];
      mode.direction = turned(mode.direction, std::clamp(step(j), -largest_turn, largest_turn));
    }
    ModeCandidate next = solve_given(std::move(modes));
    const Eigen::VectorXd left = slip_across(unknown, next);
    if (!next.solvable || !(left.cwiseAbs().maxCoeff() < across.cwiseAbs().maxCoeff())) return;
    candidate = std::move(next);
    across = left;
  }
}

}  // namespace zwang
