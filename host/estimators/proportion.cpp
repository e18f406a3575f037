#include "host/estimators/proportion.h"

#include <cmath>

#include "host/estimators/nan.h"

namespace zwang {

double Proportion::share() const { return of > 0 ? double(hits) / double(of) : nan; }

// centre = (p + z^2/2n)/(1 + z^2/n), half = z/(1 + z^2/n) sqrt(p(1 - p)/n + z^2/4n^2). The bounds are the
// roots of a quadratic equation with product p^2/(1 + z^2/n), so the lower one needs no difference of nearly
// equal numbers.
Proportion proportion(long long hits, long long of) {
  if (of < 1) return {hits, of, nan, nan};
  constexpr double z = 1.959963984540054, z2 = z * z;  // 0.975 quantile of the standard normal
  const double n = double(of), p = double(hits) / n, q = double(of - hits) / n, scale = 1 + z2 / n;
  const double centre = (p + z2 / (2 * n)) / scale;
  const double half = z / scale * std::sqrt(p * q / n + z2 / (4 * n * n));
  Proportion made{hits, of, 0, 1};
  if (hits > 0) made.low = p * p / scale / (centre + half);
  if (hits < of) made.high = centre + half;
  return made;
}

}  // namespace zwang
