// Measures: one number per member, reduced over the continuous trajectory and over its events. The reference
// is src/reference/measures.cpp.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/record/event_pattern.h"
#include "kernels/record/forces.h"
#include "kernels/record/member_records.h"
#include "kernels/rootfinding/first_root.h"

namespace zwang {

// Whether measure m is the minimum or maximum of a function over the whole trajectory.
template <class Model>
ZWANG_INLINE constexpr bool is_extreme(int m) {
  const Reduction reduction = Reduction(Model::reduction_kind(m));
  return EventPattern(Model::reduction_pattern(m)) == EventPattern::none &&
         (reduction == Reduction::minimum || reduction == Reduction::maximum);
}

// The functions that the measures reduce, at a state.
template <class M, class Real>
ZWANG_COLD void measured_at(const Real* k, const typename M::Constraints& constraints, Real t, const Real* y,
                            Real* values) {
  Real lambda[M::rows];
  if constexpr (M::Model::measures_forces) forces_at<M>(k, constraints, t, y, lambda);
  M::Model::measured(k, t, y, y + M::n, y + 2 * M::n, lambda, constraints.held, values);
}

// The larger or smaller of two values, either of which may be missing (NaN).
template <class Real>
ZWANG_INLINE Real better_of(bool largest, Real known, Real value) {
  if (value != value) return known;
  return known != known || (largest ? value > known : value < known) ? value : known;
}
template <class Model, class Real>
ZWANG_INLINE void update_extreme(int m, Real value, Real* results) {
  const bool largest = Reduction(Model::reduction_kind(m)) == Reduction::maximum;
  results[m] = better_of(largest, results[m], value);
}
template <class Model, class Real>
ZWANG_DEVICE void update_extremes(const Real* values, Real* results) {
  for (int m = 0; m < Model::reductions; ++m)
    if (is_extreme<Model>(m)) update_extreme<Model>(m, values[m], results);
}
// Takes the member's present state into account; writes its results.
template <class M>
ZWANG_COLD void update_extremes_now(M& me) {
  if constexpr (M::Model::any_extremes) {
    typename M::Real values[M::reductions];
    measured_at<M>(me.k, me.constraints, me.motion.t, me.motion.y, values);
    update_extremes<typename M::Model>(values, me.results);
  }
}

// Before the start: counts and totals are zero, everything else is missing.
template <class Model, class Real>
ZWANG_COLD void clear_measures(Real* results, Real* initial) {
  for (int m = 0; m < Model::reductions; ++m) {
    const Reduction reduction = Reduction(Model::reduction_kind(m));
    const bool counts = reduction == Reduction::count || reduction == Reduction::total;
    results[m] = counts ? Real(0) : missing<Real>();
    initial[m] = 0;
  }
}
template <class Model>
ZWANG_CONSTANT constexpr bool needs_initial_values() {
  bool any = Model::any_extremes;
  for (int m = 0; m < Model::reductions; ++m)
    any = any || Reduction(Model::reduction_kind(m)) == Reduction::initial;
  return any;
}
// At the start; writes the member's initial values and results.
template <class M>
ZWANG_COLD void begin_measures(M& me) {
  if constexpr (needs_initial_values<typename M::Model>()) {
    measured_at<M>(me.k, me.constraints, me.motion.t, me.motion.y, me.initial);
    update_extremes<typename M::Model>(me.initial, me.results);
  }
}

// Extremes of the functions `at(x, values)` over 0 <= x <= 1: samples, and peaks between them where one might
// beat the best value known. Writes `results`.
template <class Model, class Real, class At>
ZWANG_INLINE void bracket_extremes(const At& at, Real* results) {
  constexpr int reductions = at_least_one(Model::reductions);
  Real samples[sample_count][reductions];
  for (int s = 0; s < sample_count; ++s) {
    at(Real(sample_fraction(s)), samples[s]);
    update_extremes<Model>(samples[s], results);
  }
  for (int m = 0; m < Model::reductions; ++m) {
    if (!is_extreme<Model>(m)) continue;
    const Real sign = Reduction(Model::reduction_kind(m)) == Reduction::maximum ? Real(1) : Real(-1);
    for (int s = 0; s < sample_count; ++s) {
      const int left = s > 0 ? s - 1 : 0, right = s + 1 < sample_count ? s + 1 : s;
      const Real a = sign * samples[left][m], b = sign * samples[s][m], c = sign * samples[right][m];
      // The two samples beside a peak may be equally high; at the ends of the step a third one shows its
      // height.
      const int third = s == 0 ? 2 : s == sample_count - 1 ? s - 2 : s;
      const Real spread = b - minimum(minimum(a, c), sign * samples[third][m]);
      if (!(b >= a && b >= c) || !(spread > 0) || b + spread <= sign * results[m]) continue;
      const auto curve = [&](Real x) {
        Real values[reductions];
        at(x, values);
        return sign * values[m];
      };
      const Peak<Real> top =
          peak(Real(sample_fraction(left)), Real(sample_fraction(right)), infinity<Real>(), 50, curve);
      update_extreme<Model>(m, sign * top.value, results);
    }
  }
}

// Extremes within a smooth step, up to its fraction `until`. Writes the member's results.
template <class M, class I, class Real>
ZWANG_COLD void refine_extremes(M& me, const I& interpolant, Real until) {
  if constexpr (M::Model::any_extremes)
    bracket_extremes<typename M::Model>(
        [&](Real x, Real* values) {
          Real y[M::size];
          interpolant.at(x * until, y);
          measured_at<M>(me.k, me.constraints, interpolant.t + x * until * interpolant.h, y, values);
        },
        me.results);
}

// Whether an event matches the pattern of measure m. `size` is set to the impulse, for patterns of shocks.
// The shocks that an accumulation stands for are not listed: their impulses belong to totals, and the last of
// them is its limit.
template <class M>
ZWANG_INLINE bool matches(const typename M::Event& event, int m, typename M::Real& size) {
  const int target = M::Model::reduction_target(m);
  const Reduction reduction = Reduction(M::Model::reduction_kind(m));
  const bool accumulation = event.kind == EventKind::accumulation;
  const bool unlisted = reduction == Reduction::total || reduction == Reduction::last;
  size = 0;
  switch (EventPattern(M::Model::reduction_pattern(m))) {
    case EventPattern::shock:
    case EventPattern::impulse:
      if (!event.jump || (accumulation && !unlisted)) return false;
      if (accumulation && reduction == Reduction::last)
        return event.constraints.has(target) || event.reached.has(target);
      if (!(accumulation ? event.reached : event.constraints).has(target)) return false;
      size = event.impulse[target];
      return size != 0;
    case EventPattern::contact:
      return (event.kind == EventKind::contact || event.kind == EventKind::touch ||
              (accumulation && unlisted)) &&
             event.constraints.has(target);
    default:
      return is_of_kind(event, EventPattern(M::Model::reduction_pattern(m)), target);
  }
}

// Reductions over events; writes the member's results.
template <class M>
ZWANG_INLINE void update_event_measures(M& me, const typename M::Event& event) {
  using Real = typename M::Real;
  ZWANG_REGISTERS for (int m = 0; m < M::Model::reductions; ++m) {
    Real size;
    if (!matches<M>(event, m, size)) continue;
    Real& result = me.results[m];
    if (Reduction(M::Model::reduction_kind(m)) == Reduction::count) {
      increment(result);
      continue;
    }
    const bool none = result != result;
    switch (Reduction(M::Model::reduction_kind(m))) {
      case Reduction::total:
        result += size;
        break;
      case Reduction::maximum:
        if (none || size > result) result = size;
        break;
      case Reduction::first:
        if (none) result = event.t;
        break;
      case Reduction::last:
        result = event.t;
        break;
      case Reduction::at:
        if (none) {
          Real values[M::reductions];
          measured_at<M>(me.k, me.constraints, me.motion.t, me.motion.y, values);
          result = values[m];
        }
        break;
      default:
        break;
    }
  }
}

// At the end; writes the member's results. `begun`: the member has moved, so that its initial values are
// known.
template <class M>
ZWANG_COLD void finish_measures(M& me, bool begun) {
  using Real = typename M::Real;
  const typename M::Motion& motion = me.motion;
  Real now[M::reductions];
  measured_at<M>(me.k, me.constraints, motion.t, motion.y, now);
  for (int m = 0; m < M::Model::reductions; ++m) {
    const Real integral =
        M::Model::integrals > 0 ? motion.y[M::fed_back + M::Model::reduction_integral(m)] : Real(0);
    switch (Reduction(M::Model::reduction_kind(m))) {
      case Reduction::initial:
        me.results[m] = begun ? me.initial[m] : missing<Real>();
        break;
      case Reduction::final:
        me.results[m] = now[m];
        break;
      case Reduction::integral:
        me.results[m] = integral;
        break;
      case Reduction::mean:
        me.results[m] = motion.t > 0 ? integral / motion.t : now[m];
        break;
      default:
        if constexpr (RecordsOf<typename M::Model>::count > 0)
          if (int(Reduction(M::Model::reduction_kind(m))) >= int(Reduction::record_count))
            me.results[m] = Real(reduced_record(me, m, double(now[m])));
        break;
    }
  }
}

}  // namespace zwang
