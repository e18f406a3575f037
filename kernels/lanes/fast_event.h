// Fast event: a lane whose step ends at a crossing handles the common event by itself: it covers the
// remaining distance, applies the impact or the release, and continues the motion, with the numbers it has in
// registers. Handled are single contacts in the sense of event/single_contact.h: in systems of few coordinates and
// conditions all of them (EventPoint), in larger ones rebounds in free flight (FreeImpact). The active set is guessed,
// and the impulses and multipliers of Gauss's principle must be clearly positive. Crossings of watched functions and
// kinks (SignalPoint) change nothing but the side on which the signal is. If anything is unclear, nothing is changed, and
// the slow path handles the event (member/slow_path.h).
//
// Every index is constant after unrolling, and values of the condition sought are sums over all conditions
// with weights 0 and 1: so everything stays in registers.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/event/contact_rules.h"
#include "kernels/event/contacts.h"
#include "kernels/event/refine_event_time.h"
#include "kernels/lanes/event_point.h"
#include "kernels/lanes/free_impact.h"
#include "kernels/lanes/lane_state.h"
#include "kernels/lanes/signal_point.h"
#include "kernels/member/start_and_end.h"
#include "kernels/record/event_log.h"
#include "kernels/record/measures.h"
#include "kernels/rootfinding/step_length_search.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

// The kind of point that a model's fast events have.
template <class M, bool light>
struct PointOfFastEvent {
  using Type = EventPoint<M>;
  static constexpr bool possible = true;
};
template <class M>
struct PointOfFastEvent<M, false> {
  using Type = FreeImpact<M>;
  static constexpr bool possible = FreeImpact<M>::possible();
};

template <class M, class R>
struct FastEvent {
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  using PointKind = PointOfFastEvent<M, Model::light_events>;
  using Point = typename PointKind::Type;
  static constexpr int n = M::n, r = M::r, rows = M::rows, size = M::size;

  const KernelSettings& settings;
  const KernelBatch& batch;
  M *members, *full_members;                                   // as in LaneGroup
  const StepLengthSearch<Real, M::event_functions>* searches;  // one for each lane
  LaneState<M, R>& state;
  StepInProgress<M, R>& trial;  // the rates at the start of the next step are changed
  LaneLedger<R, M::rows>& ledger;
  StepFlags<M, R>& flags;

  // Measures that are evaluated at an event by a formula.
  static constexpr bool measures_at_events() {
    bool any = false;
    for (int m = 0; m < Model::measures; ++m)
      any = any || (EventPattern(Model::measure_pattern(m)) != EventPattern::none &&
                    Reduction(Model::measure_reduction(m)) == Reduction::at);
    return any;
  }
  // Signals that depend on multipliers need more than a lane has.
  static constexpr bool knows_signals = Method::adaptive && !Model::signals_forces;
  // Formulas at contacts may contain multipliers and which conditions are closed: in free flight these are zero.
  static constexpr bool contacts_possible =
      PointKind::possible && knows_signals && (Point::in_free_flight || !measures_at_events());
  static constexpr bool signals_possible = Model::signals > 0 && knows_signals&& Model::masked;
  static constexpr bool possible = contacts_possible || signals_possible;

  // Handles the event of one lane. False: nothing has been changed.
  ZWANG_INLINE bool handle(int lane) const {
    if constexpr (signals_possible) {
      const int signal = sought_signal(lane);
      if (signal >= 0) return handle_signal(lane, signal);
    }
    if constexpr (contacts_possible) return handle_contact(lane);
    return false;
  }

 private:
  // An impact or a release.
  ZWANG_INLINE bool handle_contact(int lane) const {
    Point point;
    ImpactRecord<M> impact;
    SignalsAfterEvent<M> signals;
    Real before[M::measures];
    Tally<Real> tally = members[lane].tally;
    if (!is_alone(lane, tally) || !approach_event(lane, point) || !nothing_else_is_due(lane, point))
      return false;
    evaluate_measures(point, before);
    const bool simple = point.reached
                            ? point.apply_impact(impact) && point.multipliers_positive() &&
                                  point.hops_resolved(impact) && signals_clear(lane, point, signals) &&
                                  motion_continues(lane, point)
                            : point.release() && point.multipliers_positive() && point.opens() &&
                                  signals_clear(lane, point, signals);
    if (!simple) return false;
    point.next_h = next_step(lane, point);
    if (point.reached)
      record_shock(lane, point, impact, tally);
    else
      record_release(lane, point, tally);
    members[lane].tally = tally;
    point.evaluate_all();
    update_conditions(lane, point, impact);
    update_signals(lane, signals);
    store_measures(lane, point, before);
    resume_motion(lane, point);
    return true;
  }

  // The crossing of a watched function or a kink.
  ZWANG_INLINE bool handle_signal(int lane, int index) const {
    SignalPoint<M> point;
    Real there[size];
    Tally<Real> tally = members[lane].tally;
    bool first = false;
    ZWANG_REGISTERS for (int i = 0; i < Model::signals; ++i) {
      if (i == index) first = lane_of(flags.signal_first_if_at_end[i], lane);
    }
    if (!first || !is_alone(lane, tally) || !approach_signal(lane, index, point) ||
        !nothing_else_is_due(lane, point) ||
        !point.leaves_zero(Real(1.0 / 256) * lane_of(trial.step.h, lane), there))
      return false;
    point.next_h = searches[lane].next_h;
    record_signal(lane, point, tally);
    members[lane].tally = tally;
    change_branch(lane, point, there);
    point.evaluate_all();
    change_side(lane, point);
    Real values[M::measures];
    evaluate_measures(point, values);
    store_measures(lane, point, values);
    Real peak[rows];
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) { peak[i] = lane_of(ledger.peak_lambda[i], lane); }
    resume_motion(lane, point);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      set_lane(ledger.peak_lambda[i], lane, maximum(peak[i], absolute(point.lambda[i])));
    }
    return true;
  }

  // The signal whose crossing is sought, or -1.
  ZWANG_INLINE int sought_signal(int lane) const {
    int found = -1;
    ZWANG_REGISTERS for (int i = 0; i < Model::signals; ++i) {
      if (searches[lane].sought[rows + i] > 0) found = i;
    }
    return found;
  }

  // As SingleContactSolver: besides the condition sought, only conditions with a positive multiplier are near
  // zero, and nothing else is due.
  ZWANG_INLINE bool is_alone(int lane, const Tally<Real>& tally) const {
    const M& me = members[lane];
    bool alone = !me.progress.accumulation_pending && !me.constraints.redundant &&
                 !lane_of(flags.output_due, lane) && !lane_of(flags.extremum_possible, lane) &&
                 !lane_of(flags.clipped, lane);
    alone = alone && tally.events + 2 <= settings.max_events && tally.at_last_time + 2 <= standstill_limit;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      if (Model::is_equation(i)) continue;
      const bool presses_now = lane_of(state.presses_now[i], lane);
      const Real arming_level = lane_of(ledger.arming_level[i], lane);
      if (searches[lane].sought[i] > 0)
        alone = alone && lane_of(flags.first_if_at_end[i], lane) && (presses_now || arming_level > 0);
      else
        alone = alone && (presses_now || !(arming_level < 0));
    }
    return alone;
  }

  // From the end of the trial step to the crossing: as approach() in event/refine_event_time.h.
  ZWANG_INLINE bool approach_event(int lane, Point& point) const {
    const M& me = members[lane];
    const auto& search = searches[lane];
    const Real h = lane_of(trial.step.h, lane);
    point.contact_tolerance = within_precision<Real>(settings.contact_tolerance);
    point.rest_speed = within_precision<Real>(settings.rest_speed);
    ZWANG_REGISTERS for (int i = 0; i < Model::constants; ++i) { point.k[i] = lane_of(state.k[i], lane); }
    point.t = lane_of(state.t, lane) + h;
    point.any_held = false;
    point.reached = true;
    point.multiplier_zero = 0;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      point.held[i] = lane_of(state.held[i], lane);
      point.any_held = point.any_held || point.held[i] > 0;
      point.sought[i] = search.sought[i];
      if (!(point.sought[i] > 0) || !lane_of(state.presses_now[i], lane)) continue;
      point.reached = false;
      point.multiplier_zero = maximum(me.constraints.conditions[i].multiplier_zero,
                                      10 * point.contact_tolerance * lane_of(ledger.peak_lambda[i], lane));
    }
    Real from[size];
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) {
      from[i] = lane_of(state.y[i], lane);
      point.y[i] = lane_of(trial.end[i], lane);
    }
    if (!point.identify()) return false;
    point.evaluate_scales();
    point.measure_sizes(from, h);
    if (!point.find_zeros()) return false;
    point.evaluate_rates();
    point.evaluate_rows();
    return refine_in_registers(point, lane_of(state.t, lane), h, search.slope);
  }

  template <class AnyPoint>
  ZWANG_INLINE bool refine_in_registers(AnyPoint& point, Real start, Real h, Real known_slope) const {
    const Real reach = 2 * Real(settings.crossing_reach), left_out = Real(0.01) * Real(settings.rtol);
    const Real zero = point.curve_zero();
    Real value = point.curve(), slope = point.reached ? point.curve_rate() : known_slope;
    Real duration = -value / slope;
    if (point.reached) {
      // The quadratic term saves a second iteration.
      const Real bent = Real(0.5) * point.second().value * duration / slope;
      if (absolute(bent) < Real(0.1)) duration -= bent * duration;
    }
    ZWANG_ROLLED for (int pass = 0; pass < 6; ++pass) {
      if (!(absolute(value) > Real(1e-4) * zero)) break;
      const Real share = absolute(duration) / h;
      if (!(slope > 0) || !(share <= reach)) return false;
      if (absolute(duration) <= Precision<Real>::epsilon * (point.t - start)) break;
      point.flow(duration,
                 square(share) <= left_out ? 1
                 : cube(share) <= left_out ? 2
                                           : 4,
                 square(share) > Precision<Real>::epsilon);
      const Real next = point.curve(), secant = (next - value) / duration;
      if (point.reached)
        slope = point.curve_rate();
      else if (secant > Real(0.1) * slope && secant < 10 * slope)
        slope = secant;
      const bool nearer = absolute(next) < absolute(value);
      value = next;
      if (!nearer) break;  // rounding reached
      duration = -value / slope;
    }
    point.resolution = resolution_of(slope, start, h);
    return absolute(value) <= maximum(zero, point.resolution) && all_finite<size>(point.y);
  }

  ZWANG_INLINE bool approach_signal(int lane, int index, SignalPoint<M>& point) const {
    const Real h = lane_of(trial.step.h, lane);
    point.contact_tolerance = within_precision<Real>(settings.contact_tolerance);
    ZWANG_REGISTERS for (int i = 0; i < Model::constants; ++i) { point.k[i] = lane_of(state.k[i], lane); }
    point.t = lane_of(state.t, lane) + h;
    point.index = index;
    point.any_held = false;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      point.held[i] = lane_of(state.held[i], lane);
      point.any_held = point.any_held || point.held[i] > 0;
    }
    ZWANG_REGISTERS for (int i = 0; i < Model::signals; ++i) {
      if (i == index) point.side = lane_of(state.side[i], lane);
    }
    Real from[size];
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) {
      from[i] = lane_of(state.y[i], lane);
      point.y[i] = lane_of(trial.end[i], lane);
    }
    point.find_zero(from, h);
    point.evaluate_rates();
    return refine_in_registers(point, lane_of(state.t, lane), h, searches[lane].slope);
  }

  // No output time and no scheduled time up to the event.
  template <class AnyPoint>
  ZWANG_INLINE bool nothing_else_is_due(int lane, const AnyPoint& point) const {
    const Real near = Precision<Real>::moment * maximum(absolute(point.t), lane_of(trial.step.h, lane));
    return lane_of(ledger.next_output, lane) > point.t + near &&
           lane_of(ledger.scheduled_time, lane) > point.t + 64 * Precision<Real>::epsilon * absolute(point.t);
  }

  // A geometric sequence of shocks that is about to reach its limit is left to the slow path: as in
  // finish_accumulation().
  ZWANG_INLINE bool motion_continues(int lane, const Point& point) const {
    auto& watch = members[lane].accumulation;
    const auto condition = point.condition();
    const auto sequence = watch.sequence_with(point.t, condition);
    if (sequence.nearly_over(Real(settings.accumulation_gap), Real(settings.rtol))) return false;
    watch.take(point.t, condition, sequence);
    note_held(members[lane], full_members[lane]);
    return true;
  }

  // The first step after the event, as in continue_from_event().
  ZWANG_INLINE Real next_step(int lane, const Point& point) const {
    const M& full_member = full_members[lane];
    const Real onward = searches[lane].next_h;
    if (!point.reached || !point.any_held) return onward;
    const auto rates = [&](Real when, const Real* there, Real* rate) {
      Real lambda[rows];
      right_side<M>(point.k, when, there, point.held, point.any_held, rate, lambda);
    };
    return minimum(onward, first_step<M>(point.t, point.y, full_member.input.end - point.t,
                                         Real(settings.rtol), Real(settings.atol), point.rate, rates));
  }

  ZWANG_INLINE void record_shock(int lane, const Point& point, ImpactRecord<M>& impact,
                                 Tally<Real>& tally) const {
    M &me = members[lane], &full_member = full_members[lane];
    typename M::Event contact;
    contact.t = point.t;
    contact.kind = EventKind::contact;
    contact.constraints = point.condition();
    place_member(me, point, impact.event.before);
    append_event(me, full_member, tally, contact, settings, batch);
    if (impact.fixed) full_member.audit.raise(audit_created, -impact.event.energy_lost);
    if (impact.fixed && !impact.rebounds) full_member.audit.raise(audit_carnot, impact.carnot);
    me.energy.lost = lane_of(ledger.energy_lost, lane) + impact.energy_lost;
    set_lane(ledger.energy_lost, lane, me.energy.lost);
    impact.event.kind = EventKind::shock;
    place_member(me, point, impact.event.after);
    append_event(me, full_member, tally, impact.event, settings, batch);
  }
  // Formulas at events are evaluated at the member's state; it is that of the event, with the velocities v.
  template <class AnyPoint>
  ZWANG_INLINE void place_member(M& me, const AnyPoint& point, const Real* v) const {
    if constexpr (measures_at_events()) {
      me.motion.t = point.t;
      ZWANG_REGISTERS for (int c = 0; c < size; ++c) {
        me.motion.y[c] = c >= n && c < 2 * n ? v[c - n] : point.y[c];
      }
    }
  }
  // A watched function that crosses in its direction is an event; a kink is none.
  ZWANG_INLINE void record_signal(int lane, const SignalPoint<M>& point, Tally<Real>& tally) const {
    if (point.index >= Model::watches) return;
    M &me = members[lane], &full_member = full_members[lane];
    const int sign = point.side > 0 ? 1 : -1, direction = Model::watch_direction(point.index);
    full_member.watch_signs[point.index] = sign;
    if (direction != 0 && direction != sign) return;
    typename M::Event event;
    event.t = point.t;
    event.kind = EventKind::event;
    event.watch = point.index;
    place_member(me, point, point.y + n);
    append_event(me, full_member, tally, event, settings, batch);
  }
  ZWANG_INLINE void record_release(int lane, const Point& point, Tally<Real>& tally) const {
    typename M::Event event;
    event.t = point.t;
    event.kind = EventKind::release;
    event.constraints = point.condition();
    append_event(members[lane], full_members[lane], tally, event, settings, batch);
  }

  // The active set after the event, and the data for event detection.
  ZWANG_INLINE void update_conditions(int lane, const Point& point, const ImpactRecord<M>& impact) const {
    M& me = members[lane];
    if constexpr (Point::in_free_flight) {
      open_condition(point.t, true, point.value, Real(0), me.constraints.conditions[point.index]);
      return;  // it was armed, and it is
    } else {
      update_all_conditions(me, lane, point, impact);
    }
  }
  ZWANG_INLINE void update_all_conditions(M& me, int lane, const Point& point,
                                          const ImpactRecord<M>& impact) const {
    me.constraints.any_held = point.any_held;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      me.constraints.held[i] = point.held[i];
      set_lane(state.held[i], lane, point.held[i]);
      if (Model::is_equation(i)) continue;
      auto& condition = me.constraints.conditions[i];
      const bool leaves = point.reached ? impact.separating[i] > 0 : point.sought[i] > 0;
      if (leaves) {
        const bool armed = point.reached || point.armed;
        open_condition(point.t, armed, point.f[i], point.reached ? Real(0) : point.noise, condition);
        const Real level = condition.above + 2 * point.value_zero[i] + condition.noise * square(point.next_h);
        set_lane(ledger.arming_level[i], lane, armed ? Real(1) : -level);
        set_lane(state.presses_now[i], lane, false);
        me.exchange.presses_now[i] = 0;
      } else if (point.held[i] > 0) {
        close_condition(point.slack[i] / point.weight[i], condition);
        set_lane(ledger.arming_level[i], lane, Real(0));
        set_lane(state.presses_now[i], lane, true);
        me.exchange.presses_now[i] = 1;
      }
    }
  }

  // Whether the signals are known after an impact or release. The rates of the point are then those of the new branches.
  ZWANG_INLINE bool signals_clear(int lane, Point& point, SignalsAfterEvent<M>& signals) const {
    if constexpr (Model::signals == 0) {
      return true;
    } else {
      Real sides[M::signals];
      ZWANG_REGISTERS for (int i = 0; i < Model::signals; ++i) { sides[i] = lane_of(state.side[i], lane); }
      if (!signals.evaluate(point, point.contact_tolerance, sides)) return false;
      if constexpr (Model::branches > 0) {
        ZWANG_REGISTERS for (int i = 0; i < Model::branches; ++i) {
          point.k[Model::constants - Model::branches + i] = signals.branch[i];
        }
        point.evaluate_rates();
      }
      return true;
    }
  }
  ZWANG_INLINE void update_signals(int lane, const SignalsAfterEvent<M>& signals) const {
    ZWANG_REGISTERS for (int i = 0; i < Model::signals; ++i) {
      set_lane(state.signal[i], lane, signals.signal[i]);
      set_lane(state.side[i], lane, signals.side[i]);
      members[lane].exchange.side[i] = signals.side[i];
    }
    ZWANG_REGISTERS for (int i = 0; i < Model::branches; ++i) { set_branch(lane, i, signals.branch[i]); }
  }
  ZWANG_INLINE void set_branch(int lane, int i, Real value) const {
    const int place = Model::constants - Model::branches + i;
    set_lane(state.k[place], lane, value);
    members[lane].k[place] = value;
  }
  // The branch of the integrand behind a kink; `there` is a state of that side. The rates of the point are then its.
  ZWANG_INLINE void change_branch(int lane, SignalPoint<M>& point, const Real* there) const {
    if constexpr (Model::branches > 0) {
      ZWANG_REGISTERS for (int i = 0; i < Model::branches; ++i) {
        if (M::first_kink + i != point.index) continue;
        const Real made =
            Model::branch(point.k, point.t, there, there + n, there + 2 * n, point.lambda, point.held, i);
        set_branch(lane, i, made);
        point.k[Model::constants - Model::branches + i] = made;
      }
      point.evaluate_rates();
    }
  }
  // The signal that has crossed is on its other side from now on.
  ZWANG_INLINE void change_side(int lane, const SignalPoint<M>& point) const {
    ZWANG_REGISTERS for (int i = 0; i < Model::signals; ++i) {
      set_lane(state.signal[i], lane, point.signal[i]);
      if (i != point.index) continue;
      set_lane(state.side[i], lane, -point.side);
      members[lane].exchange.side[i] = -point.side;
    }
  }

  // Extremes of measures: the multipliers before the event count as well as those after it.
  template <class AnyPoint>
  ZWANG_INLINE void evaluate_measures(const AnyPoint& point, Real* values) const {
    if constexpr (Model::any_extremes) {
      Real forces[rows];
      ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
        const Real force = is_finite(point.lambda[i]) ? point.lambda[i] : Real(0);
        forces[i] = Model::is_equation(i) ? force : maximum(force, Real(0));
      }
      Model::measured(point.k, point.t, point.y, point.y + n, point.y + 2 * n, forces, point.held, values);
    }
  }
  template <class AnyPoint>
  ZWANG_INLINE void store_measures(int lane, const AnyPoint& point, const Real* before) const {
    if constexpr (Model::any_extremes) {
      Real after[M::measures];
      evaluate_measures(point, after);
      ZWANG_REGISTERS for (int m = 0; m < Model::measures; ++m) {
        if (!is_extreme<Model>(m)) continue;
        const bool largest = Reduction(Model::measure_reduction(m)) == Reduction::maximum;
        Real best = lane_of(state.best[m], lane);
        best = better_of(largest, better_of(largest, best, before[m]), after[m]);
        set_lane(state.best[m], lane, best);
        set_lane(state.values[m], lane, after[m]);
      }
    }
  }

  template <class AnyPoint>
  ZWANG_INLINE void resume_motion(int lane, const AnyPoint& point) const {
    set_lane(state.t, lane, point.t);
    set_lane(state.h, lane, point.next_h);
    set_lane(ledger.taken, lane, lane_of(ledger.taken, lane) + 1);
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) { set_lane(state.y[i], lane, point.y[i]); }
    ZWANG_REGISTERS for (int m = 0; m < size - n; ++m) {
      set_lane(trial.step.first()[m], lane, point.rate[n + m]);
    }
    Real position = lane_of(ledger.worst_position, lane), velocity = lane_of(ledger.worst_velocity, lane);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      set_lane(state.lambda[i], lane, point.lambda[i]);
      set_lane(ledger.peak_lambda[i], lane, absolute(point.lambda[i]));
      set_lane(state.f[i], lane, point.f[i]);
      set_lane(state.f_rate[i], lane, point.f_rate[i]);
      if (!(point.held[i] > 0)) continue;
      if (Model::is_holonomic(i)) position = maximum(position, absolute(point.f[i]));
      velocity = maximum(velocity, absolute(point.f_rate[i]));
    }
    set_lane(ledger.worst_position, lane, position);
    set_lane(ledger.worst_velocity, lane, velocity);
    audit(lane, point);
    set_lane(flags.at_event, lane, false);
    set_lane(state.searching, lane, false);
    set_lane(flags.accepted, lane, false);
  }

  // [voss] As LaneGroup::audit().
  template <class AnyPoint>
  ZWANG_INLINE void audit(int lane, const AnyPoint& point) const {
    Real kinetic, energy;
    Model::energies(point.k, point.t, point.y, point.y + n, point.y + 2 * n, kinetic, energy);
    const Real work = Model::works ? point.y[size - 1] : Real(0);
    const Real off =
        absolute(energy + lane_of(ledger.energy_lost, lane) - work - lane_of(ledger.energy_start, lane));
    const Real large = maximum(maximum(absolute(kinetic), absolute(energy - kinetic)), absolute(work));
    set_lane(ledger.drift, lane, maximum(lane_of(ledger.drift, lane), off));
    set_lane(ledger.energy_size, lane, maximum(lane_of(ledger.energy_size, lane), large));
  }
};

}  // namespace zwang
