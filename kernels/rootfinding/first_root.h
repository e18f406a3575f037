// The first upward zero crossing of a function of the fraction x in [0, 1] of a step: bracketing from
// samples, then root finding. `curve(x)` is any callable. src/reference/first_root.h is the reference
// implementation.
#pragma once

#include "kernels/base/portable.h"

namespace zwang {

// Positions of the samples, unevenly spaced, so that a function periodic in the step cannot vanish at all of
// them.
constexpr int sample_count = 7;
ZWANG_CONSTANT constexpr double sample_fraction(int i) {
  constexpr double table[sample_count] = {0, 0.07, 0.23, 0.42, 0.61, 0.81, 1};
  return table[i];
}

template <class Real>
struct Bracket {
  bool found;
  Real below, above;  // curve <= 0 at `below`, > 0 at `above`
};

template <class Real>
struct Peak {
  Real x, value;
};

// The largest value on [left, right]: parabolas through the best three points, golden sections where those
// fail (Brent). The search ends early at a value above `stop_above`.
template <class Real, class Curve>
ZWANG_DEVICE Peak<Real> peak(Real left, Real right, Real stop_above, int tries, const Curve& curve) {
  const Real section = Real(0.3819660112501051), exact = 8 * sqrt(Precision<Real>::epsilon) * Real(0.1);
  Real x = left + section * (right - left), w = x, v = x;
  Real fx = curve(x), fw = fx, fv = fx, move = 0, last = 0;
  for (int i = 0; i < tries && !(fx > stop_above); ++i) {
    const Real middle = Real(0.5) * (left + right), tolerance = exact * (absolute(x) + Real(1e-3));
    if (absolute(x - middle) <= 2 * tolerance - Real(0.5) * (right - left)) break;
    bool golden = true;
    if (absolute(last) > tolerance) {
      // The vertex of the parabola through x, w, v.
      const Real r = (x - w) * (fx - fv);
      Real q = (x - v) * (fx - fw), p = (x - v) * q - (x - w) * r;
      q = 2 * (q - r);
      if (q > 0) p = -p;
      q = absolute(q);
      const Real before = last;
      last = move;
      if (absolute(p) < absolute(Real(0.5) * q * before) && p > q * (left - x) && p < q * (right - x)) {
        move = p / q;
        golden = false;
      }
    }
    if (golden) {
      last = x < middle ? right - x : left - x;
      move = section * last;
    }
    const Real u = absolute(move) >= tolerance ? x + move : x + (move > 0 ? tolerance : -tolerance);
    const Real fu = curve(u);
    if (fu >= fx) {
      (u >= x ? left : right) = x;
      v = w;
      fv = fw;
      w = x;
      fw = fx;
      x = u;
      fx = fu;
    } else {
      (u < x ? left : right) = u;
      if (fu >= fw || w == x) {
        v = w;
        fv = fw;
        w = u;
        fw = fu;
      } else if (fu >= fv || v == x || v == w) {
        v = u;
        fv = fu;
      }
    }
  }
  return {x, fx};
}

// Position of the maximum between a and b of the cubic with these values and slopes; a if it has none there.
template <class Real>
ZWANG_DEVICE Real top_of_cubic(Real a, Real va, Real sa, Real b, Real vb, Real sb) {
  const Real width = b - a, rise = width * sa, bend = 3 * (vb - va) - 2 * rise - width * sb;
  const Real inside = bend * bend - 3 * rise * (2 * (va - vb) + rise + width * sb);
  const Real u = inside > 0 ? rise / (sqrt(inside) - bend) : Real(0);
  return u > 0 && u < 1 ? a + u * width : a;
}

// Two samples at or below zero with a positive maximum between them. The slopes indicate a maximum; close to
// zero the midpoint is evaluated as well: `at_middle`, NaN where it was not needed.
template <class Real, class Curve>
ZWANG_DEVICE Bracket<Real> hidden_rise(Real a, Real va, Real sa, Real b, Real vb, Real sb, const Curve& curve,
                                       Real& at_middle) {
  at_middle = missing<Real>();
  const Real width = b - a, higher = maximum(va, vb);
  const Real reach = absolute(va - vb) + Real(0.5) * width * (absolute(sa) + absolute(sb));
  if (higher + reach <= 0) return {false, 0, 0};
  if (sa > 0 && sb < 0) {
    // A concave curve stays below its tangents at a and b. The slopes are estimates, so they are doubled.
    const Real met = (vb - va - 2 * sb * width) / (2 * (sa - sb));  // intersection of the tangents, from a
    const Real roof = va + 2 * sa * minimum(maximum(met, Real(0)), width);
    if (roof > 0) {
      const Peak<Real> top = peak(a, b, Real(0), 20, curve);
      if (top.value > 0) return {true, a, top.x};
    }
  }
  const Real middle = Real(0.5) * (a + b), top = top_of_cubic(a, va, sa, b, vb, sb);
  at_middle = curve(middle);
  if (at_middle > 0) return {true, a, middle};
  if (top > a && curve(top) > 0) return {true, a, top};
  return {false, 0, 0};
}

// The slope by a difference quotient over at most `longest` to both sides, for curves without a formula for it.
template <class Real, class Curve>
ZWANG_COLD Real difference_slope(Real x, const Curve& curve, Real longest = 1) {
  const Real reach = minimum(longest, sizeof(Real) == sizeof(double) ? Real(1e-5) : Real(5e-3));
  const Real left = maximum(x - reach, Real(0)), right = minimum(x + reach, Real(1));
  return (curve(right) - curve(left)) / (right - left);
}

// The curve at one fraction of the step, with its slope.
template <class Real>
struct Knot {
  Real x, value, slope;
};

// Whether a curve that is at or below zero at a rises through zero at most once up to b, and not at all if it
// is below zero there. Through both knots and the value in the middle passes the polynomial of degree four
// with the Bezier control points
//   va, (va + 3 p)/4, (p + q)/2 + 8/3 off, (3 q + vb)/4, vb,   p = va + w sa/3, q = vb - w sb/3,
// `off` being the distance of the middle from the cubic. Its roots are at most as many as the changes of sign
// of these. What the polynomial misses is taken as half as large as `off`, which the polynomial includes.
template <class Real>
ZWANG_DEVICE bool rises_once(const Knot<Real>& a, const Knot<Real>& b, Real at_middle) {
  const Real third = Real(1.0 / 3) * (b.x - a.x), p = a.value + third * a.slope,
             q = b.value - third * b.slope;
  const Real off =
      Real(8.0 / 3) *
      (at_middle - (Real(0.5) * (a.value + b.value) + Real(0.375) * third * (a.slope - b.slope)));
  const Real doubt = Real(0.5) * absolute(off), centre = Real(0.5) * (p + q) + off;
  const Real second = a.value + 3 * p, fourth = 3 * q + b.value;
  if (b.value <= 0) return second <= 0 && centre + doubt <= 0 && fourth <= 0;
  const bool rising_there = centre - doubt > 0 && fourth > 0,
             rising_later = second <= 0 && centre + doubt <= 0;
  return (second <= 0 && centre - doubt <= 0 && centre + doubt > 0 && fourth > 0) || rising_there ||
         rising_later;
}

// The first rise between two knots where the curve is not as simple as its values there suggest: a small hump
// on a curve that falls far below zero on both sides. Intervals are halved, the first one first, until each has
// one rise at most.
template <class Real, class Curve>
ZWANG_COLD Bracket<Real> rise_by_halving(const Knot<Real>& from, const Knot<Real>& to, Real at_middle,
                                         const Curve& curve) {
  constexpr int depth = sizeof(Real) == sizeof(double) ? 10 : 7;
  constexpr int most = 64;                  // halvings; a curve that is rounding around zero would take all
  Knot<Real> left = from, ends[depth + 1];  // the intervals still to be searched, the first one last
  Real middles[depth + 1];
  int count = 1;
  ends[0] = to;
  middles[0] = at_middle;
  for (int halvings = 0; count > 0;) {
    const Knot<Real> right = ends[count - 1];
    const Real x = Real(0.5) * (left.x + right.x), value = middles[count - 1];
    const bool rises = right.value > 0;
    if (count > depth || halvings == most || rises_once(left, right, value)) {
      if (rises) return {true, left.x, right.x};
      left = right;
      --count;
      continue;
    }
    ++halvings;
    middles[count - 1] = curve(Real(0.5) * (x + right.x));
    ends[count] = {x, value, difference_slope(x, curve, Real(0.0625) * (right.x - left.x))};
    middles[count++] = curve(Real(0.5) * (left.x + x));
  }
  return {false, 0, 0};
}

// A start at zero may be followed by a rise and fall within the first interval: the curve is sampled at
// repeatedly halved distances. A curve that starts downwards and whose first sample is near the tangent has
// no such rise. Values above `margin` are not rounding errors.
template <class Real, class Curve>
ZWANG_COLD Bracket<Real> early_rise(const Real* samples, Real start_slope, Real margin, const Curve& curve) {
  const Real straight = start_slope * Real(sample_fraction(1));
  if (straight < 0 && samples[1] < Real(0.25) * straight && samples[1] > 4 * straight) return {false, 0, 0};
  constexpr int last = 7;
  Real x[last + 1], value[last + 1];  // from the right: two samples, then halved distances
  for (int i = 0; i < 2; ++i) {
    x[i] = Real(sample_fraction(2 - i));
    value[i] = samples[2 - i];
  }
  for (int i = 2; i <= last; ++i) {
    x[i] = x[i - 1] / 2;
    value[i] = curve(x[i]);
  }
  // Still positive at the smallest distance: the rise is a thousand times shorter than the step.
  if (value[last] > margin) {
    Real above = x[last], below = above;
    for (int i = 0; i < 12; ++i) {
      below /= 2;
      const Real there = curve(below);
      if (there < 0) return {true, below, above};
      if (there > 0) above = below;
    }
  }
  for (int i = last; i > 1; --i) {
    if (value[i] > 0) continue;
    if (value[i - 1] > 0) return {true, x[i], x[i - 1]};
    // A maximum between two samples: the values rise towards them from both sides.
    if (i < last && value[i] >= value[i + 1] && value[i - 1] >= value[i - 2] &&
        2 * maximum(value[i], value[i - 1]) > minimum(value[i + 1], value[i - 2])) {
      const Peak<Real> top = peak(x[i], x[i - 1], Real(0), 20, curve);
      if (top.value > 0) return {true, x[i], top.x};
    }
  }
  return {false, 0, 0};
}

// The first sample is above zero and the start is at zero: find a point below zero before the rise, and check
// a few halved distances further for an earlier rise.
template <class Real, class Curve>
ZWANG_COLD Bracket<Real> rise_from_start(Real first_sample, Real margin, const Curve& curve) {
  Real x = Real(sample_fraction(1)), above = x, below = 0;
  int checks = 0;  // evaluations since a point below zero was found
  for (int halvings = 0; halvings < 45 && checks < 6; ++halvings) {
    x /= 2;
    const Real there = curve(x);
    if (there > (checks > 0 ? margin : Real(0))) {  // after that, rounding errors do not count as a rise
      above = x;
      checks = 0;
    } else if (checks > 0 || there < 0) {
      if (checks++ == 0) below = x;
    }
  }
  if (checks > 0) return {true, below, above};
  return {true, 0, first_sample < 0 ? x : Real(0)};
}

// Estimated slopes at the samples, by the parabola through three neighbours.
template <class Real>
ZWANG_DEVICE void guess_slopes(const Real* samples, Real* slope) {
  for (int i = 0; i < sample_count; ++i) {
    const int j = i == 0 ? 1 : i == sample_count - 1 ? sample_count - 2 : i;
    const Real x0 = Real(sample_fraction(j - 1)), x1 = Real(sample_fraction(j)),
               x2 = Real(sample_fraction(j + 1));
    const Real d1 = (samples[j] - samples[j - 1]) / (x1 - x0), d2 = (samples[j + 1] - samples[j]) / (x2 - x1);
    const Real bend = (d2 - d1) / (x2 - x0);
    slope[i] = d1 + bend * (2 * Real(sample_fraction(i)) - x0 - x1);
  }
}

// Brackets the first rise through zero. `samples` are the values at the sample fractions, `slope_of(i)` the
// slope there, NaN where not known. The start counts as below zero even if rounding makes it positive: the
// caller knows the sign of the function there. Values above `margin` are not rounding errors.
template <class Real, class Slope, class Curve>
ZWANG_DEVICE Bracket<Real> first_rise(const Real* samples, Real margin, const Slope& slope_of,
                                      const Curve& curve) {
  Real low = samples[0], high = samples[0];
  for (int i = 1; i < sample_count; ++i) {
    low = minimum(low, samples[i]);
    high = maximum(high, samples[i]);
  }
  // So far below zero that a function with this variation cannot reach it.
  if (high + (high - low) < 0) return {false, 0, 0};
  const bool on_boundary = samples[0] > Real(-1e-6) * (high - low);
  if (samples[1] <= 0 && on_boundary) {
    const Bracket<Real> found = early_rise(samples, slope_of(0), margin, curve);
    if (found.found) return found;
  }
  Real slope[sample_count];
  guess_slopes(samples, slope);
  // Estimated slopes are wrong near sharp maxima (flight past a small disk). Exact slopes are computed where
  // they matter.
  int known = -1;
  bool exact = true;  // slopes have a formula or are differences of the curve
  const auto require_slope = [&](int i) {
    if (i <= known) return;
    known = i;
    const Real there = slope_of(i);
    if (there == there)
      slope[i] = there;
    else
      exact = false;
  };
  const auto knot = [&](int i, Real value) { return Knot<Real>{Real(sample_fraction(i)), value, slope[i]}; };
  for (int i = 1; i < sample_count; ++i) {
    const Real a = Real(sample_fraction(i - 1)), b = Real(sample_fraction(i));
    if (samples[i] > 0 && i == 1 && on_boundary) return rise_from_start(samples[0], margin, curve);
    const Real before = i == 1 ? minimum(samples[0], Real(0)) : samples[i - 1];
    if (samples[i] > 0) {
      // It may have risen earlier in this interval and fallen again.
      require_slope(i - 1);
      require_slope(i);
      const Knot<Real> left = knot(i - 1, before), right = knot(i, samples[i]);
      const Real at_middle = exact ? curve(Real(0.5) * (a + b)) : Real(0);
      if (exact && !rises_once(left, right, at_middle)) return rise_by_halving(left, right, at_middle, curve);
      const Real top = top_of_cubic(a, before, slope[i - 1], b, samples[i], slope[i]);
      return {true, a, top > a && curve(top) > 0 ? top : b};
    }
    // Slopes guessed from neighbours may vanish beside a hump: near zero, measured by the range of all samples,
    // the exact ones decide.
    const Real reach =
        maximum(Real(0.1) * (high - low),
                absolute(before - samples[i]) + (b - a) * (absolute(slope[i - 1]) + absolute(slope[i])));
    if (maximum(before, samples[i]) + reach <= 0) continue;
    require_slope(i - 1);
    require_slope(i);
    Real at_middle;
    Bracket<Real> found = hidden_rise(a, before, slope[i - 1], b, samples[i], slope[i], curve, at_middle);
    const Knot<Real> left = knot(i - 1, before), right = knot(i, samples[i]);
    if (!found.found && exact && at_middle == at_middle && !rises_once(left, right, at_middle))
      found = rise_by_halving(left, right, at_middle, curve);
    if (found.found) return found;
  }
  return {false, 0, 0};
}

// A root inside the bracket, to a few roundings of the step: inverse quadratic interpolation where the last
// three points allow it, bisection where they do not (T. R. Chandrupatla, Advances in Engineering Software 28
// (1997) 145).
template <class Real, class Curve>
ZWANG_DEVICE Real root(const Bracket<Real>& bracket, const Curve& curve) {
  Real a = bracket.above, b = bracket.below;  // the newest point, and the other end of the bracket
  if (a == b) return a;
  Real fa = curve(a), fb = minimum(curve(b), Real(0)), c = b, fc = fb,
       t = fa > fb ? fa / (fa - fb) : Real(0.5);
  for (int i = 0; i < 60; ++i) {
    const Real tolerance = 64 * Precision<Real>::epsilon * maximum(a, b), width = absolute(b - a);
    if (!(width > tolerance)) break;
    const Real least = Real(0.5) * tolerance / width;
    t = minimum(maximum(t, least), 1 - least);
    const Real x = a + t * (b - a), fx = curve(x);
    if (fx == 0) return x;
    const bool same = (fx > 0) == (fa > 0);
    c = same ? a : b;
    fc = same ? fa : fb;
    if (!same) {
      b = a;
      fb = fa;
    }
    a = x;
    fa = fx;
    const Real xi = (a - b) / (c - b), phi = (fa - fb) / (fc - fb);
    const bool smooth = phi * phi < xi && (1 - phi) * (1 - phi) < 1 - xi;
    t = smooth ? fa / (fb - fa) * (fc / (fb - fc)) + (c - a) / (b - a) * (fa / (fc - fa)) * (fb / (fc - fb))
               : Real(0.5);
  }
  return fa > 0 ? a : b;
}

}  // namespace zwang
