// Sines and cosines without a jump: many of them stand side by side, in the lanes of a pack or in the instructions of a GPU. For
// moderate angles, as exact as the machine's own to a rounding or two; whoever asks for more goes the long way.
//
// Quarter turns are taken off in three pieces of pi/2, exactly by fused multiply-adds (W. J. Cody, W. Waite, Software Manual for the
// Elementary Functions, 1980); what is left is at most pi/4, and there the polynomials of fdlibm (Sun Microsystems, 1993) hold.
#pragma once

#include "kernels/pack.h"

namespace zwang {

// Beyond this so many quarter turns are no longer counted exactly.
constexpr double moderate_angle = 1073741824.0;

// The sine of x and `quarters` quarter turns.
template <class R>
ZWANG_INLINE R swift_sine(R x, int quarters) {
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
  Pack<double> made = swift_sine(x, quarters);
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
struct Swift {
  double x;
  bool sure;
  Swift() = default;
  ZWANG_INLINE explicit Swift(double value, bool known = true) : x(value), sure(known) {}
};
ZWANG_INLINE Swift swift_sine(Swift a, int quarters) {
  return Swift(swift_sine(a.x, quarters), a.sure & (absolute(a.x) < moderate_angle));
}
ZWANG_INLINE Swift sin(Swift a) { return swift_sine(a, 0); }
ZWANG_INLINE Swift cos(Swift a) { return swift_sine(a, 1); }

ZWANG_INLINE Swift operator-(Swift a) { return Swift(-a.x, a.sure); }
#define ZWANG_SWIFT(op) \
  ZWANG_INLINE Swift operator op(Swift a, Swift b) { return Swift(a.x op b.x, a.sure & b.sure); }
ZWANG_SWIFT(+)
ZWANG_SWIFT(-)
ZWANG_SWIFT(*)
ZWANG_SWIFT(/)
#undef ZWANG_SWIFT
#define ZWANG_SWIFT(name) \
  ZWANG_INLINE Swift name(Swift a) { return Swift(name(a.x), a.sure); }
ZWANG_SWIFT(tan)
ZWANG_SWIFT(asin)
ZWANG_SWIFT(acos)
ZWANG_SWIFT(atan)
ZWANG_SWIFT(sinh)
ZWANG_SWIFT(cosh)
ZWANG_SWIFT(tanh)
ZWANG_SWIFT(exp)
ZWANG_SWIFT(log)
ZWANG_SWIFT(sqrt)
ZWANG_SWIFT(absolute)
ZWANG_SWIFT(sign)
ZWANG_SWIFT(round_down)
#undef ZWANG_SWIFT
#define ZWANG_SWIFT(name) \
  ZWANG_INLINE Swift name(Swift a, Swift b) { return Swift(name(a.x, b.x), a.sure & b.sure); }
ZWANG_SWIFT(atan2)
ZWANG_SWIFT(minimum)
ZWANG_SWIFT(maximum)
ZWANG_SWIFT(hypot)
ZWANG_SWIFT(power)
ZWANG_SWIFT(wrap)
#undef ZWANG_SWIFT
ZWANG_INLINE Swift if_less(Swift a, Swift b, Swift x, Swift y) {
  return Swift(if_less(a.x, b.x, x.x, y.x), a.sure & b.sure & x.sure & y.sure);
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
    if (!see_swiftly(k, t, h, part))
      ZWANG_ROLLED for (int i = 0; i < different; ++i) Model::drive(k, t + R(part[i]) * h, w[i]);
    ZWANG_REGISTERS for (int j = 0; j < Model::drives; ++j) w[count - 1][j] = w[different - 1][j];
  }

 private:
  template <class Nodes>
  ZWANG_INLINE bool see_swiftly(const R* k, R t, R h, const Nodes& part) {
    constexpr bool possible = ZWANG_FUSES && same_type<R, double>;
    bool sure = possible;
    if constexpr (possible) {
      Swift constants[at_least_one(Model::constants)];
      ZWANG_REGISTERS for (int i = 0; i < Model::constants; ++i) constants[i] = Swift(k[i]);
      ZWANG_REGISTERS for (int i = 0; i < different; ++i) {
        Swift made[width];
        Model::drive(constants, Swift(t + part[i] * h), made);
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
