// Handles the event at the member's state in the general way, by the quadratic program. The reference is
// src/reference/motion_events.cpp.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/dynamics/admissible_multipliers.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/slip_stiffness.h"
#include "kernels/event/active_set.h"
#include "kernels/event/breaks.h"
#include "kernels/event/contacts.h"
#include "kernels/event/instant_events.h"
#include "kernels/event/interrupted_hops.h"
#include "kernels/event/mode_events.h"
#include "kernels/event/modes.h"
#include "kernels/record/event_log.h"

namespace zwang {

// Condition i is reached. All others that are reached at this instant belong to the same shock.
template <class M>
ZWANG_DEVICE void dispatch_contact(M& me, int i, typename M::Event& event) {
  using Model = typename M::Model;
  const auto before = zero_of(me, i);
  const bool approaches = before.f_rate > before.rate;
  for (int j = 0; j < M::r; ++j) {
    const auto& condition = me.constraints.conditions[j];
    if (condition.standing != Standing::open || !me.candidates.has(j)) continue;
    const auto zero = zero_of(me, j);
    const bool together = absolute(zero.f) <= zero.value && condition.armed && zero.f_rate > zero.rate;
    if (j == i || (together && Model::is_holonomic(j))) event.constraints.add(j);
  }
  event.kind = Model::is_holonomic(i) ? EventKind::contact : EventKind::touch;
  interrupt_accumulation(me);
  record_event_now(me, event);
  // Reached by rounding, if it does not approach. It leaves from the value it has: armed, that value would count as
  // reached again at the same instant, without end. So would those of others that were disarmed so before.
  typename M::Set disarmed;
  for (int j = 0; j < M::r; ++j) {
    const auto& condition = me.constraints.conditions[j];
    const bool unarmed = condition.standing == Standing::open && !condition.armed;
    if (!approaches && Model::is_holonomic(j) && (j == i || unarmed)) disarmed.add(j);
  }
  typename M::Real now[M::n];
  copy<M::n>(me.motion.v(), now);
  apply_shock(me, now, event.constraints, EventKind::shock, typename M::Set{});
  for (int j = 0; j < M::r && me.going(); ++j)
    if (disarmed.has(j) && me.constraints.conditions[j].standing == Standing::open)
      me.constraints.conditions[j].armed = false;
}

// The multiplier of condition i reaches zero. Others whose multipliers vanish at the same instant are
// released with it. `resolution`: the multiplier is zero only as far as the time resolves it.
template <class M>
ZWANG_DEVICE void dispatch_release(M& me, int i, typename M::Real resolution, typename M::Event& event) {
  auto& conditions = me.constraints.conditions;
  typename M::Set closed;
  for (int j = 0; j < M::r; ++j)
    if (conditions[j].standing == Standing::closed) closed.add(j);
  interrupt_accumulation(me);
  conditions[i].multiplier_zero = maximum(conditions[i].multiplier_zero, resolution);
  if (!update_active_set(me, touching_now(me), i)) return;
  event.kind = EventKind::release;
  for (int j = 0; j < M::r; ++j)
    if (j == i || (closed.has(j) && conditions[j].standing == Standing::open)) event.constraints.add(j);
  record_event_now(me, event);
}

// Whether a slip in space is within the rounding of its phase, or below what the time resolves: it has no direction.
// `times`: or below that many times as much.
template <class M>
ZWANG_DEVICE bool slip_is_unresolved(const M& me, int f, const SlipNow<M>& slip, typename M::Real times = 1) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  const Real rounding = me.k[Model::first_mode + Model::friction_mode(f) + 2];
  Real rate[M::size], lambda[M::rows];
  scalar_right_side<M>(me.k, me.motion.t, me.motion.y, me.constraints.held, me.constraints.any_held, rate,
                       lambda);
  const Real unresolved = 128 * me.motion.rounding_of_time() * size_of_slip_rate(me, f, M::v_of(rate));
  return !(slip.size > times * maximum(4 * maximum(slip.zero, rounding), unresolved));
}

// The direction of a slip in space has turned by a right angle since it was noted: it is noted anew. False: the
// slip vanishes.
template <class M>
ZWANG_DEVICE bool renew_direction(M& me, int f) {
  if (M::Model::friction_rows(f) == 1) return false;
  const SlipNow<M> slip(me, f);
  if (slip_is_unresolved(me, f, slip)) return false;
  const typename M::Real d[2] = {slip.s[0] / slip.size, slip.s[1] / slip.size};
  typename M::Real& rounding = me.k[M::Model::first_mode + M::Model::friction_mode(f) + 2];
  const typename M::Real before = rounding;
  set_friction_mode(me, f, false, d);
  rounding = maximum(rounding, before);
  return true;
}

// The contacts that come to rest with friction f: those whose slips in space vanish at the same instant. A body that
// slides and spins on several contacts ends both together, and while its slips vanish, the one nearest to its centre of
// rotation is unresolved first.
template <class M>
ZWANG_COLD typename M::Set contacts_at_rest(const M& me, int f) {
  using Model = typename M::Model;
  typename M::Set made{};
  made.add(Model::friction_contact(f));
  if (Model::friction_rows(f) == 1) return made;
  for (int other = 0; other < Model::frictions; ++other) {
    if (other == f || Model::friction_rows(other) == 1) continue;
    const int mode = Model::first_mode + Model::friction_mode(other);
    const bool slips = me.k[mode] != 0 || me.k[mode + 1] != 0;
    if (slips && slip_is_unresolved(me, other, SlipNow<M>(me, other), typename M::Real(8)))
      made.add(Model::friction_contact(other));
  }
  return made;
}

// The slip or yield that ends at this instant: it is within rounding of zero, and shrinks. -1: none.
template <class M>
ZWANG_COLD int ending_motion(const M& me) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  for (int i = 0; i < Model::transitions; ++i) {
    const TransitionKind kind = TransitionKind(Model::transition_kind(i));
    const int of = Model::transition_of(i);
    if (kind == TransitionKind::stick && friction_slips<M>(me.k, of)) {
      const int rows = Model::friction_rows(of);
      const SlipNow<M> slip(me, of);
      const bool vanishes = rows == 1 ? slip.size <= slip.zero : slip_is_unresolved(me, of, slip);
      const Real* e = me.k + Model::first_mode + Model::friction_mode(of);
      if (vanishes && !keeps_moving(me, Model::friction_row(of), rows, e)) return i;
    } else if (kind == TransitionKind::lock) {
      const int condition = Model::bound_condition(of);
      const Real sign = me.k[Model::first_mode + Model::bound_sign(of)];
      const auto now = zero_of(me, condition);
      if (sign != 0 && absolute(now.f_rate) <= now.rate && !keeps_moving(me, condition, 1, &sign)) return i;
    }
  }
  return -1;
}

// What a watched function does at zero depends on the motion after the slip or yield that ends at the same instant, which
// is the event then.
template <class M>
ZWANG_DEVICE void put_ending_motion_first([[maybe_unused]] const M& me,
                                          [[maybe_unused]] EventToHandle<typename M::Real>& event) {
  if constexpr (ModesOf<typename M::Model>::any) {
    if (event.kind != EventFunctionKind::watch) return;
    const int ending = ending_motion(me);
    if (ending >= 0) event = {EventFunctionKind::transition, M::first_transition + ending, 0};
  }
}

// What is left of slips that have come to rest is removed. In space it would turn the first moments of the slip that follows,
// across the new direction, and end that slip at once along the old one. In the plane other slips vanish by the same
// motion: what is left of them would count as slips the other way.
template <class M>
ZWANG_COLD void remove_slips(M& me, const typename M::Set& contacts) {
  using Model = typename M::Model;
  typename M::Real held[M::rows];
  copy<M::rows>(me.constraints.held, held);
  bool any = false;
  for (int f = 0; f < Model::frictions; ++f) {
    if (!contacts.has(Model::friction_contact(f))) continue;
    for (int c = 0; c < Model::friction_rows(f); ++c) held[Model::friction_row(f) + c] = 1;
    any = true;
  }
  if (any) scalar_project<M>(me.k, me.motion.t, me.motion.y, held, 1);
}

// With dependent rows stick ends for all contacts at once whose multipliers have no room left. The contact whose event
// function was the first to be found may not be among them: there is one such function for all.
template <class M>
ZWANG_DEVICE void add_all_at_cone(const M& me, ModeChange<M>& change) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  const DependentMultipliers<M> multipliers(me.k, me.constraints, me.motion.t, me.motion.y);
  if (!multipliers.valid) return;
  Real x[M::rows], size = 0;
  multipliers.widest(me.k, me.motion.t, me.motion.y, x);
  for (int j = 0; j < multipliers.count; ++j) size = maximum(size, absolute(x[j]));
  for (int f = 0; f < Model::frictions; ++f) {
    if (!(me.constraints.held[Model::friction_row(f)] > 0)) continue;
    const Real margin = multipliers.margin(me.k, me.motion.t, me.motion.y, x, f);
    if (margin > Real(1e5) * Precision<Real>::tie * size) continue;
    change.leaves.add(Model::friction_contact(f));
  }
}

// Whether a contact that would begin to slide is pressed. Where forces are not unique and those in question vanish, stick
// ends to have room left when a wedge ceases to be self-locking, but without a force nothing slides.
template <class M>
ZWANG_COLD bool any_is_pressed(const M& me, const typename M::Set& contacts) {
  typename M::Real lambda[M::rows];
  multipliers_at<M>(me.k, me.constraints, me.motion.t, me.motion.y, lambda);
  for (int i = 0; i < M::r; ++i)
    if (contacts.has(i) && lambda[i] > me.constraints.conditions[i].multiplier_zero) return true;
  return false;
}

// The force or torque of a link reaches its bound [limit-3]: all its conditions are gone.
template <class M>
ZWANG_COLD void dispatch_parting([[maybe_unused]] M& me, [[maybe_unused]] int l,
                                 [[maybe_unused]] typename M::Event& event) {
  if constexpr (LinkLimitsOf<typename M::Model>::count > 0) {
    interrupt_accumulation(me);
    const ModesInForce<M> before(me);
    break_link(me, l, event.constraints);
    event.kind = EventKind::breaks;
    lose_density<M>(me.motion);
    if (!update_active_set(me, touching_now(me), no_condition)) return;
    record_event_now(me, event);
    record_mode_changes(me, before);
  }
}

// A change of mode [friction-7] [limit-3]: a contact slides or comes to rest, a bounded condition yields, locks or
// breaks.
template <class M>
ZWANG_COLD void dispatch_transition(M& me, int transition, typename M::Event& event) {
  using Model = typename M::Model;
  const int of = Model::transition_of(transition);
  const TransitionKind kind = TransitionKind(Model::transition_kind(transition));
  if (kind == TransitionKind::part) {
    dispatch_parting(me, of, event);
    return;
  }
  const bool friction = kind == TransitionKind::slide || kind == TransitionKind::stick;
  const int i = friction ? Model::friction_contact(of) : Model::bound_condition(of);
  ModeChange<M> change;
  if (kind == TransitionKind::stick) {
    if (renew_direction(me, of)) return;
    change.rests = contacts_at_rest(me, of);
    remove_slips(me, change.rests);
  }
  interrupt_accumulation(me);
  event.constraints.add(i);
  const ModesInForce<M> before(me);
  if (kind == TransitionKind::fail) {
    break_condition(me, of);
    event.kind = EventKind::breaks;
    lose_density<M>(me.motion);
    if (!update_active_set(me, touching_now(me), no_condition)) return;
    record_event_now(me, event);
    record_mode_changes(me, before);
    return;
  }
  const bool leaves = kind == TransitionKind::slide || kind == TransitionKind::yield;
  if (!leaves) change.rests.add(i);
  const bool any_of_several = kind == TransitionKind::slide && me.constraints.redundant;
  if (any_of_several) add_all_at_cone(me, change);
  if (leaves && change.leaves.size() == 0) change.leaves.add(i);
  if (any_of_several && !any_is_pressed(me, change.leaves)) return;
  if (!update_active_set(me, touching_now(me), no_condition, change)) return;
  record_mode_changes(me, before, kind == TransitionKind::stick ? i : -1);
}

// Applies the event `due` to the member: constraints, motion and everything that is recorded.
template <class M>
ZWANG_COLD void dispatch_event(M& me, const EventToHandle<typename M::Real>& due) {
  using Model = typename M::Model;
  const int i = due.index;
  typename M::Event event;
  event.t = me.motion.t;
  const ModesInForce<M> before(me);
  switch (due.kind) {
    case EventFunctionKind::reached:
      dispatch_contact(me, i, event);
      break;
    case EventFunctionKind::release:
      dispatch_release(me, i, due.resolution, event);
      break;
    case EventFunctionKind::press:
      event.kind = EventKind::press;
      event.constraints.add(i);
      interrupt_accumulation(me);
      record_event_now(me, event);
      me.constraints.conditions[i].idle = false;
      // Its friction begins with its force. Where forces are not unique, those of another choice may still be zero at
      // this instant: the condition presses nevertheless, else the same event would be found again without end.
      if constexpr (ModesOf<Model>::any) {
        update_active_set(me, touching_now(me), no_condition);
        me.constraints.conditions[i].idle = false;
      }
      break;
    case EventFunctionKind::watch: {
      const int direction = Model::watch_direction(i);
      me.watch_signs[i] = -me.watch_signs[i];
      event.kind = EventKind::event;
      event.watch = i;
      if (direction == 0 || direction == me.watch_signs[i]) record_event(me, event);
      break;
    }
    case EventFunctionKind::stop:
      event.kind = EventKind::stop;
      record_event(me, event);
      me.fail(Status::stopped);
      break;
    case EventFunctionKind::transition:
      if constexpr (ModesOf<Model>::any) {
        const auto events = me.tally.events;
        dispatch_transition(me, i - M::first_transition, event);
        if (me.tally.events == events && repeats_without_end(me.tally, event.t)) me.fail(Status::event_lost);
      }
      break;
    case EventFunctionKind::jam:
      me.fail(Status::painleve);  // [friction-5]
      return;
    case EventFunctionKind::nothing:
    case EventFunctionKind::kink:
      return;  // the motion does not change; the next step starts on the other side
  }
  const bool contact = due.kind == EventFunctionKind::reached || due.kind == EventFunctionKind::release ||
                       due.kind == EventFunctionKind::press;
  resume_accumulation(me);
  if (me.going() && contact) record_mode_changes(me, before);
  if (me.going() && due.kind != EventFunctionKind::watch) update_watch_signs(me);
}

}  // namespace zwang
