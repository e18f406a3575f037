#include "host/estimators/intervals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace zwang {

namespace {

constexpr long long most_tabulated = 200;          // degrees of freedom
constexpr double tail = 0.025;                     // on either side
constexpr double normal_reach = 1.95996398454005;  // 0.975 quantile of the standard normal

// P(|T| <= t) for whole degrees of freedom: Abramowitz and Stegun, Handbook of Mathematical Functions,
// 26.7.3, 26.7.4.
double student_within(double t, long long degrees) {
  const double angle = std::atan(t / std::sqrt(double(degrees)));
  const double c = std::cos(angle), s = std::sin(angle);
  const bool odd = degrees % 2 != 0;
  double term = odd ? c : 1, sum = 0;
  for (long long k = odd ? 3 : 2; k <= degrees; k += 2) {
    sum += term;
    term *= c * c * double(k - 1) / double(k);
  }
  return odd ? 2 / std::numbers::pi * (angle + s * sum) : s * sum;
}

// The two-sided 95 % point is 12.71 for one degree of freedom and falls towards that of the normal
// distribution.
double student_by_bisection(long long degrees) {
  double low = normal_reach, high = 13;
  for (int i = 0; i < 80; ++i) {
    const double middle = (low + high) / 2;
    (student_within(middle, degrees) < 1 - 2 * tail ? low : high) = middle;
  }
  return (low + high) / 2;
}

// Weights of the binomial distribution relative to the largest one, on either side of the mode until they are
// negligible. Starting from the mode needs no logarithms of factorials and never overflows.
RankInterval exact_ranks(long long n, double p) {
  const double odds = p / (1 - p);
  const long long mode = std::clamp(static_cast<long long>(double(n + 1) * p), 0LL, n);
  constexpr double negligible = 1e-20;

  // w(k + 1) / w(k) = (n - k) / (k + 1) * odds
  long long first = mode, last = mode;
  double total = 1, w_first = 1, w_last = 1;
  for (double w = 1; first > 0 && w > negligible; total += w, w_first = w) {
    w *= double(first) / (double(n - first + 1) * odds);
    --first;
  }
  for (double w = 1; last < n && w > negligible; total += w, w_last = w) {
    w *= double(n - last) / double(last + 1) * odds;
    ++last;
  }

  // B of the n values lie below the quantile. x(low) is above it when B <= low, x(high) below it when B >
  // high.
  RankInterval ranks{-1, n};
  double below = 0, w = w_first;
  for (long long k = first; k <= mode; ++k) {
    below += w / total;
    if (below > tail) break;
    ranks.low = k;
    w *= double(n - k) / double(k + 1) * odds;
  }
  double above = 0;
  w = w_last;
  for (long long k = last; k >= mode; --k) {
    above += w / total;
    if (above > tail) break;
    ranks.high = k - 1;
    w *= double(k) / (double(n - k + 1) * odds);
  }
  return ranks;
}

}  // namespace

double student_reach(long long degrees) {
  if (degrees < 1) return std::numeric_limits<double>::quiet_NaN();
  if (degrees <= most_tabulated) {
    // Columns and points of a sweep share their degrees of freedom: each is computed once by each thread.
    thread_local std::array<double, most_tabulated + 1> known{};
    double& reach = known[static_cast<std::size_t>(degrees)];
    if (reach == 0) reach = student_by_bisection(degrees);
    return reach;
  }

  // Abramowitz and Stegun 26.7.5; the next term is below 1e-10 from here on.
  const double x = normal_reach, x2 = x * x, v = double(degrees);
  return x + x * (x2 + 1) / (4 * v) + x * ((5 * x2 + 16) * x2 + 3) / (96 * v * v) +
         x * (((3 * x2 + 19) * x2 + 17) * x2 - 15) / (384 * v * v * v);
}

RankInterval quantile_ranks(long long count, double p) {
  if (count < 1 || !(p > 0 && p < 1)) return {-1, count};
  const double variance = double(count) * p * (1 - p);
  if (variance <= 1e4) return exact_ranks(count, p);

  // For standard deviations above a hundred ranks, the normal distribution with its first correction for
  // skewness is accurate to within one rank; the interval is widened by one.
  const double skew = (1 - 2 * p) * (normal_reach * normal_reach - 1) / 6;
  const double centre = double(count) * p + skew, reach = normal_reach * std::sqrt(variance);
  return {static_cast<long long>(std::floor(centre - reach)) - 2,
          static_cast<long long>(std::ceil(centre + reach)) + 1};
}

}  // namespace zwang
