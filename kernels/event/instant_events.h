// [mayer-§4] Events at one instant: shocks, the end of accumulations, scheduled events, jumps of watched
// functions. src/reference/motion_events.cpp, motion_shock.cpp and motion_accumulation.cpp are the reference,
// function by function.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/dynamics/density.h"
#include "kernels/dynamics/friction_shock.h"
#include "kernels/dynamics/mass.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/shock.h"
#include "kernels/dynamics/signals.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/event/active_set.h"
#include "kernels/event/breaks.h"
#include "kernels/event/contacts.h"
#include "kernels/event/interrupted_hops.h"
#include "kernels/event/mode_events.h"
#include "kernels/event/modes.h"
#include "kernels/event/zeno.h"
#include "kernels/record/event_log.h"

namespace zwang {

// Whether all these conditions are at f = 0 with f' = 0.
template <class M>
ZWANG_COLD bool are_at_rest(const M& me, const typename M::Set& conditions) {
  const typename M::Set touching = touching_now(me);
  bool rest = true;
  for (int i = 0; i < M::r && rest; ++i) {
    if (!conditions.has(i)) continue;
    const auto zero = zero_of(me, i);
    rest = touching.has(i) && absolute(zero.f_rate) <= zero.rate;
  }
  return rest;
}

// A geometric sequence of shocks is completed when the time left to its limit is negligible, or when all its
// conditions, struck one after another until now, are reached at once, so that their shocks can no longer be
// told apart. Conditions struck together in every shock have not come any closer. A shock whose rounds have
// brought all of them to rest is itself the end: no hop is left out. `arriving` are the
// conditions reached by the present shock, `earlier` the sequence before it. Changes what
// complete_accumulation() and update_active_set() change.
template <class M>
ZWANG_COLD void finish_accumulation(M& me, const typename M::Set& arriving,
                                    const typename M::Accumulation::Sequence& earlier) {
  using Real = typename M::Real;
  const auto& sequence = me.accumulation.sequence;
  bool merged = earlier.found && earlier.period > 1;
  for (int i = 0; i < M::r; ++i) merged = merged && (!earlier.conditions.has(i) || arriving.has(i));
  const bool over = sequence.nearly_over(Real(me.input.settings->accumulation_gap), me.input.rtol);
  if (!merged && !over) return;
  const typename M::Set together = merged ? earlier.conditions : sequence.conditions;
  if constexpr (ModesOf<typename M::Model>::any) {
    if (are_at_rest(me, together)) {
      me.accumulation.forget();
      return;
    }
  }
  Real limit = merged ? earlier.limit : sequence.limit;
  if (together.size() == 1) {
    Real rate[M::size], lambda[M::rows], f_rate, second, size;
    member_right_side<M>(me.k, me.constraints, me.motion.t, me.motion.y, rate, lambda);
    for (int i = 0; i < M::r; ++i)
      if (together.has(i)) {
        second_rate<M>(me.k, me.motion, i, M::v_of(rate), f_rate, second, size);
        if (is_finite(second)) limit = limit_of_hops(me, i, f_rate, second);
      }
  }
  complete_accumulation(me, together, limit, phases_of_cycle(me, merged ? earlier : sequence));
  if (!me.going()) return;
  typename M::Set closing = touching_now(me);
  closing.add(together);
  ModeChange<M> change;
  change.jumped = true;
  update_active_set(me, closing, no_condition, change);
}

// Whether none of the struck conditions moves or prescribes a velocity: only others can add energy.
template <class M>
ZWANG_DEVICE bool struck_are_fixed(const M& me, const typename M::Set& struck) {
  typename M::Real still[M::n];
  for (int i = 0; i < M::n; ++i) still[i] = 0;
  bool fixed = true;
  for (int i = 0; i < M::r && fixed; ++i) {
    if (!struck.has(i)) continue;
    const auto rate = M::Model::rate(me.k, me.motion.t, me.motion.q(), still, me.motion.z(), i);
    fixed = rate == 0 || !(absolute(rate) > zero_of(me, i).rate);
  }
  return fixed;
}

// The length of the tangential impulse of a contact is listed with its first slip row.
template <class M>
ZWANG_DEVICE void join_tangential_impulses(const ShockResult<M>& result, typename M::Event& event) {
  using Model = typename M::Model;
  for (int f = 0; f < Model::frictions; ++f) {
    typename M::Real sum = 0;
    for (int c = 0; c < Model::friction_rows(f); ++c) {
      const int t = Model::friction_row(f) + c;
      if (event.jump && result.struck.has(t)) sum += square(result.impulses[t]);
      event.impulse[t] = 0;
    }
    event.impulse[Model::friction_row(f)] = sqrt(sum);
  }
}

// A contact that is struck lists its first slip row with it, whether the tangential impulse is zero or not.
template <class M>
ZWANG_DEVICE void list_tangential_rows(typename M::Event& event) {
  using Model = typename M::Model;
  for (int f = 0; f < Model::frictions; ++f) {
    for (int c = 0; c < Model::friction_rows(f); ++c) event.constraints.remove(Model::friction_row(f) + c);
    const int contact = Model::friction_contact(f);
    if (event.constraints.has(contact) && Model::bound_of(contact) < 0)
      event.constraints.add(Model::friction_row(f));
  }
}

// Fills in the fields of the log entry of a jump: the struck conditions with their impulses, and the energy
// lost.
template <class M>
ZWANG_DEVICE void describe_jump(const M& me, const ShockResult<M>& result, typename M::Event& event) {
  using Real = typename M::Real;
  for (int i = 0; i < M::r; ++i) {
    event.impulse[i] = 0;
    if (!event.jump || !result.struck.has(i)) continue;
    event.impulse[i] = result.impulses[i] *
                       M::Model::reach(me.k, me.motion.t, me.motion.q(), event.before, me.motion.z(), i);
  }
  if constexpr (ModesOf<typename M::Model>::any) join_tangential_impulses<M>(result, event);
  event.energy_lost = event.jump ? result.energy_lost : Real(0);
  if (!event.jump) return;
  if (event.kind != EventKind::imposed) event.constraints.clear();
  event.constraints.add(result.struck);
  if constexpr (ModesOf<typename M::Model>::any) list_tangential_rows<M>(event);
}

// A shock (mechanics section 4) of any cause, and the update of the active set after it. alpha are the
// velocities with the external impulse, `reached` the conditions reached just now, `named` the conditions
// that an imposition is about. Changes motion, constraints, lost energy, rounding sizes, audit and
// accumulation, and logs the event.
template <class M>
ZWANG_COLD void apply_shock(M& me, const typename M::Real* alpha, const typename M::Set& reached,
                            EventKind kind, const typename M::Set& named) {
  using Real = typename M::Real;
  constexpr int n = M::n;
  const auto& conditions = me.constraints.conditions;
  flush_accumulation(me);
  typename M::Set touching = touching_now(me);
  if (kind == EventKind::shock)
    for (int i = 0; i < M::r; ++i)
      if (reached.has(i) && conditions[i].standing == Standing::open) touching.add(i);
  ShockSetting<M> setting{me, {}, {}, {}, {}};
  add_shock_participants(me.constraints, touching, setting);
  ShockResult<M> result;
  shock(setting, alpha, result);
  if (result.status != Status::ok) {
    me.fail(result.status);
    return;
  }
  me.audit.raise(audit_kkt, result.kkt);
  me.audit.raise(audit_carnot, result.carnot);
  const bool external = kind == EventKind::impulse;

  typename M::Event event;
  event.t = me.motion.t;
  event.kind = kind;
  event.constraints = named;
  event.reached = reached;
  copy<n>(me.motion.v(), event.before);
  copy<n>(result.v, event.after);
  if (!external && struck_are_fixed(me, result.struck)) me.audit.raise(audit_created, -result.energy_lost);

  const Real energy_before = energy_of<M>(me.k, me.motion);
  copy<n>(result.v, me.motion.v());
  me.energy.lost += energy_before - energy_of<M>(me.k, me.motion);
  for (int i = 0; i < n; ++i)
    me.sizes.v[i] = maximum(maximum(me.sizes.v[i], result.pushed[i]),
                            maximum(absolute(result.v[i]), absolute(event.before[i])));

  const bool internal = result.jumped && kind == EventKind::shock;
  const auto earlier = me.accumulation.sequence;
  // Open until now and at zero. Closed conditions, struck a moment ago, do not show how close the others have
  // come.
  typename M::Set arriving;
  for (int i = 0; i < M::r; ++i)
    if (touching.has(i) && conditions[i].standing == Standing::open) arriving.add(i);
  if (internal) {
    me.accumulation.note(me.motion.t, reached);
    note_held(me, me);
  }
  // Velocity inequalities that the shock has brought to their limits close with it.
  for (int i = 0; i < M::r; ++i)
    if (result.struck.has(i) && conditions[i].standing == Standing::open && !M::Model::is_holonomic(i)) {
      touching.add(i);
      me.candidates.add(i);
    }
  note_broken(me, result);
  ModeChange<M> change;
  change.jumped = result.jumped || external;
  if (!update_active_set(me, touching, no_condition, change, &result.broken)) return;
  const bool at_start = me.steps.taken == 0 && me.motion.t == 0;
  update_density(me.k, me.constraints, result, reached, kind, at_start, me.motion);
  if (result.jumped || external || (kind == EventKind::imposed && !at_start)) {
    event.jump = result.jumped || external;
    describe_jump(me, result, event);
    record_event_now(me, event);
  }
  if (me.going() && internal) finish_accumulation(me, arriving, earlier);
  if (me.going()) record_broken(me, result);
  if (me.going()) project_drift<M>(me.k, me.constraints, me.motion, me.audit);
}

// After anything that may make watched functions jump: a jump across zero counts as a crossing. Changes
// watch_signs, and logs events; a stop condition that is met ends the member.
template <class M>
ZWANG_COLD void update_watch_signs(M& me) {
  using Model = typename M::Model;
  for (int i = 0; i < Model::watches && me.going(); ++i) {
    const auto value = scaled_signal(me, i);
    if (absolute(value.value) <= me.input.contact_tolerance * value.scale) continue;
    const int side = value.value > 0 ? 1 : -1, direction = Model::watch_direction(i);
    const bool crossed = me.watch_signs[i] != 0 && side != me.watch_signs[i];
    me.watch_signs[i] = side;
    if (!crossed || (direction != 0 && direction != side)) continue;
    typename M::Event event;
    event.t = me.motion.t;
    event.kind = EventKind::event;
    event.watch = i;
    record_event(me, event);
  }
  if constexpr (Model::stops) {
    const auto beyond = scaled_signal(me, Model::watches);
    if (!me.going() || !(beyond.value > me.input.contact_tolerance * beyond.scale)) return;
    typename M::Event event;
    event.t = me.motion.t;
    event.kind = EventKind::stop;
    record_event(me, event);
    me.fail(Status::stopped);
  }
}

// The time of the next scheduled event: an impulse, an imposition or a lifting named by the study, or the
// limit of an accumulation.
template <class M>
ZWANG_DEVICE typename M::Real next_scheduled_event(const M& me) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  const Real done = me.schedule.done_until;
  Real next = infinity<Real>();
  for (int i = 0; i < M::r; ++i) {
    const Real from = Model::from(me.k, i), until = Model::until(me.k, i);
    if (!(from < until)) continue;
    if (from >= 0 && from > done) next = minimum(next, from);
    if (until > 0 && until > done) next = minimum(next, until);
  }
  for (int j = 0; j < Model::impulses; ++j) {
    const Real at = Model::impulse_time(me.k, j);
    if (at > done) next = minimum(next, at);
  }
  if (me.progress.accumulation_pending) next = minimum(next, me.schedule.accumulation.t);
  if constexpr (ModesOf<Model>::any)
    for (int b = 0; b < Model::bounds && me.schedule.remainder.begin >= 0; ++b)
      if (me.schedule.ahead.hops_end[b] > 0) next = minimum(next, me.schedule.ahead.hops_end[b]);
  return next;
}
// The same, or the end of the simulation.
template <class M>
ZWANG_DEVICE typename M::Real next_scheduled_time(const M& me) {
  return minimum(me.input.end, next_scheduled_event(me));
}

// Scheduled events of one instant.
template <class M>
struct ScheduledNow {
  typename M::Set imposed, lifted;
  bool any_imposed = false, any_lifted = false, impulse = false;
  typename M::Real alpha[M::n];  // the velocities with all impulses added
};

// A bounded condition that yields is a force as long as it has a sign.
template <class M>
ZWANG_DEVICE void stop_yielding([[maybe_unused]] M& me, [[maybe_unused]] int i) {
  using Model = typename M::Model;
  if constexpr (ModesOf<Model>::any) {
    const int b = Model::bound_of(i);
    if (b >= 0 && Model::bound_sign(b) >= 0) me.k[Model::first_mode + Model::bound_sign(b)] = 0;
  }
}

// Changes the standing of conditions that are imposed or lifted up to the time `now`; fails the member where
// an imposed condition is violated.
template <class M>
ZWANG_DEVICE void impose_and_lift(M& me, typename M::Real now, ScheduledNow<M>& scheduled) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  const typename M::Input& input = me.input;
  const Real done = me.schedule.done_until;
  for (int i = 0; i < M::r; ++i) {
    const Real from = Model::from(me.k, i), until = Model::until(me.k, i);
    if (!(from < until)) continue;
    if (from >= 0 && from > done && from <= now) {
      // An imposed equation must already hold; the integration satisfies it only to its own accuracy.
      const auto zero = zero_of(me, i);
      const Real slack =
          1000 * maximum(input.contact_tolerance, input.rtol) / input.contact_tolerance * zero.value;
      if (Model::is_holonomic(i) && (zero.f > slack || (Model::is_equation(i) && zero.f < -slack)))
        me.fail(Status::infeasible);
      me.constraints.conditions[i].standing = Model::is_equation(i) ? Standing::equation : Standing::open;
      scheduled.imposed.add(i);
      scheduled.any_imposed = true;
    }
    if (until > 0 && until > done && until <= now) {
      me.constraints.conditions[i] = Condition<Real>{};
      stop_yielding(me, i);
      scheduled.lifted.add(i);
      scheduled.any_lifted = true;
    }
  }
}

// Adds to alpha the velocities that the impulses up to the time `now` would give the system without
// conditions.
template <class M>
ZWANG_DEVICE void add_impulses(const M& me, typename M::Real now, ScheduledNow<M>& scheduled) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  constexpr int n = M::n;
  const typename M::Motion& motion = me.motion;
  for (int j = 0; j < Model::impulses; ++j) {
    const Real at = Model::impulse_time(me.k, j);
    if (!(at > me.schedule.done_until && at <= now)) continue;
    Real amounts[n], mass[MassShape<Model>::entries], gained[n];
    Model::impulse(me.k, motion.t, motion.q(), motion.v(), motion.z(), j, amounts);
    copy<n>(amounts, gained);
    if (Model::impulse_is_momentum(j)) {
      typename M::Root root;
      Model::mass(me.k, motion.t, motion.q(), motion.v(), motion.z(), mass);
      if (root.factor(mass)) root.solve(amounts, gained);
    }
    add_multiple<n>(Real(1), gained, scheduled.alpha);
    scheduled.impulse = true;
  }
}

// The velocities that an impulse gives one body have a rounding that conditions spread to others. Where these are at rest,
// their own velocities do not show it.
template <class M>
ZWANG_COLD void spread_rounding(M& me, const typename M::Real* alpha) {
  for (int i = 0; i < M::n; ++i) me.sizes.v[i] = maximum(me.sizes.v[i], absolute(alpha[i]));
  raise_to_noise<M>(me.k, me.motion, me.sizes);
}

// A start at f = 0 with f' > 0 is a shock at t = 0.
template <class M>
ZWANG_DEVICE void apply_initial_shock(M& me, const typename M::Real* alpha) {
  typename M::Event event;
  event.t = me.motion.t;
  const typename M::Set touching = touching_now(me);
  bool any_reached = false;
  for (int i = 0; i < M::r; ++i) {
    if (me.constraints.conditions[i].standing != Standing::open || !touching.has(i) ||
        !M::Model::is_holonomic(i))
      continue;
    const auto zero = zero_of(me, i);
    if (!(zero.f_rate > zero.rate)) continue;
    event.constraints.add(i);
    any_reached = true;
  }
  if (any_reached) record_event(me, event);
  apply_shock(me, alpha, event.constraints, EventKind::shock, typename M::Set{});
}

// Applies the impulses, impositions and liftings scheduled up to now, together as one shock (mechanics
// section 5); at the start also the contacts that already approach. Changes what apply_shock() changes, and
// the schedule.
template <class M>
ZWANG_COLD void apply_scheduled_events(M& me, bool starting) {
  using Real = typename M::Real;
  const Real now = me.motion.t + me.motion.rounding_of_time();
  const bool overloaded = ends_hops_overloaded(me);
  if (me.progress.accumulation_pending && me.schedule.accumulation.t <= now)
    flush_accumulation(me, overloaded);
  ScheduledNow<M> scheduled;
  copy<M::n>(me.motion.v(), scheduled.alpha);
  impose_and_lift(me, now, scheduled);
  add_impulses(me, now, scheduled);
  const ModesInForce<M> modes(me);
  me.schedule.done_until = now;
  if (!me.going()) return;
  const bool shocks = scheduled.impulse || scheduled.any_imposed;
  const bool others = scheduled.any_lifted || overloaded;
  if (shocks || others) interrupt_accumulation(me);
  if constexpr (ModesOf<typename M::Model>::any)
    if (scheduled.impulse) spread_rounding(me, scheduled.alpha);
  for (int i = 0; i < M::r; ++i) {
    if (!scheduled.lifted.has(i)) continue;
    typename M::Event event;
    event.t = me.motion.t;
    event.kind = EventKind::lifted;
    event.constraints.add(i);
    record_event(me, event);
  }
  if (shocks) {
    apply_shock(me, scheduled.alpha, scheduled.imposed,
                scheduled.impulse ? EventKind::impulse : EventKind::imposed, scheduled.imposed);
  } else if (starting) {
    apply_initial_shock(me, scheduled.alpha);
  } else if (others) {
    update_active_set(me, touching_now(me), no_condition);
  }
  resume_accumulation(me);
  if (me.going() && !starting && (shocks || others)) record_mode_changes(me, modes);
  if (me.going() && (shocks || others)) update_watch_signs(me);
}

}  // namespace zwang
