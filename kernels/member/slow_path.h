// What the lanes leave to the member itself, one at a time: events, outputs, starts and ends. The lane hands over the step
// it has tried (Member::hand), and takes back what it needs to go on. src/reference/motion.cpp is the reference.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/event/dispatch.h"
#include "kernels/event/event_functions.h"
#include "kernels/event/first_event.h"
#include "kernels/event/instant_events.h"
#include "kernels/event/refine_event_time.h"
#include "kernels/event/signal_signs.h"
#include "kernels/integrator/runge_kutta.h"
#include "kernels/integrator/taylor_series.h"
#include "kernels/member/outputs.h"
#include "kernels/member/start_and_end.h"
#include "kernels/record/measures.h"
#include "kernels/record/output_rows.h"

namespace zwang {

// From the lane's accounts to the member's.
template <class M>
ZWANG_DEVICE void load_ledger(M& me) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  auto& exchange = me.exchange;
  me.motion.h = exchange.step.h;
  me.candidates.clear();
  for (int i = 0; i < M::r; ++i) {
    // A multiplier that has been large comes back to zero only to the rounding of what it was.
    Real& zero = me.constraints.conditions[i].multiplier_zero;
    zero = maximum(zero, 10 * me.input.contact_tolerance * exchange.ledger.peak_lambda[i]);
    // Conditions that were not heard are far from anything; those the lanes do not listen to stay suspect.
    const bool listened = exchange.ledger.arming_level[i] > 0 || exchange.presses_now[i] > 0;
    const bool sought = exchange.verdict.at_event && exchange.step.crossing.sought[i] > 0;
    if (!listened || sought || exchange.may_cross[i] || !Model::is_holonomic(i)) me.candidates.add(i);
    if (me.constraints.conditions[i].standing != Standing::open) continue;
    if (exchange.ledger.arming_level[i] > 0 ||
        (exchange.ledger.arming_level[i] < 0 && !exchange.verdict.event_possible))
      me.constraints.conditions[i].armed = true;
  }
  me.audit.raise(audit_drift, exchange.ledger.drift);
  me.audit.raise(audit_size, exchange.ledger.energy_size);
  me.audit.raise(audit_position, exchange.ledger.worst_position);
  me.audit.raise(audit_velocity, exchange.ledger.worst_velocity);
}

// How far an open condition must come below zero to be armed, within the next step.
template <class M>
ZWANG_DEVICE typename M::Real level_to_arm(const M& me, int i) {
  const Condition<typename M::Real>& condition = me.constraints.conditions[i];
  const auto elapsed = me.motion.t - condition.since + me.motion.h;
  return condition.above + 2 * zero_of(me, i).value + condition.noise * elapsed * elapsed;
}

// What the lane needs to move this member on; false when there is nothing to move.
template <class M>
ZWANG_COLD bool prepare_lane(M& me) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  auto& exchange = me.exchange;
  bool careful = me.constraints.redundant;
  if (me.going()) {
    careful = !set_signal_sides(me) || careful;
    Real rate[M::size];
    member_right_side<M>(me.k, me.constraints, me.motion.t, me.motion.y, rate, exchange.lambda);
    if (!all_finite<M::size>(rate)) me.fail(Status::not_finite);
    for (int m = 0; m < M::size - M::n; ++m) exchange.first_rate[m] = rate[M::n + m];
  }
  if (!me.going()) {
    finish(me, true);
    return false;
  }
  Model::levels(me.k, me.motion.t, me.motion.q(), me.motion.v(), me.motion.z(), exchange.f, exchange.f_rate);
  for (int i = 0; i < M::r; ++i) {
    const Condition<Real>& condition = me.constraints.conditions[i];
    const bool open = condition.standing == Standing::open, closed = condition.standing == Standing::closed;
    exchange.ledger.peak_lambda[i] = absolute(exchange.lambda[i]);
    exchange.ledger.arming_level[i] = open && condition.armed ? Real(1) : Real(0);
    exchange.presses_now[i] = closed && !condition.idle ? Real(1) : Real(0);
    const bool leaving = open && !condition.armed && Model::is_holonomic(i);
    if (leaving) exchange.ledger.arming_level[i] = -level_to_arm(me, i);
    careful = careful || (open && !condition.armed && !leaving) || (closed && condition.idle);
  }
  if constexpr (Model::any_extremes) {
    // After an event a force may set off from its largest value: the other side of the event counts as well.
    measured_at<M>(me.k, me.constraints, me.motion.t, me.motion.y, exchange.values);
    update_extremes<typename M::Model>(exchange.values, me.results);
  }
  exchange.verdict.always_handle = careful;
  exchange.scheduled_time = next_scheduled_time(me);
  set_next_output(me);
  return true;
}

// The step again, with all that its interpolant needs. Where the lane has kept its stages they are at hand; a lane whose
// stages lived in registers has only the start, and the step is taken once more.
template <class M>
ZWANG_COLD void build_dense_step(M& me, DenseStep<M>& dense) {
  using Real = typename M::Real;
  constexpr int kept = M::size - M::n;
  auto& exchange = me.exchange;
  if constexpr (M::Method::expands)
    if (!me.constraints.any_held) {
      expand(me.k, me.motion.t, exchange.step.h, me.motion.y, dense.interpolant, exchange.last_rate);
      return;
    }
  const auto rates = [&](Real t, const Real* there, Real* rate) {
    Real lambda[M::rows];
    member_right_side<M>(me.k, me.constraints, t, there, rate, lambda);
  };
  const auto complete = [&](auto& step) {
    step.complete_interpolant(me.motion.t, me.motion.y, rates);
    dense.interpolant.make(step, me.motion.t, me.motion.y);
    copy<kept>(step.k[M::Method::last], exchange.last_rate);
  };
  if constexpr (ZWANG_STAGES_KEPT) {
    complete(exchange.stages);
  } else {
    StepArrays<typename M::Method, M::n, M::size, M::fed_back, Real> step;
    step.h = exchange.step.h;
    copy<kept>(exchange.first_rate, step.k[0]);
    step.take(me.motion.t, me.motion.y, rates);
    complete(step);
  }
  copy<kept>(exchange.first_rate, dense.first_rate);
}

// After the motion has arrived somewhere: appointments, the end, outputs.
template <class M>
ZWANG_COLD void apply_scheduled_and_outputs(M& me) {
  if (me.going()) apply_scheduled_events(me, false);
  if (me.progress.status == Status::ok)
    me.progress.finished = !(me.motion.t < me.input.end - me.motion.rounding_of_time());
  if (me.progress.status == Status::ok || me.progress.status == Status::stopped) emit_output_now(me);
}

// Nothing happens to the motion: only outputs inside the step, or a measure's hump. Then it goes on as the lane had it.
template <class M>
ZWANG_COLD void write_inner_outputs(M& me) {
  using Real = typename M::Real;
  auto& exchange = me.exchange;
  DenseStep<M> dense{me, {}, {}};
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
  copy<M::size - M::n>(exchange.last_rate, exchange.first_rate);
  for (int i = 0; i < M::r; ++i) {
    exchange.ledger.peak_lambda[i] = maximum(exchange.ledger.peak_lambda[i], absolute(exchange.lambda[i]));
    if (exchange.ledger.arming_level[i] < 0) exchange.ledger.arming_level[i] = 1;
  }
}

// Nothing happened on the way, and an appointment (or the end) is reached.
template <class M>
ZWANG_COLD void reach_scheduled_time(M& me) {
  using Real = typename M::Real;
  const auto& exchange = me.exchange;
  if (++me.steps.taken >= me.input.settings->max_steps) {
    me.fail(Status::step_limit);
    return;
  }
  const Real due = exchange.scheduled_time;
  const Real then =
      due <= me.motion.t + me.motion.h * (1 + 8 * Precision<Real>::epsilon) ? due : me.motion.t + me.motion.h;
  // A member that ends here asks what rounding is only where something else is due.
  if (then < me.input.end || next_due(me) <= me.input.end)
    measure_sizes<M>(me.k, me.motion, me.motion.y, exchange.end, me.motion.h, me.sizes);
  copy<M::size>(exchange.end, me.motion.y);
  me.motion.t = then;
  update_extremes_now(me);
  audit_energy(me);
  apply_scheduled_and_outputs(me);
  me.motion.h = exchange.next_h;
}

// To the end of a stretch of motion in which nothing happened.
template <class M>
ZWANG_COLD void move_to(M& me, typename M::Real t, const typename M::Real* y) {
  using Real = typename M::Real;
  if (++me.steps.taken >= me.input.settings->max_steps) {
    me.fail(Status::step_limit);
    return;
  }
  measure_sizes<M>(me.k, me.motion, me.motion.y, y, t - me.motion.t, me.sizes);
  copy<M::size>(y, me.motion.y);
  me.motion.t = t;
  if (!all_finite<M::size>(me.motion.y)) {
    me.fail(Status::not_finite);
    return;
  }
  project_drift(me);
  update_extremes_now(me);
  audit_energy(me);
  // Conditions clearly below zero are armed; watched functions clearly off zero know their side.
  for (int i = 0; i < M::r; ++i) {
    Condition<Real>& condition = me.constraints.conditions[i];
    if (condition.standing != Standing::open || condition.armed) continue;
    const Real elapsed = me.motion.t - condition.since;
    const auto zero = zero_of(me, i);
    condition.armed = zero.f < -(zero.value + Real(0.5) * condition.noise * elapsed * elapsed) ||
                      condition.below_at <= me.motion.t;
  }
  for (int i = 0; i < M::Model::watches; ++i) {
    if (me.watch_signs[i] != 0) continue;
    const auto value = scaled_signal(me, i);
    if (absolute(value.value) > me.input.contact_tolerance * value.scale)
      me.watch_signs[i] = value.value > 0 ? 1 : -1;
  }
}

// Takes the stretch of motion up to the occurrence into the record.
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

// After what happened at this instant.
template <class M>
ZWANG_COLD void continue_after(M& me, EventFunctionKind kind) {
  apply_scheduled_and_outputs(me);
  me.motion.h = me.exchange.next_h;
  // A new law of motion: the old step may be far too long, and each try costs a whole step.
  const bool anew = kind == EventFunctionKind::reached && me.constraints.any_held;
  if (M::Method::adaptive && anew && me.going()) me.motion.h = minimum(me.motion.h, initial_step(me));
}

// The step ends at a crossing, or so near that a plain method leads there (rootfinding/step_length_search.h): the motion up to it. What is to happen
// there is left in `due`.
template <class M>
ZWANG_COLD void move_to_crossing(M& me) {
  using Real = typename M::Real;
  auto& exchange = me.exchange;
  exchange.event.kind = EventFunctionKind::nothing;
  exchange.next_h = exchange.step.crossing.next_h;
  measure_sizes<M>(me.k, me.motion, me.motion.y, exchange.end, exchange.step.h, me.sizes);
  LocatedEvent<M> found;
  if (!locate_at_step_end(me, found)) {
    // Not so simple after all: the whole step again, and the careful way.
    exchange.step.no_search_from = me.motion.t;
    me.motion.h = exchange.step.crossing.h;
    return;
  }
  if (exchange.verdict.output_due || exchange.verdict.extremum_possible) {
    DenseStep<M> dense{me, {}, {}};
    build_dense_step(me, dense);
    // The end of the try may lie beyond the event, or before it.
    emit_outputs_until(me, dense, me.motion.t + minimum(found.x, exchange.step.h));
    if (exchange.verdict.extremum_possible)
      refine_extremes(me, dense.interpolant, minimum(found.x / exchange.step.h, Real(1)));
  }
  emit_outputs_beyond(me, me.motion.t + found.x);
  move_to(me, me.motion.t + found.x, found.y);
  exchange.event = found.due();
}

// A condition that is left at the step's start and comes back within its first moments: over so long a step the interpolant
// is noise there, and what it takes for the contact is the leaving itself.
template <class M>
ZWANG_DEVICE bool is_departure(const M& me, const LocatedEvent<M>& found, typename M::Real h) {
  using Real = typename M::Real;
  const int i = found.event_function.index;
  if (!found.found || found.event_function.kind != EventFunctionKind::reached || !M::Model::is_holonomic(i))
    return false;
  if (!(found.x < Real(0.01)) || !(h > Real(1e5) * Precision<Real>::epsilon * absolute(me.motion.t)))
    return false;
  const Real *q = found.y, *v = found.y + M::n, *z = found.y + 2 * M::n;
  return M::Model::rate(me.k, me.motion.t + found.x * h, q, v, z, i) < 0;
}

// The careful way through a step: what happens first, the motion up to there, and what follows from it.
template <class M>
ZWANG_COLD void handle_events(M& me) {
  using Real = typename M::Real;
  DenseStep<M> dense{me, {}, {}};
  build_dense_step(me, dense);
  measure_sizes<M>(me.k, me.motion, dense.interpolant.start, dense.interpolant.end, dense.interpolant.h,
                   me.sizes);
  LocatedEvent<M> found;
  if (me.exchange.verdict.event_possible) first_event(me, dense, found);
  if (!me.going()) return;
  if (is_departure(me, found, dense.interpolant.h)) {
    ++me.steps.rejected;
    me.motion.h = Real(0.1) * dense.interpolant.h;
    return;
  }
  advance(me, dense, found);
  const EventToHandle<Real> due = found.due();
  if (me.going() && found.found && !try_single_contact(me, due)) dispatch_event(me, due);
  continue_after(me, due.kind);
}

// A step that a lane has handed over at the end of its search: lands, and says whether what is due there has happened,
// being plain.
template <class M>
ZWANG_COLD bool try_event_at_step_end(M& me) {
  load_ledger(me);
  move_to_crossing(me);
  const EventToHandle<typename M::Real> due = me.exchange.event;
  return due.kind == EventFunctionKind::nothing || !me.going() || try_single_contact(me, due);
}

// After that. True when the lane goes on with this member.
template <class M>
ZWANG_COLD bool continue_from_event(M& me) {
  const EventFunctionKind kind = me.exchange.event.kind;
  if (kind != EventFunctionKind::nothing) continue_after(me, kind);
  return prepare_lane(me);
}

// What was not plain.
template <class M>
ZWANG_COLD bool dispatch_at_step_end(M& me) {
  dispatch_event(me, me.exchange.event);
  return continue_from_event(me);
}

// Any other step a lane has handed over.
template <class M>
ZWANG_COLD bool handle_other_step(M& me) {
  auto& exchange = me.exchange;
  const bool inside = exchange.verdict.extremum_possible || exchange.verdict.output_due;
  if (!exchange.verdict.stuck && !exchange.verdict.event_possible && !exchange.verdict.clipped) {
    write_inner_outputs(me);
    return true;
  }
  load_ledger(me);
  if (exchange.verdict.stuck) {
    // Why no step could be taken: the tolerance, or a motion that has no number any more.
    me.fail(all_finite<M::size>(exchange.end) ? Status::step_too_small : Status::not_finite);
  } else if (exchange.verdict.event_possible || inside) {
    handle_events(me);
  } else {
    reach_scheduled_time(me);
  }
  return prepare_lane(me);
}

template <class M>
ZWANG_COLD bool handle_member(M& me) {
  if (!me.exchange.verdict.at_event) return handle_other_step(me);
  return try_event_at_step_end(me) ? continue_from_event(me) : dispatch_at_step_end(me);
}

// The member of that number; false when it has ended before it could move.
template <class M>
ZWANG_COLD bool start_member(M& me, const KernelSettings& settings, const KernelBatch& batch,
                             long long number) {
  if (!begin(me, settings, batch, number)) {
    finish(me, me.progress.status == Status::ok || me.progress.status == Status::stopped);
    return false;
  }
  me.exchange.ledger.drift = me.exchange.ledger.energy_size = me.exchange.ledger.worst_position =
      me.exchange.ledger.worst_velocity = 0;
  me.motion.h = M::Method::adaptive ? initial_step(me) : typename M::Real(settings.step);
  return prepare_lane(me);
}

}  // namespace zwang
