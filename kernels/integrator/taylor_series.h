// The motion with nothing held as a power series: its terms over one step, order by order. What is emitted for a model
// (src/emit/taylor_series.h) gives those of its rates; sums over earlier terms, as products and functions need them, are here.
//
// Terms are those of a step's length: that of degree d stands for (length)^d times the derivative / d!.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/integrator/runge_kutta.h"
#include "kernels/simd/pack.h"
#include "kernels/simd/sincos.h"

namespace zwang {

// (a b)_d = sum a_j b_(d-j).
template <int d, class R>
ZWANG_INLINE R product_term(const R* a, const R* b) {
  R sum = a[0] * b[d];
  ZWANG_REGISTERS for (int j = 1; j <= d; ++j) sum = sum + a[j] * b[d - j];
  return sum;
}
// The same for an a that has no terms beyond the second.
template <int d, class R>
ZWANG_INLINE R affine_product_term(const R* a, const R* b) {
  return a[0] * b[d] + a[1] * b[d - 1];
}
template <int d, class R>
ZWANG_INLINE R square_term(const R* a) {
  R sum = R(0);
  ZWANG_REGISTERS for (int j = 0; j < (d + 1) / 2; ++j) sum = sum + a[j] * a[d - j];
  sum = sum + sum;
  if constexpr (d % 2 == 0) sum = sum + square(a[d / 2]);
  return sum;
}
// q b = a: q_d = (a_d - sum b_j q_(d-j), j > 0) / b_0.
template <int d, class R>
ZWANG_INLINE R quotient_term(R a, const R* b, const R* quotient) {
  ZWANG_REGISTERS for (int j = 1; j <= d; ++j) a = a - b[j] * quotient[d - j];
  return a / b[0];
}
// s^2 = a.
template <int d, class R>
ZWANG_INLINE R root_term(R a, const R* root) {
  ZWANG_REGISTERS for (int j = 1; j < d; ++j) a = a - root[j] * root[d - j];
  return a / (root[0] + root[0]);
}
// e' = a' e: e_d = sum j a_j e_(d-j) / d.
template <int d, class R>
ZWANG_INLINE R growth_term(const R* a, const R* e) {
  R sum = R(0);
  ZWANG_REGISTERS for (int j = 1; j <= d; ++j) sum = sum + R(double(j) / d) * a[j] * e[d - j];
  return sum;
}
template <int d, class R>
ZWANG_INLINE R even_growth_term(const R* a, const R* e) {
  return R(1.0 / d) * a[1] * e[d - 1];
}
// s' = a' c, c' = -a' s.
template <int d, class R>
ZWANG_INLINE void turn_term(const R* a, R* sine, R* cosine) {
  sine[d] = growth_term<d>(a, cosine);
  cosine[d] = -growth_term<d>(a, sine);
}
template <int d, class R>
ZWANG_INLINE void even_turn_term(const R* a, R* sine, R* cosine) {
  const R turn = R(1.0 / d) * a[1];
  sine[d] = turn * cosine[d - 1];
  cosine[d] = -turn * sine[d - 1];
}

template <class R>
ZWANG_INLINE void sine_and_cosine(R angle, R& sine, R& cosine) {
  if constexpr (ZWANG_FUSES && same_type<R, double>) {
    sine = sin_reduced(angle, 0);
    cosine = sin_reduced(angle, 1);
    if (absolute(angle) < moderate_angle) return;
  }
  sine = sin(angle);
  cosine = cos(angle);
}

template <class Method, int n, int size, class R>
struct Expansion {
  using Series = typename Method::Series;
  static constexpr int order = Method::order;

  // Shows the terms of y from the second on, and those of the rates (of all but the positions) beside them, to `see(degree,
  // terms, rates)`: the terms of that degree, the rates of one less.
  template <class See>
  ZWANG_INLINE static void go(const R* k, R t, R h, const R* y, const See& see) {
    Memory memory;
    term<0>(k, t, h, y, memory, see);
  }

 private:
  struct Memory {
    R u[at_least_one(Series::memories)][order];
  };
  template <int d, class See>
  ZWANG_INLINE static void term(const R* k, R t, R h, const R* y, Memory& memory, const See& see) {
    if constexpr (d < order) {
      R rate[size - n], next[size];
      Series::template rates<d>(k, t, h, y, y + n, y + 2 * n, memory, rate);
      const R part = R(1.0 / (d + 1)) * h;
      ZWANG_REGISTERS for (int c = 0; c < n; ++c) next[c] = part * y[n + c];
      ZWANG_REGISTERS for (int c = n; c < size; ++c) next[c] = part * rate[c - n];
      see(d + 1, next, rate);
      term<d + 1>(k, t, h, next, memory, see);
    }
  }
};

// A step of a lane with nothing held: its end, the rates there, half-way, and how large the last terms are.
template <class Method, int n, int size, int fed_back, class R>
struct SeriesStep {
  static constexpr int order = Method::order, kept = size - n;
  R end[size], rate[kept], middle[fed_back];
  R last[size], before[size];  // the last term, and the one before it

  ZWANG_INLINE void take(const R* k, R t, R h, const R* y) {
    using Real = typename Lanes<R>::Real;
    ZWANG_REGISTERS for (int c = 0; c < size; ++c) end[c] = y[c];
    ZWANG_REGISTERS for (int c = 0; c < fed_back; ++c) middle[c] = y[c];
    ZWANG_REGISTERS for (int m = 0; m < kept; ++m) rate[m] = R(0);
    Real half = 1;
    Expansion<Method, n, size, R>::go(k, t, h, y, [&](int degree, const R* terms, const R* rates) {
      half *= Real(0.5);
      ZWANG_REGISTERS for (int c = 0; c < size; ++c) end[c] = end[c] + terms[c];
      ZWANG_REGISTERS for (int c = 0; c < fed_back; ++c) middle[c] = middle[c] + R(half) * terms[c];
      ZWANG_REGISTERS for (int m = 0; m < kept; ++m) rate[m] = rate[m] + rates[m];
      if (degree == order - 1) ZWANG_REGISTERS for (int c = 0; c < size; ++c) before[c] = terms[c];
      if (degree == order) ZWANG_REGISTERS for (int c = 0; c < size; ++c) last[c] = terms[c];
    });
  }

  // The square of the error in units of the tolerance, as StepArrays::squared_error(): the last term taken for what is left
  // out, which is smaller. Every other term may happen to vanish: so the one before it has a say too.
  template <int judged>
  ZWANG_INLINE R squared_error(const R* y, R rtol, R atol) const {
    using Real = typename Lanes<R>::Real;
    R sum = R(0);
    ZWANG_REGISTERS for (int c = 0; c < judged; ++c) {
      const R scale = rough_inverse(atol + rtol * maximum(absolute(y[c]), absolute(end[c])));
      sum = sum + square(last[c] * scale) + square(R(Real(1.0 / 6)) * before[c] * scale);
    }
    return sum * R(Real(1.0 / judged));
  }
};

// All terms of a member's step.
template <class Method, int n, int size, class Real>
struct SeriesTerms {
  Real start[size], term[Method::order][size];

  ZWANG_INLINE void take(const Real* k, Real t, Real h, const Real* y) {
    ZWANG_REGISTERS for (int c = 0; c < size; ++c) start[c] = y[c];
    Expansion<Method, n, size, Real>::go(k, t, h, y, [&](int degree, const Real* terms, const Real*) {
      ZWANG_REGISTERS for (int c = 0; c < size; ++c) term[degree - 1][c] = terms[c];
    });
  }
  // The first `count` numbers at that part of the step.
  template <int count>
  ZWANG_INLINE void at(Real x, Real* y) const {
    ZWANG_REGISTERS for (int c = 0; c < count; ++c) {
      Real sum = 0;
      ZWANG_REGISTERS for (int d = Method::order - 1; d >= 0; --d) sum = x * (term[d][c] + sum);
      y[c] = start[c] + sum;
    }
  }
};

// As step_factor(): nearly error^(-1/order), in steps of the square root.
template <class Method, class R>
ZWANG_INLINE R series_factor(R squared_error) {
  using Real = typename Lanes<R>::Real;
  R root = rough_16th(squared_error);
  if constexpr (Method::order >= 12) root = sqrt(root);
  const R valid = if_less(squared_error, infinity<R>(), R(Real(0.9)) * root, R(Method::shrink));
  return minimum(maximum(valid, R(Method::shrink)), R(Method::grow));
}

// The whole step of one member, and the rates at its end.
template <class Method, int n, int size, class Real>
ZWANG_COLD void expand(const Real* k, Real t, Real h, const Real* y,
                       Interpolant<Method, n, size, Real>& interpolant, Real* last_rate) {
  interpolant.t = t;
  interpolant.h = h;
  interpolant.expanded = true;
  for (int c = 0; c < size; ++c) interpolant.start[c] = interpolant.end[c] = y[c];
  for (int m = 0; m < size - n; ++m) last_rate[m] = 0;
  Expansion<Method, n, size, Real>::go(k, t, h, y, [&](int degree, const Real* terms, const Real* rates) {
    for (int c = 0; c < size; ++c) {
      interpolant.term[degree - 1][c] = terms[c];
      interpolant.end[c] += terms[c];
    }
    for (int m = 0; m < size - n; ++m) last_rate[m] += rates[m];
  });
}

}  // namespace zwang
