// Rounds of quadratic programs for the velocities after a shock.
#include "src/laws/shock.h"

#include <algorithm>
#include <cmath>

#include "src/base/index.h"
#include "src/expression/scaled.h"
#include "src/laws/aitken.h"
#include "src/laws/least_constraint.h"
#include "src/quadratic_program/enumerate.h"
#include "src/quadratic_program/kkt_residual.h"
#include "src/quadratic_program/quadratic_program.h"
#include "src/quadratic_program/solve.h"
#include "src/system/mass_metric.h"

namespace zwang {

namespace {

// Limit of successive shocks at one instant; beyond it the sequence is completed as inelastic.
constexpr int round_limit = 1000;
// Linearisations of conditions that are not linear in the velocities.
constexpr int linearisation_limit = 200;

// One condition's part in a shock.
struct Part {
  std::size_t condition;
  bool equation;
  double rebound;  // e max(f'(alpha), 0)
};

struct Setting {
  const Equations& equations;
  State state;  // positions and time are those of the shock
  Eigen::MatrixXd mass;
  std::vector<double> zero;  // by condition: values of f' or g up to this size count as zero

  double rate(std::size_t condition, const Eigen::VectorXd& v) {
    state.v = v;
    return equations.rate(condition, state);
  }
};

// minimise |v - alpha|_M subject to the linearised parts at v0, f' with its f_t [mayer2-3] [mayer2-6]
// [mayer2-9]
QuadraticProgram velocity_program(Setting& setting, const Eigen::VectorXd& alpha, const Eigen::VectorXd& v0,
                                  const std::vector<Part>& parts) {
  QuadraticProgram program;
  program.mass = setting.mass;
  program.free = alpha;
  program.rows.setZero(index(parts.size()), alpha.size());
  program.offsets.setZero(index(parts.size()));
  setting.state.v = v0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const Row row = setting.equations.row(parts[k].condition, setting.state);
    program.rows.row(index(k)) = row.a;
    program.offsets(index(k)) = row.rate - row.a * v0 + parts[k].rebound;
    program.equation.push_back(parts[k].equation);
  }
  return program;
}

struct Round {
  bool feasible = false;
  Eigen::VectorXd v, l;
  double kkt = 0;
  Eigen::MatrixXd rows;
  Eigen::VectorXd offsets;
};

// Linearises at v0, solves, and linearises at the solution until it no longer changes; one pass where all is
// linear in v. Far from a strongly curved condition the iterates would oscillate, so the moves are relaxed
// (Aitken).
Round solve_from(Setting& setting, const Eigen::VectorXd& alpha, const std::vector<Part>& parts,
                 Eigen::VectorXd v0, bool linear) {
  Round round;
  Relaxation relaxation;
  for (int pass = 0; pass < (linear ? 1 : linearisation_limit); ++pass) {
    const QuadraticProgram program = velocity_program(setting, alpha, v0, parts);
    if (!program.rows.allFinite() || !program.offsets.allFinite()) return round;
    const QpSolution solution = solve_qp(program);
    if (!solution.feasible) return round;
    round.v = solution.x;
    round.l = solution.multipliers;
    round.rows = program.rows;
    round.offsets = program.offsets;
    round.kkt = kkt_residual(program, solution.x, solution.multipliers);
    const double size = round.v.cwiseAbs().maxCoeff() + alpha.cwiseAbs().maxCoeff();
    round.feasible = linear || (round.v - v0).cwiseAbs().maxCoeff() <= 1e-14 * size;
    if (round.feasible) break;
    v0 += relaxation.relax(round.v - v0);
  }
  return round;
}

// Velocity conditions that are not linear in v can have several stationary solutions, and linearisation at
// alpha may lead to a distant branch. The solution of the linear conditions alone is therefore a second
// start; the smaller change is taken.
Round solve_round(Setting& setting, const Eigen::VectorXd& alpha, const std::vector<Part>& parts) {
  std::vector<Part> linear_parts;
  for (const Part& part : parts)
    if (setting.equations.system().constraints[part.condition].linear) linear_parts.push_back(part);
  if (linear_parts.size() == parts.size()) return solve_from(setting, alpha, parts, alpha, true);
  const auto cost = [&](const Round& round) {
    const Eigen::VectorXd change = round.v - alpha;
    return change.dot(setting.mass * change);
  };
  Round best = solve_from(setting, alpha, parts, alpha, false);
  const Round eased = solve_from(setting, alpha, linear_parts, alpha, true);
  if (!eased.feasible) return best;
  const Round other = solve_from(setting, alpha, parts, eased.v, false);
  if (other.feasible && (!best.feasible || cost(other) < cost(best))) best = other;
  return best;
}

// The conditions of one round. With a rebound, only contacts and velocity inequalities that are not already
// satisfied with a margin take part (mechanics section 4), and equations that do not hold yet are solved
// first, alone: a rebound computed from the unconstrained velocity could otherwise create energy.
std::vector<Part> take_part(Setting& setting, const Eigen::VectorXd& alpha,
                            const ShockParticipants& participants, const std::vector<double>& restitution,
                            bool inelastic) {
  std::vector<Part> parts;
  for (const std::size_t i : participants.equations) parts.push_back({i, true, 0});
  bool rebounds = false;
  for (const std::size_t i : participants.contacts)
    rebounds = rebounds || (!inelastic && restitution[i] > 0 && setting.rate(i, alpha) > setting.zero[i]);
  const bool imposing =
      std::any_of(participants.equations.begin(), participants.equations.end(),
                  [&](std::size_t i) { return std::abs(setting.rate(i, alpha)) > setting.zero[i]; });
  if (rebounds && imposing) return parts;
  for (const std::size_t i : participants.contacts) {
    const double approach = setting.rate(i, alpha);
    if (rebounds && approach < -setting.zero[i]) continue;
    parts.push_back({i, false, inelastic ? 0 : restitution[i] * std::max(approach, 0.0)});
  }
  for (const std::size_t i : participants.velocities)
    if (!rebounds || setting.rate(i, alpha) >= -setting.zero[i]) parts.push_back({i, false, 0});
  return parts;
}

bool violated(Setting& setting, const Eigen::VectorXd& v, const ShockParticipants& participants) {
  const auto breaks = [&](std::size_t i) { return setting.rate(i, v) > setting.zero[i]; };
  const auto differs = [&](std::size_t i) { return std::abs(setting.rate(i, v)) > setting.zero[i]; };
  return std::any_of(participants.contacts.begin(), participants.contacts.end(), breaks) ||
         std::any_of(participants.velocities.begin(), participants.velocities.end(), breaks) ||
         std::any_of(participants.equations.begin(), participants.equations.end(), differs);
}

// Adds the multipliers of a round to those of the shock and marks the conditions that were struck.
void collect(Setting& setting, const std::vector<Part>& parts, const Round& round, Shock& result) {
  const Eigen::MatrixXd b = MassMetric(setting.mass).rows(round.rows);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const std::size_t i = parts[k].condition;
    const double l = round.l(index(k));
    result.impulses(index(i)) += l;
    if (std::abs(l) * b.row(index(k)).squaredNorm() > setting.zero[i]) result.struck[i] = 1;
  }
  const Eigen::MatrixXd pushes = setting.mass.ldlt().solve(round.rows.transpose()) * round.l.asDiagonal();
  result.pushed += pushes.cwiseAbs().rowwise().sum();
}

// [mayer2-§2] Carnot: with fixed conditions, no rebound and no external impulse T(u) - T(v) = T(v - u).
double carnot_gap(const Eigen::MatrixXd& mass, const Eigen::VectorXd& u, const Eigen::VectorXd& v) {
  const auto twice = [&](const Eigen::VectorXd& x) { return x.dot(mass * x); };
  return twice(u) > 0 ? std::abs(twice(u) - twice(v) - twice(v - u)) / twice(u) : 0;
}

Setting make_setting(const Equations& equations, const State& state, const Sizes& sizes,
                     const Eigen::VectorXd& alpha, const ShockParticipants& participants, double rest_speed,
                     Shock& result) {
  Setting setting{equations, state, equations.mass(state), std::vector<double>(equations.count(), 0.0)};
  result.v = alpha;
  result.impulses = Eigen::VectorXd::Zero(index(equations.count()));
  result.pushed = Eigen::VectorXd::Zero(alpha.size());
  result.struck.assign(equations.count(), 0);
  if (!setting.mass.allFinite() || !alpha.allFinite() || !MassMetric(setting.mass).valid())
    result.status = Status::not_finite;
  Sizes larger = sizes;
  larger.v = sizes.v.cwiseMax(alpha.cwiseAbs()).cwiseMax(state.v.cwiseAbs());
  setting.state.v = alpha;
  for (const auto* list : {&participants.equations, &participants.contacts, &participants.velocities})
    for (const std::size_t i : *list) {
      const std::vector<Scaled> scaled = equations.scaled_row(i, setting.state, larger);
      setting.zero[i] = rest_speed * scaled[1].scale;
    }
  return setting;
}

// True if a condition at its limit or beyond has a vanishing gradient and so cannot act. A condition well
// inside its limit does not act anyway.
bool singular(Setting& setting, const Sizes& sizes, const Eigen::VectorXd& v,
              const ShockParticipants& participants) {
  for (const auto* list : {&participants.equations, &participants.contacts, &participants.velocities})
    for (const std::size_t i : *list) {
      setting.state.v = v;
      const bool acts = list == &participants.equations || setting.rate(i, v) >= -setting.zero[i];
      if (acts && vanishes(setting.equations.scaled_row(i, setting.state, sizes))) return true;
    }
  return false;
}

double kinetic(Setting& setting, const Eigen::VectorXd& v) {
  setting.state.v = v;
  return setting.equations.kinetic(setting.state);
}

// Rounds of rebounds at one instant end when every approach is within zero. A row of contacts without a gap, as
// of disks that fill the width of a box, is left with speeds of that size, which are what remains of infinitely
// many rounds. Contacts whose rate is not clearly zero come to rest, and velocity inequalities reach their limits: left as
// they are, some would count as approaching, or as short of their limits, for the active set, whose zeros are those of the
// velocities after the shock.
void settle(Setting& setting, const ShockParticipants& participants, Shock& result) {
  constexpr double clearly = 0.25;  // the zeros before and after a shock differ by less than a factor of 4
  std::vector<Part> parts;
  for (const std::size_t i : participants.equations) parts.push_back({i, true, 0});
  bool unclear = false;
  const auto add = [&](std::size_t i) {
    const double size = std::abs(setting.rate(i, result.v));
    const bool rests = size <= setting.zero[i];
    unclear = unclear || (rests && size > clearly * setting.zero[i]);
    parts.push_back({i, rests, 0});
  };
  for (const std::size_t i : participants.contacts) add(i);
  for (const std::size_t i : participants.velocities) add(i);
  if (!unclear) return;
  const Round round = solve_round(setting, result.v, parts);
  if (!round.feasible) return;
  collect(setting, parts, round, result);
  result.kkt = std::max(result.kkt, round.kkt);
  result.v = round.v;
}

}  // namespace

Shock shock(const Equations& equations, const State& state, const Sizes& sizes, const Eigen::VectorXd& alpha,
            const ShockParticipants& participants, const std::vector<double>& restitution,
            double rest_speed) {
  Shock result;
  Setting setting = make_setting(equations, state, sizes, alpha, participants, rest_speed, result);
  if (result.status != Status::ok) return result;

  if (violated(setting, result.v, participants) && singular(setting, sizes, result.v, participants)) {
    result.status = Status::singular;
    return result;
  }
  bool carnot_applies = alpha == state.v;  // Carnot's identity applies
  for (; violated(setting, result.v, participants); ++result.rounds) {
    const bool inelastic = result.rounds >= round_limit;
    if (result.rounds > round_limit) break;
    std::vector<Part> parts = take_part(setting, result.v, participants, restitution, inelastic);
    Round round = solve_round(setting, result.v, parts);
    if (!round.feasible) {
      // No admissible rebound: solve without restitution.
      parts = take_part(setting, result.v, participants, restitution, true);
      round = solve_round(setting, result.v, parts);
    }
    if (!round.feasible) {
      result.status = Status::infeasible;
      return result;
    }
    collect(setting, parts, round, result);
    result.jumped = true;
    result.kkt = std::max(result.kkt, round.kkt);
    for (std::size_t k = 0; k < parts.size(); ++k)
      carnot_applies =
          carnot_applies && std::abs(round.offsets(index(k))) <= setting.zero[parts[k].condition];
    result.v = round.v;
    drop_noise(result.v, alpha, setting.mass);
  }
  if (result.rounds > 1) {
    settle(setting, participants, result);
    drop_noise(result.v, alpha, setting.mass);
  }
  result.energy_lost = kinetic(setting, state.v) - kinetic(setting, result.v);
  if (carnot_applies && result.rounds == 1) result.carnot = carnot_gap(setting.mass, state.v, result.v);
  return result;
}

Shock completed_shock(const Equations& equations, const State& state, const Sizes& sizes,
                      const ShockParticipants& participants, double rest_speed) {
  Shock result;
  Setting setting = make_setting(equations, state, sizes, state.v, participants, rest_speed, result);
  if (result.status != Status::ok) return result;
  std::vector<Part> parts;
  for (const std::size_t i : participants.equations) parts.push_back({i, true, 0});
  for (const std::size_t i : participants.contacts) parts.push_back({i, true, 0});
  for (const std::size_t i : participants.velocities) parts.push_back({i, false, 0});
  const Round round = solve_round(setting, state.v, parts);
  if (!round.feasible) {
    result.status = Status::infeasible;
    return result;
  }
  collect(setting, parts, round, result);
  result.jumped = true;
  result.v = round.v;
  drop_noise(result.v, state.v, setting.mass);
  result.kkt = round.kkt;
  result.energy_lost = kinetic(setting, state.v) - kinetic(setting, result.v);
  return result;
}

}  // namespace zwang
