// Stores the state of a lane with its member in memory, and loads it again.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/lanes/lane_state.h"
#include "kernels/record/measures.h"
#include "kernels/rootfinding/step_length_search.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

template <class M, class R>
struct LaneStateTransfer {
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  static constexpr int r = M::r, size = M::size, signals = Model::signals;
  StepLengthSearch<Real, M::event_functions>* searches;  // one for each lane
  LaneState<M, R>& state;
  StepInProgress<M, R>& trial;
  StepFlags<M, R>& flags;
  LaneLedger<R, M::rows>& ledger;

  using Ledger = StoredLedger<Real, M::rows>;
  using Step = StoredStep<Real, M::event_functions>;

  // Copies of what is outside the registers: loaded together, then stored together.
  ZWANG_INLINE Ledger stored_ledger(int lane) const {
    Ledger made;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      made.arming_level[i] = lane_of(ledger.arming_level[i], lane);
      made.peak_lambda[i] = lane_of(ledger.peak_lambda[i], lane);
    }
    made.drift = lane_of(ledger.drift, lane);
    made.energy_size = lane_of(ledger.energy_size, lane);
    made.worst_position = lane_of(ledger.worst_position, lane);
    made.worst_velocity = lane_of(ledger.worst_velocity, lane);
    return made;
  }
  ZWANG_INLINE Step stored_step(int lane) const {
    Step made;
    made.h = lane_of(trial.step.h, lane);
    made.crossing = searches[lane];
    made.no_search_from = searches[lane].no_search_from;
    return made;
  }
  ZWANG_INLINE void store_counts(int lane, M& me) const {
    me.steps.taken = (long long)(lane_of(ledger.taken, lane));
    me.steps.rejected = (long long)(lane_of(ledger.rejected, lane));
  }

  ZWANG_INLINE StepVerdict verdict(int lane) const {
    StepVerdict made{};
    made.stuck = lane_of(flags.stuck, lane);
    made.event_possible = lane_of(flags.event_possible, lane);
    made.extremum_possible = lane_of(flags.extremum_possible, lane);
    made.clipped = lane_of(flags.clipped, lane);
    made.output_due = lane_of(flags.output_due, lane);
    made.at_event = lane_of(flags.at_event, lane);
    made.crosses_on_series = lane_of(flags.crosses_on_series, lane);
    made.always_handle = lane_of(state.always_handle, lane);
    bool order_unknown = made.at_event;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      if (Model::is_equation(i)) continue;
      order_unknown =
          order_unknown && !(searches[lane].sought[i] > 0 && lane_of(flags.first_if_at_end[i], lane));
    }
    ZWANG_REGISTERS for (int i = 0; i < signals; ++i) {
      order_unknown = order_unknown && !(searches[lane].sought[M::rows + i] > 0 &&
                                         lane_of(flags.signal_first_if_at_end[i], lane));
    }
    made.order_unknown = order_unknown;
    return made;
  }

  // Stores a step that has to be handled, and the values at its end.
  ZWANG_INLINE void store_for_event_handling(int lane, M& me) const {
    auto& exchange = me.exchange;
    const StepVerdict verdict_now = verdict(lane);
    copy_by_wide_words(exchange.ledger, stored_ledger(lane));
    copy_by_wide_words(exchange.step, stored_step(lane));
    store_counts(lane, me);
    me.motion.t = lane_of(state.t, lane);
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) { me.motion.y[i] = lane_of(state.y[i], lane); }
    exchange.verdict = verdict_now;
    exchange.next_h = lane_of(trial.next_h, lane);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) { exchange.may_cross[i] = lane_of(flags.may_cross[i], lane); }
    if constexpr (Model::any_extremes) {
      ZWANG_REGISTERS for (int m = 0; m < Model::reductions; ++m) {
        if (is_extreme<Model>(m)) me.results[m] = lane_of(state.best[m], lane);
      }
    }
    // A step to be truncated at a crossing on its series is expanded again: its end is not needed.
    if (verdict_now.crosses_on_series) return;
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) { exchange.end[i] = lane_of(trial.end[i], lane); }
    // The stages are not needed for a step that only ends at an event or a scheduled time.
    const bool inside = (verdict_now.event_possible && !verdict_now.at_event) ||
                        verdict_now.extremum_possible || verdict_now.output_due;
    if (inside || verdict_now.order_unknown) {
      ZWANG_REGISTERS for (int m = 0; m < trial.step.rates; ++m) {
        exchange.first_rate[m] = lane_of(trial.step.first()[m], lane);
        exchange.last_rate[m] = lane_of(trial.step.last()[m], lane);
      }
    }
    if constexpr (ZWANG_STAGES_KEPT)
      if (inside) {
        exchange.stages.h = exchange.step.h;
        for (int j = 0; j <= Method::last; ++j)
          for (int m = 0; m < trial.step.rates; ++m)
            exchange.stages.k[j][m] = lane_of(trial.step.k[j][m], lane);
        for (int i = 0; i < size; ++i) exchange.stages.end[i] = lane_of(trial.step.end[i], lane);
      }
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      exchange.lambda[i] = lane_of(trial.end_lambda[i], lane);
      exchange.f[i] = lane_of(trial.end_f[i], lane);
      exchange.f_rate[i] = lane_of(trial.end_f_rate[i], lane);
    }
    ZWANG_REGISTERS for (int i = 0; i < signals; ++i) {
      exchange.signal[i] = lane_of(trial.end_signal[i], lane);
    }
    if constexpr (Model::any_extremes) {
      ZWANG_REGISTERS for (int m = 0; m < Model::reductions; ++m) {
        exchange.values[m] = lane_of(trial.end_values[m], lane);
      }
    }
  }

  // Stores the member of a single lane between two steps.
  ZWANG_INLINE void store(M& me) const {
    auto& exchange = me.exchange;
    copy_by_wide_words(exchange.ledger, stored_ledger(0));
    exchange.step.no_search_from = searches->no_search_from;
    store_counts(0, me);
    me.motion.t = state.t;
    me.motion.h = state.h;
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) { me.motion.y[i] = state.y[i]; }
    ZWANG_REGISTERS for (int m = 0; m < trial.step.rates; ++m) {
      exchange.first_rate[m] = trial.step.first()[m];
    }
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      exchange.lambda[i] = state.lambda[i];
      exchange.f[i] = state.f[i];
      exchange.f_rate[i] = state.f_rate[i];
    }
    ZWANG_REGISTERS for (int i = 0; i < signals; ++i) { exchange.signal[i] = state.signal[i]; }
    if constexpr (Model::any_extremes) {
      ZWANG_REGISTERS for (int m = 0; m < Model::reductions; ++m) {
        exchange.values[m] = state.values[m];
        if (is_extreme<Model>(m)) me.results[m] = state.best[m];
      }
    }
  }

  // Loads a member at the start of a step.
  ZWANG_INLINE void load(int lane, const M& me) const {
    const auto& exchange = me.exchange;
    ZWANG_REGISTERS for (int i = 0; i < Model::constants; ++i) { set_lane(state.k[i], lane, me.k[i]); }
    set_lane(state.t, lane, me.motion.t);
    set_lane(state.h, lane, me.motion.h);
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) { set_lane(state.y[i], lane, me.motion.y[i]); }
    ZWANG_REGISTERS for (int m = 0; m < trial.step.rates; ++m) {
      set_lane(trial.step.first()[m], lane, exchange.first_rate[m]);
    }
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      set_lane(state.held[i], lane, me.constraints.held[i]);
      set_lane(state.lambda[i], lane, exchange.lambda[i]);
      set_lane(ledger.peak_lambda[i], lane, exchange.ledger.peak_lambda[i]);
      set_lane(state.f[i], lane, exchange.f[i]);
      set_lane(state.f_rate[i], lane, exchange.f_rate[i]);
      set_lane(ledger.arming_level[i], lane, exchange.ledger.arming_level[i]);
      set_lane(state.presses_now[i], lane, exchange.presses_now[i] > 0);
    }
    set_lane(state.searching, lane, false);
    searches[lane].no_search_from = exchange.step.no_search_from;
    searches[lane].halved_at = -infinity<Real>();
    ZWANG_REGISTERS for (int i = 0; i < signals; ++i) {
      set_lane(state.signal[i], lane, exchange.signal[i]);
      set_lane(state.side[i], lane, exchange.side[i]);
    }
    if constexpr (Model::any_extremes) {
      ZWANG_REGISTERS for (int m = 0; m < Model::reductions; ++m) {
        set_lane(state.values[m], lane, exchange.values[m]);
        if (is_extreme<Model>(m)) set_lane(state.best[m], lane, me.results[m]);
      }
    }
    set_lane(ledger.next_output, lane, exchange.next_output);
    set_lane(ledger.scheduled_time, lane, exchange.scheduled_time);
    set_lane(state.always_handle, lane, exchange.verdict.always_handle);
    set_lane(ledger.taken, lane, Real(me.steps.taken));
    set_lane(ledger.rejected, lane, Real(me.steps.rejected));
    set_lane(ledger.energy_start, lane, me.energy.start);
    set_lane(ledger.energy_lost, lane, me.energy.lost);
    set_lane(ledger.drift, lane, exchange.ledger.drift);
    set_lane(ledger.energy_size, lane, exchange.ledger.energy_size);
    set_lane(ledger.worst_position, lane, exchange.ledger.worst_position);
    set_lane(ledger.worst_velocity, lane, exchange.ledger.worst_velocity);
  }

  // A lane without a member steps along with harmless numbers.
  ZWANG_INLINE void set_idle(int lane) const {
    set_lane(state.live, lane, false);
    set_lane(state.searching, lane, false);
    set_lane(state.always_handle, lane, false);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) { set_lane(state.presses_now[i], lane, false); }
    ZWANG_REGISTERS for (int i = 0; i < Model::constants; ++i) { set_lane(state.k[i], lane, Real(1)); }
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) { set_lane(state.y[i], lane, Real(0)); }
    ZWANG_REGISTERS for (int i = 0; i < trial.step.rates; ++i) {
      set_lane(trial.step.first()[i], lane, Real(0));
    }
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      clear(lane, state.held[i], state.lambda[i], ledger.peak_lambda[i], state.f[i], state.f_rate[i],
            ledger.arming_level[i]);
    }
    ZWANG_REGISTERS for (int i = 0; i < signals; ++i) { clear(lane, state.signal[i], state.side[i]); }
    ZWANG_REGISTERS for (int i = 0; i < Model::reductions; ++i) {
      clear(lane, state.values[i], state.best[i]);
    }
    clear(lane, state.t, state.h, trial.next_h, ledger.taken, ledger.rejected, ledger.energy_start,
          ledger.energy_lost);
    clear(lane, ledger.drift, ledger.energy_size, ledger.worst_position, ledger.worst_velocity);
    set_lane(ledger.scheduled_time, lane, Real(1));
    set_lane(ledger.next_output, lane, Real(2));
  }

 private:
  template <class... X>
  ZWANG_INLINE static void clear(int lane, X&... x) {
    (set_lane(x, lane, Real(0)), ...);
  }
};

}  // namespace zwang
