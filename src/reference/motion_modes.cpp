// Modes of friction and of bounded multipliers: which contacts stick or slip, which bounded rows hold or yield, and the
// events at which that changes [friction-6] [limit-3].
#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/base/error.h"
#include "src/base/index.h"
#include "src/laws/friction_modes.h"
#include "src/laws/least_constraint.h"
#include "src/laws/mode_problem.h"
#include "src/laws/project.h"
#include "src/reference/audit.h"
#include "src/reference/member_state.h"
#include "src/reference/motion.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"
#include "src/system/mass_metric.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// Multipliers within this share of their cone are at it.
constexpr double at_cone = 1e-6;

bool holds_condition(const std::vector<std::size_t>& list, std::size_t i) {
  return std::find(list.begin(), list.end(), i) != list.end();
}

}  // namespace

bool Motion::bounds_forces() const { return equations_.system().bounds_forces(); }

// [limit-1] A bounded row with s != 0 yields and is a known force; one that breaks is gone. Rows that may hold, those
// with s = 0, count as equations until the problem of the accelerations is solved.
void Motion::let_moving_bounds_yield(const ModeChange& change) {
  const System& system = equations_.system();
  for (std::size_t b = 0; b < system.bounds.size(); ++b) {
    const Bound& bound = system.bounds[b];
    const std::size_t i = bound.condition;
    if (!system.constraints[i].equation || (!member_.in_force(i) && member_.yields(b) == 0)) continue;
    const State now = member_.state();
    const double rate = equations_.rate(i, now);
    const bool rests = holds_condition(change.rests, i) || std::abs(rate) <= member_.zero_of(i, now).rate;
    if (rests) {
      if (member_.yields(b) != 0 && !change.continued) hold_bound(b, now);
    } else if (bound.breaks) {
      break_condition(b);
    } else {
      member_.conditions[i] = {};
      member_.modes(index(*bound.sign)) = rate > 0 ? 1 : -1;
    }
  }
  break_separated_links();
}

// A condition on positions holds again where it stopped.
void Motion::hold_bound(std::size_t b, const State& now) {
  const Bound& bound = equations_.system().bounds[b];
  member_.conditions[bound.condition].standing = Standing::equation;
  if (!bound.sign) return;
  double& sign = member_.modes(index(*bound.sign));
  if (sign != 0 && bound.offset)
    member_.modes(index(*bound.offset)) += equations_.value(bound.condition, now);
  sign = 0;
}

bool Motion::within_bounds(const LeastConstraint& gauss) const {
  const System& system = equations_.system();
  for (std::size_t b = 0; b < system.bounds.size(); ++b) {
    const auto it = std::find(gauss.rows.begin(), gauss.rows.end(), system.bounds[b].condition);
    if (it == gauss.rows.end() || member_.hops(*it)) continue;
    const Eigen::Index k = it - gauss.rows.begin();
    const double length =
        MassMetric(gauss.dynamics.mass).rows(Eigen::MatrixXd(gauss.program.rows.row(k))).norm();
    const double force = std::abs(gauss.multipliers(index(*it)));
    if (!(force <= equations_.bound(b).limit + gauss.slack(k) / (length * length))) return false;
  }
  return true;
}

// Without contacts that have friction, and with all bounded rows within their bounds, the problem is that of
// unbounded conditions, to the last bit.
std::optional<LeastConstraint> Motion::solve_modes_in_force(GaussProblem& problem, const ModeChange& change) {
  const System& system = equations_.system();
  for (;;) {
    const bool friction = std::any_of(problem.rows.begin(), problem.rows.end(), [&](std::size_t i) {
      const std::optional<std::size_t> f = friction_of(system, i);
      return f && has_friction(equations_, *f, problem.state);
    });
    if (!friction && change.leaves.empty()) {
      const LeastConstraint plain = least_constraint(equations_, problem.state, member_.sizes, problem.rows,
                                                     10 * settings_.contact_tolerance);
      const bool bounded = std::any_of(problem.rows.begin(), problem.rows.end(),
                                       [&](std::size_t i) { return bound_of(system, i).has_value(); });
      if (!bounded || (plain.status == Status::ok && within_bounds(plain))) {
        if (plain.status != Status::ok || !break_overloaded_links(plain.multipliers))
          return solve_plain_gauss_problem(problem);
        remove_broken(problem);
        continue;
      }
    }
    ModeQuestion question{.rows = problem.rows,
                          .leaves = change.leaves,
                          .rests = change.rests,
                          .hopping = member_.hopping(),
                          .slides = change.slides,
                          .continued = change.continued,
                          .tolerance = 10 * settings_.contact_tolerance,
                          .rest_speed = settings_.rest_speed,
                          .margin = settings_.painleve_margin};
    FrictionConstraint found = friction_constraint(equations_, problem.state, member_.sizes, question);
    if (found.status != Status::ok && found.solution.admissible.empty() && !question.leaves.empty()) {
      // It may stay: its force only touched the bound, or the drift removed since has brought it back.
      question.leaves.clear();
      found = friction_constraint(equations_, problem.state, member_.sizes, question);
    }
    if (found.status != Status::ok) {
      const std::string lacks =
          found.solution.admissible.empty() ? "no acceleration" : "no unique acceleration";
      fail(found.status,
           lacks + " at t = " + number_text(member_.t) + ": " + describe_no_mode(system, found.solution));
      return std::nullopt;
    }
    if (break_overloaded(found) || break_overloaded_links(found.multipliers)) {
      remove_broken(problem);
      continue;
    }
    Trajectory& trajectory = recorder_.trajectory();
    raise_worst(trajectory.audit.kkt, found.kkt);
    trajectory.redundant = trajectory.redundant || found.redundant;
    found_modes_ = std::move(found);
    return *found_modes_;
  }
}

// Takes over the modes of a solution; without one no contact sticks or slips, and every bounded row at s = 0 holds.
void Motion::set_modes(const GaussProblem& problem) {
  const System& system = equations_.system();
  for (const Friction& friction : system.frictions) {
    member_.modes.segment(index(friction.first_mode), index(friction_modes(friction.rows.size()))).setZero();
    for (const std::size_t row : friction.rows) member_.conditions[row] = {};
  }
  member_.unique_forces = true;
  if (!found_modes_) return;
  member_.unique_forces = !found_modes_->redundant;
  for (const FoundMode& found : found_modes_->modes) {
    const std::optional<std::size_t> b = bound_of(system, found.condition);
    const std::optional<std::size_t> rubbing = friction_of(system, found.condition);
    if (b && !(rubbing && has_friction(equations_, *rubbing, problem.state))) {
      const Bound& bound = system.bounds[*b];
      if (found.mode.kind != ModeKind::slip) continue;
      member_.conditions[found.condition] = {};
      member_.modes(index(*bound.sign)) = found.mode.direction(0);
      continue;
    }
    const std::size_t f = *friction_of(system, found.condition);
    const Friction& friction = system.frictions[f];
    if (found.mode.kind == ModeKind::hold)
      for (const std::size_t row : friction.rows) member_.conditions[row].standing = Standing::equation;
    if (found.mode.kind != ModeKind::slip) continue;
    const Eigen::Index first = index(friction.first_mode), count = index(friction.rows.size());
    member_.modes.segment(first, count) = found.mode.direction;
    // The rounding of velocities that have just been at rest is nothing: the slip is known no better than the time
    // at which it begins.
    if (count == 2)
      member_.modes(first + 2) =
          std::max(member_.zero_slip(f, problem.state),
                   member_.rounding_of_time() * size_of_slip_rate(friction, problem.state, found_modes_->a));
  }
}

void Motion::activate_sticking_rows() {
  for (std::size_t f = 0; f < equations_.system().frictions.size(); ++f)
    if (member_.sticks(f)) {
      const std::vector<std::size_t>& rows = equations_.system().frictions[f].rows;
      member_.active.insert(member_.active.end(), rows.begin(), rows.end());
    }
  std::sort(member_.active.begin(), member_.active.end());
}

// In space the direction of the slip turns; the side on which it is known is renewed with every step. The rounding of
// the slip is that of the largest speeds of its phase: those of the last step vanish with the slip.
void Motion::renew_slip_directions() {
  const System& system = equations_.system();
  for (std::size_t f = 0; f < system.frictions.size(); ++f) {
    const Friction& friction = system.frictions[f];
    if (friction.rows.size() < 2 || !member_.slips(f)) continue;
    const State now = member_.state();
    const Eigen::VectorXd slip = member_.slip_of(f, now);
    const double zero = member_.zero_slip(f, now);
    const Eigen::Index first = index(friction.first_mode);
    if (slip.norm() > zero) member_.modes.segment(first, 2) = slip / slip.norm();
  }
}

void Motion::change_mode(const Transition& transition) {
  const ModesInForce before = modes_in_force();
  const System& system = equations_.system();
  std::vector<std::size_t> reversed;
  const auto update = [&](const ModeChange& change) {
    interrupt_accumulation();
    return update_active_set(touching_now(), no_condition, change);
  };
  switch (transition.kind) {
    case TransitionKind::slide: {
      const std::vector<std::size_t> leaves = reaching_cone(transition.of);
      if (leaves.empty() || !update({.leaves = leaves})) return;
      break;
    }
    case TransitionKind::stick: {
      const std::size_t contact = system.frictions[transition.of].contact;
      if (!comes_to_rest(transition.of)) return;
      const std::vector<std::size_t> resting = frictions_at_rest(transition.of);
      remove_slips(resting);
      ModeChange change;
      for (const std::size_t f : resting) change.rests.push_back(system.frictions[f].contact);
      if (!update(change)) return;
      if (member_.slips(transition.of)) reversed.push_back(contact);
      break;
    }
    case TransitionKind::yield:
      if (!update({.leaves = {system.bounds[transition.of].condition}})) return;
      break;
    case TransitionKind::lock:
      if (!update({.rests = {system.bounds[transition.of].condition}})) return;
      break;
    case TransitionKind::fail:
      break_condition(transition.of);
      if (!update({})) return;
      break;
    case TransitionKind::part:
      break_link(transition.of);
      if (!update({})) return;
      break;
  }
  if (going()) project_drift();
  // A slip in space that has vanished and begins again turns at a rate without bound, which the error estimate of a
  // long step misses.
  if (transition.kind == TransitionKind::stick && system.frictions[transition.of].rows.size() == 2)
    smooth_.begin_anew();
  if (going()) record_mode_changes(before, reversed);
}

// The contacts that reach their cones at this instant: one, or all that are at theirs of those that share loads with it.
// There is one event function for these, and the contact whose function was found may not be among them; others are at
// their cones by the choice of their forces alone. None if these forces vanish: stick ends to have room left when a wedge
// ceases to be self-locking, but without a force nothing slides.
std::vector<std::size_t> Motion::reaching_cone(std::size_t friction) const {
  const System& system = equations_.system();
  const std::size_t found = system.frictions[friction].contact;
  if (member_.unique_forces) return {found};
  std::vector<std::size_t> made;
  const State now = member_.state();
  const Eigen::VectorXd forces = constrained_acceleration(equations_, now, member_.active).multipliers;
  for (const std::size_t f : frictions_sharing_loads(equations_, now, member_.active, friction)) {
    const Friction& law = system.frictions[f];
    double squares = 0;
    for (const std::size_t row : law.rows) squares += forces(index(row)) * forces(index(row));
    const double most = equations_.friction(f, now).cone_static * forces(index(law.contact));
    if (std::sqrt(squares) >= (1 - at_cone) * most) made.push_back(law.contact);
  }
  if (made.empty()) made.push_back(found);
  const auto is_pressed = [&](std::size_t i) {
    return forces(index(i)) > member_.conditions[i].multiplier_zero;
  };
  if (std::none_of(made.begin(), made.end(), is_pressed)) made.clear();
  return made;
}

Motion::ModesInForce Motion::modes_in_force() const {
  ModesInForce made;
  const System& system = equations_.system();
  for (std::size_t f = 0; f < system.frictions.size(); ++f)
    made.frictions.push_back(member_.sticks(f)  ? ModeKind::hold
                             : member_.slips(f) ? ModeKind::slip
                                                : ModeKind::open);
  made.modes = member_.modes;
  for (const Bound& bound : system.bounds)
    made.held.push_back(member_.conditions[bound.condition].standing == Standing::equation);
  return made;
}

// Lists the changes of mode of contacts that are closed before and after an event, and of bounded rows.
void Motion::record_mode_changes(const ModesInForce& before, const std::vector<std::size_t>& reversed) {
  const System& system = equations_.system();
  const ModesInForce now = modes_in_force();
  Event broken{.t = member_.t, .kind = EventKind::breaks}, yield{.t = member_.t, .kind = EventKind::yield},
      lock{.t = member_.t, .kind = EventKind::lock}, slide{.t = member_.t, .kind = EventKind::slide},
      stick{.t = member_.t, .kind = EventKind::stick}, reverse{.t = member_.t, .kind = EventKind::reverse};
  broken.constraints = std::exchange(broken_now_, {});
  for (std::size_t b = 0; b < system.bounds.size(); ++b) {
    const Bound& bound = system.bounds[b];
    if (!bound.sign) continue;
    const double was = before.modes(index(*bound.sign)), is = now.modes(index(*bound.sign));
    if (before.held[b] && is != 0) yield.constraints.push_back(bound.condition);
    if (was != 0 && now.held[b]) lock.constraints.push_back(bound.condition);
    if (was * is < 0) reverse.constraints.push_back(bound.condition);
  }
  for (std::size_t f = 0; f < system.frictions.size(); ++f) {
    const std::size_t contact = system.frictions[f].contact;
    const ModeKind was = before.frictions[f], is = now.frictions[f];
    if (was == ModeKind::hold && is == ModeKind::slip) slide.constraints.push_back(contact);
    if (was == ModeKind::slip && is == ModeKind::hold) stick.constraints.push_back(contact);
    if (was != ModeKind::slip || is != ModeKind::slip) continue;
    const Eigen::Index mode = index(system.frictions[f].first_mode);
    const bool turned = system.frictions[f].rows.size() == 1 && before.modes(mode) * now.modes(mode) < 0;
    if (turned || holds_condition(reversed, contact)) reverse.constraints.push_back(contact);
  }
  if (!broken.constraints.empty() || !lock.constraints.empty() || !stick.constraints.empty()) lose_density();
  for (Event* event : {&broken, &yield, &lock, &slide, &stick, &reverse})
    if (!event->constraints.empty() && going()) recorder_.record_event(std::move(*event));
}

void Motion::fail_painleve(std::size_t friction) {
  const std::size_t contact = equations_.system().frictions[friction].contact;
  std::string text = "contact '" + equations_.system().constraints[contact].name +
                     "' slips at t = " + number_text(member_.t) +
                     " where its normal force is no longer determined";
  for (const SlipStiffness& one : slip_stiffness(equations_, member_.state(), member_.active))
    if (one.condition == contact)
      text += ": kappa = " + number_text(one.kappa) + ", without friction " + number_text(one.normal) +
              ", Phi0 = " + number_text(one.free);
  fail(Status::painleve, text);
}

}  // namespace zwang
