// The state of one lane at an impact of a single contact: no inequality is closed, one is reached, and it
// rebounds, with or without friction; equations may hold. The point of such an event has the interface of
// EventPoint (lanes/event_point.h) but evaluates the reached condition alone, so that its cost does not grow
// with the number of conditions: gases of disks, boards of pegs, rows of balls, boxes and dice that tumble.
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/base/scaled.h"
#include "kernels/dynamics/mass.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/single_impact.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/event/contact_rules.h"
#include "kernels/lanes/event_point.h"
#include "kernels/lanes/held_equations.h"

namespace zwang {

template <class M>
struct FreeImpact {
  using Model = typename M::Model;
  using Real = typename M::Real;
  static constexpr int n = M::n, r = M::r, rows = M::rows, size = M::size;

  using Equations = HeldEquations<M>;

  // Decided by the emitter (src/emit/solve.cpp).
  static constexpr bool possible = Model::free_impacts && !is_long_model<Model>;
  // The set of closed inequalities is empty before and after the event.
  static constexpr bool rebounds_only = true;
  // No multiplier differs from zero, and formulas at the event need none.
  static constexpr bool forces_vanish = Equations::count == 0;

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

  // Takes the condition from `sought`. False if some inequality is closed.
  ZWANG_INLINE bool identify() {
    index = 0;
    bool found = false, closed = false;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      if (sought[i] > 0) index = i;
      found = found || sought[i] > 0;
      closed = closed || (held[i] > 0 && !Equations::is_member(i));
      lambda[i] = 0;
    }
    return found && reached && !closed && Model::is_linear(index);
  }
  ZWANG_INLINE typename M::Set condition() const {
    typename M::Set made;
    made.add(index);
    return made;
  }
  ZWANG_INLINE Real curve() const { return value; }
  ZWANG_INLINE Real curve_zero() const { return value_zero; }
  ZWANG_INLINE Real curve_rate() const { return value_rate; }
  // What counts as zero for f of another condition: as for that of the event.
  ZWANG_INLINE Real zero_at(int) const { return value_zero; }

  ZWANG_INLINE void evaluate_rates() {
    right_side<M>(k, t, y, held, !forces_vanish && any_held, rate, lambda);
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

  // [mayer2-9] [friction-11] The shock of the contact with its rebound (mechanics section 4), while the
  // equations hold. False if it does not rebound, if a sign is not clear, or if the solution may not be unique.
  ZWANG_INLINE bool apply_impact(ImpactRecord<M>& impact) {
    evaluate_scales();
    const Real e = Model::restitution(k, index), approach = value_rate, leaving = e * approach;
    if (!(e > 0) || !is_clearly_positive(approach, rate_zero) || !is_clearly_positive(leaving, rate_zero) ||
        !root.factor(mass))
      return false;
    Equations equations;
    if (!equations.build(k, t, y, held, root)) return false;
    ContactImpulse contact;
    contact.rate[0] = approach;
    contact.rebound[0] = leaving;
    add_row(equations, a, value_rate, rate_zero, 0, contact);
    contact.law.tangents = 0;
    contact.law.cone = 0;
    if (!add_slip(equations, contact) || !contact.solve()) return false;
    impact.rebounds = true;
    impact.fixed = true;
    impact.carnot = 0;
    describe(impact, equations, contact);
    Real change[n];
    root.back(contact.push, change);
    move_velocities(impact, change);
    count_energy(impact);
    evaluate_rows();
    if (!(absolute(value_rate + leaving) <= rate_zero)) return false;
    evaluate_rates();
    return all_finite<size>(rate);
  }

  // No inequality is closed, so no multiplier can be negative and no condition can be released.
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
  // The rows of the contact, normal first, across the equations.
  struct ContactImpulse {
    SingleImpact<Real> law;
    int first_slip = -1;        // the condition of its first slip row
    Real u[3][n], whole[3][n];  // in the mass metric, without and with their parts along the equations
    Real rate[3], rebound[3], zero[3], still[3];
    Real push[n], whole_push[n];  // the sum of the impulses times u, and times `whole`

    // False where the solution may not be unique, or where the rebound would create energy [friction-12].
    ZWANG_INLINE bool solve() {
      for (int i = 0; i <= law.tangents; ++i) {
        law.b[i] = rate[i] + rebound[i];
        for (int j = 0; j <= law.tangents; ++j) law.phi[i][j] = dot<n>(u[i], u[j]);
      }
      if (!law.solve() || !(law.l[0] > 0)) return false;
      Real dissipated = 0, terms = 0;
      for (int i = 0; i <= law.tangents; ++i) {
        dissipated += law.l[i] * (rate[i] + (law.r[i] - rebound[i]));
        terms += absolute(law.l[i] * rate[i]);
      }
      if (law.tangents > 0 && !(dissipated / 2 >= -64 * Precision<Real>::epsilon * terms)) return false;
      ZWANG_REGISTERS for (int c = 0; c < n; ++c) { push[c] = whole_push[c] = 0; }
      for (int i = 0; i <= law.tangents; ++i) {
        // An impulse within rounding of the normal one is none: the rows are solved together.
        if (i > 0 && absolute(law.l[i]) * sqrt(law.phi[i][i]) <=
                         8 * Precision<Real>::epsilon * law.l[0] * sqrt(law.phi[0][0]))
          law.l[i] = 0;
        add_multiple<n>(law.l[i], u[i], push);
        add_multiple<n>(law.l[i], whole[i], whole_push);
      }
      return true;
    }
    ZWANG_INLINE bool takes_part(int i) const {
      return absolute(law.l[i]) * dot<n>(whole[i], whole[i]) > zero[i];
    }
  };

  ZWANG_INLINE void add_row(const Equations& equations, const Real* row, Real row_rate, Real zero, int i,
                            ContactImpulse& contact) const {
    root.into(row, contact.whole[i]);
    ZWANG_REGISTERS for (int c = 0; c < n; ++c) { contact.u[i][c] = contact.whole[i][c]; }
    equations.remove_from(contact.u[i]);
    contact.zero[i] = zero;
    contact.still[i] = row_rate - dot<n>(row, y + n);
  }
  // The slip rows of a contact with friction. False where one is not linear in the velocities.
  ZWANG_INLINE bool add_slip([[maybe_unused]] const Equations& equations,
                             [[maybe_unused]] ContactImpulse& contact) const {
    if constexpr (ModesOf<Model>::any) {
      const int f = Model::friction_of(index);
      if (f < 0) return true;
      const int first = Model::friction_row(f), tangents = Model::friction_rows(f);
      const Real back = Model::tangential_restitution(k, t, y, y + n, y + 2 * n, f);
      contact.first_slip = first;
      contact.law.tangents = tangents;
      contact.law.cone = Model::cone(k, t, y, y + n, y + 2 * n, f);
      ZWANG_REGISTERS for (int c = 0; c < 2; ++c) {
        if (c >= tangents) continue;
        if (!Model::is_linear(first + c)) return false;
        Real slip, slip_rate, slip_rest, row[n];
        ZWANG_REGISTERS for (int j = 0; j < n; ++j) { row[j] = 0; }
        Model::row(k, t, y, y + n, y + 2 * n, first + c, slip, slip_rate, slip_rest, row);
        contact.rate[1 + c] = slip_rate;
        contact.rebound[1 + c] = back * slip_rate;
        add_row(equations, row, slip_rate, zero_of_rate(first + c), 1 + c, contact);
      }
    }
    return true;
  }
  // What counts as zero for the rate of another condition.
  ZWANG_INLINE Real zero_of_rate(int i) const {
    return rest_speed * scaled_condition_at<M>(k, t, y, i, y + n, size_q, size_v).rate_scale;
  }

  ZWANG_INLINE void describe(ImpactRecord<M>& impact, const Equations& equations,
                             const ContactImpulse& contact) const {
    impact.event.t = t;
    impact.event.reached = condition();
    impact.event.jump = true;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) { impact.event.impulse[i] = 0; }
    if (contact.takes_part(0)) {
      impact.event.constraints.add(index);
      impact.event.impulse[index] = contact.law.l[0] * Model::reach(k, t, y, y + n, y + 2 * n, index);
      impact.fixed = impact.fixed && absolute(contact.still[0]) <= contact.zero[0];
      // The first slip row lists the length of the tangential impulse.
      if (contact.first_slip >= 0) impact.event.constraints.add(contact.first_slip);
    }
    Real squares = 0;
    for (int i = 1; i <= contact.law.tangents; ++i) {
      if (!contact.takes_part(i)) continue;
      squares += square(contact.law.l[i]);
      impact.fixed = impact.fixed && absolute(contact.still[i]) <= contact.zero[i];
    }
    if (contact.first_slip >= 0) impact.event.impulse[contact.first_slip] = sqrt(squares);
    describe_equations(impact, equations, contact);
    Real kinetic, energy;
    Model::energies(k, t, y, y + n, y + 2 * n, kinetic, energy);
    impact.event.energy_lost = kinetic;
    impact.energy_lost = energy;
  }
  ZWANG_INLINE void describe_equations([[maybe_unused]] ImpactRecord<M>& impact,
                                       [[maybe_unused]] const Equations& equations,
                                       [[maybe_unused]] const ContactImpulse& contact) const {
    if constexpr (Equations::count > 0) {
      Real l[Equations::room];
      equations.find_impulses(contact.whole_push, l);
      int e = 0;
      ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
        if (!Equations::is_member(i)) continue;
        const Real zero = zero_of_rate(i);
        if (absolute(l[e]) * equations.weight(e) > zero) {
          impact.event.constraints.add(i);
          impact.event.impulse[i] = l[e] * Model::reach(k, t, y, y + n, y + 2 * n, i);
          impact.fixed = impact.fixed && absolute(equations.still[e]) <= zero;
        }
        ++e;
      }
    }
  }
  ZWANG_INLINE void move_velocities(ImpactRecord<M>& impact, const Real* change) {
    Real whole = 0;
    ZWANG_REGISTERS for (int c = 0; c < n; ++c) {
      impact.event.before[c] = y[n + c];
      whole += maximum(mass[c * n + c], Real(0)) * square(y[n + c]);
    }
    // As drop_noise(): components within rounding become exactly zero.
    whole = velocity_noise(whole);
    ZWANG_REGISTERS for (int c = 0; c < n; ++c) {
      const Real after = y[n + c] - change[c];
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
