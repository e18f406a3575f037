// Fast event: a lane whose step ends at a crossing handles the common event by itself: it covers the
// remaining distance, applies the impact or the release, and continues the motion, with the numbers it has in
// registers. Handled are single contacts in the sense of event/single_contact.h: in systems of few
// coordinates and conditions all of them (EventPoint), in larger ones and in those with friction rebounds
// while no inequality is closed (FreeImpact).
// The active set is guessed, and the impulses and multipliers of Gauss's principle must be clearly positive.
// Crossings of watched functions and kinks (SignalPoint) change nothing but the side on which the signal is.
// If anything is unclear, nothing is changed, and the slow path handles the event (member/slow_path.h).
//
// Every index is constant after unrolling, and values of the condition sought are sums over all conditions
// with weights 0 and 1: so everything stays in registers.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/mass.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/event/contact_rules.h"
#include "kernels/event/contacts.h"
#include "kernels/event/refine_event_time.h"
#include "kernels/lanes/event_point.h"
#include "kernels/lanes/fast_event_lane.h"
#include "kernels/lanes/free_impact.h"
#include "kernels/lanes/lane_state.h"
#include "kernels/lanes/signal_crossing.h"
#include "kernels/lanes/signal_point.h"
#include "kernels/lanes/transition_crossing.h"
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
  static constexpr bool possible = FreeImpact<M>::possible;
};

template <class M, class R>
struct FastEvent : FastEventLane<M, R> {
  using Base = FastEventLane<M, R>;
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  using Base::batch, Base::flags, Base::full_members, Base::ledger, Base::members, Base::searches,
      Base::settings, Base::state, Base::trial;
  static constexpr int n = M::n, r = M::r, rows = M::rows, size = M::size;
  using PointKind = PointOfFastEvent<M, Model::light_events>;
  using Point = typename PointKind::Type;

  // Signals that depend on multipliers need more than a lane has. Transitions of friction do, but before and
  // after a rebound no contact is closed and none of them is looked for.
  static constexpr bool knows_signals = Method::adaptive && !Model::signals_forces;
  static constexpr bool only_transitions =
      Method::adaptive && ModesOf<Model>::any && Model::signals == ModesOf<Model>::transitions;
  // Formulas at contacts may contain multipliers and which conditions are closed.
  static constexpr bool contacts_possible =
      PointKind::possible && (knows_signals || (only_transitions && Point::rebounds_only)) &&
      (Point::forces_vanish || !(Base::measures_at_events() || RecordsOf<Model>::forces));
  static constexpr bool signals_possible =
      (Model::signals > 0) && knows_signals && Model::masked && !is_long_model<Model>;
  // Changes of mode of friction and bounds.
  static constexpr bool transitions_possible = Method::adaptive && has_fast_transitions<Model>();
  static constexpr bool possible = contacts_possible || signals_possible || transitions_possible;

  // Handles the event of one lane. False: nothing has been changed.
  ZWANG_INLINE bool handle(int lane) const {
    if constexpr (signals_possible) {
      const SignalCrossing<M, R> crossing{
          {settings, batch, members, full_members, searches, state, trial, ledger, flags}};
      const int signal = crossing.sought_signal(lane);
      if (signal >= 0) return crossing.handle(lane, signal);
    }
    if constexpr (transitions_possible) {
      const TransitionCrossing<M, R> crossing{
          {settings, batch, members, full_members, searches, state, trial, ledger, flags}};
      ZWANG_REGISTERS for (int i = 0; i < Model::signals; ++i) {
        if (searches[lane].sought[rows + i] > 0) return crossing.handle(lane, i);
      }
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
    Real before[M::reductions];
    Tally<Real> tally = members[lane].tally;
    if (!this->is_alone(lane, tally) || !approach_event(lane, point) ||
        !this->nothing_else_is_due(lane, point))
      return false;
    this->evaluate_measures(point, before);
    const bool simple = point.reached
                            ? point.apply_impact(impact) && point.multipliers_positive() &&
                                  point.hops_resolved(impact) && signals_clear(lane, point, signals) &&
                                  is_first_of_all(lane, point) && motion_continues(lane, point)
                            : point.release() && point.multipliers_positive() && point.opens() &&
                                  signals_clear(lane, point, signals) && is_first_of_all(lane, point);
    if (!simple) return false;
    point.next_h = next_step(lane, point);
    if (point.reached)
      record_shock(lane, point, impact, tally);
    else
      record_release(lane, point, tally);
    members[lane].tally = tally;
    update_conditions(lane, point, impact);
    update_signals(lane, signals);
    this->store_measures(lane, point, before);
    this->resume_motion(lane, point);
    return true;
  }

  // Evaluates all conditions, whose values a shock does not change.
  ZWANG_INLINE bool is_first_of_all(int lane, Point& point) const {
    point.evaluate_all();
    return this->is_first(lane, point);
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
    return this->refine_in_registers(point, lane_of(state.t, lane), h, search.slope);
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
    this->place_member(me, point, impact.event.before);
    append_event(me, full_member, tally, contact, settings, batch, point.y, impact.event.before);
    if (impact.fixed) full_member.audit.raise(audit_created, -impact.event.energy_lost);
    if (impact.fixed && !impact.rebounds) full_member.audit.raise(audit_carnot, impact.carnot);
    me.energy.lost = lane_of(ledger.energy_lost, lane) + impact.energy_lost;
    set_lane(ledger.energy_lost, lane, me.energy.lost);
    impact.event.kind = EventKind::shock;
    this->place_member(me, point, impact.event.after);
    append_event(me, full_member, tally, impact.event, settings, batch, point.y, impact.event.after);
  }

  ZWANG_INLINE void record_release(int lane, const Point& point, Tally<Real>& tally) const {
    typename M::Event event;
    event.t = point.t;
    event.kind = EventKind::release;
    event.constraints = point.condition();
    if constexpr (RecordsOf<Model>::at_events) this->place_member(members[lane], point, point.y + n);
    append_event(members[lane], full_members[lane], tally, event, settings, batch, point.y, point.y + n);
  }

  // The active set after the event, and the data for event detection.
  ZWANG_INLINE void update_conditions(int lane, const Point& point, const ImpactRecord<M>& impact) const {
    M& me = members[lane];
    // Others that had just opened are armed now: is_alone().
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      if (!(point.sought[i] > 0) && lane_of(ledger.arming_level[i], lane) < 0)
        set_lane(ledger.arming_level[i], lane, Real(1));
    }
    if constexpr (Point::rebounds_only) {
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

  // Whether the signals are known after an impact or release. The rates of the point are then those of the
  // new branches.
  ZWANG_INLINE bool signals_clear(int lane, Point& point, SignalsAfterEvent<M>& signals) const {
    if constexpr (Model::signals == 0 || only_transitions) {
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
    if constexpr (only_transitions) return;
    ZWANG_REGISTERS for (int i = 0; i < Model::signals; ++i) {
      set_lane(state.signal[i], lane, signals.signal[i]);
      set_lane(state.side[i], lane, signals.side[i]);
      members[lane].exchange.side[i] = signals.side[i];
    }
    ZWANG_REGISTERS for (int i = 0; i < Model::branches; ++i) {
      this->set_branch(lane, i, signals.branch[i]);
    }
  }
};

}  // namespace zwang
