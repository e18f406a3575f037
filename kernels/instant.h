// What happens at one instant: shocks, the rebuilding of the closed set, accumulations, appointments, watched functions.
// src/motion_events.cpp is the reference, function by function.
#pragma once

#include "kernels/measure.h"
#include "kernels/shock.h"

namespace zwang {

constexpr int nobody = -1;

// Open, armed, and known to be well below zero at this instant.
template <class M>
ZWANG_INLINE bool is_far(const M& me, int i) {
  return me.conditions[i].standing == Standing::open && me.conditions[i].armed && !me.near.has(i);
}

template <class M>
ZWANG_DEVICE void hold_closed(M& me) {
  me.any_held = false;
  for (int i = 0; i < M::r; ++i) {
    const bool holds =
        me.conditions[i].standing == Standing::closed || me.conditions[i].standing == Standing::equation;
    me.held[i] = holds ? 1 : 0;
    me.any_held = me.any_held || holds;
  }
}

// Which inequalities in force are at f = 0 now (velocity conditions: g = 0).
template <class M>
ZWANG_DEVICE typename M::Set touching_now(const M& me) {
  typename M::Set touching;
  for (int i = 0; i < M::r; ++i) {
    if (me.conditions[i].standing == Standing::closed) touching.add(i);
    if (me.conditions[i].standing != Standing::open || !me.near.has(i)) continue;
    const auto zero = zero_of(me, i);
    if (absolute(zero.f) <= (M::Model::is_holonomic(i) ? zero.value : maximum(zero.value, zero.rate)))
      touching.add(i);
  }
  return touching;
}

template <class M>
ZWANG_DEVICE void gather(const M& me, const typename M::Set& touching, ShockSetting<M>& setting) {
  for (int i = 0; i < M::r; ++i) {
    if (!me.in_force(i) || me.conditions[i].standing == Standing::equation) continue;
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
    return me.accumulation.sequence.found ? me.accumulation.sequence.limit : me.t;
  return me.t - 2 * f_rate / (second * (1 - e));
}

// f' and f'' of a condition under given accelerations.
template <class M, class Real>
ZWANG_DEVICE void second_rate(const M& me, int i, const Real* accelerations, Real& f_rate, Real& second,
                              Real& size) {
  Real value, rest, a[M::n];
  M::Model::row(me.k, me.t, me.q(), me.v(), me.z(), i, value, f_rate, rest, a);
  second = dot<M::n>(a, accelerations) + rest;
  size = absolute(rest);
  for (int j = 0; j < M::n; ++j) size += absolute(a[j] * accelerations[j]);
}

// Infinitely many shocks, completed: the limit velocity is the projection on the intersection (requirement 5).
template <class M>
ZWANG_COLD void complete(M& me, typename M::Set contacts, typename M::Real limit) {
  using Real = typename M::Real;
  // Those that rest take part in the limit; those that rest because they were struck just now belong to the sequence.
  typename M::Set resting, accumulating = contacts;
  const typename M::Set latest = me.accumulation.latest();
  for (int i = 0; i < M::r; ++i)
    if (me.conditions[i].standing == Standing::closed && M::Model::is_holonomic(i)) {
      resting.add(i);
      if (latest.has(i)) accumulating.add(i);
    }
  contacts = accumulating;
  contacts.add(resting);
  me.near.add(contacts);  // however far off: they meet now
  ShockSetting<M> setting{me, {}, {}, {}, {}};
  gather(me, {}, setting);
  setting.contacts = contacts;
  ShockResult<M> result;
  completed_shock(setting, result);
  if (result.status != Status::ok) {
    me.fail(result.status);
    return;
  }
  typename M::Event event;
  event.t = maximum(me.t, limit);
  event.kind = EventKind::accumulation;
  event.constraints = accumulating;
  event.jump = true;
  event.energy_lost = result.energy_lost;
  for (int i = 0; i < M::r; ++i) event.impulse[i] = 0;
  copy<M::n>(me.v(), event.before);
  copy<M::n>(result.v, event.after);
  const Real energy_before = energy_of(me);
  copy<M::n>(result.v, me.y + M::n);
  me.energy_lost += energy_before - energy_of(me);
  me.audit_max(audit_kkt, result.kkt);
  // The limit lies a little ahead; it is listed when the motion gets there.
  flush_accumulation(me);
  me.accumulation.forget();
  me.pending = true;
  me.pending_event = event;
}

// Gauss's principle for the rows of `set` (mechanics section 3) with what counts as zero for each f''.
template <class M>
struct Gauss {
  using Real = typename M::Real;
  Status status = Status::ok;
  typename M::Qp qp;
  int which[M::rows];
  Real slack[M::rows], a[M::n];
};

template <class M>
ZWANG_COLD void gauss(const M& me, const typename M::Set& set, Gauss<M>& made) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  constexpr int n = M::n;
  Real mass[n * n], force[n];
  Model::mass(me.k, me.t, me.q(), me.v(), me.z(), mass);
  Model::applied(me.k, me.t, me.q(), me.v(), me.z(), force);
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
    Model::row(me.k, me.t, me.q(), me.v(), me.z(), i, value, rate, rest, a);
    const int j = made.qp.count;
    made.which[j] = i;
    made.qp.add_row(a, rest, Model::is_equation(i));
    const auto scaled = scaled_condition(me, i, me.v(), me.size_q, me.size_v);
    if (scaled.vanishes) made.status = Status::singular;
    made.slack[j] = 10 * me.contact_tolerance * (made.qp.length[j] * free_size + scaled.rest_scale);
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
ZWANG_DEVICE void stand_by(M& me, const Gauss<M>& made, const typename M::Set& touching,
                           const Zero<typename M::Real>* zeros) {
  using Real = typename M::Real;
  for (int i = 0; i < M::r; ++i) {
    if (!me.in_force(i) || me.conditions[i].standing == Standing::equation || is_far(me, i)) continue;
    const bool leaving = touching.has(i) && zeros[i].f_rate < -zeros[i].rate;
    me.conditions[i] = Condition<Real>{};
    me.conditions[i].standing = Standing::open;
    me.conditions[i].armed = zeros[i].f < -zeros[i].value || leaving;
    me.conditions[i].since = me.t;
  }
  for (int j = 0; j < made.qp.count; ++j) {
    Condition<Real>& condition = me.conditions[made.which[j]];
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
  me.redundant_now = made.qp.redundant;
  me.redundant = me.redundant || made.qp.redundant;
  hold_closed(me);
}

// Rebuilds what is closed from f = 0 and f' = 0 (requirement 4), and lets Gauss's principle say who presses. A condition
// just released stays out unless the others would push through it.
template <class M>
ZWANG_COLD bool settle(M& me, typename M::Set touching, int released) {
  using Real = typename M::Real;
  const Real was_zero = released == nobody ? Real(0) : me.conditions[released].multiplier_zero;
  for (int pass = 0; pass < 8; ++pass) {
    typename M::Set set;
    Zero<Real> zeros[M::rows];
    for (int i = 0; i < M::r; ++i) {
      if (!me.in_force(i) || is_far(me, i)) continue;
      zeros[i] = zero_of(me, i);
      const bool still = absolute(zeros[i].f_rate) <= zeros[i].rate;
      if (me.conditions[i].standing == Standing::equation || (touching.has(i) && still && i != released))
        set.add(i);
    }
    Gauss<M> made;
    gauss(me, set, made);
    if (made.status != Status::ok) {
      me.fail(made.status);
      return false;
    }
    me.audit_max(audit_kkt, made.qp.kkt());
    stand_by(me, made, touching, zeros);

    // Would the released condition be broken? Then it cannot go: the problem from the beginning, with it.
    if (released != nobody) {
      Real value, rate, rest, a[M::n], u[M::n], second, size;
      M::Model::row(me.k, me.t, me.q(), me.v(), me.z(), released, value, rate, rest, a);
      made.qp.root.into(a, u);
      second_rate(me, released, made.a, rate, second, size);
      // Its multiplier was zero only to rounding, so its f'' is.
      const Real noise = 10 * was_zero * dot<M::n>(u, u);
      me.conditions[released].noise = noise;
      if (second > Real(1e-6) * size + noise) {
        released = nobody;
        continue;
      }
    }
    // Contacts that leave so slowly that their hop could not be followed close at once.
    typename M::Set hops;
    int hopping = 0;
    Real limit = me.accumulation.sequence.found ? me.accumulation.sequence.limit : me.t;
    for (int i = 0; i < M::r; ++i) {
      if (me.conditions[i].standing != Standing::open || !touching.has(i) || i == released) continue;
      if (!M::Model::is_holonomic(i)) continue;
      Real f_rate, second, size;
      second_rate(me, i, made.a, f_rate, second, size);
      if (!(f_rate < 0 && second > 0)) continue;
      const Real height = f_rate * f_rate / (2 * second), duration = -2 * f_rate / second;
      if (height <= 4 * zeros[i].value || duration <= 16 * me.rounding_of_time()) {
        hops.add(i);
        if (++hopping == 1) limit = limit_of_hops(me, i, f_rate, second);
      }
    }
    if (hopping == 0) return true;
    if (hopping > 1) limit = me.accumulation.sequence.found ? me.accumulation.sequence.limit : me.t;
    complete(me, hops, limit);
    if (!me.going()) return false;
    touching.add(hops);
  }
  return true;
}

// A geometric sequence of shocks ends when what is left of it is negligible, or when its conditions have come so close
// together that they can no longer be told apart.
template <class M>
ZWANG_COLD void finish_accumulation(
    M& me, const typename M::Set& arriving,
    const typename AccumulationWatch<typename M::Set, typename M::Real>::Sequence& earlier) {
  using Real = typename M::Real;
  const auto& sequence = me.accumulation.sequence;
  bool merged = earlier.found && earlier.conditions.size() > 1;
  for (int i = 0; i < M::r; ++i) merged = merged && (!earlier.conditions.has(i) || arriving.has(i));
  const bool over =
      sequence.found && sequence.remaining <= Real(me.settings->accumulation_gap) * sequence.length;
  if (!merged && !over) return;
  const typename M::Set together = merged ? earlier.conditions : sequence.conditions;
  Real limit = merged ? earlier.limit : sequence.limit;
  if (together.size() == 1) {
    Real rate[M::size], lambda[M::rows], f_rate, second, size;
    member_right_side(me, me.t, me.y, rate, lambda);
    for (int i = 0; i < M::r; ++i)
      if (together.has(i)) {
        second_rate(me, i, rate + M::n, f_rate, second, size);
        if (is_finite(second)) limit = limit_of_hops(me, i, f_rate, second);
      }
  }
  complete(me, together, limit);
  if (!me.going()) return;
  typename M::Set closing = touching_now(me);
  closing.add(together);
  settle(me, closing, nobody);
}

// A shock (mechanics section 4), whatever its cause, and the rebuilding of the closed set after it. `named` are the
// conditions an imposition is about.
template <class M>
ZWANG_COLD void collide(M& me, const typename M::Real* alpha, const typename M::Set& reached, EventKind kind,
                        const typename M::Set& named) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  constexpr int n = M::n;
  flush_accumulation(me);
  typename M::Set touching = touching_now(me);
  if (kind == EventKind::shock)
    for (int i = 0; i < M::r; ++i)
      if (reached.has(i) && me.conditions[i].standing == Standing::open) touching.add(i);
  ShockSetting<M> setting{me, {}, {}, {}, {}};
  gather(me, touching, setting);
  ShockResult<M> result;
  shock(setting, alpha, result);
  if (result.status != Status::ok) {
    me.fail(result.status);
    return;
  }
  me.audit_max(audit_kkt, result.kkt);
  me.audit_max(audit_carnot, result.carnot);
  const bool external = kind == EventKind::impulse;

  typename M::Event event;
  event.t = me.t;
  event.kind = kind;
  event.constraints = named;
  event.reached = reached;
  copy<n>(me.v(), event.before);
  copy<n>(result.v, event.after);

  // Conditions that move, or that hold a velocity other than zero, may give energy; others may not.
  bool fixed = !external;
  Real still[n];
  for (int i = 0; i < n; ++i) still[i] = 0;
  for (int i = 0; i < M::r && fixed; ++i)
    if (result.struck.has(i))
      fixed = !(absolute(Model::rate(me.k, me.t, me.q(), still, me.z(), i)) > zero_of(me, i).rate);
  if (fixed) me.audit_max(audit_created, -result.energy_lost);

  const Real energy_before = energy_of(me);
  copy<n>(result.v, me.y + n);
  me.energy_lost += energy_before - energy_of(me);
  for (int i = 0; i < n; ++i)
    me.size_v[i] = maximum(me.size_v[i], maximum(absolute(result.v[i]), absolute(event.before[i])));

  const bool internal = result.jumped && kind == EventKind::shock;
  const auto earlier = me.accumulation.sequence;
  // Open until now and at zero: closed ones, struck a moment ago, say nothing about how close the others have come.
  typename M::Set arriving;
  for (int i = 0; i < M::r; ++i)
    if (touching.has(i) && me.conditions[i].standing == Standing::open) arriving.add(i);
  if (internal) me.accumulation.note(me.t, reached);
  if (!settle(me, touching, nobody)) return;
  const bool at_start = me.steps == 0 && me.t == 0;
  if (result.jumped || external || (kind == EventKind::imposed && !at_start)) {
    event.jump = result.jumped || external;
    for (int i = 0; i < M::r; ++i) {
      event.impulse[i] = 0;
      if (!event.jump || !result.struck.has(i)) continue;
      event.impulse[i] = result.impulses[i] * Model::reach(me.k, me.t, me.q(), event.before, me.z(), i);
    }
    event.energy_lost = event.jump ? result.energy_lost : Real(0);
    if (event.jump) {
      if (kind != EventKind::imposed) event.constraints.clear();
      event.constraints.add(result.struck);
    }
    list(me, event);
  }
  if (me.going() && internal) finish_accumulation(me, arriving, earlier);
  if (me.going()) settle_drift(me);
}

// After anything that may make watched functions jump: a jump over zero counts as a crossing.
template <class M>
ZWANG_COLD void watch_sides(M& me) {
  using Model = typename M::Model;
  for (int i = 0; i < Model::watches && me.going(); ++i) {
    const auto value = scaled_signal(me, i);
    if (absolute(value.value) <= me.contact_tolerance * value.scale) continue;
    const int side = value.value > 0 ? 1 : -1, direction = Model::watch_direction(i);
    const bool crossed = me.sides[i] != 0 && side != me.sides[i];
    me.sides[i] = side;
    if (!crossed || (direction != 0 && direction != side)) continue;
    typename M::Event event;
    event.t = me.t;
    event.kind = EventKind::event;
    event.watch = i;
    record(me, event);
  }
  if constexpr (Model::stops) {
    if (!me.going() || !(Model::signal(me.k, me.t, me.q(), me.v(), me.z(), Model::watches) > 0)) return;
    typename M::Event event;
    event.t = me.t;
    event.kind = EventKind::stop;
    record(me, event);
    me.fail(Status::stopped);
  }
}

// The next time the study names: impulses, impositions, liftings; and the limit of an accumulation, and the end.
template <class M>
ZWANG_DEVICE typename M::Real next_appointment(const M& me) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  Real next = me.end;
  for (int i = 0; i < M::r; ++i) {
    const Real from = Model::from(me.k, i), until = Model::until(me.k, i);
    if (!(from < until)) continue;
    if (from >= 0 && from > me.kept_until) next = minimum(next, from);
    if (until > 0 && until > me.kept_until) next = minimum(next, until);
  }
  for (int j = 0; j < Model::impulses; ++j) {
    const Real at = Model::impulse_time(me.k, j);
    if (at > me.kept_until) next = minimum(next, at);
  }
  if (me.pending) next = minimum(next, me.pending_event.t);
  return next;
}

// Impulses, impositions and liftings due now: together one shock (mechanics section 5). At the start also every contact
// that is already approaching.
template <class M>
ZWANG_COLD void keep_appointments(M& me, bool starting) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  constexpr int n = M::n;
  const Real now = me.t + me.rounding_of_time();
  if (me.pending && me.pending_event.t <= now) flush_accumulation(me);
  Real alpha[n];
  copy<n>(me.v(), alpha);
  typename M::Set imposed, lifted;
  bool any_imposed = false, any_lifted = false, impulse = false;
  for (int i = 0; i < M::r; ++i) {
    const Real from = Model::from(me.k, i), until = Model::until(me.k, i);
    if (!(from < until)) continue;
    if (from >= 0 && from > me.kept_until && from <= now) {
      // An imposed equation must already hold; the motion brings it there only to the integrator's accuracy.
      const auto zero = zero_of(me, i);
      const Real slack = 1000 * maximum(me.contact_tolerance, me.rtol) / me.contact_tolerance * zero.value;
      if (Model::is_holonomic(i) && (zero.f > slack || (Model::is_equation(i) && zero.f < -slack)))
        me.fail(Status::infeasible);
      me.conditions[i].standing = Model::is_equation(i) ? Standing::equation : Standing::open;
      imposed.add(i);
      any_imposed = true;
    }
    if (until > 0 && until > me.kept_until && until <= now) {
      me.conditions[i] = Condition<Real>{};
      lifted.add(i);
      any_lifted = true;
    }
  }
  for (int j = 0; j < Model::impulses; ++j) {
    const Real at = Model::impulse_time(me.k, j);
    if (!(at > me.kept_until && at <= now)) continue;
    Real amounts[n], mass[n * n], gained[n];
    Model::impulse(me.k, me.t, me.q(), me.v(), me.z(), j, amounts);
    copy<n>(amounts, gained);
    if (Model::impulse_is_momentum(j)) {
      MassRoot<n, Model::diagonal_mass, Real> root;
      Model::mass(me.k, me.t, me.q(), me.v(), me.z(), mass);
      if (root.factor(mass)) root.solve(amounts, gained);
    }
    add_multiple<n>(Real(1), gained, alpha);
    impulse = true;
  }
  me.kept_until = now;
  if (!me.going()) return;
  for (int i = 0; i < M::r; ++i) {
    if (!lifted.has(i)) continue;
    typename M::Event event;
    event.t = me.t;
    event.kind = EventKind::lifted;
    event.constraints.add(i);
    record(me, event);
  }
  if (impulse || any_imposed) {
    collide(me, alpha, imposed, impulse ? EventKind::impulse : EventKind::imposed, imposed);
  } else if (starting) {
    // A start on a condition with f' > 0 is a shock at t = 0.
    typename M::Event event;
    event.t = me.t;
    const typename M::Set touching = touching_now(me);
    bool any_reached = false;
    for (int i = 0; i < M::r; ++i) {
      if (me.conditions[i].standing != Standing::open || !touching.has(i) || !Model::is_holonomic(i))
        continue;
      const auto zero = zero_of(me, i);
      if (!(zero.f_rate > zero.rate)) continue;
      event.constraints.add(i);
      any_reached = true;
    }
    if (any_reached) record(me, event);
    collide(me, alpha, event.constraints, EventKind::shock, typename M::Set{});
  } else if (any_lifted) {
    settle(me, touching_now(me), nobody);
  }
  if (me.going() && (impulse || any_imposed || any_lifted)) watch_sides(me);
}

}  // namespace zwang
