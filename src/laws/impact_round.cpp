// The problem of a round, linearised until it converges, and the search for the share of the restitution.
#include "src/laws/impact_round.h"

#include <cmath>
#include <limits>
#include <optional>

#include "kernels/base/status.h"
#include "src/base/index.h"
#include "src/laws/friction_modes.h"
#include "src/laws/mode_problem.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

namespace {

constexpr int impact_linearisations = 100;
// The energy is looked at for so many shares of the restitution, then bisected.
constexpr int theta_samples = 64;
constexpr double energy_rounding = 64 * std::numeric_limits<double>::epsilon();

ImpactRound solve_at(Impact& impact, const std::vector<ImpactPart>& parts, const Eigen::VectorXd& alpha,
                     double theta, bool linear) {
  ImpactRound round;
  round.theta = theta;
  Eigen::VectorXd v0 = alpha;
  for (int pass = 0; pass < impact_linearisations; ++pass) {
    round.problem = impact.problem(parts, alpha, v0, theta);
    round.solution = solve_modes(round.problem, 0, true);
    round.status = round.solution.status;
    if (linear || round.status != Status::ok) return round;
    const Eigen::VectorXd& v = round.solution.chosen.x;
    if ((v - v0).cwiseAbs().maxCoeff() <= 1e-14 * (v.cwiseAbs().maxCoeff() + alpha.cwiseAbs().maxCoeff()))
      return round;
    v0 = v;
  }
  round.status = Status::infeasible;
  return round;
}

// Whether the impulses of a round add energy to the motion, in a frame that moves with the conditions they belong to: they
// take P (rate(alpha) + rate(v+))/2 each, since M (v+ - alpha) = -A^T P, and for conditions at rest the sum is
// T(alpha) - T(v+). A condition without impulse, as a speed limit that the rebound leaves, has no part in it.
bool creates_energy(const ImpactRound& round, const std::vector<ImpactPart>& parts,
                    const Eigen::VectorXd& alpha) {
  const ModeCandidate& found = round.solution.chosen;
  double taken = 0, size = 0;
  Eigen::Index next = 0;
  for (const ImpactPart& part : parts)
    for (Eigen::Index k = 0; k < part.rebound.size(); ++k, ++next) {
      const double still = round.problem.offsets(next) - round.theta * part.rebound(k);
      const double before = round.problem.rows.row(next).dot(alpha) + still;
      const double after = round.problem.rows.row(next).dot(found.x) + still;
      taken += found.multipliers(next) * (before + after) / 2;
      size += std::abs(found.multipliers(next)) * (std::abs(before) + std::abs(after));
    }
  return taken < -energy_rounding * size;
}

}  // namespace

ImpactPart Impact::part(std::size_t i, ModeElement::Kind kind, const Eigen::VectorXd& alpha, double rebound) {
  const System& system = equations_.system();
  ImpactPart made{
      .condition = i, .element = {}, .rows = {i}, .rebound = Eigen::VectorXd::Constant(1, rebound)};
  made.element.kind = kind;
  made.element.condition = i;
  state_.v = alpha;
  const std::optional<std::size_t> f = friction_of(system, i);
  if (kind == ModeElement::Kind::inequality && f && has_friction(equations_, *f, state_)) {
    const FrictionValues values = equations_.friction(*f, state_);
    // In impacts friction_static has no part.
    made.element.kind = ModeElement::Kind::friction;
    made.element.cone = made.element.cone_static = values.cone;
    made.element.tangents = index(system.frictions[*f].rows.size());
    made.rebound.conservativeResize(1 + made.element.tangents);
    for (std::size_t k = 0; k < system.frictions[*f].rows.size(); ++k) {
      const std::size_t row = system.frictions[*f].rows[k];
      made.rows.push_back(row);
      made.rebound(index(k) + 1) = values.restitution * rate(row, alpha);
    }
  }
  if (kind == ModeElement::Kind::bound) {
    made.element.limit = equations_.bound(*bound_of(system, i)).impulse_limit;
    made.element.one_sided = !system.constraints[i].equation;
  }
  return made;
}

// Residuals f'(v+) + theta e max(f'(alpha), 0) and z = s(v+) + theta e_t s(alpha) [friction-11], linearised at v0.
ModeProblem Impact::problem(const std::vector<ImpactPart>& parts, const Eigen::VectorXd& alpha,
                            const Eigen::VectorXd& v0, double theta) {
  ModeProblem made;
  made.mass = mass_;
  made.free = alpha;
  Eigen::Index count = 0;
  for (const ImpactPart& part : parts) count += index(part.rows.size());
  made.rows.setZero(count, alpha.size());
  made.offsets.setZero(count);
  made.slack.setZero(count);
  state_.v = v0;
  Eigen::Index next = 0;
  for (const ImpactPart& part : parts) {
    ModeElement element = part.element;
    element.row = next;
    made.elements.push_back(element);
    for (std::size_t k = 0; k < part.rows.size(); ++k, ++next) {
      const Row row = equations_.row(part.rows[k], state_);
      made.rows.row(next) = row.a;
      made.offsets(next) = row.rate - row.a * v0 + theta * part.rebound(index(k));
      made.slack(next) = zero_[part.rows[k]];
    }
  }
  return made;
}

// [friction-11] theta = 1 where no energy is created, else the first zero of the energy gained from theta = 0 upwards.
ImpactRound solve_capped(Impact& impact, const std::vector<ImpactPart>& parts, const Eigen::VectorXd& alpha,
                         bool linear) {
  ImpactRound whole = solve_at(impact, parts, alpha, 1, linear);
  if (whole.status != Status::ok) return whole;
  const auto gains = [&](const ImpactRound& round) { return creates_energy(round, parts, alpha); };
  if (!gains(whole)) return whole;
  ImpactRound below = solve_at(impact, parts, alpha, 0, linear);
  if (below.status != Status::ok) return below;
  double above = 1;
  for (int k = 1; k < theta_samples; ++k) {
    ImpactRound next = solve_at(impact, parts, alpha, static_cast<double>(k) / theta_samples, linear);
    if (next.status != Status::ok || gains(next)) {
      above = next.theta;
      break;
    }
    below = std::move(next);
  }
  for (int k = 0; k < 60 && above - below.theta > std::numeric_limits<double>::epsilon(); ++k) {
    ImpactRound middle = solve_at(impact, parts, alpha, (below.theta + above) / 2, linear);
    if (middle.status != Status::ok || gains(middle))
      above = middle.theta;
    else
      below = std::move(middle);
  }
  return below;
}

}  // namespace zwang
