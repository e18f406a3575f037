// Between a lane of the crew and the member it moves: what each side needs of the other's numbers.
#pragma once

#include "kernels/attend.h"

namespace zwang {

template <class Crew>
struct Handover {
  using M = typename Crew::Member;
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  static constexpr int r = M::r, size = M::size, signals = Model::signals;
  Crew& crew;

  // From the lane to the member: the step that needs attention, and what the lane knows at its end.
  ZWANG_INLINE void give(int lane, M& me) const {
    auto& hand = me.hand;
    me.t = lane_of(crew.t, lane);
    me.steps = (long long)(lane_of(crew.ledger.taken, lane));
    me.rejected = (long long)(lane_of(crew.ledger.rejected, lane));
    hand.step_h = lane_of(crew.step.h, lane);
    hand.next_h = lane_of(crew.next_h, lane);
    hand.stuck = lane_of(crew.stuck, lane);
    hand.loud = lane_of(crew.loud, lane);
    hand.hump = lane_of(crew.hump, lane);
    hand.clipped = lane_of(crew.clipped, lane);
    hand.output = lane_of(crew.output, lane);
    hand.landed = lane_of(crew.landed, lane);
    hand.doubtful = hand.landed;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      if (Model::is_equation(i)) continue;
      hand.doubtful = hand.doubtful && !(crew.searches[lane].mine[i] > 0 && lane_of(crew.foremost[i], lane));
    }
    if (hand.landed) hand.landing = crew.searches[lane];
    hand.barred = crew.searches[lane].barred;
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) {
      me.y[i] = lane_of(crew.y[i], lane);
      hand.end[i] = lane_of(crew.end[i], lane);
    }
    // Nobody looks at the stages of a step that just arrives.
    const bool inside = (hand.loud && !hand.landed) || hand.hump || hand.output;
    if (inside || hand.doubtful) ZWANG_REGISTERS for (int m = 0; m < crew.step.kept; ++m) {
        hand.first_rate[m] = lane_of(crew.step.first()[m], lane);
        hand.last_rate[m] = lane_of(crew.step.last()[m], lane);
      }
    if constexpr (ZWANG_STAGES_KEPT)
      if (inside) {
        hand.stages.h = hand.step_h;
        for (int j = 0; j <= Method::last; ++j)
          for (int m = 0; m < crew.step.kept; ++m) hand.stages.k[j][m] = lane_of(crew.step.k[j][m], lane);
        for (int i = 0; i < size; ++i) hand.stages.end[i] = lane_of(crew.step.end[i], lane);
      }
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      hand.lambda[i] = lane_of(crew.end_lambda[i], lane);
      hand.peak_lambda[i] = lane_of(crew.ledger.peak_lambda[i], lane);
      hand.heard[i] = lane_of(crew.heard[i], lane);
      hand.watched[i] = lane_of(crew.ledger.watched[i], lane);
      hand.f[i] = lane_of(crew.end_f[i], lane);
      hand.f_rate[i] = lane_of(crew.end_f_rate[i], lane);
    }
    ZWANG_REGISTERS for (int i = 0; i < signals; ++i) hand.signal[i] = lane_of(crew.end_signal[i], lane);
    if constexpr (Model::any_extremes) ZWANG_REGISTERS for (int m = 0; m < Model::measures; ++m) {
        hand.values[m] = lane_of(crew.end_values[m], lane);
        if (is_extreme<Model>(m)) me.results[m] = lane_of(crew.best[m], lane);
      }
    hand.drift = lane_of(crew.ledger.drift, lane);
    hand.energy_size = lane_of(crew.ledger.energy_size, lane);
    hand.worst_position = lane_of(crew.ledger.worst_position, lane);
    hand.worst_velocity = lane_of(crew.ledger.worst_velocity, lane);
  }

  // A single lane's member as it stands, to be taken up again.
  ZWANG_INLINE void put_away(M& me) const {
    auto& hand = me.hand;
    me.t = crew.t;
    me.h = crew.h;
    me.steps = (long long)(crew.ledger.taken);
    me.rejected = (long long)(crew.ledger.rejected);
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) me.y[i] = crew.y[i];
    ZWANG_REGISTERS for (int m = 0; m < crew.step.kept; ++m) hand.first_rate[m] = crew.step.first()[m];
    hand.barred = crew.searches->barred;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      hand.lambda[i] = crew.lambda[i];
      hand.peak_lambda[i] = crew.ledger.peak_lambda[i];
      hand.watched[i] = crew.ledger.watched[i];
      hand.f[i] = crew.f[i];
      hand.f_rate[i] = crew.f_rate[i];
    }
    ZWANG_REGISTERS for (int i = 0; i < signals; ++i) hand.signal[i] = crew.signal[i];
    if constexpr (Model::any_extremes) ZWANG_REGISTERS for (int m = 0; m < Model::measures; ++m) {
        hand.values[m] = crew.values[m];
        if (is_extreme<Model>(m)) me.results[m] = crew.best[m];
      }
    hand.drift = crew.ledger.drift;
    hand.energy_size = crew.ledger.energy_size;
    hand.worst_position = crew.ledger.worst_position;
    hand.worst_velocity = crew.ledger.worst_velocity;
  }

  // And back, to move on.
  ZWANG_INLINE void take(int lane, const M& me) const {
    const auto& hand = me.hand;
    ZWANG_REGISTERS for (int i = 0; i < Model::constants; ++i) set_lane(crew.k[i], lane, me.k[i]);
    set_lane(crew.t, lane, me.t);
    set_lane(crew.h, lane, me.h);
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) set_lane(crew.y[i], lane, me.y[i]);
    ZWANG_REGISTERS for (int m = 0; m < crew.step.kept; ++m)
        set_lane(crew.step.first()[m], lane, hand.first_rate[m]);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      set_lane(crew.held[i], lane, me.held[i]);
      set_lane(crew.lambda[i], lane, hand.lambda[i]);
      set_lane(crew.ledger.peak_lambda[i], lane, hand.peak_lambda[i]);
      set_lane(crew.f[i], lane, hand.f[i]);
      set_lane(crew.f_rate[i], lane, hand.f_rate[i]);
      set_lane(crew.ledger.watched[i], lane, hand.watched[i]);
      set_lane(crew.pressed[i], lane, hand.pressed[i] > 0);
    }
    set_lane(crew.seeking, lane, false);
    crew.searches[lane].barred = hand.barred;
    crew.searches[lane].halved = -infinity<Real>();
    ZWANG_REGISTERS for (int i = 0; i < signals; ++i) {
      set_lane(crew.signal[i], lane, hand.signal[i]);
      set_lane(crew.side[i], lane, hand.side[i]);
    }
    if constexpr (Model::any_extremes) ZWANG_REGISTERS for (int m = 0; m < Model::measures; ++m) {
        set_lane(crew.values[m], lane, hand.values[m]);
        if (is_extreme<Model>(m)) set_lane(crew.best[m], lane, me.results[m]);
      }
    set_lane(crew.ledger.next_output, lane, hand.next_output);
    set_lane(crew.ledger.appointment, lane, hand.appointment);
    set_lane(crew.wary, lane, hand.wary);
    set_lane(crew.ledger.taken, lane, Real(me.steps));
    set_lane(crew.ledger.rejected, lane, Real(me.rejected));
    set_lane(crew.ledger.energy_start, lane, me.energy_start);
    set_lane(crew.ledger.energy_lost, lane, me.energy_lost);
    set_lane(crew.ledger.drift, lane, hand.drift);
    set_lane(crew.ledger.energy_size, lane, hand.energy_size);
    set_lane(crew.ledger.worst_position, lane, hand.worst_position);
    set_lane(crew.ledger.worst_velocity, lane, hand.worst_velocity);
  }

  // A lane without a member: numbers that do no harm.
  ZWANG_INLINE void idle(int lane) const {
    set_lane(crew.live, lane, false);
    set_lane(crew.seeking, lane, false);
    set_lane(crew.wary, lane, false);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) set_lane(crew.pressed[i], lane, false);
    ZWANG_REGISTERS for (int i = 0; i < Model::constants; ++i) set_lane(crew.k[i], lane, Real(1));
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) set_lane(crew.y[i], lane, Real(0));
    ZWANG_REGISTERS for (int i = 0; i < crew.step.kept; ++i) set_lane(crew.step.first()[i], lane, Real(0));
    ZWANG_REGISTERS for (int i = 0; i < r; ++i)
        clear(lane, crew.held[i], crew.lambda[i], crew.ledger.peak_lambda[i], crew.f[i], crew.f_rate[i],
              crew.ledger.watched[i]);
    ZWANG_REGISTERS for (int i = 0; i < signals; ++i) clear(lane, crew.signal[i], crew.side[i]);
    ZWANG_REGISTERS for (int i = 0; i < Model::measures; ++i) clear(lane, crew.values[i], crew.best[i]);
    clear(lane, crew.t, crew.h, crew.next_h, crew.ledger.taken, crew.ledger.rejected,
          crew.ledger.energy_start, crew.ledger.energy_lost);
    clear(lane, crew.ledger.drift, crew.ledger.energy_size, crew.ledger.worst_position,
          crew.ledger.worst_velocity);
    set_lane(crew.ledger.appointment, lane, Real(1));
    set_lane(crew.ledger.next_output, lane, Real(2));
  }

 private:
  template <class... X>
  ZWANG_INLINE static void clear(int lane, X&... x) {
    (set_lane(x, lane, Real(0)), ...);
  }
};

}  // namespace zwang
