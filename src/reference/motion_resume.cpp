// Start from the middle of a motion: the knowledge of an uninterrupted run is rebuilt from the state and from
// the set of closed conditions.
#include <algorithm>
#include <cmath>

#include "src/expression/scaled.h"
#include "src/laws/project.h"
#include "src/reference/member_state.h"
#include "src/reference/motion.h"
#include "src/reference/schedule.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"
#include "src/system/move_positions.h"
#include "src/system/system.h"

namespace zwang {

// The audit of a resumed motion does not decide: what happened before is not known to it, and `zwang check`
// compares its states.
Trajectory Motion::resume(const State& state, const std::vector<double>& closed) {
  return integrate(rejoin(state, closed));
}

bool Motion::rejoin(const State& state, const std::vector<double>& closed) {
  if (!set_initial_state(state)) return false;
  skip_scheduled_events();
  recorder_.skip_past_outputs();

  // The caller decides which conditions are closed, not their nearness to zero: a condition that has just
  // opened has f = 0 too.
  std::vector<char> touching(member_.conditions.size(), 0);
  for (std::size_t i = 0; i < member_.conditions.size(); ++i)
    touching[i] = member_.conditions[i].standing == Standing::open && closed[i] > 0.5;
  const ModeChange change = take_up_modes(state, closed);
  bring_onto(touching, change.leaves);
  recorder_.set_start(state.t, equations_.energy(member_.state()));
  recall_watch_signs();
  if (plan_.shocks && plan_.shocks->last() <= member_.t) accumulation_ = *plan_.shocks;

  // The set of pressing conditions is computed anew, as after an event.
  return update_active_set(touching, no_condition, change) && open_record();
}

// The modes in force: which contacts slip, which bounded rows yield, and which are gone. Where the caller does not give
// State::modes they follow from the closed set and the velocities: a closed contact that is not marked as sticking
// slips, a bounded row that is not marked yields or, if it breaks, is gone; a negative mark: it is gone.
ModeChange Motion::take_up_modes(const State& state, const std::vector<double>& closed) {
  const System& system = equations_.system();
  ModeChange change;
  change.continued = true;
  const bool given = state.modes.size() == member_.modes.size();
  if (given) member_.modes = state.modes;
  for (const Bound& bound : system.bounds) {
    const std::size_t i = bound.condition;
    if (closed[i] < 0) member_.conditions[i] = {};
    if (!system.constraints[i].equation || !member_.in_force(i)) continue;
    const bool holds = closed[i] > 0.5;
    if (holds && bound.offset && !given)
      member_.modes(static_cast<Eigen::Index>(*bound.offset)) = equations_.value(i, member_.state());
    if (holds) continue;
    if (bound.breaks || given)
      member_.conditions[i] = {};
    else
      change.leaves.push_back(i);
  }
  for (const LinkLimitFormula& link : system.link_limits)
    for (std::size_t i = link.first; i < link.first + link.rows; ++i)
      if (member_.in_force(i) && closed[i] < 0.5) member_.conditions[i] = {};
  for (const Friction& friction : system.frictions) {
    for (const std::size_t row : friction.rows)
      if (closed[row] > 0.5) member_.conditions[row].standing = Standing::equation;
    if (!given && closed[friction.contact] > 0.5 && closed[friction.rows[0]] < 0.5)
      change.leaves.push_back(friction.contact);
  }
  return change;
}

// Watched functions that are zero now have the sign they had before; the signs of the others are computed.
void Motion::recall_watch_signs() {
  const State now = member_.state();
  for (std::size_t k = 0; k < plan_.sides.size(); ++k) {
    const Scaled value = member_.scaled_watch(formulas_.watches[k], now, member_.last_duration);
    if (std::abs(value.value) <= settings_.contact_tolerance * value.scale)
      member_.watch_signs[k] = plan_.sides[k];
  }
}

// Scheduled events up to now have happened: only their lasting effects are applied.
void Motion::skip_scheduled_events() {
  const double now = member_.t + member_.rounding_of_time();
  while (const ScheduledEvent* done = schedule_.take_due(now)) {
    const std::size_t i = done->index;
    if (done->kind == ScheduledEvent::Kind::lifted) member_.conditions[i] = {};
    if (done->kind == ScheduledEvent::Kind::imposed)
      member_.conditions[i].standing =
          equations_.system().constraints[i].equation ? Standing::equation : Standing::open;
  }
}

// Positions onto the conditions that hold and not beyond open ones; then velocities onto the conditions that
// hold. A position beyond an open condition by rounding would look like a missed contact; its velocity is not
// changed, since it may be leaving.
void Motion::bring_onto(const std::vector<char>& touching, const std::vector<std::size_t>& yielding) {
  State now = member_.state();
  const State given = now;
  std::vector<std::size_t> held, not_beyond;
  for (std::size_t i = 0; i < member_.conditions.size(); ++i) {
    const Standing standing = member_.conditions[i].standing;
    const bool yields = std::find(yielding.begin(), yielding.end(), i) != yielding.end();
    const bool holds = (standing == Standing::equation && !yields) || touching[i];
    const bool beyond = standing == Standing::open && equations_.system().constraints[i].holonomic &&
                        equations_.value(i, now) > 0;
    if (holds) held.push_back(i);
    if (holds || beyond) not_beyond.push_back(i);
  }
  project(equations_, now, member_.sizes, not_beyond);
  now.v = given.v;
  const Residuals left = project(equations_, now, member_.sizes, held);
  member_.set_positions(now.q);
  member_.set_velocities(now.v);
  member_.set_auxiliaries(now.z);
  Trajectory& trajectory = recorder_.trajectory();
  trajectory.position_moved = distance_moved(equations_.system(), given, now);
  trajectory.velocity_moved = (now.v - given.v).norm();
  trajectory.audit.position_violation = left.position;
  trajectory.audit.velocity_violation = left.velocity;
}

}  // namespace zwang
