// Where the motion is known as a power series, a crossing is found on it: a lane by itself, as it was given to its member (lanes/lane_state_transfer.h),
// cuts its step short there. No tries are needed, and on a GPU the lanes of a warp do it together.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/integrator/taylor_series.h"
#include "kernels/lanes/fast_event.h"
#include "kernels/lanes/lane_state_transfer.h"

namespace zwang {

template <class LaneGroup>
struct TaylorCrossing {
  using M = typename LaneGroup::Member;
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  static constexpr int n = M::n, r = M::r, size = M::size;
  LaneGroup& group;

  // A lane by itself: its step, cut short where the condition that was heard crosses zero. False when that is not the only thing
  // to be heard, or not the first time.
  ZWANG_INLINE bool truncate_at_crossing() const {
    SeriesTerms<Method, n, size, Real> terms;
    terms.take(group.k, group.t, group.step.h, group.y);
    Model::levels(group.k, group.t, group.y, group.y + n, group.y + 2 * n, group.f, group.f_rate);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) group.lambda[i] = group.end_lambda[i] = 0;
    if constexpr (Model::any_extremes)
      Model::measured(group.k, group.t, group.y, group.y + n, group.y + 2 * n, group.lambda, group.held,
                      group.values);
    const Real whole = group.step.h;
    group.step.h = find_crossing(terms) * whole;
    if constexpr (sizeof(Real) == sizeof(float)) group.step.h = (group.t + group.step.h) - group.t;
    terms.template at<size>(group.step.h / whole, group.end);
    terms.template at<M::fed_back>(Real(0.5) * group.step.h / whole, group.series.middle);
    group.constrained = group.clipped = false;
    ZWANG_REGISTERS for (int m = 0; m < group.step.kept; ++m) group.step.last()[m] = group.step.first()[m];
    group.project_and_detect_events();
    bool alone =
        !group.signal_event_possible && group.step.h > 16 * Precision<Real>::epsilon * absolute(group.t);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) alone =
        alone && (!group.may_cross[i] || group.searches->sought[i] > 0);
    return alone;
  }

 private:
  ZWANG_INLINE Real of_sought(const Real* those) const {
    Real sum = 0;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) sum += group.searches->sought[i] > 0 ? those[i] : Real(0);
    return sum;
  }

  // Where within the step, by Newton's method kept between a place below zero and one above. It comes from above: below, a
  // condition may have set off from zero.
  template <class Terms>
  ZWANG_INLINE Real find_crossing(const Terms& terms) const {
    const Real close = Real(0.1) * Real(sqrt(Precision<Real>::epsilon));  // Newton doubles the digits
    Real low = 0, high = 1,
         x = maximum(Real(0.25), of_sought(group.f) / (of_sought(group.f) - group.searches->slope));
    ZWANG_ROLLED for (int turn = 0; turn < 24; ++turn) {
      Real there[M::fed_back], value[M::rows], rate[M::rows];
      terms.template at<M::fed_back>(x, there);
      Model::levels(group.k, group.t + x * group.step.h, there, there + n, there + 2 * n, value, rate);
      const Real above = of_sought(value), onward = x - above / (group.step.h * of_sought(rate));
      if (absolute(onward - x) <= close) return onward;
      (above > 0 ? high : low) = x;
      x = onward > low && onward < high ? onward : Real(0.5) * (low + high);
    }
    return x;
  }
};

// One of several lanes: a crew of its own finds where it crosses, and what is there is taken as after any other search.
template <class LaneGroup>
ZWANG_INLINE bool cross_in_single_lane(LaneGroup& group, int lane) {
  using M = typename LaneGroup::Member;
  using Real = typename M::Real;
  M& me = group.members[lane];
  typename LaneGroup::SingleLane::Search search;
  typename LaneGroup::SingleLane::Ledger lane_ledger;
  typename LaneGroup::SingleLane one(group.settings, group.batch, &me, &search, lane_ledger);
  LaneStateTransfer<LaneGroup>{group}.store_for_event_handling(lane, me);
  if (!one.load_at_event(&me, &me)) return false;
  const Real whole = lane_of(group.step.h, lane);
  const bool was_clipped = lane_of(group.clipped, lane), had_output = lane_of(group.output_due, lane),
             had_hump = lane_of(group.extremum_possible, lane);
  set_lane(group.step.h, lane, one.step.h);
  set_lane(group.clipped, lane, one.clipped);
  set_lane(group.output_due, lane, one.output_due);
  set_lane(group.extremum_possible, lane, one.extremum_possible);
  ZWANG_REGISTERS for (int i = 0; i < M::size; ++i) set_lane(group.end[i], lane, one.end[i]);
  ZWANG_REGISTERS for (int i = 0; i < M::r; ++i)
      set_lane(group.first_if_at_end[i], lane, one.first_if_at_end[i]);
  if (handle_fast_event(group, lane)) return true;
  set_lane(group.step.h, lane, whole);
  set_lane(group.clipped, lane, was_clipped);
  set_lane(group.output_due, lane, had_output);
  set_lane(group.extremum_possible, lane, had_hump);
  return false;
}

}  // namespace zwang
