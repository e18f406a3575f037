// One number per member: reductions over the continuous trajectory and over its events; src/reference/measures.cpp is the reference.
// And the record: samples at output times, the log of events.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/rootfinding/first_root.h"

namespace zwang {

template <class Model>
ZWANG_INLINE bool is_extreme(int m) {
  const Reduction reduction = Reduction(Model::measure_reduction(m));
  return EventPattern(Model::measure_pattern(m)) == EventPattern::none &&
         (reduction == Reduction::minimum || reduction == Reduction::maximum);
}

// The multipliers as users see them: a closed inequality never pulls; what is below zero is rounding around a release.
template <class M, class Real>
ZWANG_DEVICE void forces_at(const M& me, Real t, const Real* y, Real* lambda) {
  for (int i = 0; i < M::r; ++i) lambda[i] = 0;
  if (!me.any_held) return;
  multipliers_at(me, t, y, lambda);
  for (int i = 0; i < M::r; ++i) {
    if (!is_finite(lambda[i])) lambda[i] = 0;
    if (me.conditions[i].standing == Standing::closed) lambda[i] = maximum(lambda[i], Real(0));
  }
}

template <class M, class Real>
ZWANG_COLD void measured_at(const M& me, Real t, const Real* y, Real* values) {
  Real lambda[M::rows];
  if constexpr (M::Model::measures_forces) forces_at(me, t, y, lambda);
  M::Model::measured(me.k, t, y, y + M::n, y + 2 * M::n, lambda, me.held, values);
}

// Of two values, of which either may be missing (NaN).
template <class Real>
ZWANG_INLINE Real better_of(bool largest, Real known, Real value) {
  if (value != value) return known;
  return known != known || (largest ? value > known : value < known) ? value : known;
}
// An extreme so far.
template <class M, class Real>
ZWANG_INLINE void update_extreme(M& me, int m, Real value) {
  const bool largest = Reduction(M::Model::measure_reduction(m)) == Reduction::maximum;
  me.results[m] = better_of(largest, me.results[m], value);
}
template <class M, class Real>
ZWANG_DEVICE void update_extremes(M& me, const Real* values) {
  for (int m = 0; m < M::Model::measures; ++m)
    if (is_extreme<typename M::Model>(m)) update_extreme(me, m, values[m]);
}
template <class M>
ZWANG_COLD void update_extremes_now(M& me) {
  if constexpr (M::Model::any_extremes) {
    typename M::Real values[M::measures];
    measured_at(me, me.t, me.y, values);
    update_extremes(me, values);
  }
}

template <class M>
ZWANG_COLD void start_measures(M& me) {
  using Model = typename M::Model;
  for (int m = 0; m < Model::measures; ++m) {
    const Reduction reduction = Reduction(Model::measure_reduction(m));
    const bool counts = reduction == Reduction::count || reduction == Reduction::total;
    me.results[m] = counts ? typename M::Real(0) : missing<typename M::Real>();
    me.initial[m] = 0;
  }
}
template <class Model>
ZWANG_CONSTANT constexpr bool asks_for_the_start() {
  bool any = Model::any_extremes;
  for (int m = 0; m < Model::measures; ++m)
    any = any || Reduction(Model::measure_reduction(m)) == Reduction::initial;
  return any;
}
template <class M>
ZWANG_COLD void begin_measures(M& me) {
  if constexpr (asks_for_the_start<typename M::Model>()) {
    measured_at(me, me.t, me.y, me.initial);
    update_extremes(me, me.initial);
  }
}

// A stretch of smooth motion, up to the fraction `until` of the step: samples, and the best of them refined.
template <class M, class I, class Real>
ZWANG_COLD void refine_extremes(M& me, const I& interpolant, Real until) {
  using Model = typename M::Model;
  if constexpr (Model::any_extremes) {
    const auto at = [&](Real x, Real* values) {
      Real y[M::size];
      interpolant.at(x * until, y);
      measured_at(me, interpolant.t + x * until * interpolant.h, y, values);
    };
    Real samples[sample_count][M::measures];
    for (int s = 0; s < sample_count; ++s) {
      at(Real(sample_fraction(s)), samples[s]);
      update_extremes(me, samples[s]);
    }
    for (int m = 0; m < Model::measures; ++m) {
      if (!is_extreme<Model>(m)) continue;
      const Real sign = Reduction(Model::measure_reduction(m)) == Reduction::maximum ? Real(1) : Real(-1);
      for (int s = 0; s < sample_count; ++s) {
        const int left = s > 0 ? s - 1 : 0, right = s + 1 < sample_count ? s + 1 : s;
        const Real a = sign * samples[left][m], b = sign * samples[s][m], c = sign * samples[right][m];
        // Refine only humps that may beat what is known already. Two samples beside a top may be as high as each other: at the
        // ends of the step a third one tells.
        const int third = s == 0 ? 2 : s == sample_count - 1 ? s - 2 : s;
        const Real spread = b - minimum(minimum(a, c), sign * samples[third][m]);
        if (!(b >= a && b >= c) || !(spread > 0) || b + spread <= sign * me.results[m]) continue;
        const auto curve = [&](Real x) {
          Real values[M::measures];
          at(x, values);
          return sign * values[m];
        };
        const Peak<Real> top =
            peak(Real(sample_fraction(left)), Real(sample_fraction(right)), infinity<Real>(), 50, curve);
        update_extreme(me, m, sign * top.value);
      }
    }
  }
}

// Does this event belong to the measure's pattern? For impulses the size is given too.
template <class M>
ZWANG_INLINE bool matches(const typename M::Event& event, int m, typename M::Real& size) {
  const int target = M::Model::measure_target(m);
  size = 0;
  switch (EventPattern(M::Model::measure_pattern(m))) {
    case EventPattern::shock:
    case EventPattern::impulse:
      if (!event.jump || event.kind == EventKind::accumulation || !event.constraints.has(target))
        return false;
      size = event.impulse[target];
      return size != 0;
    case EventPattern::release:
      return event.kind == EventKind::release && event.constraints.has(target);
    case EventPattern::contact:
      return (event.kind == EventKind::contact || event.kind == EventKind::touch) &&
             event.constraints.has(target);
    case EventPattern::accumulation:
      return event.kind == EventKind::accumulation && event.constraints.has(target);
    case EventPattern::watched:
      return event.kind == EventKind::event && event.watch == target;
    default:
      return false;
  }
}

// Nobody waits for what it was, unless it is near.
template <class Real>
ZWANG_INLINE void increment(Real& result) {
  if (lies_near(&result))
    result += 1;
  else
    atomic_add(&result, Real(1));
}

template <class M>
ZWANG_INLINE void update_event_measures(M& me, const typename M::Event& event) {
  using Real = typename M::Real;
  ZWANG_REGISTERS for (int m = 0; m < M::Model::measures; ++m) {
    Real size;
    if (!matches<M>(event, m, size)) continue;
    Real& result = me.results[m];
    if (Reduction(M::Model::measure_reduction(m)) == Reduction::count) {
      increment(result);
      continue;
    }
    const bool none = result != result;
    switch (Reduction(M::Model::measure_reduction(m))) {
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
          Real values[M::measures];
          measured_at(me, me.t, me.y, values);
          result = values[m];
        }
        break;
      default:
        break;
    }
  }
}

template <class M>
ZWANG_COLD void finish_measures(M& me, bool begun) {
  using Real = typename M::Real;
  Real now[M::measures];
  measured_at(me, me.t, me.y, now);
  for (int m = 0; m < M::Model::measures; ++m) {
    const Real integral =
        M::Model::integrals > 0 ? me.y[M::fed_back + M::Model::measure_integral(m)] : Real(0);
    switch (Reduction(M::Model::measure_reduction(m))) {
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
        me.results[m] = me.t > 0 ? integral / me.t : now[m];
        break;
      default:
        break;
    }
  }
}

// The state at an output time, and what is observed there.
template <class M, class Real>
ZWANG_COLD void write_output(M& me, Real t, const Real* y) {
  using Model = typename M::Model;
  const KernelBatch& batch = *me.batch;
  const long long place = me.number * me.settings->outputs + me.next_output++;
  if (!batch.observables && !batch.states) return;
  Real lambda[M::rows], seen[at_least_one(Model::observables)];
  forces_at(me, t, y, lambda);
  if (batch.observables) {
    Model::observe(me.k, t, y, y + M::n, y + 2 * M::n, lambda, me.held, seen);
    for (int i = 0; i < Model::observables; ++i)
      batch.observables[place * Model::observables + i] = double(seen[i]);
  }
  if (batch.states) {
    double* to = batch.states + place * (M::fed_back + 2 * M::r);
    for (int i = 0; i < M::fed_back; ++i) to[i] = double(y[i]);
    for (int i = 0; i < M::r; ++i) to[M::fed_back + i] = double(lambda[i]);
    for (int i = 0; i < M::r; ++i) to[M::fed_back + M::r + i] = double(me.held[i]);
  }
}

// Output times at this very instant, after whatever happened.
template <class M>
ZWANG_DEVICE void emit_output_now(M& me) {
  using Real = typename M::Real;
  const Real near = Precision<Real>::moment * maximum(absolute(me.t), me.h);
  while (me.next_output < me.settings->outputs && Real(me.batch->outputs[me.next_output]) <= me.t + near)
    write_output(me, me.t, me.y);
}

// So many events at one and the same instant mean that the motion is stuck.
constexpr int standstill_limit = 1000;

// Into the log, the counts and the measures. The tally is the member's, or a lane's copy of it; `home` is where all of the member
// lies, of which `me` may be the nearest part.
template <class M>
ZWANG_INLINE void append_event(M& me, M& full_member, Tally<typename M::Real>& tally,
                               const typename M::Event& event, const KernelSettings& settings,
                               const KernelBatch& batch) {
  update_event_measures(me, event);
  if (batch.events && tally.events < batch.event_capacity) {
    constexpr int row = event_row_length(M::n, M::r);
    double* to = batch.events + (full_member.number * batch.event_capacity + tally.events) * row;
    *to++ = double(event.t);
    *to++ = double(int(event.kind));
    *to++ = double(event.watch);
    *to++ = double(event.energy_lost);
    *to++ = event.jump ? 1 : 0;
    ZWANG_REGISTERS for (int i = 0; i < M::r; ++i)* to++ = event.constraints.has(i) ? 1 : 0;
    ZWANG_REGISTERS for (int i = 0; i < M::r; ++i)* to++ = event.reached.has(i) ? 1 : 0;
    ZWANG_REGISTERS for (int i = 0; i < M::r; ++i)* to++ = event.jump ? double(event.impulse[i]) : 0;
    ZWANG_REGISTERS for (int i = 0; i < M::n; ++i)* to++ = event.jump ? double(event.before[i]) : 0;
    ZWANG_REGISTERS for (int i = 0; i < M::n; ++i)* to++ = event.jump ? double(event.after[i]) : 0;
  }
  ++tally.events;
  // Nobody waits for what it was.
  atomic_add(&full_member.event_counts[int(event.kind)], 1U);
  tally.at_last_time = event.t == tally.last_time ? tally.at_last_time + 1 : 1;
  tally.last_time = event.t;
  if (tally.at_last_time > standstill_limit) me.fail(Status::event_lost);
  if (tally.events > settings.max_events) me.fail(Status::event_limit);
}
template <class M>
ZWANG_COLD void record_event_now(M& me, const typename M::Event& event) {
  update_extremes_now(me);
  append_event(me, me, me.tally, event, *me.settings, *me.batch);
}

template <class M>
ZWANG_COLD void flush_accumulation(M& me) {
  if (!me.pending) return;
  me.pending = false;
  me.pending_event.t = minimum(me.pending_event.t, me.t);
  record_event_now(me, me.pending_event);
}

// An accumulation that is still ahead comes first in the list.
template <class M>
ZWANG_DEVICE void record_event(M& me, const typename M::Event& event) {
  flush_accumulation(me);
  record_event_now(me, event);
}

}  // namespace zwang
