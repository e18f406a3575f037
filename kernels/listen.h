// Whether anything may have happened within a step all lanes have taken: asked of both ends, the middle and the stages, the
// same questions for every lane. Nothing that happens goes unheard; what is heard may turn out to be nothing.
#pragma once

#include "kernels/attend.h"

namespace zwang {

template <class Crew>
struct Listener {
  using M = typename Crew::Member;
  using R = typename Crew::Number;
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  using Mask = typename Lanes<R>::Mask;
  static constexpr int n = M::n, r = M::r, size = M::size, signals = Model::signals;
  Crew& crew;

  // The state half-way, from both ends: positions by the polynomial of degree 5 through values, velocities and
  // accelerations, the rest by cubics. Good enough to ask whether anything may have happened.
  ZWANG_INLINE void find_middle(R* middle) const {
    const R half = R(Real(0.5)), eighth = crew.step.h * R(Real(0.125));
    const R* first = crew.step.first();
    const R* final = crew.step.last();
    ZWANG_REGISTERS for (int i = 0; i < n; ++i) {
      const R bend = square(crew.step.h) * R(Real(1.0 / 64)) * (first[i] + final[i]);
      middle[i] = half * (crew.y[i] + crew.end[i]) +
                  crew.step.h * R(Real(5.0 / 32)) * (crew.y[n + i] - crew.end[n + i]) + bend;
    }
    ZWANG_REGISTERS for (int i = n; i < M::fed_back; ++i) middle[i] =
        half * (crew.y[i] + crew.end[i]) + eighth * (first[i - n] - final[i - n]);
  }

  // Open conditions far below zero for all the samples' variation and slopes are quiet; nearer ones when the cubic through
  // both ends stays below zero and describes the middle. Pressing ones when their multiplier keeps clear of zero. Whatever
  // is not quiet is looked for, or looked at carefully, lane by lane.
  ZWANG_INLINE void listen_to_conditions(const R* middle) const {
    if constexpr (r > 0) {
      R* mid = crew.mid_f;
      const Mask none = R(1) < R(0);
      bool any_open = !Crew::lone;
      for (int i = 0; i < r; ++i) any_open = any_open || (!Model::is_equation(i) && any(!crew.pressed[i]));
      if (any_open)
        Model::values(crew.k, crew.t + R(Real(0.5)) * crew.step.h, middle, middle + n, middle + 2 * n, mid);
      ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
        if (Model::is_equation(i)) continue;
        const Mask held_down = crew.pressed[i];
        Verdict open{none, none}, pressing{none, none};
        if (!Crew::lone || !any(held_down))
          open = Model::is_holonomic(i) ? listen_to_cubic(i, mid[i]) : listen_to_samples(i, mid[i]);
        if (!Crew::lone || any(held_down)) pressing = listen_to_force(i);
        const Mask now = (open.near && (crew.ledger.watched[i] > R(0) || crew.ledger.watched[i] < R(0))) ||
                         (pressing.near && held_down);
        crew.heard[i] = now;
        crew.foremost[i] = (open.first && !held_down) || (pressing.first && held_down);
        crew.loud = crew.loud || now;
      }
    }
  }

  // near: something may have happened. first: if the step ends at zero, that is the first time.
  struct Verdict {
    Mask near, first;
  };

  // The curve of an open condition: nearly the cubic through both ends, whose control points are f, p, q, end_f. What the
  // cubic misses vanishes at both ends with its slope: about 16 off x^2 (1 - x)^2 where it misses the middle by `off`.
  ZWANG_INLINE Verdict listen_to_cubic(int i, R mid) const {
    const R top = maximum(maximum(crew.f[i], mid), crew.end_f[i]),
            bottom = minimum(minimum(crew.f[i], mid), crew.end_f[i]);
    const R spread = top - bottom, rise = crew.step.h * crew.f_rate[i],
            fall = crew.step.h * crew.end_f_rate[i];
    const R p = crew.f[i] + R(Real(1.0 / 3)) * rise, q = crew.end_f[i] - R(Real(1.0 / 3)) * fall;
    const R cubic = R(Real(0.5)) * (crew.f[i] + crew.end_f[i]) + R(Real(0.125)) * (rise - fall);
    const R slack = R(Real(0.05)) * (spread + absolute(rise) + absolute(fall)), off = absolute(mid - cubic);
    // Three samples may happen to lie side by side on a curve that goes up and down between them: its slopes tell.
    Mask near = !(top + R(20) * slack < R(0));
    near = near && !((off <= slack) && (maximum(maximum(p, q), top) + slack < R(0)));
    // Or it sets off downwards, from zero perhaps: the cubic is below -depth x, what it misses below 2.4 off x.
    const R depth = -maximum(maximum(p, q), crew.end_f[i]);
    near = near && !((R(10) * off <= depth) && (R(0) < depth) && (crew.f[i] <= R(Real(1e-9)) * depth));
    // Left a moment ago, it sets off from zero without a slope: 3 x^2 (1 - x) q is larger than what is missed. Or even
    // without a bend, as a string whose force has just ended: x^3 times the parabola that fits the middle and the end.
    const R level = -crew.ledger.watched[i], third = fall - R(6) * crew.end_f[i] + R(32) * mid;
    const R bent = third + R(Real(0.5)) * (R(17) * crew.end_f[i] - R(3) * fall - R(64) * mid);
    const Mask sets_off = (R(6) * off <= -q) || (maximum(third, bent) < R(0));
    const Mask leaves =
        (level > R(0)) && (crew.f[i] <= level) && (p <= level) && sets_off && (crew.end_f[i] < -level);
    near = (near || level > R(0)) && !leaves;
    // Up to a rise at the end: the curve is (1 - x)^3 f + x^3 end_f + 3 x (1 - x) times p (1 - x)^2 + both x (1 - x) + q x^2,
    // and that is below zero when `both` is, or when its square is below 4 p q. Off counts half as much again.
    const R both = p + q + R(8) * off;
    const Mask below = (both < R(0)) || (square(both) < R(4) * p * q);
    return {near, (maximum(p, q) < R(0)) && below};
  }

  // A velocity condition has no slope of its own: the parabola through three points.
  ZWANG_INLINE Verdict listen_to_samples(int i, R mid) const {
    const R top = maximum(maximum(crew.f[i], mid), crew.end_f[i]),
            bottom = minimum(minimum(crew.f[i], mid), crew.end_f[i]);
    return {!(top + (top - bottom) < R(0)), (mid < R(Real(0.3)) * crew.f[i]) && (crew.f[i] < R(0))};
  }

  // A multiplier, seen at every stage: clear of zero, or falling (rising) all the way and not there yet. Stages are not on the
  // curve itself, and those near the end may be a little below it.
  ZWANG_INLINE Verdict listen_to_force(int i) const {
    const R low = lowest_force(i), spread = crew.high[i] - low,
            ends = minimum(crew.lambda[i], crew.end_lambda[i]);
    const Mask steady = (ends <= low + R(Real(0.005)) * spread) && (low > R(Real(0.02)) * spread);
    return {!((low > R(Real(0.2)) * spread) || steady), low > R(Real(-0.05)) * spread};
  }

  // Of the stages; and where they leave half of the step unseen, of the parabola through the ends and the witness as well.
  ZWANG_INLINE R lowest_force(int i) const {
    const R low = crew.low[i];
    if constexpr (!Method::unseen_half) return low;
    constexpr Real part = Real(Method::c(Method::witness));
    const R change = crew.end_lambda[i] - crew.lambda[i],
            bend = ((crew.via_lambda[i] - crew.lambda[i]) * R(1 / part) - change) * R(1 / (part - 1));
    const R sets_off = change - bend, arrives = change + bend;
    const R bottom = crew.lambda[i] - R(Real(0.25)) * square(sets_off) / bend;
    return select(sets_off < R(0) && arrives > R(0), minimum(low, bottom), low);
  }

  ZWANG_INLINE void listen_to_signals(R then, const R* middle) const {
    if constexpr (signals > 0) {
      R mid[signals];
      Model::all_signals(crew.k, then, crew.end, crew.end + n, crew.end + 2 * n, crew.end_signal);
      Model::all_signals(crew.k, crew.t + R(Real(0.5)) * crew.step.h, middle, middle + n, middle + 2 * n,
                         mid);
      ZWANG_REGISTERS for (int i = 0; i < signals; ++i) {
        const R a = crew.side[i] * crew.signal[i], b = crew.side[i] * mid[i],
                c = crew.side[i] * crew.end_signal[i];
        const R top = maximum(maximum(a, b), c), spread = top - minimum(minimum(a, b), c);
        crew.noisy = crew.noisy || !(top + R(2) * spread < R(0));
      }
      crew.loud = crew.loud || crew.noisy;
    }
  }

  // Extremes of measures: both ends are seen here; a hump in between that might beat what is known is looked at.
  ZWANG_INLINE void listen_to_extremes(R then, const R* middle) const {
    crew.hump = R(1) < R(0);
    if constexpr (Model::any_extremes) {
      R mid[M::measures], forces[M::rows], rate[size], there[size];
      ZWANG_REGISTERS for (int i = 0; i < M::fed_back; ++i) there[i] = middle[i];
      ZWANG_REGISTERS for (int i = M::fed_back; i < size; ++i) there[i] = R(0);
      const R half = crew.t + R(Real(0.5)) * crew.step.h;
      ZWANG_REGISTERS for (int i = 0; i < r; ++i) forces[i] = R(0);
      if constexpr (Model::measures_forces)
        if (crew.any_held) right_side<M>(crew.k, half, there, crew.held, crew.any_held, rate, forces);
      Model::measured(crew.k, half, middle, middle + n, middle + 2 * n, forces, crew.held, mid);
      ZWANG_REGISTERS for (int i = 0; i < r; ++i) forces[i] = crew.end_lambda[i];
      Model::measured(crew.k, then, crew.end, crew.end + n, crew.end + 2 * n, forces, crew.held,
                      crew.end_values);
      ZWANG_REGISTERS for (int m = 0; m < Model::measures; ++m) {
        if (!is_extreme<Model>(m)) continue;
        const R sign = R(Reduction(Model::measure_reduction(m)) == Reduction::maximum ? Real(1) : Real(-1));
        const R a = sign * crew.values[m], b = sign * mid[m], c = sign * crew.end_values[m];
        const R top = maximum(maximum(a, b), c), spread = top - minimum(minimum(a, b), c);
        // Slopes of the parabola at the ends; a straight line has the spread for both. Those of the curve itself may be
        // off by half of that, and a hump beside an end is missed by whoever believes them.
        const R up = R(4) * b - R(3) * a - c, down = a - R(4) * b + R(3) * c;
        const Mask humped = !(up <= R(Real(-0.6)) * spread) && !(down >= R(Real(0.6)) * spread);
        crew.hump = crew.hump || (humped && !(top + spread <= sign * crew.best[m]));
      }
    }
  }
};

}  // namespace zwang
