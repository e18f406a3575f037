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
  typename M::Root root;
  WorkingSet<n, Real> basis;
  Real mass[MassShape<Model>::entries];
  Model::mass(k, t, y, M::v_of(y), M::z_of(y), mass);
  if (!root.factor(mass)) return found;
  basis.count = 0;
  for (int i = 0; i < Model::conditions && basis.count < n; ++i) {
    if (!(held[i] > 0)) continue;
    Real value, rate, rest, a[n], unit[n], along[n], across[n];
    Model::row(k, t, y, M::v_of(y), M::z_of(y), i, value, rate, rest, a);
    root.into(a, unit);
    const Real length = norm<n>(unit), scale = length > 0 ? 1 / length : Real(0);
    for (int c = 0; c < n; ++c) unit[c] *= scale;
    const Real distance = basis.split(unit, across, along);
    if (!(distance > dependent_distance<Real>())) continue;
    found.distance = minimum(found.distance, distance);
    basis.append(i, across, along, distance);
  }
  found.rank = basis.count;
  return found;
}

// Whether the rows that are held are linearly dependent.
template <class M>
ZWANG_DEVICE bool are_dependent(const typename M::Real* k, const typename M::Constraints& constraints,
                                const typename M::Motion& motion) {
  int held = 0;
  for (int i = 0; i < M::r; ++i) held += constraints.held[i] > 0 ? 1 : 0;
  return row_dependence<M>(k, motion.t, motion.y, constraints.held).rank < held;
}

// Whether nothing can change any more: as many independent rows are held as there are coordinates, none of them demands a
// velocity, and the time is in no formula of a model with friction or bounds. What velocities and accelerations there are
// is rounding. `first_rate`: of velocities and further variables.
template <class M>
ZWANG_COLD bool is_locked(const M& me, const typename M::Real* first_rate) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  if constexpr (ModesOf<Model>::autonomous) {
    int held = 0;
    for (int i = 0; i < M::r; ++i) held += me.constraints.held[i] > 0 ? 1 : 0;
    if (held < M::n) return false;
    for (int j = 0; j < M::nz; ++j)
      if (!is_of_orientation<Model>(j) && first_rate[M::n + j] != 0) return false;
    // A row may demand a velocity: what sticks to a belt moves on with it.
    Real still[M::n], value, rate, rest, a[M::n];
    for (int c = 0; c < M::n; ++c) still[c] = 0;
    for (int i = 0; i < M::r; ++i) {
      if (!(me.constraints.held[i] > 0)) continue;
      Model::row(me.k, me.motion.t, me.motion.q(), still, me.motion.z(), i, value, rate, rest, a);
      if (rate != 0) return false;
    }
    return row_dependence<M>(me.k, me.motion.t, me.motion.y, me.constraints.held).rank == M::n;
  }
  return false;
}

// Whether equations and the inequalities that `bear` forces hold condition i at zero without a force of its own: its row
// depends on theirs.
template <class M, class Real>
ZWANG_COLD bool is_held_by_others(const Real* k, const typename M::Constraints& constraints, Real t,
                                  const Real* y, const typename M::Set& bear, int i) {
  using Model = typename M::Model;
  Real held[M::rows];
  copy<M::rows>(constraints.held, held);
  for (int j = 0; j < M::r; ++j)
    if (constraints.conditions[j].standing == Standing::closed && !bear.has(j)) held[j] = 0;
  if constexpr (ModesOf<Model>::any)
    for (int f = 0; f < Model::frictions; ++f)
      for (int c = 0; c < Model::friction_rows(f) && !(held[Model::friction_contact(f)] > 0); ++c)
        held[Model::friction_row(f) + c] = 0;
  held[i] = 0;
  const int rank = row_dependence<M>(k, t, y, held).rank;
  held[i] = 1;
  return row_dependence<M>(k, t, y, held).rank == rank;
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
