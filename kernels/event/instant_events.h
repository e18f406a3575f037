// [mayer-§4] What happens at one instant: shocks, ends of accumulations, appointments, watched functions. src/reference/motion_events.cpp is the
// reference, function by function.
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/dynamics/density.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/shock.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/event/active_set.h"
#include "kernels/record/event_log.h"

namespace zwang {

// A geometric sequence of shocks ends when what is left of it is negligible, or when its conditions have come so close
// together that they can no longer be told apart.
template <class M>
ZWANG_COLD void finish_accumulation(M& me, const typename M::Set& arriving,
                                    const typename M::Accumulation::Sequence& earlier) {
  using Real = typename M::Real;
  const auto& sequence = me.accumulation.sequence;
  bool merged = earlier.found && earlier.conditions.size() > 1;
  for (int i = 0; i < M::r; ++i) merged = merged && (!earlier.conditions.has(i) || arriving.has(i));
  const bool over =
      sequence.found && sequence.remaining <= Real(me.input.settings->accumulation_gap) * sequence.length;
  if (!merged && !over) return;
  const typename M::Set together = merged ? earlier.conditions : sequence.conditions;
  Real limit = merged ? earlier.limit : sequence.limit;
  if (together.size() == 1) {
    Real rate[M::size], lambda[M::rows], f_rate, second, size;
    member_right_side<M>(me.k, me.constraints, me.motion.t, me.motion.y, rate, lambda);
    for (int i = 0; i < M::r; ++i)
      if (together.has(i)) {
        second_rate(me, i, rate + M::n, f_rate, second, size);
        if (is_finite(second)) limit = limit_of_hops(me, i, f_rate, second);
      }
  }
  complete_accumulation(me, together, limit);
  if (!me.going()) return;
  typename M::Set closing = touching_now(me);
  closing.add(together);
  update_active_set(me, closing, no_condition);
}

// A shock (mechanics section 4), whatever its cause, and the rebuilding of the closed set after it. `named` are the
// conditions an imposition is about.
template <class M>
ZWANG_COLD void apply_shock(M& me, const typename M::Real* alpha, const typename M::Set& reached,
                            EventKind kind, const typename M::Set& named) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  constexpr int n = M::n;
  flush_accumulation(me);
  typename M::Set touching = touching_now(me);
  if (kind == EventKind::shock)
    for (int i = 0; i < M::r; ++i)
      if (reached.has(i) && me.constraints.conditions[i].standing == Standing::open) touching.add(i);
  ShockSetting<M> setting{me, {}, {}, {}, {}};
  add_shock_participants(me, touching, setting);
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

  // Conditions that move, or that hold a velocity other than zero, may give energy; others may not.
  bool fixed = !external;
  Real still[n];
  for (int i = 0; i < n; ++i) still[i] = 0;
  for (int i = 0; i < M::r && fixed; ++i)
    if (result.struck.has(i))
      fixed = !(absolute(Model::rate(me.k, me.motion.t, me.motion.q(), still, me.motion.z(), i)) >
                zero_of(me, i).rate);
  if (fixed) me.audit.raise(audit_created, -result.energy_lost);

  const Real energy_before = energy_of(me);
  copy<n>(result.v, me.motion.y + n);
  me.energy.lost += energy_before - energy_of(me);
  for (int i = 0; i < n; ++i)
    me.sizes.v[i] = maximum(maximum(me.sizes.v[i], result.pushed[i]),
                            maximum(absolute(result.v[i]), absolute(event.before[i])));

  const bool internal = result.jumped && kind == EventKind::shock;
  const auto earlier = me.accumulation.sequence;
  // Open until now and at zero: closed ones, struck a moment ago, say nothing about how close the others have come.
  typename M::Set arriving;
  for (int i = 0; i < M::r; ++i)
    if (touching.has(i) && me.constraints.conditions[i].standing == Standing::open) arriving.add(i);
  if (internal) me.accumulation.note(me.motion.t, reached);
  if (!update_active_set(me, touching, no_condition)) return;
  const bool at_start = me.steps.taken == 0 && me.motion.t == 0;
  pass_density(me, result, reached, kind, at_start);
  if (result.jumped || external || (kind == EventKind::imposed && !at_start)) {
    event.jump = result.jumped || external;
    for (int i = 0; i < M::r; ++i) {
      event.impulse[i] = 0;
      if (!event.jump || !result.struck.has(i)) continue;
      event.impulse[i] =
          result.impulses[i] * Model::reach(me.k, me.motion.t, me.motion.q(), event.before, me.motion.z(), i);
    }
    event.energy_lost = event.jump ? result.energy_lost : Real(0);
    if (event.jump) {
      if (kind != EventKind::imposed) event.constraints.clear();
      event.constraints.add(result.struck);
    }
    record_event_now(me, event);
  }
  if (me.going() && internal) finish_accumulation(me, arriving, earlier);
  if (me.going()) project_drift(me);
}

// After anything that may make watched functions jump: a jump over zero counts as a crossing.
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

// The next time at which something is due: impulses, impositions, liftings the study names; the limit of an accumulation.
template <class M>
ZWANG_DEVICE typename M::Real next_due(const M& me) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  Real next = infinity<Real>();
  for (int i = 0; i < M::r; ++i) {
    const Real from = Model::from(me.k, i), until = Model::until(me.k, i);
    if (!(from < until)) continue;
    if (from >= 0 && from > me.schedule.done_until) next = minimum(next, from);
    if (until > 0 && until > me.schedule.done_until) next = minimum(next, until);
  }
  for (int j = 0; j < Model::impulses; ++j) {
    const Real at = Model::impulse_time(me.k, j);
    if (at > me.schedule.done_until) next = minimum(next, at);
  }
  if (me.progress.accumulation_pending) next = minimum(next, me.schedule.accumulation.t);
  return next;
}
// That, or the end.
template <class M>
ZWANG_DEVICE typename M::Real next_scheduled_time(const M& me) {
  return minimum(me.input.end, next_due(me));
}

// Impulses, impositions and liftings due now: together one shock (mechanics section 5). At the start also every contact
// that is already approaching.
template <class M>
ZWANG_COLD void apply_scheduled_events(M& me, bool starting) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  constexpr int n = M::n;
  const Real now = me.motion.t + me.motion.rounding_of_time();
  if (me.progress.accumulation_pending && me.schedule.accumulation.t <= now) flush_accumulation(me);
  Real alpha[n];
  copy<n>(me.motion.v(), alpha);
  typename M::Set imposed, lifted;
  bool any_imposed = false, any_lifted = false, impulse = false;
  for (int i = 0; i < M::r; ++i) {
    const Real from = Model::from(me.k, i), until = Model::until(me.k, i);
    if (!(from < until)) continue;
    if (from >= 0 && from > me.schedule.done_until && from <= now) {
      // An imposed equation must already hold; the motion brings it there only to the integrator's accuracy.
      const auto zero = zero_of(me, i);
      const Real slack =
          1000 * maximum(me.input.contact_tolerance, me.input.rtol) / me.input.contact_tolerance * zero.value;
      if (Model::is_holonomic(i) && (zero.f > slack || (Model::is_equation(i) && zero.f < -slack)))
        me.fail(Status::infeasible);
      me.constraints.conditions[i].standing = Model::is_equation(i) ? Standing::equation : Standing::open;
      imposed.add(i);
      any_imposed = true;
    }
    if (until > 0 && until > me.schedule.done_until && until <= now) {
      me.constraints.conditions[i] = Condition<Real>{};
      lifted.add(i);
      any_lifted = true;
    }
  }
  for (int j = 0; j < Model::impulses; ++j) {
    const Real at = Model::impulse_time(me.k, j);
    if (!(at > me.schedule.done_until && at <= now)) continue;
    Real amounts[n], mass[n * n], gained[n];
    Model::impulse(me.k, me.motion.t, me.motion.q(), me.motion.v(), me.motion.z(), j, amounts);
    copy<n>(amounts, gained);
    if (Model::impulse_is_momentum(j)) {
      MassRoot<n, Model::diagonal_mass, Real> root;
      Model::mass(me.k, me.motion.t, me.motion.q(), me.motion.v(), me.motion.z(), mass);
      if (root.factor(mass)) root.solve(amounts, gained);
    }
    add_multiple<n>(Real(1), gained, alpha);
    impulse = true;
  }
  me.schedule.done_until = now;
  if (!me.going()) return;
  for (int i = 0; i < M::r; ++i) {
    if (!lifted.has(i)) continue;
    typename M::Event event;
    event.t = me.motion.t;
    event.kind = EventKind::lifted;
    event.constraints.add(i);
    record_event(me, event);
  }
  if (impulse || any_imposed) {
    apply_shock(me, alpha, imposed, impulse ? EventKind::impulse : EventKind::imposed, imposed);
  } else if (starting) {
    // A start on a condition with f' > 0 is a shock at t = 0.
    typename M::Event event;
    event.t = me.motion.t;
    const typename M::Set touching = touching_now(me);
    bool any_reached = false;
    for (int i = 0; i < M::r; ++i) {
      if (me.constraints.conditions[i].standing != Standing::open || !touching.has(i) ||
          !Model::is_holonomic(i))
        continue;
      const auto zero = zero_of(me, i);
      if (!(zero.f_rate > zero.rate)) continue;
      event.constraints.add(i);
      any_reached = true;
    }
    if (any_reached) record_event(me, event);
    apply_shock(me, alpha, event.constraints, EventKind::shock, typename M::Set{});
  } else if (any_lifted) {
    update_active_set(me, touching_now(me), no_condition);
  }
  if (me.going() && (impulse || any_imposed || any_lifted)) update_watch_signs(me);
}

}  // namespace zwang
