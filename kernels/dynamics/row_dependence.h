// How close the held rows are to linear dependence, for models in which they may become dependent: linkages
// that close a loop, contacts that enclose a body. The reference is src/reference/singular_passage.cpp.
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/mass.h"
#include "kernels/dynamics/member.h"

namespace zwang {

template <class Real>
struct RowDependence {
  int rank;
  // The smallest distance of an independent unit row from the span of the rows before it, in the mass metric.
  Real distance;
};

// Unit rows closer than this to the span of the others are dependent: rounding over this distance would leave
// no digit to tell two branches of the motion apart.
template <class Real>
ZWANG_INLINE Real dependent_distance() {
  return sizeof(Real) == sizeof(double) ? Real(1e-6) : Real(1e-3);
}

// Gram-Schmidt over the held rows; dependent rows are left out of the basis.
template <class M, class Real>
ZWANG_COLD RowDependence<Real> row_dependence(const Real* k, Real t, const Real* y, const Real* held) {
  using Model = typename M::Model;
  constexpr int n = M::n;
  RowDependence<Real> found{0, 1};
  typename M::Qp qp;
  Real mass[MassShape<Model>::entries];
  Model::mass(k, t, y, M::v_of(y), M::z_of(y), mass);
  if (!qp.root.factor(mass)) return found;
  for (int i = 0; i < n; ++i) qp.free[i] = 0;
  qp.set.count = 0;
  for (int i = 0; i < Model::conditions; ++i) {
    if (!(held[i] > 0)) continue;
    Real value, rate, rest, a[n], along[n], across[n];
    Model::row(k, t, y, M::v_of(y), M::z_of(y), i, value, rate, rest, a);
    const int row = qp.count;
    qp.add_row(i, a, Real(0), true);
    if (qp.set.count == n) continue;
    const Real distance = qp.set.split(qp.unit[row], across, along);
    if (!(distance > dependent_distance<Real>())) continue;
    found.distance = minimum(found.distance, distance);
    qp.set.append(row, across, along, distance);
  }
  found.rank = qp.set.count;
  return found;
}

// The smallest pivot of Phi over its diagonal entry: the square of such a distance, in the order of the
// elimination.
template <class M, class R>
ZWANG_INLINE R pivot_share(const R* k, R t, const R* y, const R* held) {
  using Model = typename M::Model;
  if constexpr (Model::masked)
    return Model::pivot_share(k, t, y, M::v_of(y), M::z_of(y), held);
  else
    return square(row_dependence<M>(k, t, y, held).distance);
}

}  // namespace zwang
