// Smooth motion with a constant set of held conditions: the right side of the equations of motion, the
// multipliers, the projection onto the held conditions, and the energy balance.
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/admissible_multipliers.h"
#include "kernels/dynamics/mass.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/orientation.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

// The derivative of the held conditions that is to vanish: f'' (accelerations), f' (velocities) or f
// (positions).
enum class Level { acceleration, velocity, position };

// Sets up the held rows on that level as equations and solves them. False where the mass matrix is not
// positive.
template <Level level, class Model, class Qp, class Real>
ZWANG_DEVICE bool solve_held_rows(const Real* k, Real t, const Real* y, const Real* held, Qp& qp,
                                  int* which) {
  constexpr int n = Model::coordinates;
  const Real *q = y, *v = y + n, *z = y + 2 * n;
  Real mass[MassShape<Model>::entries];
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
    qp.add_row(i, a, level == Level::acceleration ? rest : level == Level::velocity ? rate : value, true);
  }
  qp.solve_as_equations();
  return true;
}

// The right side from a list of rows, for models with too many conditions to emit their elimination as
// straight code.
template <class M, class Real>
ZWANG_DEVICE void listed_motion(const Real* k, Real t, const Real* y, const Real* held, Real* rate,
                                Real* lambda) {
  using Model = typename M::Model;
  constexpr int n = M::n;
  const Real *v = M::v_of(y), *z = M::z_of(y);
  typename M::Qp qp;
  int which[M::rows];
  const bool valid = solve_held_rows<Level::acceleration, Model>(k, t, y, held, qp, which);
  for (int i = 0; i < M::r; ++i) lambda[i] = 0;
  for (int i = 0; i < n; ++i) rate[i] = v[i];
  clear_turns<M>(rate);
  qp.point(M::v_of(rate));
  for (int j = 0; j < qp.count; ++j) lambda[which[j]] = qp.multiplier(j);
  Real power;
  Model::rates(k, t, y, v, z, lambda, M::z_of(rate), power);
  for (int j = 0; j < qp.count; ++j) {
    Real value, f_rate, rest, a[n];
    Model::row(k, t, y, v, z, which[j], value, f_rate, rest, a);
    power -= lambda[which[j]] * (dot<n>(a, v) - (Model::is_holonomic(which[j]) ? f_rate : Real(0)));
  }
  Model::integrands(k, t, y, v, z, lambda, held, rate + M::fed_back);
  if constexpr (Model::works) rate[M::size - 1] = power;
  if (!valid) rate[n] = missing<Real>();
}

// The right side with friction and the multipliers `lambda`, by condition, of held rows solved before.
template <class M, class Real>
ZWANG_DEVICE void motion_with_multipliers(const DependentMultipliers<M>& solved, const Real* k, Real t,
                                          const Real* y, const Real* held, const Real* lambda, Real* rate) {
  using Model = typename M::Model;
  constexpr int n = M::n;
  const Real *v = M::v_of(y), *z = M::z_of(y);
  for (int i = 0; i < n; ++i) rate[i] = v[i];
  clear_turns<M>(rate);
  Real power;
  Model::rates(k, t, y, v, z, lambda, M::z_of(rate), power);
  if (!solved.valid) {
    rate[n] = missing<Real>();
    return;
  }
  solved.accelerations(lambda, M::v_of(rate));
  for (int j = 0; j < solved.count; ++j) {
    const int i = solved.which[j];
    power -= lambda[i] * (dot<n>(solved.push[j], v) - (Model::is_holonomic(i) ? solved.rate[j] : Real(0)));
  }
  Model::integrands(k, t, y, v, z, lambda, held, rate + M::fed_back);
  if constexpr (Model::works) rate[M::size - 1] = power;
}

// The right side from a list of rows with friction, where the held rows are not a minimum [friction-4].
template <class M, class Real>
ZWANG_DEVICE void listed_motion_with_friction(const Real* k, Real t, const Real* y, const Real* held,
                                              Real* rate, Real* lambda) {
  const DependentMultipliers<M> solved(k, held, t, y);
  for (int i = 0; i < M::r; ++i)
    lambda[i] = solved.valid && solved.row_of[i] >= 0 ? solved.lambda[solved.row_of[i]] : Real(0);
  motion_with_multipliers<M>(solved, k, t, y, held, lambda, rate);
}

// q' = v, v' = a, z', the integrands, and the power of all forces without potential; beside them the
// multipliers [mayer-17]. `w` holds the terms that depend on the time alone (Model::drive).
template <class M, class R>
ZWANG_INLINE void driven_right_side(const R* k, R t, const R* w, const R* y, const R* held, bool any_held,
                                    R* rate, R* lambda) {
  using Model = typename M::Model;
  if constexpr (Model::has_free_motion) {
    if (!any_held) {
      Model::free_motion(k, t, y, M::v_of(y), M::z_of(y), w, rate);
      for (int i = 0; i < M::r; ++i) lambda[i] = R(0);
      return;
    }
  }
  if constexpr (Model::masked) {
    Model::motion(k, t, y, M::v_of(y), M::z_of(y), w, held, rate, lambda);
  } else if constexpr (ModesOf<Model>::any) {
    listed_motion_with_friction<M>(k, t, y, held, rate, lambda);
  } else {
    listed_motion<M>(k, t, y, held, rate, lambda);
  }
}
template <class M, class R>
ZWANG_INLINE void right_side(const R* k, R t, const R* y, const R* held, bool any_held, R* rate, R* lambda) {
  R w[M::drives];
  if constexpr (M::Model::drives > 0) M::Model::drive(k, t, w);
  driven_right_side<M>(k, t, w, y, held, any_held, rate, lambda);
}

// The same for one member in the slow path. With friction or bounds, whose slow path is long and has many callers, it is
// compiled once; without, a call would take time.
template <class M, class Real>
ZWANG_COLD void compiled_right_side(const Real* k, Real t, const Real* y, const Real* held, bool any_held,
                                    Real* rate, Real* lambda) {
  right_side<M>(k, t, y, held, any_held, rate, lambda);
}
template <class M, class Real>
ZWANG_INLINE void scalar_right_side(const Real* k, Real t, const Real* y, const Real* held, bool any_held,
                                    Real* rate, Real* lambda) {
  if constexpr (ModesOf<typename M::Model>::any)
    compiled_right_side<M>(k, t, y, held, any_held, rate, lambda);
  else
    right_side<M>(k, t, y, held, any_held, rate, lambda);
}

// The multipliers at a state. Linearly dependent rows leave them undetermined: then those of least norm are
// taken, not negative for inequalities where that reproduces the accelerations, else (second pass) of any
// sign. Condition `pulling` may pull as well as press.
template <class M, class Real>
ZWANG_DEVICE void multipliers_at(const Real* k, const typename M::Constraints& constraints, Real t,
                                 const Real* y, Real* lambda, int pulling = -1) {
  using Model = typename M::Model;
  constexpr int n = M::n;
  const Real *v = M::v_of(y), *z = M::z_of(y);
  if constexpr (ModesOf<Model>::any)
    if (constraints.redundant) {
      const DependentMultipliers<M> multipliers(k, constraints, t, y);
      if (multipliers.valid) {
        multipliers.nearest(k, t, y, lambda, pulling);
        return;
      }
    }
  Real rate[M::size];
  scalar_right_side<M>(k, t, y, constraints.held, constraints.any_held, rate, lambda);
  if (!constraints.redundant || ModesOf<Model>::any) return;
  for (int pass = 0; pass < 2; ++pass) {
    typename M::Qp qp;
    int which[M::rows];
    Real mass[MassShape<Model>::entries], force[n], a[n];
    Model::mass(k, t, y, v, z, mass);
    if (!qp.root.factor(mass)) return;
    Model::applied(k, t, y, v, z, force);
    qp.root.solve(force, qp.free);
    for (int i = 0; i < M::r; ++i) {
      if (!(constraints.held[i] > 0)) continue;
      Real value, f_rate, rest;
      Model::row(k, t, y, v, z, i, value, f_rate, rest, a);
      which[qp.count] = i;
      qp.add_row(i, a, rest, pass == 1 || i == pulling || Model::is_equation(i));
    }
    qp.solve();
    if (!qp.feasible) continue;
    qp.point(a);
    Real off = 0, size = norm<n>(qp.free) + norm<n>(a);
    for (int i = 0; i < n; ++i) off += square(a[i] - rate[n + i]);
    if (pass == 0 && !(sqrt(off) <= Real(1e4) * Precision<Real>::tie * size)) continue;
    for (int j = 0; j < qp.count; ++j) lambda[which[j]] = qp.multiplier(j);
    return;
  }
}

// Integrands may contain multipliers: with linearly dependent rows, those of least norm.
template <class M, class Real>
ZWANG_COLD void integrands_of_least_norm(const Real* k, const typename M::Constraints& constraints, Real t,
                                         const Real* y, Real* rate) {
  Real lambda[M::rows];
  multipliers_at<M>(k, constraints, t, y, lambda);
  M::Model::integrands(k, t, y, M::v_of(y), M::z_of(y), lambda, constraints.held, rate + M::fed_back);
}

// One Newton step onto the held conditions, on the level of positions or of velocities.
template <class M, class R>
ZWANG_INLINE void step_onto(Level level, const R* k, R t, const R* y, const R* held, R* move) {
  using Model = typename M::Model;
  constexpr int n = M::n;
  if constexpr (Model::masked) {
    R f[M::rows];
    if (level == Level::position)
      Model::position_step(k, t, y, M::v_of(y), M::z_of(y), held, f, move);
    else
      Model::velocity_step(k, t, y, M::v_of(y), M::z_of(y), held, f, move);
  } else {
    typename M::Qp qp;
    int which[M::rows];
    const bool valid = level == Level::position
                           ? solve_held_rows<Level::position, Model>(k, t, y, held, qp, which)
                           : solve_held_rows<Level::velocity, Model>(k, t, y, held, qp, which);
    qp.point(move);
    if (!valid)
      for (int i = 0; i < n; ++i) move[i] = R(0);
  }
}

// f' is linear in the velocities, and so are most g: then a single Newton step is exact.
template <class Model>
ZWANG_CONSTANT constexpr bool velocities_enter_linearly() {
  bool all = true;
  for (int i = 0; i < Model::conditions; ++i) all = all && (Model::is_holonomic(i) || Model::is_linear(i));
  return all;
}

// Drift correction (mechanics section 5): positions onto f = 0, then velocities onto f' = 0 and g = 0.
// Newton's method converges quadratically, so a step below the square root of rounding is the last one
// needed. Each lane stops by its own steps, so that its bits do not depend on the other lanes.
template <class M, class R>
ZWANG_INLINE void project(const R* k, R t, R* y, const R* held, int passes) {
  using Real = typename Lanes<R>::Real;
  constexpr int n = M::n;
  const R last = R(Real(0.3) * Real(sqrt(Precision<Real>::epsilon)));
  ZWANG_REGISTERS for (int turn = 0; turn < 2; ++turn) {
    const Level level = turn == 0 ? Level::position : Level::velocity;
    R* x = level == Level::position ? y : M::v_of(y);
    const bool once = level == Level::velocity && velocities_enter_linearly<typename M::Model>();
    R moving = R(1);
    ZWANG_ROLLED for (int pass = 0; pass < (once ? 1 : passes); ++pass) {
      R move[n], moved = R(0), size = R(Precision<Real>::tiny);
      step_onto<M>(level, k, t, y, held, move);
      for (int i = 0; i < n; ++i) {
        // A step that is NaN or infinite (dependent rows, a singular mass matrix) is left out.
        move[i] = if_less(absolute(move[i]), infinity<R>(), if_less(R(0), moving, move[i], R(0)), R(0));
        moved = larger(moved, absolute(move[i]));
        size = larger(size, absolute(x[i]));
        x[i] = x[i] + move[i];
      }
      if (level == Level::position) {
        turn_orientations<M>(move, y);
        clear_turns<M>(y);
      }
      moving = if_less(last * size, moved, R(1), R(0));
      if (!any(moving > R(0))) break;
    }
  }
}

// The same for one member in the slow path, as scalar_right_side().
template <class M, class Real>
ZWANG_COLD void compiled_project(const Real* k, Real t, Real* y, const Real* held, int passes) {
  project<M>(k, t, y, held, passes);
}
template <class M, class Real>
ZWANG_INLINE void scalar_project(const Real* k, Real t, Real* y, const Real* held, int passes) {
  if constexpr (ModesOf<typename M::Model>::any)
    compiled_project<M>(k, t, y, held, passes);
  else
    project<M>(k, t, y, held, passes);
}

// Contacts that slip and may depend on each other: the motion depends on how they share the load, and its steps are
// taken in the slow path (member/singular_passage.h).
template <class Model>
ZWANG_CONSTANT constexpr bool shares_slip_loads() {
  if constexpr (ModesOf<Model>::any)
    return Model::frictions > 1;
  else
    return false;
}

// Whether dependent contacts slip now. The accelerations of contacts that stick do not depend on how they share a load.
template <class M, class Real>
ZWANG_DEVICE bool slips_with_shared_loads(const Real* k, const typename M::Constraints& constraints) {
  using Model = typename M::Model;
  if constexpr (shares_slip_loads<Model>()) {
    if (!constraints.redundant) return false;
    for (int f = 0; f < Model::frictions; ++f) {
      const Real* e = k + Model::first_mode + Model::friction_mode(f);
      if (e[0] != 0 || (Model::friction_rows(f) == 2 && e[1] != 0)) return true;
    }
  }
  return false;
}

// v', z' and the power where linearly dependent contacts slip: with the multipliers of contacts of equal compliance
// [friction-15]. `rate` is that of multipliers which hold the same rows, and the power changes with the accelerations,
// since all forces but reactions and friction are the same.
template <class M, class Real>
ZWANG_COLD void share_slip_loads(const Real* k, const typename M::Constraints& constraints, Real t,
                                 const Real* y, Real* rate, Real* lambda) {
  using Model = typename M::Model;
  constexpr int n = M::n;
  const DependentMultipliers<M> multipliers(k, constraints, t, y);
  if (!multipliers.valid) return;
  Real a[n], change[n], power, mass[MassShape<Model>::entries];
  multipliers.nearest(k, t, y, lambda);
  multipliers.accelerations(lambda, a);
  for (int i = 0; i < n; ++i) {
    change[i] = a[i] - rate[n + i];
    rate[n + i] = a[i];
  }
  Model::rates(k, t, y, M::v_of(y), M::z_of(y), lambda, M::z_of(rate), power);
  if constexpr (Model::works) {
    Model::mass(k, t, y, M::v_of(y), M::z_of(y), mass);
    rate[M::size - 1] += MassShape<Model>::product(change, mass, M::v_of(y));
  }
}

// The right side for a member in the slow path.
template <class M, class Real>
ZWANG_COLD void right_side_at(const Real* k, const typename M::Constraints& constraints, Real t,
                              const Real* y, Real* rate, Real* lambda) {
  bool shares = false;
  if constexpr (shares_slip_loads<typename M::Model>()) shares = slips_with_shared_loads<M>(k, constraints);
  if constexpr (shares_slip_loads<typename M::Model>() && !M::Model::masked) {
    // The rows are solved once, as a list.
    if (shares) {
      const DependentMultipliers<M> multipliers(k, constraints, t, y);
      for (int i = 0; i < M::r; ++i) lambda[i] = 0;
      if (multipliers.valid) multipliers.nearest(k, t, y, lambda);
      motion_with_multipliers<M>(multipliers, k, t, y, constraints.held, lambda, rate);
      return;
    }
  }
  scalar_right_side<M>(k, t, y, constraints.held, constraints.any_held, rate, lambda);
  if constexpr (shares_slip_loads<typename M::Model>())
    if (shares) share_slip_loads<M>(k, constraints, t, y, rate, lambda);
  if constexpr (M::Model::integrals > 0)
    if (constraints.redundant) integrands_of_least_norm<M>(k, constraints, t, y, rate);
}

// The same; near a linear dependence of the held rows it is that of the projected state
// (member/singular_passage.h). Two calls: with one call and a pointer to either state, NVRTC 13.0 reads the
// state by words of 16 bytes, although only the projected one is aligned to them.
template <class M, class Real>
ZWANG_DEVICE void member_right_side(const Real* k, const typename M::Constraints& constraints, Real t,
                                    const Real* y, Real* rate, Real* lambda) {
  if constexpr (may_become_dependent<typename M::Model>)
    if (constraints.near_dependence) {
      Real projected[M::size];
      copy<M::size>(y, projected);
      scalar_project<M>(k, t, projected, constraints.held, 6);
      right_side_at<M>(k, constraints, t, projected, rate, lambda);
      return;
    }
  right_side_at<M>(k, constraints, t, y, rate, lambda);
}

// Projects a member's state; the violation that remains goes into the audit.
template <class M>
ZWANG_COLD void project_drift(const typename M::Real* k, const typename M::Constraints& constraints,
                              typename M::Motion& motion, typename M::Audit& audit) {
  using Real = typename M::Real;
  if (!constraints.any_held) return;
  scalar_project<M>(k, motion.t, motion.y, constraints.held, 6);
  Real f[M::rows], f_rate[M::rows];
  M::Model::levels(k, motion.t, motion.q(), motion.v(), motion.z(), f, f_rate);
  for (int i = 0; i < M::r; ++i) {
    if (!(constraints.held[i] > 0)) continue;
    if (M::Model::is_holonomic(i)) audit.raise(audit_position, absolute(f[i]));
    audit.raise(audit_velocity, absolute(f_rate[i]));
  }
}
// T + V.
template <class M>
ZWANG_DEVICE typename M::Real energy_of(const typename M::Real* k, const typename M::Motion& motion) {
  typename M::Real kinetic, energy;
  M::Model::energies(k, motion.t, motion.q(), motion.v(), motion.z(), kinetic, energy);
  return energy;
}

// [voss] T + V + energy lost in shocks - work of other forces and of moving conditions is constant.
template <class M>
ZWANG_DEVICE void audit_energy(const typename M::Real* k, const typename M::Motion& motion,
                               const EnergyBalance<typename M::Real>& balance, typename M::Audit& audit) {
  typename M::Real kinetic, energy;
  M::Model::energies(k, motion.t, motion.q(), motion.v(), motion.z(), kinetic, energy);
  const auto work = motion.work();
  audit.raise(audit_drift, absolute(energy + balance.lost - work - balance.start));
  audit.raise(audit_size, maximum(maximum(absolute(kinetic), absolute(energy - kinetic)), absolute(work)));
}

}  // namespace zwang
