// The crew of lanes that live side by side. Smooth steps are taken by all lanes at once, each with its own step size; what
// is rare (events, outputs, ends) is left to the members, one at a time (attend.h).
//
// What a step needs lies in the crew, and no function that is not inlined sees the crew: on the GPU, where a crew is one
// lane, it lives in registers. Members lie in memory.
#pragma once

#include "kernels/handover.h"
#include "kernels/lane_step.h"
#include "kernels/listen.h"
#include "kernels/search.h"
#include "kernels/swift.h"
#include "kernels/touch.h"

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

template <class M, class R>
struct Crew {
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

  const KernelSettings& settings;
  const KernelBatch& batch;
  M* members;  // one a lane
  using Search = Seek<Real, M::rows>;
  Search* searches;            // one a lane: on a GPU in memory nearer than the members'
  Ledger<R, M::rows>& ledger;  // there too, out of the way of what a stage needs
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

  ZWANG_INLINE Crew(const KernelSettings& s, const KernelBatch& b, M* those, Search* theirs,
                    Ledger<R, M::rows>& accounts)
      : settings(s), batch(b), members(those), searches(theirs), ledger(accounts) {}

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
        if (any(landed)) touch_lanes();
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
    members = me;
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
    if (stuck || (accepted && (loud || hump || clipped || output))) {
      handover().give(0, *members);
      return landed && !output && !hump ? Progress::lands : Progress::waits;
    }
    commit(waiting);
    return Progress::moves;
  }
  // One that has landed, as it was given: goes on from there, or false, and nothing has been done.
  ZWANG_INLINE bool land(M* me) {
    resume(me);
    const auto& hand = me->hand;
    static_cast<Landing<Real, M::rows>&>(*searches) = hand.landing;
    step.h = hand.step_h;
    landed = accepted = true;
    seeking = stuck = loud = hump = output = false;
    clipped = hand.clipped;
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) end[i] = hand.end[i];
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) foremost[i] = !hand.doubtful;
    return Toucher<Crew>{*this}.touch(0);
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
    ZWANG_REGISTERS for (int lane = 0; lane < lanes; ++lane) {
      if (!lane_of(waiting, lane)) continue;
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
      set_lane(waiting, lane, false);
      set_lane(accepted, lane, false);
      set_lane(refused, lane, false);
      find_held();
      if (batch.ticks) {
        attending += between - begun;
        refilling += clock_ticks() - between;
      }
    }
  }

  // Those that have landed, and can take what is there themselves.
  ZWANG_INLINE void touch_lanes() {
    if constexpr (Toucher<Crew>::possible) {
      const long long begun = batch.ticks ? clock_ticks() : 0;
      bool touched = false;
      ZWANG_REGISTERS for (int lane = 0; lane < lanes; ++lane) {
        if (!lane_of(landed, lane) || !lane_of(accepted, lane)) continue;
        if (Toucher<Crew>{*this}.touch(lane)) touched = true;
      }
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

  ZWANG_INLINE void rates_at(R when, const R* w, const R* there, bool hold, R* rate) {
    driven_right_side<M>(k, when, w, there, held, hold, rate, end_lambda);
    if constexpr (one_by_one)
      if (any_redundant) integrands_one_by_one(when, there, rate);
  }
  ZWANG_INLINE void integrands_one_by_one(R when, const R* there, R* rate) const {
    for (int lane = 0; lane < lanes; ++lane) {
      if (!lane_of(live, lane) || !members[lane].redundant_now) continue;
      Real y_lane[size], rate_lane[size];
      for (int i = 0; i < M::fed_back; ++i) y_lane[i] = lane_of(there[i], lane);
      integrands_of_least_norm(members[lane], lane_of(when, lane), y_lane, rate_lane);
      for (int i = M::fed_back; i < M::judged; ++i) set_lane(rate[i], lane, rate_lane[i]);
    }
  }

  // One step of every lane that moves, each as long as its own error, appointments and turns allow.
  ZWANG_INLINE void attempt(const Mask& moving) {
    landed = R(1) < R(0);
    R length = minimum(h, R(Real(settings.max_step)));
    const R room = ledger.appointment - t;
    if constexpr (Model::any_turns) length = minimum(length, longest_turn(minimum(length, room)));
    // Land on the appointment; never leave a sliver of a step before it.
    clipped = length >= room * R(Real(1 - 1e-10));
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
    if constexpr (Model::drives > 0) drive->see(k, t, step.h, stage_nodes<Method, R>.part);
    // Written out, stages with nothing held are short of all that asks what is: a text of their own. A lane goes by its own
    // state, not by its neighbours': two texts may round differently.
    if constexpr (Method::written_out && n == 1 && !Model::always_held) {
      if (any_held)
        take_stages(true);
      else
        take_stages(false);
    } else {
      take_stages(any_held);
    }

    if constexpr (Method::adaptive) {
      const R error = error_of_step();
      accepted = moving && !stuck && (error <= R(1));
      const R stretched = step.h * step_factor<Method>(error);
      const R onward = select(clipped, maximum(h, stretched), stretched);
      next_h = select(accepted, onward, minimum(stretched, R(Real(0.9)) * step.h));
    } else {
      R off = R(0);
      ZWANG_REGISTERS for (int i = 0; i < size; ++i) off = off + (step.end[i] - step.end[i]);
      accepted = moving && !stuck && (off <= R(0));
      next_h = select(accepted, R(Real(settings.step)), step.h * R(Real(0.25)));
    }
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) end[i] = step.end[i];
    refused = moving && !accepted;
    ledger.rejected = ledger.rejected + select(refused, R(1), R(0));
  }

  ZWANG_INLINE void take_stages(bool hold) {
    int stage = 0;
    step.take(t, y, [&, this](R when, const R* there, R* rate) {
      rates_at(when, drive->w[stage], there, hold, rate);
      if (++stage == Method::witness)
        ZWANG_REGISTERS for (int i = 0; i < r; ++i) via_lambda[i] = end_lambda[i];
      if (hold) ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
          if (Model::is_equation(i)) continue;
          low[i] = minimum(low[i], end_lambda[i]);
          high[i] = maximum(high[i], end_lambda[i]);
        }
    });
  }

  // How fast arguments of periodic functions run, in units of what a step may hold.
  ZWANG_INLINE R turning(R when, const R* there) const {
    return R(1) / Model::turn_bound(k, when, there, there + n, there + 2 * n);
  }
  // Rates change on the way: what rests now may fall over a whole row of obstacles. Over a step h with these accelerations
  // an argument runs rate h + growth h^2/2, and that shall be 1.
  ZWANG_INLINE R longest_turn(R length) const {
    R later[M::fed_back];
    ZWANG_REGISTERS for (int i = 0; i < M::fed_back; ++i) later[i] = y[i];
    ZWANG_REGISTERS for (int i = 0; i < n; ++i) later[n + i] = y[n + i] + length * step.first()[i];
    const R now = turning(t, y), growth = maximum(turning(t + length, later) - now, R(0)) / length;
    return R(2) / (now + sqrt(now * now + R(2) * growth));
  }
  // Where accelerations have changed too, the step may have run too far all the same: then it is taken again, shorter.
  ZWANG_INLINE void refuse_long_turns(R then, const R* middle) {
    const R run = step.h * R(Real(1.0 / 6)) *
                  (turning(t, y) + R(4) * turning(t + R(Real(0.5)) * step.h, middle) + turning(then, end));
    const Mask far = accepted && !seeking && (run > R(Real(1.5)));
    accepted = accepted && !far;
    refused = refused || far;
    ledger.rejected = ledger.rejected + select(far, R(1), R(0));
    next_h = select(far, R(Real(0.5)) * step.h, next_h);
  }

  // The work is an audit and has no say. A step across a kink of an integrand will end at the kink: its integral is wrong
  // beyond, and the motion alone is judged.
  ZWANG_INLINE R error_of_step() {
    const R rtol = R(Real(settings.rtol)), atol = R(Real(settings.atol));
    const R error = step.template squared_error<M::judged>(y, rtol, atol);
    constexpr int first_kink = Model::watches + (Model::stops ? 1 : 0);
    if constexpr (first_kink < signals) {
      Model::all_signals(k, t + step.h, step.end, step.end + n, step.end + 2 * n, end_signal);
      R across = R(0);
      ZWANG_REGISTERS for (int i = first_kink; i < signals; ++i) across =
          across + if_less(signal[i] * end_signal[i], R(0), R(1), R(0));
      return if_less(R(0), across, step.template squared_error<M::fed_back>(y, rtol, atol), error);
    }
    return error;
  }

  // Back onto the conditions at the step's end, and whether anything may have happened on the way.
  ZWANG_INLINE void conclude() {
    const R then = t + step.h;
    if (any_held) project<M>(k, then, end, held, 3);
    const R *q = end, *v = end + n, *z = end + 2 * n;
    if constexpr (r > 0) Model::levels(k, then, q, v, z, end_f, end_f_rate);
    R middle[M::fed_back];
    const Listener<Crew> listener{*this};
    if constexpr (r > 0 || signals > 0 || Model::any_extremes) listener.find_middle(middle);
    if constexpr (Model::any_turns) refuse_long_turns(then, middle);
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

  // [voss] T + V + energy lost in shocks - work of other forces and of moving conditions stays what it was.
  ZWANG_INLINE void audit(R then, Mask plain) {
    R kinetic, energy;
    Model::energies(k, then, end, end + n, end + 2 * n, kinetic, energy);
    R work = R(0);
    if constexpr (Model::works) work = end[size - 1];
    const R off = absolute(energy + ledger.energy_lost - work - ledger.energy_start);
    ledger.drift = select(plain, maximum(ledger.drift, off), ledger.drift);
    const R large = maximum(maximum(absolute(kinetic), absolute(energy - kinetic)), absolute(work));
    ledger.energy_size = select(plain, maximum(ledger.energy_size, large), ledger.energy_size);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      const R on = select(plain, held[i], R(0));
      if (Model::is_holonomic(i))
        ledger.worst_position = maximum(ledger.worst_position, if_less(R(0), on, absolute(end_f[i]), R(0)));
      ledger.worst_velocity =
          maximum(ledger.worst_velocity, if_less(R(0), on, absolute(end_f_rate[i]), R(0)));
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
          select(accepted, maximum(ledger.peak_lambda[i], absolute(end_lambda[i])), ledger.peak_lambda[i]);
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
