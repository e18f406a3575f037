// The state of one lane at an event, and the laws of impact and release there, in registers
// (lanes/fast_event.h). The same laws for members in memory are in event/single_contact.h; shared rules are
// in event/contact_rules.h.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/base/scaled.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/event/contact_rules.h"

namespace zwang {

// A shock as it is recorded.
template <class M>
struct ImpactRecord {
  using Real = typename M::Real;
  typename M::Event event;
  Real separating[M::rows];  // 1: the condition opens with a separating velocity
  Real energy_lost, carnot;
  bool rebounds, fixed;  // with restitution; no condition that takes part moves by itself
};

// A short step of a point along the flow by the classical Runge-Kutta method (stages = 4), or by the midpoint
// rule (2) or Euler's method (1) where those are accurate enough. As in event/refine_event_time.h. `strays`:
// the step is long enough to leave the active conditions, so the state is projected onto them.
template <class M, class Point, class Real>
ZWANG_INLINE void move_along_flow(Point& point, Real duration, int stages, bool strays) {
  constexpr int size = M::size;
  Real from[size], sum[size];
  const Real start = point.t;
  ZWANG_REGISTERS for (int c = 0; c < size; ++c) {
    from[c] = point.y[c];
    sum[c] = point.rate[c];
  }
  ZWANG_ROLLED for (int stage = 1; stage < stages; ++stage) {
    const Real ahead = (stage < 3 ? Real(0.5) : Real(1)) * duration, share = stage < 3 ? Real(2) : Real(1);
    ZWANG_REGISTERS for (int c = 0; c < size; ++c) { point.y[c] = from[c] + ahead * point.rate[c]; }
    point.t = start + ahead;
    point.evaluate_rates();
    ZWANG_REGISTERS for (int c = 0; c < size; ++c) { sum[c] += share * point.rate[c]; }
  }
  ZWANG_REGISTERS for (int c = 0; c < size; ++c) {
    point.y[c] = from[c] + duration * (stages == 4 ? Real(1.0 / 6) * sum[c] : point.rate[c]);
  }
  point.t = start + duration;
  if (point.any_held && strays) project<M>(point.k, point.t, point.y, point.held, 3);
  point.evaluate_rates();
  point.evaluate_rows();
}

template <class M>
struct EventPoint {
  using Model = typename M::Model;
  using Real = typename M::Real;
  static constexpr int n = M::n, r = M::r, rows = M::rows, size = M::size;

  Real contact_tolerance, rest_speed;
  Real k[at_least_one(Model::constants)];
  Real t, y[size], rate[size], lambda[rows], held[rows];
  bool any_held;
  Real sought[rows];  // 1 for the condition of the event, else 0
  bool reached;       // contact: its f reaches zero; otherwise release: its multiplier reaches zero
  Real f[rows], f_rate[rows], rest[rows], a[rows * n];
  Real size_q[n], size_v[n];                                 // as Member::sizes
  Real value_zero[rows], rate_zero[rows], rest_scale[rows];  // zero levels of f and f'; the rounding of c
  Real mass[n], restitution[rows], reaction[rows], push, speed;
  Real weight[rows];     // the diagonal of Phi
  Real slack[rows];      // zero levels of f'' of active conditions
  Real multiplier_zero;  // release: zero level of the multiplier
  Real resolution;       // change of the event function over one rounding of the time
  Real noise, next_h;    // release: the rounding of f''; and the length of the next step
  bool armed;            // release: f is clearly below zero already

  static constexpr bool rebounds_only = false, forces_vanish = false;

  // The entry of the condition of the event.
  ZWANG_INLINE Real of_sought(const Real* x) const {
    Real sum = 0;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) { sum += sought[i] > 0 ? x[i] : Real(0); }
    return sum;
  }
  ZWANG_INLINE typename M::Set condition() const {
    typename M::Set made;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      if (sought[i] > 0) made.add(i);
    }
    return made;
  }
  // The event function, which crosses zero upwards.
  ZWANG_INLINE Real curve() const { return reached ? of_sought(f) : -of_sought(lambda); }
  // What counts as zero for it; and its rate, of a condition that is reached.
  ZWANG_INLINE Real curve_zero() const { return reached ? of_sought(value_zero) : multiplier_zero; }
  ZWANG_INLINE Real curve_rate() const { return of_sought(f_rate); }
  // What counts as zero for f of a condition.
  ZWANG_INLINE Real zero_at(int i) const { return value_zero[i]; }
  ZWANG_INLINE bool identify() const { return true; }
  ZWANG_INLINE void evaluate_all() const {}

  ZWANG_INLINE void evaluate_rates() { right_side<M>(k, t, y, held, any_held, rate, lambda); }
  ZWANG_INLINE void evaluate_rows() { Model::rows(k, t, y, y + n, y + 2 * n, f, f_rate, rest, a); }
  ZWANG_INLINE void evaluate_scales() {
    Model::scales(k, t, y, y + n, y + 2 * n, mass, restitution, reaction, push, speed);
  }

  // Magnitudes of coordinates and velocities over the step, as measure_sizes() in dynamics/rounding.h.
  ZWANG_INLINE void measure_sizes(const Real* from, Real duration) {
    Real whole_q = 0, whole_v = 0;
    ZWANG_REGISTERS for (int i = 0; i < n; ++i) {
      size_q[i] = maximum(maximum(absolute(from[i]), absolute(y[i])), absolute(duration * from[n + i]));
      size_v[i] = maximum(absolute(from[n + i]), absolute(y[n + i]));
      const Real m = maximum(mass[i], Real(0));
      whole_q += m * square(size_q[i]);
      whole_v += m * square(size_v[i]);
    }
    ZWANG_REGISTERS for (int i = 0; i < n; ++i) {
      size_q[i] = not_below(size_q[i], mass[i], whole_q);
      size_v[i] = not_below(size_v[i], mass[i], whole_v);
    }
  }

  // The zero levels. False if the gradient of a condition that takes part vanishes.
  ZWANG_INLINE bool find_zeros() {
    using S = Scaled<Real>;
    S sk[at_least_one(Model::constants)], q[n], v[n], z[at_least_one(M::nz)];
    S value[rows], f_dot[rows], c[rows], row[rows * n];
    ZWANG_REGISTERS for (int i = 0; i < Model::constants; ++i) { sk[i] = S(k[i]); }
    ZWANG_REGISTERS for (int i = 0; i < n; ++i) {
      q[i] = S(y[i], size_q[i]);
      v[i] = S(y[n + i], size_v[i]);
    }
    ZWANG_REGISTERS for (int i = 0; i < M::nz; ++i) { z[i] = S(y[2 * n + i]); }
    Model::rows(sk, S(t), q, v, z, value, f_dot, c, row);
    bool good = true;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      value_zero[i] = contact_tolerance * value[i].scale;
      rate_zero[i] = rest_speed * f_dot[i].scale;
      rest_scale[i] = c[i].scale;
      bool vanishes = true;
      ZWANG_REGISTERS for (int j = 0; j < n; ++j) {
        vanishes = vanishes && (row[i * n + j].scale == 0 ||
                                absolute(row[i * n + j].value) <= Real(1e-10) * row[i * n + j].scale);
      }
      good = good && !(vanishes && (held[i] > 0 || sought[i] > 0));
    }
    return good;
  }

  ZWANG_INLINE void flow(Real duration, int stages, bool strays) {
    move_along_flow<M>(*this, duration, stages, strays);
  }

  ZWANG_INLINE void set_active(const Real* next_held) {
    any_held = false;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      held[i] = next_held[i];
      any_held = any_held || held[i] > 0;
    }
  }

  // [mayer2-9] The shock of the condition reached, with its rebound (mechanics section 4). All active
  // conditions take part; a condition whose impulse would be negative separates instead. False if the sign of
  // an impulse is not clear.
  ZWANG_INLINE bool apply_impact(ImpactRecord<M>& impact) {
    Real struck[rows], change[n], impulse[rows];
    evaluate_scales();
    const Real speed_before = speed, approach = of_sought(f_rate), e = of_sought(restitution);
    const Real zero = of_sought(rate_zero);
    if (!is_clearly_positive(approach, zero) || (e > 0 && !is_clearly_positive(e * approach, zero)))
      return false;
    impact.rebounds = e > 0;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      struck[i] = held[i] > 0 || sought[i] > 0 ? Real(1) : Real(0);
      impact.separating[i] = 0;
    }
    if (!find_impulses(struck, impact.separating, change, impulse)) return false;
    impact.fixed = true;
    Real given = 0;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      Real still = f_rate[i];
      ZWANG_REGISTERS for (int c = 0; c < n; ++c) { still -= a[i * n + c] * y[n + c]; }
      impact.fixed = impact.fixed && (!(struck[i] > 0) || absolute(still) <= rate_zero[i]);
      given += struck[i] > 0 ? impulse[i] * f_rate[i] : Real(0);
    }
    describe(impact, struck, impulse, 1 + e);
    move_velocities(impact, change, 1 + e);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      if (sought[i] > 0 && e > 0) {
        struck[i] = 0;
        impact.separating[i] = 1;
      }
    }
    set_active(struck);
    if (any_held) project<M>(k, t, y, held, 3);
    evaluate_rows();
    count_energy(impact);
    evaluate_scales();
    impact.carnot = speed_before > 0 ? absolute(speed_before - speed - given) / speed_before : Real(0);
    return satisfies_impact_law(impact, e * approach);
  }

  // The active set after the release of the condition sought.
  ZWANG_INLINE bool release() {
    Real change[n], impulse[rows], left[rows];
    Model::strike(k, t, y, y + n, y + 2 * n, held, change, impulse, weight);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) { left[i] = sought[i] > 0 ? Real(0) : held[i]; }
    set_active(left);
    return true;
  }

  // [mayer-20] Whether the multipliers of all active inequalities are clearly positive after the event.
  ZWANG_INLINE bool multipliers_positive() {
    evaluate_rates();
    bool good = all_finite<size>(rate);
    const Real free_size = sqrt(maximum(push, Real(0)));
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      slack[i] = zero_of_second(contact_tolerance, sqrt(weight[i]), free_size, rest_scale[i]);
      if (Model::is_equation(i) || !(held[i] > 0)) continue;
      good = good && is_clearly_positive(lambda[i] * weight[i], slack[i]);
    }
    return good;
  }

  // f'' of a condition, and the sum of the magnitudes of its terms.
  struct Second {
    Real value, size;
  };
  ZWANG_INLINE Second second_of(int i) const {
    Second made{rest[i], absolute(rest[i])};
    ZWANG_REGISTERS for (int c = 0; c < n; ++c) {
      made.value += a[i * n + c] * rate[n + c];
      made.size += absolute(a[i * n + c] * rate[n + c]);
    }
    return made;
  }
  ZWANG_INLINE Second second() const {
    Second made{0, 0};
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      const Second one = second_of(i);
      if (sought[i] > 0) made = one;
    }
    return made;
  }

  // False if a separating condition would return to zero within the resolution of time: as in
  // update_active_set().
  ZWANG_INLINE bool hops_resolved(const ImpactRecord<M>& impact) const {
    bool good = true;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      const Real bend = second_of(i).value;
      if (!(impact.separating[i] > 0) || !(bend > 0)) continue;
      good = good &&
             hop_is_resolved(f_rate[i], bend, value_zero[i], 16 * Precision<Real>::epsilon * absolute(t));
    }
    return good;
  }

  // False if the remaining forces would move the released condition above zero. Its multiplier was zero only
  // to rounding, and so is its f''.
  ZWANG_INLINE bool opens() {
    const Second next = second();
    noise = noise_of_released(maximum(multiplier_zero, resolution), of_sought(weight));
    armed = opens_armed(of_sought(f), of_sought(f_rate), of_sought(value_zero), of_sought(rate_zero));
    return next.value <= largest_released_second(next.size, noise);
  }

 private:
  // Impulses and the change of velocities for a shock without rebound; rows with a negative impulse are
  // removed one by one.
  ZWANG_INLINE bool find_impulses(Real* struck, Real* separating, Real* change, Real* impulse) {
    ZWANG_ROLLED for (int pass = 0; pass < r; ++pass) {
      Model::strike(k, t, y, y + n, y + 2 * n, struck, change, impulse, weight);
      bool unclear = false, removed = false;
      ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
        if (Model::is_equation(i) || !(struck[i] > 0)) continue;
        const Real strength = impulse[i] * weight[i];
        const bool negative = is_clearly_negative(strength, rate_zero[i]);
        unclear = unclear || (negative ? sought[i] > 0 : !is_clearly_positive(strength, rate_zero[i]));
        if (!negative || removed) continue;
        removed = true;
        struck[i] = 0;
        separating[i] = 1;
      }
      if (unclear) return false;
      if (!removed) return true;
    }
    return false;
  }

  ZWANG_INLINE void describe(ImpactRecord<M>& impact, const Real* struck, const Real* impulse,
                             Real factor) const {
    impact.event.t = t;
    impact.event.reached = condition();
    impact.event.jump = true;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      const bool takes_part = struck[i] > 0 && absolute(factor * impulse[i]) * weight[i] > rate_zero[i];
      impact.event.impulse[i] = takes_part ? factor * impulse[i] * reaction[i] : Real(0);
      if (takes_part) impact.event.constraints.add(i);
    }
    Real kinetic, energy;
    Model::energies(k, t, y, y + n, y + 2 * n, kinetic, energy);
    impact.event.energy_lost = kinetic;
    impact.energy_lost = energy;
  }
  ZWANG_INLINE void move_velocities(ImpactRecord<M>& impact, const Real* change, Real factor) {
    Real whole = 0;
    ZWANG_REGISTERS for (int c = 0; c < n; ++c) {
      impact.event.before[c] = y[n + c];
      whole += maximum(mass[c], Real(0)) * square(y[n + c]);
    }
    // As drop_noise(): components within rounding become exactly zero.
    whole = velocity_noise(whole);
    ZWANG_REGISTERS for (int c = 0; c < n; ++c) {
      const Real after = y[n + c] + factor * change[c];
      y[n + c] = is_velocity_noise(after, mass[c], whole) ? Real(0) : after;
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
  // Verifies the conditions of the minimum for the velocities after the shock.
  ZWANG_INLINE bool satisfies_impact_law(const ImpactRecord<M>& impact, Real leaving) const {
    bool good = true;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      const bool parts = impact.separating[i] > 0, rebounds = parts && sought[i] > 0;
      const Real wanted = rebounds ? -leaving : Real(0);
      if (rebounds || held[i] > 0) good = good && absolute(f_rate[i] - wanted) <= rate_zero[i];
      if (parts && !rebounds) good = good && is_clearly_negative(f_rate[i], rate_zero[i]);
    }
    return good;
  }
};

}  // namespace zwang
