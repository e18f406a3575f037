// The signs of the signals (watched functions, the stop condition, jumps and kinks of integrands) at the
// start of a step. The reference is src/reference/smooth_motion.cpp.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/dynamics/admissible_multipliers.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/signals.h"
#include "kernels/event/contacts.h"
#include "kernels/event/refine_event_time.h"

namespace zwang {

// Whether the mode that transition i ends is in force.
template <class M>
ZWANG_DEVICE bool is_transition_active(const M& me, int i) {
  using Model = typename M::Model;
  if constexpr (ModesOf<Model>::any) {
    const int of = Model::transition_of(i);
    const auto* modes = me.k + Model::first_mode;
    switch (TransitionKind(Model::transition_kind(i))) {
      case TransitionKind::slide:
        return me.constraints.held[Model::friction_row(of)] > 0;
      case TransitionKind::stick: {
        const auto* e = modes + Model::friction_mode(of);
        return e[0] != 0 || (Model::friction_rows(of) == 2 && e[1] != 0);
      }
      case TransitionKind::lock:
        return modes[Model::bound_sign(of)] != 0;
      case TransitionKind::yield:
        return me.constraints.held[Model::bound_condition(of)] > 0;
      case TransitionKind::fail:
        return me.constraints.held[Model::bound_condition(of)] > 0 &&
               !is_hopping(me, Model::bound_condition(of));
      case TransitionKind::part:
        if constexpr (LinkLimitsOf<Model>::count > 0) return me.constraints.held[Model::link_first(of)] > 0;
        break;
    }
  }
  return false;
}

// The time until a signal is clearly off zero, and the state then; 0 where it stays at zero over a whole
// step.
template <class M>
ZWANG_COLD typename M::Real time_until_side_known(const M& me, int signal, typename M::Real zero,
                                                  typename M::Real* y) {
  using Real = typename M::Real;
  for (Real time = Real(1.0 / (1 << 28)) * me.motion.h; time <= me.motion.h; time *= 4) {
    integrate_short(me, me.motion.t, me.motion.y, time, 4, y);
    if (absolute(signal_at<M>(me.k, me.constraints, me.motion.t + time, y, signal)) > zero) return time;
  }
  return Real(0);
}

// A step that starts at a jump or kink lies on the side to which the motion goes; the sign of rounding at its
// start is no crossing. Integrands keep their branch for the whole step. Writes the signal's side (and value)
// in the exchange, and the branches among the constants k.
template <class M>
ZWANG_COLD void set_signal_side(M& me, int signal) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  auto& exchange = me.exchange;
  Real time = 0, y[M::size];
  copy<M::size>(me.motion.y, y);
  const auto now = scaled_signal(me, signal);
  const Real zero = me.input.contact_tolerance * now.scale;
  Real ahead = now.value;
  if (absolute(ahead) <= zero) {
    exchange.signal[signal] = ahead = 0;
    time = time_until_side_known(me, signal, zero, y);
    if (time > 0) ahead = signal_at<M>(me.k, me.constraints, me.motion.t + time, y, signal);
  }
  exchange.side[signal] = ahead < 0 ? Real(1) : ahead > 0 ? Real(-1) : Real(0);
  if constexpr (Model::branches > 0) {
    const int which = signal - M::first_kink;
    if (which < Model::branches)
      me.k[Model::constants - Model::branches + which] =
          branch_at<M>(me.k, me.constraints, me.motion.t + time, y, which);
  }
}

// Whether a transition is looked for: while the mode that it ends is in force. The sticking contacts of those that share
// loads, `sharing`, have one event function (signal_at()): the first stands for all of them.
template <class M>
ZWANG_DEVICE bool is_transition_sought(const M& me, int i, const typename M::Set& sharing) {
  using Model = typename M::Model;
  if (!is_transition_active(me, i)) return false;
  if constexpr (ModesOf<Model>::any) {
    const auto ends_shared_stick = [&](int j) {
      return TransitionKind(Model::transition_kind(j)) == TransitionKind::slide &&
             sharing.has(Model::friction_contact(Model::transition_of(j)));
    };
    if (ends_shared_stick(i))
      for (int j = 0; j < i; ++j)
        if (ends_shared_stick(j) && is_transition_active(me, j)) return false;
  }
  return true;
}

// One that starts at zero, to rounding, has just begun. `lambda`: the multipliers at the member's state.
template <class M>
ZWANG_DEVICE void set_transition_side(M& me, int signal, const typename M::Real* lambda,
                                      const SharedForces<M>* forces, const typename M::Set& sharing) {
  using Real = typename M::Real;
  auto& exchange = me.exchange;
  exchange.side[signal] = is_transition_sought(me, signal - M::first_transition, sharing) ? Real(1) : Real(0);
  if (exchange.side[signal] == 0) return;
  const auto now = scaled_signal(me, signal, lambda, forces);
  if (absolute(now.value) <= me.input.contact_tolerance * now.scale) exchange.signal[signal] = 0;
}

// The values of all signals at the member's state with the multipliers `lambda`.
template <class M>
ZWANG_DEVICE void write_signals(M& me, const typename M::Real* lambda) {
  M::Model::all_signals(me.k, me.motion.t, me.motion.q(), me.motion.v(), me.motion.z(), lambda,
                        me.constraints.held, me.exchange.signal);
}

// Sets the sides of the changes of mode that are looked for, and writes the values of all signals. While rows depend on
// each other the forces that contacts share are found once.
template <class M>
ZWANG_COLD void set_transition_sides_of_dependent_rows(M& me) {
  typename M::Real lambda[M::rows];
  const SharedForces<M> forces(me);
  if (forces.multipliers.valid)
    forces.multipliers.nearest(me.k, me.motion.t, me.motion.y, lambda);
  else
    multipliers_at<M>(me.k, me.constraints, me.motion.t, me.motion.y, lambda);
  write_signals(me, lambda);
  const typename M::Set sharing = forces.contacts();
  for (int i = M::first_transition; i < M::Model::signals; ++i)
    set_transition_side(me, i, lambda, &forces, sharing);
}
template <class M>
ZWANG_DEVICE void set_transition_sides(M& me) {
  if constexpr (ModesOf<typename M::Model>::any)
    if (me.constraints.redundant) return set_transition_sides_of_dependent_rows(me);
  typename M::Real lambda[M::rows];
  multipliers_of_signals<M>(me.k, me.constraints, me.motion.t, me.motion.y, lambda);
  write_signals(me, lambda);
  for (int i = M::first_transition; i < M::Model::signals; ++i)
    set_transition_side<M>(me, i, lambda, nullptr, {});
}

// Sets the sides of all signals before the next step. False: some side is unknown, because the signal rests
// at zero.
template <class M>
ZWANG_DEVICE bool set_signal_sides(M& me) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  auto& exchange = me.exchange;
  bool known = true;
  if constexpr (Model::signals > 0) {
    set_transition_sides(me);
    for (int i = 0; i < M::first_transition; ++i) {
      if (i < Model::watches)
        exchange.side[i] = Real(-me.watch_signs[i]);
      else if (i < M::first_kink)
        exchange.side[i] = 1;
      else
        set_signal_side(me, i);
      known = known && exchange.side[i] != 0;
    }
  }
  return known;
}

}  // namespace zwang
