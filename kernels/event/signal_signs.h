// On which sides of its signals (watched functions, the stop condition, jumps and kinks of integrands) a member sets out.
// src/reference/motion_signs.cpp is the reference.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/event/refine_event_time.h"

namespace zwang {

// A little later, when the signal is clearly off zero: the state, and the time from now. 0 where it rests there.
template <class M>
ZWANG_COLD typename M::Real time_until_side_known(const M& me, int signal, typename M::Real zero,
                                                  typename M::Real* there) {
  using Real = typename M::Real;
  for (Real time = Real(1.0 / (1 << 28)) * me.motion.h; time <= me.motion.h; time *= 4) {
    integrate_short(me, me.motion.t, me.motion.y, time, 4, there);
    const Real *q = there, *v = there + M::n, *z = there + 2 * M::n;
    if (absolute(M::Model::signal(me.k, me.motion.t + time, q, v, z, signal)) > zero) return time;
  }
  return Real(0);
}

// Jumps and kinks: a step that starts at one is on the side to which it sets off, and crosses nothing by what rounding says of
// its start. Integrands keep their branch for as long as the step runs.
template <class M>
ZWANG_COLD void set_signal_side(M& me, int signal) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  auto& exchange = me.exchange;
  Real time = 0, there[M::size];
  copy<M::size>(me.motion.y, there);
  const auto now = scaled_signal(me, signal);
  const Real zero = me.input.contact_tolerance * now.scale;
  Real ahead = now.value;
  if (absolute(ahead) <= zero) {
    exchange.signal[signal] = ahead = 0;
    time = time_until_side_known(me, signal, zero, there);
    if (time > 0)
      ahead = Model::signal(me.k, me.motion.t + time, there, there + M::n, there + 2 * M::n, signal);
  }
  exchange.side[signal] = ahead < 0 ? Real(1) : ahead > 0 ? Real(-1) : Real(0);
  if constexpr (Model::branches > 0) {
    const int which = signal - M::first_kink;
    if (which < Model::branches)
      me.k[Model::constants - Model::branches + which] =
          Model::branch(me.k, me.motion.t + time, there, there + M::n, there + 2 * M::n, which);
  }
}

// Of all signals, before anything else is known of the next step. False: of some it is not known.
template <class M>
ZWANG_DEVICE bool set_signal_sides(M& me) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  auto& exchange = me.exchange;
  bool known = true;
  if constexpr (Model::signals > 0) {
    Model::all_signals(me.k, me.motion.t, me.motion.q(), me.motion.v(), me.motion.z(), exchange.signal);
    for (int i = 0; i < Model::signals; ++i) {
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
