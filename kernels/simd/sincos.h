// Sines and cosines without a jump: many of them stand side by side, in the lanes of a pack or in the instructions of a GPU. For
// moderate angles, as exact as the machine's own to a rounding or two; whoever asks for more goes the long way.
//
// Quarter turns are taken off in three pieces of pi/2, exactly by fused multiply-adds (W. J. Cody, W. Waite, Software Manual for the
// Elementary Functions, 1980); what is left is at most pi/4, and there the polynomials of fdlibm (Sun Microsystems, 1993) hold.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/simd/pack.h"

namespace zwang {

// Beyond this so many quarter turns are no longer counted exactly.
constexpr double moderate_angle = 1073741824.0;

// The sine of x and `quarters` quarter turns.
template <class R>
ZWANG_INLINE R sin_reduced(R x, int quarters) {
  using B = Bits<R>;
  const R whole =
      R(6755399441055744.0);  // 1.5 2^52: what is added to it is rounded to a whole number, in the last bits
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

#if ZWANG_PACKS
// Each lane by its own angle: its bits do not depend on its neighbours.
ZWANG_INLINE Pack<double> sine_of_lanes(const Pack<double>& x, int quarters) {
  Pack<double> made = sin_reduced(x, quarters);
  const PackMask<double> moderate = absolute(x) < Pack<double>(moderate_angle);
  if (any(!moderate))
    for (int lane = 0; lane < Pack<double>::count; ++lane) {
      if (lane_of(moderate, lane)) continue;
      const double angle = lane_of(x, lane);
      set_lane(made, lane, quarters == 0 ? sin(angle) : cos(angle));
    }
  return made;
}
#if ZWANG_FUSES
ZWANG_INLINE Pack<double> sin(const Pack<double>& x) { return sine_of_lanes(x, 0); }
ZWANG_INLINE Pack<double> cos(const Pack<double>& x) { return sine_of_lanes(x, 1); }
#endif
#endif

// A number whose sines and cosines are swift, and whether all angles on the way to it were moderate: if not, it has to be
// computed again with plain numbers.
struct CheckedSinCos {
  double x;
  bool sure;
  CheckedSinCos() = default;
  ZWANG_INLINE explicit CheckedSinCos(double value, bool known = true) : x(value), sure(known) {}
};
ZWANG_INLINE CheckedSinCos sin_reduced(CheckedSinCos a, int quarters) {
  return CheckedSinCos(sin_reduced(a.x, quarters), a.sure & (absolute(a.x) < moderate_angle));
}
ZWANG_INLINE CheckedSinCos sin(CheckedSinCos a) { return sin_reduced(a, 0); }
ZWANG_INLINE CheckedSinCos cos(CheckedSinCos a) { return sin_reduced(a, 1); }

ZWANG_INLINE CheckedSinCos operator-(CheckedSinCos a) { return CheckedSinCos(-a.x, a.sure); }
#define ZWANG_CHECKED_SINCOS(op)                                             \
  ZWANG_INLINE CheckedSinCos operator op(CheckedSinCos a, CheckedSinCos b) { \
    return CheckedSinCos(a.x op b.x, a.sure & b.sure);                       \
  }
ZWANG_CHECKED_SINCOS(+)
ZWANG_CHECKED_SINCOS(-)
ZWANG_CHECKED_SINCOS(*)
ZWANG_CHECKED_SINCOS(/)
#undef ZWANG_CHECKED_SINCOS
#define ZWANG_CHECKED_SINCOS(name) \
  ZWANG_INLINE CheckedSinCos name(CheckedSinCos a) { return CheckedSinCos(name(a.x), a.sure); }
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
    return CheckedSinCos(name(a.x, b.x), a.sure & b.sure);            \
  }
ZWANG_CHECKED_SINCOS(atan2)
ZWANG_CHECKED_SINCOS(minimum)
ZWANG_CHECKED_SINCOS(maximum)
ZWANG_CHECKED_SINCOS(hypot)
ZWANG_CHECKED_SINCOS(power)
ZWANG_CHECKED_SINCOS(wrap)
#undef ZWANG_CHECKED_SINCOS
ZWANG_INLINE CheckedSinCos if_less(CheckedSinCos a, CheckedSinCos b, CheckedSinCos x, CheckedSinCos y) {
  return CheckedSinCos(if_less(a.x, b.x, x.x, y.x), a.sure & b.sure & x.sure & y.sure);
}

// What the time alone decides (Model::drive), at the stages of a step, all but the first; stage i + 1 is w[i].
template <class Model, class Method, int width, class R>
struct Drive {
  static constexpr int count = Method::last;
  // Most methods look at the end of a step twice.
  static constexpr int different = Method::c(count) == Method::c(count - 1) ? count - 1 : count;
  R w[count][width];

  // `part`: where in the step they lie.
  template <class Nodes>
  ZWANG_INLINE void see(const R* k, R t, R h, const Nodes& part) {
    if (!evaluate_checked(k, t, h, part))
      ZWANG_ROLLED for (int i = 0; i < different; ++i) Model::drive(k, t + R(part[i]) * h, w[i]);
    ZWANG_REGISTERS for (int j = 0; j < Model::drives; ++j) w[count - 1][j] = w[different - 1][j];
  }

 private:
  template <class Nodes>
  ZWANG_INLINE bool evaluate_checked(const R* k, R t, R h, const Nodes& part) {
    constexpr bool possible = ZWANG_FUSES && same_type<R, double>;
    bool sure = possible;
    if constexpr (possible) {
      CheckedSinCos constants[at_least_one(Model::constants)];
      ZWANG_REGISTERS for (int i = 0; i < Model::constants; ++i) constants[i] = CheckedSinCos(k[i]);
      ZWANG_REGISTERS for (int i = 0; i < different; ++i) {
        CheckedSinCos made[width];
        Model::drive(constants, CheckedSinCos(t + part[i] * h), made);
        ZWANG_REGISTERS for (int j = 0; j < Model::drives; ++j) {
          w[i][j] = made[j].x;
          sure = sure & made[j].sure;
        }
      }
    }
    return sure;
  }
};

}  // namespace zwang
