// Small dense linear algebra with sizes known at compile time: the Cholesky factor of the mass matrix and
// orthonormal bases of sets of constraint rows.
#pragma once

#include "kernels/base/portable.h"

namespace zwang {

template <int n, class Real>
ZWANG_INLINE Real dot(const Real* a, const Real* b) {
  Real sum = 0;
  unrolled<n>([&](int i) { sum += a[i] * b[i]; });
  return sum;
}
template <int n, class Real>
ZWANG_INLINE Real norm(const Real* a) {
  return sqrt(dot<n>(a, a));
}
template <int n, class Real>
ZWANG_INLINE void copy(const Real* from, Real* to) {
  assign<n>(to, [&](int i) { return from[i]; });
}
template <int n, class Real>
ZWANG_INLINE void add_multiple(Real factor, const Real* x, Real* y) {
  assign<n>(y, [&](int i) { return y[i] + factor * x[i]; });
}
template <int n, class Real>
ZWANG_INLINE bool all_finite(const Real* x) {
  Real sum = 0;
  unrolled<n>([&](int i) { sum += x[i] - x[i]; });
  return sum == 0;
}

// Square roots of the mass matrix: M = L L^T. They store 1 / L_ii: a product takes less time than a quotient, and on a
// GPU a quotient whose numerator is zero, as for most numbers of a row, calls a function for exceptional operands.
//   factor(mass)    false if M is not positive
//   into(a, u)      u = L^-1 a: a row (or force) in the mass metric. Lengths in this metric do not depend on the
//                   coordinates' units.
//   back(u, x)      x = L^-T u: from the mass metric to coordinates
//   solve(f, x)     x = M^-1 f

// Of a diagonal M; `stride`: the distance of its diagonal entries in memory.
template <int n, int stride, class Real>
struct DiagonalRoot {
  Real inverse[n];  // 1 / L_ii

  ZWANG_DEVICE bool factor(const Real* mass) {
    bool positive = true;
    for (int i = 0; i < n; ++i) {
      positive = positive && mass[i * stride] > 0;
      inverse[i] = 1 / sqrt(mass[i * stride]);
    }
    return positive;
  }
  ZWANG_DEVICE void into(const Real* a, Real* u) const {
    assign<n>(u, [&](int i) { return a[i] * inverse[i]; });
  }
  ZWANG_DEVICE void back(const Real* u, Real* x) const { into(u, x); }
  ZWANG_DEVICE void solve(const Real* force, Real* x) const {
    assign<n>(x, [&](int i) { return force[i] * inverse[i] * inverse[i]; });
  }
};

// Of any M: L is lower triangular, row-major (Cholesky).
template <int n, bool diagonal, class Real>
struct MassRoot {
  Real l[n * n];  // below the diagonal
  Real inverse[n];

  ZWANG_DEVICE bool factor(const Real* mass) {
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j <= i; ++j) {
        Real sum = mass[i * n + j];
        for (int k = 0; k < j; ++k) sum -= l[i * n + k] * l[j * n + k];
        if (i == j) {
          if (!(sum > 0)) return false;
          inverse[i] = 1 / sqrt(sum);
        } else {
          l[i * n + j] = sum * inverse[j];
        }
      }
    }
    return true;
  }
  ZWANG_DEVICE void into(const Real* a, Real* u) const {
    for (int i = 0; i < n; ++i) {
      Real sum = a[i];
      for (int k = 0; k < i; ++k) sum -= l[i * n + k] * u[k];
      u[i] = sum * inverse[i];
    }
  }
  ZWANG_DEVICE void back(const Real* u, Real* x) const {
    for (int i = n - 1; i >= 0; --i) {
      Real sum = u[i];
      for (int k = i + 1; k < n; ++k) sum -= l[k * n + i] * x[k];
      x[i] = sum * inverse[i];
    }
  }
  ZWANG_DEVICE void solve(const Real* force, Real* x) const {
    Real u[n];
    into(force, u);
    back(u, x);
  }
};
template <int n, class Real>
struct MassRoot<n, true, Real> : DiagonalRoot<n, n + 1, Real> {};

// Independent unit rows u_1 .. u_k and an orthonormal basis of their span: u_j = sum_i R(i, j) q_i.
template <int n, class Real>
struct WorkingSet {
  int count = 0;
  int row[n];
  Real q[n][n];
  Real r[n][n];

  // The component of u orthogonal to the span (`rest`) and the coefficients in the basis (`along`).
  // Gram-Schmidt is applied twice, which is enough for orthogonality to rounding. Returns the norm of `rest`.
  ZWANG_DEVICE Real split(const Real* u, Real* rest, Real* along) const {
    copy<n>(u, rest);
    for (int j = 0; j < count; ++j) along[j] = 0;
    for (int pass = 0; pass < 2; ++pass)
      for (int j = 0; j < count; ++j) {
        const Real part = dot<n>(q[j], rest);
        add_multiple<n>(-part, q[j], rest);
        along[j] += part;
      }
    return norm<n>(rest);
  }
  ZWANG_DEVICE void append(int which, const Real* rest, const Real* along, Real distance) {
    for (int j = 0; j < count; ++j) r[j][count] = along[j];
    r[count][count] = distance;
    for (int i = 0; i < n; ++i) q[count][i] = rest[i] / distance;
    row[count++] = which;
  }
  // x = R^-1 y
  ZWANG_DEVICE void solve(const Real* y, Real* x) const {
    for (int j = count - 1; j >= 0; --j) {
      Real sum = y[j];
      for (int i = j + 1; i < count; ++i) sum -= r[j][i] * x[i];
      x[j] = sum / r[j][j];
    }
  }
  // y = R^-T x
  ZWANG_DEVICE void solve_transposed(const Real* x, Real* y) const {
    for (int j = 0; j < count; ++j) {
      Real sum = x[j];
      for (int i = 0; i < j; ++i) sum -= r[i][j] * y[i];
      y[j] = sum / r[j][j];
    }
  }
};

}  // namespace zwang
