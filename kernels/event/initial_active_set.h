// A start without a quadratic program. Every condition in force is either clearly below zero, or holds: it is at zero and
// stays there, f' = 0. Nothing jumps then, and where the multipliers of those that hold all press clearly the closed set is
// known (event/single_contact.h). Wherever that is not clear nothing is changed, and the start is a shock like any other (event/instant_events.h).
#pragma once

#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/event/instant_events.h"
#include "kernels/event/single_contact.h"

namespace zwang {

// Is condition i clearly below zero, or does it hold? False: neither is clear.
template <class M>
ZWANG_DEVICE bool is_clearly_open_or_held(M& me, int i, bool& holds) {
  using Model = typename M::Model;
  if (!Model::is_holonomic(i)) return false;
  const bool equation = me.constraints.conditions[i].standing == Standing::equation;
  const auto zero = zero_of(me, i);
  if (!equation && zero.f < -zero.value) return true;
  holds = true;
  return SingleContactSolver<M>::possible && (equation || zero.f <= zero.value) &&
         absolute(zero.f_rate) <= zero.rate;
}

// Do those that hold press, each clearly by itself?
template <class M>
ZWANG_DEVICE bool multipliers_clearly_positive(M& me, SingleContactSolver<M>& solver) {
  M::Model::mass(me.k, me.motion.t, me.motion.q(), me.motion.v(), me.motion.z(), solver.mass);
  if (!solver.root.factor(solver.mass)) return false;
  for (int i = 0; i < M::r; ++i)
    if (solver.held[i] > 0 && !solver.add(me, i)) return false;
  copy<M::size>(me.motion.y, solver.y);
  return solver.solve(0) && solver.multipliers_positive(me);
}

template <class M>
ZWANG_COLD bool try_initial_active_set(M& me) {
  using Real = typename M::Real;
  const Real now = me.motion.t + me.motion.rounding_of_time();
  if (!(next_due(me) > now)) return false;
  SingleContactSolver<M> solver;
  bool any = false;
  for (int i = 0; i < M::r; ++i) {
    bool holds = false;
    if (me.constraints.in_force(i) && !is_clearly_open_or_held(me, i, holds)) return false;
    solver.held[i] = holds ? Real(1) : Real(0);
    any = any || holds;
  }
  if constexpr (SingleContactSolver<M>::possible)
    if (any && !multipliers_clearly_positive(me, solver)) return false;
  for (int i = 0; i < M::r; ++i) {
    if (me.constraints.conditions[i].standing != Standing::open || solver.held[i] > 0) continue;
    me.constraints.conditions[i].armed = true;
    me.constraints.conditions[i].since = me.motion.t;
  }
  solver.close_held(me);
  project_drift(me);
  me.schedule.done_until = now;
  return true;
}

}  // namespace zwang
