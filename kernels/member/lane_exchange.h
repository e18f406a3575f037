// Between a member and the lane that moves it: what the lane's ledger means for the member after a step, and
// what the lane needs for the next one.
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/event/instant_events.h"
#include "kernels/event/modes.h"
#include "kernels/event/signal_signs.h"
#include "kernels/member/outputs.h"
#include "kernels/member/start_and_end.h"
#include "kernels/record/measures.h"

namespace zwang {

// From the lane's ledger to the member. Writes the step length, the candidates, arming and multiplier zeros
// of the conditions, and the audit.
template <class M>
ZWANG_DEVICE void load_ledger(M& me) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  const auto& exchange = me.exchange;
  const auto& ledger = exchange.ledger;
  me.motion.h = exchange.step.h;
  me.candidates.clear();
  for (int i = 0; i < M::r; ++i) {
    Condition<Real>& condition = me.constraints.conditions[i];
    // A multiplier that has been large is zero again only to the rounding of its largest value.
    condition.multiplier_zero =
        maximum(condition.multiplier_zero, 10 * me.input.contact_tolerance * ledger.peak_lambda[i]);
    // A condition that the lane monitored without detecting a possible crossing is far from zero; those it
    // does not monitor remain candidates.
    const bool monitored = ledger.arming_level[i] > 0 || exchange.presses_now[i] > 0;
    // The lane's multipliers are one choice of many where they are not unique: it knows nothing of the others.
    const bool shared = me.constraints.redundant && condition.standing == Standing::closed;
    const bool sought = exchange.verdict.at_event && exchange.step.crossing.sought[i] > 0;
    if (!monitored || shared || sought || exchange.may_cross[i] || !Model::is_holonomic(i))
      me.candidates.add(i);
    if (condition.standing != Standing::open) continue;
    if (ledger.arming_level[i] > 0 || (ledger.arming_level[i] < 0 && !exchange.verdict.event_possible))
      condition.armed = true;
  }
  me.audit.raise(audit_drift, ledger.drift);
  me.audit.raise(audit_size, ledger.energy_size);
  me.audit.raise(audit_position, ledger.worst_position);
  me.audit.raise(audit_velocity, ledger.worst_velocity);
}

// How far below zero f of an open condition must fall within the next step to arm it.
template <class M>
ZWANG_DEVICE typename M::Real level_to_arm(const M& me, int i) {
  const Condition<typename M::Real>& condition = me.constraints.conditions[i];
  const auto elapsed = me.motion.t - condition.since + me.motion.h;
  return condition.above + 2 * zero_of(me, i).value + condition.noise * elapsed * elapsed;
}

// Fills the exchange with what the lane needs for the next step. False: the member has ended, and its results
// are written.
template <class M>
ZWANG_COLD bool prepare_lane(M& me) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  const typename M::Motion& motion = me.motion;
  auto& exchange = me.exchange;
  bool careful = me.constraints.redundant;
  if (me.going()) {
    if constexpr (slips_in_space<Model>()) renew_slip_directions(me);
    careful = !set_signal_sides(me) || careful;
    Real rate[M::size];
    member_right_side<M>(me.k, me.constraints, motion.t, motion.y, rate, exchange.lambda);
    if (!all_finite<M::size>(rate)) me.fail(Status::not_finite);
    for (int m = 0; m < M::size - M::n; ++m) exchange.first_rate[m] = rate[M::n + m];
  }
  if (!me.going()) {
    finish_member(me, true);
    return false;
  }
  Model::levels(me.k, motion.t, motion.q(), motion.v(), motion.z(), exchange.f, exchange.f_rate);
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
    // A force may have its largest value right after an event: the values on both sides of it count.
    measured_at<M>(me.k, me.constraints, motion.t, motion.y, exchange.values);
    update_extremes<Model>(exchange.values, me.results);
  }
  exchange.verdict.always_handle = careful;
  exchange.scheduled_time = next_scheduled_time(me);
  set_next_output(me);
  return true;
}

}  // namespace zwang
