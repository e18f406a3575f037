// The crew of lanes that live side by side. Smooth steps are taken by all lanes at once, each with its own step size; what
// is rare (events, outputs, ends) is done lane by lane, with the same text on one number. src/motion.cpp is the reference.
#pragma once

#include "kernels/member_life.h"

namespace zwang {

template <class M, class R>
struct Crew {
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  using Mask = typename Lanes<R>::Mask;
  static constexpr int lanes = Lanes<R>::count, n = M::n, r = M::r, size = M::size;
  static constexpr int signals = Model::signals;

  const KernelSettings& settings;
  const KernelBatch& batch;
  M members[lanes];
  Mask live;
  bool any_held, any_redundant;
  long long attending = 0, refilling = 0;  // clock ticks spent so

  // What the lanes' steps need of their members.
  R k[at_least_one(Model::constants)];
  R t, h, y[size], held[M::rows], lambda[M::rows], peak_lambda[M::rows];
  R f[M::rows], f_rate[M::rows], signal[at_least_one(signals)], values[M::measures], best[M::measures];
  R side[at_least_one(signals)];  // +1: a rise through zero matters, -1: a fall, 0: neither
  R watched[M::rows];             // 1: open and armed
  R pressed[M::rows];             // 1: closed, an inequality, and pressing
  R appointment, next_output, wary, taken, rejected;
  R energy_start, energy_lost, drift, energy_size, worst_position, worst_velocity;

  // The step under way.
  StepArrays<Method, size, M::fed_back, R> step;
  R low[M::rows], high[M::rows], end_lambda[M::rows];
  R heard[M::rows];  // 1: something may have happened to this condition within the step
  R end[size], end_f[M::rows], end_f_rate[M::rows], end_signal[at_least_one(signals)],
      end_values[M::measures];
  R next_h;
  Mask clipped, accepted, refused, loud, hump;

  ZWANG_DEVICE Crew(const KernelSettings& s, const KernelBatch& b) : settings(s), batch(b) {}

  // Members come from `next()`, which gives a number or -1.
  template <class Queue>
  ZWANG_DEVICE void run(Queue& next) {
    const long long begun = batch.ticks ? clock_ticks() : 0;
    for (int lane = 0; lane < lanes; ++lane) idle(lane);
    for (int lane = 0; lane < lanes; ++lane) refill(lane, next);
    while (any(live)) {
      attempt();
      if (any(accepted)) {
        conclude();
        attend_lanes();
      }
      commit();
      for (int lane = 0; lane < lanes; ++lane)
        if (!lane_of(live, lane)) refill(lane, next);
    }
    if (batch.ticks) {
      batch.ticks[0] += clock_ticks() - begun;
      batch.ticks[1] += attending;
      batch.ticks[2] += refilling;
    }
  }

 private:
  template <class... X>
  ZWANG_INLINE static void clear(int lane, X&... x) {
    (set_lane(x, lane, Real(0)), ...);
  }

  // A lane without a member: numbers that do no harm.
  ZWANG_COLD void idle(int lane) {
    set_lane(live, lane, false);
    for (int i = 0; i < Model::constants; ++i) set_lane(k[i], lane, Real(1));
    for (int i = 0; i < size; ++i) {
      set_lane(y[i], lane, Real(0));
      set_lane(step.k[0][i], lane, Real(0));
    }
    for (int i = 0; i < r; ++i)
      clear(lane, held[i], lambda[i], peak_lambda[i], f[i], f_rate[i], watched[i], pressed[i]);
    for (int i = 0; i < signals; ++i) {
      set_lane(signal[i], lane, Real(0));
      set_lane(side[i], lane, Real(0));
    }
    for (int i = 0; i < Model::measures; ++i) {
      set_lane(values[i], lane, Real(0));
      set_lane(best[i], lane, Real(0));
    }
    clear(lane, t, h, wary, taken, rejected, energy_start, energy_lost);
    clear(lane, drift, energy_size, worst_position, worst_velocity);
    set_lane(appointment, lane, Real(1));
    set_lane(next_output, lane, Real(2));
  }

  template <class Queue>
  ZWANG_COLD void refill(int lane, Queue& next) {
    const long long begun = batch.ticks ? clock_ticks() : 0;
    start_next(lane, next);
    if (batch.ticks) refilling += clock_ticks() - begun;
  }
  template <class Queue>
  ZWANG_INLINE void start_next(int lane, Queue& next) {
    for (;;) {
      const long long number = next();
      if (number < 0) {
        idle(lane);
        find_held();
        return;
      }
      M& me = members[lane];
      if (begin(me, settings, batch, number)) {
        me.h = Method::adaptive ? initial_step(me) : Real(settings.step);
        for (int i = 0; i < Model::constants; ++i) set_lane(k[i], lane, me.k[i]);
        clear(lane, taken, rejected, drift, energy_size, worst_position, worst_velocity);
        set_lane(energy_start, lane, me.energy_start);
        set_lane(live, lane, true);
        store(lane);
        if (lane_of(live, lane)) return;
      } else {
        finish(me, me.status == Status::ok || me.status == Status::stopped);
      }
    }
  }

  // From the lanes to the member, before something happens to it.
  ZWANG_COLD void load(int lane) {
    M& me = members[lane];
    me.t = lane_of(t, lane);
    me.h = lane_of(h, lane);
    for (int i = 0; i < size; ++i) me.y[i] = lane_of(y[i], lane);
    me.steps = (long long)(lane_of(taken, lane));
    me.rejected = (long long)(lane_of(rejected, lane));
    for (int i = 0; i < r; ++i) {
      // A multiplier that has been large comes back to zero only to the rounding of what it was.
      Real& zero = me.conditions[i].multiplier_zero;
      zero = maximum(zero, 10 * me.contact_tolerance * lane_of(peak_lambda[i], lane));
    }
    // Conditions that were not heard are far from anything; those the lanes do not listen to stay suspect.
    me.near.clear();
    for (int i = 0; i < r; ++i) {
      const bool listened = lane_of(watched[i], lane) > 0 || lane_of(pressed[i], lane) > 0;
      if (!listened || lane_of(heard[i], lane) > 0 || !Model::is_holonomic(i)) me.near.add(i);
    }
    for (int m = 0; m < Model::measures; ++m)
      if (is_extreme<Model>(m)) me.results[m] = lane_of(best[m], lane);
    me.audit_max(audit_drift, lane_of(drift, lane));
    me.audit_max(audit_size, lane_of(energy_size, lane));
    me.audit_max(audit_position, lane_of(worst_position, lane));
    me.audit_max(audit_velocity, lane_of(worst_velocity, lane));
  }

  // And back. A member that is done leaves its lane.
  ZWANG_COLD void store(int lane) {
    M& me = members[lane];
    Real rate[size], forces[M::rows], value[M::rows], value_rate[M::rows], seen[M::measures];
    if (me.going()) {
      member_right_side(me, me.t, me.y, rate, forces);
      if (!all_finite<size>(rate)) me.fail(Status::not_finite);
    }
    if (!me.going()) {
      finish(me, true);
      set_lane(live, lane,
               false);  // its stale numbers do no harm until the lane is refilled, or idle for good
      return;
    }
    set_lane(t, lane, me.t);
    set_lane(h, lane, me.h);
    Model::levels(me.k, me.t, me.q(), me.v(), me.z(), value, value_rate);
    for (int i = 0; i < size; ++i) {
      set_lane(y[i], lane, me.y[i]);
      set_lane(step.k[0][i], lane, rate[i]);
    }
    bool careful = me.redundant_now;
    for (int i = 0; i < r; ++i) {
      const Condition<Real>& condition = me.conditions[i];
      const bool open = condition.standing == Standing::open, closed = condition.standing == Standing::closed;
      set_lane(held[i], lane, me.held[i]);
      set_lane(lambda[i], lane, forces[i]);
      set_lane(peak_lambda[i], lane, absolute(forces[i]));
      set_lane(f[i], lane, value[i]);
      set_lane(f_rate[i], lane, value_rate[i]);
      set_lane(watched[i], lane, open && condition.armed ? Real(1) : Real(0));
      set_lane(pressed[i], lane, closed && !condition.idle ? Real(1) : Real(0));
      careful = careful || (open && !condition.armed) || (closed && condition.idle);
    }
    if constexpr (signals > 0) {
      Real now[signals];
      Model::all_signals(me.k, me.t, me.q(), me.v(), me.z(), now);
      for (int i = 0; i < signals; ++i) {
        set_lane(signal[i], lane, now[i]);
        Real way = now[i] < 0 ? Real(1) : Real(-1);
        if (i < Model::watches) way = me.sides[i] == 0 ? Real(0) : me.sides[i] < 0 ? Real(1) : Real(-1);
        if (Model::stops && i == Model::watches) way = 1;
        set_lane(side[i], lane, way);
        careful = careful || way == 0;
      }
    }
    if constexpr (Model::any_extremes) {
      measured_at(me, me.t, me.y, seen);
      for (int m = 0; m < Model::measures; ++m) {
        set_lane(values[m], lane, seen[m]);
        if (is_extreme<Model>(m)) set_lane(best[m], lane, me.results[m]);
      }
    }
    set_lane(wary, lane, careful ? Real(1) : Real(0));
    set_lane(appointment, lane, next_appointment(me));
    set_lane(energy_lost, lane, me.energy_lost);
    set_lane(taken, lane, Real(me.steps));
    find_output(lane);
    find_held();
  }

  ZWANG_INLINE void find_output(int lane) {
    const M& me = members[lane];
    const bool more = me.next_output < settings.outputs;
    set_lane(next_output, lane, more ? Real(batch.outputs[me.next_output]) : infinity<Real>());
  }
  ZWANG_INLINE void find_held() {
    R sum = R(0);
    for (int i = 0; i < r; ++i) sum = sum + held[i];
    any_held = any(sum > R(0));
    any_redundant = false;
    for (int lane = 0; lane < lanes; ++lane)
      any_redundant = any_redundant || (lane_of(live, lane) && members[lane].redundant_now);
  }

  ZWANG_INLINE void rates_at(R when, const R* there, R* rate) {
    right_side<M>(k, when, there, held, any_held, rate, end_lambda);
    if constexpr (Model::integrals > 0)
      if (any_redundant) integrands_one_by_one(when, there, rate);
  }
  ZWANG_COLD void integrands_one_by_one(R when, const R* there, R* rate) {
    for (int lane = 0; lane < lanes; ++lane) {
      if (!lane_of(live, lane) || !members[lane].redundant_now) continue;
      Real y_lane[size], rate_lane[size];
      for (int i = 0; i < M::fed_back; ++i) y_lane[i] = lane_of(there[i], lane);
      integrands_of_least_norm(members[lane], lane_of(when, lane), y_lane, rate_lane);
      for (int i = M::fed_back; i < M::judged; ++i) set_lane(rate[i], lane, rate_lane[i]);
    }
  }

  // One step of every lane, each as long as its own error, appointments and turns allow.
  ZWANG_INLINE void attempt() {
    R length = minimum(h, R(Real(settings.max_step)));
    if constexpr (Model::any_turns) length = minimum(length, Model::turn_bound(k, t, y, y + n, y + 2 * n));
    // Land on the appointment; never leave a sliver of a step before it.
    const R room = appointment - t;
    clipped = length >= room * R(Real(1 - 1e-10));
    if constexpr (Method::adaptive) length = minimum(length, room * R(Real(0.5)));
    step.h = select(clipped, room, length);
    const Mask stuck = live && !(step.h > R(16 * Precision<Real>::epsilon) * absolute(t));
    if (any(stuck)) give_up(stuck);

    for (int i = 0; i < r; ++i) low[i] = high[i] = lambda[i];
    step.take(t, y, [this](R when, const R* there, R* rate) {
      rates_at(when, there, rate);
      if (any_held)
        for (int i = 0; i < r; ++i) {
          if (Model::is_equation(i)) continue;
          low[i] = minimum(low[i], end_lambda[i]);
          high[i] = maximum(high[i], end_lambda[i]);
        }
    });

    if constexpr (Method::adaptive) {
      const R error = error_of_step();
      accepted = live && (error <= R(1));
      const R stretched = step.h * step_factor<Method>(error);
      const R onward = select(clipped, maximum(h, stretched), stretched);
      next_h = select(accepted, onward, minimum(stretched, R(Real(0.9)) * step.h));
    } else {
      R off = R(0);
      for (int i = 0; i < size; ++i) off = off + (step.end[i] - step.end[i]);
      accepted = live && (off <= R(0));
      next_h = select(accepted, R(Real(settings.step)), step.h * R(Real(0.25)));
    }
    refused = live && !accepted;
    rejected = rejected + select(refused, R(1), R(0));
  }

  // The work is an audit and has no say. A step across a kink of an integrand will end at the kink: its integral is wrong
  // beyond, and the motion alone is judged.
  ZWANG_INLINE R error_of_step() {
    const R rtol = R(Real(settings.rtol)), atol = R(Real(settings.atol));
    const R error = step.template error_size<M::judged>(y, rtol, atol);
    constexpr int first_kink = Model::watches + (Model::stops ? 1 : 0);
    if constexpr (first_kink < signals) {
      Model::all_signals(k, t + step.h, step.end, step.end + n, step.end + 2 * n, end_signal);
      R across = R(0);
      for (int i = first_kink; i < signals; ++i)
        across = across + if_less(signal[i] * end_signal[i], R(0), R(1), R(0));
      return if_less(R(0), across, step.template error_size<M::fed_back>(y, rtol, atol), error);
    }
    return error;
  }

  ZWANG_COLD void give_up(const Mask& stuck) {
    for (int lane = 0; lane < lanes; ++lane) {
      if (!lane_of(stuck, lane)) continue;
      load(lane);
      // Why no step could be taken: the tolerance, or a motion that has no number any more.
      bool finite = true;
      for (int i = 0; i < size; ++i) finite = finite && is_finite(lane_of(step.end[i], lane));
      members[lane].fail(finite ? Status::step_too_small : Status::not_finite);
      store(lane);
    }
  }

  // Back onto the conditions at the step's end, and whether anything may have happened on the way.
  ZWANG_INLINE void conclude() {
    const R then = t + step.h;
    for (int i = 0; i < size; ++i) end[i] = step.end[i];
    if (any_held) project<M>(k, then, end, held, 3);
    const R *q = end, *v = end + n, *z = end + 2 * n;
    if constexpr (r > 0) Model::levels(k, then, q, v, z, end_f, end_f_rate);
    R middle[M::fed_back];
    if constexpr (r > 0 || signals > 0 || Model::any_extremes) find_middle(middle);
    loud = wary > R(Real(0.5));
    listen_to_conditions(middle);
    listen_to_signals(then, middle);
    listen_to_extremes(then, middle);
    clipped = clipped || (taken + R(2) > R(Real(settings.max_steps)));
    audit(then, accepted && !loud && !clipped);
  }

  // The state half-way, from both ends: positions by the polynomial of degree 5 through values, velocities and
  // accelerations, the rest by cubics. Good enough to ask whether anything may have happened.
  ZWANG_INLINE void find_middle(R* middle) const {
    const R half = R(Real(0.5)), eighth = step.h * R(Real(0.125));
    const R* first = step.k[0];
    const R* final = step.k[Method::last];
    for (int i = 0; i < n; ++i) {
      const R bend = square(step.h) * R(Real(1.0 / 64)) * (first[n + i] + final[n + i]);
      middle[i] = half * (y[i] + end[i]) + step.h * R(Real(5.0 / 32)) * (y[n + i] - end[n + i]) + bend;
    }
    for (int i = n; i < M::fed_back; ++i) middle[i] = half * (y[i] + end[i]) + eighth * (first[i] - final[i]);
  }

  // Open conditions far below zero for all the samples' variation are quiet; nearer ones when the cubic through both
  // ends stays below zero and describes the middle. Pressing ones when their multiplier keeps clear of zero. Whatever is
  // not quiet is looked at carefully, lane by lane.
  ZWANG_INLINE void listen_to_conditions(const R* middle) {
    if constexpr (r > 0) {
      R mid[M::rows];
      Model::values(k, t + R(Real(0.5)) * step.h, middle, middle + n, middle + 2 * n, mid);
      for (int i = 0; i < r; ++i) {
        if (Model::is_equation(i)) continue;
        const R top = maximum(maximum(f[i], mid[i]), end_f[i]),
                bottom = minimum(minimum(f[i], mid[i]), end_f[i]);
        const R spread = top - bottom;
        Mask near = !(top + spread < R(0));
        if (Model::is_holonomic(i)) {
          const R rise = step.h * f_rate[i], fall = step.h * end_f_rate[i];
          const R cubic = R(Real(0.5)) * (f[i] + end_f[i]) + R(Real(0.125)) * (rise - fall);
          const R hull =
              maximum(maximum(f[i] + R(Real(1.0 / 3)) * rise, end_f[i] - R(Real(1.0 / 3)) * fall), top);
          const R slack = R(Real(0.05)) * (spread + absolute(rise) + absolute(fall));
          near = near && !((absolute(mid[i] - cubic) <= slack) && (hull + slack < R(0)));
        }
        const Mask weak = !(low[i] > R(Real(0.2)) * (high[i] - low[i]));
        const Mask now = (near && watched[i] > R(Real(0.5))) || (weak && pressed[i] > R(Real(0.5)));
        heard[i] = select(now, R(1), R(0));
        loud = loud || now;
      }
    }
  }

  ZWANG_INLINE void listen_to_signals(R then, const R* middle) {
    if constexpr (signals > 0) {
      R mid[signals];
      Model::all_signals(k, then, end, end + n, end + 2 * n, end_signal);
      Model::all_signals(k, t + R(Real(0.5)) * step.h, middle, middle + n, middle + 2 * n, mid);
      for (int i = 0; i < signals; ++i) {
        const R a = side[i] * signal[i], b = side[i] * mid[i], c = side[i] * end_signal[i];
        const R top = maximum(maximum(a, b), c), spread = top - minimum(minimum(a, b), c);
        loud = loud || !(top + R(2) * spread < R(0));
      }
    }
  }

  // Extremes of measures: both ends are seen here; a hump in between that might beat what is known is looked at.
  ZWANG_INLINE void listen_to_extremes(R then, const R* middle) {
    hump = R(1) < R(0);
    if constexpr (Model::any_extremes) {
      R mid[M::measures], forces[M::rows], rate[size], there[size];
      for (int i = 0; i < M::fed_back; ++i) there[i] = middle[i];
      for (int i = M::fed_back; i < size; ++i) there[i] = R(0);
      const R half = t + R(Real(0.5)) * step.h;
      for (int i = 0; i < r; ++i) forces[i] = R(0);
      if (any_held) right_side<M>(k, half, there, held, any_held, rate, forces);
      Model::measured(k, half, middle, middle + n, middle + 2 * n, forces, held, mid);
      for (int i = 0; i < r; ++i) forces[i] = end_lambda[i];
      Model::measured(k, then, end, end + n, end + 2 * n, forces, held, end_values);
      for (int m = 0; m < Model::measures; ++m) {
        if (!is_extreme<Model>(m)) continue;
        const R sign = R(Reduction(Model::measure_reduction(m)) == Reduction::maximum ? Real(1) : Real(-1));
        const R a = sign * values[m], b = sign * mid[m], c = sign * end_values[m];
        const R top = maximum(maximum(a, b), c), spread = top - minimum(minimum(a, b), c);
        const R up = R(4) * b - R(3) * a - c,
                down = a - R(4) * b + R(3) * c;  // slopes of the parabola at the ends
        const Mask humped = !(up <= R(Real(-0.2)) * spread) && !(down >= R(Real(0.2)) * spread);
        hump = hump || (humped && !(top + spread <= sign * best[m]));
      }
    }
  }

  // [voss] T + V + energy lost in shocks - work of other forces and of moving conditions stays what it was.
  ZWANG_INLINE void audit(R then, Mask plain) {
    R kinetic, energy;
    Model::energies(k, then, end, end + n, end + 2 * n, kinetic, energy);
    R work = R(0);
    if constexpr (Model::works) work = end[size - 1];
    const R off = absolute(energy + energy_lost - work - energy_start);
    drift = select(plain, maximum(drift, off), drift);
    const R large = maximum(maximum(absolute(kinetic), absolute(energy - kinetic)), absolute(work));
    energy_size = select(plain, maximum(energy_size, large), energy_size);
    for (int i = 0; i < r; ++i) {
      const R on = select(plain, held[i], R(0));
      if (Model::is_holonomic(i))
        worst_position = maximum(worst_position, if_less(R(0), on, absolute(end_f[i]), R(0)));
      worst_velocity = maximum(worst_velocity, if_less(R(0), on, absolute(end_f_rate[i]), R(0)));
    }
  }

  ZWANG_INLINE void attend_lanes() {
    const R then = t + step.h;
    const R near = R(4500 * Precision<Real>::epsilon) * maximum(absolute(then), step.h);
    const Mask output = next_output < then - near;
    const Mask wanted = accepted && (loud || hump || clipped || output);
    if (!any(wanted)) return;
    const long long begun = batch.ticks ? clock_ticks() : 0;
    if constexpr (Method::stages - 1 > Method::last) {
      if (any(accepted && (loud || hump || output))) {
        R kept[M::rows];
        for (int i = 0; i < r; ++i) kept[i] = end_lambda[i];
        step.complete_interpolant(t, y,
                                  [this](R when, const R* there, R* rate) { rates_at(when, there, rate); });
        for (int i = 0; i < r; ++i) end_lambda[i] = kept[i];
      }
    }
    for (int lane = 0; lane < lanes; ++lane) {
      if (!lane_of(wanted, lane)) continue;
      const bool inside = lane_of(hump, lane) || lane_of(output, lane);
      if (lane_of(loud, lane) || (lane_of(clipped, lane) && inside))
        attend(lane);
      else if (lane_of(clipped, lane))
        arrive(lane);
      else
        visit(lane);
    }
    if (batch.ticks) attending += clock_ticks() - begun;
  }

  // Nothing happens to the motion: only outputs inside the step, or a measure's hump.
  ZWANG_COLD void visit(int lane) {
    M& me = members[lane];
    Interpolant<Method, size, Real> interpolant;
    const Real then = lane_of(t, lane);
    interpolant.make(step, then, y, lane);
    me.h = lane_of(step.h, lane);
    emit_outputs_until(me, interpolant, then + me.h);
    find_output(lane);
    if (!lane_of(hump, lane)) return;
    for (int m = 0; m < Model::measures; ++m)
      if (is_extreme<Model>(m)) me.results[m] = lane_of(best[m], lane);
    follow(me, interpolant, Real(1));
    for (int m = 0; m < Model::measures; ++m)
      if (is_extreme<Model>(m)) set_lane(best[m], lane, me.results[m]);
  }

  // Output times inside the stretch: the interpolant, brought onto the conditions. Times within rounding of the
  // stretch's end wait: values at an event are those after it.
  template <class I>
  ZWANG_COLD void emit_outputs_until(M& me, const I& interpolant, Real until) {
    const Real near = 4500 * Precision<Real>::epsilon * maximum(absolute(until), interpolant.h);
    while (me.next_output < settings.outputs && Real(batch.outputs[me.next_output]) < until - near) {
      const Real when = Real(batch.outputs[me.next_output]);
      Real there[size];
      interpolant.at((when - interpolant.t) / interpolant.h, there);
      if (me.any_held) project<M>(me.k, when, there, me.held, 3);
      write_output(me, when, there);
    }
  }

  // Nothing happened on the way, and an appointment (or the end) is reached.
  ZWANG_COLD void arrive(int lane) {
    M& me = members[lane];
    load(lane);
    me.h = lane_of(step.h, lane);
    if (++me.steps >= settings.max_steps) {
      me.fail(Status::step_limit);
    } else {
      Real there[size];
      for (int i = 0; i < size; ++i) there[i] = lane_of(end[i], lane);
      measure_sizes(me, me.y, there, me.h);
      copy<size>(there, me.y);
      const Real due = lane_of(appointment, lane);
      me.t = due <= me.t + me.h * (1 + 8 * Precision<Real>::epsilon) ? due : me.t + me.h;
      see(me);
      audit_energy(me);
      follow_up(me);
    }
    set_lane(accepted, lane, false);
    me.h = lane_of(next_h, lane);
    store(lane);
  }

  // After the motion has arrived somewhere: appointments, the end, outputs.
  ZWANG_INLINE void follow_up(M& me) {
    if (me.going()) keep_appointments(me, false);
    if (me.status == Status::ok) me.finished = !(me.t < me.end - me.rounding_of_time());
    if (me.status == Status::ok || me.status == Status::stopped) emit_output_now(me);
  }

  // The careful way through a step: what happens first, the motion up to there, and what follows from it.
  ZWANG_COLD void attend(int lane) {
    M& me = members[lane];
    load(lane);
    Stretch<M> stretch{me, {}, {}};
    stretch.interpolant.make(step, me.t, y, lane);
    for (int i = 0; i < size; ++i) stretch.first_rate[i] = lane_of(step.k[0][i], lane);
    measure_sizes(me, stretch.interpolant.start, stretch.interpolant.end, stretch.interpolant.h);
    Occurrence<M> found;
    if (lane_of(loud, lane)) first_occurrence(me, stretch, found);
    if (me.going()) {
      advance(me, stretch, found, lane);
      if (me.going() && found.found) happen(me, found.lookout, found.resolution);
      follow_up(me);
    }
    me.h = lane_of(next_h, lane);
    // A new law of motion: the old step may be far too long, and each try costs a whole step.
    const bool anew = found.found && found.lookout.kind == LookoutKind::reached && me.any_held;
    if (Method::adaptive && anew && me.going()) me.h = minimum(me.h, 2 * initial_step(me));
    set_lane(accepted, lane, false);
    store(lane);
  }

  // Takes the stretch of motion up to the occurrence into the record.
  ZWANG_COLD void advance(M& me, const Stretch<M>& stretch, const Occurrence<M>& found, int lane) {
    if (++me.steps >= settings.max_steps) {
      me.fail(Status::step_limit);
      return;
    }
    const Real due = lane_of(appointment, lane), x = found.found ? found.x : Real(1);
    const bool arrives =
        !found.found && due <= me.t + stretch.interpolant.h * (1 + 8 * Precision<Real>::epsilon);
    const Real until = arrives ? due : me.t + x * stretch.interpolant.h;
    me.h = stretch.interpolant.h;
    emit_outputs_until(me, stretch.interpolant, until);
    follow(me, stretch.interpolant, x);
    const Real* there = found.found ? found.y : stretch.interpolant.end;
    measure_sizes(me, stretch.interpolant.start, there, x * stretch.interpolant.h);
    copy<size>(there, me.y);
    me.t = until;
    if (!all_finite<size>(me.y)) {
      me.fail(Status::not_finite);
      return;
    }
    settle_drift(me);
    see(me);
    audit_energy(me);
    // Conditions clearly below zero are armed; watched functions clearly off zero know their side.
    for (int i = 0; i < r; ++i) {
      Condition<Real>& condition = me.conditions[i];
      if (condition.standing != Standing::open || condition.armed) continue;
      const Real elapsed = me.t - condition.since;
      const auto zero = zero_of(me, i);
      condition.armed = zero.f < -(zero.value + Real(0.5) * condition.noise * elapsed * elapsed);
    }
    for (int i = 0; i < Model::watches; ++i) {
      if (me.sides[i] != 0) continue;
      const auto value = scaled_signal(me, i);
      if (absolute(value.value) > me.contact_tolerance * value.scale) me.sides[i] = value.value > 0 ? 1 : -1;
    }
  }

  // The lanes to which nothing happened move on; those attended have been moved already.
  ZWANG_INLINE void commit() {
    h = select(accepted || refused, next_h, h);
    const R then = t + step.h;
    for (int i = 0; i < size; ++i) {
      y[i] = select(accepted, end[i], y[i]);
      step.k[0][i] = select(accepted, step.k[Method::last][i], step.k[0][i]);
    }
    t = select(accepted, then, t);
    taken = taken + select(accepted, R(1), R(0));
    for (int i = 0; i < r; ++i) {
      lambda[i] = select(accepted, end_lambda[i], lambda[i]);
      peak_lambda[i] = select(accepted, maximum(peak_lambda[i], absolute(end_lambda[i])), peak_lambda[i]);
      f[i] = select(accepted, end_f[i], f[i]);
      f_rate[i] = select(accepted, end_f_rate[i], f_rate[i]);
    }
    for (int i = 0; i < signals; ++i) signal[i] = select(accepted, end_signal[i], signal[i]);
    if constexpr (Model::any_extremes)
      for (int m = 0; m < Model::measures; ++m) {
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
