// Smooth motion: the right side of the equations of motion while the set of rows that hold is constant, the multipliers,
// and the way back onto the conditions.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

// A program over the rows held at a state, on one of three levels: accelerations (A a + c), velocities (f'), positions (f).
enum class Level { acceleration, velocity, position };

template <Level level, class Model, class Qp, class Real>
ZWANG_DEVICE bool hold_rows(const Real* k, Real t, const Real* y, const Real* held, Qp& qp, int* which) {
  constexpr int n = Model::coordinates;
  const Real *q = y, *v = y + n, *z = y + 2 * n;
  Real mass[n * n];
  Model::mass(k, t, q, v, z, mass);
  if (!qp.root.factor(mass)) return false;
  for (int i = 0; i < n; ++i) qp.free[i] = 0;
  if constexpr (level == Level::acceleration) {
    Real force[n];
    Model::applied(k, t, q, v, z, force);
    qp.root.solve(force, qp.free);
  }
  for (int i = 0; i < Model::conditions; ++i) {
    if (!(held[i] > 0) || (level == Level::position && !Model::is_holonomic(i))) continue;
    Real value, rate, rest, a[n];
    Model::row(k, t, q, v, z, i, value, rate, rest, a);
    which[qp.count] = i;
    qp.add_row(a, level == Level::acceleration ? rest : level == Level::velocity ? rate : value, true);
  }
  qp.hold();
  return true;
}

// Row by row, for models with too many conditions to eliminate them all in straight lines.
template <class M, class Real>
ZWANG_DEVICE void listed_motion(const Real* k, Real t, const Real* y, const Real* held, Real* rate,
                                Real* lambda) {
  using Model = typename M::Model;
  constexpr int n = M::n;
  typename M::Qp qp;
  int which[M::rows];
  const bool valid = hold_rows<Level::acceleration, Model>(k, t, y, held, qp, which);
  for (int i = 0; i < M::r; ++i) lambda[i] = 0;
  for (int i = 0; i < n; ++i) rate[i] = y[n + i];
  qp.point(rate + n);
  for (int j = 0; j < qp.count; ++j) lambda[which[j]] = qp.multiplier(j);
  Real power;
  Model::rates(k, t, y, y + n, y + 2 * n, lambda, rate + 2 * n, power);
  for (int j = 0; j < qp.count; ++j) {
    Real value, f_rate, rest, a[n];
    Model::row(k, t, y, y + n, y + 2 * n, which[j], value, f_rate, rest, a);
    power -= lambda[which[j]] * (dot<n>(a, y + n) - (Model::is_holonomic(which[j]) ? f_rate : Real(0)));
  }
  Model::integrands(k, t, y, y + n, y + 2 * n, lambda, held, rate + M::fed_back);
  if constexpr (Model::works) rate[M::size - 1] = power;
  if (!valid) rate[n] = missing<Real>();
}

// q' = v, v' = a, z', the integrands, and the work of all but potential forces; the multipliers beside [mayer-17]. `w` is what
// the time alone decides (Model::drive).
template <class M, class R>
ZWANG_INLINE void driven_right_side(const R* k, R t, const R* w, const R* y, const R* held, bool any_held,
                                    R* rate, R* lambda) {
  using Model = typename M::Model;
  constexpr int n = M::n;
  if constexpr (!Model::masked) {
    listed_motion<M>(k, t, y, held, rate, lambda);
  } else {
    if constexpr (!Model::always_held) {
      if (!any_held) {
        Model::free_motion(k, t, y, y + n, y + 2 * n, w, rate);
        for (int i = 0; i < M::r; ++i) lambda[i] = R(0);
        return;
      }
    }
    Model::motion(k, t, y, y + n, y + 2 * n, w, held, rate, lambda);
  }
}
template <class M, class R>
ZWANG_INLINE void right_side(const R* k, R t, const R* y, const R* held, bool any_held, R* rate, R* lambda) {
  R w[M::drives];
  if constexpr (M::Model::drives > 0) M::Model::drive(k, t, w);
  driven_right_side<M>(k, t, w, y, held, any_held, rate, lambda);
}

// The multipliers at a state. Rows that depend on each other leave them open; then those of least norm, not negative for
// inequalities where that can be.
template <class M, class Real>
ZWANG_DEVICE void multipliers_at(const Real* k, const typename M::Constraints& constraints, Real t,
                                 const Real* y, Real* lambda) {
  using Model = typename M::Model;
  constexpr int n = M::n;
  Real rate[M::size];
  right_side<M>(k, t, y, constraints.held, constraints.any_held, rate, lambda);
  if (!constraints.redundant) return;
  for (int try_step = 0; try_step < 2; ++try_step) {
    typename M::Qp qp;
    int which[M::rows];
    Real mass[n * n], force[n], a[n];
    Model::mass(k, t, y, y + n, y + 2 * n, mass);
    if (!qp.root.factor(mass)) return;
    Model::applied(k, t, y, y + n, y + 2 * n, force);
    qp.root.solve(force, qp.free);
    for (int i = 0; i < M::r; ++i) {
      if (!(constraints.held[i] > 0)) continue;
      Real value, f_rate, rest;
      Model::row(k, t, y, y + n, y + 2 * n, i, value, f_rate, rest, a);
      which[qp.count] = i;
      qp.add_row(a, rest, try_step == 1 || Model::is_equation(i));
    }
    qp.solve();
    if (!qp.feasible) continue;
    qp.point(a);
    Real off = 0, size = norm<n>(qp.free) + norm<n>(a);
    for (int i = 0; i < n; ++i) off += square(a[i] - rate[n + i]);
    if (try_step == 0 && !(sqrt(off) <= Real(1e4) * Precision<Real>::tie * size)) continue;
    for (int j = 0; j < qp.count; ++j) lambda[which[j]] = qp.multiplier(j);
    return;
  }
}

// Integrands may ask for multipliers: where rows depend on each other, for those of least norm.
template <class M, class Real>
ZWANG_COLD void integrands_of_least_norm(const Real* k, const typename M::Constraints& constraints, Real t,
                                         const Real* y, Real* rate) {
  Real lambda[M::rows];
  multipliers_at<M>(k, constraints, t, y, lambda);
  M::Model::integrands(k, t, y, y + M::n, y + 2 * M::n, lambda, constraints.held, rate + M::fed_back);
}

template <class M, class Real>
ZWANG_COLD void member_right_side(const Real* k, const typename M::Constraints& constraints, Real t,
                                  const Real* y, Real* rate, Real* lambda) {
  right_side<M>(k, t, y, constraints.held, constraints.any_held, rate, lambda);
  if constexpr (M::Model::integrals > 0)
    if (constraints.redundant) integrands_of_least_norm<M>(k, constraints, t, y, rate);
}

// One Newton step onto the held conditions: positions, or velocities.
template <class M, class R>
ZWANG_INLINE void step_onto(Level level, const R* k, R t, const R* y, const R* held, R* move) {
  using Model = typename M::Model;
  constexpr int n = M::n;
  if constexpr (Model::masked) {
    R f[M::rows];
    if (level == Level::position)
      Model::position_step(k, t, y, y + n, y + 2 * n, held, f, move);
    else
      Model::velocity_step(k, t, y, y + n, y + 2 * n, held, f, move);
  } else {
    typename M::Qp qp;
    int which[M::rows];
    const bool valid = level == Level::position ? hold_rows<Level::position, Model>(k, t, y, held, qp, which)
                                                : hold_rows<Level::velocity, Model>(k, t, y, held, qp, which);
    qp.point(move);
    if (!valid)
      for (int i = 0; i < n; ++i) move[i] = R(0);
  }
}

// f' is linear in the velocities, and so are most g: then one Newton step is all there is.
template <class Model>
ZWANG_CONSTANT constexpr bool velocities_enter_linearly() {
  bool all = true;
  for (int i = 0; i < Model::conditions; ++i) all = all && (Model::is_holonomic(i) || Model::is_linear(i));
  return all;
}

// Drift correction (mechanics section 5): positions onto f = 0, then velocities onto f' = 0 and g = 0. Newton converges
// quadratically, so a move of less than the root of rounding is the last that counts.
// Each lane stops by its own measure, so that its bits do not depend on its neighbours.
template <class M, class R>
ZWANG_INLINE void project(const R* k, R t, R* y, const R* held, int passes) {
  using Real = typename Lanes<R>::Real;
  constexpr int n = M::n;
  const R last = R(Real(0.3) * Real(sqrt(Precision<Real>::epsilon)));
  ZWANG_REGISTERS for (int turn = 0; turn < 2; ++turn) {
    const Level level = turn == 0 ? Level::position : Level::velocity;
    R* x = level == Level::position ? y : y + n;
    const bool once = level == Level::velocity && velocities_enter_linearly<typename M::Model>();
    R moving = R(1);
    ZWANG_ROLLED for (int pass = 0; pass < (once ? 1 : passes); ++pass) {
      R move[n], moved = R(0), size = R(Precision<Real>::tiny);
      step_onto<M>(level, k, t, y, held, move);
      for (int i = 0; i < n; ++i) {
        // A move that is no number (no such conditions, an empty mass) is no move.
        const R taken = if_less(absolute(move[i]), infinity<R>(), if_less(R(0), moving, move[i], R(0)), R(0));
        moved = larger(moved, absolute(taken));
        size = larger(size, absolute(x[i]));
        x[i] = x[i] + taken;
      }
      moving = if_less(last * size, moved, R(1), R(0));
      if (!any(moving > R(0))) break;
    }
  }
}

// Scalar: where the member is. What is left standing goes into the audit.
template <class M>
ZWANG_COLD void project_drift(M& me) {
  using Real = typename M::Real;
  if (!me.constraints.any_held) return;
  project<M>(me.k, me.motion.t, me.motion.y, me.constraints.held, 6);
  Real f[M::rows], f_rate[M::rows];
  M::Model::levels(me.k, me.motion.t, me.motion.q(), me.motion.v(), me.motion.z(), f, f_rate);
  for (int i = 0; i < M::r; ++i) {
    if (!(me.constraints.held[i] > 0)) continue;
    if (M::Model::is_holonomic(i)) me.audit.raise(audit_position, absolute(f[i]));
    me.audit.raise(audit_velocity, absolute(f_rate[i]));
  }
}

template <class M>
ZWANG_DEVICE typename M::Real energy_of(const M& me) {
  typename M::Real kinetic, energy;
  M::Model::energies(me.k, me.motion.t, me.motion.q(), me.motion.v(), me.motion.z(), kinetic, energy);
  return energy;
}

// [voss] T + V + energy lost in shocks - work of other forces and of moving conditions stays what it was.
template <class M>
ZWANG_DEVICE void audit_energy(M& me) {
  typename M::Real kinetic, energy;
  M::Model::energies(me.k, me.motion.t, me.motion.q(), me.motion.v(), me.motion.z(), kinetic, energy);
  const auto work = me.motion.work();
  me.audit.raise(audit_drift, absolute(energy + me.energy.lost - work - me.energy.start));
  me.audit.raise(audit_size, maximum(maximum(absolute(kinetic), absolute(energy - kinetic)), absolute(work)));
}

}  // namespace zwang
