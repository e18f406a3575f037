// Steps of a member whose slip in space turns its direction much faster than the motion changes: implicit in the
// directions (dynamics/implicit_slip.h). The reference is SmoothMotion::next_step (src/reference/smooth_motion.cpp).
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/implicit_slip.h"
#include "kernels/dynamics/mass.h"
#include "kernels/dynamics/member.h"
#include "kernels/event/event_functions.h"
#include "kernels/integrator/runge_kutta.h"
#include "kernels/member/singular_passage.h"

namespace zwang {

// The longest stable explicit step for slips in space that do not end soon, and how long a step may be that no slip
// shrinks by more than half.
template <class Real>
struct SlipTimes {
  Real stable, halved;
};
template <class M>
ZWANG_COLD SlipTimes<typename M::Real> slip_times(const M& me) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  constexpr int n = M::n;
  const typename M::Motion& motion = me.motion;
  SlipTimes<Real> times{infinity<Real>(), infinity<Real>()};
  Real mass[MassShape<Model>::entries];
  Model::mass(me.k, motion.t, motion.q(), motion.v(), motion.z(), mass);
  for (int f = 0; f < Model::frictions; ++f) {
    const Real* mode = me.k + Model::first_mode + Model::friction_mode(f);
    if (Model::friction_rows(f) != 2 || (mode[0] == 0 && mode[1] == 0)) continue;
    Real squared = 0, change = 0, along = 0, weight = 0;
    for (int c = 0; c < 2; ++c) {
      Real value, slip, rest, a[n], inverse = 0;
      Model::row(me.k, motion.t, motion.q(), motion.v(), motion.z(), Model::friction_row(f) + c, value, slip,
                 rest, a);
      for (int i = 0; i < n; ++i) {
        rest += a[i] * me.exchange.first_rate[i];
        inverse += a[i] * a[i] / mass[MassShape<Model>::diagonal(i)];
      }
      weight = maximum(weight, inverse);
      squared += slip * slip;
      change += slip * rest;
      along += mode[c] * rest;
    }
    const Real cone = Model::cone(me.k, motion.t, motion.q(), motion.v(), motion.z(), f);
    const Real braking = weight * cone * absolute(me.exchange.lambda[Model::friction_contact(f)]);
    // The direction of a slip within its rounding is that of its mode.
    const Real stable = braking > 0 ? 2 * sqrt(squared) / braking : infinity<Real>();
    const bool begins = squared <= square(10 * mode[2]) && along > Real(-1e-3) * braking;
    const Real halved = change < 0 && !begins ? Real(-0.5) * squared / change : infinity<Real>();
    times.halved = minimum(times.halved, halved);
    // A slip that ends within a few stable steps is left to them, and so is the very end of any slip.
    constexpr Real few = 16, close = 1000;
    if (halved > few * stable) times.stable = minimum(times.stable, stable);
    if (halved < infinity<Real>() && squared <= square(close * mode[2])) times.halved = 0;
  }
  return times;
}

// One step that is implicit in the directions of the slips, and its dense output, where an explicit method would need
// many. False: explicit steps do, and nothing has been changed. Otherwise writes the exchange as a lane would; the
// member stays at the start of the step.
template <class M>
ZWANG_COLD bool try_implicit_step(M& me, DenseStep<M>& dense) {
  using Real = typename M::Real;
  constexpr int kept = M::size - M::n;
  // An implicit step costs as much as two explicit ones. Where these have become short for the sake of stability, the
  // length that they propose says nothing about the motion.
  constexpr Real worthwhile = 2, ahead = 8;
  // Slips of one body vanish together: within so many roundings of the time one of them may have ended already.
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
