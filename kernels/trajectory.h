// The crew of lanes that live side by side. Smooth steps are taken by all lanes at once, each with its own step size; what
// is rare (events, outputs, ends) is left to the members, one at a time (attend.h).
//
// What a step needs lies in the crew, and no function that is not inlined sees the crew: on the GPU, where a crew is one
// lane, it lives in registers. Members lie in memory.
#pragma once

#include "kernels/cross.h"
#include "kernels/handover.h"
#include "kernels/listen.h"
#include "kernels/move.h"
#include "kernels/search.h"
#include "kernels/touch.h"
#include "kernels/turns.h"
#include "kernels/twin.h"

namespace zwang {

// What came of one try of a single lane.
enum class Progress { moves, lands, waits };

// What lanes look at once a step: when they are due elsewhere, and the accounts of their motion.
template <class R, int rows>
struct Ledger {
  R watched[rows], peak_lambda[rows];  // as in Member::Hand
  R appointment, next_output, taken, rejected;
  R energy_start, energy_lost, drift, energy_size, worst_position, worst_velocity;
};

// Multipliers at the method's second witness: where lanes lie in memory they take no room that others need.
template <class M>
constexpr bool keeps_second_witness = ZWANG_STAGES_KEPT != 0 && (M::Method::second_witness > 0);
template <class M, class R>
struct Beyond {
  R beyond_lambda[M::rows];
};

template <class M, class R>
struct Crew : OnlyIf<keeps_second_witness<M>, Beyond<M, R>>::Type {
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
  static constexpr bool one_by_one = Model::integrals > 0 && ZWANG_STAGES_KEPT;

  static constexpr bool two_witnesses = keeps_second_witness<M>;
  using Alone = zwang::Crew<M, Real>;  // of a single lane

  // A lane of its own on a CPU, where jumps that go one way for long cost nothing: it may ask what it is before it works.
  static constexpr bool lone = lanes == 1 && ZWANG_STAGES_KEPT;
  static constexpr bool crosses_by_series = Method::expands && Toucher<Crew>::possible;

  const KernelSettings& settings;
  const KernelBatch& batch;
  M* members;  // one a lane
  M* homes;    // the same, or where all of each lies of which `members` has the nearest part
  using Search = Seek<Real, M::rows>;
  Search* searches;  // one a lane: on a GPU in memory nearer than the members'
  using Accounts = Ledger<R, M::rows>;
  Accounts& ledger;  // there too, out of the way of what a stage needs
  // A lane that is live has a member; one that waits has a step (or a lack of members) for others to attend to.
  Mask live, waiting;
  bool any_held = false, any_redundant = false;
  long long attending = 0, refilling = 0;  // clock ticks spent so

  // What the lanes' steps need of their members.
  R k[at_least_one(Model::constants)];
  R t, h, y[size], held[M::rows], lambda[M::rows];
  R f[M::rows], f_rate[M::rows], signal[at_least_one(signals)], values[M::measures], best[M::measures];
  R side[at_least_one(signals)];  // as in Member::Hand
  Mask pressed[M::rows], wary;

  // The step under way.
  using Steps = typename StepOf<ZWANG_STAGES_KEPT, Method, n, size, M::fed_back, R>::Type;
  Steps step;
  // Of lanes with nothing held, where the method expands.
  typename OnlyIf<Method::expands, SeriesStep<Method, n, size, M::fed_back, R>>::Type series;
  Mask bound;  // something is held
  // At all stages but the first; like the stages of lanes, not among the crew's own.
  using Drives = Drive<Model, Method, M::drives, R>;
  Drives* drive = nullptr;
  R low[M::rows], high[M::rows], end_lambda[M::rows];
  R via_lambda[M::rows];  // at the method's witness
  R mid_f[M::rows];       // half-way
  Mask heard[M::rows];    // something may have happened to this condition within the step
  R end[size], end_f[M::rows], end_f_rate[M::rows], end_signal[at_least_one(signals)],
      end_values[M::measures];
  R next_h;
  Mask clipped, accepted, refused, loud, hump, output, stuck;
  Mask noisy;              // a signal may have crossed
  Mask foremost[M::rows];  // if the step ends where this condition crosses zero, that is the first time
  Mask seeking, landed;    // seek.h, touch.h
  Mask crosses;            // as in NearHand

  ZWANG_INLINE Crew(const KernelSettings& s, const KernelBatch& b, M* those, Search* theirs,
                    Ledger<R, M::rows>& accounts)
      : settings(s), batch(b), members(those), homes(those), searches(theirs), ledger(accounts) {}

  // All lanes until there are no members left: the CPU's way. They come from `next()`, which gives a number or -1.
  template <class Queue>
  ZWANG_INLINE void run(Queue& next) {
    const long long begun = batch.ticks ? clock_ticks() : 0;
    Drives own;
    drive = &own;
    const Mask none = R(1) < R(0);
    live = accepted = refused = seeking = none;
    waiting = !none;
    ZWANG_REGISTERS for (int lane = 0; lane < lanes; ++lane) handover().idle(lane);
    do {
      commit(waiting);
      const Mask moving = live && !waiting;
      if (any(moving)) {
        attempt(moving);
        if (any(accepted)) conclude();
        Searcher<Crew>{*this}.seek();
        if (any(landed || crosses)) touch_lanes();
        waiting = waiting || stuck || (accepted && (loud || hump || clipped || output));
      }
      if (any(waiting)) attend_lanes(next);
    } while (any(live));
    if (batch.ticks) {
      batch.ticks[0] += clock_ticks() - begun;
      batch.ticks[1] += attending;
      batch.ticks[2] += refilling;
    }
  }

  // One lane by itself, the GPU's way. Its member lies at `me`: taken up again, moved by one try, and put away. A member
  // that waits has been given what it needs to be attended to.
  ZWANG_INLINE void resume(M* me) {
    members = homes = me;
    handover().take(0, *me);
    live = true;
    waiting = accepted = refused = false;
    find_held();
  }
  // `lands`: a search has ended, and nothing but the end of its step has to be looked at.
  ZWANG_INLINE Progress step_once() {
    attempt(live);
    if (accepted) conclude();
    Searcher<Crew>{*this}.seek();
    if (stuck || (accepted && (loud || hump || clipped || output)))
      return crosses || (landed && !output && !hump) ? Progress::lands : Progress::waits;
    commit(waiting);
    return Progress::moves;
  }
  // What it has come to, to be attended to.
  ZWANG_INLINE void give() { handover().give(0, *members); }
  // One that lands goes on from there, by itself. False: it has to be given.
  ZWANG_INLINE bool land_in_stride() {
    const R whole = step.h;
    const Mask by_series = crosses, cut = clipped;
    Mask known[M::rows];
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) known[i] = heard[i];
    bool goes = true;
    if constexpr (crosses_by_series)
      if (by_series) {
        landed = accepted = true;
        seeking = stuck = loud = hump = output = crosses = false;
        goes = Crosser<Crew>{*this}.cross();
      }
    if (goes && Toucher<Crew>{*this}.touch(0)) {
      find_held();
      return true;
    }
    if (by_series) {
      step.h = whole;
      crosses = loud = true;
      landed = hump = output = false;
      clipped = cut;
      ZWANG_REGISTERS for (int i = 0; i < r; ++i) heard[i] = known[i];
    }
    return false;
  }
  // One that has landed, as it was given: goes on from there, or false, and nothing has been done.
  ZWANG_INLINE bool land(M* me, M* home) { return arrive(me, home) && Toucher<Crew>{*this}.touch(0); }
  // It stands where it has landed. False: it crosses, and not plainly.
  ZWANG_INLINE bool arrive(M* me, M* home) {
    resume(me);
    homes = home;
    const auto& hand = me->hand;
    static_cast<Landing<Real, M::rows>&>(*searches) = hand.landing;
    step.h = hand.step_h;
    landed = accepted = true;
    seeking = stuck = loud = hump = output = crosses = false;
    clipped = hand.clipped;
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) end[i] = hand.end[i];
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) foremost[i] = !hand.doubtful;
    if constexpr (crosses_by_series)
      if (hand.crosses) return Crosser<Crew>{*this}.cross();
    return true;
  }
  // In the middle of a search nobody is put away.
  ZWANG_INLINE bool may_park() const { return !seeking && !(searches->halved == t); }
  ZWANG_INLINE void park() { handover().put_away(*members); }

 private:
  ZWANG_INLINE Handover<Crew> handover() { return {*this}; }

  // Those who wait: steps that need attention are given to their members, lanes without a member get the next one. The
  // lane takes everything back, changed or not: nothing has to be kept over the call.
  template <class Queue>
  ZWANG_INLINE void attend_lanes(Queue& next) {
    each_lane(waiting, [&, this](int lane) {
      M& me = members[lane];
      const long long begun = batch.ticks ? clock_ticks() : 0;
      bool going = lane_of(live, lane);
      if (going) {
        handover().give(lane, me);
        going = tend(me);
      }
      const long long between = batch.ticks ? clock_ticks() : 0;
      while (!going) {
        const long long number = next();
        if (number < 0) break;
        going = start(me, settings, batch, number);
      }
      if (going)
        handover().take(lane, me);
      else
        handover().idle(lane);
      set_lane(live, lane, going);
      if (batch.ticks) {
        attending += between - begun;
        refilling += clock_ticks() - between;
      }
    });
    accepted = accepted && !waiting;
    refused = refused && !waiting;
    waiting = R(1) < R(0);
    find_held();
  }

  // Those that have landed, and can take what is there themselves.
  ZWANG_INLINE void touch_lanes() {
    if constexpr (Toucher<Crew>::possible) {
      const long long begun = batch.ticks ? clock_ticks() : 0;
      bool touched = false;
      each_lane(accepted && landed, [&, this](int lane) {
        if (touch_lane(*this, lane)) touched = true;
      });
      if constexpr (crosses_by_series)
        each_lane(accepted && crosses, [&, this](int lane) {
          if (cross_alone(*this, lane)) touched = true;
        });
      if (touched) find_held();
      if (batch.ticks) attending += clock_ticks() - begun;
    }
  }

  ZWANG_INLINE void find_held() {
    R sum = R(0);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) sum = sum + held[i];
    any_held = any(sum > R(0));
    if constexpr (one_by_one) {
      any_redundant = false;
      for (int lane = 0; lane < lanes; ++lane)
        any_redundant = any_redundant || (lane_of(live, lane) && members[lane].redundant_now);
    }
  }

  // One step of every lane that moves, each as long as its own error, appointments and turns allow.
  ZWANG_INLINE void attempt(const Mask& moving) {
    landed = crosses = R(1) < R(0);
    const R longest = R(Real(settings.max_step)), room = ledger.appointment - t;
    R length = minimum(h, longest);
    if constexpr (Model::any_turns)
      length = minimum(length, Turns<Crew>{*this}.longest(minimum(length, room)));
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
    clipped = clipped && !seeking;
    step.h = select(seeking, h, step.h);
    stuck = moving && !(step.h > R(16 * Precision<Real>::epsilon) * absolute(t));

    ZWANG_REGISTERS for (int i = 0; i < r; ++i) low[i] = high[i] = lambda[i];
    if constexpr (Method::adaptive) {
      const auto made = Mover<Crew>{*this}.move();
      accepted = moving && !stuck && (made.error <= R(1));
      const R stretched = step.h * made.factor;
      const R onward = select(clipped, maximum(h, stretched), stretched);
      next_h = select(accepted, onward, minimum(stretched, R(Real(0.9)) * step.h));
    } else {
      Mover<Crew>{*this}.move_by_stages();
      R off = R(0);
      ZWANG_REGISTERS for (int i = 0; i < size; ++i) off = off + (step.end[i] - step.end[i]);
      accepted = moving && !stuck && (off <= R(0));
      next_h = select(accepted, R(Real(settings.step)), step.h * R(Real(0.25)));
    }
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) end[i] = step.end[i];
    refused = moving && !accepted;
    ledger.rejected = ledger.rejected + select(refused, R(1), R(0));
  }

  // Back onto the conditions at the step's end, and whether anything may have happened on the way.
 public:
  ZWANG_INLINE void conclude() {
    const R then = t + step.h;
    if (any_held) project<M>(k, then, end, held, 3);
    const R *q = end, *v = end + n, *z = end + 2 * n;
    if constexpr (r > 0) Model::levels(k, then, q, v, z, end_f, end_f_rate);
    R middle[M::fed_back];
    const Listener<Crew> listener{*this};
    if constexpr (r > 0 || signals > 0 || Model::any_extremes) listener.find_middle(middle);
    if constexpr (Method::expands)
      ZWANG_REGISTERS for (int i = 0; i < M::fed_back; ++i) middle[i] =
          select(bound, middle[i], series.middle[i]);
    if constexpr (Model::any_turns) Turns<Crew>{*this}.refuse_long(then, middle);
    loud = wary;
    noisy = R(1) < R(0);
    listener.listen_to_conditions(middle);
    listener.listen_to_signals(then, middle);
    listener.listen_to_extremes(then, middle);
    clipped = clipped || (ledger.taken + R(2) > R(Real(settings.max_steps)));
    const R near = R(Precision<Real>::moment) * maximum(absolute(then), step.h);
    output = ledger.next_output < then - near;
    audit(then, accepted && !loud && !clipped);
  }

 private:
  // [voss] T + V + energy lost in shocks - work of other forces and of moving conditions stays what it was.
  ZWANG_INLINE void audit(R then, Mask plain) {
    R kinetic, energy;
    Model::energies(k, then, end, end + n, end + 2 * n, kinetic, energy);
    R work = R(0);
    if constexpr (Model::works) work = end[size - 1];
    const R off = absolute(energy + ledger.energy_lost - work - ledger.energy_start);
    ledger.drift = select(plain, larger(ledger.drift, off), ledger.drift);
    const R large = larger(larger(absolute(kinetic), absolute(energy - kinetic)), absolute(work));
    ledger.energy_size = select(plain, larger(ledger.energy_size, large), ledger.energy_size);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      const R on = select(plain, held[i], R(0));
      if (Model::is_holonomic(i))
        ledger.worst_position = larger(ledger.worst_position, if_less(R(0), on, absolute(end_f[i]), R(0)));
      ledger.worst_velocity = larger(ledger.worst_velocity, if_less(R(0), on, absolute(end_f_rate[i]), R(0)));
    }
  }

  // The lanes to which nothing happened move on; those attended have been moved already, and those who wait stay.
  ZWANG_INLINE void commit(const Mask& staying) {
    accepted = accepted && !staying;
    refused = refused && !staying;
    h = select(accepted || refused, next_h, h);
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
      ledger.watched[i] = select(accepted && ledger.watched[i] < R(0), R(1), ledger.watched[i]);
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
