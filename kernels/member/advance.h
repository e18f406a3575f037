// Moves a member along a step that its lane has tried: to the step's end, to an event within it, or to a
// crossing at its end. The reference is src/reference/motion.cpp.
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/dynamics/audit.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/signals.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/event/event_functions.h"
#include "kernels/event/instant_events.h"
#include "kernels/event/refine_event_time.h"
#include "kernels/integrator/runge_kutta.h"
#include "kernels/integrator/taylor_series.h"
#include "kernels/member/outputs.h"
#include "kernels/record/measures.h"
#include "kernels/record/output_rows.h"

namespace zwang {

// Builds the dense output of the step. Where lanes keep their stages in memory these are used; a lane with
// its stages in registers stores only the start, and the step is taken again. Writes `dense` and the
// exchange's last_rate.
template <class M>
ZWANG_COLD void build_dense_step(M& me, DenseStep<M>& dense) {
  using Real = typename M::Real;
  constexpr int kept = M::size - M::n;
  const typename M::Motion& motion = me.motion;
  auto& exchange = me.exchange;
  if constexpr (M::Method::expands)
    if (!me.constraints.any_held) {
      expand(me.k, motion.t, exchange.step.h, motion.y, dense.interpolant, exchange.last_rate);
      return;
    }
  const auto rates = [&](Real t, const Real* y, Real* rate) {
    Real lambda[M::rows];
    member_right_side<M>(me.k, me.constraints, t, y, rate, lambda);
  };
  const auto complete = [&](auto& step) {
    step.complete_interpolant(motion.t, motion.y, rates);
    dense.interpolant.make(step, motion.t, motion.y);
    copy<kept>(step.k[M::Method::last], exchange.last_rate);
  };
  if constexpr (ZWANG_STAGES_KEPT) {
    complete(exchange.stages);
  } else {
    StepArrays<typename M::Method, M::n, M::size, M::fed_back, Real> step;
    step.h = exchange.step.h;
    copy<kept>(exchange.first_rate, step.k[0]);
    step.take(motion.t, motion.y, rates);
    complete(step);
  }
  copy<kept>(exchange.first_rate, dense.first_rate);
}

// At the time reached: scheduled events, the end of the simulation, and outputs after them.
template <class M>
ZWANG_COLD void apply_scheduled_and_outputs(M& me) {
  MemberProgress& progress = me.progress;
  if (progress.going()) apply_scheduled_events(me, false);
  if (progress.status == Status::ok)
    progress.finished = !(me.motion.t < me.input.end - me.motion.rounding_of_time());
  if (progress.status == Status::ok || progress.status == Status::stopped) emit_output_now(me);
}

// A step without event, but with output times or a possible extremum of a measure within it. Afterwards the
// lane goes on as if it had accepted the step itself. Writes outputs, results, motion and exchange.
template <class M>
ZWANG_COLD void write_inner_outputs(M& me) {
  using Real = typename M::Real;
  auto& exchange = me.exchange;
  DenseStep<M> dense{me.k, me.constraints, {}, {}};
  build_dense_step(me, dense);
  me.motion.h = exchange.step.h;
  emit_outputs_until(me, dense, me.motion.t + me.motion.h);
  set_next_output(me);
  if (exchange.verdict.extremum_possible) refine_extremes(me, dense.interpolant, Real(1));
  if constexpr (M::Model::any_extremes) update_extremes<typename M::Model>(exchange.values, me.results);
  me.motion.t += me.motion.h;
  me.motion.h = exchange.next_h;
  ++me.steps.taken;
  copy<M::size>(exchange.end, me.motion.y);
  clear_turns<M>(me.motion.y);
  copy<M::size - M::n>(exchange.last_rate, exchange.first_rate);
  for (int i = 0; i < M::r; ++i) {
    exchange.ledger.peak_lambda[i] = maximum(exchange.ledger.peak_lambda[i], absolute(exchange.lambda[i]));
    if (exchange.ledger.arming_level[i] < 0) exchange.ledger.arming_level[i] = 1;
  }
}

// Counts a step. False: the limit is reached, and the member fails.
template <class M>
ZWANG_INLINE bool count_step(M& me) {
  if (++me.steps.taken < me.input.settings->max_steps) return true;
  me.fail(Status::step_limit);
  return false;
}

// The step ends at a scheduled time (or at the end of the simulation), without an event before.
template <class M>
ZWANG_COLD void reach_scheduled_time(M& me) {
  using Real = typename M::Real;
  typename M::Motion& motion = me.motion;
  const auto& exchange = me.exchange;
  if (!count_step(me)) return;
  const Real due = exchange.scheduled_time;
  const Real then =
      due <= motion.t + motion.h * (1 + 8 * Precision<Real>::epsilon) ? due : motion.t + motion.h;
  // A member that ends here needs the rounding sizes only where a scheduled event is due as well.
  if (then < me.input.end || next_scheduled_event(me) <= me.input.end)
    measure_sizes<M>(me.k, motion, motion.y, exchange.end, motion.h, me.sizes);
  copy<M::size>(exchange.end, motion.y);
  clear_turns<M>(motion.y);
  motion.t = then;
  update_extremes_now(me);
  audit_energy<M>(me.k, motion, me.energy, me.audit);
  apply_scheduled_and_outputs(me);
  motion.h = exchange.next_h;
}

// A member in which nothing can change any more: moves to the next scheduled time without a step. Its velocities are
// rounding and become zero; its integrals grow at the rates they have.
template <class M>
ZWANG_COLD void rest_until_scheduled_time(M& me) {
  using Real = typename M::Real;
  typename M::Motion& motion = me.motion;
  if (!count_step(me)) return;
  Real* v = M::v_of(motion.y);
  for (int c = 0; c < M::n; ++c) v[c] = 0;
  Real rate[M::size], lambda[M::rows], y[M::size];
  member_right_side<M>(me.k, me.constraints, motion.t, motion.y, rate, lambda);
  copy<M::size>(motion.y, y);
  const Real start = motion.t, due = me.exchange.scheduled_time;
  const auto let_integrals_grow = [&](Real until) {
    for (int i = M::fed_back; i < M::size; ++i) y[i] = motion.y[i] + (until - start) * rate[i];
  };
  const Real margin = Precision<Real>::moment * maximum(absolute(due), due - start);
  while (output_before(me, due - margin)) {
    const Real when = next_output_time(me);
    let_integrals_grow(when);
    write_output(me, when, when, y);
  }
  let_integrals_grow(due);
  copy<M::size>(y, motion.y);
  measure_sizes<M>(me.k, motion, motion.y, motion.y, due - start, me.sizes);
  for (int i = 0; i < M::r; ++i) me.candidates.add(i);
  motion.t = due;
  update_extremes_now(me);
  audit_energy<M>(me.k, motion, me.energy, me.audit);
  apply_scheduled_and_outputs(me);
}

// To the state y at the time t, without an event before. Writes motion, rounding sizes, results, audit, the
// arming of conditions and unknown signs of watched functions.
template <class M>
ZWANG_COLD void move_to(M& me, typename M::Real t, const typename M::Real* y) {
  using Real = typename M::Real;
  typename M::Motion& motion = me.motion;
  if (!count_step(me)) return;
  measure_sizes<M>(me.k, motion, motion.y, y, t - motion.t, me.sizes);
  copy<M::size>(y, motion.y);
  clear_turns<M>(motion.y);
  motion.t = t;
  if (!all_finite<M::size>(motion.y)) {
    me.fail(Status::not_finite);
    return;
  }
  project_drift<M>(me.k, me.constraints, motion, me.audit);
  audit_open_conditions(me);
  update_extremes_now(me);
  audit_energy<M>(me.k, motion, me.energy, me.audit);
  // Conditions clearly below zero are armed; the signs of watched functions clearly off zero are known.
  for (int i = 0; i < M::r; ++i) {
    Condition<Real>& condition = me.constraints.conditions[i];
    if (condition.standing != Standing::open || condition.armed) continue;
    const Real elapsed = motion.t - condition.since;
    const auto zero = zero_of(me, i);
    condition.armed = zero.f < -(zero.value + Real(0.5) * condition.noise * elapsed * elapsed) ||
                      condition.below_at <= motion.t;
  }
  for (int i = 0; i < M::Model::watches; ++i) {
    if (me.watch_signs[i] != 0) continue;
    const auto value = scaled_signal(me, i);
    if (absolute(value.value) > me.input.contact_tolerance * value.scale)
      me.watch_signs[i] = value.value > 0 ? 1 : -1;
  }
}

// Moves to the event found within the step, or to the step's end.
template <class M>
ZWANG_COLD void advance(M& me, const DenseStep<M>& dense, const LocatedEvent<M>& found) {
  using Real = typename M::Real;
  const auto& interpolant = dense.interpolant;
  const Real due = me.exchange.scheduled_time, x = found.found ? found.x : Real(1);
  const bool arrives =
      !found.found && due <= me.motion.t + interpolant.h * (1 + 8 * Precision<Real>::epsilon);
  const Real until = arrives ? due : me.motion.t + x * interpolant.h;
  emit_outputs_until(me, dense, until);
  refine_extremes(me, interpolant, x);
  move_to(me, until, found.found ? found.y : interpolant.end);
}

// The step ends at a crossing, or within the reach of a short integration from it
// (rootfinding/step_length_search.h): moves to the crossing and leaves the event in exchange.event, to be
// handled.
template <class M>
ZWANG_COLD void move_to_crossing(M& me) {
  using Real = typename M::Real;
  typename M::Motion& motion = me.motion;
  auto& exchange = me.exchange;
  exchange.event.kind = EventFunctionKind::nothing;
  exchange.next_h = exchange.step.crossing.next_h;
  measure_sizes<M>(me.k, motion, motion.y, exchange.end, exchange.step.h, me.sizes);
  LocatedEvent<M> found;
  if (!locate_at_step_end(me, found)) {
    // Not a single first crossing: the whole step is taken again, without a search.
    exchange.step.no_search_from = motion.t;
    motion.h = exchange.step.crossing.h;
    return;
  }
  if (exchange.verdict.output_due || exchange.verdict.extremum_possible) {
    DenseStep<M> dense{me.k, me.constraints, {}, {}};
    build_dense_step(me, dense);
    // The end of the trial step may lie before the event or beyond it.
    emit_outputs_until(me, dense, motion.t + minimum(found.x, exchange.step.h));
    if (exchange.verdict.extremum_possible)
      refine_extremes(me, dense.interpolant, minimum(found.x / exchange.step.h, Real(1)));
  }
  emit_outputs_beyond(me, motion.t + found.x);
  move_to(me, motion.t + found.x, found.y);
  exchange.event = found.to_handle();
}

}  // namespace zwang
