// Multipliers of contacts with friction whose rows are linearly dependent, as of a box on two corners. Those that move
// nothing may be added: the admissible ones, within their cones, nearest to those of contacts with equal compliance
// represent them [friction-9]. Stick ends when no admissible ones are left [friction-10]: that is where the largest
// possible value of the smallest margin falls to zero. The reference is src/laws/cone_multipliers.cpp.
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/dense_solve.h"
#include "kernels/dynamics/mass.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/nearest_in_cones.h"
#include "kernels/dynamics/shared_load.h"
#include "kernels/dynamics/widest_margin.h"

namespace zwang {

// Multipliers that move alike: lambda + sum_k w_k null_k, with orthonormal null_k (find_null). `lambda` are those of equal
// compliance [friction-15].
template <class M>
struct DependentMultipliers {
  using Model = typename M::Model;
  using Real = typename M::Real;
  static constexpr int rows = M::rows, n = M::n;
  bool valid = false, dependent = false;
  int count = 0;
  int which[rows];   // conditions that are held
  int row_of[rows];  // by condition; -1: not held
  Real lambda[rows];
  typename M::Root root;
  Real free[n], push[rows][n];  // accelerations without the rows; forces per unit of each multiplier
  Real rate[rows];              // of each row: f'

  ZWANG_COLD DependentMultipliers(const Real* k, const typename M::Constraints& constraints, Real t,
                                  const Real* y)
      : DependentMultipliers(k, constraints.held, t, y) {}
  ZWANG_COLD DependentMultipliers(const Real* k, const Real* held, Real t, const Real* y) {
    const Real *q = y, *v = M::v_of(y), *z = M::z_of(y);
    Real mass[MassShape<Model>::entries], force[n], u[rows][n], pushed[rows][n], right[rows];
    bool pushes_alike[rows];
    Model::mass(k, t, q, v, z, mass);
    if (!root.factor(mass)) return;
    Model::applied(k, t, q, v, z, force);
    root.solve(force, free);
    for (int i = 0; i < M::r; ++i) {
      row_of[i] = -1;
      if (!(held[i] > 0)) continue;
      Real value, rest, a[n];
      Model::row(k, t, q, v, z, i, value, rate[count], rest, a);
      right[count] = dot<n>(a, free) + rest;
      root.into(a, u[count]);
      copy<n>(a, push[count]);
      pushes_alike[count] = !add_drag(k, t, y, i, push[count]);
      if (!pushes_alike[count]) root.into(push[count], pushed[count]);
      row_of[i] = count;
      which[count++] = i;
    }
    // Between projections, dependent rows are so up to the tolerance of the integration only.
    SharedLoad<Real, rows, n> shared;
    shared.find_span(count, u, sqrt(nearly_dependent()));
    dependent = shared.rank < count;
    shared.solve(count, pushes_alike, pushed, right, lambda);
    valid = true;
  }

  ZWANG_INLINE static Real nearly_dependent() { return Real(100) * Precision<Real>::tie; }
  ZWANG_COLD void find_null(NullSpace<Real, rows>& null) const {
    null.count = 0;
    if (!dependent) return;
    Real pushed[rows][n];
    for (int j = 0; j < count; ++j) root.into(push[j], pushed[j]);
    null.find(count, pushed, sqrt(nearly_dependent()));
  }

  // Whether the multiplier at place j may change without moving anything. Without a dependence at this state all count:
  // the rows are nearly dependent.
  ZWANG_DEVICE static bool is_shared(const NullSpace<Real, rows>& null, int j) {
    constexpr Real negligible = sizeof(Real) == sizeof(float) ? Real(1e-3) : Real(1e-6);
    bool shared = null.count == 0;
    for (int m = 0; m < null.count; ++m) shared = shared || absolute(null.vector[m][j]) > negligible;
    return shared;
  }
  // Whether the force of condition i, the friction on it included, is not unique.
  ZWANG_DEVICE bool shares_load(const NullSpace<Real, rows>& null, int i) const {
    if (row_of[i] < 0) return false;
    const int f = Model::friction_of(i);
    bool shared = is_shared(null, row_of[i]);
    for (int c = 0; f >= 0 && c < Model::friction_rows(f); ++c) {
      const int tangent = row_of[Model::friction_row(f) + c];
      shared = shared || (tangent >= 0 && is_shared(null, tangent));
    }
    return shared;
  }

  // The accelerations with the multipliers `by_condition`.
  ZWANG_DEVICE void accelerations(const Real* by_condition, Real* a) const {
    Real force[n];
    for (int i = 0; i < n; ++i) force[i] = 0;
    for (int j = 0; j < count; ++j) add_multiple<n>(by_condition[which[j]], push[j], force);
    root.solve(force, a);
    for (int i = 0; i < n; ++i) a[i] = free[i] - a[i];
  }

  // cone d A_T of a contact that slips; false where it does not. In space d is the direction of the slip,
  // shifted by its rounding, on the side on which it was last known (slip_direction() in
  // src/system/friction.cpp).
  ZWANG_DEVICE static bool add_drag(const Real* k, Real t, const Real* y, int i, Real* push) {
    const int f = Model::friction_of(i);
    if (f < 0) return false;
    const Real* e = k + Model::first_mode + Model::friction_mode(f);
    const int many = Model::friction_rows(f);
    if (e[0] == 0 && (many == 1 || e[1] == 0)) return false;
    const Real *q = y, *v = M::v_of(y), *z = M::z_of(y);
    const Real cone = Model::cone(k, t, q, v, z, f);
    Real a[2][n], d[2] = {e[0], Real(0)}, along = 0, squares = 0;
    for (int c = 0; c < many; ++c) {
      Real value, rate, rest;
      Model::row(k, t, q, v, z, Model::friction_row(f) + c, value, rate, rest, a[c]);
      if (many == 1) continue;
      d[c] = rate + e[2] * e[c];
      along += d[c] * e[c];
      squares += square(d[c]);
    }
    const Real size = sqrt(squares);
    Real scale = 1;
    if (many == 2) scale = !(size > 0) || along == 0 ? Real(0) : (along > 0 ? 1 : -1) / size;
    for (int c = 0; c < many; ++c) add_multiple<n>(cone * scale * d[c], a[c], push);
    return true;
  }

  // --- Inequalities g . lambda >= 0 ---

  // Calls visit(g) for every inequality at the multipliers x: pressing contacts, and both sides of each cone; in
  // space the tangent plane at the direction of the force.
  template <class Visit>
  ZWANG_DEVICE void each_inequality(const Real* k, Real t, const Real* y, const Real* x,
                                    const Visit& visit) const {
    for (int j = 0; j < count; ++j) {
      const int i = which[j];
      if (Model::is_equation(i)) continue;
      Real g[rows];
      for (int c = 0; c < count; ++c) g[c] = 0;
      g[j] = 1;
      const int f = Model::friction_of(i);
      const int t0 = f >= 0 ? row_of[Model::friction_row(f)] : -1;
      if (t0 < 0) {
        visit(g, -1);
        continue;
      }
      g[j] = Model::cone_static(k, t, y, M::v_of(y), M::z_of(y), f);
      if (Model::friction_rows(f) == 1) {
        for (int side = -1; side <= 1; side += 2) {
          g[t0] = Real(side);
          visit(g, f);
        }
      } else {
        const int t1 = row_of[Model::friction_row(f) + 1];
        const Real size = sqrt(square(x[t0]) + square(x[t1]));
        g[t0] = size > 0 ? -x[t0] / size : Real(0);
        g[t1] = size > 0 ? -x[t1] / size : Real(0);
        visit(g, f);
      }
    }
  }

  // The admissible multipliers nearest to `lambda`, by condition. Condition `pulling` may pull as well as press.
  ZWANG_COLD void nearest(const Real* k, Real t, const Real* y, Real* by_condition, int pulling = -1) const {
    const Real *v = M::v_of(y), *z = M::z_of(y);
    NullSpace<Real, rows> null;
    NearestInCones<Real, rows> inside(count, lambda, null);
    for (int j = 0; j < count; ++j) {
      const int i = which[j], b = Model::bound_of(i), f = Model::friction_of(i);
      const int tangent = f >= 0 ? row_of[Model::friction_row(f)] : -1;
      const Real limit = b >= 0 ? Model::limit(k, t, y, v, z, b) : infinity<Real>();
      if (tangent >= 0)
        inside.add_cone(j, tangent, Model::friction_rows(f), Model::cone_static(k, t, y, v, z, f));
      else if (!Model::is_equation(i))
        inside.add_interval(j, i == pulling ? -infinity<Real>() : Real(0), limit);
      else if (b >= 0)
        inside.add_interval(j, -limit, limit);
    }
    Real x[rows];
    for (int j = 0; j < count; ++j) x[j] = lambda[j];
    if (dependent && !inside.contains(x)) {
      find_null(null);
      inside.solve(x);
    }
    for (int i = 0; i < M::r; ++i) by_condition[i] = row_of[i] >= 0 ? x[row_of[i]] : Real(0);
  }

  // The smallest margin of the sticking contacts at the multipliers x, and of friction `of` alone.
  ZWANG_DEVICE Real margin(const Real* k, Real t, const Real* y, const Real* x, int of = -1) const {
    Real least = infinity<Real>();
    each_inequality(k, t, y, x, [&](const Real* g, int f) {
      if (of >= 0 && f != of) return;
      Real value = 0;
      for (int j = 0; j < count; ++j) value += g[j] * x[j];
      least = minimum(least, value);
    });
    return least;
  }

  // The multipliers with the largest smallest margin of the contacts that share loads. That margin is returned.
  ZWANG_COLD Real widest(const Real* k, Real t, const Real* y, Real* x) const {
    NullSpace<Real, rows> null;
    find_null(null);
    return widest(null, k, t, y, x);
  }
  ZWANG_COLD Real widest(const NullSpace<Real, rows>& null, const Real* k, Real t, const Real* y,
                         Real* x) const {
    WidestMargin<Real, rows> margins(lambda, null.vector, null.count);
    for (int j = 0; j < count; ++j) {
      const int i = which[j];
      if (Model::is_equation(i) || !shares_load(null, i)) continue;
      const int f = Model::friction_of(i);
      const int t0 = f >= 0 ? row_of[Model::friction_row(f)] : -1;
      if (t0 < 0)
        margins.add(0, 1, j, -1, -1);
      else
        margins.add(0, Model::cone_static(k, t, y, M::v_of(y), M::z_of(y), f), j, t0,
                    Model::friction_rows(f) == 2 ? row_of[Model::friction_row(f) + 1] : -1);
    }
    Real w[rows];
    const Real largest = margins.solve(w);
    for (int j = 0; j < count; ++j) {
      x[j] = lambda[j];
      for (int m = 0; m < null.count; ++m) x[j] += w[m] * null.vector[m][j];
    }
    return largest;
  }
};

// The same at the state of a member, with the dependences of its rows.
template <class M>
struct SharedForces {
  DependentMultipliers<M> multipliers;
  NullSpace<typename M::Real, M::rows> null;

  ZWANG_COLD explicit SharedForces(const M& me)
      : multipliers(me.k, me.constraints, me.motion.t, me.motion.y) {
    if (multipliers.valid) multipliers.find_null(null);
  }
  ZWANG_DEVICE bool shares_load(int i) const { return multipliers.valid && multipliers.shares_load(null, i); }
  // The contacts whose forces are not unique.
  ZWANG_DEVICE typename M::Set contacts() const {
    typename M::Set made{};
    for (int i = 0; i < M::r; ++i)
      if (shares_load(i)) made.add(i);
    return made;
  }
};

}  // namespace zwang
