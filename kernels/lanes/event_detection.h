// Conservative event detection over a step of all lanes, from values and slopes at both ends, the midpoint
// and the stages. It is heuristic: no event should be missed by functions that these samples represent; a
// false alarm is resolved by root finding.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/lanes/lane_state.h"
#include "kernels/record/measures.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

template <class M, class R>
struct EventDetector {
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  using Mask = typename Lanes<R>::Mask;
  static constexpr int n = M::n, r = M::r, size = M::size, signals = Model::signals;
  // On a CPU, a single lane may branch on its state: branches that rarely change their direction cost
  // nothing.
  static constexpr bool single_cpu_lane = Lanes<R>::count == 1 && ZWANG_STAGES_KEPT;

  const LaneState<M, R>& state;
  const LaneLedger<R, M::rows>& ledger;
  StepInProgress<M, R>& trial;  // mid_f, end_signal and end_values are computed
  StepFlags<M, R>& flags;

  // The state at the midpoint, from both ends: positions by the polynomial of degree 5 through values,
  // velocities and accelerations, the rest by cubics. This is accurate enough for detection.
  ZWANG_INLINE void find_middle(R* middle) const {
    const R half = R(Real(0.5)), eighth = trial.step.h * R(Real(0.125));
    const R* first = trial.step.first();
    const R* final = trial.step.last();
    ZWANG_REGISTERS for (int i = 0; i < n; ++i) {
      const R bend = square(trial.step.h) * R(Real(1.0 / 64)) * (first[i] + final[i]);
      middle[i] = half * (state.y[i] + trial.end[i]) +
                  trial.step.h * R(Real(5.0 / 32)) * (state.y[n + i] - trial.end[n + i]) + bend;
    }
    ZWANG_REGISTERS for (int i = n; i < M::fed_back; ++i) {
      middle[i] = half * (state.y[i] + trial.end[i]) + eighth * (first[i - n] - final[i - n]);
    }
  }

  // Whether there are inequalities on velocities.
  ZWANG_CONSTANT static constexpr bool any_sampled() {
    for (int i = 0; i < r; ++i)
      if (!Model::is_equation(i) && !Model::is_holonomic(i)) return true;
    return false;
  }

  // An open condition cannot cross if it is far below zero compared with the variation and the slopes of its
  // samples, or if the cubic through both ends stays below zero and agrees with the midpoint. An active
  // condition cannot open if its multiplier stays clear of zero. All others may cross.
  ZWANG_INLINE void detect_conditions(const R* middle) const {
    if constexpr (r > 0) {
      R* mid = trial.mid_f;
      const Mask none = no_lanes<R>();
      bool any_open = !single_cpu_lane;
      for (int i = 0; i < r; ++i)
        any_open = any_open || (!Model::is_equation(i) && any(!state.presses_now[i]));
      if (any_open)
        Model::values(state.k, state.t + R(Real(0.5)) * trial.step.h, middle, middle + n, middle + 2 * n,
                      mid);
      R early[M::rows], late[M::rows];
      if constexpr (any_sampled()) {
        if (any_open) {
          R there[M::fed_back];
          const R soon = state_after_start(there);
          Model::values(state.k, soon, there, there + n, there + 2 * n, early);
          const R just_before = state_before_end(state.t + trial.step.h, there);
          Model::values(state.k, just_before, there, there + n, there + 2 * n, late);
        }
      }
      ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
        if (Model::is_equation(i)) continue;
        const Mask active = state.presses_now[i];
        Detection open{none, none}, pressing{none, none};
        if (!single_cpu_lane || !any(active))
          open =
              Model::is_holonomic(i) ? check_cubic(i, mid[i]) : check_samples(i, mid[i], early[i], late[i]);
        if (!single_cpu_lane || any(active)) pressing = check_multiplier(i);
        const Mask now =
            (open.may_cross && (ledger.arming_level[i] > R(0) || ledger.arming_level[i] < R(0))) ||
            (pressing.may_cross && active);
        flags.may_cross[i] = now;
        flags.first_if_at_end[i] = (open.is_first && !active) || (pressing.is_first && active);
        flags.event_possible = flags.event_possible || now;
      }
    }
  }

  // may_cross: a crossing within the step is possible. is_first: if the step ends at zero, it has not crossed
  // before.
  struct Detection {
    Mask may_cross, is_first;
  };

  // A function over the step, from its values at the ends and the midpoint and its slopes at the ends (times
  // the step length): approximately the cubic with the Bezier control points start, p, q, end. The remainder
  // vanishes at both ends together with its slope: about 16 off x^2 (1 - x)^2, where `off` is the difference
  // at the midpoint.
  struct Shape {
    R top, spread, p, q, off, slack;

    ZWANG_INLINE Shape(R start, R mid, R end, R rise, R fall)
        : top(maximum(maximum(start, mid), end)),
          spread(top - minimum(minimum(start, mid), end)),
          p(start + R(Real(1.0 / 3)) * rise),
          q(end - R(Real(1.0 / 3)) * fall),
          off(absolute(mid - (R(Real(0.5)) * (start + end) + R(Real(0.125)) * (rise - fall)))),
          slack(R(Real(0.05)) * (spread + absolute(rise) + absolute(fall))) {}

    // Three samples may be nearly equal although the function rises and falls between them: the slopes show
    // that.
    ZWANG_INLINE Mask reaches(R level) const { return !(top + R(20) * slack < level); }
    ZWANG_INLINE Mask stays_below(R level) const {
      return (off <= slack) && (maximum(maximum(p, q), top) + slack < level);
    }
    // The same for functions without a formula for their slopes: the midpoint must show the cubic more clearly.
    ZWANG_INLINE Mask is_cubic_below(R level) const {
      return (R(10) * off <= slack) && (maximum(maximum(p, q), top) + slack < level);
    }
    // Rising at the start, falling at the end, and not a cubic: its maximum is not bounded by the samples.
    ZWANG_INLINE Mask arches(R start, R end) const { return (off > slack) && (p > start) && (q > end); }
    // Starts downwards, possibly from zero: the cubic is below -depth x, the remainder below 2.4 off x.
    ZWANG_INLINE Mask descends(R start, R end) const {
      const R depth = -maximum(maximum(p, q), end);
      return (R(10) * off <= depth) && (R(0) < depth) && (start <= R(Real(1e-9)) * depth);
    }
    // No crossing before the end if the end is at zero: the function is (1 - x)^3 start + x^3 end + 3 x (1 -
    // x) times p (1 - x)^2 + both x (1 - x) + q x^2, and that is below zero if `both` is, or if its square is
    // below 4 p q. The remainder enters with a factor of 1.5.
    ZWANG_INLINE Mask crosses_last() const {
      const R both = p + q + R(8) * off;
      return (maximum(p, q) < R(0)) && ((both < R(0)) || (square(both) < R(4) * p * q));
    }
  };

  ZWANG_INLINE Detection check_cubic(int i, R mid) const {
    const R rise = trial.step.h * state.f_rate[i], fall = trial.step.h * trial.end_f_rate[i];
    const Shape curve(state.f[i], mid, trial.end_f[i], rise, fall);
    const R p = curve.p, q = curve.q, off = curve.off;
    Mask may_cross = curve.reaches(R(0)) && !curve.stays_below(R(0));
    may_cross = may_cross && !curve.descends(state.f[i], trial.end_f[i]);
    // A condition that has just opened starts from zero without a slope: 3 x^2 (1 - x) q must exceed the
    // remainder. Or even without curvature, as a string whose tension has just vanished: x^3 times the
    // parabola through midpoint and end.
    const R level = -ledger.arming_level[i], third = fall - R(6) * trial.end_f[i] + R(32) * mid;
    const R bent = third + R(Real(0.5)) * (R(17) * trial.end_f[i] - R(3) * fall - R(64) * mid);
    const Mask starts_down = (R(6) * off <= -q) || (maximum(third, bent) < R(0));
    const Mask leaves =
        (level > R(0)) && (state.f[i] <= level) && (p <= level) && starts_down && (trial.end_f[i] < -level);
    may_cross = (may_cross || level > R(0)) && !leaves;
    return {may_cross, curve.crosses_last()};
  }

  // A velocity condition has no formula for its slope: differences over 1/256 of the step at both ends
  // replace it.
  ZWANG_INLINE Detection check_samples(int i, R mid, R early, R late) const {
    const R start = state.f[i], end = trial.end_f[i];
    const Shape curve(start, mid, end, change(start, early), change(late, end));
    const Mask cannot_cross =
        (curve.top + curve.spread < R(0)) && !curve.reaches(R(0)) && !curve.arches(start, end);
    return {!cannot_cross, (mid < R(Real(0.3)) * start) && (start < R(0))};
  }

  // A multiplier, known at every stage: clear of zero, or monotonic over the step and not yet at zero. Stage
  // values are not on the solution itself, and those near the end may be a little below it.
  ZWANG_INLINE Detection check_multiplier(int i) const {
    const R low = lowest_multiplier(i), spread = trial.highest_lambda[i] - low,
            ends = minimum(state.lambda[i], trial.end_lambda[i]);
    const Mask steady = (ends <= low + R(Real(0.005)) * spread) && (low > R(Real(0.02)) * spread);
    return {!((low > R(Real(0.2)) * spread) || steady), low > R(Real(-0.05)) * spread};
  }

  // The lowest value of the stages. Where half of the step has no stage, also of the parabola through both
  // ends and the sample stage.
  ZWANG_INLINE R lowest_multiplier(int i) const {
    const R low = trial.lowest_lambda[i];
    if constexpr (!Method::half_unsampled) return low;
    constexpr Real part = Real(Method::c(Method::sample_stage));
    const R change = trial.end_lambda[i] - state.lambda[i],
            bend = ((trial.sampled_lambda[i] - state.lambda[i]) * R(1 / part) - change) * R(1 / (part - 1));
    const R starts_down = change - bend, arrives = change + bend;
    const R bottom = state.lambda[i] - R(Real(0.25)) * square(starts_down) / bend;
    return select(starts_down < R(0) && arrives > R(0), minimum(low, bottom), low);
  }

  ZWANG_INLINE void detect_signals(R then, const R* middle) const {
    if constexpr (signals > 0) {
      R mid[signals], early[signals], late[signals], there[M::fed_back];
      // Kinks that depend on multipliers need them inside the step too; other models ignore the argument.
      const auto event_value = [&](R when, const R* y, R* out) {
        const R* forces = trial.end_lambda;
        R lambda[M::rows], rate[size];
        if constexpr (Model::signals_forces) {
          right_side<M>(state.k, when, y, state.held, state.any_held, rate, lambda);
          forces = lambda;
        }
        Model::all_signals(state.k, when, y, y + n, y + 2 * n, forces, state.held, out);
      };
      Model::all_signals(state.k, then, trial.end, trial.end + n, trial.end + 2 * n, trial.end_lambda,
                         state.held, trial.end_signal);
      event_value(state.t + R(Real(0.5)) * trial.step.h, middle, mid);
      event_value(state_after_start(there), there, early);
      event_value(state_before_end(then, there), there, late);
      ZWANG_REGISTERS for (int i = 0; i < signals; ++i) {
        const R side = state.side[i], start = side * state.signal[i], end = side * trial.end_signal[i];
        const Shape curve(start, side * mid[i], end, change(start, side * early[i]),
                          change(side * late[i], end));
        const Mask far_below =
            (curve.top + R(2) * curve.spread < R(0)) && !curve.reaches(R(0)) && !curve.arches(start, end);
        Mask cannot_cross = far_below || curve.is_cubic_below(R(0));
        // Transitions whose mode is not in force.
        if constexpr (ModesOf<Model>::any) cannot_cross = cannot_cross || (absolute(side) <= R(0));
        // One that has just crossed starts from zero, exactly.
        const Mask leaves = (absolute(start) <= R(0)) && curve.descends(start, end);
        trial.mid_signal[i] = mid[i];
        flags.signal_may_cross[i] = !cannot_cross && !leaves;
        flags.signal_first_if_at_end[i] = curve.crosses_last();
        flags.signal_event_possible = flags.signal_event_possible || flags.signal_may_cross[i];
      }
      flags.event_possible = flags.event_possible || flags.signal_event_possible;
    }
  }

  // Extremes of measures: the values at both ends enter directly; a maximum between them that may exceed the
  // best value so far is left to the slow path.
  ZWANG_INLINE void detect_extremes(R then, const R* middle) const {
    flags.extremum_possible = no_lanes<R>();
    if constexpr (Model::any_extremes) {
      R mid[M::reductions], early[M::reductions], late[M::reductions], there[M::fed_back], forces[M::rows];
      measure(state.t + R(Real(0.5)) * trial.step.h, middle, mid);
      measure(state_after_start(there), there, early);
      measure(state_before_end(then, there), there, late);
      ZWANG_REGISTERS for (int i = 0; i < r; ++i) { forces[i] = trial.end_lambda[i]; }
      Model::measured(state.k, then, trial.end, trial.end + n, trial.end + 2 * n, forces, state.held,
                      trial.end_values);
      ZWANG_REGISTERS for (int m = 0; m < Model::reductions; ++m) {
        if (!is_extreme<Model>(m)) continue;
        const R sign = R(Reduction(Model::reduction_kind(m)) == Reduction::maximum ? Real(1) : Real(-1));
        flags.extremum_possible = flags.extremum_possible ||
                                  may_peak(sign * state.values[m], sign * early[m], sign * mid[m],
                                           sign * late[m], sign * trial.end_values[m], sign * state.best[m]);
      }
    }
  }

 private:
  static constexpr Real moment = Real(1.0 / 256);  // fraction of the step for difference quotients

  // The state shortly after the start and shortly before the end. Both return the time.
  ZWANG_INLINE R state_after_start(R* there) const {
    const R moved = R(moment) * trial.step.h;
    extrapolate(state.y, trial.step.first(), moved, there);
    return state.t + moved;
  }
  ZWANG_INLINE R state_before_end(R then, R* there) const {
    const R moved = R(-moment) * trial.step.h;
    extrapolate(trial.end, trial.step.last(), moved, there);
    return then + moved;
  }
  ZWANG_INLINE static void extrapolate(const R* y, const R* rate, R time, R* there) {
    ZWANG_REGISTERS for (int i = 0; i < n; ++i) {
      there[i] = y[i] + time * (y[n + i] + R(Real(0.5)) * time * rate[i]);
    }
    ZWANG_REGISTERS for (int i = n; i < M::fed_back; ++i) { there[i] = y[i] + time * rate[i - n]; }
  }

  // The slope times the step length, from the change over `moment`. Changes within rounding count as zero.
  ZWANG_INLINE static R change(R from, R to) {
    const R noise = R(4 * Precision<Real>::epsilon) * maximum(absolute(from), absolute(to));
    const R size = R(1 / moment) * maximum(absolute(to - from) - noise, R(0));
    return if_less(to, from, -size, size);
  }

  ZWANG_INLINE void measure(R when, const R* there, R* out) const {
    R forces[M::rows], rate[size], whole[size];
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) { forces[i] = R(0); }
    if constexpr (Model::measures_forces) {
      ZWANG_REGISTERS for (int i = 0; i < M::fed_back; ++i) { whole[i] = there[i]; }
      ZWANG_REGISTERS for (int i = M::fed_back; i < size; ++i) { whole[i] = R(0); }
      if (state.any_held) right_side<M>(state.k, when, whole, state.held, state.any_held, rate, forces);
    }
    Model::measured(state.k, when, there, there + n, there + 2 * n, forces, state.held, out);
  }

  // Whether a value above `best` is possible between the ends: not if the function stays below it, and not if
  // it falls or rises monotonically over the step.
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
