// Lanes in search of a crossing (rootfinding/step_length_search.h): which of those that heard something begin, and where the next try ends.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/member/slow_path.h"
#include "kernels/rootfinding/step_length_search.h"
#include "kernels/simd/pack.h"

namespace zwang {

template <class LaneGroup>
struct CrossingSearchDriver {
  using M = typename LaneGroup::Member;
  using R = typename LaneGroup::Number;
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  using Mask = typename Lanes<R>::Mask;
  using Search = StepLengthSearch<Real, M::rows>;
  static constexpr int lanes = Lanes<R>::count, r = M::r;
  LaneGroup& group;

  // A single crossing cuts the step short: the search for its end begins, or goes on. A lane that seeks stays where it is.
  ZWANG_INLINE void advance() const {
    if constexpr (r > 0) {
      group.searching = group.searching && group.accepted;
      const Mask concerned = group.searching || (group.accepted && group.event_possible);
      if (!any(concerned)) return;
      if constexpr (lanes == 1) {
        // In these words: in others a GPU's step has a register too few.
        ZWANG_REGISTERS for (int lane = 0; lane < lanes; ++lane) {
          if (!lane_of(group.accepted, lane)) continue;
          if (lane_of(group.searching, lane))
            continue_search(lane);
          else if (lane_of(group.event_possible, lane) && !lane_of(group.signal_event_possible, lane) &&
                   !lane_of(group.always_handle, lane))
            begin(lane);
        }
      } else {
        each_lane(concerned, [this](int lane) {
          if (lane_of(group.searching, lane))
            continue_search(lane);
          else if (!lane_of(group.signal_event_possible, lane) && !lane_of(group.always_handle, lane))
            begin(lane);
        });
      }
    }
  }

  // The curve of the condition that is sought, which crosses zero upwards: its value (of a pressing one: minus the
  // multiplier) and its slope, NaN where not known.
  struct Curve {
    Real value = 0, slope = 0;
  };
  ZWANG_INLINE Curve curve_at_end(int lane, const Search& search) const {
    Curve made;
    Real unknown = 0;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      const bool presses = lane_of(group.presses_now[i], lane);
      made.value +=
          search.sought[i] * (presses ? -lane_of(group.end_lambda[i], lane) : lane_of(group.end_f[i], lane));
      made.slope += search.sought[i] * lane_of(group.end_f_rate[i], lane);
      unknown += search.sought[i] * (presses || !Model::is_holonomic(i) ? Real(1) : Real(0));
    }
    if (unknown > 0) made.slope = missing<Real>();
    return made;
  }
  // A condition that sets off downwards counts as below zero already.
  ZWANG_INLINE Curve curve_at_start(int lane, const Search& search) const {
    Curve made;
    Real unknown = 0;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      const bool presses = lane_of(group.presses_now[i], lane);
      made.value +=
          search.sought[i] * (presses ? -lane_of(group.lambda[i], lane) : lane_of(group.f[i], lane));
      made.slope += search.sought[i] * lane_of(group.f_rate[i], lane);
      unknown += search.sought[i] * (presses || !Model::is_holonomic(i) ? Real(1) : Real(0));
    }
    const Real soon = Real(1e-9) * (made.value + Real(1.0 / 3) * lane_of(group.step.h, lane) * made.slope);
    if (unknown > 0)
      made.slope = missing<Real>();
    else if (made.value <= -soon)
      made.value = minimum(made.value, soon);
    return made;
  }

  // Where the motion is known as a power series there is nothing to search for by tries: whoever attends to the crossing
  // finds it there.
  ZWANG_INLINE void begin(int lane) const {
    Curve from, to;
    if (!is_crossing(lane, from, to)) return;
    if constexpr (LaneGroup::finds_crossings_on_series)
      if (!lane_of(group.constrained, lane)) {
        group.searches[lane].slope = to.value;  // of the chord
        set_lane(group.crosses_on_series, lane, true);
        return;
      }
    begin_search(lane, from, to);
  }

  // Whether a single condition, and nothing else, crosses zero within the step.
  ZWANG_INLINE bool is_crossing(int lane, Curve& from, Curve& to) const {
    Search& search = group.searches[lane];
    if (search.no_search_from == lane_of(group.t, lane)) return false;
    Real count = 0;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      search.sought[i] = 0;
      if (Model::is_equation(i)) continue;
      if (!lane_of(group.may_cross[i], lane)) continue;
      search.sought[i] = 1;
      // One that has just been left has to be looked at carefully.
      count += lane_of(group.ledger.arming_level[i], lane) < 0 ? Real(2) : Real(1);
    }
    if (!(count > 0 && count < Real(1.5))) return false;
    from = curve_at_start(lane, search);
    to = curve_at_end(lane, search);
    if (!(from.value < 0)) return false;
    if (!(to.value > 0)) {
      halve(lane, search);
      return false;
    }
    search.h = lane_of(group.h, lane);
    search.next_h = lane_of(group.next_h, lane);
    return true;
  }

  ZWANG_INLINE void begin_search(int lane, const Curve& from, const Curve& to) const {
    Search& search = group.searches[lane];
    Real via = 0, part = Real(0.5);
    bool by_stages = false;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      if (!(search.sought[i] > 0)) continue;
      const bool presses = lane_of(group.presses_now[i], lane);
      via = presses ? -lane_of(group.sampled_lambda[i], lane) : lane_of(group.mid_f[i], lane);
      if (presses) part = Real(Method::c(Method::sample_stage));
      by_stages = presses;
    }
    search.reach = Real(group.settings.crossing_reach);
    const Real whole = lane_of(group.step.h, lane);
    if constexpr (LaneGroup::two_samples)
      if (by_stages) {
        Real beyond = 0;
        ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
          if (search.sought[i] > 0) beyond = -lane_of(group.second_sampled_lambda[i], lane);
        }
        try_length(lane, search.begin_between(whole, from.value, to.value, part, via,
                                              Real(Method::c(Method::second_sample_stage)), beyond));
        return;
      }
    try_length(lane, search.begin(whole, from.value, to.value, from.slope, to.slope, part, via));
  }

  // Over a long step a condition may rise and fall again, or seem to. Half as far it will have risen, or be seen not to; what
  // remains doubtful after a few halves is looked at carefully.
  ZWANG_INLINE void halve(int lane, Search& search) const {
    const Real now = lane_of(group.t, lane);
    if (!(search.halved_at == now)) {
      search.halved_at = now;
      search.halvings = 0;
    }
    if (++search.halvings > search.most_halvings) return;
    set_lane(group.h, lane, Real(0.5) * lane_of(group.step.h, lane));
    set_lane(group.accepted, lane, false);
  }

  ZWANG_INLINE void continue_search(int lane) const {
    Search& search = group.searches[lane];
    const Curve now = curve_at_end(lane, search);
    const Real length = lane_of(group.step.h, lane), next = search.improve(length, now.value, now.slope);
    bool disturbed = lane_of(group.signal_event_possible, lane) || search.tries > search.most_tries;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      if (Model::is_equation(i)) continue;
      disturbed = disturbed || (lane_of(group.may_cross[i], lane) && !(search.sought[i] > 0));
    }
    if (disturbed) {
      try_length(lane, Real(0));
    } else if (absolute(next - length) <= search.reach * length) {
      set_lane(group.at_event, lane, true);
      set_lane(group.event_possible, lane, true);  // even if the try ends a little before
      set_lane(group.searching, lane, false);
    } else {
      try_length(lane, next);
    }
  }

  // The next try of a search. None that short: then the whole step again, and the careful way.
  ZWANG_INLINE void try_length(int lane, Real next) const {
    Search& search = group.searches[lane];
    const Real now = lane_of(group.t, lane);
    const bool tries = next > 64 * Precision<Real>::epsilon * absolute(now);
    if (!tries) search.no_search_from = now;
    set_lane(group.h, lane, tries ? next : search.h);
    set_lane(group.searching, lane, tries);
    set_lane(group.accepted, lane, false);
  }
};

}  // namespace zwang
