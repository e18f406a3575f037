// The multipliers inside cones and bounds that are nearest to given ones, among all that move alike:
//
//     minimise |x - lambda|   over x = lambda + sum_m w_m null_m   with   |x_T| <= factor x_N,   least <= x_i <= most
//
// Dykstra's alternating projections onto the cones and onto the space of x. The projection onto a cone is exact; one
// onto its tangent plane, with the corrections of earlier planes kept, does not converge to the nearest point. Where the
// space is a line, each cone leaves an interval of it, and the nearest point is known at once: projections may take
// thousands of passes where a cone and the line meet at a small angle, as of a wedge that is just self-locking.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/dynamics/dense_solve.h"

namespace zwang {

template <class Real, int most>
struct NearestInCones {
  // A cone whose `tangents` entries begin at `tangent`; without any, an interval of entry `normal`.
  struct Cone {
    int normal, tangent, tangents;
    Real factor, least, largest;
  };
  int count;  // entries
  const Real* lambda;
  const NullSpace<Real, most>& null;
  int cones = 0;
  Cone cone[most];

  ZWANG_DEVICE NearestInCones(int entries, const Real* given, const NullSpace<Real, most>& space)
      : count(entries), lambda(given), null(space) {}
  ZWANG_DEVICE void add_cone(int normal, int tangent, int tangents, Real factor) {
    cone[cones++] = {normal, tangent, tangents, factor, 0, infinity<Real>()};
  }
  ZWANG_DEVICE void add_interval(int at, Real least, Real largest) {
    cone[cones++] = {at, -1, 0, 0, least, largest};
  }

  ZWANG_DEVICE bool contains(const Real* x) const {
    for (int i = 0; i < cones; ++i) {
      const Cone& of = cone[i];
      Real force = 0;
      for (int c = 0; c < of.tangents; ++c) force += square(x[of.tangent + c]);
      if (of.tangents > 0 ? !(sqrt(force) <= of.factor * x[of.normal])
                          : !(x[of.normal] >= of.least && x[of.normal] <= of.largest))
        return false;
    }
    return true;
  }

  ZWANG_COLD void solve(Real* x, int passes = 2000) const {
    if (null.count == 1) {
      solve_on_line(x);
      return;
    }
    Real correction[most], y[most], along[most];
    for (int j = 0; j < count; ++j) {
      x[j] = lambda[j];
      correction[j] = 0;
    }
    for (int pass = 0; pass < passes && null.count > 0; ++pass) {
      Real moved = 0, size = 0;
      for (int j = 0; j < count; ++j) y[j] = x[j] + correction[j];
      for (int i = 0; i < cones; ++i) clip(cone[i], y);
      for (int j = 0; j < count; ++j) {
        correction[j] += x[j] - y[j];
        y[j] -= lambda[j];
      }
      for (int m = 0; m < null.count; ++m) {
        along[m] = 0;
        for (int j = 0; j < count; ++j) along[m] += null.vector[m][j] * y[j];
      }
      for (int j = 0; j < count; ++j) {
        Real next = lambda[j];
        for (int m = 0; m < null.count; ++m) next += along[m] * null.vector[m][j];
        moved = maximum(moved, absolute(next - x[j]));
        size = maximum(size, absolute(next));
        x[j] = next;
      }
      if (!(moved > 4 * Precision<Real>::epsilon * size)) break;
    }
  }

 private:
  ZWANG_COLD void solve_on_line(Real* x) const {
    const Real* w = null.vector[0];
    Real least = -infinity<Real>(), largest = infinity<Real>();
    for (int i = 0; i < cones; ++i) clip_line(cone[i], w, least, largest);
    // Where nothing is left, a point between the cones, which is then found not to be admissible.
    const Real t = least > largest ? (least + largest) / 2 : minimum(maximum(Real(0), least), largest);
    for (int j = 0; j < count; ++j) x[j] = lambda[j] + (is_finite(t) ? t * w[j] : Real(0));
  }
  // Reduces the interval of t in lambda + t w to the part inside a cone.
  ZWANG_DEVICE void clip_line(const Cone& of, const Real* w, Real& least, Real& largest) const {
    const Real n = lambda[of.normal], along = w[of.normal];
    const auto bound = [&](Real from, Real slope) {  // from + t slope >= 0
      if (slope > 0) least = maximum(least, -from / slope);
      if (slope < 0) largest = minimum(largest, -from / slope);
    };
    if (of.tangents == 0) {
      bound(n - of.least, along);
      if (of.largest < infinity<Real>()) bound(of.largest - n, -along);
      return;
    }
    bound(n, along);
    if (of.tangents == 1) {
      bound(of.factor * n - lambda[of.tangent], of.factor * along - w[of.tangent]);
      bound(of.factor * n + lambda[of.tangent], of.factor * along + w[of.tangent]);
      return;
    }
    // |T|^2 - (factor N)^2 = a t^2 + 2 b t + c <= 0.
    Real a = -square(of.factor * along), b = -square(of.factor) * n * along, c = -square(of.factor * n);
    for (int k = 0; k < 2; ++k) {
      a += square(w[of.tangent + k]);
      b += lambda[of.tangent + k] * w[of.tangent + k];
      c += square(lambda[of.tangent + k]);
    }
    const Real root = sqrt(maximum(square(b) - a * c, Real(0))), far = b > 0 ? -b - root : root - b;
    const Real one = far / a, other = far == 0 ? Real(0) : c / far;
    if (a > 0) {
      least = maximum(least, minimum(one, other));
      largest = minimum(largest, maximum(one, other));
    } else if (a < 0) {  // it ends in one nappe, where N grows
      if (along > 0) least = maximum(least, maximum(one, other));
      if (along < 0) largest = minimum(largest, minimum(one, other));
    } else {
      bound(-c, -2 * b);
    }
  }

  // The nearest point of the cone, which may be its tip.
  ZWANG_DEVICE static void clip(const Cone& of, Real* y) {
    Real& normal = y[of.normal];
    if (of.tangents == 0) {
      normal = maximum(minimum(normal, of.largest), of.least);
      return;
    }
    Real force = 0;
    for (int c = 0; c < of.tangents; ++c) force += square(y[of.tangent + c]);
    force = sqrt(force);
    if (force <= of.factor * normal) return;
    normal = maximum((normal + of.factor * force) / (1 + square(of.factor)), Real(0));
    for (int c = 0; c < of.tangents; ++c)
      y[of.tangent + c] *= force > 0 ? of.factor * normal / force : Real(0);
  }
};

}  // namespace zwang
