// Between a lane of the crew and the member it moves: what each side needs of the other's numbers.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/record/measures.h"
#include "kernels/simd/pack.h"

namespace zwang {

template <class LaneGroup>
struct LaneStateTransfer {
  using M = typename LaneGroup::Member;
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  static constexpr int r = M::r, size = M::size, signals = Model::signals;
  LaneGroup& group;

  using Ledger = StoredLedger<Real, M::rows>;
  using Step = StoredStep<Real, M::rows>;

  // What a lane keeps apart from its registers: fetched at once, and then written at once.
  ZWANG_INLINE Ledger stored_ledger(int lane) const {
    Ledger made;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      made.arming_level[i] = lane_of(group.ledger.arming_level[i], lane);
      made.peak_lambda[i] = lane_of(group.ledger.peak_lambda[i], lane);
    }
    made.drift = lane_of(group.ledger.drift, lane);
    made.energy_size = lane_of(group.ledger.energy_size, lane);
    made.worst_position = lane_of(group.ledger.worst_position, lane);
    made.worst_velocity = lane_of(group.ledger.worst_velocity, lane);
    return made;
  }
  ZWANG_INLINE Step stored_step(int lane) const {
    Step made;
    made.h = lane_of(group.step.h, lane);
    made.crossing = group.searches[lane];
    made.no_search_from = group.searches[lane].no_search_from;
    return made;
  }
  ZWANG_INLINE void store_counts(int lane, M& me) const {
    me.steps.taken = (long long)(lane_of(group.ledger.taken, lane));
    me.steps.rejected = (long long)(lane_of(group.ledger.rejected, lane));
  }

  ZWANG_INLINE StepVerdict verdict(int lane) const {
    StepVerdict made{};
    made.stuck = lane_of(group.stuck, lane);
    made.event_possible = lane_of(group.event_possible, lane);
    made.extremum_possible = lane_of(group.extremum_possible, lane);
    made.clipped = lane_of(group.clipped, lane);
    made.output_due = lane_of(group.output_due, lane);
    made.at_event = lane_of(group.at_event, lane);
    made.crosses_on_series = lane_of(group.crosses_on_series, lane);
    made.always_handle = lane_of(group.always_handle, lane);
    bool order_unknown = made.at_event;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      if (Model::is_equation(i)) continue;
      order_unknown =
          order_unknown && !(group.searches[lane].sought[i] > 0 && lane_of(group.first_if_at_end[i], lane));
    }
    made.order_unknown = order_unknown;
    return made;
  }

  // From the lane to the member: the step that needs attention, and what the lane knows at its end.
  ZWANG_INLINE void store_for_event_handling(int lane, M& me) const {
    auto& exchange = me.exchange;
    const StepVerdict verdict_now = verdict(lane);
    write_whole(exchange.ledger, stored_ledger(lane));
    write_whole(exchange.step, stored_step(lane));
    store_counts(lane, me);
    me.motion.t = lane_of(group.t, lane);
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) me.motion.y[i] = lane_of(group.y[i], lane);
    exchange.verdict = verdict_now;
    exchange.next_h = lane_of(group.next_h, lane);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) exchange.may_cross[i] = lane_of(group.may_cross[i], lane);
    if constexpr (Model::any_extremes)
      ZWANG_REGISTERS for (int m = 0; m < Model::measures; ++m) if (is_extreme<Model>(m)) me.results[m] =
          lane_of(group.best[m], lane);
    // A step that will be cut short is expanded once more: nobody asks for its end.
    if (verdict_now.crosses_on_series) return;
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) exchange.end[i] = lane_of(group.end[i], lane);
    // Nobody looks at the stages of a step that just arrives.
    const bool inside = (verdict_now.event_possible && !verdict_now.at_event) ||
                        verdict_now.extremum_possible || verdict_now.output_due;
    if (inside || verdict_now.order_unknown) ZWANG_REGISTERS for (int m = 0; m < group.step.kept; ++m) {
        exchange.first_rate[m] = lane_of(group.step.first()[m], lane);
        exchange.last_rate[m] = lane_of(group.step.last()[m], lane);
      }
    if constexpr (ZWANG_STAGES_KEPT)
      if (inside) {
        exchange.stages.h = exchange.step.h;
        for (int j = 0; j <= Method::last; ++j)
          for (int m = 0; m < group.step.kept; ++m)
            exchange.stages.k[j][m] = lane_of(group.step.k[j][m], lane);
        for (int i = 0; i < size; ++i) exchange.stages.end[i] = lane_of(group.step.end[i], lane);
      }
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      exchange.lambda[i] = lane_of(group.end_lambda[i], lane);
      exchange.f[i] = lane_of(group.end_f[i], lane);
      exchange.f_rate[i] = lane_of(group.end_f_rate[i], lane);
    }
    ZWANG_REGISTERS for (int i = 0; i < signals; ++i) exchange.signal[i] = lane_of(group.end_signal[i], lane);
    if constexpr (Model::any_extremes)
      ZWANG_REGISTERS for (int m = 0; m < Model::measures; ++m) exchange.values[m] =
          lane_of(group.end_values[m], lane);
  }

  // A single lane's member as it stands, to be taken up again.
  ZWANG_INLINE void store(M& me) const {
    auto& exchange = me.exchange;
    write_whole(exchange.ledger, stored_ledger(0));
    exchange.step.no_search_from = group.searches->no_search_from;
    store_counts(0, me);
    me.motion.t = group.t;
    me.motion.h = group.h;
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) me.motion.y[i] = group.y[i];
    ZWANG_REGISTERS for (int m = 0; m < group.step.kept; ++m) exchange.first_rate[m] = group.step.first()[m];
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      exchange.lambda[i] = group.lambda[i];
      exchange.f[i] = group.f[i];
      exchange.f_rate[i] = group.f_rate[i];
    }
    ZWANG_REGISTERS for (int i = 0; i < signals; ++i) exchange.signal[i] = group.signal[i];
    if constexpr (Model::any_extremes) ZWANG_REGISTERS for (int m = 0; m < Model::measures; ++m) {
        exchange.values[m] = group.values[m];
        if (is_extreme<Model>(m)) me.results[m] = group.best[m];
      }
  }

  // And back, to move on.
  ZWANG_INLINE void load(int lane, const M& me) const {
    const auto& exchange = me.exchange;
    ZWANG_REGISTERS for (int i = 0; i < Model::constants; ++i) set_lane(group.k[i], lane, me.k[i]);
    set_lane(group.t, lane, me.motion.t);
    set_lane(group.h, lane, me.motion.h);
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) set_lane(group.y[i], lane, me.motion.y[i]);
    ZWANG_REGISTERS for (int m = 0; m < group.step.kept; ++m)
        set_lane(group.step.first()[m], lane, exchange.first_rate[m]);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      set_lane(group.held[i], lane, me.constraints.held[i]);
      set_lane(group.lambda[i], lane, exchange.lambda[i]);
      set_lane(group.ledger.peak_lambda[i], lane, exchange.ledger.peak_lambda[i]);
      set_lane(group.f[i], lane, exchange.f[i]);
      set_lane(group.f_rate[i], lane, exchange.f_rate[i]);
      set_lane(group.ledger.arming_level[i], lane, exchange.ledger.arming_level[i]);
      set_lane(group.presses_now[i], lane, exchange.presses_now[i] > 0);
    }
    set_lane(group.searching, lane, false);
    group.searches[lane].no_search_from = exchange.step.no_search_from;
    group.searches[lane].halved_at = -infinity<Real>();
    ZWANG_REGISTERS for (int i = 0; i < signals; ++i) {
      set_lane(group.signal[i], lane, exchange.signal[i]);
      set_lane(group.side[i], lane, exchange.side[i]);
    }
    if constexpr (Model::any_extremes) ZWANG_REGISTERS for (int m = 0; m < Model::measures; ++m) {
        set_lane(group.values[m], lane, exchange.values[m]);
        if (is_extreme<Model>(m)) set_lane(group.best[m], lane, me.results[m]);
      }
    set_lane(group.ledger.next_output, lane, exchange.next_output);
    set_lane(group.ledger.scheduled_time, lane, exchange.scheduled_time);
    set_lane(group.always_handle, lane, exchange.verdict.always_handle);
    set_lane(group.ledger.taken, lane, Real(me.steps.taken));
    set_lane(group.ledger.rejected, lane, Real(me.steps.rejected));
    set_lane(group.ledger.energy_start, lane, me.energy.start);
    set_lane(group.ledger.energy_lost, lane, me.energy.lost);
    set_lane(group.ledger.drift, lane, exchange.ledger.drift);
    set_lane(group.ledger.energy_size, lane, exchange.ledger.energy_size);
    set_lane(group.ledger.worst_position, lane, exchange.ledger.worst_position);
    set_lane(group.ledger.worst_velocity, lane, exchange.ledger.worst_velocity);
  }

  // A lane without a member: numbers that do no harm.
  ZWANG_INLINE void set_idle(int lane) const {
    set_lane(group.live, lane, false);
    set_lane(group.searching, lane, false);
    set_lane(group.always_handle, lane, false);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) set_lane(group.presses_now[i], lane, false);
    ZWANG_REGISTERS for (int i = 0; i < Model::constants; ++i) set_lane(group.k[i], lane, Real(1));
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) set_lane(group.y[i], lane, Real(0));
    ZWANG_REGISTERS for (int i = 0; i < group.step.kept; ++i) set_lane(group.step.first()[i], lane, Real(0));
    ZWANG_REGISTERS for (int i = 0; i < r; ++i)
        clear(lane, group.held[i], group.lambda[i], group.ledger.peak_lambda[i], group.f[i], group.f_rate[i],
              group.ledger.arming_level[i]);
    ZWANG_REGISTERS for (int i = 0; i < signals; ++i) clear(lane, group.signal[i], group.side[i]);
    ZWANG_REGISTERS for (int i = 0; i < Model::measures; ++i) clear(lane, group.values[i], group.best[i]);
    clear(lane, group.t, group.h, group.next_h, group.ledger.taken, group.ledger.rejected,
          group.ledger.energy_start, group.ledger.energy_lost);
    clear(lane, group.ledger.drift, group.ledger.energy_size, group.ledger.worst_position,
          group.ledger.worst_velocity);
    set_lane(group.ledger.scheduled_time, lane, Real(1));
    set_lane(group.ledger.next_output, lane, Real(2));
  }

 private:
  template <class... X>
  ZWANG_INLINE static void clear(int lane, X&... x) {
    (set_lane(x, lane, Real(0)), ...);
  }
};

}  // namespace zwang
