// Branch-free sine and cosine, for packs and for the instruction-level parallelism of a GPU. For |x| < 2^30
// the error is at most one or two roundings; callers use the library function for larger arguments.
//
// Multiples of pi/2 are subtracted in three parts, exactly by fused multiply-adds (W. J. Cody, W. Waite,
// Software Manual for the Elementary Functions, 1980). The rest is at most pi/4, where the polynomials of
// fdlibm (Sun Microsystems, 1993) hold.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

// 2^30: the number of quarter turns in larger angles is no longer exact.
constexpr double moderate_angle = 1073741824.0;

// The sine of x plus `quarters` quarter turns.
template <class R>
ZWANG_INLINE R sin_reduced(R x, int quarters) {
  using B = Bits<R>;
  // 1.5 2^52: a number added to it is rounded to an integer, which is then in the last bits of the sum.
  const R whole = R(6755399441055744.0);
  const R counted = x * R(0.63661977236758134) + whole, turns = counted - whole;
  const auto number = B::of(counted) + quarters;
  R rest = fused(turns, R(-1.5707963267948966), x);
  rest = fused(turns, R(-6.123233995736766e-17), rest);
  rest = fused(turns, R(1.4973849048591698e-33), rest);
  const R z = square(rest);
  const R odd = R(-2.50507602534068634195e-08) + z * R(1.58969099521155010221e-10),
          even = R(2.08757232129817482790e-09) + z * R(-1.13596475577881948265e-11);
  const R odd_part =
      R(-1.66666666666666324348e-01) +
      z * (R(8.33333333332248946124e-03) +
           z * (R(-1.98412698298579493134e-04) + z * (R(2.75573137070700676789e-06) + z * odd)));
  const R even_part =
      R(4.16666666666666019037e-02) +
      z * (R(-1.38888888888741095749e-03) +
           z * (R(2.48015872894767294178e-05) + z * (R(-2.75573143513906633035e-07) + z * even)));
  const R sine = rest + rest * (z * odd_part), cosine = R(1) + z * (R(-0.5) + z * even_part);
  const R made = select(B::is_odd(number), cosine, sine);
  return B::from(B::of(made) ^ ((number & 2) << 62));
}

// A number whose sines and cosines are computed by sin_reduced(). `in_range` is false if any angle in its
// computation was beyond the range: then the result has to be recomputed with plain numbers.
struct CheckedSinCos {
  double x;
  bool in_range;
  CheckedSinCos() = default;
  ZWANG_INLINE explicit CheckedSinCos(double value, bool known = true) : x(value), in_range(known) {}
};
ZWANG_INLINE CheckedSinCos sin_reduced(CheckedSinCos a, int quarters) {
  return CheckedSinCos(sin_reduced(a.x, quarters), a.in_range & (absolute(a.x) < moderate_angle));
}
ZWANG_INLINE CheckedSinCos sin(CheckedSinCos a) { return sin_reduced(a, 0); }
ZWANG_INLINE CheckedSinCos cos(CheckedSinCos a) { return sin_reduced(a, 1); }

ZWANG_INLINE CheckedSinCos operator-(CheckedSinCos a) { return CheckedSinCos(-a.x, a.in_range); }
#define ZWANG_CHECKED_SINCOS(op)                                             \
  ZWANG_INLINE CheckedSinCos operator op(CheckedSinCos a, CheckedSinCos b) { \
    return CheckedSinCos(a.x op b.x, a.in_range & b.in_range);               \
  }
ZWANG_CHECKED_SINCOS(+)
ZWANG_CHECKED_SINCOS(-)
ZWANG_CHECKED_SINCOS(*)
ZWANG_CHECKED_SINCOS(/)
#undef ZWANG_CHECKED_SINCOS
#define ZWANG_CHECKED_SINCOS(name) \
  ZWANG_INLINE CheckedSinCos name(CheckedSinCos a) { return CheckedSinCos(name(a.x), a.in_range); }
ZWANG_CHECKED_SINCOS(tan)
ZWANG_CHECKED_SINCOS(asin)
ZWANG_CHECKED_SINCOS(acos)
ZWANG_CHECKED_SINCOS(atan)
ZWANG_CHECKED_SINCOS(sinh)
ZWANG_CHECKED_SINCOS(cosh)
ZWANG_CHECKED_SINCOS(tanh)
ZWANG_CHECKED_SINCOS(exp)
ZWANG_CHECKED_SINCOS(log)
ZWANG_CHECKED_SINCOS(sqrt)
ZWANG_CHECKED_SINCOS(absolute)
ZWANG_CHECKED_SINCOS(sign)
ZWANG_CHECKED_SINCOS(round_down)
#undef ZWANG_CHECKED_SINCOS
#define ZWANG_CHECKED_SINCOS(name)                                    \
  ZWANG_INLINE CheckedSinCos name(CheckedSinCos a, CheckedSinCos b) { \
    return CheckedSinCos(name(a.x, b.x), a.in_range & b.in_range);    \
  }
ZWANG_CHECKED_SINCOS(atan2)
ZWANG_CHECKED_SINCOS(minimum)
ZWANG_CHECKED_SINCOS(maximum)
ZWANG_CHECKED_SINCOS(hypot)
ZWANG_CHECKED_SINCOS(power)
ZWANG_CHECKED_SINCOS(wrap)
#undef ZWANG_CHECKED_SINCOS
ZWANG_INLINE CheckedSinCos if_less(CheckedSinCos a, CheckedSinCos b, CheckedSinCos x, CheckedSinCos y) {
  return CheckedSinCos(if_less(a.x, b.x, x.x, y.x), a.in_range & b.in_range & x.in_range & y.in_range);
}

}  // namespace zwang
