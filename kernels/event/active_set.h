// Which conditions are closed, and who presses: the closed set rebuilt by Gauss's principle, and accumulations completed.
// src/reference/motion_events.cpp is the reference, function by function.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/dynamics/density.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/shock.h"
#include "kernels/record/event_log.h"

namespace zwang {

constexpr int no_condition = -1;

// Open, armed, and known to be well below zero at this instant.
template <class M>
ZWANG_INLINE bool is_far(const M& me, int i) {
  return me.constraints.conditions[i].standing == Standing::open && me.constraints.conditions[i].armed &&
         !me.candidates.has(i);
}

template <class M>
ZWANG_DEVICE void update_held(M& me) {
  me.constraints.any_held = false;
  for (int i = 0; i < M::r; ++i) {
    const bool holds = me.constraints.conditions[i].standing == Standing::closed ||
                       me.constraints.conditions[i].standing == Standing::equation;
    me.constraints.held[i] = holds ? 1 : 0;
    me.constraints.any_held = me.constraints.any_held || holds;
  }
}

// Which inequalities in force are at f = 0 now (velocity conditions: g = 0).
template <class M>
ZWANG_DEVICE typename M::Set touching_now(const M& me) {
  typename M::Set touching;
  for (int i = 0; i < M::r; ++i) {
    if (me.constraints.conditions[i].standing == Standing::closed) touching.add(i);
    if (me.constraints.conditions[i].standing != Standing::open || !me.candidates.has(i)) continue;
    const auto zero = zero_of(me, i);
    if (absolute(zero.f) <= (M::Model::is_holonomic(i) ? zero.value : maximum(zero.value, zero.rate)))
      touching.add(i);
  }
  return touching;
}

template <class M>
ZWANG_DEVICE void add_shock_participants(const M& me, const typename M::Set& touching,
                                         ShockSetting<M>& setting) {
  for (int i = 0; i < M::r; ++i) {
    if (!me.constraints.in_force(i) || me.constraints.conditions[i].standing == Standing::equation) continue;
    if (!M::Model::is_holonomic(i))
      setting.velocities.add(i);
    else if (touching.has(i))
      setting.contacts.add(i);
  }
}

// When the hops of one contact will be over: the hop that begins now lasts 2|f'|/f'', each later one e times the last.
// Speeds are known more exactly than the times between shocks, so this is better than extrapolating those.
template <class M>
ZWANG_DEVICE typename M::Real limit_of_hops(const M& me, int contact, typename M::Real f_rate,
                                            typename M::Real second) {
  const auto e = M::Model::restitution(me.k, contact);
  if (!(f_rate < 0 && second > 0 && e < 1))
    return me.accumulation.sequence.found ? me.accumulation.sequence.limit : me.motion.t;
  return me.motion.t - 2 * f_rate / (second * (1 - e));
}

// f' and f'' of a condition under given accelerations.
template <class M, class Real>
ZWANG_DEVICE void second_rate(const M& me, int i, const Real* accelerations, Real& f_rate, Real& second,
                              Real& size) {
  Real value, rest, a[M::n];
  M::Model::row(me.k, me.motion.t, me.motion.q(), me.motion.v(), me.motion.z(), i, value, f_rate, rest, a);
  second = dot<M::n>(a, accelerations) + rest;
  size = absolute(rest);
  for (int j = 0; j < M::n; ++j) size += absolute(a[j] * accelerations[j]);
}

// Infinitely many shocks, completed: the limit velocity is the projection on the intersection (requirement 5).
template <class M>
ZWANG_COLD void complete_accumulation(M& me, typename M::Set contacts, typename M::Real limit) {
  using Real = typename M::Real;
  // Those that rest take part in the limit; those that rest because they were struck just now belong to the sequence.
  typename M::Set resting, accumulating = contacts;
  const typename M::Set latest = me.accumulation.latest();
  for (int i = 0; i < M::r; ++i)
    if (me.constraints.conditions[i].standing == Standing::closed && M::Model::is_holonomic(i)) {
      resting.add(i);
      if (latest.has(i)) accumulating.add(i);
    }
  contacts = accumulating;
  contacts.add(resting);
  me.candidates.add(contacts);  // however far off: they meet now
  ShockSetting<M> setting{me, {}, {}, {}, {}};
  add_shock_participants(me, {}, setting);
  setting.contacts = contacts;
  // Velocity limits at which the sequence arrives are part of its limit. Left to themselves they would open by what little
  // is left of the hops, and be touched again at once: a moment with other forces that depends on accumulation_gap.
  typename M::Set kept;
  for (int i = 0; i < M::r; ++i)
    if (!M::Model::is_holonomic(i) && me.constraints.conditions[i].standing == Standing::closed) kept.add(i);
  ShockResult<M> result;
  completed_shock(setting, kept, result);
  if (result.status == Status::infeasible) {
    result = ShockResult<M>{};
    completed_shock(setting, {}, result);
  }
  if (result.status != Status::ok) {
    me.fail(result.status);
    return;
  }
  typename M::Event event;
  event.t = maximum(me.motion.t, limit);
  event.kind = EventKind::accumulation;
  event.constraints = accumulating;
  event.jump = true;
  event.energy_lost = result.energy_lost;
  for (int i = 0; i < M::r; ++i) event.impulse[i] = 0;
  copy<M::n>(me.motion.v(), event.before);
  copy<M::n>(result.v, event.after);
  const Real energy_before = energy_of(me);
  copy<M::n>(result.v, me.motion.y + M::n);
  for (int i = 0; i < M::n; ++i) me.sizes.v[i] = maximum(me.sizes.v[i], result.pushed[i]);
  lose_density(me);
  me.energy.lost += energy_before - energy_of(me);
  me.audit.raise(audit_kkt, result.kkt);
  // The limit lies a little ahead; it is listed when the motion gets there.
  flush_accumulation(me);
  me.accumulation.forget();
  me.progress.accumulation_pending = true;
  me.schedule.accumulation = event;
}

// Gauss's principle for the rows of `set` (mechanics section 3) with what counts as zero for each f''.
template <class M>
struct GaussProblem {
  using Real = typename M::Real;
  Status status = Status::ok;
  typename M::Qp qp;
  int which[M::rows];
  Real slack[M::rows], a[M::n];
};

template <class M>
ZWANG_COLD void solve_gauss_problem(const M& me, const typename M::Set& set, GaussProblem<M>& made) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  constexpr int n = M::n;
  Real mass[n * n], force[n];
  Model::mass(me.k, me.motion.t, me.motion.q(), me.motion.v(), me.motion.z(), mass);
  Model::applied(me.k, me.motion.t, me.motion.q(), me.motion.v(), me.motion.z(), force);
  if (!all_finite<n * n>(mass) || !all_finite<n>(force) || !made.qp.root.factor(mass)) {
    made.status = Status::not_finite;
    return;
  }
  made.qp.root.solve(force, made.qp.free);
  Real metric[n];
  made.qp.root.into(force, metric);
  const Real free_size = norm<n>(metric);
  for (int i = 0; i < M::r; ++i) {
    if (!set.has(i)) continue;
    Real value, rate, rest, a[n];
    Model::row(me.k, me.motion.t, me.motion.q(), me.motion.v(), me.motion.z(), i, value, rate, rest, a);
    const int j = made.qp.count;
    made.which[j] = i;
    made.qp.add_row(a, rest, Model::is_equation(i));
    const auto scaled = scaled_condition<M>(me.k, me.motion, i, me.motion.v(), me.sizes.q, me.sizes.v);
    if (scaled.vanishes) made.status = Status::singular;
    made.slack[j] = 10 * me.input.contact_tolerance * (made.qp.length[j] * free_size + scaled.rest_scale);
  }
  if (made.status != Status::ok) return;
  made.qp.solve();
  if (!made.qp.feasible) {
    made.status = Status::infeasible;
    return;
  }
  made.qp.point(made.a);
}

// After Gauss has spoken: everything in force is open, unless Gauss keeps it.
template <class M>
ZWANG_DEVICE void apply_qp_solution(M& me, const GaussProblem<M>& made, const typename M::Set& touching,
                                    const Zero<typename M::Real>* zeros) {
  using Real = typename M::Real;
  for (int i = 0; i < M::r; ++i) {
    if (!me.constraints.in_force(i) || me.constraints.conditions[i].standing == Standing::equation ||
        is_far(me, i))
      continue;
    const bool leaving = touching.has(i) && zeros[i].f_rate < -zeros[i].rate;
    me.constraints.conditions[i] = Condition<Real>{};
    me.constraints.conditions[i].standing = Standing::open;
    me.constraints.conditions[i].armed = zeros[i].f < -zeros[i].value || leaving;
    me.constraints.conditions[i].since = me.motion.t;
    me.constraints.conditions[i].above = touching.has(i) ? maximum(Real(0), zeros[i].f) : Real(0);
  }
  for (int j = 0; j < made.qp.count; ++j) {
    Condition<Real>& condition = me.constraints.conditions[made.which[j]];
    if (condition.standing == Standing::equation) continue;
    const Real second = made.qp.residual[j] * made.qp.length[j], weight = square(made.qp.length[j]);
    if (second < -made.slack[j]) {
      condition.noise = made.slack[j];
      continue;
    }
    condition = Condition<Real>{};
    condition.standing = Standing::closed;
    condition.idle = !(made.qp.multiplier(j) * weight > made.slack[j]);
    condition.multiplier_zero = made.slack[j] / weight;
  }
  me.constraints.redundant = made.qp.redundant;
  me.constraints.ever_redundant = me.constraints.ever_redundant || made.qp.redundant;
  update_held(me);
}

// Rebuilds what is closed from f = 0 and f' = 0 (requirement 4) [mayer-1..5] [staeckel-20..24], and lets Gauss's
// principle say who presses. A condition just released stays out unless the others would push through it.
template <class M>
ZWANG_COLD bool update_active_set(M& me, typename M::Set touching, int released) {
  using Real = typename M::Real;
  const Real was_zero =
      released == no_condition ? Real(0) : me.constraints.conditions[released].multiplier_zero;
  for (int pass = 0; pass < 8; ++pass) {
    typename M::Set set;
    Zero<Real> zeros[M::rows];
    for (int i = 0; i < M::r; ++i) {
      if (!me.constraints.in_force(i) || is_far(me, i)) continue;
      zeros[i] = zero_of(me, i);
      const bool still = absolute(zeros[i].f_rate) <= zeros[i].rate;
      if (me.constraints.conditions[i].standing == Standing::equation ||
          (touching.has(i) && still && i != released))
        set.add(i);
    }
    GaussProblem<M> made;
    solve_gauss_problem(me, set, made);
    // Dependent rows leave the multipliers open, and with a general condition they are part of the motion.
    if (M::Model::any_general && made.qp.redundant) made.status = Status::singular;
    if (made.status != Status::ok) {
      me.fail(made.status);
      return false;
    }
    me.audit.raise(audit_kkt, made.qp.kkt());
    apply_qp_solution(me, made, touching, zeros);

    // Would the released condition be broken? Then it cannot go: the problem from the beginning, with it.
    if (released != no_condition) {
      Real value, rate, rest, a[M::n], u[M::n], second, size;
      M::Model::row(me.k, me.motion.t, me.motion.q(), me.motion.v(), me.motion.z(), released, value, rate,
                    rest, a);
      made.qp.root.into(a, u);
      second_rate(me, released, made.a, rate, second, size);
      // Its multiplier was zero only to rounding, so its f'' is.
      const Real noise = Precision<Real>::release_noise * was_zero * dot<M::n>(u, u);
      me.constraints.conditions[released].noise = noise;
      if (second > Real(1e-6) * size + noise) {
        released = no_condition;
        continue;
      }
    }
    // Contacts that leave so slowly that their hop could not be followed close at once.
    typename M::Set hops;
    int hopping = 0;
    Real limit = me.accumulation.sequence.found ? me.accumulation.sequence.limit : me.motion.t;
    for (int i = 0; i < M::r; ++i) {
      if (me.constraints.conditions[i].standing != Standing::open || !touching.has(i) || i == released)
        continue;
      if (!M::Model::is_holonomic(i)) continue;
      Real f_rate, second, size;
      second_rate(me, i, made.a, f_rate, second, size);
      if (!(f_rate < 0 && second > 0)) continue;
      const Real height = f_rate * f_rate / (2 * second), duration = -2 * f_rate / second;
      if (height <= 4 * zeros[i].value || duration <= 16 * me.motion.rounding_of_time()) {
        hops.add(i);
        if (++hopping == 1) limit = limit_of_hops(me, i, f_rate, second);
      }
    }
    if (hopping == 0) return true;
    if (hopping > 1) limit = me.accumulation.sequence.found ? me.accumulation.sequence.limit : me.motion.t;
    complete_accumulation(me, hops, limit);
    if (!me.going()) return false;
    touching.add(hops);
  }
  return true;
}

}  // namespace zwang
