// Dense output: the interpolant over a step, a polynomial for each component, of one member or of all lanes
// of a group.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/integrator/dop853_coefficients.h"
#include "kernels/integrator/runge_kutta.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

// The state at stage j of a step, from the rates k of the stages before. Returns its position in the step.
template <class Method, int n, int fed_back, int j, int width, class R>
ZWANG_INLINE R state_at_stage(const R (*k)[width], R h, const R* y, R* there) {
  for (int c = 0; c < n; ++c) {
    const R bend = weighted<PositionWeights<RowWeights<Method, j>>>(k, c, R(0));
    there[c] = y[c] + h * (R(Method::c(j)) * y[n + c] + h * bend);
  }
  for (int c = n; c < fed_back; ++c) there[c] = y[c] + h * weighted<RowWeights<Method, j>>(k, c - n, R(0));
  return R(Method::c(j));
}
template <class Method, int n, int fed_back, int j, int width, class R>
ZWANG_INLINE R state_at_any_stage(int i, const R (*k)[width], R h, const R* y, R* there) {
  if constexpr (j + 1 < Method::stages)
    if (i != j) return state_at_any_stage<Method, n, fed_back, j + 1>(i, k, h, y, there);
  return state_at_stage<Method, n, fed_back, j>(k, h, y, there);
}
// The stages that only the interpolant needs, as StepArrays::complete_interpolant() with one copy of the
// right side `rates(t, y, rate)`, which has `all` numbers.
template <class Method, int n, int fed_back, int all, int width, class R, class F>
ZWANG_INLINE void complete_stages(R (*k)[width], R t, R h, const R* y, const F& rates) {
  if constexpr (Method::stages > Method::last + 1) {
    ZWANG_ROLLED for (int i = Method::last + 1; i < Method::stages; ++i) {
      R there[all], rate[all];
      const R part = state_at_any_stage<Method, n, fed_back, Method::last + 1>(i, k, h, y, there);
      rates(t + part * h, there, rate);
      for (int m = 0; m < width; ++m) k[i][m] = rate[n + m];
    }
  }
}

// The first `size` components of a step.
template <class Method, int n, int size, class R>
struct Interpolant {
  R t, h;
  R start[size], end[size];
  R term[Method::terms][size];
  bool expanded = false;  // the terms are those of a power series, as exact inside the step as at its end

  // From a step whose interpolant stages have been computed.
  template <int fed_back>
  ZWANG_COLD void make(const StepArrays<Method, n, size, fed_back, R>& step, R t0, const R* y) {
    make_from(step.k, t0, step.h, y, step.end);
  }
  // From the rates of its stages, its length, start and end.
  template <int width>
  ZWANG_INLINE void make_from(const R (*k)[width], R t0, R length, const R* from, const R* to) {
    t = t0;
    h = length;
    for (int c = 0; c < size; ++c) {
      start[c] = from[c];
      end[c] = to[c];
    }
    if constexpr (Method::last == Tsit5::last) {
      terms<0, 0, 4>(k);
      // For a constant velocity the weights sum to x.
      for (int c = 0; c < n; ++c) term[0][c] = term[0][c] + h * start[n + c];
    } else {
      for (int c = 0; c < size; ++c) {
        const R delta = end[c] - start[c];
        const R first = h * (c < n ? start[n + c] : k[0][c - n]);
        const R final = h * (c < n ? end[n + c] : k[Method::last][c - n]);
        term[0][c] = delta;
        term[1][c] = first - delta;
        term[2][c] = R(2) * delta - (first + final);
      }
      if constexpr (Method::last == Dop853::last) terms<3, 0, dop853::interpolant_rows>(k);
    }
  }

  // From both ends of a step and the rates there, without those of the positions: cubics, and where the
  // method's interpolant has the terms, positions of degree five through their accelerations.
  ZWANG_COLD void make_between(R t0, R length, const R* from, const R* to, const R* first_rate,
                               const R* last_rate) {
    t = t0;
    h = length;
    for (int c = 0; c < size; ++c) {
      start[c] = from[c];
      end[c] = to[c];
      const R delta = end[c] - start[c];
      const R first = h * (c < n ? from[n + c] : first_rate[c - n]);
      const R final = h * (c < n ? to[n + c] : last_rate[c - n]);
      for (int m = 3; m < Method::terms; ++m) term[m][c] = R(0);
      if constexpr (Method::last == Tsit5::last) {
        term[0][c] = first;
        term[1][c] = R(3) * delta - (R(2) * first + final);
        term[2][c] = first + final - R(2) * delta;
      } else {
        term[0][c] = delta;
        term[1][c] = first - delta;
        term[2][c] = R(2) * delta - (first + final);
      }
      if constexpr (Method::last == Dop853::last) {
        if (c >= n) continue;
        // What the cubic misses of the second derivatives, h^2 a at both ends.
        const R a = square(h) * first_rate[c] - (R(6) * delta - (R(4) * first + R(2) * final));
        const R b = square(h) * last_rate[c] - (R(2) * first + R(4) * final - R(6) * delta);
        term[3][c] = R(0.5) * a;
        term[4][c] = R(0.5) * (b - a);
      }
    }
  }

  ZWANG_INLINE R at(R x, int c) const {
    if constexpr (Method::expands)
      if (expanded) {
        R sum = R(0);
        for (int d = Method::order - 1; d >= 0; --d) sum = x * (term[d][c] + sum);
        return start[c] + sum;
      }
    if constexpr (Method::last == Tsit5::last) {
      return start[c] + x * (term[0][c] + x * (term[1][c] + x * (term[2][c] + x * term[3][c])));
    } else if constexpr (Method::last == Dop853::last) {
      const R u = R(1) - x;
      const R inner = term[3][c] + x * (term[4][c] + u * (term[5][c] + x * term[6][c]));
      return start[c] + x * (term[0][c] + u * (term[1][c] + x * (term[2][c] + u * inner)));
    } else {
      const R u = R(1) - x;
      return start[c] + x * (term[0][c] + u * (term[1][c] + x * term[2][c]));
    }
  }
  ZWANG_DEVICE void at(R x, R* y) const {
    assign<size>(y, [&](int c) { return select(x >= R(1), end[c], at(x, c)); });
  }
  // The slope of dop853's interpolant at the fraction x, per step length.
  ZWANG_INLINE R slope(R x, int c) const {
    static_assert(Method::last == Dop853::last, "the nested form of its interpolant");
    // value = term[m] + factor * value, from the innermost term outwards; the factors alternate.
    R value = term[6][c], rise = R(0);
    ZWANG_UNROLL for (int m = 5; m >= 0; --m) {
      const R factor = m % 2 == 1 ? x : R(1) - x;
      rise = factor * rise + (m % 2 == 1 ? value : -value);
      value = term[m][c] + factor * value;
    }
    return value + x * rise;
  }
  // The largest contribution of the highest term of dop853's interpolant, max x^4 (1 - x)^3 times its
  // coefficient. The interpolants of the other methods are about as exact as their steps.
  ZWANG_INLINE R last_term(int c) const {
    if (expanded) return R(0);
    if constexpr (Method::last == Dop853::last) return R(6912.0 / 823543) * absolute(term[6][c]);
    return R(0);
  }

 private:
  template <int first, int m, int count, int width>
  ZWANG_INLINE void terms(const R (*k)[width]) {
    if constexpr (m < count) {
      using W = DenseWeights<Method, m>;
      for (int c = 0; c < n; ++c) term[first + m][c] = h * h * weighted<PositionWeights<W>>(k, c, R(0));
      for (int c = n; c < size; ++c) term[first + m][c] = h * weighted<W>(k, c - n, R(0));
      terms<first, m + 1, count>(k);
    }
  }
};

// Whether the interpolant is as accurate as its step. Its error is not controlled; on the studies of configs/
// it is about a tenth of the last term, which may therefore be as large as fifty tolerances.
template <int count, class I, class R>
ZWANG_INLINE typename Lanes<R>::Mask interpolant_is_accurate(const I& interpolant, R rtol, R atol) {
  auto accurate = !no_lanes<R>();
  for (int c = 0; c < count; ++c) {
    const R size = maximum(absolute(interpolant.start[c]), absolute(interpolant.end[c]));
    accurate = accurate && (interpolant.last_term(c) <= R(50) * (atol + rtol * size));
  }
  return accurate;
}

// What dop853's interpolant u misses of the motion, to the order of the step itself. Its error e vanishes at
// both ends together with its slope, hence e = x^2 (1 - x)^2 p(x). From y' = f(y) follows, with an error one
// order higher, e' = d(x) = h f(t + x h, u) - u': the defect, sampled at five nodes, determines p of degree
// 4. On double pendulums, at rtol 1e-7 to 1e-11, the steps whose interpolant errs by up to 28 tolerances err
// by at most 2.1 so corrected, their ends by 1.9. Five evaluations serve all outputs of a step; a partial
// step needs twelve for each.
struct CorrectionNodes {
  static constexpr int count = 5;
  // Not symmetric about the middle: symmetric nodes give two conditions for the three coefficients of the
  // even part of p.
  ZWANG_CONSTANT static constexpr double at(int i) {
    constexpr double table[count] = {0.1, 0.28, 0.48, 0.68, 0.86};
    return table[i];
  }
};
template <class Real>
struct CorrectionWeights {
  static constexpr int count = CorrectionNodes::count;
  Real node[count], weight[count][count];  // p_j = sum_i weight[i][j] d_i

  // The inverse of (x^(2+j) (1 - x)^2)' at the nodes, by elimination.
  ZWANG_CONSTANT constexpr CorrectionWeights() : node{}, weight{} {
    double a[count][2 * count] = {};
    for (int i = 0; i < count; ++i) {
      const double x = CorrectionNodes::at(i), u = 1 - x;
      double power = x;  // x^(1+j)
      for (int j = 0; j < count; ++j, power *= x) a[i][j] = power * u * ((2 + j) * u - 2 * x);
      a[i][count + i] = 1;
      node[i] = Real(x);
    }
    for (int c = 0; c < count; ++c) {
      int best = c;
      for (int i = c + 1; i < count; ++i)
        if ((a[i][c] < 0 ? -a[i][c] : a[i][c]) > (a[best][c] < 0 ? -a[best][c] : a[best][c])) best = i;
      for (int j = 0; j < 2 * count; ++j) {
        const double held = a[c][j];
        a[c][j] = a[best][j];
        a[best][j] = held;
      }
      for (int i = 0; i < count; ++i) {
        const double factor = a[i][c] / a[c][c];
        for (int j = 0; i != c && j < 2 * count; ++j) a[i][j] -= factor * a[c][j];
      }
    }
    for (int j = 0; j < count; ++j)
      for (int i = 0; i < count; ++i) weight[i][j] = Real(a[j][count + i] / a[j][j]);
  }
};
template <class Real>
ZWANG_CONSTANT_MEMORY CorrectionWeights<Real> correction_weights{};

template <int size, class R>
struct InterpolantCorrection {
  using Real = typename Lanes<R>::Real;
  static constexpr int count = CorrectionNodes::count;
  R p[count][size];

  ZWANG_INLINE void clear() {
    for (int j = 0; j < count; ++j)
      for (int c = 0; c < size; ++c) p[j][c] = R(0);
  }
  // In the lanes `wanted`; the others keep none. `rates(t, y, rate)` is the right side, size + rest its
  // numbers.
  template <int all, class I, class F>
  ZWANG_INLINE void make(const I& interpolant, const typename Lanes<R>::Mask& wanted, const F& rates) {
    clear();
    ZWANG_ROLLED for (int i = 0; i < count; ++i) {
      const R x = R(correction_weights<Real>.node[i]);
      R there[all], rate[all];
      for (int c = 0; c < size; ++c) there[c] = interpolant.at(x, c);
      rates(interpolant.t + x * interpolant.h, there, rate);
      for (int c = 0; c < size; ++c) {
        const R defect = select(wanted, interpolant.h * rate[c] - interpolant.slope(x, c), R(0));
        ZWANG_UNROLL for (int j = 0; j < count; ++j) {
          p[j][c] = p[j][c] + R(correction_weights<Real>.weight[i][j]) * defect;
        }
      }
    }
  }
  ZWANG_INLINE R at(R x, int c) const {
    return square(x * (R(1) - x)) * (p[0][c] + x * (p[1][c] + x * (p[2][c] + x * (p[3][c] + x * p[4][c]))));
  }
};

}  // namespace zwang
