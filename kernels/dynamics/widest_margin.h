// The largest margin that several cones and bounds can have at once over an affine space of forces:
//
//     maximise t   under   m_i(w) - t >= |T_i(w)|,     m_i and T_i affine in w
//
// A small second-order cone program, solved along the central path of its logarithmic barrier
// -log((m_i - t)^2 - |T_i|^2): damped Newton steps keep every point inside, from any w. The path is analytic in
// 1/s, the inverse of the barrier's weight, so that its end is extrapolated from points at which the equations are
// still well conditioned. Coordinate-wise search was rejected: it stops at kinks of the smallest margin.
#pragma once

#include "kernels/base/portable.h"

namespace zwang {

template <class Real, int most>
struct WidestMargin {
  // m = offset + factor x[normal], T = (x[tangent[0]], x[tangent[1]]), where x = lambda + sum_j w_j null_j; an index of
  // -1 stands for 0.
  struct Cone {
    Real offset, factor;
    int normal, tangent[2];
  };
  const Real* lambda;
  const Real (*null)[most];
  int dimensions;
  int cones = 0;
  Cone cone[2 * most];

  ZWANG_DEVICE WidestMargin(const Real* particular, const Real (*directions)[most], int count)
      : lambda(particular), null(directions), dimensions(count) {}
  ZWANG_DEVICE void add(Real offset, Real factor, int normal, int first, int second) {
    cone[cones++] = {offset, factor, normal, {first, second}};
  }

  // Writes w; returns t, at most ten times the size of the forces (more than that is no matter).
  ZWANG_COLD Real solve(Real* w) const {
    Real size = 0, z[most + 1], last[most + 1], before[most + 1];
    for (int j = 0; j <= dimensions; ++j) z[j] = last[j] = before[j] = 0;
    for (int j = 0; j < dimensions; ++j) w[j] = 0;
    for (int i = 0; i < cones; ++i) {
      Real m, T[2];
      values(i, z, m, T);
      size = maximum(size, absolute(m) + absolute(T[0]) + absolute(T[1]));
    }
    if (cones == 0 || !(size > 0) || !is_finite(size)) return 0;
    Real& t = z[dimensions];
    t = margin(z) - size;
    constexpr bool single = sizeof(Real) == sizeof(float);
    const int stages = single ? 5 : 9;
    Real weight = 1 / size;
    for (int stage = 0; stage < stages; ++stage, weight *= 8) {
      for (int j = 0; j <= dimensions; ++j) {
        before[j] = last[j];
        last[j] = z[j];
      }
      for (int pass = 0; pass < 40; ++pass) {
        const Real decrement = newton_step(weight, size, z);
        if (!(decrement > Real(single ? 1e-3 : 1e-9))) break;
      }
    }
    // z(s) = z* + a/s + b/s^2 at three weights, each eight times the one before.
    for (int j = 0; j <= dimensions; ++j) {
      const Real fine = (8 * z[j] - last[j]) / 7, coarse = (8 * last[j] - before[j]) / 7;
      const Real found = (64 * fine - coarse) / 63;
      if (is_finite(found)) z[j] = found;
    }
    for (int j = 0; j < dimensions; ++j) w[j] = z[j];
    return margin(z);
  }

  // The smallest margin at w.
  ZWANG_DEVICE Real margin(const Real* w) const {
    Real least = infinity<Real>();
    for (int i = 0; i < cones; ++i) {
      Real m, T[2];
      values(i, w, m, T);
      least = minimum(least, m - sqrt(square(T[0]) + square(T[1])));
    }
    return least;
  }

 private:
  ZWANG_DEVICE Real entry(int at, const Real* w) const {
    if (at < 0) return 0;
    Real x = lambda[at];
    for (int j = 0; j < dimensions; ++j) x += null[j][at] * w[j];
    return x;
  }
  ZWANG_DEVICE void values(int i, const Real* w, Real& m, Real* T) const {
    m = cone[i].offset + cone[i].factor * entry(cone[i].normal, w);
    T[0] = entry(cone[i].tangent[0], w);
    T[1] = entry(cone[i].tangent[1], w);
  }
  // The derivative of an entry by the unknown a; the last unknown is t.
  ZWANG_DEVICE Real rate(int at, int a) const { return at < 0 || a >= dimensions ? Real(0) : null[a][at]; }

  // One damped step for -s t + sum of the barriers; returns its length in the metric of the Hessian. A step of less
  // than one unit stays inside.
  ZWANG_DEVICE Real newton_step(Real weight, Real size, Real* z) const {
    const int count = dimensions + 1;
    Real hessian[most + 1][most + 1], gradient[most + 1];
    for (int a = 0; a < count; ++a) {
      gradient[a] = 0;
      for (int b = 0; b < count; ++b) hessian[a][b] = 0;
    }
    gradient[dimensions] = -weight;
    // Where forces may grow without bound, so may their margins: t stays below ten times their size.
    const Real room = 10 * size - z[dimensions];
    gradient[dimensions] += 1 / room;
    hessian[dimensions][dimensions] += 1 / square(room);
    for (int i = 0; i < cones; ++i) {
      Real m, T[2], slope[most + 1];
      values(i, z, m, T);
      m -= z[dimensions];
      const Real twice = 2 / (square(m) - square(T[0]) - square(T[1]));
      const auto m_rate = [&](int a) {
        return a < dimensions ? cone[i].factor * rate(cone[i].normal, a) : Real(-1);
      };
      const auto T_rate = [&](int c, int a) { return rate(cone[i].tangent[c], a); };
      for (int a = 0; a < count; ++a) {
        slope[a] = twice * (m * m_rate(a) - T[0] * T_rate(0, a) - T[1] * T_rate(1, a));
        gradient[a] -= slope[a];
      }
      for (int a = 0; a < count; ++a)
        for (int b = 0; b <= a; ++b)
          hessian[a][b] +=
              slope[a] * slope[b] -
              twice * (m_rate(a) * m_rate(b) - T_rate(0, a) * T_rate(0, b) - T_rate(1, a) * T_rate(1, b));
    }
    // Directions in which no cone changes stay as they are.
    for (int j = 0; j < dimensions; ++j) hessian[j][j] += Precision<Real>::epsilon / square(size);
    Real step[most + 1], squared = 0;
    for (int a = 0; a < count; ++a) step[a] = -gradient[a];
    if (!solve_symmetric(count, hessian, step)) return 0;
    for (int a = 0; a < count; ++a) squared -= step[a] * gradient[a];
    if (!(squared > 0) || !is_finite(squared)) return 0;
    const Real decrement = sqrt(squared), share = decrement > Real(0.25) ? 1 / (1 + decrement) : Real(1);
    for (int a = 0; a < count; ++a) z[a] += share * step[a];
    return decrement;
  }

  // Cholesky factorisation in the place of the matrix; false: it is not positive definite.
  ZWANG_DEVICE static bool solve_symmetric(int count, Real (&matrix)[most + 1][most + 1], Real* x) {
    for (int j = 0; j < count; ++j) {
      for (int k = 0; k < j; ++k) matrix[j][j] -= square(matrix[j][k]);
      if (!(matrix[j][j] > 0)) return false;
      matrix[j][j] = sqrt(matrix[j][j]);
      for (int i = j + 1; i < count; ++i) {
        for (int k = 0; k < j; ++k) matrix[i][j] -= matrix[i][k] * matrix[j][k];
        matrix[i][j] /= matrix[j][j];
      }
    }
    for (int i = 0; i < count; ++i) {
      for (int k = 0; k < i; ++k) x[i] -= matrix[i][k] * x[k];
      x[i] /= matrix[i][i];
    }
    for (int i = count - 1; i >= 0; --i) {
      for (int k = i + 1; k < count; ++k) x[i] -= matrix[k][i] * x[k];
      x[i] /= matrix[i][i];
    }
    return true;
  }
};

}  // namespace zwang
