// Brackets, roots and maxima of a curve over a step.
#include "src/reference/first_root.h"

#include <algorithm>
#include <cmath>

namespace zwang {

namespace {

constexpr double fractions[] = {0, 0.043, 0.13, 0.23, 0.34, 0.45, 0.57, 0.68, 0.79, 0.9, 1};
constexpr int golden_limit = 60;
constexpr int root_limit = 100;

constexpr int refinement_limit = 5;
constexpr double slope_reach = 1e-5;  // of the finite differences for slopes, in theta

// The curve at one fraction, with its slope.
struct Knot {
  double theta, value, slope;
};

Knot knot_at(double theta, double value, const Curve& curve) {
  const double left = std::max(theta - slope_reach, 0.0), right = std::min(theta + slope_reach, 1.0);
  return {theta, value, (curve(right) - curve(left)) / (right - left)};
}

// The maximum of the cubic through two knots, if it has one between them.
std::optional<double> top_of_cubic(const Knot& a, const Knot& b) {
  const double width = b.theta - a.theta, rise = width * a.slope, fall = width * b.slope;
  const double cube = 2 * (a.value - b.value) + rise + fall,
               square = 3 * (b.value - a.value) - 2 * rise - fall;
  const double inside = square * square - 3 * cube * rise;
  if (!(inside > 0)) return std::nullopt;
  const double x = rise / (std::sqrt(inside) - square);
  if (!(x > 0 && x < 1)) return std::nullopt;
  return a.theta + x * width;
}

// A rise between two knots that are both at or below zero, where the curve rises and falls again. If the
// cubic through both knots misses the middle of the curve, the two halves are searched.
std::optional<Bracket> hidden_rise(const Knot& a, const Knot& b, const Curve& curve, int depth) {
  const double width = b.theta - a.theta, middle = (a.theta + b.theta) / 2;
  if (a.slope > 0 && b.slope < 0) {
    const Peak top = peak(a.theta, b.theta, curve);
    if (top.value > 0) return Bracket{a.theta, top.theta};
  }
  if (const std::optional<double> top = top_of_cubic(a, b); top && curve(*top) > 0)
    return Bracket{a.theta, *top};
  if (depth == 0) return std::nullopt;
  const double value = curve(middle);
  if (value > 0) return Bracket{a.theta, middle};
  const double cubic = (a.value + b.value) / 2 + width * (a.slope - b.slope) / 8;
  const double spread = std::max({a.value, b.value, value}) - std::min({a.value, b.value, value});
  if (std::abs(value - cubic) <= 0.05 * spread) return std::nullopt;
  const Knot half = knot_at(middle, value, curve);
  if (const std::optional<Bracket> found = hidden_rise(a, half, curve, depth - 1)) return found;
  return hidden_rise(half, b, curve, depth - 1);
}

// A start on the boundary may be followed by a hop far shorter than the first interval: knots at successively
// halved distances.
std::optional<Bracket> early_rise(double first_sample, const Curve& curve) {
  Knot right = knot_at(fractions[1], first_sample, curve);
  std::optional<Bracket> earliest;
  for (int halvings = 0; halvings < 16; ++halvings) {
    const double theta = right.theta / 2, value = curve(theta);
    const double reach = std::min(slope_reach, theta / 4);
    const Knot left{theta, value, (curve(theta + reach) - curve(theta - reach)) / (2 * reach)};
    if (value > 0) {
      earliest.reset();
    } else if (right.value > 0) {
      earliest = Bracket{theta, right.theta};
    } else if (const std::optional<Bracket> found = hidden_rise(left, right, curve, 1)) {
      earliest = found;
    }
    right = left;
  }
  return earliest;
}

// The start may lie on a boundary that was left a moment ago. Searches by halving for a point clearly below
// zero before the rise, and a few halvings further for an earlier rise.
Bracket rise_from_start(double first_sample, double clearly, const Curve& curve) {
  double theta = fractions[1];
  Bracket found{0, theta};
  int looks = 0;  // halvings since a point below zero was found
  for (int halvings = 0; halvings < 45 && looks < 6; ++halvings) {
    theta /= 2;
    const double value = curve(theta);
    if (value > (looks > 0 ? clearly : 0)) {  // not where it is zero by rounding
      found.above = theta;
      looks = 0;
    } else if (looks > 0 || value < 0) {
      if (looks++ == 0) found.below = theta;
    }
  }
  return looks > 0 ? found : Bracket{0, first_sample < 0 ? theta : 0};
}

}  // namespace

std::span<const double> sample_fractions() { return fractions; }

Peak peak(double left, double right, const Curve& curve) {
  constexpr double section = 0.6180339887498949;
  double x1 = right - section * (right - left), x2 = left + section * (right - left);
  double f1 = curve(x1), f2 = curve(x2);
  for (int i = 0; i < golden_limit && right - left > 1e-9; ++i) {
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
  return f1 > f2 ? Peak{x1, f1} : Peak{x2, f2};
}

std::optional<Bracket> first_rise(std::span<const double> samples, const Curve& curve) {
  const auto [low, high] = std::minmax_element(samples.begin(), samples.end());
  // The maximum is further below zero than the range of the samples: no rise to zero is possible.
  if (*high + (*high - *low) < 0) return std::nullopt;
  const bool on_boundary = samples[0] > -1e-6 * (*high - *low);
  if (samples[1] <= 0 && on_boundary)
    if (const std::optional<Bracket> found = early_rise(samples[1], curve)) return found;
  Knot before = knot_at(0, std::min(samples[0], 0.0), curve);
  for (std::size_t k = 1; k < samples.size(); ++k) {
    if (samples[k] > 0 && k == 1 && on_boundary)
      return rise_from_start(samples[0], 1e-12 * (*high - *low), curve);
    const Knot here = knot_at(fractions[k], samples[k], curve);
    if (samples[k] > 0) {
      // The curve may have been above zero before and fallen again.
      const std::optional<double> top = top_of_cubic(before, here);
      return Bracket{before.theta, top && curve(*top) > 0 ? *top : here.theta};
    }
    if (const std::optional<Bracket> found = hidden_rise(before, here, curve, refinement_limit)) return found;
    before = here;
  }
  return std::nullopt;
}

double root(const Bracket& bracket, const Curve& curve) {
  double a = bracket.below, b = bracket.above;
  if (a == b) return a;
  double fa = curve(a), fb = curve(b);
  if (fa > 0) fa = 0;  // on the boundary: the start counts as below zero
  // Illinois regula falsi with a bisection whenever the bracket fails to halve in two moves.
  double width = b - a;
  for (int i = 0; i < root_limit && b - a > 4e-16 * b; ++i) {
    double x = fb > fa ? b - fb * (b - a) / (fb - fa) : (a + b) / 2;
    if (!(x > a && x < b) || i % 3 == 2) x = (a + b) / 2;
    const double fx = curve(x);
    if (fx > 0) {
      b = x;
      fb = fx;
      if (b - a > width / 2) fa /= 2;
    } else {
      a = x;
      fa = fx;
      if (b - a > width / 2) fb /= 2;
    }
    width = b - a;
  }
  return b;
}

}  // namespace zwang
