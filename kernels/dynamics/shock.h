// Velocities across a shock: the least constraint one level lower [mayer2-2] [mayer2-9] [mayer2-15]; src/laws/shock.cpp is the
// reference.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"

namespace zwang {

template <class M>
struct ShockResult {
  using Real = typename M::Real;
  Status status = Status::ok;
  Real v[M::n];            // velocities after
  Real impulses[M::rows];  // l, summed over the rounds of one instant
  Real
      pushed[M::n];  // how far each moves the velocities, without sign: they round so, even where they cancel
  typename M::Set struck{};  // l > 0 beyond rounding (either sign for equations)
  bool jumped = false;
  int rounds = 0;
  Real energy_lost = 0, kkt = 0, carnot = 0;
};

template <class M>
struct ShockSetting {
  using Model = typename M::Model;
  using Real = typename M::Real;
  static constexpr int n = M::n;
  const M& me;
  typename M::Set contacts, velocities;  // holonomic inequalities at f = 0; velocity inequalities in force
  Real mass[n * n];
  Real zero[M::rows];  // what counts as zero for f' or g

  ZWANG_DEVICE bool takes_part(int i) const {
    return me.constraints.conditions[i].standing == Standing::equation || contacts.has(i) ||
           velocities.has(i);
  }
  ZWANG_DEVICE Real rate(int i, const Real* v) const {
    return Model::rate(me.k, me.motion.t, me.motion.q(), v, me.motion.z(), i);
  }
  ZWANG_DEVICE bool violated(const Real* v) const {
    for (int i = 0; i < M::r; ++i) {
      if (!takes_part(i)) continue;
      const Real f = rate(i, v);
      if (me.constraints.conditions[i].standing == Standing::equation ? absolute(f) > zero[i] : f > zero[i])
        return true;
    }
    return false;
  }
  ZWANG_DEVICE Real kinetic(const Real* v) const {
    Real t_energy, energy;
    Model::energies(me.k, me.motion.t, me.motion.q(), v, me.motion.z(), t_energy, energy);
    return t_energy;
  }
};

// Who takes part in a round, and how strongly each rebounds.
template <class M>
struct ShockParts {
  int count = 0;
  int condition[M::rows];
  bool equation[M::rows];
  typename M::Real rebound[M::rows];
  ZWANG_DEVICE void add(int i, bool is_equation, typename M::Real e) {
    condition[count] = i;
    equation[count] = is_equation;
    rebound[count++] = e;
  }
};

// With some rebound, only contacts and velocity inequalities that are not already on the good side take part (mechanics
// section 4), and equations that do not hold yet come first, on their own: a rebound off the unconstrained velocity
// could otherwise create energy.
template <class M, class Real>
ZWANG_DEVICE void take_part(const ShockSetting<M>& setting, const Real* alpha, bool inelastic,
                            ShockParts<M>& parts) {
  const M& me = setting.me;
  bool rebounds = false, imposing = false;
  for (int i = 0; i < M::r; ++i) {
    if (me.constraints.conditions[i].standing == Standing::equation) {
      parts.add(i, true, 0);
      imposing = imposing || absolute(setting.rate(i, alpha)) > setting.zero[i];
    } else if (setting.contacts.has(i) && !inelastic && M::Model::restitution(me.k, i) > 0) {
      rebounds = rebounds || setting.rate(i, alpha) > setting.zero[i];
    }
  }
  if (rebounds && imposing) return;
  for (int i = 0; i < M::r; ++i) {
    if (!setting.contacts.has(i) && !setting.velocities.has(i)) continue;
    const Real approach = setting.rate(i, alpha);
    if (rebounds && approach < -setting.zero[i]) continue;
    const bool bounces = setting.contacts.has(i) && !inelastic;
    parts.add(i, false, bounces ? M::Model::restitution(me.k, i) * maximum(approach, Real(0)) : Real(0));
  }
}

template <class M>
struct ShockRound {
  using Real = typename M::Real;
  bool feasible = false, plain = true;  // plain: no part has a velocity of its own to give
  Real v[M::n], l[M::rows], weight[M::rows], pushed[M::n];
  Real kkt = 0;
};

// Linearises at v0, solves, linearises at the answer, until it stands still; one pass where all is linear in v. Far from a
// strongly curved condition the answers would overshoot from side to side: the moves are relaxed (Aitken).
template <class M, class Real>
ZWANG_DEVICE void solve_from(const ShockSetting<M>& setting, const Real* alpha, const ShockParts<M>& parts,
                             const Real* start, bool linear, bool linear_only, ShockRound<M>& round) {
  using Model = typename M::Model;
  constexpr int n = M::n;
  const M& me = setting.me;
  Real v0[n], last[n], factor = 1;
  copy<n>(start, v0);
  round.feasible = false;
  for (int pass = 0; pass < (linear ? 1 : 200); ++pass) {
    typename M::Qp qp;
    if (!qp.root.factor(setting.mass)) return;
    copy<n>(alpha, qp.free);
    round.plain = true;
    for (int j = 0; j < parts.count; ++j) {
      Real value, rate, rest, a[n];
      if (linear_only && !Model::is_linear(parts.condition[j])) continue;
      Model::row(me.k, me.motion.t, me.motion.q(), v0, me.motion.z(), parts.condition[j], value, rate, rest,
                 a);
      const Real offset = rate - dot<n>(a, v0) + parts.rebound[j];
      if (!is_finite(offset) || !all_finite<n>(a)) return;
      qp.add_row(a, offset, parts.equation[j]);
      round.plain = round.plain && absolute(offset) <= setting.zero[parts.condition[j]];
    }
    qp.solve();
    if (!qp.feasible) return;
    qp.point(round.v);
    for (int i = 0; i < n; ++i) round.pushed[i] = 0;
    for (int j = 0; j < qp.count; ++j) {
      round.l[j] = qp.multiplier(j);
      round.weight[j] = qp.length[j] * qp.length[j];
      Real push[n];
      qp.root.back(qp.unit[j], push);
      for (int i = 0; i < n; ++i) round.pushed[i] += absolute(qp.mu[j] * push[i]);
    }
    round.kkt = qp.kkt();
    Real size = 0, moved = 0;
    for (int i = 0; i < n; ++i) {
      size = maximum(size, absolute(round.v[i]) + absolute(alpha[i]));
      moved = maximum(moved, absolute(round.v[i] - v0[i]));
    }
    round.feasible = linear || moved <= 64 * Precision<Real>::epsilon * size;
    if (round.feasible) return;
    Real move[n];
    for (int i = 0; i < n; ++i) move[i] = round.v[i] - v0[i];
    if (pass > 0) {
      Real squared = 0, along = 0;
      for (int i = 0; i < n; ++i) {
        squared += square(move[i] - last[i]);
        along += last[i] * (move[i] - last[i]);
      }
      if (squared > 0) factor = minimum(maximum(-factor * along / squared, Real(0.01)), Real(1));
    }
    copy<n>(move, last);
    add_multiple<n>(factor, move, v0);
  }
}

// Velocity conditions not linear in v can have several stationary answers, and linearising at alpha may lead across to a
// far branch. So the answer of the linear conditions alone is a second place to begin; the smaller change wins.
template <class M, class Real>
ZWANG_COLD void solve_round(const ShockSetting<M>& setting, const Real* alpha, const ShockParts<M>& parts,
                            ShockRound<M>& best) {
  constexpr int n = M::n;
  bool linear = true;
  for (int j = 0; j < parts.count; ++j) linear = linear && M::Model::is_linear(parts.condition[j]);
  solve_from(setting, alpha, parts, alpha, linear, false, best);
  if (linear) return;
  ShockRound<M> eased, other;
  solve_from(setting, alpha, parts, alpha, true, true, eased);
  if (!eased.feasible) return;
  solve_from(setting, alpha, parts, eased.v, false, false, other);
  if (!other.feasible) return;
  Real cost_best = 0, cost_other = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      cost_best += (best.v[i] - alpha[i]) * setting.mass[i * n + j] * (best.v[j] - alpha[j]);
      cost_other += (other.v[i] - alpha[i]) * setting.mass[i * n + j] * (other.v[j] - alpha[j]);
    }
  if (!best.feasible || cost_other < cost_best) best = other;
}

template <class M>
ZWANG_DEVICE void collect(const ShockSetting<M>& setting, const ShockParts<M>& parts,
                          const ShockRound<M>& round, ShockResult<M>& result) {
  for (int j = 0; j < parts.count; ++j) {
    const int i = parts.condition[j];
    result.impulses[i] += round.l[j];
    if (absolute(round.l[j]) * round.weight[j] > setting.zero[i]) result.struck.add(i);
  }
  for (int i = 0; i < M::n; ++i) result.pushed[i] += round.pushed[i];
  result.kkt = maximum(result.kkt, round.kkt);
  result.jumped = true;
}

// Fills in masses and zeros; false when there are no finite masses or velocities.
template <class M, class Real>
ZWANG_DEVICE bool make_setting(ShockSetting<M>& setting, const Real* alpha, ShockResult<M>& result) {
  constexpr int n = M::n;
  const M& me = setting.me;
  M::Model::mass(me.k, me.motion.t, me.motion.q(), me.motion.v(), me.motion.z(), setting.mass);
  copy<n>(alpha, result.v);
  for (int i = 0; i < n; ++i) result.pushed[i] = 0;
  for (int i = 0; i < M::r; ++i) result.impulses[i] = setting.zero[i] = 0;
  if (!all_finite<n * n>(setting.mass) || !all_finite<n>(alpha)) return false;
  Real larger[n];
  for (int i = 0; i < n; ++i)
    larger[i] = maximum(me.sizes.v[i], maximum(absolute(alpha[i]), absolute(me.motion.v()[i])));
  for (int i = 0; i < M::r; ++i)
    if (setting.takes_part(i))
      setting.zero[i] =
          me.input.rest_speed * scaled_condition<M>(me.k, me.motion, i, alpha, me.sizes.q, larger).rate_scale;
  return true;
}

// Whether a condition that is at its limit or beyond has no gradient to act by.
template <class M, class Real>
ZWANG_DEVICE bool singular(const ShockSetting<M>& setting, const Real* v) {
  const M& me = setting.me;
  for (int i = 0; i < M::r; ++i) {
    if (!setting.takes_part(i)) continue;
    const bool acts =
        me.constraints.conditions[i].standing == Standing::equation || setting.rate(i, v) >= -setting.zero[i];
    if (acts && scaled_condition<M>(me.k, me.motion, i, v, me.sizes.q, me.sizes.v).vanishes) return true;
  }
  return false;
}

// [mayer2-§2] Carnot: with fixed conditions, no rebound and no external impulse T(u) - T(v) = T(v - u). How far off, as a
// share of T(u).
template <class M, class Real>
ZWANG_DEVICE Real carnot_defect(const Real* mass, const Real* u, const Real* v) {
  constexpr int n = M::n;
  Real before = 0, after = 0, change = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const Real m = mass[i * n + j];
      before += u[i] * m * u[j];
      after += v[i] * m * v[j];
      change += (v[i] - u[i]) * m * (v[j] - u[j]);
    }
  return before > 0 ? absolute(before - after - change) / before : Real(0);
}

// The member's velocities are u; alpha those an external impulse would give the free system [mayer2-12] (u itself without
// one [mayer2-16]).
template <class M, class Real>
ZWANG_COLD void shock(ShockSetting<M>& setting, const Real* alpha, ShockResult<M>& result) {
  constexpr int n = M::n, round_limit = 1000;
  const M& me = setting.me;
  if (!make_setting(setting, alpha, result)) {
    result.status = Status::not_finite;
    return;
  }
  if (!setting.violated(result.v)) {
    result.energy_lost = setting.kinetic(me.motion.v()) - setting.kinetic(result.v);
    return;
  }
  if (singular(setting, result.v)) {
    result.status = Status::singular;
    return;
  }
  bool plain = true;  // Carnot's identity applies
  for (int i = 0; i < n; ++i) plain = plain && alpha[i] == me.motion.v()[i];
  for (; result.rounds <= round_limit && setting.violated(result.v); ++result.rounds) {
    ShockParts<M> parts;
    ShockRound<M> round;
    take_part(setting, result.v, result.rounds == round_limit, parts);
    solve_round(setting, result.v, parts, round);
    if (!round.feasible) {
      // No room to rebound into: then without.
      parts.count = 0;
      take_part(setting, result.v, true, parts);
      solve_round(setting, result.v, parts, round);
    }
    if (!round.feasible) {
      result.status = Status::infeasible;
      return;
    }
    collect(setting, parts, round, result);
    plain = plain && round.plain;
    copy<n>(round.v, result.v);
    drop_noise<M>(setting.mass, alpha, result.v);
  }
  result.energy_lost = setting.kinetic(me.motion.v()) - setting.kinetic(result.v);
  if (!plain || result.rounds != 1) return;
  result.carnot = carnot_defect<M>(setting.mass, me.motion.v(), result.v);
}

// The limit of infinitely many shocks of the contacts: the projection on the intersection, f' = 0 for all of them, and
// g = 0 for the velocity limits in `kept`.
template <class M>
ZWANG_COLD void completed_shock(ShockSetting<M>& setting, const typename M::Set& kept,
                                ShockResult<M>& result) {
  constexpr int n = M::n;
  const M& me = setting.me;
  if (!make_setting(setting, me.motion.v(), result)) {
    result.status = Status::not_finite;
    return;
  }
  ShockParts<M> parts;
  for (int i = 0; i < M::r; ++i) {
    const bool equal =
        me.constraints.conditions[i].standing == Standing::equation || setting.contacts.has(i) || kept.has(i);
    if (equal || setting.velocities.has(i)) parts.add(i, equal, 0);
  }
  ShockRound<M> round;
  solve_round(setting, me.motion.v(), parts, round);
  if (!round.feasible) {
    result.status = Status::infeasible;
    return;
  }
  collect(setting, parts, round, result);
  copy<n>(round.v, result.v);
  drop_noise<M>(setting.mass, me.motion.v(), result.v);
  result.energy_lost = setting.kinetic(me.motion.v()) - setting.kinetic(result.v);
}

}  // namespace zwang
