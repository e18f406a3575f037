// What is written at the times a study asks for, where they fall inside a stretch of motion.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/event/event_functions.h"
#include "kernels/event/refine_event_time.h"
#include "kernels/record/output_rows.h"

namespace zwang {

// When a lane has to stop for the next one.
template <class M>
ZWANG_DEVICE void set_next_output(M& me) {
  using Real = typename M::Real;
  const bool more = me.next_output < me.input.settings->outputs;
  me.exchange.next_output = more ? Real(me.input.batch->outputs[me.next_output]) : infinity<Real>();
}

// Is the interpolant as exact as the step over which it runs? Nobody controls its error. On the studies of configs/ it is
// about a tenth of the last term, which is thus allowed fifty tolerances.
template <class M>
ZWANG_DEVICE bool interpolant_is_accurate(const M& me, const DenseStep<M>& dense) {
  using Real = typename M::Real;
  bool close = true;
  for (int c = 0; c < M::fed_back; ++c) {
    const auto& interpolant = dense.interpolant;
    const Real size = maximum(absolute(interpolant.start[c]), absolute(interpolant.end[c]));
    close = close && interpolant.last_term(c) <= 50 * (me.input.atol + me.input.rtol * size);
  }
  return close;
}

// Output times inside the stretch: the interpolant, or a partial step where that is not exact enough, brought onto the
// conditions. Times within rounding of the stretch's end wait: values at an event are those after it.
template <class M>
ZWANG_COLD void emit_outputs_until(M& me, const DenseStep<M>& dense, typename M::Real until) {
  using Real = typename M::Real;
  const auto& interpolant = dense.interpolant;
  const bool smooth = interpolant_is_accurate(me, dense);
  const Real near = Precision<Real>::moment * maximum(absolute(until), interpolant.h);
  while (me.next_output < me.input.settings->outputs &&
         Real(me.input.batch->outputs[me.next_output]) < until - near) {
    const Real when = Real(me.input.batch->outputs[me.next_output]);
    Real there[M::size];
    const Real x = (when - interpolant.t) / interpolant.h;
    if (smooth)
      interpolant.at(x, there);
    else
      dense.flow(x, there);
    if (me.constraints.any_held) project<M>(me.k, when, there, me.constraints.held, 3);
    write_output(me, when, there);
  }
}

// Output times between the end of a try and the crossing a little further on.
template <class M>
ZWANG_COLD void emit_outputs_beyond(M& me, typename M::Real until) {
  using Real = typename M::Real;
  const Real tried = me.motion.t + me.exchange.step.h;
  const Real near = Precision<Real>::moment * maximum(absolute(until), me.exchange.step.h);
  while (me.next_output < me.input.settings->outputs &&
         Real(me.input.batch->outputs[me.next_output]) < until - near) {
    const Real when = Real(me.input.batch->outputs[me.next_output]);
    Real there[M::size];
    integrate_short(me, tried, me.exchange.end, when - tried, 4, there);
    write_output(me, when, there);
  }
}

}  // namespace zwang
