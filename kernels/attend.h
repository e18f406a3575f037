// What the lanes leave to the member itself, one at a time: events, outputs, starts and ends. The lane hands over the step
// it has tried (Member::hand), and takes back what it needs to go on. src/motion.cpp is the reference.
#pragma once

#include "kernels/outputs.h"
#include "kernels/series.h"
#include "kernels/sides.h"

namespace zwang {

// From the lane's accounts to the member's.
template <class M>
ZWANG_DEVICE void take_accounts(M& me) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  auto& hand = me.hand;
  me.h = hand.step_h;
  me.near.clear();
  for (int i = 0; i < M::r; ++i) {
    // A multiplier that has been large comes back to zero only to the rounding of what it was.
    Real& zero = me.conditions[i].multiplier_zero;
    zero = maximum(zero, 10 * me.contact_tolerance * hand.peak_lambda[i]);
    // Conditions that were not heard are far from anything; those the lanes do not listen to stay suspect.
    const bool listened = hand.watched[i] > 0 || hand.pressed[i] > 0;
    const bool sought = hand.landed && hand.landing.mine[i] > 0;
    if (!listened || sought || hand.heard[i] || !Model::is_holonomic(i)) me.near.add(i);
    if (me.conditions[i].standing != Standing::open) continue;
    if (hand.watched[i] > 0 || (hand.watched[i] < 0 && !hand.loud)) me.conditions[i].armed = true;
  }
  me.audit_max(audit_drift, hand.drift);
  me.audit_max(audit_size, hand.energy_size);
  me.audit_max(audit_position, hand.worst_position);
  me.audit_max(audit_velocity, hand.worst_velocity);
}

// How far an open condition must come below zero to be armed, within the next step.
template <class M>
ZWANG_DEVICE typename M::Real leaving_level(const M& me, int i) {
  const Condition<typename M::Real>& condition = me.conditions[i];
  const auto elapsed = me.t - condition.since + me.h;
  return condition.above + 2 * zero_of(me, i).value + condition.noise * elapsed * elapsed;
}

// What the lane needs to move this member on; false when there is nothing to move.
template <class M>
ZWANG_COLD bool ready(M& me) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  auto& hand = me.hand;
  bool careful = me.redundant_now;
  if (me.going()) {
    careful = !take_sides(me) || careful;
    Real rate[M::size];
    member_right_side(me, me.t, me.y, rate, hand.lambda);
    if (!all_finite<M::size>(rate)) me.fail(Status::not_finite);
    for (int m = 0; m < M::size - M::n; ++m) hand.first_rate[m] = rate[M::n + m];
  }
  if (!me.going()) {
    finish(me, true);
    return false;
  }
  Model::levels(me.k, me.t, me.q(), me.v(), me.z(), hand.f, hand.f_rate);
  for (int i = 0; i < M::r; ++i) {
    const Condition<Real>& condition = me.conditions[i];
    const bool open = condition.standing == Standing::open, closed = condition.standing == Standing::closed;
    hand.peak_lambda[i] = absolute(hand.lambda[i]);
    hand.watched[i] = open && condition.armed ? Real(1) : Real(0);
    hand.pressed[i] = closed && !condition.idle ? Real(1) : Real(0);
    const bool leaving = open && !condition.armed && Model::is_holonomic(i);
    if (leaving) hand.watched[i] = -leaving_level(me, i);
    careful = careful || (open && !condition.armed && !leaving) || (closed && condition.idle);
  }
  if constexpr (Model::any_extremes) {
    // After an event a force may set off from its largest value: the other side of the event counts as well.
    measured_at(me, me.t, me.y, hand.values);
    see_values(me, hand.values);
  }
  hand.wary = careful;
  hand.appointment = next_appointment(me);
  await_output(me);
  return true;
}

// The step again, with all that its interpolant needs. Where the lane has kept its stages they are at hand; a lane whose
// stages lived in registers has only the start, and the step is taken once more.
template <class M>
ZWANG_COLD void make_stretch(M& me, Stretch<M>& stretch) {
  using Real = typename M::Real;
  constexpr int kept = M::size - M::n;
  auto& hand = me.hand;
  if constexpr (M::Method::expands)
    if (!me.any_held) {
      expand(me.k, me.t, hand.step_h, me.y, stretch.interpolant, hand.last_rate);
      return;
    }
  const auto rates = [&](Real t, const Real* there, Real* rate) {
    Real lambda[M::rows];
    member_right_side(me, t, there, rate, lambda);
  };
  const auto complete = [&](auto& step) {
    step.complete_interpolant(me.t, me.y, rates);
    stretch.interpolant.make(step, me.t, me.y);
    copy<kept>(step.k[M::Method::last], hand.last_rate);
  };
  if constexpr (ZWANG_STAGES_KEPT) {
    complete(hand.stages);
  } else {
    StepArrays<typename M::Method, M::n, M::size, M::fed_back, Real> step;
    step.h = hand.step_h;
    copy<kept>(hand.first_rate, step.k[0]);
    step.take(me.t, me.y, rates);
    complete(step);
  }
  copy<kept>(hand.first_rate, stretch.first_rate);
}

// After the motion has arrived somewhere: appointments, the end, outputs.
template <class M>
ZWANG_COLD void follow_up(M& me) {
  if (me.going()) keep_appointments(me, false);
  if (me.status == Status::ok) me.finished = !(me.t < me.end - me.rounding_of_time());
  if (me.status == Status::ok || me.status == Status::stopped) emit_output_now(me);
}

// Nothing happens to the motion: only outputs inside the step, or a measure's hump. Then it goes on as the lane had it.
template <class M>
ZWANG_COLD void visit(M& me) {
  using Real = typename M::Real;
  auto& hand = me.hand;
  Stretch<M> stretch{me, {}, {}};
  make_stretch(me, stretch);
  me.h = hand.step_h;
  emit_outputs_until(me, stretch, me.t + me.h);
  await_output(me);
  if (hand.hump) follow(me, stretch.interpolant, Real(1));
  if constexpr (M::Model::any_extremes) see_values(me, hand.values);
  me.t += me.h;
  me.h = hand.next_h;
  ++me.steps;
  copy<M::size>(hand.end, me.y);
  copy<M::size - M::n>(hand.last_rate, hand.first_rate);
  for (int i = 0; i < M::r; ++i) {
    hand.peak_lambda[i] = maximum(hand.peak_lambda[i], absolute(hand.lambda[i]));
    if (hand.watched[i] < 0) hand.watched[i] = 1;
  }
}

// Nothing happened on the way, and an appointment (or the end) is reached.
template <class M>
ZWANG_COLD void arrive(M& me) {
  using Real = typename M::Real;
  const auto& hand = me.hand;
  if (++me.steps >= me.settings->max_steps) {
    me.fail(Status::step_limit);
    return;
  }
  const Real due = hand.appointment;
  const Real then = due <= me.t + me.h * (1 + 8 * Precision<Real>::epsilon) ? due : me.t + me.h;
  // A member that ends here asks what rounding is only where something else is due.
  if (then < me.end || next_due(me) <= me.end) measure_sizes(me, me.y, hand.end, me.h);
  copy<M::size>(hand.end, me.y);
  me.t = then;
  see(me);
  audit_energy(me);
  follow_up(me);
  me.h = hand.next_h;
}

// To the end of a stretch of motion in which nothing happened.
template <class M>
ZWANG_COLD void move_to(M& me, typename M::Real t, const typename M::Real* y) {
  using Real = typename M::Real;
  if (++me.steps >= me.settings->max_steps) {
    me.fail(Status::step_limit);
    return;
  }
  measure_sizes(me, me.y, y, t - me.t);
  copy<M::size>(y, me.y);
  me.t = t;
  if (!all_finite<M::size>(me.y)) {
    me.fail(Status::not_finite);
    return;
  }
  settle_drift(me);
  see(me);
  audit_energy(me);
  // Conditions clearly below zero are armed; watched functions clearly off zero know their side.
  for (int i = 0; i < M::r; ++i) {
    Condition<Real>& condition = me.conditions[i];
    if (condition.standing != Standing::open || condition.armed) continue;
    const Real elapsed = me.t - condition.since;
    const auto zero = zero_of(me, i);
    condition.armed = zero.f < -(zero.value + Real(0.5) * condition.noise * elapsed * elapsed) ||
                      condition.below_at <= me.t;
  }
  for (int i = 0; i < M::Model::watches; ++i) {
    if (me.sides[i] != 0) continue;
    const auto value = scaled_signal(me, i);
    if (absolute(value.value) > me.contact_tolerance * value.scale) me.sides[i] = value.value > 0 ? 1 : -1;
  }
}

// Takes the stretch of motion up to the occurrence into the record.
template <class M>
ZWANG_COLD void advance(M& me, const Stretch<M>& stretch, const Occurrence<M>& found) {
  using Real = typename M::Real;
  const auto& interpolant = stretch.interpolant;
  const Real due = me.hand.appointment, x = found.found ? found.x : Real(1);
  const bool arrives = !found.found && due <= me.t + interpolant.h * (1 + 8 * Precision<Real>::epsilon);
  const Real until = arrives ? due : me.t + x * interpolant.h;
  emit_outputs_until(me, stretch, until);
  follow(me, interpolant, x);
  move_to(me, until, found.found ? found.y : interpolant.end);
}

// After what happened at this instant.
template <class M>
ZWANG_COLD void go_on_from(M& me, LookoutKind kind) {
  follow_up(me);
  me.h = me.hand.next_h;
  // A new law of motion: the old step may be far too long, and each try costs a whole step.
  const bool anew = kind == LookoutKind::reached && me.any_held;
  if (M::Method::adaptive && anew && me.going()) me.h = minimum(me.h, initial_step(me));
}

// The step ends at a crossing, or so near that a plain method leads there (seek.h): the motion up to it. What is to happen
// there is left in `due`.
template <class M>
ZWANG_COLD void land(M& me) {
  using Real = typename M::Real;
  auto& hand = me.hand;
  hand.due.kind = LookoutKind::nothing;
  hand.next_h = hand.landing.next_h;
  measure_sizes(me, me.y, hand.end, hand.step_h);
  Occurrence<M> found;
  if (!land_on(me, found)) {
    // Not so simple after all: the whole step again, and the careful way.
    hand.barred = me.t;
    me.h = hand.landing.h;
    return;
  }
  if (hand.output || hand.hump) {
    Stretch<M> stretch{me, {}, {}};
    make_stretch(me, stretch);
    // The end of the try may lie beyond the event, or before it.
    emit_outputs_until(me, stretch, me.t + minimum(found.x, hand.step_h));
    if (hand.hump) follow(me, stretch.interpolant, minimum(found.x / hand.step_h, Real(1)));
  }
  emit_outputs_beyond(me, me.t + found.x);
  move_to(me, me.t + found.x, found.y);
  hand.due = found.due();
}

// A condition that is left at the step's start and comes back within its first moments: over so long a step the interpolant
// is noise there, and what it takes for the contact is the leaving itself.
template <class M>
ZWANG_DEVICE bool is_departure(const M& me, const Occurrence<M>& found, typename M::Real h) {
  using Real = typename M::Real;
  const int i = found.lookout.index;
  if (!found.found || found.lookout.kind != LookoutKind::reached || !M::Model::is_holonomic(i)) return false;
  if (!(found.x < Real(0.01)) || !(h > Real(1e5) * Precision<Real>::epsilon * absolute(me.t))) return false;
  const Real *q = found.y, *v = found.y + M::n, *z = found.y + 2 * M::n;
  return M::Model::rate(me.k, me.t + found.x * h, q, v, z, i) < 0;
}

// The careful way through a step: what happens first, the motion up to there, and what follows from it.
template <class M>
ZWANG_COLD void attend(M& me) {
  using Real = typename M::Real;
  Stretch<M> stretch{me, {}, {}};
  make_stretch(me, stretch);
  measure_sizes(me, stretch.interpolant.start, stretch.interpolant.end, stretch.interpolant.h);
  Occurrence<M> found;
  if (me.hand.loud) first_occurrence(me, stretch, found);
  if (!me.going()) return;
  if (is_departure(me, found, stretch.interpolant.h)) {
    ++me.rejected;
    me.h = Real(0.1) * stretch.interpolant.h;
    return;
  }
  advance(me, stretch, found);
  const Due<Real> due = found.due();
  if (me.going() && found.found && !happen_plainly(me, due)) happen(me, due);
  go_on_from(me, due.kind);
}

// A step that a lane has handed over at the end of its search: lands, and says whether what is due there has happened,
// being plain.
template <class M>
ZWANG_COLD bool land_plainly(M& me) {
  take_accounts(me);
  land(me);
  const Due<typename M::Real> due = me.hand.due;
  return due.kind == LookoutKind::nothing || !me.going() || happen_plainly(me, due);
}

// After that. True when the lane goes on with this member.
template <class M>
ZWANG_COLD bool leave_landing(M& me) {
  const LookoutKind kind = me.hand.due.kind;
  if (kind != LookoutKind::nothing) go_on_from(me, kind);
  return ready(me);
}

// What was not plain.
template <class M>
ZWANG_COLD bool happen_at_landing(M& me) {
  happen(me, me.hand.due);
  return leave_landing(me);
}

// Any other step a lane has handed over.
template <class M>
ZWANG_COLD bool tend_unlanded(M& me) {
  auto& hand = me.hand;
  const bool inside = hand.hump || hand.output;
  if (!hand.stuck && !hand.loud && !hand.clipped) {
    visit(me);
    return true;
  }
  take_accounts(me);
  if (hand.stuck) {
    // Why no step could be taken: the tolerance, or a motion that has no number any more.
    me.fail(all_finite<M::size>(hand.end) ? Status::step_too_small : Status::not_finite);
  } else if (hand.loud || inside) {
    attend(me);
  } else {
    arrive(me);
  }
  return ready(me);
}

template <class M>
ZWANG_COLD bool tend(M& me) {
  if (!me.hand.landed) return tend_unlanded(me);
  return land_plainly(me) ? leave_landing(me) : happen_at_landing(me);
}

// The member of that number; false when it has ended before it could move.
template <class M>
ZWANG_COLD bool start(M& me, const KernelSettings& settings, const KernelBatch& batch, long long number) {
  if (!begin(me, settings, batch, number)) {
    finish(me, me.status == Status::ok || me.status == Status::stopped);
    return false;
  }
  me.hand.drift = me.hand.energy_size = me.hand.worst_position = me.hand.worst_velocity = 0;
  me.h = M::Method::adaptive ? initial_step(me) : typename M::Real(settings.step);
  return ready(me);
}

}  // namespace zwang
