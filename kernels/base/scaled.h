// A number together with a bound on its rounding error, in units of the machine epsilon.
// src/expression/scaled.h gives the reasons. The emitted formulas are templates and accept this type like any
// other number.
#pragma once

#include "kernels/base/portable.h"

namespace zwang {

template <class Real>
struct Scaled {
  Real value, scale;
  Scaled() = default;
  ZWANG_INLINE explicit Scaled(Real x) : value(x), scale(absolute(x)) {}
  ZWANG_INLINE Scaled(Real x, Real size) : value(x), scale(size) {}
};

// Numbers that formulas read by index, with the scales of their rounding: that of one number, or given ones.
template <class Real>
struct ScaledConstants {
  const Real* values;
  ZWANG_INLINE Scaled<Real> operator[](int i) const { return Scaled<Real>(values[i]); }
};
template <class Real>
struct ScaledState {
  const Real *values, *scales;
  ZWANG_INLINE Scaled<Real> operator[](int i) const { return {values[i], scales[i]}; }
};

template <class Real>
ZWANG_INLINE Scaled<Real> operator+(const Scaled<Real>& a, const Scaled<Real>& b) {
  const Real y = a.value + b.value;
  return {y, a.scale + b.scale + absolute(y)};
}
template <class Real>
ZWANG_INLINE Scaled<Real> operator-(const Scaled<Real>& a, const Scaled<Real>& b) {
  const Real y = a.value - b.value;
  return {y, a.scale + b.scale + absolute(y)};
}
template <class Real>
ZWANG_INLINE Scaled<Real> operator-(const Scaled<Real>& a) {
  return {-a.value, a.scale + absolute(a.value)};
}
template <class Real>
ZWANG_INLINE Scaled<Real> operator*(const Scaled<Real>& a, const Scaled<Real>& b) {
  return {a.value * b.value, absolute(a.value) * b.scale + absolute(b.value) * a.scale};
}

// The error propagated through the slope plus the rounding of the result. Where the slope is infinite (a
// square root at zero), the propagated error is the change of the function over the argument's error; `moved`
// is the function value there.
template <class Real>
ZWANG_INLINE Scaled<Real> with_slope(Real y, Real slope, Real scale, Real moved) {
  Real inherited = absolute(slope) * scale;
  if (!is_finite(inherited) && is_finite(y))
    inherited = is_finite(moved) ? absolute(moved - y) / Precision<Real>::epsilon : Real(0);
  return {y, inherited + absolute(y)};
}

template <class Real>
ZWANG_INLINE Scaled<Real> operator/(const Scaled<Real>& a, const Scaled<Real>& b) {
  const Real y = a.value / b.value;
  return {y, (a.scale + absolute(y) * b.scale) / absolute(b.value) + absolute(y)};
}

#define ZWANG_SCALED(name, slope)                                                             \
  template <class Real>                                                                       \
  ZWANG_INLINE Scaled<Real> name(const Scaled<Real>& a) {                                     \
    const Real x = a.value, y = name(x);                                                      \
    return with_slope<Real>(y, slope, a.scale, name(x + Precision<Real>::epsilon * a.scale)); \
  }
ZWANG_SCALED(sin, cos(x))
ZWANG_SCALED(cos, sin(x))
ZWANG_SCALED(tan, 1 + y * y)
ZWANG_SCALED(asin, 1 / sqrt(1 - x * x))
ZWANG_SCALED(acos, 1 / sqrt(1 - x * x))
ZWANG_SCALED(atan, 1 / (1 + x * x))
ZWANG_SCALED(sinh, cosh(x))
ZWANG_SCALED(cosh, sinh(x))
ZWANG_SCALED(tanh, 1 - y * y)
ZWANG_SCALED(exp, y)
ZWANG_SCALED(log, 1 / x)
ZWANG_SCALED(sqrt, Real(0.5) / y)
ZWANG_SCALED(absolute, Real(1))
#undef ZWANG_SCALED

template <class Real>
ZWANG_INLINE Scaled<Real> sign(const Scaled<Real>& a) {
  const Real y = sign(a.value);
  return {y, absolute(y)};
}
template <class Real>
ZWANG_INLINE Scaled<Real> round_down(const Scaled<Real>& a) {
  const Real y = round_down(a.value);
  return {y, absolute(y)};
}
template <class Real>
ZWANG_INLINE Scaled<Real> atan2(const Scaled<Real>& a, const Scaled<Real>& b) {
  const Real y = atan2(a.value, b.value), r2 = a.value * a.value + b.value * b.value;
  const Real inherited = r2 > 0 ? (absolute(a.value) * b.scale + absolute(b.value) * a.scale) / r2 : Real(0);
  return {y, inherited + absolute(y)};
}
template <class Real>
ZWANG_INLINE Scaled<Real> hypot(const Scaled<Real>& a, const Scaled<Real>& b) {
  const Real y = hypot(a.value, b.value);
  return {y, a.scale + b.scale + absolute(y)};
}
template <class Real>
ZWANG_INLINE Scaled<Real> power(const Scaled<Real>& a, const Scaled<Real>& b) {
  const Real x = a.value, n = b.value, y = power(x, n);
  const Real moved = power(x + Precision<Real>::epsilon * a.scale, n);
  Scaled<Real> made = with_slope<Real>(y, n * power(x, n - 1), a.scale, moved);
  // An integer exponent is exact; any other exponent contributes an error.
  if (x > 0 && n != round_down(n)) made.scale = made.scale + absolute(y * log(x)) * b.scale;
  return made;
}
template <class Real>
ZWANG_INLINE Scaled<Real> wrap(const Scaled<Real>& a, const Scaled<Real>& b) {
  // The error of the period counts once for every period between a and the result.
  const Real y = wrap(a.value, b.value);
  return {y, a.scale + absolute((a.value - y) / b.value) * b.scale};
}
template <class Real>
ZWANG_INLINE Scaled<Real> minimum(const Scaled<Real>& a, const Scaled<Real>& b) {
  return minimum(a.value, b.value) == a.value ? a : b;
}
template <class Real>
ZWANG_INLINE Scaled<Real> maximum(const Scaled<Real>& a, const Scaled<Real>& b) {
  return maximum(a.value, b.value) == a.value ? a : b;
}
template <class Real>
ZWANG_INLINE Scaled<Real> if_less(const Scaled<Real>& a, const Scaled<Real>& b, const Scaled<Real>& x,
                                  const Scaled<Real>& y) {
  return a.value < b.value ? x : y;
}

}  // namespace zwang
