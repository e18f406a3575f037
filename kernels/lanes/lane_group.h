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
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/integrator/taylor_series.h"
#include "kernels/lanes/accept_step.h"
#include "kernels/lanes/event_detection.h"
#include "kernels/lanes/fast_event.h"
#include "kernels/lanes/lane_state.h"
#include "kernels/lanes/lane_state_transfer.h"
#include "kernels/lanes/step_length.h"
#include "kernels/lanes/step_truncation.h"
#include "kernels/lanes/taylor_crossing.h"
#include "kernels/lanes/trial_step.h"
#include "kernels/member/slow_path.h"
#include "kernels/rootfinding/step_length_search.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

// The outcome of one trial step of a single lane.
enum class Progress { continues, at_event, needs_slow_path };

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
  using Search = StepLengthSearch<Real, M::rows>;
  using Ledger = LaneLedger<R, M::rows>;
  using Steps = StepStorage<M, R>;
  using Drives = DriveStorage<M, R>;
  using SingleLane = zwang::LaneGroup<M, Real>;
  static constexpr int lanes = Lanes<R>::count, n = M::n, r = M::r, size = M::size;
  static constexpr int signals = Model::signals;
  static constexpr bool finds_crossings_on_series = Method::expands && FastEvent<M, R>::possible;

  const KernelSettings& settings;
  const KernelBatch& batch;
  M* members;        // one for each lane
  M* full_members;   // the same; or, where `members` are copies of the front of members, the whole members
  Search* searches;  // one for each lane; in shared memory on a GPU
  Ledger& ledger;    // in shared memory on a GPU where that leaves registers for more lanes
  LaneState<M, R> state;
  Steps step;  // first(), last(): rates at its start, carried from step to step, and at its end
  SeriesStorage<M, R> series;
  Drives* drive = nullptr;  // in local memory on a GPU, like the stages
  StepResult<M, R> result;
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
    drive = &own;
    const Mask none = no_lanes<R>();
    state.live = flags.accepted = flags.rejected = state.searching = none;
    needs_slow_path = !none;
    ZWANG_REGISTERS for (int lane = 0; lane < lanes; ++lane) { transfer().set_idle(lane); }
    do {
      accept_step<M, R>(result, needs_slow_path, flags, state, step, ledger);
      const Mask moving = state.live && !needs_slow_path;
      if (any(moving)) {
        try_step(moving);
        if (any(flags.accepted)) project_and_detect_events();
        search_driver().advance();
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
  // One trial step. at_event: the step ends at a single crossing and nothing else has to be handled there.
  ZWANG_INLINE Progress step_once() {
    try_step(state.live);
    if (flags.accepted) project_and_detect_events();
    search_driver().advance();
    if (flags.stuck || interrupted())
      return flags.crosses_on_series || (flags.at_event && !flags.output_due && !flags.extremum_possible)
                 ? Progress::at_event
                 : Progress::needs_slow_path;
    accept_step<M, R>(result, needs_slow_path, flags, state, step, ledger);
    return Progress::continues;
  }
  // Stores the step with the member, for the event kernel or the slow path.
  ZWANG_INLINE void store_for_event_handling() { transfer().store_for_event_handling(0, *members); }
  // Handles the event of this step. False if the slow path has to; the step is then as it was.
  ZWANG_INLINE bool handle_event_in_registers() {
    const R whole = step.h;
    const StepFlags<M, R> before = flags;
    bool single = true;
    if constexpr (finds_crossings_on_series)
      if (before.crosses_on_series) {
        flags.set_at_event();
        state.searching = false;
        single = truncate_at_crossing();
      }
    if (single && fast_event().handle(0)) {
      update_held_flags();
      return true;
    }
    if (before.crosses_on_series) {
      step.h = whole;
      flags = before;
    }
    return false;
  }
  // Handles the event of a step that was stored with the member. False: nothing has been changed.
  ZWANG_INLINE bool handle_stored_event(M* me, M* full_member) {
    return load_at_event(me, full_member) && fast_event().handle(0);
  }
  // Restores the lane at the end of a stored step, truncated at the crossing where that is on the series.
  // False if that crossing is not the only or not the first event.
  ZWANG_INLINE bool load_at_event(M* me, M* full_member) {
    resume(me);
    full_members = full_member;
    const auto& exchange = me->exchange;
    static_cast<CrossingResult<Real, M::rows>&>(*searches) = exchange.step.crossing;
    step.h = exchange.step.h;
    flags.set_at_event();
    state.searching = false;
    flags.clipped = exchange.verdict.clipped;
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) { result.end[i] = exchange.end[i]; }
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      flags.first_if_at_end[i] = !exchange.verdict.order_unknown;
    }
    if constexpr (finds_crossings_on_series)
      if (exchange.verdict.crosses_on_series) return truncate_at_crossing();
    return true;
  }
  // A lane with a search in progress keeps its member.
  ZWANG_INLINE bool may_store() const { return !state.searching && !(searches->halved_at == state.t); }
  ZWANG_INLINE void store_member() { transfer().store(*members); }

  ZWANG_INLINE FastEvent<M, R> fast_event() {
    return {settings, batch, members, full_members, searches, result, state, step, ledger, flags};
  }

 private:
  ZWANG_INLINE LaneStateTransfer<M, R> transfer() { return {searches, state, step, result, flags, ledger}; }
  ZWANG_INLINE CrossingSearchDriver<M, R> search_driver() {
    return {settings, step, ledger, result, searches, state, flags};
  }
  ZWANG_INLINE TrialStep<M, R> trial_step() {
    return {settings, members, state, drive, step, series, result};
  }

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
    if (!single.load_at_event(&me, &me)) return false;
    const Real whole = lane_of(step.h, lane);
    const auto before = flags.lane(lane);
    set_lane(step.h, lane, single.step.h);
    flags.set(lane, single.flags);
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) { set_lane(result.end[i], lane, single.result.end[i]); }
    if (handle_fast_event(*this, lane)) return true;
    set_lane(step.h, lane, whole);
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
    choose_step_length<M, R>(settings, state, ledger, step, flags);
    flags.stuck = moving && !(step.h > R(16 * Precision<Real>::epsilon) * absolute(state.t));

    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      result.lowest_lambda[i] = result.highest_lambda[i] = state.lambda[i];
    }
    if constexpr (Method::adaptive) {
      const auto quality = trial_step().take();
      flags.accepted = moving && !flags.stuck && (quality.error <= R(1));
      const R stretched = step.h * quality.factor;
      const R onward = select(flags.clipped, maximum(state.h, stretched), stretched);
      result.next_h = select(flags.accepted, onward, minimum(stretched, R(Real(0.9)) * step.h));
    } else {
      trial_step().take_by_stages();
      R off = R(0);
      ZWANG_REGISTERS for (int i = 0; i < size; ++i) { off = off + (step.end[i] - step.end[i]); }
      flags.accepted = moving && !flags.stuck && (off <= R(0));
      result.next_h = select(flags.accepted, R(Real(settings.step)), step.h * R(Real(0.25)));
    }
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) { result.end[i] = step.end[i]; }
    flags.rejected = moving && !flags.accepted;
    ledger.rejected = ledger.rejected + select(flags.rejected, R(1), R(0));
  }

  // Projects the end of the step onto the active conditions, and detects possible events within the step.
  ZWANG_INLINE void project_and_detect_events() {
    const R then = state.t + step.h;
    if (state.any_held) project<M>(state.k, then, result.end, state.held, 3);
    const R *q = result.end, *v = result.end + n, *z = result.end + 2 * n;
    if constexpr (r > 0) Model::levels(state.k, then, q, v, z, result.end_f, result.end_f_rate);
    R middle[M::fed_back];
    const EventDetector<M, R> detector{state, step, ledger, result, flags};
    if constexpr (r > 0 || signals > 0 || Model::any_extremes) detector.find_middle(middle);
    if constexpr (Method::expands) {
      ZWANG_REGISTERS for (int i = 0; i < M::fed_back; ++i) {
        middle[i] = select(result.constrained, middle[i], series.middle[i]);
      }
    }
    if constexpr (Model::any_turns)
      PeriodLimit<M, R>{state, step}.reject_long(then, middle, result, flags, ledger);
    flags.event_possible = state.always_handle;
    flags.signal_event_possible = no_lanes<R>();
    detector.detect_conditions(middle);
    detector.detect_signals(then, middle);
    detector.detect_extremes(then, middle);
    flags.clipped = flags.clipped || (ledger.taken + R(2) > R(Real(settings.max_steps)));
    const R near = R(Precision<Real>::moment) * maximum(absolute(then), step.h);
    flags.output_due = ledger.next_output < then - near;
    audit(then, flags.accepted && !flags.event_possible && !flags.clipped);
  }

  // Shortens the step of a single lane to the crossing found on its power series. False if that is not the
  // only event within the shortened step.
  ZWANG_INLINE bool truncate_at_crossing() {
    SeriesTerms<Method, n, size, Real> terms;
    terms.take(state.k, state.t, step.h, state.y);
    Model::levels(state.k, state.t, state.y, state.y + n, state.y + 2 * n, state.f, state.f_rate);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) { state.lambda[i] = result.end_lambda[i] = 0; }
    if constexpr (Model::any_extremes)
      Model::measured(state.k, state.t, state.y, state.y + n, state.y + 2 * n, state.lambda, state.held,
                      state.values);
    const Real whole = step.h;
    step.h = TaylorCrossing<M>{*searches, state, whole}.find(terms) * whole;
    if constexpr (sizeof(Real) == sizeof(float)) step.h = (state.t + step.h) - state.t;
    terms.template at<size>(step.h / whole, result.end);
    terms.template at<M::fed_back>(Real(0.5) * step.h / whole, series.middle);
    result.constrained = flags.clipped = false;
    ZWANG_REGISTERS for (int m = 0; m < step.rates; ++m) { step.last()[m] = step.first()[m]; }
    project_and_detect_events();
    bool alone = !flags.signal_event_possible && step.h > 16 * Precision<Real>::epsilon * absolute(state.t);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      alone = alone && (!flags.may_cross[i] || searches->sought[i] > 0);
    }
    return alone;
  }

  // [voss] T + V + energy lost in shocks - work of other forces and of moving conditions is constant.
  ZWANG_INLINE void audit(R then, Mask undisturbed) {
    R kinetic, energy;
    Model::energies(state.k, then, result.end, result.end + n, result.end + 2 * n, kinetic, energy);
    R work = R(0);
    if constexpr (Model::works) work = result.end[size - 1];
    const R off = absolute(energy + ledger.energy_lost - work - ledger.energy_start);
    ledger.drift = select(undisturbed, larger(ledger.drift, off), ledger.drift);
    const R large = larger(larger(absolute(kinetic), absolute(energy - kinetic)), absolute(work));
    ledger.energy_size = select(undisturbed, larger(ledger.energy_size, large), ledger.energy_size);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      const R on = select(undisturbed, state.held[i], R(0));
      if (Model::is_holonomic(i))
        ledger.worst_position =
            larger(ledger.worst_position, if_less(R(0), on, absolute(result.end_f[i]), R(0)));
      ledger.worst_velocity =
          larger(ledger.worst_velocity, if_less(R(0), on, absolute(result.end_f_rate[i]), R(0)));
    }
  }
};

}  // namespace zwang
