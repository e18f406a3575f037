// The audit decides: shares of the bound (kernels/base/audit_bound.h) that a member's violations use, and the
// status `inaccurate` where one is above 1. The reference is src/reference/audit.cpp.
#pragma once

#include "kernels/base/audit_bound.h"
#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/dynamics/mass.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"

namespace zwang {

// The share of `allowed` that `found` uses. A number that is NaN uses the largest share.
template <class Real>
ZWANG_INLINE Real share_of(Real found, Real allowed) {
  if (found <= 0) return 0;
  const Real share = found / maximum(allowed, Precision<Real>::tiny);
  return share < Real(AuditBound::largest_share) ? share : Real(AuditBound::largest_share);
}

// The change of T + V if every component of the state is off by its tolerance, and of the work. Components for which it
// is not defined (the edge of a domain) do not count.
template <class M, class Real>
ZWANG_COLD Real energy_of_tolerance(const Real* k, const typename M::Motion& motion, Real rtol, Real atol) {
  constexpr int n = M::n;
  const auto energy_at = [&](const Real* y) {
    Real kinetic, energy;
    M::Model::energies(k, motion.t, y, y + n, y + 2 * n, kinetic, energy);
    return energy;
  };
  Real y[M::fed_back], sum = 0;
  copy<M::fed_back>(motion.y, y);
  const Real here = energy_at(y);
  for (int i = 0; i < M::fed_back; ++i) {
    y[i] = motion.y[i] + (atol + rtol * absolute(motion.y[i]));
    const Real change = absolute(energy_at(y) - here);
    if (is_finite(change)) sum += change;
    y[i] = motion.y[i];
  }
  if constexpr (M::Model::works) {
    Real force[n];
    M::Model::applied(k, motion.t, motion.q(), motion.v(), motion.z(), force);
    for (int i = 0; i < n; ++i) {
      const Real work = absolute(force[i]) * (atol + rtol * absolute(motion.y[i]));
      if (is_finite(work)) sum += work;
    }
  }
  return sum;
}

// Tolerances by which a step may be off in the energy balance.
template <class M>
ZWANG_CONSTANT constexpr double tolerances_of_step() {
  if constexpr (M::Method::expands && M::Model::works) return AuditBound::work_of_series(M::Method::order);
  return 1;
}

// Steps and events count alike. The part of the allowance that follows from the largest energy alone.
template <class M>
ZWANG_INLINE typename M::Real allowed_drift_by_size(const M& me) {
  using Real = typename M::Real;
  return Real(AuditBound::energy * tolerances_of_step<M>()) *
         Real(me.steps.taken + me.tally.events + AuditBound::spare_steps) *
         (2 * me.input.rtol + 16 * Precision<Real>::epsilon) * me.audit.worst[audit_size];
}

// How far the energy law may be off. `start`: the motion's first state.
template <class M>
ZWANG_COLD typename M::Real allowed_drift(const M& me, const typename M::Motion& start) {
  using Real = typename M::Real;
  using Mass = MassShape<typename M::Model>;
  const Real rtol = me.input.rtol, atol = me.input.atol, size = me.audit.worst[audit_size];
  Real mass[Mass::entries], masses = 0;
  M::Model::mass(me.k, me.motion.t, me.motion.q(), me.motion.v(), me.motion.z(), mass);
  for (int i = 0; i < Mass::entries; ++i) masses += absolute(mass[i]);
  const Real one_step = energy_of_tolerance<M>(me.k, start, rtol, atol) +
                        energy_of_tolerance<M>(me.k, me.motion, rtol, atol) + atol * sqrt(2 * size * masses);
  return Real(AuditBound::energy * tolerances_of_step<M>()) *
             Real(me.steps.taken + me.tally.events + AuditBound::spare_steps) * one_step +
         allowed_drift_by_size(me);
}

// How far a condition and its rate may be off.
template <class Real>
struct AllowedViolation {
  Real value, rate;
};
template <class M, class Real>
ZWANG_DEVICE AllowedViolation<Real> allowed_violation(const MemberInput<Real>& input,
                                                      const ScaledCondition<Real>& scaled) {
  const Real share = input.rtol + input.contact_tolerance, absolutely = input.atol * scaled.reach;
  return {Real(AuditBound::conditions) * (share * scaled.value_scale + absolutely),
          Real(AuditBound::conditions) * (share * scaled.rate_scale + absolutely)};
}

// The share of what is allowed that a condition in force uses at the member's state.
template <class M, class Real>
ZWANG_DEVICE Real condition_share(Standing standing, int i, const ScaledCondition<Real>& scaled,
                                  const AllowedViolation<Real>& allowed) {
  const bool positions = M::Model::is_holonomic(i);
  if (standing == Standing::open)
    return positions ? share_of(scaled.value, allowed.value) : share_of(scaled.rate, allowed.rate);
  const Real rate = share_of(absolute(scaled.rate), allowed.rate);
  return positions ? maximum(rate, share_of(absolute(scaled.value), allowed.value)) : rate;
}

// An open inequality above zero has been passed without an event. Most are below zero and need no scale.
template <class M>
ZWANG_COLD void audit_open_conditions(M& me) {
  using Real = typename M::Real;
  if constexpr (M::r > 0) {
    const typename M::Motion& motion = me.motion;
    Real f[M::rows], f_rate[M::rows];
    M::Model::levels(me.k, motion.t, motion.q(), motion.v(), motion.z(), f, f_rate);
    for (int i = 0; i < M::r; ++i) {
      if (me.constraints.conditions[i].standing != Standing::open) continue;
      if ((M::Model::is_holonomic(i) ? f[i] : f_rate[i]) <= 0) continue;
      const auto scaled = scaled_condition<M>(me.k, motion, i, motion.v(), me.sizes.q, me.sizes.v);
      me.audit.raise(audit_condition_share,
                     condition_share<M>(Standing::open, i, scaled, allowed_violation<M>(me.input, scaled)));
    }
  }
}

// The magnitudes of coordinates and velocities over the whole motion, as far as they are known: where it
// starts and ends, and of velocities those that the largest energy allows.
template <class M>
ZWANG_COLD void measure_motion(const M& me, const typename M::Motion& start, typename M::Rounding& sizes) {
  using Real = typename M::Real;
  constexpr int n = M::n;
  const typename M::Motion& end = me.motion;
  using Mass = MassShape<typename M::Model>;
  Real mass[Mass::entries];
  M::Model::mass(me.k, end.t, end.q(), end.v(), end.z(), mass);
  for (int i = 0; i < n; ++i) {
    const Real m = mass[Mass::diagonal(i)];
    sizes.q[i] = maximum(absolute(start.y[i]), absolute(end.y[i]));
    sizes.v[i] = maximum(absolute(start.y[n + i]), absolute(end.y[n + i]));
    if (m > 0) sizes.v[i] = maximum(sizes.v[i], sqrt(2 * me.audit.worst[audit_size] / m));
  }
  raise_to_noise<M>(me.k, end, sizes);
}

// Conditions at the member's end, each by its own scale. What projection left on the way is known only as the
// largest over all of them: it is compared with the largest allowance among the conditions, at the end or,
// where terms have become small since, at the start.
template <class M>
ZWANG_COLD void judge_conditions(M& me, const typename M::Motion& start) {
  using Real = typename M::Real;
  typename M::Rounding sizes;
  measure_motion(me, start, sizes);
  Real most_value = 0, most_rate = 0;
  const auto raise_most = [&](const AllowedViolation<Real>& allowed) {
    if (is_finite(allowed.value)) most_value = maximum(most_value, allowed.value);
    if (is_finite(allowed.rate)) most_rate = maximum(most_rate, allowed.rate);
  };
  for (int i = 0; i < M::r; ++i) {
    const auto scaled = scaled_condition<M>(me.k, me.motion, i, me.motion.v(), sizes.q, sizes.v);
    const auto allowed = allowed_violation<M>(me.input, scaled);
    raise_most(allowed);
    const Standing standing = me.constraints.conditions[i].standing;
    if (standing != Standing::absent)
      me.audit.raise(audit_condition_share, condition_share<M>(standing, i, scaled, allowed));
  }
  const Real* worst = me.audit.worst;
  if (!(worst[audit_position] <= most_value && worst[audit_velocity] <= most_rate))
    for (int i = 0; i < M::r; ++i)
      raise_most(
          allowed_violation<M>(me.input, scaled_condition<M>(me.k, start, i, start.v(), sizes.q, sizes.v)));
  me.audit.raise(audit_condition_share, share_of(worst[audit_position], most_value));
  me.audit.raise(audit_condition_share, share_of(worst[audit_velocity], most_rate));
}

// The same with the part of the allowance that follows from atol alone, which needs no scales. False where
// that is not enough to be certain; then nothing has been changed.
template <class M>
ZWANG_COLD bool judge_conditions_by_atol(M& me) {
  using Real = typename M::Real;
  const typename M::Motion& motion = me.motion;
  const Real* worst = me.audit.worst;
  Real most = 0, share = 0;
  for (int i = 0; i < M::r; ++i) {
    ScaledCondition<Real> at_end{};
    Real a[M::n], rest;
    M::Model::row(me.k, motion.t, motion.q(), motion.v(), motion.z(), i, at_end.value, at_end.rate, rest, a);
    for (int j = 0; j < M::n; ++j) at_end.reach += absolute(a[j]);
    const Real allowed = Real(AuditBound::conditions) * me.input.atol * at_end.reach;
    if (is_finite(allowed)) most = maximum(most, allowed);
    const Standing standing = me.constraints.conditions[i].standing;
    if (standing != Standing::absent)
      share = maximum(share, condition_share<M>(standing, i, at_end, {allowed, allowed}));
  }
  share = maximum(share, share_of(maximum(worst[audit_position], worst[audit_velocity]), most));
  if (!(share <= Real(AuditBound::certain)) || !is_finite(worst[audit_position]) ||
      !is_finite(worst[audit_velocity]))
    return false;
  me.audit.raise(audit_condition_share, share);
  return true;
}

template <class Real>
ZWANG_INLINE void judge_shocks(MemberAudit<Real>& audit) {
  const Real allowed = Real(AuditBound::shocks) * Precision<Real>::epsilon / sqrt(Precision<Real>::dependent);
  audit.raise(audit_shock_share, share_of(audit.worst[audit_kkt], allowed));
  audit.raise(audit_shock_share, share_of(audit.worst[audit_carnot], allowed));
  audit.raise(audit_shock_share, share_of(audit.worst[audit_created], allowed * audit.worst[audit_size]));
}

// Energy and conditions by the whole of what is allowed.
template <class M>
ZWANG_COLD void judge_closely(M& me, typename M::Real drift, bool energy, bool conditions) {
  using Real = typename M::Real;
  typename M::Motion start;
  start.t = 0;
  const double* given = me.input.batch->starts + me.input.number * M::fed_back;
  for (int i = 0; i < M::size; ++i) start.y[i] = i < M::fed_back ? Real(given[i]) : Real(0);
  if (energy) me.audit.raise(audit_energy_share, share_of(drift, allowed_drift(me, start)));
  if constexpr (M::r > 0)
    if (conditions) judge_conditions(me, start);
}

// At a member's end: the shares of the bound, and the status if one is above 1.
template <class M>
ZWANG_COLD void judge_member(M& me) {
  using Real = typename M::Real;
  MemberProgress& progress = me.progress;
  if (progress.status != Status::ok && progress.status != Status::stopped) return;
  const Real drift = me.audit.worst[audit_drift];
  const Real by_size =
      M::Method::adaptive || !is_finite(drift) ? share_of(drift, allowed_drift_by_size(me)) : Real(0);
  const bool energy_is_certain = by_size <= Real(AuditBound::certain);
  if (energy_is_certain) me.audit.raise(audit_energy_share, by_size);
  bool conditions_are_certain = true;
  if constexpr (M::r > 0) conditions_are_certain = judge_conditions_by_atol(me);
  if (!energy_is_certain || !conditions_are_certain)
    judge_closely(me, drift, !energy_is_certain, !conditions_are_certain);
  judge_shocks(me.audit);
  for (int i = audit_energy_share; i <= audit_shock_share; ++i)
    if (!(me.audit.worst[i] <= 1)) progress.status = Status::inaccurate;
}

}  // namespace zwang
