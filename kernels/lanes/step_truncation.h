// Drives the searches over the step length (rootfinding/step_length_search.h): decides which lanes with a
// possible event begin one, and chooses the length of the next trial step.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/lanes/fast_event.h"
#include "kernels/lanes/lane_state.h"
#include "kernels/rootfinding/step_length_search.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

template <class M, class R>
struct CrossingSearchDriver {
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  using Mask = typename Lanes<R>::Mask;
  using Search = StepLengthSearch<Real, M::event_functions>;
  static constexpr int lanes = Lanes<R>::count, r = M::r, rows = M::rows;
  static constexpr bool finds_crossings_on_series = Method::expands && FastEvent<M, R>::contacts_possible;
  static constexpr bool seeks_signals = FastEvent<M, R>::signals_possible;

  const KernelSettings& settings;
  const LaneLedger<R, M::rows>& ledger;
  Search* searches;        // one for each lane
  LaneState<M, R>& state;  // h and searching are changed
  const StepInProgress<M, R>& trial;
  StepFlags<M, R>& flags;  // accepted, at_event, event_possible and crosses_on_series are changed

  // Begins or continues the search in every lane whose step has a single crossing. While searching, a lane
  // repeats its step from the same state.
  ZWANG_INLINE void advance() const {
    if constexpr (r > 0 || seeks_signals) {
      state.searching = state.searching && flags.accepted;
      const Mask concerned = state.searching || (flags.accepted && flags.event_possible);
      if (!any(concerned)) return;
      if constexpr (lanes == 1) {
        // This form of the loop avoids a register spill in zwang_step; do not merge it with the branch below.
        // Guarded by the test CudaRegisters.AStepSpillsNothing.
        ZWANG_REGISTERS for (int lane = 0; lane < lanes; ++lane) {
          if (!lane_of(flags.accepted, lane)) continue;
          if (lane_of(state.searching, lane))
            continue_search(lane);
          else if (lane_of(flags.event_possible, lane) &&
                   (seeks_signals || !lane_of(flags.signal_event_possible, lane)) &&
                   !lane_of(state.always_handle, lane))
            begin(lane);
        }
      } else {
        each_lane(concerned, [this](int lane) {
          if (lane_of(state.searching, lane))
            continue_search(lane);
          else if ((seeks_signals || !lane_of(flags.signal_event_possible, lane)) &&
                   !lane_of(state.always_handle, lane))
            begin(lane);
        });
      }
    }
  }

  // The event function of the condition sought, which crosses zero upwards: the value of the condition, or
  // minus the multiplier of an active one. Its slope is NaN where not known.
  struct Curve {
    Real value = 0, slope = 0;
  };
  ZWANG_INLINE Curve curve_at_end(int lane, const Search& search) const {
    Curve made;
    Real unknown = 0;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      const bool presses = lane_of(state.presses_now[i], lane);
      made.value +=
          search.sought[i] * (presses ? -lane_of(trial.end_lambda[i], lane) : lane_of(trial.end_f[i], lane));
      made.slope += search.sought[i] * lane_of(trial.end_f_rate[i], lane);
      unknown += search.sought[i] * (presses || !Model::is_holonomic(i) ? Real(1) : Real(0));
    }
    if constexpr (seeks_signals) {
      ZWANG_REGISTERS for (int i = 0; i < Model::signals; ++i) {
        made.value +=
            search.sought[rows + i] * lane_of(state.side[i], lane) * lane_of(trial.end_signal[i], lane);
        unknown += search.sought[rows + i];
      }
    }
    if (unknown > 0) made.slope = missing<Real>();
    return made;
  }
  // A condition that starts downwards from zero counts as below zero.
  ZWANG_INLINE Curve curve_at_start(int lane, const Search& search) const {
    Curve made;
    Real unknown = 0;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      const bool presses = lane_of(state.presses_now[i], lane);
      made.value +=
          search.sought[i] * (presses ? -lane_of(state.lambda[i], lane) : lane_of(state.f[i], lane));
      made.slope += search.sought[i] * lane_of(state.f_rate[i], lane);
      unknown += search.sought[i] * (presses || !Model::is_holonomic(i) ? Real(1) : Real(0));
    }
    if constexpr (seeks_signals) {
      ZWANG_REGISTERS for (int i = 0; i < Model::signals; ++i) {
        made.value += search.sought[rows + i] * lane_of(state.side[i], lane) * lane_of(state.signal[i], lane);
        unknown += search.sought[rows + i];
      }
    }
    const Real soon = Real(1e-9) * (made.value + Real(1.0 / 3) * lane_of(trial.step.h, lane) * made.slope);
    if (unknown > 0)
      made.slope = missing<Real>();
    else if (made.value <= -soon)
      made.value = minimum(made.value, soon);
    return made;
  }

  // Where the motion is known as a power series, no trial steps are needed: the crossing is found on the
  // series when the event is handled.
  ZWANG_INLINE void begin(int lane) const {
    Curve from, to;
    if (!is_crossing(lane, from, to)) return;
    if constexpr (finds_crossings_on_series)
      if (!lane_of(trial.constrained, lane) && !lane_of(flags.signal_event_possible, lane)) {
        searches[lane].slope = to.value;  // for the first guess, by the chord
        set_lane(flags.crosses_on_series, lane, true);
        return;
      }
    begin_search(lane, from, to);
  }

  // Whether a single condition or signal, and nothing else, crosses zero within the step.
  ZWANG_INLINE bool is_crossing(int lane, Curve& from, Curve& to) const {
    Search& search = searches[lane];
    if (search.no_search_from == lane_of(state.t, lane)) return false;
    Real count = 0;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      search.sought[i] = 0;
      if (Model::is_equation(i)) continue;
      if (!lane_of(flags.may_cross[i], lane)) continue;
      search.sought[i] = 1;
      // A condition that has just opened is left to the slow path.
      count += lane_of(ledger.arming_level[i], lane) < 0 ? Real(2) : Real(1);
    }
    ZWANG_REGISTERS for (int i = 0; i < Model::signals; ++i) {
      const bool crosses = seeks_signals && lane_of(flags.signal_may_cross[i], lane);
      search.sought[rows + i] = crosses ? Real(1) : Real(0);
      // The stop condition ends the member: it is left to the slow path.
      if (crosses) count += Model::stops && i == Model::watches ? Real(2) : Real(1);
    }
    if (!(count > 0 && count < Real(1.5))) return false;
    from = curve_at_start(lane, search);
    to = curve_at_end(lane, search);
    if (!(from.value < 0)) return false;
    if (!(to.value > 0)) {
      halve(lane, search);
      return false;
    }
    search.h = lane_of(state.h, lane);
    search.next_h = lane_of(trial.next_h, lane);
    return true;
  }

  ZWANG_INLINE void begin_search(int lane, const Curve& from, const Curve& to) const {
    Search& search = searches[lane];
    Real via = 0, part = Real(0.5);
    bool by_stages = false;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      if (!(search.sought[i] > 0)) continue;
      const bool presses = lane_of(state.presses_now[i], lane);
      via = presses ? -lane_of(trial.sampled_lambda[i], lane) : lane_of(trial.mid_f[i], lane);
      if (presses) part = Real(Method::c(Method::sample_stage));
      by_stages = presses;
    }
    if constexpr (seeks_signals) {
      ZWANG_REGISTERS for (int i = 0; i < Model::signals; ++i) {
        if (search.sought[rows + i] > 0)
          via = lane_of(state.side[i], lane) * lane_of(trial.mid_signal[i], lane);
      }
    }
    search.reach = Real(settings.crossing_reach);
    const Real whole = lane_of(trial.step.h, lane);
    if constexpr (has_second_sample<M>)
      if (by_stages) {
        Real beyond = 0;
        ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
          if (search.sought[i] > 0) beyond = -lane_of(trial.second_sampled_lambda[i], lane);
        }
        try_length(lane, search.begin_between(whole, from.value, to.value, part, via,
                                              Real(Method::c(Method::second_sample_stage)), beyond));
        return;
      }
    try_length(lane, search.begin(whole, from.value, to.value, from.slope, to.slope, part, via));
  }

  // A condition may rise and fall again within a long step, or seem to. The step is repeated with half of its
  // length, up to most_halvings times; what remains unclear is left to the slow path.
  ZWANG_INLINE void halve(int lane, Search& search) const {
    const Real now = lane_of(state.t, lane);
    if (!(search.halved_at == now)) {
      search.halved_at = now;
      search.halvings = 0;
    }
    if (++search.halvings > search.most_halvings) return;
    set_lane(state.h, lane, Real(0.5) * lane_of(trial.step.h, lane));
    set_lane(flags.accepted, lane, false);
  }

  ZWANG_INLINE void continue_search(int lane) const {
    Search& search = searches[lane];
    const Curve now = curve_at_end(lane, search);
    const Real length = lane_of(trial.step.h, lane), next = search.improve(length, now.value, now.slope);
    bool disturbed = search.tries > search.most_tries;
    if constexpr (seeks_signals) {
      ZWANG_REGISTERS for (int i = 0; i < Model::signals; ++i) {
        disturbed = disturbed || (lane_of(flags.signal_may_cross[i], lane) && !(search.sought[rows + i] > 0));
      }
    } else {
      disturbed = disturbed || lane_of(flags.signal_event_possible, lane);
    }
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      if (Model::is_equation(i)) continue;
      disturbed = disturbed || (lane_of(flags.may_cross[i], lane) && !(search.sought[i] > 0));
    }
    if (disturbed) {
      try_length(lane, Real(0));
    } else if (absolute(next - length) <= search.reach * length) {
      set_lane(flags.at_event, lane, true);
      set_lane(flags.event_possible, lane, true);  // even if the step ends a little before the crossing
      set_lane(state.searching, lane, false);
    } else {
      try_length(lane, next);
    }
  }

  // Sets the length of the next trial step of a search. If it is too short to be resolved, the search is
  // given up: the whole step is repeated and handled by the slow path.
  ZWANG_INLINE void try_length(int lane, Real next) const {
    Search& search = searches[lane];
    const Real now = lane_of(state.t, lane);
    const bool tries = next > 64 * Precision<Real>::epsilon * absolute(now);
    if (!tries) search.no_search_from = now;
    set_lane(state.h, lane, tries ? next : search.h);
    set_lane(state.searching, lane, tries);
    set_lane(flags.accepted, lane, false);
  }
};

}  // namespace zwang
