// The state of one lane at an impact in free flight: no condition is held, one is reached, and it rebounds.
// The point of such an event has the interface of EventPoint (lanes/event_point.h) but evaluates the reached
// condition alone, so that its cost does not grow with the number of conditions: gases of disks, boards of
// pegs, rows of balls.
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/base/scaled.h"
#include "kernels/dynamics/mass.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/event/contact_rules.h"
#include "kernels/lanes/event_point.h"

namespace zwang {

template <class M>
struct FreeImpact {
  using Model = typename M::Model;
  using Real = typename M::Real;
  static constexpr int n = M::n, r = M::r, rows = M::rows, size = M::size;

  // Every condition is an inequality on positions: nothing is held in free flight, and nothing else takes
  // part in a shock.
  ZWANG_CONSTANT static constexpr bool possible() {
    bool free = r > 0 && Model::masked && !Model::any_general && !Model::has_density && !is_long_model<Model>;
    for (int i = 0; i < r; ++i) free = free && !Model::is_equation(i) && Model::is_holonomic(i);
    return free;
  }
  static constexpr bool in_free_flight = true;

  Real contact_tolerance, rest_speed;
  Real k[at_least_one(Model::constants)];
  Real t, y[size], rate[size], lambda[rows], held[rows];
  bool any_held, reached;
  Real sought[rows];             // 1 for the condition reached, else 0
  int index;                     // of that condition
  Real value, value_rate, rest;  // its f, f' and c
  Real a[n];                     // its row of A
  Real value_zero, rate_zero;    // zero levels of its f and f'
  Real size_q[n], size_v[n];     // as Member::sizes
  Real mass[n * n];
  MassRoot<n, Model::diagonal_mass, Real> root;
  Real f[rows], f_rate[rows];  // of all conditions, after the event
  Real multiplier_zero, resolution, next_h;

  // Takes the condition from `sought`. False if some condition is held.
  ZWANG_INLINE bool identify() {
    index = 0;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      if (sought[i] > 0) index = i;
      lambda[i] = 0;
    }
    return !any_held && Model::is_linear(index);
  }
  ZWANG_INLINE typename M::Set condition() const {
    typename M::Set made;
    made.add(index);
    return made;
  }
  ZWANG_INLINE Real curve() const { return value; }
  ZWANG_INLINE Real curve_zero() const { return value_zero; }
  ZWANG_INLINE Real curve_rate() const { return value_rate; }

  ZWANG_INLINE void evaluate_rates() {
    Real unused[rows];
    right_side<M>(k, t, y, held, false, rate, unused);
  }
  ZWANG_INLINE void evaluate_rows() {
    ZWANG_REGISTERS for (int c = 0; c < n; ++c) { a[c] = 0; }
    Model::row(k, t, y, y + n, y + 2 * n, index, value, value_rate, rest, a);
  }
  ZWANG_INLINE void evaluate_scales() { Model::mass(k, t, y, y + n, y + 2 * n, mass); }

  ZWANG_INLINE void measure_sizes(const Real* from, Real duration) {
    measure_sizes_by_mass<n>(mass, from, y, duration, size_q, size_v);
  }

  // The zero levels. False if the gradient vanishes.
  ZWANG_INLINE bool find_zeros() {
    const auto scaled = scaled_condition_at<M>(k, t, y, index, y + n, size_q, size_v);
    value_zero = contact_tolerance * scaled.value_scale;
    rate_zero = rest_speed * scaled.rate_scale;
    return !scaled.vanishes;
  }

  ZWANG_INLINE void flow(Real duration, int stages, bool strays) {
    move_along_flow<M>(*this, duration, stages, strays);
  }

  // [mayer2-9] The shock of one row: l = (1 + e) f' / Phi, with its rebound (mechanics section 4). False if
  // it does not rebound, or if a sign is not clear.
  ZWANG_INLINE bool apply_impact(ImpactRecord<M>& impact) {
    evaluate_scales();
    const Real e = Model::restitution(k, index), approach = value_rate, leaving = e * approach;
    if (!(e > 0) || !is_clearly_positive(approach, rate_zero) || !is_clearly_positive(leaving, rate_zero) ||
        !root.factor(mass))
      return false;
    Real u[n], change[n], still = value_rate;
    root.into(a, u);
    const Real weight = dot<n>(u, u), impulse = (approach + leaving) / weight;
    root.back(u, change);
    ZWANG_REGISTERS for (int c = 0; c < n; ++c) { still -= a[c] * y[n + c]; }
    impact.rebounds = true;
    impact.fixed = absolute(still) <= rate_zero;
    impact.carnot = 0;
    describe(impact, impulse, weight);
    move_velocities(impact, change, -impulse);
    count_energy(impact);
    evaluate_rows();
    if (!(absolute(value_rate + leaving) <= rate_zero)) return false;
    evaluate_rates();
    return all_finite<size>(rate);
  }

  // Nothing is held, so no multiplier can be negative and no condition can be released.
  ZWANG_INLINE bool multipliers_positive() const { return true; }
  ZWANG_INLINE bool release() const { return false; }
  ZWANG_INLINE bool opens() const { return false; }

  // False if the condition would return to zero within the resolution of time: as in update_active_set().
  ZWANG_INLINE bool hops_resolved(const ImpactRecord<M>&) const {
    const Real bend = second().value;
    return !(bend > 0) ||
           hop_is_resolved(value_rate, bend, value_zero, 16 * Precision<Real>::epsilon * absolute(t));
  }

  // f'' of the condition.
  struct Second {
    Real value;
  };
  ZWANG_INLINE Second second() const {
    Real sum = rest;
    ZWANG_REGISTERS for (int c = 0; c < n; ++c) { sum += a[c] * rate[n + c]; }
    return {sum};
  }

  // What the next step needs of all conditions.
  ZWANG_INLINE void evaluate_all() { Model::levels(k, t, y, y + n, y + 2 * n, f, f_rate); }

 private:
  ZWANG_INLINE void describe(ImpactRecord<M>& impact, Real impulse, Real weight) const {
    impact.event.t = t;
    impact.event.reached = condition();
    impact.event.jump = true;
    const bool takes_part = impulse * weight > rate_zero;
    const Real given = takes_part ? impulse * Model::reach(k, t, y, y + n, y + 2 * n, index) : Real(0);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) { impact.event.impulse[i] = i == index ? given : Real(0); }
    if (takes_part) impact.event.constraints.add(index);
    Real kinetic, energy;
    Model::energies(k, t, y, y + n, y + 2 * n, kinetic, energy);
    impact.event.energy_lost = kinetic;
    impact.energy_lost = energy;
  }
  ZWANG_INLINE void move_velocities(ImpactRecord<M>& impact, const Real* change, Real factor) {
    Real whole = 0;
    ZWANG_REGISTERS for (int c = 0; c < n; ++c) {
      impact.event.before[c] = y[n + c];
      whole += maximum(mass[c * n + c], Real(0)) * square(y[n + c]);
    }
    // As drop_noise(): components within rounding become exactly zero.
    whole = velocity_noise(whole);
    ZWANG_REGISTERS for (int c = 0; c < n; ++c) {
      const Real after = y[n + c] + factor * change[c];
      y[n + c] = is_velocity_noise(after, mass[c * n + c], whole) ? Real(0) : after;
      impact.event.after[c] = y[n + c];
      size_v[c] = maximum(size_v[c], absolute(after));
    }
  }
  ZWANG_INLINE void count_energy(ImpactRecord<M>& impact) const {
    Real kinetic, energy;
    Model::energies(k, t, y, y + n, y + 2 * n, kinetic, energy);
    impact.event.energy_lost -= kinetic;
    impact.energy_lost -= energy;
  }
};

}  // namespace zwang
