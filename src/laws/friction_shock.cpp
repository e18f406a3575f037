// Rounds of impacts with Coulomb's cone on the impulses: Newton's law in the normal direction, energy capped.
#include "src/laws/friction_shock.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "kernels/base/status.h"
#include "src/base/index.h"
#include "src/expression/scaled.h"
#include "src/laws/friction_modes.h"
#include "src/laws/impact_round.h"
#include "src/laws/least_constraint.h"
#include "src/laws/mode_problem.h"
#include "src/quadratic_program/friction_residual.h"
#include "src/system/mass_metric.h"
#include "src/system/system.h"

namespace zwang {

namespace {

constexpr int impact_round_limit = 1000;
// An impulse of dependent rows is known to so many times its rounding.
constexpr double dependent_roundings = 8;

// The conditions of one round, as in shock(): with a rebound only those not already satisfied with a margin, and
// equations that do not hold yet are solved first, alone.
std::vector<ImpactPart> take_part_in_impact(Impact& impact, const Eigen::VectorXd& alpha,
                                            const ShockParticipants& participants,
                                            const std::vector<std::size_t>& bounded,
                                            const std::vector<double>& restitution, bool inelastic) {
  using Kind = ModeElement::Kind;
  std::vector<ImpactPart> parts;
  const auto moves = [&](std::size_t i) { return std::abs(impact.rate(i, alpha)) > impact.zero(i); };
  // Bounded equations enter as equations do [limit-4]; those that break hold until then.
  bool imposing = std::any_of(participants.equations.begin(), participants.equations.end(), moves);
  for (const std::size_t i : participants.equations)
    parts.push_back(impact.part(i, Kind::equation, alpha, 0));
  for (const std::size_t i : bounded)
    if (impact.is_equation(i)) {
      parts.push_back(impact.part(i, Kind::bound, alpha, 0));
      imposing = imposing || (impact.breaks(i) && moves(i));
    }
  // Strings and stops that may break rebound as other contacts do, as far as their impulse reaches.
  std::vector<std::size_t> rebounding = participants.contacts;
  for (const std::size_t i : bounded)
    if (!impact.is_equation(i)) rebounding.push_back(i);
  bool rebounds = false;
  for (const std::size_t i : rebounding)
    rebounds = rebounds || (!inelastic && restitution[i] > 0 && impact.rate(i, alpha) > impact.zero(i));
  if (rebounds && imposing) return parts;
  const auto add_contact = [&](std::size_t i, Kind kind) {
    const double approach = impact.rate(i, alpha);
    if (rebounds && approach < -impact.zero(i)) return;
    ImpactPart made = impact.part(i, kind, alpha, restitution[i] * std::max(approach, 0.0));
    if (inelastic) made.rebound.setZero();
    parts.push_back(std::move(made));
  };
  for (const std::size_t i : participants.contacts) add_contact(i, Kind::inequality);
  for (const std::size_t i : participants.velocities)
    if (!rebounds || impact.rate(i, alpha) >= -impact.zero(i))
      parts.push_back(impact.part(i, Kind::inequality, alpha, 0));
  for (const std::size_t i : bounded)
    if (!impact.is_equation(i)) add_contact(i, Kind::bound);
  return parts;
}

JudgedForces judged_impact(const ModeProblem& problem) {
  JudgedForces made{problem.mass, problem.free, problem.rows, problem.offsets, {}, {}, {}, {}};
  for (const ModeElement& element : problem.elements) {
    if (element.kind == ModeElement::Kind::equation) made.equations.push_back(element.row);
    if (element.kind == ModeElement::Kind::inequality) made.inequalities.push_back(element.row);
    if (element.kind == ModeElement::Kind::friction)
      made.contacts.push_back({element.row, element.tangents, element.cone, element.cone_static, {}});
    if (element.kind == ModeElement::Kind::bound)
      made.bounds.push_back({element.row, element.limit, element.one_sided});
  }
  // Later rounds of a shock correct velocities that are hardly above zero.
  made.slack = problem.slack;
  return made;
}

// Adds the impulses of a round; those of slip rows as vectors, until the shock is over.
void collect_impact(const Impact& impact, const std::vector<ImpactPart>& parts, const ImpactRound& round,
                    FrictionShock& result) {
  const ModeCandidate& found = round.solution.chosen;
  const MassMetric metric(impact.mass());
  const Eigen::MatrixXd b = metric.rows(round.problem.rows);
  // An impulse within rounding of the largest is none: the rows are solved together. Those of dependent rows are admissible
  // within the rounding of each, and a choice of which nothing is left may be that far below zero.
  const Eigen::VectorXd sizes = found.multipliers.cwiseAbs().cwiseProduct(b.rowwise().norm());
  const double noise = 8 * std::numeric_limits<double>::epsilon() * (sizes.size() > 0 ? sizes.maxCoeff() : 0);
  Eigen::Index next = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (const std::size_t i : parts[p].rows) {
      const bool unresolved =
          found.redundant && std::abs(found.multipliers(next)) <= dependent_roundings * found.noise(next);
      const double l = sizes(next) <= noise || unresolved ? 0 : found.multipliers(next);
      result.impulses(index(i)) += l;
      if (std::abs(l) * b.row(next).squaredNorm() > impact.zero(i)) result.struck[i] = 1;
      result.pushed += metric.solve(round.problem.rows.row(next).transpose() * l).cwiseAbs();
      ++next;
    }
  }
  result.kkt =
      std::max(result.kkt, friction_residual(judged_impact(round.problem), found.x, found.multipliers));
  result.theta = std::min(result.theta, round.theta);
}

// The tangential impulse of a contact is listed with its first slip row, by its size.
void list_tangential_impulses(const Equations& equations, FrictionShock& result) {
  for (const Friction& friction : equations.system().frictions) {
    double squares = 0;
    bool struck = false;
    for (const std::size_t row : friction.rows) {
      squares += result.impulses(index(row)) * result.impulses(index(row));
      struck = struck || result.struck[row] != 0;
      result.impulses(index(row)) = 0;
      result.struck[row] = 0;
    }
    result.impulses(index(friction.rows[0])) = struck ? std::sqrt(squares) : 0;
    // Listed with its contact, whether it is zero or not.
    const bool bounded = equations.system().constraints[friction.contact].limit.has_value();
    result.struck[friction.rows[0]] = result.struck[friction.contact] != 0 && !bounded ? 1 : 0;
    result.rubbed[friction.contact] = struck;
  }
}

// `causes`: bounded rows that cause a round; rows that break do so until they have broken.
bool is_violated(Impact& impact, const Eigen::VectorXd& v, const ShockParticipants& participants,
                 const std::vector<std::size_t>& bounded, const std::vector<std::size_t>& causes,
                 const System& system) {
  const auto breaks = [&](std::size_t i) { return impact.rate(i, v) > impact.zero(i); };
  const auto differs = [&](std::size_t i) { return std::abs(impact.rate(i, v)) > impact.zero(i); };
  return std::any_of(participants.contacts.begin(), participants.contacts.end(), breaks) ||
         std::any_of(participants.velocities.begin(), participants.velocities.end(), breaks) ||
         std::any_of(participants.equations.begin(), participants.equations.end(), differs) ||
         std::any_of(causes.begin(), causes.end(), differs) ||
         std::any_of(bounded.begin(), bounded.end(), [&](std::size_t i) {
           return system.constraints[i].limit->breaks &&
                  (system.constraints[i].equation ? differs(i) : breaks(i));
         });
}

// As settle() of shock.cpp: what remains of infinitely many rounds is brought to rest, across the surfaces and along
// them. Slips of that size would have directions made of rounding, in which several contacts may jam.
void settle_impact(const Equations& equations, Impact& impact, const ShockParticipants& participants,
                   const std::vector<std::size_t>& bounded, FrictionShock& result) {
  constexpr double clearly = 0.25, most_zeros = 64;
  using Kind = ModeElement::Kind;
  std::vector<ImpactPart> parts;
  bool unclear = false;
  const auto add = [&](std::size_t i, Kind kind) {
    parts.push_back({.condition = i, .element = {}, .rows = {i}, .rebound = Eigen::VectorXd::Zero(1)});
    parts.back().element.kind = kind;
    parts.back().element.condition = i;
  };
  const auto settle_slip = [&](const Friction& friction) {
    double squares = 0, zero = 0;
    for (const std::size_t row : friction.rows) {
      squares += impact.rate(row, result.v) * impact.rate(row, result.v);
      zero = std::max(zero, impact.zero(row));
    }
    if (squares > most_zeros * zero * most_zeros * zero) return;
    unclear = unclear || squares > clearly * zero * clearly * zero;
    for (const std::size_t row : friction.rows) add(row, Kind::equation);
  };
  for (const std::size_t i : participants.equations) add(i, Kind::equation);
  const auto add_if_resting = [&](std::size_t i) {
    const double size = std::abs(impact.rate(i, result.v));
    const bool rests = size <= impact.zero(i);
    unclear = unclear || (rests && size > clearly * impact.zero(i));
    add(i, rests ? Kind::equation : Kind::inequality);
    return rests;
  };
  for (const std::size_t i : participants.velocities) add_if_resting(i);
  for (const std::size_t i : participants.contacts) {
    const bool rests = add_if_resting(i);
    if (const std::optional<std::size_t> f = friction_of(equations.system(), i); f && rests)
      settle_slip(equations.system().frictions[*f]);
  }
  for (const std::size_t i : bounded) {
    const bool rests = std::abs(impact.rate(i, result.v)) <= impact.zero(i);
    if (rests || !impact.is_equation(i)) add(i, rests ? Kind::equation : Kind::inequality);
  }
  if (!unclear) return;
  ImpactRound round;
  round.problem = impact.problem(parts, result.v, result.v, 1);
  round.solution = solve_modes(round.problem, 0, true);
  if (round.solution.status != Status::ok) return;
  collect_impact(impact, parts, round, result);
  result.v = round.solution.chosen.x;
}

FrictionShock empty_shock(const Equations& equations, const Eigen::VectorXd& alpha) {
  FrictionShock result;
  result.v = alpha;
  result.impulses = Eigen::VectorXd::Zero(index(equations.count()));
  result.pushed = Eigen::VectorXd::Zero(alpha.size());
  result.struck.assign(equations.count(), 0);
  result.rubbed.assign(equations.count(), 0);
  return result;
}

bool gradient_vanishes(const Equations& equations, const State& state, const Sizes& sizes,
                       const ShockParticipants& participants) {
  for (const auto* list : {&participants.equations, &participants.contacts, &participants.velocities})
    for (const std::size_t i : *list)
      if (vanishes(equations.scaled_row(i, state, sizes))) return true;
  return false;
}

}  // namespace

bool takes_friction(const Equations& equations, const State& state, const ShockParticipants& participants,
                    const std::vector<std::size_t>& bounded) {
  return !bounded.empty() ||
         std::any_of(participants.contacts.begin(), participants.contacts.end(), [&](std::size_t i) {
           const std::optional<std::size_t> f = friction_of(equations.system(), i);
           return f && has_friction(equations, *f, state);
         });
}

FrictionShock friction_shock(const Equations& equations, const State& state, const Sizes& sizes,
                             const Eigen::VectorXd& alpha, const ShockParticipants& participants,
                             const std::vector<std::size_t>& bounded, const std::vector<double>& restitution,
                             double rest_speed) {
  FrictionShock result = empty_shock(equations, alpha);
  const System& system = equations.system();
  Impact impact(equations, state, sizes, alpha, rest_speed);
  if (!impact.mass().allFinite() || !alpha.allFinite() || !MassMetric(impact.mass()).valid()) {
    result.status = Status::not_finite;
    return result;
  }
  std::vector<std::size_t> bounds = bounded;
  // Bounded equations that held until an external impulse: one that moves yields, and is no cause of a shock.
  std::vector<std::size_t> causes;
  for (const std::size_t i : bounded)
    if (impact.is_equation(i) && std::abs(impact.rate(i, state.v)) <= impact.zero(i)) causes.push_back(i);
  const bool violated = is_violated(impact, alpha, participants, bounds, causes, system);
  if (violated && gradient_vanishes(equations, state, sizes, participants)) {
    result.status = Status::singular;
    return result;
  }
  for (; is_violated(impact, result.v, participants, bounds, causes, system); ++result.rounds) {
    if (result.rounds > impact_round_limit) break;
    causes.clear();
    const Eigen::VectorXd before = result.v;
    const auto solve = [&](bool inelastic, std::vector<ImpactPart>& parts) {
      parts = take_part_in_impact(impact, before, participants, bounds, restitution, inelastic);
      const bool linear = std::all_of(parts.begin(), parts.end(), [&](const ImpactPart& part) {
        return system.constraints[part.condition].linear;
      });
      return solve_capped(impact, parts, before, linear);
    };
    std::vector<ImpactPart> parts;
    ImpactRound round = solve(result.rounds >= impact_round_limit, parts);
    if (round.status == Status::infeasible) round = solve(true, parts);
    if (round.status != Status::ok) {
      result.status = round.status;
      return result;
    }
    collect_impact(impact, parts, round, result);
    result.jumped = true;
    result.v = round.solution.chosen.x;
    drop_noise(result.v, alpha, impact.mass());
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const std::size_t i = parts[p].condition;
      if (parts[p].element.kind != ModeElement::Kind::bound || !system.constraints[i].limit->breaks) continue;
      if (round.solution.chosen.modes[p].kind != ModeKind::slip) continue;
      result.broken.push_back(i);
      std::erase(bounds, i);
    }
  }
  if (result.rounds > 1) {
    settle_impact(equations, impact, participants, bounds, result);
    drop_noise(result.v, alpha, impact.mass());
  }
  list_tangential_impulses(equations, result);
  result.energy_lost = impact.kinetic(state.v) - impact.kinetic(result.v);
  return result;
}

FrictionShock completed_friction_shock(const Equations& equations, const State& state, const Sizes& sizes,
                                       const ShockParticipants& participants, double rest_speed) {
  FrictionShock result = empty_shock(equations, state.v);
  Impact impact(equations, state, sizes, state.v, rest_speed);
  const Eigen::VectorXd alpha = state.v;
  std::vector<ImpactPart> parts;
  std::vector<ElementMode> modes;
  const auto add = [&](std::size_t i, ModeElement::Kind kind) {
    parts.push_back(impact.part(i, kind, alpha, 0));
    ImpactPart& part = parts.back();
    part.rebound.setZero();
    ElementMode mode;
    if (part.element.kind == ModeElement::Kind::friction) {
      Eigen::VectorXd slip(part.element.tangents);
      double zero = 0;
      for (Eigen::Index k = 0; k < slip.size(); ++k) {
        const std::size_t row = part.rows[static_cast<std::size_t>(k) + 1];
        slip(k) = impact.rate(row, alpha);
        zero = std::max(zero, impact.zero(row));
      }
      if (slip.norm() > zero) mode = {ModeKind::slip, slip / slip.norm()};
    }
    modes.push_back(std::move(mode));
  };
  for (const std::size_t i : participants.equations) add(i, ModeElement::Kind::equation);
  // A contact with a limit bears impulses without friction [limit-4].
  for (const std::size_t i : participants.contacts)
    add(i, equations.system().constraints[i].limit ? ModeElement::Kind::equation
                                                   : ModeElement::Kind::inequality);
  ImpactRound round;
  round.problem = impact.problem(parts, alpha, alpha, 1);
  const ModeSolver solver(round.problem);
  if (solver.usable()) round.solution.chosen = solver.solve(modes);
  if (!solver.usable() || !round.solution.chosen.x.allFinite()) {
    result.status = Status::infeasible;
    return result;
  }
  for (const std::size_t i : participants.velocities)
    if (impact.rate(i, round.solution.chosen.x) > impact.zero(i)) result.status = Status::infeasible;
  collect_impact(impact, parts, round, result);
  result.kkt = 0;
  result.v = round.solution.chosen.x;
  result.jumped = true;
  drop_noise(result.v, alpha, impact.mass());
  // Tangential impulses keep their signs: those that the closed phase transfers are added to them before the sum is
  // listed (Motion::list_friction_of_hops).
  result.energy_lost = impact.kinetic(state.v) - impact.kinetic(result.v);
  return result;
}

}  // namespace zwang
