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

  using Accounts = GivenAccounts<Real, M::rows>;
  using Step = GivenStep<Real, M::rows>;

  // What a lane keeps apart from its registers: fetched at once, and then written at once.
  ZWANG_INLINE Accounts accounts(int lane) const {
    Accounts made;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      made.watched[i] = lane_of(crew.ledger.watched[i], lane);
      made.peak_lambda[i] = lane_of(crew.ledger.peak_lambda[i], lane);
    }
    made.drift = lane_of(crew.ledger.drift, lane);
    made.energy_size = lane_of(crew.ledger.energy_size, lane);
    made.worst_position = lane_of(crew.ledger.worst_position, lane);
    made.worst_velocity = lane_of(crew.ledger.worst_velocity, lane);
    return made;
  }
  ZWANG_INLINE Step step(int lane) const {
    Step made;
    made.step_h = lane_of(crew.step.h, lane);
    made.landing = crew.searches[lane];
    made.barred = crew.searches[lane].barred;
    return made;
  }
  ZWANG_INLINE void give_counts(int lane, M& me) const {
    me.steps = (long long)(lane_of(crew.ledger.taken, lane));
    me.rejected = (long long)(lane_of(crew.ledger.rejected, lane));
  }

  ZWANG_INLINE StepNotes notes(int lane) const {
    StepNotes made{};
    made.stuck = lane_of(crew.stuck, lane);
    made.loud = lane_of(crew.loud, lane);
    made.hump = lane_of(crew.hump, lane);
    made.clipped = lane_of(crew.clipped, lane);
    made.output = lane_of(crew.output, lane);
    made.landed = lane_of(crew.landed, lane);
    made.crosses = lane_of(crew.crosses, lane);
    made.wary = lane_of(crew.wary, lane);
    bool doubtful = made.landed;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      if (Model::is_equation(i)) continue;
      doubtful = doubtful && !(crew.searches[lane].mine[i] > 0 && lane_of(crew.foremost[i], lane));
    }
    made.doubtful = doubtful;
    return made;
  }

  // From the lane to the member: the step that needs attention, and what the lane knows at its end.
  ZWANG_INLINE void give(int lane, M& me) const {
    auto& hand = me.hand;
    const StepNotes said = notes(lane);
    write_whole<Accounts>(hand, accounts(lane));
    write_whole<Step>(hand, step(lane));
    give_counts(lane, me);
    me.t = lane_of(crew.t, lane);
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) me.y[i] = lane_of(crew.y[i], lane);
    static_cast<StepNotes&>(hand) = said;
    hand.next_h = lane_of(crew.next_h, lane);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) hand.heard[i] = lane_of(crew.heard[i], lane);
    if constexpr (Model::any_extremes)
      ZWANG_REGISTERS for (int m = 0; m < Model::measures; ++m) if (is_extreme<Model>(m)) me.results[m] =
          lane_of(crew.best[m], lane);
    // A step that will be cut short is expanded once more: nobody asks for its end.
    if (said.crosses) return;
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) hand.end[i] = lane_of(crew.end[i], lane);
    // Nobody looks at the stages of a step that just arrives.
    const bool inside = (said.loud && !said.landed) || said.hump || said.output;
    if (inside || said.doubtful) ZWANG_REGISTERS for (int m = 0; m < crew.step.kept; ++m) {
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
      hand.f[i] = lane_of(crew.end_f[i], lane);
      hand.f_rate[i] = lane_of(crew.end_f_rate[i], lane);
    }
    ZWANG_REGISTERS for (int i = 0; i < signals; ++i) hand.signal[i] = lane_of(crew.end_signal[i], lane);
    if constexpr (Model::any_extremes)
      ZWANG_REGISTERS for (int m = 0; m < Model::measures; ++m) hand.values[m] =
          lane_of(crew.end_values[m], lane);
  }

  // A single lane's member as it stands, to be taken up again.
  ZWANG_INLINE void put_away(M& me) const {
    auto& hand = me.hand;
    write_whole<Accounts>(hand, accounts(0));
    hand.barred = crew.searches->barred;
    give_counts(0, me);
    me.t = crew.t;
    me.h = crew.h;
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) me.y[i] = crew.y[i];
    ZWANG_REGISTERS for (int m = 0; m < crew.step.kept; ++m) hand.first_rate[m] = crew.step.first()[m];
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      hand.lambda[i] = crew.lambda[i];
      hand.f[i] = crew.f[i];
      hand.f_rate[i] = crew.f_rate[i];
    }
    ZWANG_REGISTERS for (int i = 0; i < signals; ++i) hand.signal[i] = crew.signal[i];
    if constexpr (Model::any_extremes) ZWANG_REGISTERS for (int m = 0; m < Model::measures; ++m) {
        hand.values[m] = crew.values[m];
        if (is_extreme<Model>(m)) me.results[m] = crew.best[m];
      }
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
