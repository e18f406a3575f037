// Whether anything may have happened within a step all lanes have taken: asked of both ends, the middle and the stages, the
// same questions for every lane. Nothing that happens goes unheard; what is heard may turn out to be nothing.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/record/measures.h"
#include "kernels/simd/pack.h"

namespace zwang {

template <class LaneGroup>
struct EventDetector {
  using M = typename LaneGroup::Member;
  using R = typename LaneGroup::Number;
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  using Mask = typename Lanes<R>::Mask;
  static constexpr int n = M::n, r = M::r, size = M::size, signals = Model::signals;
  LaneGroup& group;

  // The state half-way, from both ends: positions by the polynomial of degree 5 through values, velocities and
  // accelerations, the rest by cubics. Good enough to ask whether anything may have happened.
  ZWANG_INLINE void find_middle(R* middle) const {
    const R half = R(Real(0.5)), eighth = group.step.h * R(Real(0.125));
    const R* first = group.step.first();
    const R* final = group.step.last();
    ZWANG_REGISTERS for (int i = 0; i < n; ++i) {
      const R bend = square(group.step.h) * R(Real(1.0 / 64)) * (first[i] + final[i]);
      middle[i] = half * (group.y[i] + group.end[i]) +
                  group.step.h * R(Real(5.0 / 32)) * (group.y[n + i] - group.end[n + i]) + bend;
    }
    ZWANG_REGISTERS for (int i = n; i < M::fed_back; ++i) middle[i] =
        half * (group.y[i] + group.end[i]) + eighth * (first[i - n] - final[i - n]);
  }

  // Inequalities on velocities.
  ZWANG_CONSTANT static constexpr bool any_sampled() {
    for (int i = 0; i < r; ++i)
      if (!Model::is_equation(i) && !Model::is_holonomic(i)) return true;
    return false;
  }

  // Open conditions far below zero for all the samples' variation and slopes are quiet; nearer ones when the cubic through
  // both ends stays below zero and describes the middle. Pressing ones when their multiplier keeps clear of zero. Whatever
  // is not quiet is looked for, or looked at carefully, lane by lane.
  ZWANG_INLINE void detect_conditions(const R* middle) const {
    if constexpr (r > 0) {
      R* mid = group.mid_f;
      const Mask none = R(1) < R(0);
      bool any_open = !LaneGroup::single_cpu_lane;
      for (int i = 0; i < r; ++i)
        any_open = any_open || (!Model::is_equation(i) && any(!group.presses_now[i]));
      if (any_open)
        Model::values(group.k, group.t + R(Real(0.5)) * group.step.h, middle, middle + n, middle + 2 * n,
                      mid);
      R early[M::rows], late[M::rows];
      if constexpr (any_sampled()) {
        if (any_open) {
          R there[M::fed_back];
          const R soon = find_early(there);
          Model::values(group.k, soon, there, there + n, there + 2 * n, early);
          const R just_before = find_late(group.t + group.step.h, there);
          Model::values(group.k, just_before, there, there + n, there + 2 * n, late);
        }
      }
      ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
        if (Model::is_equation(i)) continue;
        const Mask held_down = group.presses_now[i];
        Detection open{none, none}, pressing{none, none};
        if (!LaneGroup::single_cpu_lane || !any(held_down))
          open =
              Model::is_holonomic(i) ? check_cubic(i, mid[i]) : check_samples(i, mid[i], early[i], late[i]);
        if (!LaneGroup::single_cpu_lane || any(held_down)) pressing = check_multiplier(i);
        const Mask now = (open.may_cross &&
                          (group.ledger.arming_level[i] > R(0) || group.ledger.arming_level[i] < R(0))) ||
                         (pressing.may_cross && held_down);
        group.may_cross[i] = now;
        group.first_if_at_end[i] = (open.is_first && !held_down) || (pressing.is_first && held_down);
        group.event_possible = group.event_possible || now;
      }
    }
  }

  // near: something may have happened. first: if the step ends at zero, that is the first time.
  struct Detection {
    Mask may_cross, is_first;
  };

  // A curve over the step, told by its ends, its middle and its slopes at the ends (times the step): nearly the cubic whose
  // control points are start, p, q, end. What that misses vanishes at both ends with its slope: about 16 off x^2 (1 - x)^2
  // where it misses the middle by `off`.
  struct Shape {
    R top, spread, p, q, off, slack;

    ZWANG_INLINE Shape(R start, R mid, R end, R rise, R fall)
        : top(maximum(maximum(start, mid), end)),
          spread(top - minimum(minimum(start, mid), end)),
          p(start + R(Real(1.0 / 3)) * rise),
          q(end - R(Real(1.0 / 3)) * fall),
          off(absolute(mid - (R(Real(0.5)) * (start + end) + R(Real(0.125)) * (rise - fall)))),
          slack(R(Real(0.05)) * (spread + absolute(rise) + absolute(fall))) {}

    // Three samples may happen to lie side by side on a curve that goes up and down between them: its slopes tell.
    ZWANG_INLINE Mask reaches(R level) const { return !(top + R(20) * slack < level); }
    ZWANG_INLINE Mask stays_below(R level) const {
      return (off <= slack) && (maximum(maximum(p, q), top) + slack < level);
    }
    // Up at the start, down at the end, and no cubic: there is no saying how high it goes.
    ZWANG_INLINE Mask arches(R start, R end) const { return (off > slack) && (p > start) && (q > end); }
  };

  ZWANG_INLINE Detection check_cubic(int i, R mid) const {
    const R rise = group.step.h * group.f_rate[i], fall = group.step.h * group.end_f_rate[i];
    const Shape curve(group.f[i], mid, group.end_f[i], rise, fall);
    const R p = curve.p, q = curve.q, off = curve.off;
    Mask may_cross = curve.reaches(R(0)) && !curve.stays_below(R(0));
    // Or it sets off downwards, from zero perhaps: the cubic is below -depth x, what it misses below 2.4 off x.
    const R depth = -maximum(maximum(p, q), group.end_f[i]);
    may_cross =
        may_cross && !((R(10) * off <= depth) && (R(0) < depth) && (group.f[i] <= R(Real(1e-9)) * depth));
    // Left a moment ago, it sets off from zero without a slope: 3 x^2 (1 - x) q is larger than what is missed. Or even
    // without a bend, as a string whose force has just ended: x^3 times the parabola that fits the middle and the end.
    const R level = -group.ledger.arming_level[i], third = fall - R(6) * group.end_f[i] + R(32) * mid;
    const R bent = third + R(Real(0.5)) * (R(17) * group.end_f[i] - R(3) * fall - R(64) * mid);
    const Mask sets_off = (R(6) * off <= -q) || (maximum(third, bent) < R(0));
    const Mask leaves =
        (level > R(0)) && (group.f[i] <= level) && (p <= level) && sets_off && (group.end_f[i] < -level);
    may_cross = (may_cross || level > R(0)) && !leaves;
    // Up to a rise at the end: the curve is (1 - x)^3 f + x^3 end_f + 3 x (1 - x) times p (1 - x)^2 + both x (1 - x) + q x^2,
    // and that is below zero when `both` is, or when its square is below 4 p q. Off counts half as much again.
    const R both = p + q + R(8) * off;
    const Mask below = (both < R(0)) || (square(both) < R(4) * p * q);
    return {may_cross, (maximum(p, q) < R(0)) && below};
  }

  // A velocity condition has no slope of its own: what it has risen to a moment after the start, and a moment before the end.
  ZWANG_INLINE Detection check_samples(int i, R mid, R early, R late) const {
    const R start = group.f[i], end = group.end_f[i];
    const Shape curve(start, mid, end, change(start, early), change(late, end));
    const Mask quiet = (curve.top + curve.spread < R(0)) && !curve.reaches(R(0)) && !curve.arches(start, end);
    return {!quiet, (mid < R(Real(0.3)) * start) && (start < R(0))};
  }

  // A multiplier, seen at every stage: clear of zero, or falling (rising) all the way and not there yet. Stages are not on the
  // curve itself, and those near the end may be a little below it.
  ZWANG_INLINE Detection check_multiplier(int i) const {
    const R low = lowest_multiplier(i), spread = group.high[i] - low,
            ends = minimum(group.lambda[i], group.end_lambda[i]);
    const Mask steady = (ends <= low + R(Real(0.005)) * spread) && (low > R(Real(0.02)) * spread);
    return {!((low > R(Real(0.2)) * spread) || steady), low > R(Real(-0.05)) * spread};
  }

  // Of the stages; and where they leave half of the step unseen, of the parabola through the ends and the witness as well.
  ZWANG_INLINE R lowest_multiplier(int i) const {
    const R low = group.low[i];
    if constexpr (!Method::half_unsampled) return low;
    constexpr Real part = Real(Method::c(Method::sample_stage));
    const R change = group.end_lambda[i] - group.lambda[i],
            bend = ((group.sampled_lambda[i] - group.lambda[i]) * R(1 / part) - change) * R(1 / (part - 1));
    const R sets_off = change - bend, arrives = change + bend;
    const R bottom = group.lambda[i] - R(Real(0.25)) * square(sets_off) / bend;
    return select(sets_off < R(0) && arrives > R(0), minimum(low, bottom), low);
  }

  ZWANG_INLINE void detect_signals(R then, const R* middle) const {
    if constexpr (signals > 0) {
      R mid[signals], early[signals], late[signals], there[M::fed_back];
      const auto event_value = [&](R when, const R* y, R* out) {
        Model::all_signals(group.k, when, y, y + n, y + 2 * n, out);
      };
      event_value(then, group.end, group.end_signal);
      event_value(group.t + R(Real(0.5)) * group.step.h, middle, mid);
      event_value(find_early(there), there, early);
      event_value(find_late(then, there), there, late);
      ZWANG_REGISTERS for (int i = 0; i < signals; ++i) {
        const R side = group.side[i], start = side * group.signal[i], end = side * group.end_signal[i];
        const Shape curve(start, side * mid[i], end, change(start, side * early[i]),
                          change(side * late[i], end));
        const Mask quiet =
            (curve.top + R(2) * curve.spread < R(0)) && !curve.reaches(R(0)) && !curve.arches(start, end);
        group.signal_event_possible = group.signal_event_possible || !quiet;
      }
      group.event_possible = group.event_possible || group.signal_event_possible;
    }
  }

  // Extremes of measures: both ends are seen here; a hump in between that might beat what is known is looked at.
  ZWANG_INLINE void detect_extremes(R then, const R* middle) const {
    group.extremum_possible = R(1) < R(0);
    if constexpr (Model::any_extremes) {
      R mid[M::measures], early[M::measures], late[M::measures], there[M::fed_back], forces[M::rows];
      measure(group.t + R(Real(0.5)) * group.step.h, middle, mid);
      measure(find_early(there), there, early);
      measure(find_late(then, there), there, late);
      ZWANG_REGISTERS for (int i = 0; i < r; ++i) forces[i] = group.end_lambda[i];
      Model::measured(group.k, then, group.end, group.end + n, group.end + 2 * n, forces, group.held,
                      group.end_values);
      ZWANG_REGISTERS for (int m = 0; m < Model::measures; ++m) {
        if (!is_extreme<Model>(m)) continue;
        const R sign = R(Reduction(Model::measure_reduction(m)) == Reduction::maximum ? Real(1) : Real(-1));
        group.extremum_possible = group.extremum_possible ||
                                  may_peak(sign * group.values[m], sign * early[m], sign * mid[m],
                                           sign * late[m], sign * group.end_values[m], sign * group.best[m]);
      }
    }
  }

 private:
  static constexpr Real moment = Real(1.0 / 256);  // of a step

  // The motion a moment after the start, and a moment before the end. Returns when that is.
  ZWANG_INLINE R find_early(R* there) const {
    const R moved = R(moment) * group.step.h;
    go(group.y, group.step.first(), moved, there);
    return group.t + moved;
  }
  ZWANG_INLINE R find_late(R then, R* there) const {
    const R moved = R(-moment) * group.step.h;
    go(group.end, group.step.last(), moved, there);
    return then + moved;
  }
  ZWANG_INLINE static void go(const R* y, const R* rate, R time, R* there) {
    ZWANG_REGISTERS for (int i = 0; i < n; ++i) there[i] =
        y[i] + time * (y[n + i] + R(Real(0.5)) * time * rate[i]);
    ZWANG_REGISTERS for (int i = n; i < M::fed_back; ++i) there[i] = y[i] + time * rate[i - n];
  }

  // Over a whole step, by what it is within a moment. Roundings are no slope.
  ZWANG_INLINE static R change(R from, R to) {
    const R noise = R(4 * Precision<Real>::epsilon) * maximum(absolute(from), absolute(to));
    const R size = R(1 / moment) * maximum(absolute(to - from) - noise, R(0));
    return if_less(to, from, -size, size);
  }

  ZWANG_INLINE void measure(R when, const R* there, R* out) const {
    R forces[M::rows], rate[size], whole[size];
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) forces[i] = R(0);
    if constexpr (Model::measures_forces) {
      ZWANG_REGISTERS for (int i = 0; i < M::fed_back; ++i) whole[i] = there[i];
      ZWANG_REGISTERS for (int i = M::fed_back; i < size; ++i) whole[i] = R(0);
      if (group.any_held) right_side<M>(group.k, when, whole, group.held, group.any_held, rate, forces);
    }
    Model::measured(group.k, when, there, there + n, there + 2 * n, forces, group.held, out);
  }

  // Between the ends, above what is known: not where the curve is below that all the way, nor where it goes all the way down
  // from the start or up to the end.
  ZWANG_INLINE static Mask may_peak(R start, R early, R mid, R late, R end, R best) {
    const R rise = change(start, early), fall = change(late, end);
    const Shape curve(start, mid, end, rise, fall);
    const R level = best + R(16 * Precision<Real>::epsilon) * absolute(best), off = curve.off;
    const Mask below = !curve.reaches(level) && !curve.arches(start, end);
    const Mask down = (rise <= R(-8) * off) && (curve.q <= start - R(4) * off) && (end <= start);
    const Mask up = (fall >= R(8) * off) && (curve.p <= end - R(4) * off) && (start <= end);
    return !(below || curve.stays_below(level) || down || up);
  }
};

}  // namespace zwang
