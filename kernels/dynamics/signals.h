// Signals: watched functions, the stop condition, and kinks of integrands. Kinks may depend on multipliers
// (integral(max(reaction(c) - 20, 0)) bends where the reaction is 20), which are computed only in models that
// need them (Model::signals_forces).
#pragma once

#include "kernels/base/portable.h"
#include "kernels/base/scaled.h"
#include "kernels/dynamics/admissible_multipliers.h"
#include "kernels/dynamics/dense_solve.h"
#include "kernels/dynamics/mass.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/smooth_motion.h"

namespace zwang {

// Whether a signal may depend on multipliers. Slips and yields that end depend on rates alone.
template <class M>
ZWANG_DEVICE bool depends_on_forces([[maybe_unused]] int i) {
  if constexpr (ModesOf<typename M::Model>::any && M::Model::signals_forces)
    if (i >= M::first_transition) {
      const auto kind = TransitionKind(M::Model::transition_kind(i - M::first_transition));
      return kind != TransitionKind::stick && kind != TransitionKind::lock;
    }
  return M::Model::signals_forces;
}

// Whether a signal ends the stick of a contact.
template <class M>
ZWANG_DEVICE bool ends_stick([[maybe_unused]] int i) {
  if constexpr (ModesOf<typename M::Model>::any)
    return i >= M::first_transition &&
           TransitionKind(M::Model::transition_kind(i - M::first_transition)) == TransitionKind::slide;
  else
    return false;
}

// The contact whose stick or slip a signal ends.
template <class M>
ZWANG_DEVICE int contact_of_transition(int signal) {
  return M::Model::friction_contact(M::Model::transition_of(signal - M::first_transition));
}

// The multipliers as far as signals depend on them, and 0 otherwise.
template <class M, class Real>
ZWANG_DEVICE void multipliers_of_signals(const Real* k, const typename M::Constraints& constraints, Real t,
                                         const Real* y, Real* lambda) {
  if constexpr (M::Model::signals_forces)
    multipliers_at<M>(k, constraints, t, y, lambda);
  else
    for (int i = 0; i < M::rows; ++i) lambda[i] = 0;
}

// One signal at a state.
template <class M, class Real>
ZWANG_DEVICE Real signal_at(const Real* k, const typename M::Constraints& constraints, Real t, const Real* y,
                            int i) {
  if constexpr (ModesOf<typename M::Model>::any)
    if (constraints.redundant && ends_stick<M>(i)) {
      // The stick of contacts that share loads ends where no multipliers are admissible any more.
      const DependentMultipliers<M> multipliers(k, constraints, t, y);
      NullSpace<Real, M::rows> null;
      if (multipliers.valid) multipliers.find_null(null);
      Real x[M::rows];
      if (multipliers.valid && multipliers.shares_load(null, contact_of_transition<M>(i)))
        return -multipliers.widest(null, k, t, y, x);
    }
  Real lambda[M::rows];
  if (depends_on_forces<M>(i))
    multipliers_of_signals<M>(k, constraints, t, y, lambda);
  else
    for (int j = 0; j < M::rows; ++j) lambda[j] = 0;
  return M::Model::signal(k, t, y, M::v_of(y), M::z_of(y), lambda, constraints.held, i);
}

// What is constant between the roots of a kink, at a state.
template <class M, class Real>
ZWANG_DEVICE Real branch_at(const Real* k, const typename M::Constraints& constraints, Real t, const Real* y,
                            int i) {
  Real lambda[M::rows];
  multipliers_of_signals<M>(k, constraints, t, y, lambda);
  return M::Model::branch(k, t, y, M::v_of(y), M::z_of(y), lambda, constraints.held, i);
}

// Whether a signal may depend on the multiplier of condition i: those of a contact's friction on its own ones alone.
template <class M>
ZWANG_DEVICE bool reads_multiplier([[maybe_unused]] int signal, [[maybe_unused]] int i) {
  using Model = typename M::Model;
  if constexpr (ModesOf<Model>::any)
    if (ends_stick<M>(signal)) {
      const int f = Model::transition_of(signal - M::first_transition), first = Model::friction_row(f);
      return i == Model::friction_contact(f) || (i >= first && i < first + Model::friction_rows(f));
    }
  return true;
}

// The multipliers at the member's state that a signal reads, with their rounding: that of the terms A a and c of f'' in
// the mass metric, as for the zero of a multiplier in the active set.
template <class M>
ZWANG_COLD void scaled_multipliers(const M& me, int signal, const typename M::Real* plain,
                                   Scaled<typename M::Real>* lambda) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  constexpr int n = M::n;
  const typename M::Motion& motion = me.motion;
  Real mass[MassShape<Model>::entries], force[n], metric[n];
  Model::mass(me.k, motion.t, motion.q(), motion.v(), motion.z(), mass);
  Model::applied(me.k, motion.t, motion.q(), motion.v(), motion.z(), force);
  typename M::Root root;
  for (int i = 0; i < M::r; ++i) lambda[i] = Scaled<Real>(plain[i]);
  if (!root.factor(mass)) return;
  root.into(force, metric);
  const Real free_size = norm<n>(metric);
  for (int i = 0; i < M::r; ++i) {
    if (!(me.constraints.held[i] > 0) || !reads_multiplier<M>(signal, i)) continue;
    Real value, rate, rest, a[n], u[n];
    Model::row(me.k, motion.t, motion.q(), motion.v(), motion.z(), i, value, rate, rest, a);
    root.into(a, u);
    const Real length = norm<n>(u);
    const Real rest_scale =
        scaled_condition<M>(me.k, motion, i, motion.v(), me.sizes.q, me.sizes.v).rest_scale;
    lambda[i].scale = 10 * (length * free_size + rest_scale) / square(length);
  }
}

// Whether dependent contacts stick clearly, for a signal that ends the stick: the widest margin is larger than that of
// any multipliers. `made` becomes that margin, which is on the same side of zero; for a contact that shares no load it
// remains the margin of its own.
template <class M>
ZWANG_COLD bool is_clearly_inside(const M& me, const SharedForces<M>& forces, int i,
                                  Scaled<typename M::Real>& made) {
  using Real = typename M::Real;
  const DependentMultipliers<M>& multipliers = forces.multipliers;
  if (!multipliers.valid) return false;
  if (!forces.shares_load(contact_of_transition<M>(i))) return true;
  const Real margin = multipliers.margin(me.k, me.motion.t, me.motion.y, multipliers.lambda);
  if (!(margin > 100 * me.input.contact_tolerance * made.scale)) return false;
  made.value = -margin;
  return true;
}

template <class M>
ZWANG_COLD bool is_clearly_inside(const M& me, int i, Scaled<typename M::Real>& made) {
  return is_clearly_inside(me, SharedForces<M>(me), i, made);
}

// The magnitudes of velocities behind the rounding of a watched function. While conditions hold, reactions cancel what
// the forces would add over a step, but for its rounding: the velocities of a body at rest are smaller than that.
template <class M>
ZWANG_COLD void sizes_of_watched_velocities(const M& me, typename M::Real* size) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  constexpr int n = M::n;
  const typename M::Motion& motion = me.motion;
  copy<n>(me.sizes.v, size);
  if (!me.constraints.any_held) return;
  Real mass[MassShape<Model>::entries], force[n], free[n];
  Model::mass(me.k, motion.t, motion.q(), motion.v(), motion.z(), mass);
  Model::applied(me.k, motion.t, motion.q(), motion.v(), motion.z(), force);
  typename M::Root root;
  if (!root.factor(mass)) return;
  root.solve(force, free);
  for (int i = 0; i < n; ++i) size[i] = maximum(size[i], me.sizes.duration * absolute(free[i]));
}

// A signal at the member's state, with its rounding scale; only its side of zero counts. `known`: the multipliers there,
// if they have been computed; `forces` likewise, for models with modes.
template <class M>
ZWANG_COLD Scaled<typename M::Real> scaled_signal(const M& me, int i, const typename M::Real* known = nullptr,
                                                  [[maybe_unused]] const SharedForces<M>* forces = nullptr) {
  using Model = typename M::Model;
  using S = Scaled<typename M::Real>;
  constexpr int n = M::n;
  S lambda[M::rows], held[M::rows];
  for (int j = 0; j < M::rows; ++j) lambda[j] = held[j] = S(0);
  typename M::Real size_v[n];
  if (i < M::first_kink)
    sizes_of_watched_velocities(me, size_v);
  else
    copy<n>(me.sizes.v, size_v);
  if constexpr (Model::signals_forces) {
    if (depends_on_forces<M>(i)) {
      typename M::Real plain[M::rows];
      if (!known) multipliers_at<M>(me.k, me.constraints, me.motion.t, me.motion.y, plain);
      scaled_multipliers(me, i, known ? known : plain, lambda);
    }
    for (int j = 0; j < M::r; ++j) held[j] = S(me.constraints.held[j]);
  }
  const ScaledConstants<typename M::Real> k{me.k}, z{me.motion.z()};
  const ScaledState<typename M::Real> q{me.motion.q(), me.sizes.q}, v{me.motion.v(), size_v};
  S made = Model::signal(k, S(me.motion.t), q, v, z, lambda, held, i);
  if constexpr (ModesOf<Model>::any)
    if (me.constraints.redundant) {
      const bool clear = ends_stick<M>(i) && (forces != nullptr ? is_clearly_inside(me, *forces, i, made)
                                                                : is_clearly_inside(me, i, made));
      if (!clear) made.value = signal_at<M>(me.k, me.constraints, me.motion.t, me.motion.y, i);
    }
  return made;
}

// The same for a state in registers, in models whose signals do not depend on multipliers.
template <class M, class Real>
ZWANG_COLD Scaled<Real> scaled_signal_at(const Real* k, Real t, const Real* y, const Real* size_q,
                                         const Real* size_v, int i) {
  using Model = typename M::Model;
  using S = Scaled<Real>;
  constexpr int n = M::n;
  S lambda[M::rows], held[M::rows];
  for (int j = 0; j < M::rows; ++j) lambda[j] = held[j] = S(0);
  const ScaledConstants<Real> constants{k}, z{y + 2 * n};
  const ScaledState<Real> q{y, size_q}, v{y + n, size_v};
  return Model::signal(constants, S(t), q, v, z, lambda, held, i);
}

}  // namespace zwang
