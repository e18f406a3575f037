// Quantile functions in closed form; the normal one is shared with the kernels.
#include "host/sample/quantile.h"

#include <algorithm>
#include <cmath>

#include "kernels/sampling/normal_quantile.h"

namespace zwang {

double normal_quantile(double u) { return plain_normal_quantile(u); }

double uniform_quantile(double a, double b, double u) { return std::min(b, a + (b - a) * u); }

// The cdf is (x - a)^2 / (w (m - a)) up to m and 1 - (b - x)^2 / (w (b - m)) from there, w = b - a.
double triangular_quantile(double a, double m, double b, double u) {
  const double w = b - a;
  if (w == 0) return a;
  const double rising = (m - a) / w, falling = (b - m) / w;  // probabilities of the two sides
  if (u <= rising) return std::min(m, a + w * std::sqrt(u * rising));
  return std::max(m, b - w * std::sqrt((1 - u) * falling));
}

// log1p(-u) is accurate for small u, and near u = 1 the difference 1 - u is exact.
double exponential_quantile(double mean, double u) { return -mean * std::log1p(-u); }

}  // namespace zwang
