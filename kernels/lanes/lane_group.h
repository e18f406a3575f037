// The crew of lanes that live side by side. Smooth steps are taken by all lanes at once, each with its own step size; what
// is rare (events, outputs, ends) is left to the members, one at a time (member/slow_path.h).
//
// What a step needs lies in the crew, and no function that is not inlined sees the crew: on the GPU, where a crew is one
// lane, it lives in registers. Members lie in memory.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/integrator/stage_loop.h"
#include "kernels/integrator/taylor_series.h"
#include "kernels/lanes/event_detection.h"
#include "kernels/lanes/fast_event.h"
#include "kernels/lanes/lane_state_transfer.h"
#include "kernels/lanes/period_step_limit.h"
#include "kernels/lanes/step_truncation.h"
#include "kernels/lanes/taylor_crossing.h"
#include "kernels/lanes/trial_step.h"
#include "kernels/member/slow_path.h"
#include "kernels/rootfinding/step_length_search.h"
#include "kernels/simd/pack.h"
#include "kernels/simd/pack_pair.h"
#include "kernels/simd/sincos.h"

namespace zwang {

// What came of one try of a single lane.
enum class Progress { continues, at_event, needs_slow_path };

// What lanes look at once a step: when they are due elsewhere, and the accounts of their motion.
template <class R, int rows>
struct LaneLedger {
  R arming_level[rows], peak_lambda[rows];  // as in Member::Hand
  R scheduled_time, next_output, taken, rejected;
  R energy_start, energy_lost, drift, energy_size, worst_position, worst_velocity;
};

// Multipliers at the method's second witness: where lanes lie in memory they take no room that others need.
template <class M>
constexpr bool keeps_second_sample = ZWANG_STAGES_KEPT != 0 && (M::Method::second_sample_stage > 0);
template <class M, class R>
struct SecondSample {
  R second_sampled_lambda[M::rows];
};

template <class M, class R>
struct LaneGroup : OnlyIf<keeps_second_sample<M>, SecondSample<M, R>>::Type {
  using Member = M;
  using Number = R;
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  using Mask = typename Lanes<R>::Mask;
  static constexpr int lanes = Lanes<R>::count, n = M::n, r = M::r, size = M::size;
  static constexpr int signals = Model::signals;
  // Integrands of multipliers that are those of least norm need a quadratic program. Members that have them are attended
  // to at every step: where the stages are not kept the step is taken again there, and here it need not be right.
  static constexpr bool least_norm_integrands = Model::integrals > 0 && ZWANG_STAGES_KEPT;

  static constexpr bool two_samples = keeps_second_sample<M>;
  using SingleLane = zwang::LaneGroup<M, Real>;  // of a single lane

  // A lane of its own on a CPU, where jumps that go one way for long cost nothing: it may ask what it is before it works.
  static constexpr bool single_cpu_lane = lanes == 1 && ZWANG_STAGES_KEPT;
  static constexpr bool finds_crossings_on_series = Method::expands && FastEvent<LaneGroup>::possible;

  const KernelSettings& settings;
  const KernelBatch& batch;
  M* members;       // one a lane
  M* full_members;  // the same, or where all of each lies of which `members` has the nearest part
  using Search = StepLengthSearch<Real, M::rows>;
  Search* searches;  // one a lane: on a GPU in memory nearer than the members'
  using Ledger = LaneLedger<R, M::rows>;
  Ledger& ledger;  // there too, out of the way of what a stage needs
  // A lane that is live has a member; one that waits has a step (or a lack of members) for others to attend to.
  Mask live, waiting;
  bool any_held = false, any_redundant = false;
  long long slow_path_ticks = 0, refill_ticks = 0;  // clock ticks spent so

  // What the lanes' steps need of their members.
  R k[at_least_one(Model::constants)];
  R t, h, y[size], held[M::rows], lambda[M::rows];
  R f[M::rows], f_rate[M::rows], signal[at_least_one(signals)], values[M::measures], best[M::measures];
  R side[at_least_one(signals)];  // as in Member::Hand
  Mask presses_now[M::rows], always_handle;

  // The step under way.
  using Steps = typename StepOf<ZWANG_STAGES_KEPT, Method, n, size, M::fed_back, R>::Type;
  Steps step;
  // Of lanes with nothing held, where the method expands.
  typename OnlyIf<Method::expands, SeriesStep<Method, n, size, M::fed_back, R>>::Type series;
  Mask constrained;  // something is held
  // At all stages but the first; like the stages of lanes, not among the crew's own.
  using Drives = Drive<Model, Method, M::drives, R>;
  Drives* drive = nullptr;
  R low[M::rows], high[M::rows], end_lambda[M::rows];
  R sampled_lambda[M::rows];  // at the method's witness
  R mid_f[M::rows];           // half-way
  Mask may_cross[M::rows];    // something may have happened to this condition within the step
  R end[size], end_f[M::rows], end_f_rate[M::rows], end_signal[at_least_one(signals)],
      end_values[M::measures];
  R next_h;
  Mask clipped, accepted, rejected, event_possible, extremum_possible, output_due, stuck;
  Mask signal_event_possible;  // a signal may have crossed
  Mask
      first_if_at_end[M::rows];  // if the step ends where this condition crosses zero, that is the first time
  Mask searching, at_event;      // rootfinding/step_length_search.h, lanes/fast_event.h
  Mask crosses_on_series;        // as in NearHand

  ZWANG_INLINE LaneGroup(const KernelSettings& s, const KernelBatch& b, M* those, Search* theirs,
                         LaneLedger<R, M::rows>& lane_ledger)
      : settings(s), batch(b), members(those), full_members(those), searches(theirs), ledger(lane_ledger) {}

  // All lanes until there are no members left: the CPU's way. They come from `next()`, which gives a number or -1.
  template <class Queue>
  ZWANG_INLINE void run(Queue& next) {
    const long long begun = batch.ticks ? clock_ticks() : 0;
    Drives own;
    drive = &own;
    const Mask none = R(1) < R(0);
    live = accepted = rejected = searching = none;
    waiting = !none;
    ZWANG_REGISTERS for (int lane = 0; lane < lanes; ++lane) transfer().set_idle(lane);
    do {
      accept_step(waiting);
      const Mask moving = live && !waiting;
      if (any(moving)) {
        try_step(moving);
        if (any(accepted)) project_and_detect_events();
        CrossingSearchDriver<LaneGroup>{*this}.advance();
        if (any(at_event || crosses_on_series)) handle_fast_events();
        waiting =
            waiting || stuck || (accepted && (event_possible || extremum_possible || clipped || output_due));
      }
      if (any(waiting)) handle_waiting_lanes(next);
    } while (any(live));
    if (batch.ticks) {
      batch.ticks[0] += clock_ticks() - begun;
      batch.ticks[1] += slow_path_ticks;
      batch.ticks[2] += refill_ticks;
    }
  }

  // One lane by itself, the GPU's way. Its member lies at `me`: taken up again, moved by one try, and put away. A member
  // that waits has been given what it needs to be attended to.
  ZWANG_INLINE void resume(M* me) {
    members = full_members = me;
    transfer().load(0, *me);
    live = true;
    waiting = accepted = rejected = false;
    update_held_flags();
  }
  // `lands`: a search has ended, and nothing but the end of its step has to be looked at.
  ZWANG_INLINE Progress step_once() {
    try_step(live);
    if (accepted) project_and_detect_events();
    CrossingSearchDriver<LaneGroup>{*this}.advance();
    if (stuck || (accepted && (event_possible || extremum_possible || clipped || output_due)))
      return crosses_on_series || (at_event && !output_due && !extremum_possible) ? Progress::at_event
                                                                                  : Progress::needs_slow_path;
    accept_step(waiting);
    return Progress::continues;
  }
  // What it has come to, to be attended to.
  ZWANG_INLINE void store_for_event_handling() { transfer().store_for_event_handling(0, *members); }
  // One that lands goes on from there, by itself. False: it has to be given.
  ZWANG_INLINE bool handle_event_in_registers() {
    const R whole = step.h;
    const Mask by_series = crosses_on_series, cut = clipped;
    Mask known[M::rows];
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) known[i] = may_cross[i];
    bool goes = true;
    if constexpr (finds_crossings_on_series)
      if (by_series) {
        at_event = accepted = true;
        searching = stuck = event_possible = extremum_possible = output_due = crosses_on_series = false;
        goes = TaylorCrossing<LaneGroup>{*this}.truncate_at_crossing();
      }
    if (goes && FastEvent<LaneGroup>{*this}.handle(0)) {
      update_held_flags();
      return true;
    }
    if (by_series) {
      step.h = whole;
      crosses_on_series = event_possible = true;
      at_event = extremum_possible = output_due = false;
      clipped = cut;
      ZWANG_REGISTERS for (int i = 0; i < r; ++i) may_cross[i] = known[i];
    }
    return false;
  }
  // One that has landed, as it was given: goes on from there, or false, and nothing has been done.
  ZWANG_INLINE bool handle_stored_event(M* me, M* full_member) {
    return load_at_event(me, full_member) && FastEvent<LaneGroup>{*this}.handle(0);
  }
  // It stands where it has landed. False: it crosses, and not plainly.
  ZWANG_INLINE bool load_at_event(M* me, M* full_member) {
    resume(me);
    full_members = full_member;
    const auto& exchange = me->exchange;
    static_cast<CrossingResult<Real, M::rows>&>(*searches) = exchange.step.crossing;
    step.h = exchange.step.h;
    at_event = accepted = true;
    searching = stuck = event_possible = extremum_possible = output_due = crosses_on_series = false;
    clipped = exchange.verdict.clipped;
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) end[i] = exchange.end[i];
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) first_if_at_end[i] = !exchange.verdict.order_unknown;
    if constexpr (finds_crossings_on_series)
      if (exchange.verdict.crosses_on_series) return TaylorCrossing<LaneGroup>{*this}.truncate_at_crossing();
    return true;
  }
  // In the middle of a search nobody is put away.
  ZWANG_INLINE bool may_store() const { return !searching && !(searches->halved_at == t); }
  ZWANG_INLINE void store_member() { transfer().store(*members); }

 private:
  ZWANG_INLINE LaneStateTransfer<LaneGroup> transfer() { return {*this}; }

  // Those who wait: steps that need attention are given to their members, lanes without a member get the next one. The
  // lane takes everything back, changed or not: nothing has to be kept over the call.
  template <class Queue>
  ZWANG_INLINE void handle_waiting_lanes(Queue& next) {
    each_lane(waiting, [&, this](int lane) {
      M& me = members[lane];
      const long long begun = batch.ticks ? clock_ticks() : 0;
      bool going = lane_of(live, lane);
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
      set_lane(live, lane, going);
      if (batch.ticks) {
        slow_path_ticks += between - begun;
        refill_ticks += clock_ticks() - between;
      }
    });
    accepted = accepted && !waiting;
    rejected = rejected && !waiting;
    waiting = R(1) < R(0);
    update_held_flags();
  }

  // Those that have landed, and can take what is there themselves.
  ZWANG_INLINE void handle_fast_events() {
    if constexpr (FastEvent<LaneGroup>::possible) {
      const long long begun = batch.ticks ? clock_ticks() : 0;
      bool touched = false;
      each_lane(accepted && at_event, [&, this](int lane) {
        if (handle_fast_event(*this, lane)) touched = true;
      });
      if constexpr (finds_crossings_on_series)
        each_lane(accepted && crosses_on_series, [&, this](int lane) {
          if (cross_in_single_lane(*this, lane)) touched = true;
        });
      if (touched) update_held_flags();
      if (batch.ticks) slow_path_ticks += clock_ticks() - begun;
    }
  }

  ZWANG_INLINE void update_held_flags() {
    R sum = R(0);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) sum = sum + held[i];
    any_held = any(sum > R(0));
    if constexpr (least_norm_integrands) {
      any_redundant = false;
      for (int lane = 0; lane < lanes; ++lane)
        any_redundant = any_redundant || (lane_of(live, lane) && members[lane].constraints.redundant);
    }
  }

  // One step of every lane that moves, each as long as its own error, appointments and turns allow.
  ZWANG_INLINE void try_step(const Mask& moving) {
    at_event = crosses_on_series = R(1) < R(0);
    const R longest = R(Real(settings.max_step)), room = ledger.scheduled_time - t;
    R length = minimum(h, longest);
    if constexpr (Model::any_turns)
      length = minimum(length, PeriodLimit<LaneGroup>{*this}.longest(minimum(length, room)));
    // Land on the appointment, even if it is a little further than asked for: a step's safety allows for that. Never leave a
    // sliver of a step before it.
    const R reach = Method::adaptive && !Model::any_turns ? minimum(h * R(Real(1.1)), longest) : length;
    clipped = reach >= room * R(Real(1 - 1e-10));
    if constexpr (Method::adaptive) length = minimum(length, room * R(Real(0.5)));
    step.h = select(clipped, room, length);
    // In floats the time after many steps holds few digits of one: the step is as long as the time can tell. A clock that
    // rounds another way than the motion would be off by a two-thousandth at steps of 1e-3 and t = 60.
    if constexpr (sizeof(Real) == sizeof(float)) step.h = (t + step.h) - t;
    // A search has its own idea of where to end.
    clipped = clipped && !searching;
    step.h = select(searching, h, step.h);
    stuck = moving && !(step.h > R(16 * Precision<Real>::epsilon) * absolute(t));

    ZWANG_REGISTERS for (int i = 0; i < r; ++i) low[i] = high[i] = lambda[i];
    if constexpr (Method::adaptive) {
      const auto made = TrialStep<LaneGroup>{*this}.take();
      accepted = moving && !stuck && (made.error <= R(1));
      const R stretched = step.h * made.factor;
      const R onward = select(clipped, maximum(h, stretched), stretched);
      next_h = select(accepted, onward, minimum(stretched, R(Real(0.9)) * step.h));
    } else {
      TrialStep<LaneGroup>{*this}.take_by_stages();
      R off = R(0);
      ZWANG_REGISTERS for (int i = 0; i < size; ++i) off = off + (step.end[i] - step.end[i]);
      accepted = moving && !stuck && (off <= R(0));
      next_h = select(accepted, R(Real(settings.step)), step.h * R(Real(0.25)));
    }
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) end[i] = step.end[i];
    rejected = moving && !accepted;
    ledger.rejected = ledger.rejected + select(rejected, R(1), R(0));
  }

  // Back onto the conditions at the step's end, and whether anything may have happened on the way.
 public:
  ZWANG_INLINE void project_and_detect_events() {
    const R then = t + step.h;
    if (any_held) project<M>(k, then, end, held, 3);
    const R *q = end, *v = end + n, *z = end + 2 * n;
    if constexpr (r > 0) Model::levels(k, then, q, v, z, end_f, end_f_rate);
    R middle[M::fed_back];
    const EventDetector<LaneGroup> detector{*this};
    if constexpr (r > 0 || signals > 0 || Model::any_extremes) detector.find_middle(middle);
    if constexpr (Method::expands)
      ZWANG_REGISTERS for (int i = 0; i < M::fed_back; ++i) middle[i] =
          select(constrained, middle[i], series.middle[i]);
    if constexpr (Model::any_turns) PeriodLimit<LaneGroup>{*this}.reject_long(then, middle);
    event_possible = always_handle;
    signal_event_possible = R(1) < R(0);
    detector.detect_conditions(middle);
    detector.detect_signals(then, middle);
    detector.detect_extremes(then, middle);
    clipped = clipped || (ledger.taken + R(2) > R(Real(settings.max_steps)));
    const R near = R(Precision<Real>::moment) * maximum(absolute(then), step.h);
    output_due = ledger.next_output < then - near;
    audit(then, accepted && !event_possible && !clipped);
  }

 private:
  // [voss] T + V + energy lost in shocks - work of other forces and of moving conditions stays what it was.
  ZWANG_INLINE void audit(R then, Mask undisturbed) {
    R kinetic, energy;
    Model::energies(k, then, end, end + n, end + 2 * n, kinetic, energy);
    R work = R(0);
    if constexpr (Model::works) work = end[size - 1];
    const R off = absolute(energy + ledger.energy_lost - work - ledger.energy_start);
    ledger.drift = select(undisturbed, larger(ledger.drift, off), ledger.drift);
    const R large = larger(larger(absolute(kinetic), absolute(energy - kinetic)), absolute(work));
    ledger.energy_size = select(undisturbed, larger(ledger.energy_size, large), ledger.energy_size);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      const R on = select(undisturbed, held[i], R(0));
      if (Model::is_holonomic(i))
        ledger.worst_position = larger(ledger.worst_position, if_less(R(0), on, absolute(end_f[i]), R(0)));
      ledger.worst_velocity = larger(ledger.worst_velocity, if_less(R(0), on, absolute(end_f_rate[i]), R(0)));
    }
  }

  // The lanes to which nothing happened move on; those attended have been moved already, and those who wait stay.
  ZWANG_INLINE void accept_step(const Mask& staying) {
    accepted = accepted && !staying;
    rejected = rejected && !staying;
    h = select(accepted || rejected, next_h, h);
    const R then = t + step.h;
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) y[i] = select(accepted, end[i], y[i]);
    ZWANG_REGISTERS for (int m = 0; m < step.kept; ++m) step.first()[m] =
        select(accepted, step.last()[m], step.first()[m]);
    t = select(accepted, then, t);
    ledger.taken = ledger.taken + select(accepted, R(1), R(0));
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      lambda[i] = select(accepted, end_lambda[i], lambda[i]);
      ledger.peak_lambda[i] =
          select(accepted, larger(ledger.peak_lambda[i], absolute(end_lambda[i])), ledger.peak_lambda[i]);
      f[i] = select(accepted, end_f[i], f[i]);
      f_rate[i] = select(accepted, end_f_rate[i], f_rate[i]);
      // Left quietly: armed.
      ledger.arming_level[i] =
          select(accepted && ledger.arming_level[i] < R(0), R(1), ledger.arming_level[i]);
    }
    ZWANG_REGISTERS for (int i = 0; i < signals; ++i) signal[i] = select(accepted, end_signal[i], signal[i]);
    if constexpr (Model::any_extremes) ZWANG_REGISTERS for (int m = 0; m < Model::measures; ++m) {
        if (!is_extreme<Model>(m)) continue;
        values[m] = select(accepted, end_values[m], values[m]);
        const bool largest = Reduction(Model::measure_reduction(m)) == Reduction::maximum;
        const R better = largest ? if_less(best[m], values[m], values[m], best[m])
                                 : if_less(values[m], best[m], values[m], best[m]);
        best[m] = select(accepted, better, best[m]);
      }
  }
};

}  // namespace zwang
