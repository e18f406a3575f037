// Where a curve over a step, a function of the fraction x in [0, 1], first rises above zero; src/crossing.h is the
// reference. `curve(x)` is any callable.
#pragma once

#include "kernels/portable.h"

namespace zwang {

// Unevenly spaced, so that something periodic in the step cannot hide between the samples by resonance.
constexpr int sample_count = 11;
ZWANG_DEVICE constexpr double sample_fraction(int i) {
  constexpr double table[sample_count] = {0, 0.043, 0.13, 0.23, 0.34, 0.45, 0.57, 0.68, 0.79, 0.9, 1};
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

// The largest value on [left, right] by golden sections; `stop_above`: any value beyond it will do.
template <class Real, class Curve>
ZWANG_DEVICE Peak<Real> peak(Real left, Real right, Real stop_above, const Curve& curve) {
  const Real section = Real(0.6180339887498949);
  Real x1 = right - section * (right - left), x2 = left + section * (right - left);
  Real f1 = curve(x1), f2 = curve(x2);
  for (int i = 0; i < 60 && right - left > Real(1e-9); ++i) {
    if (f1 > stop_above || f2 > stop_above) break;
    if (f1 < f2) {
      left = x1;
      x1 = x2;
      f1 = f2;
      x2 = left + section * (right - left);
      f2 = curve(x2);
    } else {
      right = x2;
      x2 = x1;
      f2 = f1;
      x1 = right - section * (right - left);
      f1 = curve(x1);
    }
  }
  return f1 > f2 ? Peak<Real>{x1, f1} : Peak<Real>{x2, f2};
}

// Between two samples at or below zero: a hump that goes up and comes back. The slopes tell humps; close to zero the
// middle is looked at as well.
template <class Real, class Curve>
ZWANG_DEVICE Bracket<Real> hidden_rise(Real a, Real va, Real sa, Real b, Real vb, Real sb,
                                       const Curve& curve) {
  const Real width = b - a, higher = maximum(va, vb);
  const Real reach = absolute(va - vb) + Real(0.5) * width * (absolute(sa) + absolute(sb));
  if (higher + reach <= 0) return {false, 0, 0};
  if (sa > 0 && sb < 0) {
    const Peak<Real> top = peak(a, b, Real(0), curve);
    if (top.value > 0) return {true, a, top.x};
  }
  const Real middle = Real(0.5) * (a + b);
  if (curve(middle) > 0) return {true, a, middle};
  return {false, 0, 0};
}

// A start on the boundary may be followed by a hop far shorter than the first interval: samples at halved distances.
template <class Real, class Curve>
ZWANG_COLD Bracket<Real> early_rise(Real first_sample, const Curve& curve) {
  Real right = Real(sample_fraction(1)), v_right = first_sample;
  Real s_right = (curve(right + Real(1e-5)) - curve(right - Real(1e-5))) / Real(2e-5);
  Bracket<Real> earliest{false, 0, 0};
  for (int halvings = 0; halvings < 16; ++halvings) {
    const Real x = right / 2, value = curve(x), reach = minimum(Real(1e-5), x / 4);
    const Real slope = (curve(x + reach) - curve(x - reach)) / (2 * reach);
    if (value > 0) {
      earliest.found = false;
    } else if (v_right > 0) {
      earliest = {true, x, right};
    } else if (slope > 0 && s_right < 0) {
      const Peak<Real> top = peak(x, right, Real(0), curve);
      if (top.value > 0) earliest = {true, x, top.x};
    }
    right = x;
    v_right = value;
    s_right = slope;
  }
  return earliest;
}

// The start may lie on the boundary, left a moment ago: look for a point clearly inside before the rise.
template <class Real, class Curve>
ZWANG_COLD Bracket<Real> rise_from_start(Real first_sample, const Curve& curve) {
  Real x = Real(sample_fraction(1));
  for (int halvings = 0; halvings < 45; ++halvings) {
    x /= 2;
    if (curve(x) < 0) return {true, x, 2 * x};
  }
  return {true, 0, first_sample < 0 ? x : Real(0)};
}

// `samples` are the curve at the sample fractions. The start counts as below zero whatever rounding says: the caller
// knows on which side the function is.
template <class Real, class Curve>
ZWANG_DEVICE Bracket<Real> first_rise(const Real* samples, const Curve& curve) {
  Real low = samples[0], high = samples[0];
  for (int i = 1; i < sample_count; ++i) {
    low = minimum(low, samples[i]);
    high = maximum(high, samples[i]);
  }
  // Too far below for anything these samples represent to reach zero.
  if (high + (high - low) < 0) return {false, 0, 0};
  if (samples[1] <= 0 && samples[0] > Real(-1e-6) * (high - low)) {
    const Bracket<Real> found = early_rise(samples[1], curve);
    if (found.found) return found;
  }
  // Slopes by the parabola through three neighbours.
  Real slope[sample_count];
  for (int i = 0; i < sample_count; ++i) {
    const int j = i == 0 ? 1 : i == sample_count - 1 ? sample_count - 2 : i;
    const Real x0 = Real(sample_fraction(j - 1)), x1 = Real(sample_fraction(j)),
               x2 = Real(sample_fraction(j + 1));
    const Real d1 = (samples[j] - samples[j - 1]) / (x1 - x0), d2 = (samples[j + 1] - samples[j]) / (x2 - x1);
    const Real bend = (d2 - d1) / (x2 - x0);
    slope[i] = d1 + bend * (2 * Real(sample_fraction(i)) - x0 - x1);
  }
  for (int i = 1; i < sample_count; ++i) {
    const Real a = Real(sample_fraction(i - 1)), b = Real(sample_fraction(i));
    if (samples[i] > 0) return i > 1 ? Bracket<Real>{true, a, b} : rise_from_start(samples[0], curve);
    const Real before = i == 1 ? minimum(samples[0], Real(0)) : samples[i - 1];
    const Bracket<Real> found = hidden_rise(a, before, slope[i - 1], b, samples[i], slope[i], curve);
    if (found.found) return found;
  }
  return {false, 0, 0};
}

// A root inside the bracket: secants kept safe (Illinois), with a bisection whenever the bracket fails to halve.
template <class Real, class Curve>
ZWANG_DEVICE Real root(const Bracket<Real>& bracket, const Curve& curve) {
  Real a = bracket.below, b = bracket.above;
  if (a == b) return a;
  Real fa = minimum(curve(a), Real(0)), fb = curve(b), width = b - a;
  for (int i = 0; i < 60 && b - a > 64 * Precision<Real>::epsilon * b; ++i) {
    Real x = fb > fa ? b - fb * (b - a) / (fb - fa) : Real(0.5) * (a + b);
    if (!(x > a && x < b) || i % 3 == 2) x = Real(0.5) * (a + b);
    const Real fx = curve(x);
    if (fx > 0) {
      if (fb - fx < Real(1e-13) * fb) break;
      b = x;
      fb = fx;
      if (b - a > width / 2) fa /= 2;
    } else {
      a = x;
      fa = fx;
      if (b - a > width / 2) fb /= 2;
    }
    width = b - a;
    if (fx == 0) break;
  }
  return b;
}

}  // namespace zwang
