#include "host/estimators/f_distribution.h"

#include <cmath>

namespace zwang {

namespace {

// The continued fraction of the incomplete beta function, Abramowitz and Stegun 26.5.8, evaluated from the
// front by Lentz's method. Converges fast for x < (a + 1)/(a + b + 2).
double beta_fraction(double x, double a, double b) {
  constexpr double tiny = 1e-300, accuracy = 1e-16;
  constexpr int most_terms = 10'000;
  const auto away_from_zero = [](double value) { return std::abs(value) < tiny ? tiny : value; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), value = d;
  for (int m = 1; m <= most_terms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    value *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    value *= d * c;
    if (std::abs(d * c - 1) < accuracy) break;
  }
  return value;
}

// The regularised incomplete beta function I_x(a, b).
double incomplete_beta(double x, double a, double b) {
  if (!(x > 0)) return 0;
  if (!(x < 1)) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(x, a, b) / a;
  return 1 - front * beta_fraction(1 - x, b, a) / b;
}

}  // namespace

double f_probability(double x, double numerator, double denominator) {
  if (!(x > 0)) return 0;
  return incomplete_beta(numerator * x / (numerator * x + denominator), numerator / 2, denominator / 2);
}

double f_quantile(double p, double numerator, double denominator) {
  double low = 0, high = 1;
  while (f_probability(high, numerator, denominator) < p && high < 1e300) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-15 * high; ++i) {
    const double middle = (low + high) / 2;
    (f_probability(middle, numerator, denominator) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace zwang
