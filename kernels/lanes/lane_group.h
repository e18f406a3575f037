// A group of lanes that step together: all lanes of a pack on a CPU, one lane on a GPU. Every lane has its
// own member and its own step length. Trial steps, event detection and the common events are done here;
// everything else is left to the slow path (member/slow_path.h), one member at a time.
//
// No function that is not inlined takes the group on a GPU, so that its data stays in registers. Members are
// in memory.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/row_dependence.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/integrator/taylor_series.h"
#include "kernels/lanes/accept_step.h"
#include "kernels/lanes/dense_lane.h"
#include "kernels/lanes/event_detection.h"
#include "kernels/lanes/fast_event.h"
#include "kernels/lanes/lane_state.h"
#include "kernels/lanes/lane_state_transfer.h"
#include "kernels/lanes/record_step.h"
#include "kernels/lanes/step_end.h"
#include "kernels/lanes/step_length.h"
#include "kernels/lanes/step_recorder.h"
#include "kernels/lanes/step_truncation.h"
#include "kernels/lanes/taylor_crossing.h"
#include "kernels/lanes/trial_step.h"
#include "kernels/member/slow_path.h"
#include "kernels/rootfinding/step_length_search.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

// The outcome of one trial step of a single lane.
enum class Progress { continues, at_event, needs_slow_path };

// The outcome of an event whose crossing is on a power series. `repeats`: another event may come before it, and
// the step is tried again with a shorter length.
enum class EventOutcome { handled, repeats, left };

// The fast event of one lane of a pack, not inlined: compiled once, apart from the step.
template <class LaneGroup>
ZWANG_COLD bool handle_fast_event(LaneGroup& group, int lane) {
  return group.fast_event().handle(lane);
}

template <class M, class R>
struct LaneGroup {
  using Member = M;
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  using Mask = typename Lanes<R>::Mask;
  using Search = StepLengthSearch<Real, M::event_functions>;
  using Ledger = LaneLedger<R, M::rows>;
  using Steps = StepStorage<M, R>;
  using Drives = DriveStorage<M, R>;
  using SingleLane = zwang::LaneGroup<M, Real>;
  static constexpr int lanes = Lanes<R>::count, n = M::n, r = M::r, size = M::size;
  static constexpr int signals = Model::signals;
  static constexpr bool finds_crossings_on_series = Method::expands && FastEvent<M, R>::contacts_possible;

  const KernelSettings& settings;
  const KernelBatch& batch;
  M* members;        // one for each lane
  M* full_members;   // the same; or, where `members` are copies of the front of members, the whole members
  Search* searches;  // one for each lane; in shared memory on a GPU
  Ledger& ledger;    // in shared memory on a GPU where that leaves registers for more lanes
  LaneState<M, R> state;
  StepInProgress<M, R> trial;
  StepFlags<M, R> flags;
  Mask needs_slow_path;                             // of live lanes; lanes without a member need a new one
  long long slow_path_ticks = 0, refill_ticks = 0;  // clock ticks spent there

  ZWANG_INLINE LaneGroup(const KernelSettings& run_settings, const KernelBatch& run_batch, M* lane_members,
                         Search* lane_searches, Ledger& lane_ledger)
      : settings(run_settings),
        batch(run_batch),
        members(lane_members),
        full_members(lane_members),
        searches(lane_searches),
        ledger(lane_ledger) {}

  // CPU: steps all lanes until there are no members left. `next()` returns the number of a new member, or -1.
  template <class Queue>
  ZWANG_INLINE void run(Queue& next) {
    const long long begun = batch.ticks ? clock_ticks() : 0;
    Drives own;
    trial.drive = &own;
    const Mask none = no_lanes<R>();
    state.live = flags.accepted = flags.rejected = state.searching = none;
    needs_slow_path = !none;
    ZWANG_REGISTERS for (int lane = 0; lane < lanes; ++lane) { transfer().set_idle(lane); }
    do {
      accept_step<M, R>(needs_slow_path, trial, flags, state, ledger);
      const Mask moving = state.live && !needs_slow_path;
      if (any(moving)) {
        try_step(moving);
        if (any(flags.accepted)) step_end().evaluate();
        search_driver().advance();
        record_steps();
        if (any(flags.at_event || flags.crosses_on_series)) handle_fast_events();
        needs_slow_path = needs_slow_path || flags.stuck || interrupted();
      }
      if (any(needs_slow_path)) run_slow_path(next);
    } while (any(state.live));
    if (batch.ticks) {
      batch.ticks[0] += clock_ticks() - begun;
      batch.ticks[1] += slow_path_ticks;
      batch.ticks[2] += refill_ticks;
    }
  }

  // GPU: a single lane loads a member, moves it by trial steps, and stores it again.
  ZWANG_INLINE void resume(M* me) {
    members = full_members = me;
    transfer().load(0, *me);
    state.live = true;
    needs_slow_path = flags.accepted = flags.rejected = false;
    update_held_flags();
  }
  // One trial step. True: something has to be recorded inside it, as recorder().request() says, before
  // finish_step().
  ZWANG_INLINE bool step_once() {
    try_step(state.live);
    if (flags.accepted) step_end().evaluate();
    search_driver().advance();
    return recorder().due();
  }
  // What follows a trial step. at_event: it ends at a single crossing and nothing else has to be handled
  // there.
  ZWANG_INLINE Progress finish_step() {
    if (flags.stuck || interrupted())
      return flags.crosses_on_series || (flags.at_event && !flags.output_due && !flags.extremum_possible)
                 ? Progress::at_event
                 : Progress::needs_slow_path;
    accept_step<M, R>(needs_slow_path, trial, flags, state, ledger);
    return Progress::continues;
  }
  // Stores the step with the member, for the event kernel or the slow path.
  ZWANG_INLINE void store_for_event_handling() { transfer().store_for_event_handling(0, *members); }
  // Handles the event of this step. False if the slow path has to; the step is then as it was. A step that is
  // truncated at the event is recorded by `record(group, request)`.
  template <class Record>
  ZWANG_INLINE bool handle_event_in_registers(const Record& record) {
    const R whole = trial.step.h;
    const StepFlags<M, R> before = flags;
    EventOutcome outcome = EventOutcome::handled;
    if constexpr (finds_crossings_on_series)
      if (before.crosses_on_series) {
        flags.set_at_event();
        state.searching = false;
        outcome = truncate_at_crossing();
        if (outcome == EventOutcome::handled) record_truncated_step(record);
      }
    if (outcome == EventOutcome::repeats) {
      flags.at_event = flags.accepted = false;
      return true;
    }
    if (outcome == EventOutcome::handled && fast_event().handle(0)) {
      update_held_flags();
      return true;
    }
    if (before.crosses_on_series) {
      trial.step.h = whole;
      flags = before;
    }
    return false;
  }
  // Handles the event of a step that was stored with the member. False: nothing has been changed.
  template <class Record>
  ZWANG_INLINE bool handle_stored_event(M* me, M* full_member, const Record& record) {
    const EventOutcome outcome = load_at_event(me, full_member, record);
    if (outcome == EventOutcome::repeats) {
      evaluate_signals();
      return true;
    }
    return outcome == EventOutcome::handled && fast_event().handle(0);
  }
  // Restores the lane at the end of a stored step, truncated at the crossing where that is on the series and
  // recorded by `record(group, request)`. The event remains to be handled where the outcome is so.
  template <class Record>
  ZWANG_INLINE EventOutcome load_at_event(M* me, M* full_member, const Record& record) {
    resume(me);
    full_members = full_member;
    const auto& exchange = me->exchange;
    static_cast<CrossingResult<Real, M::event_functions>&>(*searches) = exchange.step.crossing;
    trial.step.h = exchange.step.h;
    flags.set_at_event();
    state.searching = false;
    flags.clipped = exchange.verdict.clipped;
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) { trial.end[i] = exchange.end[i]; }
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      flags.first_if_at_end[i] = !exchange.verdict.order_unknown;
      trial.end_f[i] = exchange.f[i];
    }
    ZWANG_REGISTERS for (int i = 0; i < signals; ++i) {
      flags.signal_first_if_at_end[i] = !exchange.verdict.order_unknown;
    }
    if constexpr (finds_crossings_on_series)
      if (exchange.verdict.crosses_on_series) {
        const EventOutcome outcome = truncate_at_crossing();
        if (outcome != EventOutcome::handled) return outcome;
        record_truncated_step(record);
      }
    return EventOutcome::handled;
  }
  // A lane with a search in progress keeps its member.
  ZWANG_INLINE bool may_store() const { return !state.searching && !(searches->halved_at == state.t); }
  ZWANG_INLINE void store_member() { transfer().store(*members); }

  ZWANG_INLINE FastEvent<M, R> fast_event() {
    return {settings, batch, members, full_members, searches, state, trial, ledger, flags};
  }
  ZWANG_INLINE StepRecorder<M, R> recorder() {
    return {settings, batch, full_members, searches, state, trial, flags, ledger};
  }

 private:
  ZWANG_INLINE LaneStateTransfer<M, R> transfer() { return {searches, state, trial, flags, ledger}; }
  ZWANG_INLINE CrossingSearchDriver<M, R> search_driver() {
    return {settings, ledger, searches, state, trial, flags};
  }
  ZWANG_INLINE StepEnd<M, R> step_end() { return {settings, full_members, state, trial, flags, ledger}; }
  ZWANG_INLINE TrialStep<M, R> trial_step() { return {settings, members, state, trial}; }

  // Accepted steps that do not simply continue.
  ZWANG_INLINE Mask interrupted() const {
    return flags.accepted &&
           (flags.event_possible || flags.extremum_possible || flags.clipped || flags.output_due);
  }

  // Stores the steps of lanes that need it and runs the slow path; members that have ended are replaced by
  // new ones. The lane loads everything again, changed or not, so that nothing has to be preserved over the
  // call.
  template <class Queue>
  ZWANG_INLINE void run_slow_path(Queue& next) {
    each_lane(needs_slow_path, [&, this](int lane) {
      M& me = members[lane];
      const long long begun = batch.ticks ? clock_ticks() : 0;
      bool going = lane_of(state.live, lane);
      if (going) {
        transfer().store_for_event_handling(lane, me);
        going = handle_member(me);
      }
      const long long between = batch.ticks ? clock_ticks() : 0;
      while (!going) {
        const long long number = next();
        if (number < 0) break;
        going = start_member(me, settings, batch, number);
      }
      if (going)
        transfer().load(lane, me);
      else
        transfer().set_idle(lane);
      set_lane(state.live, lane, going);
      if (batch.ticks) {
        slow_path_ticks += between - begun;
        refill_ticks += clock_ticks() - between;
      }
    });
    flags.accepted = flags.accepted && !needs_slow_path;
    flags.rejected = flags.rejected && !needs_slow_path;
    needs_slow_path = no_lanes<R>();
    update_held_flags();
  }

  // Tries the fast event on every lane whose step ends at an event or crosses one on its series.
  ZWANG_INLINE void handle_fast_events() {
    if constexpr (FastEvent<M, R>::possible) {
      const long long begun = batch.ticks ? clock_ticks() : 0;
      bool handled = false;
      each_lane(flags.accepted && flags.at_event, [&, this](int lane) {
        if (handle_fast_event(*this, lane)) handled = true;
      });
      if constexpr (finds_crossings_on_series)
        each_lane(flags.accepted && flags.crosses_on_series, [&, this](int lane) {
          if (cross_in_single_lane(lane)) handled = true;
        });
      if (handled) update_held_flags();
      if (batch.ticks) slow_path_ticks += clock_ticks() - begun;
    }
  }

  // Truncates a lane of a pack at its crossing by a group of one lane, then handles the event as after a
  // search.
  // False: the lane is as it was.
  ZWANG_INLINE bool cross_in_single_lane(int lane) {
    M& me = members[lane];
    typename SingleLane::Search search;
    typename SingleLane::Ledger single_ledger;
    SingleLane single(settings, batch, &me, &search, single_ledger);
    transfer().store_for_event_handling(lane, me);
    const auto record = [](SingleLane& group, auto& request) { group.recorder().record(request); };
    const EventOutcome outcome = single.load_at_event(&me, &me, record);
    if (outcome == EventOutcome::repeats) {
      set_lane(state.h, lane, single.state.h);
      set_lane(flags.accepted, lane, false);
    }
    if (outcome != EventOutcome::handled) return outcome == EventOutcome::repeats;
    const Real whole = lane_of(trial.step.h, lane);
    const auto before = flags.lane(lane);
    set_lane(trial.step.h, lane, single.trial.step.h);
    set_lane(ledger.next_output, lane, lane_of(single_ledger.next_output, 0));
    if constexpr (Model::any_extremes) {
      ZWANG_REGISTERS for (int m = 0; m < Model::reductions; ++m) {
        if (is_extreme<Model>(m)) set_lane(state.best[m], lane, single.state.best[m]);
      }
    }
    flags.set(lane, single.flags);
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) { set_lane(trial.end[i], lane, single.trial.end[i]); }
    if (handle_fast_event(*this, lane)) return true;
    set_lane(trial.step.h, lane, whole);
    flags.set(lane, before);
    return false;
  }

  ZWANG_INLINE void update_held_flags() {
    R sum = R(0);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) { sum = sum + state.held[i]; }
    state.any_held = any(sum > R(0));
    if constexpr (TrialStep<M, R>::least_norm_integrands) {
      state.any_redundant = false;
      for (int lane = 0; lane < lanes; ++lane)
        state.any_redundant =
            state.any_redundant || (lane_of(state.live, lane) && members[lane].constraints.redundant);
    }
  }

  // One trial step of every moving lane, as long as its error, scheduled times and periods allow.
  ZWANG_INLINE void try_step(const Mask& moving) {
    flags.at_event = flags.crosses_on_series = no_lanes<R>();
    choose_step_length<M, R>(settings, state, ledger, trial, flags);
    flags.stuck = moving && !(trial.step.h > R(16 * Precision<Real>::epsilon) * absolute(state.t));

    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      trial.lowest_lambda[i] = trial.highest_lambda[i] = state.lambda[i];
    }
    if constexpr (Method::adaptive) {
      const auto quality = trial_step().take();
      flags.accepted = moving && !flags.stuck && (quality.error <= R(1));
      const R stretched = trial.step.h * quality.factor;
      const R onward = select(flags.clipped, maximum(state.h, stretched), stretched);
      trial.next_h = select(flags.accepted, onward, minimum(stretched, R(Real(0.9)) * trial.step.h));
    } else {
      trial_step().take_by_stages();
      R off = R(0);
      ZWANG_REGISTERS for (int i = 0; i < size; ++i) { off = off + (trial.step.end[i] - trial.step.end[i]); }
      flags.accepted = moving && !flags.stuck && (off <= R(0));
      trial.next_h = select(flags.accepted, R(Real(settings.step)), trial.step.h * R(Real(0.25)));
    }
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) { trial.end[i] = trial.step.end[i]; }
    flags.rejected = moving && !flags.accepted;
    ledger.rejected = ledger.rejected + select(flags.rejected, R(1), R(0));
  }

  // CPU: records what is due inside the steps of all lanes.
  ZWANG_INLINE void record_steps() {
    const Mask due = recorder().due();
    if (!any(due)) return;
    auto request = recorder().request(due);
    recorder().record(request);
  }
  // Has the step of a single lane recorded that has been truncated at the crossing on its power series.
  template <class Record>
  ZWANG_INLINE void record_truncated_step(const Record& record) {
    if constexpr (records_steps<M>)
      if (recorder().due()) {
        auto request = recorder().request_truncated(state.live);
        record(*this, request);
      }
  }

  // A lane loaded from a step that is to be repeated needs the signals at its start.
  ZWANG_INLINE void evaluate_signals() {
    if constexpr (signals > 0)
      Model::all_signals(state.k, state.t, state.y, state.y + n, state.y + 2 * n, state.lambda, state.held,
                         state.signal);
  }

  // Shortens the step of a single lane to the crossing found on its power series. If that is not the only event
  // within the shortened step, a step of about this length is tried next.
  ZWANG_INLINE EventOutcome truncate_at_crossing() {
    SeriesTerms<Method, n, size, Real> terms;
    terms.take(state.k, state.t, trial.step.h, state.y);
    Model::levels(state.k, state.t, state.y, state.y + n, state.y + 2 * n, state.f, state.f_rate);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) { state.lambda[i] = trial.end_lambda[i] = 0; }
    if constexpr (Model::any_extremes)
      Model::measured(state.k, state.t, state.y, state.y + n, state.y + 2 * n, state.lambda, state.held,
                      state.values);
    const Real whole = trial.step.h;
    trial.step.h = TaylorCrossing<M>{*searches, state, whole}.find(terms) * whole;
    if constexpr (sizeof(Real) == sizeof(float)) trial.step.h = (state.t + trial.step.h) - state.t;
    terms.template at<size>(trial.step.h / whole, trial.end);
    terms.template at<M::fed_back>(Real(0.5) * trial.step.h / whole, trial.series.middle);
    trial.constrained = flags.clipped = false;
    ZWANG_REGISTERS for (int m = 0; m < trial.step.rates; ++m) {
      trial.step.last()[m] = trial.step.first()[m];
    }
    step_end().evaluate();
    const Real shortest = 16 * Precision<Real>::epsilon * absolute(state.t);
    if (!(trial.step.h > shortest)) return EventOutcome::left;
    bool alone = !flags.signal_event_possible;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      alone = alone && (!flags.may_cross[i] || searches->sought[i] > 0);
    }
    if (alone) return EventOutcome::handled;
    // Just short of the crossing, so that the step shows which event is the first.
    state.h = Real(0.999) * trial.step.h;
    return trial.step.h < Real(0.9) * whole && state.h > 64 * shortest ? EventOutcome::repeats
                                                                       : EventOutcome::left;
  }
};

}  // namespace zwang
