// Which conditions are at zero now, and which take part in a shock.
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/shock.h"

namespace zwang {

// Whether a condition is known to be open and well below zero at this instant; `candidate`: it belongs to
// Member::candidates.
template <class Real>
ZWANG_INLINE bool is_far(const Condition<Real>& condition, bool candidate) {
  return condition.standing == Standing::open && condition.armed && !candidate;
}

// Brings `held` and `any_held` in line with the standing of the conditions.
template <class M>
ZWANG_DEVICE void update_held(typename M::Constraints& constraints) {
  constraints.any_held = false;
  for (int i = 0; i < M::r; ++i) {
    const Standing standing = constraints.conditions[i].standing;
    const bool holds = standing == Standing::closed || standing == Standing::equation;
    constraints.held[i] = holds ? 1 : 0;
    constraints.any_held = constraints.any_held || holds;
  }
}

// Whether condition i is a contact that breaks and whose hops are left out now: in the motion that the record stands for it
// is open between them, and the force of the closed contact is a mean that has never acted.
template <class M>
ZWANG_DEVICE bool is_hopping([[maybe_unused]] const M& me, [[maybe_unused]] int i) {
  if constexpr (ModesOf<typename M::Model>::any) {
    const int b = M::Model::bound_of(i);
    return b >= 0 && me.schedule.remainder.begin >= 0 &&
           me.motion.t + me.motion.rounding_of_time() < me.schedule.ahead.hops_end[b];
  } else {
    return false;
  }
}

// Inequalities in force with f = 0 (velocity conditions: g = 0).
template <class M>
ZWANG_DEVICE typename M::Set touching_now(const M& me) {
  typename M::Set touching;
  for (int i = 0; i < M::r; ++i) {
    const Standing standing = me.constraints.conditions[i].standing;
    if (standing == Standing::closed) touching.add(i);
    if (standing != Standing::open || !me.candidates.has(i)) continue;
    const auto zero = zero_of(me, i);
    if (absolute(zero.f) <= (M::Model::is_holonomic(i) ? zero.value : maximum(zero.value, zero.rate)))
      touching.add(i);
  }
  return touching;
}

// All velocity inequalities in force take part in a shock, and of the contacts those that touch.
template <class M>
ZWANG_DEVICE void add_shock_participants(const typename M::Constraints& constraints,
                                         const typename M::Set& touching, ShockSetting<M>& setting) {
  for (int i = 0; i < M::r; ++i) {
    if (!constraints.in_force(i) || constraints.conditions[i].standing == Standing::equation) continue;
    if (!M::Model::is_holonomic(i))
      setting.velocities.add(i);
    else if (touching.has(i))
      setting.contacts.add(i);
  }
}

// f' and f'' of a condition under given accelerations, and the sum of the magnitudes of the terms of f''.
template <class M, class Real>
ZWANG_DEVICE void second_rate(const Real* k, const typename M::Motion& motion, int i,
                              const Real* accelerations, Real& f_rate, Real& second, Real& size) {
  Real value, rest, a[M::n];
  M::Model::row(k, motion.t, motion.q(), motion.v(), motion.z(), i, value, f_rate, rest, a);
  second = dot<M::n>(a, accelerations) + rest;
  size = absolute(rest);
  for (int j = 0; j < M::n; ++j) size += absolute(a[j] * accelerations[j]);
}

// The conditions that hold as equations.
template <class M>
ZWANG_INLINE typename M::Set held_now(const typename M::Constraints& constraints) {
  typename M::Set found;
  ZWANG_REGISTERS for (int i = 0; i < M::r; ++i) {
    if (constraints.held[i] > 0) found.add(i);
  }
  return found;
}
// Stores them for the shock that the member's accumulation noted last. `full_member` as in append_event().
template <class M>
ZWANG_INLINE void note_held(const M& me, M& full_member) {
  if constexpr (M::inequalities() > 1)
    full_member.held_before.sets[me.accumulation.newest] = held_now<M>(me.constraints);
}

// When the accumulating shocks recognised so far reach their limit; the present time where there are none.
template <class M>
ZWANG_INLINE typename M::Real limit_of_sequence(const M& me) {
  return me.accumulation.sequence.found ? me.accumulation.sequence.limit : me.motion.t;
}

}  // namespace zwang
