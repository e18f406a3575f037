// The active set at the start without a quadratic program. Every condition in force is either clearly below
// zero or holds, with f = 0 and f' = 0. Then no velocity jumps, and where the multipliers of all conditions
// that hold are clearly positive the closed set is known (event/single_contact.h). Otherwise nothing is
// changed, and the start is a shock like any other (event/instant_events.h).
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/event/instant_events.h"
#include "kernels/event/single_contact.h"

namespace zwang {

// Whether condition i is clearly below zero, or holds. False: neither is clear.
template <class M>
ZWANG_DEVICE bool is_clearly_open_or_held(const M& me, int i, bool& holds) {
  if (!M::Model::is_holonomic(i)) return false;
  const bool equation = me.constraints.conditions[i].standing == Standing::equation;
  const auto zero = zero_of(me, i);
  if (!equation && zero.f < -zero.value) return true;
  holds = true;
  return SingleContactSolver<M>::possible && (equation || zero.f <= zero.value) &&
         absolute(zero.f_rate) <= zero.rate;
}

// Whether the multipliers of all conditions that hold are clearly positive, and their rows independent.
template <class M>
ZWANG_DEVICE bool multipliers_clearly_positive(const M& me, SingleContactSolver<M>& solver) {
  const typename M::Motion& motion = me.motion;
  M::Model::mass(me.k, motion.t, motion.q(), motion.v(), motion.z(), solver.mass);
  if (!solver.root.factor(solver.mass)) return false;
  for (int i = 0; i < M::r; ++i)
    if (solver.held[i] > 0 && !solver.add(me, i)) return false;
  copy<M::size>(motion.y, solver.y);
  return solver.solve(0) && solver.multipliers_positive(me);
}

// Changes constraints, positions (by projection), audit and schedule. False: nothing has been changed.
template <class M>
ZWANG_COLD bool try_initial_active_set(M& me) {
  using Real = typename M::Real;
  if constexpr (ModesOf<typename M::Model>::any) return false;
  typename M::Constraints& constraints = me.constraints;
  const Real now = me.motion.t + me.motion.rounding_of_time();
  if (!(next_scheduled_event(me) > now)) return false;
  SingleContactSolver<M> solver;
  bool any = false;
  for (int i = 0; i < M::r; ++i) {
    bool holds = false;
    if (constraints.in_force(i) && !is_clearly_open_or_held(me, i, holds)) return false;
    solver.held[i] = holds ? Real(1) : Real(0);
    any = any || holds;
  }
  if constexpr (SingleContactSolver<M>::possible)
    if (any && !multipliers_clearly_positive(me, solver)) return false;
  for (int i = 0; i < M::r; ++i) {
    Condition<Real>& condition = constraints.conditions[i];
    if (condition.standing != Standing::open || solver.held[i] > 0) continue;
    condition.armed = true;
    condition.since = me.motion.t;
  }
  solver.close_held(constraints);
  project_drift<M>(me.k, constraints, me.motion, me.audit);
  me.schedule.done_until = now;
  return true;
}

}  // namespace zwang
