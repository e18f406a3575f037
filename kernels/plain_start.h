// A start without a quadratic program. Every condition in force is either clearly below zero, or holds: it is at zero and
// stays there, f' = 0. Nothing jumps then, and where the multipliers of those that hold all press clearly the closed set is
// known (plain.h). Wherever that is not clear nothing is changed, and the start is a shock like any other (instant.h).
#pragma once

#include "kernels/plain.h"

namespace zwang {

// Is condition i clearly below zero, or does it hold? False: neither is clear.
template <class M>
ZWANG_DEVICE bool stands_plainly(M& me, int i, bool& holds) {
  using Model = typename M::Model;
  if (!Model::is_holonomic(i)) return false;
  const bool equation = me.conditions[i].standing == Standing::equation;
  const auto zero = zero_of(me, i);
  if (!equation && zero.f < -zero.value) return true;
  holds = true;
  return Plain<M>::possible && (equation || zero.f <= zero.value) && absolute(zero.f_rate) <= zero.rate;
}

// Do those that hold press, each clearly by itself?
template <class M>
ZWANG_DEVICE bool press_plainly(M& me, Plain<M>& plain) {
  M::Model::mass(me.k, me.t, me.q(), me.v(), me.z(), plain.mass);
  if (!plain.root.factor(plain.mass)) return false;
  for (int i = 0; i < M::r; ++i)
    if (plain.held[i] > 0 && !plain.add(me, i)) return false;
  copy<M::size>(me.y, plain.y);
  return plain.solve(0) && plain.presses(me);
}

template <class M>
ZWANG_COLD bool start_plainly(M& me) {
  using Real = typename M::Real;
  const Real now = me.t + me.rounding_of_time();
  if (!(next_due(me) > now)) return false;
  Plain<M> plain;
  bool any = false;
  for (int i = 0; i < M::r; ++i) {
    bool holds = false;
    if (me.in_force(i) && !stands_plainly(me, i, holds)) return false;
    plain.held[i] = holds ? Real(1) : Real(0);
    any = any || holds;
  }
  if constexpr (Plain<M>::possible)
    if (any && !press_plainly(me, plain)) return false;
  for (int i = 0; i < M::r; ++i) {
    if (me.conditions[i].standing != Standing::open || plain.held[i] > 0) continue;
    me.conditions[i].armed = true;
    me.conditions[i].since = me.t;
  }
  plain.stand_by(me);
  settle_drift(me);
  me.kept_until = now;
  return true;
}

}  // namespace zwang
