// Steps of a member whose slip in space turns its direction much faster than the motion changes: implicit in
// the directions (dynamics/implicit_slip.h). The reference is SmoothMotion::next_step
// (src/reference/smooth_motion.cpp).
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/implicit_slip.h"
#include "kernels/dynamics/member.h"
#include "kernels/event/event_functions.h"
#include "kernels/integrator/runge_kutta.h"
#include "kernels/member/singular_passage.h"
#include "kernels/member/slip_times.h"

namespace zwang {

// One step that is implicit in the directions of the slips, and its dense output, where an explicit method
// would need many. False: explicit steps do, and nothing has been changed. Otherwise writes the exchange as a
// lane would; the member stays at the start of the step.
template <class M>
ZWANG_COLD bool try_implicit_step(M& me, DenseStep<M>& dense) {
  using Real = typename M::Real;
  constexpr int kept = M::size - M::n;
  // An implicit step costs as much as two explicit ones. Where these have become short for the sake of
  // stability, the length that they propose says nothing about the motion.
  constexpr Real worthwhile = 2, ahead = 8;
  // Slips of one body vanish together: within so many roundings of the time one of them may have ended
  // already.
  constexpr Real shortest = Real(1 << 14);
  const typename M::Motion& motion = me.motion;
  if (!M::Method::adaptive || !me.going() || me.constraints.near_dependence) return false;
  const SlipTimes<Real> times = slip_times(me);
  const Real room = me.exchange.scheduled_time - motion.t;
  const Real longest = minimum(longest_step(me), times.halved);
  if (!(worthwhile * times.stable < minimum(motion.h, longest))) return false;
  Real h = minimum(maximum(motion.h, ahead * times.stable), longest), factor = 1, error = 0, end[M::size];
  ImplicitSlip<M> slip(me.k, me.constraints, motion.t, motion.y);
  for (;;) {
    if (!(h > shortest * motion.rounding_of_time()) || !(worthwhile * times.stable < h)) return false;
    if constexpr (sizeof(Real) == sizeof(float)) h = (motion.t + h) - motion.t;
    slip.take(me.constraints, motion.t, motion.y, h, me.input.rtol, me.input.atol, end, error);
    const bool finite = all_finite<M::size>(end);
    factor = finite ? minimum(maximum(Real(0.8) * rough_3_32nds(error), Real(0.1)), Real(5)) : Real(0.1);
    if (finite && error <= 1) break;
    ++me.steps.rejected;
    h *= minimum(factor, Real(0.5));
  }
  auto& exchange = me.exchange;
  Real rate[M::size], lambda[M::rows];
  member_right_side<M>(me.k, me.constraints, motion.t + h, end, rate, lambda);
  copy<kept>(rate + M::n, exchange.last_rate);
  copy<M::size>(end, exchange.end);
  copy<kept>(exchange.first_rate, dense.first_rate);
  dense.interpolant.make_between(motion.t, h, motion.y, end, exchange.first_rate, exchange.last_rate);
  dense.implicit = true;
  exchange.step.h = h;
  exchange.next_h = h < room * Real(1 - 1e-10) ? h * factor : maximum(motion.h, h * factor);
  exchange.verdict.event_possible = true;
  for (int i = 0; i < M::r; ++i) me.candidates.add(i);
  return true;
}

}  // namespace zwang
