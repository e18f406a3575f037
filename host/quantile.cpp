#include "host/quantile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "host/sample.h"

namespace zwang {

namespace {

// A rational function of degree 7 over 7; coefficients from the constant term up.
struct Rational {
  std::array<double, 8> numerator, denominator;

  double operator()(double r) const {
    double top = 0, bottom = 0;
    for (std::size_t i = 8; i-- > 0;) {
      top = top * r + numerator[i];
      bottom = bottom * r + denominator[i];
    }
    return top / bottom;
  }
};

// Wichura (1988), "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics
// 37, 477-484, routine PPND16. The tests hold these numbers against quantiles computed in 60 digits.
constexpr Rational centre = {
    {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
     4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3},
    {1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3, 2.1213794301586595867e4,
     3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3}};

constexpr Rational near_tail = {
    {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2,
     7.74545014278341407640e-4},
    {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9}};

constexpr Rational far_tail = {
    {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5,
     2.01033439929228813265e-7},
    {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15}};

}  // namespace

double normal_quantile(double u) {
  // The ends of the line, where the formulas below would divide infinities.
  if (u <= 0) return -std::numeric_limits<double>::infinity();
  if (u >= 1) return std::numeric_limits<double>::infinity();

  // The centre, in powers of the distance from 1/2.
  const double q = u - 0.5;
  if (std::abs(q) <= 0.425) return q * centre(0.180625 - q * q);

  // A tail of probability p behaves like sqrt(-2 log p). In the upper one 1 - u is exact.
  const double r = std::sqrt(-std::log(q < 0 ? u : 1 - u));
  const double z = r <= 5 ? near_tail(r - 1.6) : far_tail(r - 5);
  return q < 0 ? -z : z;
}

double uniform_quantile(double a, double b, double u) { return std::min(b, a + (b - a) * u); }

// The cdf is (x - a)^2 / (w (m - a)) up to m and 1 - (b - x)^2 / (w (b - m)) from there, w = b - a.
double triangular_quantile(double a, double m, double b, double u) {
  const double w = b - a;
  if (w == 0) return a;
  const double rising = (m - a) / w, falling = (b - m) / w;  // probabilities of the two sides
  if (u <= rising) return std::min(m, a + w * std::sqrt(u * rising));
  return std::max(m, b - w * std::sqrt((1 - u) * falling));
}

// log1p(-u) keeps its digits where u is small; where u is near 1, 1 - u is exact.
double exponential_quantile(double mean, double u) { return -mean * std::log1p(-u); }

}  // namespace zwang
