// The multipliers inside cones and bounds that are nearest to given ones, among all that move alike:
//
//     minimise |x - lambda|   over x = lambda + sum_m w_m null_m   with   |x_T| <= factor x_N,   least <= x_i <= most
//
// Dykstra's alternating projections onto the cones and onto the space of x. The projection onto a cone is exact; one
// onto its tangent plane, with the corrections of earlier planes kept, does not converge to the nearest point.
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

  ZWANG_COLD void solve(Real* x, int passes = 2000) const {
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
