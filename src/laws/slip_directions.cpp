// The directions of slips that begin in space [friction-7].
#include <algorithm>
#include <cmath>
#include <limits>

#include "src/base/index.h"
#include "src/laws/mode_problem.h"

namespace zwang {

namespace {

constexpr int approach_limit = 200;
constexpr int newton_limit_of_directions = 20;
// Newton's method takes over where the directions turn by less than this.
constexpr double near_solution = 1e-3;
constexpr double largest_turn = 0.5;

Eigen::VectorXd turned(const Eigen::VectorXd& d, double angle) {
  return Eigen::Vector2d(d(0) - angle * d(1), d(1) + angle * d(0)).normalized();
}

}  // namespace

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
