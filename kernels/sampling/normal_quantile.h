// The quantile function of the normal distribution by additions, products, quotients and square roots only,
// whose results IEEE 754 fixes to the last bit. Libraries differ in the last bit of a logarithm, so it is
// implemented here as well: the host and a GPU draw the same numbers.
#pragma once

#include "kernels/base/portable.h"

namespace zwang {

// log x for finite x > 0, to about one unit in the last place.
//
// x = 2^e (1 + f) with 1 + f between sqrt(1/2) and sqrt(2). With s = f / (2 + f), log(1 + f) = 2 atanh s = 2
// s + s R, R = 2 (s^2/3 + s^4/5 + ...). Because 2 s = f - s f = f - f^2/2 + s f^2/2, the large term f is
// separate and exact. log2_high has only the leading 32 bits of log 2, so e log2_high is exact as well.
ZWANG_INLINE double plain_log(double x) {
  constexpr double log2_high = 0x1.62e42fee00000p-1, log2_low = 0x1.a39ef35793c76p-33;
  // Subnormal numbers are scaled first: their exponent field is zero.
  const bool small = x < 0x1p-1022;
  const unsigned long long bits = bits_of_double(small ? x * 0x1p54 : x);
  int e = static_cast<int>(bits >> 52) - 1023 - (small ? 54 : 0);
  double m = double_of_bits((bits & ((1ULL << 52) - 1)) | 1023ULL << 52);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++e;
  }
  const double f = m - 1, s = f / (2 + f), z = s * s;
  // With s^2 <= 0.0295 the twelfth term is below the last place.
  double R = 0;
  for (int k = 23; k >= 3; k -= 2) R = (R + 2.0 / k) * z;
  const double half_square = 0.5 * f * f, whole = e;
  return whole * log2_high - ((half_square - (s * (half_square + R) + whole * log2_low)) - f);
}

// A quotient of polynomials of degree 7, coefficients from the constant term up.
ZWANG_INLINE double plain_quotient(const double (&top)[8], const double (&bottom)[8], double r) {
  double a = 0, b = 0;
  for (int i = 7; i >= 0; --i) {
    a = a * r + top[i];
    b = b * r + bottom[i];
  }
  return a / b;
}

// Wichura (1988), "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics
// 37, 477-484, routine PPND16. The tests compare these values with quantiles computed in 60 digits.
ZWANG_INLINE double normal_centre(double r) {
  constexpr double top[8] = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                             1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                             3.3430575583588128105e4, 2.5090809287301226727e3};
  constexpr double bottom[8] = {1.0,
                                4.2313330701600911252e1,
                                6.8718700749205790830e2,
                                5.3941960214247511077e3,
                                2.1213794301586595867e4,
                                3.9307895800092710610e4,
                                2.8729085735721942674e4,
                                5.2264952788528545610e3};
  return plain_quotient(top, bottom, r);
}
ZWANG_INLINE double normal_near_tail(double r) {
  constexpr double top[8] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                             3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                             2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr double bottom[8] = {1.0,
                                2.05319162663775882187e0,
                                1.67638483018380384940e0,
                                6.89767334985100004550e-1,
                                1.48103976427480074590e-1,
                                1.51986665636164571966e-2,
                                5.47593808499534494600e-4,
                                1.05075007164441684324e-9};
  return plain_quotient(top, bottom, r);
}
ZWANG_INLINE double normal_far_tail(double r) {
  constexpr double top[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                             2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                             2.71155556874348757815e-5, 2.01033439929228813265e-7};
  constexpr double bottom[8] = {1.0,
                                5.99832206555887937690e-1,
                                1.36929880922735805310e-1,
                                1.48753612908506148525e-2,
                                7.86869131145613259100e-4,
                                1.84631831751005468180e-5,
                                1.42151175831644588870e-7,
                                2.04426310338993978564e-15};
  return plain_quotient(top, bottom, r);
}

ZWANG_INLINE double plain_normal_quantile(double u) {
  // The ends of the interval, where the formulas below would divide infinities.
  if (u <= 0) return -infinity<double>();
  if (u >= 1) return infinity<double>();

  // The centre, in powers of the distance from 1/2.
  const double q = u - 0.5;
  if (absolute(q) <= 0.425) return q * normal_centre(0.180625 - q * q);

  // A tail of probability p behaves like sqrt(-2 log p). In the upper one 1 - u is exact.
  const double r = sqrt(-plain_log(q < 0 ? u : 1 - u));
  const double z = r <= 5 ? normal_near_tail(r - 1.6) : normal_far_tail(r - 5);
  return q < 0 ? -z : z;
}

}  // namespace zwang
