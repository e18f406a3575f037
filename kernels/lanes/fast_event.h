// A lane whose search has ended at a crossing takes the common event in its stride: the rest of the way, the contact and its
// shock or the release, and the motion that begins there, all with numbers the lane has at hand. What is plain is what
// event/single_contact.h calls so, in systems of few coordinates and conditions: the set that holds is guessed, and Gauss's principle asked
// for impulses and multipliers, which must press clearly. Wherever that is not clear nothing is changed, and the member
// attends to it (member/slow_path.h).
//
// Every index is a constant once the loops are unrolled, and whatever belongs to the condition at hand is a sum over all,
// with weights 0 and 1: so everything stays in registers.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/event/contact_rules.h"
#include "kernels/event/refine_event_time.h"
#include "kernels/lanes/event_point.h"
#include "kernels/member/start_and_end.h"
#include "kernels/record/event_log.h"
#include "kernels/record/measures.h"

namespace zwang {

template <class LaneGroup>
struct FastEvent {
  using M = typename LaneGroup::Member;
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  using Here = EventPoint<M>;
  static constexpr int n = M::n, r = M::r, rows = M::rows, size = M::size;
  LaneGroup& group;

  // What is measured at an event by a formula needs more than a lane knows.
  static constexpr bool measures_at_events() {
    bool any = false;
    for (int m = 0; m < Model::measures; ++m)
      any = any || (EventPattern(Model::measure_pattern(m)) != EventPattern::none &&
                    Reduction(Model::measure_reduction(m)) == Reduction::at);
    return any;
  }
  static constexpr bool possible =
      Model::light_events && Model::signals == 0 && Method::adaptive && !measures_at_events();

  // The whole event of one lane. False: nothing has been done.
  ZWANG_INLINE bool handle(int lane) const {
    if constexpr (possible) {
      Here here;
      ImpactRecord<M> impact;
      Real before[M::measures];
      Tally<Real> tally = group.members[lane].tally;
      if (!is_alone(lane, tally) || !approach_event(lane, here) || !nothing_else_is_due(lane, here))
        return false;
      see_values(here, before);
      const bool plain = here.reached ? here.apply_impact(impact) && here.multipliers_positive() &&
                                            here.hops(impact) && motion_continues(lane, here)
                                      : here.release() && here.multipliers_positive() && here.leaves();
      if (!plain) return false;
      here.next_h = next_step(lane, here);
      if (here.reached)
        record_shock(lane, here, impact, tally);
      else
        record_release(lane, here, tally);
      group.members[lane].tally = tally;
      update_conditions(lane, here, impact);
      take_values(lane, here, before);
      resume_motion(lane, here);
      return true;
    }
    return false;
  }

 private:
  // As in Plain::alone: nothing is near but the condition at hand and those that press, and nothing else is to be done.
  ZWANG_INLINE bool is_alone(int lane, const Tally<Real>& tally) const {
    const M& me = group.members[lane];
    bool alone = !me.progress.accumulation_pending && !me.constraints.redundant &&
                 !lane_of(group.output_due, lane) && !lane_of(group.extremum_possible, lane) &&
                 !lane_of(group.clipped, lane);
    alone =
        alone && tally.events + 2 <= group.settings.max_events && tally.at_last_time + 2 <= standstill_limit;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      if (Model::is_equation(i)) continue;
      const bool presses_now = lane_of(group.presses_now[i], lane);
      const Real arming_level = lane_of(group.ledger.arming_level[i], lane);
      if (group.searches[lane].sought[i] > 0)
        alone = alone && lane_of(group.first_if_at_end[i], lane) && (presses_now || arming_level > 0);
      else
        alone = alone && (presses_now || !(arming_level < 0));
    }
    return alone;
  }

  // From the end of the try to the crossing: as approach() in event/refine_event_time.h.
  ZWANG_INLINE bool approach_event(int lane, Here& here) const {
    const M& me = group.members[lane];
    const auto& search = group.searches[lane];
    const Real h = lane_of(group.step.h, lane);
    here.contact_tolerance = within_precision<Real>(group.settings.contact_tolerance);
    here.rest_speed = within_precision<Real>(group.settings.rest_speed);
    ZWANG_REGISTERS for (int i = 0; i < Model::constants; ++i) here.k[i] = lane_of(group.k[i], lane);
    here.t = lane_of(group.t, lane) + h;
    here.any_held = false;
    here.reached = true;
    here.multiplier_zero = 0;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      here.held[i] = lane_of(group.held[i], lane);
      here.any_held = here.any_held || here.held[i] > 0;
      here.sought[i] = search.sought[i];
      if (!(here.sought[i] > 0) || !lane_of(group.presses_now[i], lane)) continue;
      here.reached = false;
      here.multiplier_zero =
          maximum(me.constraints.conditions[i].multiplier_zero,
                  10 * here.contact_tolerance * lane_of(group.ledger.peak_lambda[i], lane));
    }
    Real from[size];
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) {
      from[i] = lane_of(group.y[i], lane);
      here.y[i] = lane_of(group.end[i], lane);
    }
    here.see_scales();
    here.measure_sizes(from, h);
    if (!here.find_zeros()) return false;
    here.see_rates();
    here.see_rows();
    return refine_in_registers(here, lane_of(group.t, lane), h, search.slope);
  }

  ZWANG_INLINE bool refine_in_registers(Here& here, Real start, Real h, Real known_slope) const {
    const Real reach = 2 * Real(group.settings.crossing_reach),
               left_out = Real(0.01) * Real(group.settings.rtol);
    const Real zero = here.reached ? here.of_sought(here.value_zero) : here.multiplier_zero;
    Real value = here.curve(), slope = here.reached ? here.of_sought(here.f_rate) : known_slope;
    Real duration = -value / slope;
    if (here.reached) {
      // The next term too: one move instead of two.
      const Real bent = Real(0.5) * here.second().value * duration / slope;
      if (absolute(bent) < Real(0.1)) duration -= bent * duration;
    }
    ZWANG_ROLLED for (int pass = 0; pass < 6; ++pass) {
      if (!(absolute(value) > Real(1e-4) * zero)) break;
      const Real share = absolute(duration) / h;
      if (!(slope > 0) || !(share <= reach)) return false;
      if (absolute(duration) <= Precision<Real>::epsilon * (here.t - start)) break;
      here.flow(duration,
                square(share) <= left_out ? 1
                : cube(share) <= left_out ? 2
                                          : 4,
                square(share) > Precision<Real>::epsilon);
      const Real next = here.curve(), secant = (next - value) / duration;
      if (here.reached)
        slope = here.of_sought(here.f_rate);
      else if (secant > Real(0.1) * slope && secant < 10 * slope)
        slope = secant;
      const bool nearer = absolute(next) < absolute(value);
      value = next;
      if (!nearer) break;  // rounding reached
      duration = -value / slope;
    }
    here.resolution = resolution_of(slope, start, h);
    return absolute(value) <= maximum(zero, here.resolution) && all_finite<size>(here.y);
  }

  // Output times and appointments up to here are the member's business.
  ZWANG_INLINE bool nothing_else_is_due(int lane, const Here& here) const {
    const Real near = Precision<Real>::moment * maximum(absolute(here.t), lane_of(group.step.h, lane));
    return lane_of(group.ledger.next_output, lane) > here.t + near &&
           lane_of(group.ledger.scheduled_time, lane) >
               here.t + 64 * Precision<Real>::epsilon * absolute(here.t);
  }

  // A geometric sequence of shocks that is about to end is no plain matter: as in finish_accumulation().
  ZWANG_INLINE bool motion_continues(int lane, const Here& here) const {
    auto& watch = group.members[lane].accumulation;
    const auto condition = here.condition();
    const auto sequence = watch.sequence_with(here.t, condition);
    if (sequence.found && sequence.remaining <= Real(group.settings.accumulation_gap) * sequence.length)
      return false;
    watch.take(here.t, condition, sequence);
    return true;
  }

  // As go_on_from().
  ZWANG_INLINE Real next_step(int lane, const Here& here) const {
    const M& full_member = group.full_members[lane];
    const Real onward = group.searches[lane].next_h;
    if (!here.reached || !here.any_held) return onward;
    const auto rates = [&](Real when, const Real* there, Real* rate) {
      Real lambda[rows];
      right_side<M>(here.k, when, there, here.held, here.any_held, rate, lambda);
    };
    return minimum(onward,
                   first_step<M>(here.t, here.y, full_member.input.end - here.t, Real(group.settings.rtol),
                                 Real(group.settings.atol), here.rate, rates));
  }

  ZWANG_INLINE void record_shock(int lane, const Here& here, ImpactRecord<M>& impact,
                                 Tally<Real>& tally) const {
    M &me = group.members[lane], &full_member = group.full_members[lane];
    typename M::Event contact;
    contact.t = here.t;
    contact.kind = EventKind::contact;
    contact.constraints = here.condition();
    append_event(me, full_member, tally, contact, group.settings, group.batch);
    if (impact.fixed) full_member.audit.raise(audit_created, -impact.event.energy_lost);
    if (impact.fixed && !impact.rebounds) full_member.audit.raise(audit_carnot, impact.carnot);
    me.energy.lost = lane_of(group.ledger.energy_lost, lane) + impact.energy_lost;
    set_lane(group.ledger.energy_lost, lane, me.energy.lost);
    impact.event.kind = EventKind::shock;
    append_event(me, full_member, tally, impact.event, group.settings, group.batch);
  }
  ZWANG_INLINE void record_release(int lane, const Here& here, Tally<Real>& tally) const {
    typename M::Event event;
    event.t = here.t;
    event.kind = EventKind::release;
    event.constraints = here.condition();
    append_event(group.members[lane], group.full_members[lane], tally, event, group.settings, group.batch);
  }

  // Who holds from now on, who is open, and what to listen to.
  ZWANG_INLINE void update_conditions(int lane, const Here& here, const ImpactRecord<M>& impact) const {
    M& me = group.members[lane];
    me.constraints.any_held = here.any_held;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      me.constraints.held[i] = here.held[i];
      set_lane(group.held[i], lane, here.held[i]);
      if (Model::is_equation(i)) continue;
      auto& condition = me.constraints.conditions[i];
      const bool leaves = here.reached ? impact.separating[i] > 0 : here.sought[i] > 0;
      if (leaves) {
        const bool armed = here.reached || here.armed;
        condition = opened_condition(here.t, armed, here.f[i], here.reached ? Real(0) : here.noise);
        const Real level = condition.above + 2 * here.value_zero[i] + condition.noise * square(here.next_h);
        set_lane(group.ledger.arming_level[i], lane, armed ? Real(1) : -level);
        set_lane(group.presses_now[i], lane, false);
        me.exchange.presses_now[i] = 0;
      } else if (here.held[i] > 0) {
        condition = closed_condition(here.slack[i] / here.weight[i]);
        set_lane(group.ledger.arming_level[i], lane, Real(0));
        set_lane(group.presses_now[i], lane, true);
        me.exchange.presses_now[i] = 1;
      }
    }
  }

  // Extremes of measures: the forces before the event count, and those after it.
  ZWANG_INLINE void see_values(const Here& here, Real* values) const {
    if constexpr (Model::any_extremes) {
      Real forces[rows];
      ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
        const Real force = is_finite(here.lambda[i]) ? here.lambda[i] : Real(0);
        forces[i] = Model::is_equation(i) ? force : maximum(force, Real(0));
      }
      Model::measured(here.k, here.t, here.y, here.y + n, here.y + 2 * n, forces, here.held, values);
    }
  }
  ZWANG_INLINE void take_values(int lane, const Here& here, const Real* before) const {
    if constexpr (Model::any_extremes) {
      Real after[M::measures];
      see_values(here, after);
      ZWANG_REGISTERS for (int m = 0; m < Model::measures; ++m) {
        if (!is_extreme<Model>(m)) continue;
        const bool largest = Reduction(Model::measure_reduction(m)) == Reduction::maximum;
        Real best = lane_of(group.best[m], lane);
        best = better_of(largest, better_of(largest, best, before[m]), after[m]);
        set_lane(group.best[m], lane, best);
        set_lane(group.values[m], lane, after[m]);
      }
    }
  }

  ZWANG_INLINE void resume_motion(int lane, const Here& here) const {
    set_lane(group.t, lane, here.t);
    set_lane(group.h, lane, here.next_h);
    set_lane(group.ledger.taken, lane, lane_of(group.ledger.taken, lane) + 1);
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) set_lane(group.y[i], lane, here.y[i]);
    ZWANG_REGISTERS for (int m = 0; m < size - n; ++m)
        set_lane(group.step.first()[m], lane, here.rate[n + m]);
    Real position = lane_of(group.ledger.worst_position, lane),
         velocity = lane_of(group.ledger.worst_velocity, lane);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      set_lane(group.lambda[i], lane, here.lambda[i]);
      set_lane(group.ledger.peak_lambda[i], lane, absolute(here.lambda[i]));
      set_lane(group.f[i], lane, here.f[i]);
      set_lane(group.f_rate[i], lane, here.f_rate[i]);
      if (!(here.held[i] > 0)) continue;
      if (Model::is_holonomic(i)) position = maximum(position, absolute(here.f[i]));
      velocity = maximum(velocity, absolute(here.f_rate[i]));
    }
    set_lane(group.ledger.worst_position, lane, position);
    set_lane(group.ledger.worst_velocity, lane, velocity);
    audit(lane, here);
    set_lane(group.at_event, lane, false);
    set_lane(group.searching, lane, false);
    set_lane(group.accepted, lane, false);
  }

  // [voss] As Crew::audit().
  ZWANG_INLINE void audit(int lane, const Here& here) const {
    Real kinetic, energy;
    Model::energies(here.k, here.t, here.y, here.y + n, here.y + 2 * n, kinetic, energy);
    const Real work = Model::works ? here.y[size - 1] : Real(0);
    const Real off = absolute(energy + lane_of(group.ledger.energy_lost, lane) - work -
                              lane_of(group.ledger.energy_start, lane));
    const Real large = maximum(maximum(absolute(kinetic), absolute(energy - kinetic)), absolute(work));
    set_lane(group.ledger.drift, lane, maximum(lane_of(group.ledger.drift, lane), off));
    set_lane(group.ledger.energy_size, lane, maximum(lane_of(group.ledger.energy_size, lane), large));
  }
};

// For crews in memory: a text of its own, out of the way of their steps.
template <class LaneGroup>
ZWANG_COLD bool handle_fast_event(LaneGroup& group, int lane) {
  return FastEvent<LaneGroup>{group}.handle(lane);
}

}  // namespace zwang
