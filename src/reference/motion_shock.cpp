// Shocks (mechanics section 4): new velocities, their audit and their record.
#include <algorithm>
#include <cmath>

#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/base/error.h"
#include "src/base/index.h"
#include "src/laws/friction_modes.h"
#include "src/laws/friction_shock.h"
#include "src/laws/shock.h"
#include "src/reference/accumulation.h"
#include "src/reference/audit.h"
#include "src/reference/member_state.h"
#include "src/reference/motion.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// Why a shock has no result, in words.
std::string describe_no_shock(Status status) {
  switch (status) {
    case Status::ambiguous:
      return "several admissible motions after a shock";
    case Status::singular:
      return "the gradient of a constraint vanishes at a shock";
    case Status::not_finite:
      return "masses or velocities that are not finite at a shock";
    default:
      return "no admissible velocities after a shock";
  }
}

}  // namespace

// A shock from any cause, and the active set after it. `named` are the conditions that an imposition is
// about.
void Motion::apply_shock(const Eigen::VectorXd& alpha, const std::vector<std::size_t>& reached,
                         EventKind kind, std::vector<std::size_t> named) {
  recorder_.flush_accumulation();
  std::vector<char> touching = touching_now();
  for (const std::size_t i : reached)
    if (member_.conditions[i].standing == Standing::open)
      touching[i] = touching[i] || kind == EventKind::shock;
  const State before = member_.state();
  const Shock result = solve_shock(before, alpha, touching);
  if (result.status != Status::ok) {
    fail(result.status, describe_no_shock(result.status) + " at t = " + number_text(member_.t));
    return;
  }
  take_velocities(result, before);
  audit_shock(result, before, kind);

  const bool external = kind == EventKind::impulse;
  const bool internal = result.jumped && kind == EventKind::shock;
  const std::optional<AccumulationWatch::Sequence> earlier = accumulation_.sequence();
  // Open until now and at zero. Closed ones, struck a moment ago, tell nothing about the distance of the
  // others.
  std::vector<char> arriving = touching;
  for (std::size_t i = 0; i < member_.conditions.size(); ++i)
    arriving[i] = touching[i] && member_.conditions[i].standing == Standing::open;
  if (internal) accumulation_.note(member_.t, reached, member_.active);
  // Velocity inequalities that the shock has brought to their limits close with it.
  for (std::size_t i = 0; i < member_.conditions.size(); ++i)
    if (result.struck[i] && member_.conditions[i].standing == Standing::open &&
        !equations_.system().constraints[i].holonomic)
      touching[i] = 1;
  if (!update_active_set(touching, no_condition)) return;
  const bool at_start = recorder_.trajectory().steps == 0 && member_.t == 0;
  pass_density(result, reached, kind, at_start);
  if (result.jumped || external || (kind == EventKind::imposed && !at_start)) {
    Event event{.t = member_.t, .kind = kind, .constraints = std::move(named), .reached = reached};
    if (result.jumped || external) add_jump(event, result, before.v);
    recorder_.record_event_now(std::move(event));
  }
  if (going() && internal) finish_accumulation(arriving, earlier);
  if (going()) project_drift();
}

// Bounded rows that hold and whose impulses stay within their bounds are equations: where no contact has friction, the
// laws without it are tried first, and give the same numbers.
Shock Motion::solve_shock(const State& before, const Eigen::VectorXd& alpha,
                          const std::vector<char>& touching) {
  const ShockParticipants unbounded = participants(touching);
  const std::vector<std::size_t> bounded = bounded_in_shock(touching);
  const auto plain = [&](const ShockParticipants& parts) {
    return shock(equations_, before, member_.sizes, alpha, parts, formulas_.restitution,
                 settings_.rest_speed);
  };
  if (!takes_friction(equations_, before, unbounded, bounded)) return plain(unbounded);
  if (!takes_friction(equations_, before, unbounded, {})) {
    ShockParticipants all = unbounded;
    bool hold = true;
    for (const std::size_t i : bounded) {
      // A row that moves yields, also at the start: it is no equation, and no cause of a shock.
      const Constraint& row = equations_.system().constraints[i];
      const bool moves = row.equation && !row.limit->breaks &&
                         std::abs(equations_.rate(i, before)) > member_.zero_of(i, before).rate;
      hold = hold && member_.in_force(i) && !moves;
      (equations_.system().constraints[i].equation ? all.equations : all.contacts).push_back(i);
    }
    std::sort(all.equations.begin(), all.equations.end());
    std::sort(all.contacts.begin(), all.contacts.end());
    if (hold) {
      const Shock result = plain(all);
      const bool within = std::all_of(bounded.begin(), bounded.end(), [&](std::size_t i) {
        return std::abs(result.impulses(static_cast<Eigen::Index>(i))) <=
               equations_.bound(*bound_of(equations_.system(), i)).impulse_limit;
      });
      if (result.status == Status::ok && within) return result;
    }
  }
  const FrictionShock result = friction_shock(equations_, before, member_.sizes, alpha, unbounded, bounded,
                                              formulas_.restitution, settings_.rest_speed);
  for (const std::size_t i : result.broken) break_condition(*bound_of(equations_.system(), i));
  return result;
}

// [limit-4] Bounded rows with an impulse_limit, whether they hold or yield, and rows that break.
std::vector<std::size_t> Motion::bounded_in_shock(const std::vector<char>& touching) const {
  std::vector<std::size_t> made;
  const System& system = equations_.system();
  for (std::size_t b = 0; b < system.bounds.size(); ++b) {
    const std::size_t i = system.bounds[b].condition;
    const bool holds = member_.in_force(i) && (system.constraints[i].equation || touching[i]);
    const bool takes_part = system.bounds[b].breaks || equations_.bound(b).impulse_limit > 0;
    if (takes_part && (holds || member_.yields(b) != 0)) made.push_back(i);
  }
  return made;
}

void Motion::take_velocities(const Shock& shock, const State& before) {
  const double energy_before = equations_.energy(before);
  member_.set_velocities(shock.v);
  recorder_.add_energy_lost(energy_before - equations_.energy(member_.state()));
  Eigen::VectorXd& sizes = member_.sizes.v;
  sizes = sizes.cwiseMax(shock.v.cwiseAbs()).cwiseMax(before.v.cwiseAbs()).cwiseMax(shock.pushed);
}

void Motion::audit_shock(const Shock& shock, const State& before, EventKind kind) {
  Audit& audit = recorder_.trajectory().audit;
  raise_worst(audit.kkt, shock.kkt);
  raise_worst(audit.carnot, shock.carnot);

  // Conditions that move, or that prescribe a velocity other than zero, may supply energy; others may not.
  bool fixed = kind != EventKind::impulse;
  State still = before;
  still.v.setZero();
  for (std::size_t i = 0; i < member_.conditions.size(); ++i)
    fixed =
        fixed && !(shock.struck[i] && std::abs(equations_.rate(i, still)) > member_.zero_of(i, before).rate);
  if (fixed) raise_worst(audit.energy_created, -shock.energy_lost);
}

ShockParticipants Motion::participants(const std::vector<char>& touching) const {
  ShockParticipants result;
  const std::vector<Constraint>& constraints = equations_.system().constraints;
  std::vector<char> free(constraints.size(), 0);  // rows of links without part in shocks
  for (const LinkLimitFormula& link : equations_.system().link_limits)
    if (!link.bears_impulses) std::fill_n(free.begin() + index(link.first), link.rows, 1);
  for (std::size_t i = 0; i < member_.conditions.size(); ++i) {
    if (!member_.in_force(i) || constraints[i].slip_of || constraints[i].limit || free[i]) continue;
    if (member_.conditions[i].standing == Standing::equation)
      result.equations.push_back(i);
    else if (!equations_.system().constraints[i].holonomic)
      result.velocities.push_back(i);
    else if (touching[i])
      result.contacts.push_back(i);
  }
  return result;
}

void Motion::add_jump(Event& event, const Shock& shock, const Eigen::VectorXd& before) const {
  event.velocities_jump = true;
  event.energy_lost = shock.energy_lost;
  event.velocity_before = before;
  event.velocity_after = shock.v;
  if (event.kind != EventKind::imposed) event.constraints.clear();
  for (std::size_t i = 0; i < member_.conditions.size(); ++i)
    if (shock.struck[i] &&
        std::find(event.constraints.begin(), event.constraints.end(), i) == event.constraints.end())
      event.constraints.push_back(i);
  const State now = member_.state();
  for (const std::size_t i : event.constraints) {
    const double impulse = shock.struck[i] ? shock.impulses(static_cast<Eigen::Index>(i)) : 0;
    // A slip speed is that of the touching point: its multiplier is the force there.
    const bool is_slip = equations_.system().constraints[i].slip_of.has_value();
    event.impulses.push_back(is_slip ? impulse : impulse * equations_.evaluate(formulas_.reaches[i], now));
  }
}

// The density along the flow after a shock: lost where the shock does not keep phase volume, or where a
// condition closes.
void Motion::pass_density(const Shock& shock, const std::vector<std::size_t>& reached, EventKind kind,
                          bool at_start) {
  const bool external = kind == EventKind::impulse;
  const bool closes = std::any_of(reached.begin(), reached.end(), [&](std::size_t i) {
    return member_.conditions[i].standing == Standing::closed;
  });
  if (((shock.jumped || external) && !keeps_volume(shock, kind)) || (closes && !at_start)) lose_density();
}

// An elastic reflection at one condition keeps phase volume: the map of the velocities has the determinant
// -e, and neighbours that arrive later move at the old velocity for a time and at the new one for the rest,
// which is another f'+/f'- = -e. An impulse that does not depend on the velocities shifts them all alike. All
// other shocks lose dimensions, and with them the density [voss-11].
bool Motion::keeps_volume(const Shock& shock, EventKind kind) const {
  const System& system = equations_.system();
  std::size_t struck = 0;
  bool elastic = true;
  for (std::size_t i = 0; i < member_.conditions.size(); ++i) {
    if (!shock.struck[i] || member_.conditions[i].standing == Standing::equation) continue;
    ++struck;
    elastic = elastic && system.constraints[i].holonomic && formulas_.restitution[i] == 1;
  }
  if (kind == EventKind::shock) return struck == 1 && elastic;
  return kind == EventKind::impulse && struck == 0 && system.impulses_shift();
}

// The auxiliary after the log-density is 1 once the density is lost.
void Motion::lose_density() {
  if (const std::optional<std::size_t>& density = equations_.system().density)
    member_.y(2 * member_.n() + static_cast<Eigen::Index>(*density) + 1) = 1;
}

}  // namespace zwang
