// Drives the searches over the step length (rootfinding/step_length_search.h): decides which lanes with a
// possible event begin one, and chooses the length of the next trial step.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
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
  static constexpr bool seeks_signals =
      FastEvent<M, R>::signals_possible || FastEvent<M, R>::transitions_possible;

  const KernelSettings& settings;
  const LaneLedger<R, M::rows>& ledger;
  Search* searches;        // one for each lane
  LaneState<M, R>& state;  // h and searching are changed
  const StepInProgress<M, R>& trial;
  StepFlags<M, R>& flags;  // accepted, at_event, event_possible and crosses_on_series are changed

  // Begins or continues the search in every lane whose step has a crossing. While searching, a lane repeats its
  // step from the same state.
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

  // Where the motion is known as a power series, no trial steps are needed: the crossing of a condition is
  // found on the series when the event is handled.
  ZWANG_INLINE void begin(int lane) const {
    Curve from, to;
    if (!choose_crossing(lane, from, to)) return;
    if constexpr (finds_crossings_on_series)
      if (!lane_of(trial.constrained, lane) && !seeks_signal(searches[lane])) {
        searches[lane].slope = to.value;  // for the first guess, by the chord
        set_lane(flags.crosses_on_series, lane, true);
        return;
      }
    begin_search(lane, from, to);
  }
  ZWANG_INLINE static bool seeks_signal(const Search& search) {
    Real sum = 0;
    ZWANG_REGISTERS for (int i = 0; i < Model::signals; ++i) { sum += search.sought[rows + i]; }
    return sum > 0;
  }

  // Where a function that starts below zero crosses it, as a fraction of the step: by chords through its value
  // `inside` at the fraction `part`, or in the first part by the parabola with the slope at the start. 2 if the
  // samples show no crossing.
  ZWANG_INLINE static Real crossing_by_chords(Real start, Real inside, Real part, Real end) {
    if (inside > 0) return part * start / (start - inside);
    return end > 0 ? part + (1 - part) * inside / (inside - end) : Real(2);
  }
  ZWANG_INLINE Real crossing_of_condition(int lane, int i) const {
    if (lane_of(state.presses_now[i], lane))
      return crossing_by_chords(-lane_of(state.lambda[i], lane), -lane_of(trial.sampled_lambda[i], lane),
                                Real(Method::c(Method::sample_stage)), -lane_of(trial.end_lambda[i], lane));
    const Real start = lane_of(state.f[i], lane), inside = lane_of(trial.mid_f[i], lane),
               rise = lane_of(trial.step.h, lane) * lane_of(state.f_rate[i], lane);
    // A condition that has just opened starts from zero: its chord would be too.
    if (Model::is_holonomic(i) && inside > 0 && rise < 0) {
      const Real bend = 4 * (inside - start) - 2 * rise;
      return (Real(sqrt(square(rise) - 4 * bend * start)) - rise) / (2 * bend);
    }
    // The chord through a condition that returns already is far too early: of two corners that hop side by side it would
    // name the wrong one, and the search for its crossing would end at that of the other.
    if constexpr (ModesOf<Model>::any)
      if (Model::is_holonomic(i) && inside > 0 && start < 0) {
        const Real bend = 4 * (inside - start) - 2 * rise;
        return -2 * start / (rise + Real(sqrt(maximum(square(rise) - 4 * bend * start, Real(0)))));
      }
    return crossing_by_chords(start, inside, Real(0.5), lane_of(trial.end_f[i], lane));
  }
  ZWANG_INLINE Real crossing_of_signal(int lane, int i) const {
    const Real side = lane_of(state.side[i], lane);
    return crossing_by_chords(side * lane_of(state.signal[i], lane),
                              side * lane_of(trial.mid_signal[i], lane), Real(0.5),
                              side * lane_of(trial.end_signal[i], lane));
  }

  // The condition or signal that crosses zero first within the step, as far as its samples show: when the step
  // has been shortened to the crossing, another one before it is detected. False: the event is left to the
  // slow path, or the step is repeated with half of its length.
  ZWANG_INLINE bool choose_crossing(int lane, Curve& from, Curve& to) const {
    Search& search = searches[lane];
    if (search.no_search_from == lane_of(state.t, lane)) return false;
    if (!choose_sought(lane, search)) return false;
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

  // Sets `sought`. False if there is nothing to seek, or something that is left to the slow path.
  ZWANG_INLINE bool choose_sought(int lane, Search& search) const {
    int chosen = -1;
    bool sound = true;
    Real first = 0;
    const auto consider = [&](int which, const auto& crossing) {
      Real place = 0;
      if constexpr (M::event_functions > 1) place = crossing();
      if (chosen >= 0 && !(place < first)) return;
      first = place;
      chosen = which;
    };
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      if (Model::is_equation(i) || !lane_of(flags.may_cross[i], lane)) continue;
      // A condition that has just opened is left to the slow path.
      sound = sound && !(lane_of(ledger.arming_level[i], lane) < 0);
      consider(i, [&, i] { return crossing_of_condition(lane, i); });
    }
    if constexpr (seeks_signals) {
      ZWANG_REGISTERS for (int i = 0; i < Model::signals; ++i) {
        if (!lane_of(flags.signal_may_cross[i], lane)) continue;
        // The stop condition ends the member: it is left to the slow path.
        sound = sound && !(Model::stops && i == Model::watches);
        consider(rows + i, [&, i] { return crossing_of_signal(lane, i); });
      }
    }
    ZWANG_REGISTERS for (int i = 0; i < M::event_functions; ++i) {
      search.sought[i] = i == chosen ? Real(1) : Real(0);
    }
    return sound && chosen >= 0;
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
