// Rows for output times that lie within a step.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/event/event_functions.h"
#include "kernels/event/refine_event_time.h"
#include "kernels/record/output_rows.h"

namespace zwang {

// Writes the next output time into the exchange, for the lane.
template <class M>
ZWANG_DEVICE void set_next_output(M& me) {
  me.exchange.next_output = next_output_time(me);
}

// Rows for output times within the step and before `until`: states by the interpolant, or by a partial step
// where that is not accurate enough, projected onto the held conditions. Times within rounding of `until` are
// left for later: values at an event are those after it.
template <class M>
ZWANG_COLD void emit_outputs_until(M& me, const DenseStep<M>& dense, typename M::Real until) {
  using Real = typename M::Real;
  const auto& interpolant = dense.interpolant;
  const bool accurate =
      !dense.implicit && interpolant_is_accurate<M::fed_back>(interpolant, me.input.rtol, me.input.atol);
  const Real margin = Precision<Real>::moment * maximum(absolute(until), interpolant.h);
  while (output_before(me, until - margin)) {
    const Real when = next_output_time(me);
    Real y[M::size];
    const Real x = (when - interpolant.t) / interpolant.h;
    if (accurate)
      interpolant.at(x, y);
    else
      dense.flow(x, y);
    // Close to a dependence of the held rows the projection would add more rounding than it removes drift.
    if (me.constraints.any_held && !dense.is_spoiled(x))
      scalar_project<M>(me.k, when, y, me.constraints.held, 3);
    clear_turns<M>(y);
    write_output(me, when, when, y);
  }
}

// Rows for output times between the end of a trial step and the crossing a little beyond it, at `until`.
template <class M>
ZWANG_COLD void emit_outputs_beyond(M& me, typename M::Real until) {
  using Real = typename M::Real;
  const Real tried = me.motion.t + me.exchange.step.h;
  const Real margin = Precision<Real>::moment * maximum(absolute(until), me.exchange.step.h);
  while (output_before(me, until - margin)) {
    const Real when = next_output_time(me);
    Real y[M::size];
    integrate_short(me, tried, me.exchange.end, when - tried, 4, y);
    write_output(me, when, when, y);
  }
}

}  // namespace zwang
