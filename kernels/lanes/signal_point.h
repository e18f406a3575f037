// The state of one lane where a signal crosses zero: a watched function, or a kink of an integrand.
// Conditions, forces and velocities are the same before and after.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/base/scaled.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/signals.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/lanes/event_point.h"

namespace zwang {

template <class M>
struct SignalPoint {
  using Model = typename M::Model;
  using Real = typename M::Real;
  static constexpr int n = M::n, r = M::r, rows = M::rows, size = M::size;

  Real contact_tolerance;
  Real k[at_least_one(Model::constants)];
  Real t, y[size], rate[size], lambda[rows], held[rows];
  bool any_held;
  static constexpr bool reached = false;  // its slope is not known by a formula
  int index;
  Real side;  // of the signal before the crossing: side * signal rises through zero
  Real zero;
  Real f[rows], f_rate[rows], signal[M::signals];
  Real resolution, next_h;

  ZWANG_INLINE Real value_at(Real when, const Real* there) const {
    return side * Model::signal(k, when, there, there + n, there + 2 * n, lambda, held, index);
  }
  ZWANG_INLINE Real curve() const { return value_at(t, y); }
  ZWANG_INLINE Real curve_zero() const { return zero; }
  ZWANG_INLINE Real curve_rate() const { return missing<Real>(); }
  // Conditions that are reached at the same time are found by the next step.
  ZWANG_INLINE Real zero_at(int) const { return 0; }
  struct Second {
    Real value;
  };
  ZWANG_INLINE Second second() const { return {Real(0)}; }

  // What counts as zero for the signal, by the magnitudes of coordinates and velocities over the step.
  ZWANG_INLINE void find_zero(const Real* from, Real duration) {
    Real size_q[n], size_v[n], mass[n * n];
    Model::mass(k, t, y, y + n, y + 2 * n, mass);
    measure_sizes_by_mass<n>(mass, from, y, duration, size_q, size_v);
    zero = contact_tolerance * scaled_signal_at<M>(k, t, y, size_q, size_v, index).scale;
  }

  ZWANG_INLINE void evaluate_rates() { right_side<M>(k, t, y, held, any_held, rate, lambda); }
  ZWANG_INLINE void evaluate_rows() {}
  ZWANG_INLINE void flow(Real duration, int stages, bool strays) {
    move_along_flow<M>(*this, duration, stages, strays);
  }

  // Whether the signal is clearly on its other side soon after: `there` is the state then.
  ZWANG_INLINE bool leaves_zero(Real after, Real* there) const {
    ZWANG_REGISTERS for (int c = 0; c < n; ++c) {
      there[c] = y[c] + after * (y[n + c] + Real(0.5) * after * rate[n + c]);
    }
    ZWANG_REGISTERS for (int c = n; c < size; ++c) { there[c] = y[c] + after * rate[c]; }
    return value_at(t + after, there) > zero;
  }

  ZWANG_INLINE void evaluate_levels() {
    if constexpr (r > 0) Model::levels(k, t, y, y + n, y + 2 * n, f, f_rate);
  }
  // What the next step needs. The signal itself starts from exactly zero.
  ZWANG_INLINE void evaluate_signals() {
    Model::all_signals(k, t, y, y + n, y + 2 * n, lambda, held, signal);
    ZWANG_REGISTERS for (int i = 0; i < Model::signals; ++i) {
      if (i == index) signal[i] = 0;
    }
  }
};

// The signals after an impact or release: their values, the sides of kinks and the branches of their
// integrands. The sides of all others must be what they were.
template <class M>
struct SignalsAfterEvent {
  using Model = typename M::Model;
  using Real = typename M::Real;
  static constexpr int n = M::n, branches = at_least_one(Model::branches);
  Real signal[M::signals], side[M::signals], branch[branches];

  // False: some signal is not clearly off zero, or a watched function or the stop condition jumps over zero.
  template <class Point>
  ZWANG_INLINE bool evaluate(const Point& at, Real contact_tolerance, const Real* sides_before) {
    bool clear = true;
    ZWANG_REGISTERS for (int i = 0; i < Model::signals; ++i) {
      const auto scaled = scaled_signal_at<M>(at.k, at.t, at.y, at.size_q, at.size_v, i);
      signal[i] = scaled.value;
      side[i] = scaled.value < 0 ? Real(1) : Real(-1);
      clear = clear && absolute(scaled.value) > contact_tolerance * scaled.scale;
      if (i < M::first_kink) clear = clear && side[i] == sides_before[i];
    }
    if constexpr (Model::branches > 0) {
      ZWANG_REGISTERS for (int i = 0; i < Model::branches; ++i) {
        branch[i] = Model::branch(at.k, at.t, at.y, at.y + n, at.y + 2 * n, at.lambda, at.held, i);
      }
    }
    return clear;
  }
};

}  // namespace zwang
