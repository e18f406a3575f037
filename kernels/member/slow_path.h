// The slow path of one member: events, outputs, starts and ends, which lanes leave to it. The lane stores the
// step it has tried in Member::exchange and loads from there what it needs to go on. The reference is
// src/reference/motion.cpp.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/row_dependence.h"
#include "kernels/event/active_set.h"
#include "kernels/event/dispatch.h"
#include "kernels/event/event_functions.h"
#include "kernels/event/first_event.h"
#include "kernels/event/modes.h"
#include "kernels/event/single_contact.h"
#include "kernels/member/advance.h"
#include "kernels/member/lane_exchange.h"
#include "kernels/member/singular_passage.h"
#include "kernels/member/slip_times.h"
#include "kernels/member/start_and_end.h"
#include "kernels/member/stiff_slip.h"

namespace zwang {

// After this event has been handled: scheduled events and outputs at the same time, and the next step length.
template <class M>
ZWANG_COLD void continue_after(M& me, const EventToHandle<typename M::Real>& event) {
  apply_scheduled_and_outputs(me);
  me.motion.h = me.exchange.next_h;
  // After a contact the motion obeys another law: the old step may be far too long, and each rejected step is
  // costly.
  bool new_law = event.kind == EventFunctionKind::reached && me.constraints.any_held;
  // A slip in space that has vanished and begins again turns at a rate without bound, which the error estimate of a
  // long step misses.
  if constexpr (slips_in_space<typename M::Model>()) {
    const int transition = event.index - M::first_transition;
    new_law = new_law || (event.kind == EventFunctionKind::transition &&
                          TransitionKind(M::Model::transition_kind(transition)) == TransitionKind::stick);
  }
  if (M::Method::adaptive && new_law && me.going()) me.motion.h = minimum(me.motion.h, initial_step(me));
}

// Whether the contact found is in truth the separation with which the step began: the condition is left at
// the step's start and seems to come back within the first moments of so long a step, where the interpolant
// is dominated by rounding.
template <class M>
ZWANG_DEVICE bool is_departure(const M& me, const LocatedEvent<M>& found, typename M::Real h) {
  using Real = typename M::Real;
  const int i = found.event_function.index;
  if (!found.found || found.event_function.kind != EventFunctionKind::reached || !M::Model::is_holonomic(i))
    return false;
  if (!(found.x < Real(0.01)) || !(h > Real(1e5) * Precision<Real>::epsilon * absolute(me.motion.t)))
    return false;
  return M::Model::rate(me.k, me.motion.t + found.x * h, found.y, M::v_of(found.y), M::z_of(found.y), i) < 0;
}

// A condition that parts so slowly that rounding decides whether it is above zero seems to cross within every step.
// Steps that are shortened in search of its crossing would approach a scheduled time without end: after one that had
// no event, the next is examined whole.
template <class M>
ZWANG_COLD void forgo_search_at_zero(M& me) {
  for (int i = 0; i < M::r; ++i) {
    if (me.constraints.conditions[i].standing != Standing::open || !me.candidates.has(i)) continue;
    const auto zero = zero_of(me, i);
    if (absolute(zero.f) <= zero.value) me.exchange.step.no_search_from = me.motion.t;
  }
}

// Locates the first event within a step, moves there and handles it.
template <class M>
ZWANG_COLD void handle_events_within(M& me, const DenseStep<M>& dense) {
  using Real = typename M::Real;
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
  EventToHandle<Real> event = found.to_handle();
  if (me.going()) put_ending_motion_first(me, event);
  if (!found.found) forgo_search_at_zero(me);
  if (me.going() && found.found && !try_single_contact(me, event)) dispatch_event(me, event);
  continue_after(me, event);
}

// A step with a possible event.
template <class M>
ZWANG_COLD void handle_events(M& me) {
  DenseStep<M> dense{me.k, me.constraints, {}, {}};
  build_dense_step(me, dense);
  handle_events_within(me, dense);
}

// No step can be taken because a slip in space has vanished, or has shrunk below what the time resolves: it comes to rest
// [friction-8]. One that shrinks before one that has just begun. False: nothing of the kind.
template <class M>
ZWANG_COLD bool rest_unresolved_slip(M& me) {
  using Model = typename M::Model;
  if constexpr (slips_in_space<Model>()) {
    int found = -1;
    for (int i = 0; i < Model::transitions; ++i) {
      const int f = Model::transition_of(i);
      if (TransitionKind(Model::transition_kind(i)) != TransitionKind::stick || Model::friction_rows(f) == 1)
        continue;
      const typename M::Real* e = me.k + Model::first_mode + Model::friction_mode(f);
      if ((e[0] == 0 && e[1] == 0) || !slip_is_unresolved(me, f, SlipNow<M>(me, f))) continue;
      const bool shrinks = !keeps_moving(me, Model::friction_row(f), 2, e);
      if (shrinks || found < 0) found = i;
      if (shrinks) break;
    }
    if (found < 0) return false;
    dispatch_event(me, {EventFunctionKind::transition, M::first_transition + found});
    me.motion.h = initial_step(me);
    return true;
  }
  return false;
}

// Prepares the next step of the lane. Before that the member moves past positions in which its held rows are
// nearly dependent, through motions in which dependent contacts slip, and through those in which directions
// of slips turn much faster than the motion changes. On a GPU all others wait for these steps: after a few of them
// the verdict says that there are more, and the rest is left to the next turn. True when the lane goes on with this
// member.
template <class M>
ZWANG_COLD bool prepare_next_step(M& me) {
  using Model = typename M::Model;
  me.exchange.verdict.continues_alone = 0;
  if constexpr (may_become_dependent<Model> || shares_slip_loads<Model>() || slips_in_space<Model>()) {
    for (int step = 1; prepare_lane(me); ++step) {
      if (is_locked(me, me.exchange.first_rate)) {
        rest_until_scheduled_time(me);
        continue;
      }
      bool alone = slips_with_shared_loads<M>(me.k, me.constraints);
      if constexpr (slips_in_space<Model>())
        if (alone && !(slip_times(me).rest > 0) && rest_unresolved_slip(me)) continue;
      if constexpr (may_become_dependent<Model>) alone = is_near_dependence(me) || alone;
      DenseStep<M> dense{me.k, me.constraints, {}, {}};
      bool taken = false;
      if constexpr (slips_in_space<Model>()) taken = try_implicit_step(me, dense);
      if (!taken && !alone) return true;
      if (taken || take_step_alone(me, dense)) handle_events_within(me, dense);
      if (step >= ZWANG_STEPS_ALONE && me.going()) {
        me.exchange.verdict.continues_alone = 1;
        return true;
      }
    }
    return false;
  } else {
    while (prepare_lane(me)) {
      if (!is_locked(me, me.exchange.first_rate)) return true;
      rest_until_scheduled_time(me);
    }
    return false;
  }
}

// Open conditions at zero to rounding where a step was truncated at the crossing of another: within that step they do
// not cross, but they are reached at the same instant. A joint at its limit and a foot on the ground may be one and the
// same event, as between two links that lie on the ground in line.
template <class M>
ZWANG_COLD void add_candidates_at_zero(M& me) {
  for (int i = 0; i < M::r; ++i) {
    if (me.constraints.conditions[i].standing != Standing::open || me.candidates.has(i)) continue;
    const auto zero = zero_of(me, i);
    if (absolute(zero.f) <= zero.value) me.candidates.add(i);
  }
}

// A step that ends at a crossing: moves there and handles the event if it is a single contact or release.
// False: the event remains to be dispatched.
template <class M>
ZWANG_COLD bool try_event_at_step_end(M& me) {
  load_ledger(me);
  move_to_crossing(me);
  if (me.going()) put_ending_motion_first(me, me.exchange.event);
  const EventToHandle<typename M::Real> event = me.exchange.event;
  if (event.kind == EventFunctionKind::reached && me.going()) add_candidates_at_zero(me);
  return event.kind == EventFunctionKind::nothing || !me.going() || try_single_contact(me, event);
}

// After that event. True when the lane goes on with this member.
template <class M>
ZWANG_COLD bool continue_from_event(M& me) {
  const EventToHandle<typename M::Real> event = me.exchange.event;
  if (event.kind != EventFunctionKind::nothing) continue_after(me, event);
  return prepare_next_step(me);
}

// Handles the event that try_event_at_step_end() left. True when the lane goes on with this member.
template <class M>
ZWANG_COLD bool dispatch_at_step_end(M& me) {
  dispatch_event(me, me.exchange.event);
  return continue_from_event(me);
}

// Why no step could be taken. Forces that grow without bound as kappa of a slipping contact vanishes end the member
// as Painleve's paradox does [friction-5].
template <class M>
ZWANG_COLD Status stuck_status(const M& me, bool finite) {
  if constexpr (ModesOf<typename M::Model>::any) {
    ModeProblem<M> problem;
    typename M::Set set;
    for (int i = 0; i < M::r; ++i)
      if (me.constraints.held[i] > 0) set.add(i);
    replace_moded_rows(me, set);
    solve_problem(me, set, {}, problem);
    if (problem.status == Status::painleve) return Status::painleve;
    constexpr auto close = typename M::Real(1e-3);
    if (problem.status == Status::ok && problem.contacts.is_singular(problem.solution, close))
      return Status::painleve;
  }
  return finite ? Status::step_too_small : Status::not_finite;
}

// Any other step that a lane has stored. True when the lane goes on with this member.
template <class M>
ZWANG_COLD bool handle_other_step(M& me) {
  auto& exchange = me.exchange;
  const StepVerdict& verdict = exchange.verdict;
  const bool inside = verdict.extremum_possible || verdict.output_due;
  if (!verdict.stuck && !verdict.event_possible && !verdict.clipped) {
    write_inner_outputs(me);
    return true;
  }
  load_ledger(me);
  if (verdict.stuck) {
    // No step could be taken: because a slip ends, because of the tolerance, or because the state is not finite.
    if (!rest_unresolved_slip(me)) me.fail(stuck_status(me, all_finite<M::size>(exchange.end)));
  } else if (verdict.event_possible || inside) {
    handle_events(me);
  } else {
    reach_scheduled_time(me);
  }
  return prepare_next_step(me);
}

// The slow path for the step in me.exchange. May change everything in the member but its input. True when the
// lane goes on with this member; otherwise it has ended, and its results are written.
template <class M>
ZWANG_COLD bool handle_member(M& me) {
  if (!me.exchange.verdict.at_event) return handle_other_step(me);
  return try_event_at_step_end(me) ? continue_from_event(me) : dispatch_at_step_end(me);
}

// Starts the member of that number. False when it has ended before its first step.
template <class M>
ZWANG_COLD bool start_member(M& me, const KernelSettings& settings, const KernelBatch& batch,
                             long long number) {
  if (!begin_member(me, settings, batch, number)) {
    const Status status = me.progress.status;
    finish_member(me, status == Status::ok || status == Status::stopped);
    return false;
  }
  auto& ledger = me.exchange.ledger;
  ledger.drift = ledger.energy_size = ledger.worst_position = ledger.worst_velocity = 0;
  me.motion.h = M::Method::adaptive ? initial_step(me) : typename M::Real(settings.step);
  return prepare_next_step(me);
}

}  // namespace zwang
