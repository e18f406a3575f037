// A lane whose search has ended at a crossing takes the common event in its stride: the rest of the way, the contact and its
// shock or the release, and the motion that begins there, all with numbers the lane has at hand. What is plain is what
// plain.h calls so, in systems of few coordinates and conditions: the set that holds is guessed, and Gauss's principle asked
// for impulses and multipliers, which must press clearly. Wherever that is not clear nothing is changed, and the member
// attends to it (attend.h).
//
// Every index is a constant once the loops are unrolled, and whatever belongs to the condition at hand is a sum over all,
// with weights 0 and 1: so everything stays in registers.
#pragma once

#include "kernels/place.h"

namespace zwang {

template <class Crew>
struct Toucher {
  using M = typename Crew::Member;
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  using Here = Place<M>;
  static constexpr int n = M::n, r = M::r, rows = M::rows, size = M::size;
  Crew& crew;

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
  ZWANG_INLINE bool touch(int lane) const {
    if constexpr (possible) {
      Here here;
      Jolt<M> jolt;
      Real before[M::measures];
      Tally<Real> tally = crew.members[lane].tally;
      if (!is_alone(lane, tally) || !come(lane, here) || !nothing_else_is_due(lane, here)) return false;
      see_values(here, before);
      const bool plain = here.reached
                             ? here.strike(jolt) && here.begins() && here.hops(jolt) && goes_on(lane, here)
                             : here.let_go() && here.begins() && here.leaves();
      if (!plain) return false;
      here.next_h = next_step(lane, here);
      if (here.reached)
        record_shock(lane, here, jolt, tally);
      else
        record_release(lane, here, tally);
      crew.members[lane].tally = tally;
      stand(lane, here, jolt);
      take_values(lane, here, before);
      move_on(lane, here);
      return true;
    }
    return false;
  }

 private:
  // As in Plain::alone: nothing is near but the condition at hand and those that press, and nothing else is to be done.
  ZWANG_INLINE bool is_alone(int lane, const Tally<Real>& tally) const {
    const M& me = crew.members[lane];
    bool alone = !me.pending && !me.redundant_now && !lane_of(crew.output, lane) &&
                 !lane_of(crew.hump, lane) && !lane_of(crew.clipped, lane);
    alone =
        alone && tally.events + 2 <= crew.settings.max_events && tally.at_last_time + 2 <= standstill_limit;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      if (Model::is_equation(i)) continue;
      const bool pressed = lane_of(crew.pressed[i], lane);
      const Real watched = lane_of(crew.ledger.watched[i], lane);
      if (crew.searches[lane].mine[i] > 0)
        alone = alone && lane_of(crew.foremost[i], lane) && (pressed || watched > 0);
      else
        alone = alone && (pressed || !(watched < 0));
    }
    return alone;
  }

  // From the end of the try to the crossing: as approach() in locate.h.
  ZWANG_INLINE bool come(int lane, Here& here) const {
    const M& me = crew.members[lane];
    const auto& search = crew.searches[lane];
    const Real h = lane_of(crew.step.h, lane);
    here.contact_tolerance = within_precision<Real>(crew.settings.contact_tolerance);
    here.rest_speed = within_precision<Real>(crew.settings.rest_speed);
    ZWANG_REGISTERS for (int i = 0; i < Model::constants; ++i) here.k[i] = lane_of(crew.k[i], lane);
    here.t = lane_of(crew.t, lane) + h;
    here.any_held = false;
    here.reached = true;
    here.multiplier_zero = 0;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      here.held[i] = lane_of(crew.held[i], lane);
      here.any_held = here.any_held || here.held[i] > 0;
      here.mine[i] = search.mine[i];
      if (!(here.mine[i] > 0) || !lane_of(crew.pressed[i], lane)) continue;
      here.reached = false;
      here.multiplier_zero = maximum(me.conditions[i].multiplier_zero,
                                     10 * here.contact_tolerance * lane_of(crew.ledger.peak_lambda[i], lane));
    }
    Real from[size];
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) {
      from[i] = lane_of(crew.y[i], lane);
      here.y[i] = lane_of(crew.end[i], lane);
    }
    here.see_scales();
    here.measure_sizes(from, h);
    if (!here.find_zeros()) return false;
    here.see_rates();
    here.see_rows();
    return approach(here, lane_of(crew.t, lane), h, search.slope);
  }

  ZWANG_INLINE bool approach(Here& here, Real start, Real h, Real known_slope) const {
    const Real reach = 2 * Real(crew.settings.landing_reach),
               left_out = Real(0.01) * Real(crew.settings.rtol);
    const Real zero = here.reached ? here.of_mine(here.value_zero) : here.multiplier_zero;
    Real value = here.curve(), slope = here.reached ? here.of_mine(here.f_rate) : known_slope;
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
        slope = here.of_mine(here.f_rate);
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
    const Real near = Precision<Real>::moment * maximum(absolute(here.t), lane_of(crew.step.h, lane));
    return lane_of(crew.ledger.next_output, lane) > here.t + near &&
           lane_of(crew.ledger.appointment, lane) > here.t + 64 * Precision<Real>::epsilon * absolute(here.t);
  }

  // A geometric sequence of shocks that is about to end is no plain matter: as in finish_accumulation().
  ZWANG_INLINE bool goes_on(int lane, const Here& here) const {
    auto& watch = crew.members[lane].accumulation;
    const auto condition = here.condition();
    const auto sequence = watch.sequence_with(here.t, condition);
    if (sequence.found && sequence.remaining <= Real(crew.settings.accumulation_gap) * sequence.length)
      return false;
    watch.take(here.t, condition, sequence);
    return true;
  }

  // As go_on_from().
  ZWANG_INLINE Real next_step(int lane, const Here& here) const {
    const M& home = crew.homes[lane];
    const Real onward = crew.searches[lane].next_h;
    if (!here.reached || !here.any_held) return onward;
    const auto rates = [&](Real when, const Real* there, Real* rate) {
      Real lambda[rows];
      right_side<M>(here.k, when, there, here.held, here.any_held, rate, lambda);
    };
    return minimum(onward, first_step<M>(here.t, here.y, home.end - here.t, Real(crew.settings.rtol),
                                         Real(crew.settings.atol), here.rate, rates));
  }

  ZWANG_INLINE void record_shock(int lane, const Here& here, Jolt<M>& jolt, Tally<Real>& tally) const {
    M &me = crew.members[lane], &home = crew.homes[lane];
    typename M::Event contact;
    contact.t = here.t;
    contact.kind = EventKind::contact;
    contact.constraints = here.condition();
    enter(me, home, tally, contact, crew.settings, crew.batch);
    if (jolt.fixed) home.audit_max(audit_created, -jolt.event.energy_lost);
    if (jolt.fixed && !jolt.rebounds) home.audit_max(audit_carnot, jolt.carnot);
    me.energy_lost = lane_of(crew.ledger.energy_lost, lane) + jolt.energy_lost;
    set_lane(crew.ledger.energy_lost, lane, me.energy_lost);
    jolt.event.kind = EventKind::shock;
    enter(me, home, tally, jolt.event, crew.settings, crew.batch);
  }
  ZWANG_INLINE void record_release(int lane, const Here& here, Tally<Real>& tally) const {
    typename M::Event event;
    event.t = here.t;
    event.kind = EventKind::release;
    event.constraints = here.condition();
    enter(crew.members[lane], crew.homes[lane], tally, event, crew.settings, crew.batch);
  }

  // Who holds from now on, who is open, and what to listen to.
  ZWANG_INLINE void stand(int lane, const Here& here, const Jolt<M>& jolt) const {
    M& me = crew.members[lane];
    me.any_held = here.any_held;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      me.held[i] = here.held[i];
      set_lane(crew.held[i], lane, here.held[i]);
      if (Model::is_equation(i)) continue;
      auto& condition = me.conditions[i];
      const bool leaves = here.reached ? jolt.parting[i] > 0 : here.mine[i] > 0;
      if (leaves) {
        const bool armed = here.reached || here.armed;
        condition = Condition<Real>{};
        condition.standing = Standing::open;
        condition.armed = armed;
        condition.since = here.t;
        condition.above = maximum(Real(0), here.f[i]);
        condition.noise = here.reached ? Real(0) : here.noise;
        const Real level = condition.above + 2 * here.value_zero[i] + condition.noise * square(here.next_h);
        set_lane(crew.ledger.watched[i], lane, armed ? Real(1) : -level);
        set_lane(crew.pressed[i], lane, false);
        me.hand.pressed[i] = 0;
      } else if (here.held[i] > 0) {
        condition = Condition<Real>{};
        condition.standing = Standing::closed;
        condition.multiplier_zero = here.slack[i] / here.weight[i];
        set_lane(crew.ledger.watched[i], lane, Real(0));
        set_lane(crew.pressed[i], lane, true);
        me.hand.pressed[i] = 1;
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
        Real best = lane_of(crew.best[m], lane);
        best = better_of(largest, better_of(largest, best, before[m]), after[m]);
        set_lane(crew.best[m], lane, best);
        set_lane(crew.values[m], lane, after[m]);
      }
    }
  }

  ZWANG_INLINE void move_on(int lane, const Here& here) const {
    set_lane(crew.t, lane, here.t);
    set_lane(crew.h, lane, here.next_h);
    set_lane(crew.ledger.taken, lane, lane_of(crew.ledger.taken, lane) + 1);
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) set_lane(crew.y[i], lane, here.y[i]);
    ZWANG_REGISTERS for (int m = 0; m < size - n; ++m) set_lane(crew.step.first()[m], lane, here.rate[n + m]);
    Real position = lane_of(crew.ledger.worst_position, lane),
         velocity = lane_of(crew.ledger.worst_velocity, lane);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      set_lane(crew.lambda[i], lane, here.lambda[i]);
      set_lane(crew.ledger.peak_lambda[i], lane, absolute(here.lambda[i]));
      set_lane(crew.f[i], lane, here.f[i]);
      set_lane(crew.f_rate[i], lane, here.f_rate[i]);
      if (!(here.held[i] > 0)) continue;
      if (Model::is_holonomic(i)) position = maximum(position, absolute(here.f[i]));
      velocity = maximum(velocity, absolute(here.f_rate[i]));
    }
    set_lane(crew.ledger.worst_position, lane, position);
    set_lane(crew.ledger.worst_velocity, lane, velocity);
    audit(lane, here);
    set_lane(crew.landed, lane, false);
    set_lane(crew.seeking, lane, false);
    set_lane(crew.accepted, lane, false);
  }

  // [voss] As Crew::audit().
  ZWANG_INLINE void audit(int lane, const Here& here) const {
    Real kinetic, energy;
    Model::energies(here.k, here.t, here.y, here.y + n, here.y + 2 * n, kinetic, energy);
    const Real work = Model::works ? here.y[size - 1] : Real(0);
    const Real off = absolute(energy + lane_of(crew.ledger.energy_lost, lane) - work -
                              lane_of(crew.ledger.energy_start, lane));
    const Real large = maximum(maximum(absolute(kinetic), absolute(energy - kinetic)), absolute(work));
    set_lane(crew.ledger.drift, lane, maximum(lane_of(crew.ledger.drift, lane), off));
    set_lane(crew.ledger.energy_size, lane, maximum(lane_of(crew.ledger.energy_size, lane), large));
  }
};

// For crews in memory: a text of its own, out of the way of their steps.
template <class Crew>
ZWANG_COLD bool touch_lane(Crew& crew, int lane) {
  return Toucher<Crew>{crew}.touch(lane);
}

}  // namespace zwang
