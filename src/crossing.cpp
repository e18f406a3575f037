#include "src/crossing.h"

#include <algorithm>
#include <cmath>

namespace zwang {

namespace {

constexpr double fractions[] = {0, 0.043, 0.13, 0.23, 0.34, 0.45, 0.57, 0.68, 0.79, 0.9, 1};
constexpr int golden_limit = 60;
constexpr int root_limit = 100;

// Whether a hump through three samples may reach zero: its parabola rises above the middle sample by at most the
// spread of the three for any curve these samples represent.
bool may_reach_zero(double a, double b, double c) {
  const double spread = std::max({a, b, c}) - std::min({a, b, c});
  return b + spread > 0;
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
  const std::size_t last = samples.size() - 1;
  for (std::size_t k = 1; k <= last; ++k) {
    if (samples[k] > 0) {
      if (k > 1) return Bracket{fractions[k - 1], fractions[k]};
      // The start may lie on the boundary, left a moment ago: look for a point clearly inside before the rise.
      double theta = fractions[1];
      for (int halvings = 0; halvings < 40; ++halvings) {
        theta /= 2;
        if (curve(theta) < 0) return Bracket{theta, 2 * theta};
      }
      return Bracket{0, samples[0] < 0 ? theta : 0};
    }
    // A hump around this sample, or around the one before the end, may have touched zero unseen.
    const double before = samples[k - 1], here = samples[k];
    const double after = k < last ? samples[k + 1] : here;
    const bool hump = here >= before && here >= after && (here > before || here > after);
    if (hump && after <= 0 && may_reach_zero(before, here, after)) {
      const Peak top = peak(fractions[k - 1], fractions[std::min(k + 1, last)], curve);
      if (top.value > 0) return Bracket{fractions[k - 1], top.theta};
    }
  }
  return std::nullopt;
}

double root(const Bracket& bracket, const Curve& curve) {
  double a = bracket.below, b = bracket.above;
  if (a == b) return a;
  double fa = curve(a), fb = curve(b);
  if (fa > 0) fa = 0;  // on the boundary: the caller's word counts
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
