// The unconstrained motion as a power series: its terms over one step, degree by degree. The code emitted for
// a model (src/emit/taylor_series.h) computes the terms of the rates; the recurrences for products and
// functions are here.
//
// Terms are scaled by the step length: the term of degree d is (length)^d times the d-th derivative / d!.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/integrator/interpolant.h"
#include "kernels/simd/lane_traits.h"
#include "kernels/simd/sincos.h"

namespace zwang {

// (a b)_d = sum a_j b_(d-j).
template <int d, class R>
ZWANG_INLINE R product_term(const R* a, const R* b) {
  R sum = a[0] * b[d];
  ZWANG_REGISTERS for (int j = 1; j <= d; ++j) { sum = sum + a[j] * b[d - j]; }
  return sum;
}
// The same for an a that is affine in time: a_j = 0 for j > 1.
template <int d, class R>
ZWANG_INLINE R affine_product_term(const R* a, const R* b) {
  return a[0] * b[d] + a[1] * b[d - 1];
}
template <int d, class R>
ZWANG_INLINE R square_term(const R* a) {
  R sum = R(0);
  ZWANG_REGISTERS for (int j = 0; j < (d + 1) / 2; ++j) { sum = sum + a[j] * a[d - j]; }
  sum = sum + sum;
  if constexpr (d % 2 == 0) sum = sum + square(a[d / 2]);
  return sum;
}
// q b = a: q_d = (a_d - sum b_j q_(d-j), j > 0) / b_0.
template <int d, class R>
ZWANG_INLINE R quotient_term(R a, const R* b, const R* quotient) {
  ZWANG_REGISTERS for (int j = 1; j <= d; ++j) { a = a - b[j] * quotient[d - j]; }
  return a / b[0];
}
// s^2 = a.
template <int d, class R>
ZWANG_INLINE R root_term(R a, const R* root) {
  ZWANG_REGISTERS for (int j = 1; j < d; ++j) { a = a - root[j] * root[d - j]; }
  return a / (root[0] + root[0]);
}
// e' = a' e: e_d = sum j a_j e_(d-j) / d.
template <int d, class R>
ZWANG_INLINE R growth_term(const R* a, const R* e) {
  R sum = R(0);
  ZWANG_REGISTERS for (int j = 1; j <= d; ++j) { sum = sum + R(double(j) / d) * a[j] * e[d - j]; }
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

  // Calls `use(degree, terms, rates)` for degrees 1 to order: the terms of y of that degree, and the terms of
  // the rates (without those of the positions) of one degree less.
  template <class Use>
  ZWANG_INLINE static void for_each_term(const R* k, R t, R h, const R* y, const Use& use) {
    Memory memory;
    term<0>(k, t, h, y, memory, use);
  }

 private:
  // Terms of intermediate results, filled by the emitted code.
  struct Memory {
    R u[at_least_one(Series::memories)][order];
  };
  template <int d, class Use>
  ZWANG_INLINE static void term(const R* k, R t, R h, const R* y, Memory& memory, const Use& use) {
    if constexpr (d < order) {
      R rate[size - n], next[size];
      Series::template rates<d>(k, t, h, y, y + n, y + 2 * n, memory, rate);
      const R part = R(1.0 / (d + 1)) * h;
      ZWANG_REGISTERS for (int c = 0; c < n; ++c) { next[c] = part * y[n + c]; }
      ZWANG_REGISTERS for (int c = n; c < size; ++c) { next[c] = part * rate[c - n]; }
      use(d + 1, next, rate);
      term<d + 1>(k, t, h, next, memory, use);
    }
  }
};

// A step of a lane without active conditions: its end, the rates there, its midpoint, and the last two terms.
template <class Method, int n, int size, int fed_back, class R>
struct SeriesStep {
  static constexpr int order = Method::order, rates = size - n;
  R end[size], rate[rates], middle[fed_back];
  R last_term[size], previous_term[size];  // of degrees order and order - 1

  ZWANG_INLINE void take(const R* k, R t, R h, const R* y) {
    using Real = typename Lanes<R>::Real;
    ZWANG_REGISTERS for (int c = 0; c < size; ++c) { end[c] = y[c]; }
    ZWANG_REGISTERS for (int c = 0; c < fed_back; ++c) { middle[c] = y[c]; }
    ZWANG_REGISTERS for (int m = 0; m < rates; ++m) { rate[m] = R(0); }
    Real half = 1;
    const auto add = [&](int degree, const R* terms, const R* rate_terms) {
      half *= Real(0.5);
      ZWANG_REGISTERS for (int c = 0; c < size; ++c) { end[c] = end[c] + terms[c]; }
      ZWANG_REGISTERS for (int c = 0; c < fed_back; ++c) { middle[c] = middle[c] + R(half) * terms[c]; }
      ZWANG_REGISTERS for (int m = 0; m < rates; ++m) { rate[m] = rate[m] + rate_terms[m]; }
      if (degree == order - 1) {
        ZWANG_REGISTERS for (int c = 0; c < size; ++c) { previous_term[c] = terms[c]; }
      }
      if (degree == order) {
        ZWANG_REGISTERS for (int c = 0; c < size; ++c) { last_term[c] = terms[c]; }
      }
    };
    Expansion<Method, n, size, R>::for_each_term(k, t, h, y, add);
  }

  // The squared error in units of the tolerance, as StepArrays::squared_error(). The last term is an upper
  // estimate of the truncated rest. Every other term of a series may vanish, so the term before it is
  // included too.
  template <int controlled>
  ZWANG_INLINE R squared_error(const R* y, R rtol, R atol) const {
    using Real = typename Lanes<R>::Real;
    R sum = R(0);
    ZWANG_REGISTERS for (int c = 0; c < controlled; ++c) {
      const R scale = rough_inverse(atol + rtol * maximum(absolute(y[c]), absolute(end[c])));
      sum = sum + square(last_term[c] * scale) + square(R(Real(1.0 / 6)) * previous_term[c] * scale);
    }
    return sum * R(Real(1.0 / controlled));
  }
};

// All terms of a step, of the first `kept` numbers.
template <class Method, int n, int size, class R, int kept = size>
struct SeriesTerms {
  R start[kept], term[Method::order][kept];

  ZWANG_INLINE void take(const R* k, R t, R h, const R* y) {
    ZWANG_REGISTERS for (int c = 0; c < kept; ++c) { start[c] = y[c]; }
    const auto keep = [&](int degree, const R* terms, const R*) {
      ZWANG_REGISTERS for (int c = 0; c < kept; ++c) { term[degree - 1][c] = terms[c]; }
    };
    Expansion<Method, n, size, R>::for_each_term(k, t, h, y, keep);
  }
  // The first `count` numbers at the fraction x of the step.
  template <int count>
  ZWANG_INLINE void at(R x, R* y) const {
    ZWANG_REGISTERS for (int c = 0; c < count; ++c) {
      R sum = R(0);
      ZWANG_REGISTERS for (int d = Method::order - 1; d >= 0; --d) { sum = x * (term[d][c] + sum); }
      y[c] = start[c] + sum;
    }
  }
};

// As step_factor(): approximately error^(-1/order), by repeated square roots.
template <class Method, class R>
ZWANG_INLINE R series_factor(R squared_error) {
  using Real = typename Lanes<R>::Real;
  R root = rough_16th(squared_error);
  if constexpr (Method::order >= 12) root = sqrt(root);
  const R valid = if_less(squared_error, infinity<R>(), R(Real(0.9)) * root, R(Method::shrink));
  return minimum(maximum(valid, R(Method::shrink)), R(Method::grow));
}

// Dense output of one member's step by power series, and the rates at its end.
template <class Method, int n, int size, class Real>
ZWANG_COLD void expand(const Real* k, Real t, Real h, const Real* y,
                       Interpolant<Method, n, size, Real>& interpolant, Real* last_rate) {
  interpolant.t = t;
  interpolant.h = h;
  interpolant.expanded = true;
  for (int c = 0; c < size; ++c) interpolant.start[c] = interpolant.end[c] = y[c];
  for (int m = 0; m < size - n; ++m) last_rate[m] = 0;
  const auto keep = [&](int degree, const Real* terms, const Real* rates) {
    for (int c = 0; c < size; ++c) {
      interpolant.term[degree - 1][c] = terms[c];
      interpolant.end[c] += terms[c];
    }
    for (int m = 0; m < size - n; ++m) last_rate[m] += rates[m];
  };
  Expansion<Method, n, size, Real>::for_each_term(k, t, h, y, keep);
}

}  // namespace zwang
