// Where the motion is known as a power series, a crossing is found on it: a lane by itself, as it was given to its member (handover.h),
// cuts its step short there. No tries are needed, and on a GPU the lanes of a warp do it together.
#pragma once

#include "kernels/handover.h"
#include "kernels/touch.h"

namespace zwang {

template <class Crew>
struct Crosser {
  using M = typename Crew::Member;
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  static constexpr int n = M::n, r = M::r, size = M::size;
  Crew& crew;

  // A lane by itself: its step, cut short where the condition that was heard crosses zero. False when that is not the only thing
  // to be heard, or not the first time.
  ZWANG_INLINE bool cross() const {
    SeriesTerms<Method, n, size, Real> terms;
    terms.take(crew.k, crew.t, crew.step.h, crew.y);
    Model::levels(crew.k, crew.t, crew.y, crew.y + n, crew.y + 2 * n, crew.f, crew.f_rate);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) crew.lambda[i] = crew.end_lambda[i] = 0;
    if constexpr (Model::any_extremes)
      Model::measured(crew.k, crew.t, crew.y, crew.y + n, crew.y + 2 * n, crew.lambda, crew.held,
                      crew.values);
    const Real whole = crew.step.h;
    crew.step.h = crossing_of(terms) * whole;
    if constexpr (sizeof(Real) == sizeof(float)) crew.step.h = (crew.t + crew.step.h) - crew.t;
    terms.template at<size>(crew.step.h / whole, crew.end);
    terms.template at<M::fed_back>(Real(0.5) * crew.step.h / whole, crew.series.middle);
    crew.bound = crew.clipped = false;
    ZWANG_REGISTERS for (int m = 0; m < crew.step.kept; ++m) crew.step.last()[m] = crew.step.first()[m];
    crew.conclude();
    bool alone = !crew.noisy && crew.step.h > 16 * Precision<Real>::epsilon * absolute(crew.t);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) alone =
        alone && (!crew.heard[i] || crew.searches->mine[i] > 0);
    return alone;
  }

 private:
  ZWANG_INLINE Real of_mine(const Real* those) const {
    Real sum = 0;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) sum += crew.searches->mine[i] > 0 ? those[i] : Real(0);
    return sum;
  }

  // Where within the step, by Newton's method kept between a place below zero and one above. It comes from above: below, a
  // condition may have set off from zero.
  template <class Terms>
  ZWANG_INLINE Real crossing_of(const Terms& terms) const {
    const Real close = Real(0.1) * Real(sqrt(Precision<Real>::epsilon));  // Newton doubles the digits
    Real low = 0, high = 1,
         x = maximum(Real(0.25), of_mine(crew.f) / (of_mine(crew.f) - crew.searches->slope));
    ZWANG_ROLLED for (int turn = 0; turn < 24; ++turn) {
      Real there[M::fed_back], value[M::rows], rate[M::rows];
      terms.template at<M::fed_back>(x, there);
      Model::levels(crew.k, crew.t + x * crew.step.h, there, there + n, there + 2 * n, value, rate);
      const Real above = of_mine(value), onward = x - above / (crew.step.h * of_mine(rate));
      if (absolute(onward - x) <= close) return onward;
      (above > 0 ? high : low) = x;
      x = onward > low && onward < high ? onward : Real(0.5) * (low + high);
    }
    return x;
  }
};

// One of several lanes: a crew of its own finds where it crosses, and what is there is taken as after any other search.
template <class Crew>
ZWANG_INLINE bool cross_alone(Crew& crew, int lane) {
  using M = typename Crew::Member;
  using Real = typename M::Real;
  M& me = crew.members[lane];
  typename Crew::Alone::Search search;
  typename Crew::Alone::Accounts accounts;
  typename Crew::Alone one(crew.settings, crew.batch, &me, &search, accounts);
  Handover<Crew>{crew}.give(lane, me);
  if (!one.arrive(&me, &me)) return false;
  const Real whole = lane_of(crew.step.h, lane);
  const bool was_clipped = lane_of(crew.clipped, lane), had_output = lane_of(crew.output, lane),
             had_hump = lane_of(crew.hump, lane);
  set_lane(crew.step.h, lane, one.step.h);
  set_lane(crew.clipped, lane, one.clipped);
  set_lane(crew.output, lane, one.output);
  set_lane(crew.hump, lane, one.hump);
  ZWANG_REGISTERS for (int i = 0; i < M::size; ++i) set_lane(crew.end[i], lane, one.end[i]);
  ZWANG_REGISTERS for (int i = 0; i < M::r; ++i) set_lane(crew.foremost[i], lane, one.foremost[i]);
  if (touch_lane(crew, lane)) return true;
  set_lane(crew.step.h, lane, whole);
  set_lane(crew.clipped, lane, was_clipped);
  set_lane(crew.output, lane, had_output);
  set_lane(crew.hump, lane, had_hump);
  return false;
}

}  // namespace zwang
