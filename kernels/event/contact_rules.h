// Rules for the impact or release of a single condition, on scalars. They are stated here once because two
// solvers use them: SingleContactSolver (event/single_contact.h) for members in memory, and EventPoint
// (lanes/event_point.h) for numbers in registers.
//
// Both solvers guess the set of conditions that hold after the event, solve for impulses and multipliers by
// elimination, and accept the guess only if the conditions of the minimum are clearly met; otherwise nothing
// is changed and the quadratic program decides (event/active_set.h).
//
// Rows with a negative impulse. Every held row takes part in an impact. Where the impulse of a row comes out
// clearly negative the row separates instead, and the system is solved again without it; of several such rows
// the first is removed. The impact is left to the quadratic program where an impulse is neither clearly
// positive nor clearly negative, and where the impulse of the reached condition is negative. The order of
// removal cannot produce a wrong result: after the last removal the impulses of all remaining rows are
// clearly positive and all removed rows must separate clearly, which are the conditions of the unique
// minimum. It can only decide between accepting the result and leaving it to the quadratic program.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"

namespace zwang {

// How much larger than rounding a number must be for its sign to be clear.
constexpr int safety_factor = 100;

// `zero` is what counts as zero for x.
template <class Real>
ZWANG_INLINE bool is_clearly_positive(Real x, Real zero) {
  return x > safety_factor * zero;
}
template <class Real>
ZWANG_INLINE bool is_clearly_negative(Real x, Real zero) {
  return x < -(safety_factor * zero);
}

// What counts as zero for f'' of a condition, and for its multiplier times the square of the row's length:
// the row's length and the acceleration by applied forces are norms in the mass metric, rest_scale is the
// rounding of the terms of f'' without accelerations.
template <class Real>
ZWANG_INLINE Real zero_of_second(Real contact_tolerance, Real row_length, Real free_acceleration,
                                 Real rest_scale) {
  return 10 * contact_tolerance * (row_length * free_acceleration + rest_scale);
}

// Whether the hop of a condition that separates with f' = rate < 0 and comes back with f'' = second > 0 can
// be followed: its height rate^2 / (2 second) must exceed 4 zeros of f and its duration -2 rate / second 16
// roundings of the time. Other hops complete an accumulation at once (event/zeno.h).
template <class Real>
ZWANG_INLINE bool hop_is_resolved(Real rate, Real second, Real value_zero, Real rounding_of_time) {
  return square(rate) > 8 * second * value_zero && -2 * rate > 16 * second * rounding_of_time;
}

// The uncertainty of f'' of a condition that is released: its multiplier was zero only to within
// `multiplier_zero`. `weight` is the squared length of its row.
template <class Real>
ZWANG_INLINE Real noise_of_released(Real multiplier_zero, Real weight) {
  return Precision<Real>::release_noise * multiplier_zero * weight;
}
// A released condition with f'' above this would be violated by the motion of the others: it cannot be
// released. `size` is the sum of the magnitudes of the terms of f''.
template <class Real>
ZWANG_INLINE Real largest_released_second(Real size, Real noise) {
  return Real(1e-6) * size + noise;
}

// Whether a condition that opens is already clearly below zero or moves there.
template <class Real>
ZWANG_INLINE bool opens_armed(Real f, Real f_rate, Real value_zero, Real rate_zero) {
  return f < -value_zero || f_rate < -rate_zero;
}

// The condition opens at the time t. Written in place: returned by value it costs the event kernel two
// registers.
template <class Real>
ZWANG_INLINE void open_condition(Real t, bool armed, Real f, Real noise, Condition<Real>& condition) {
  condition = Condition<Real>{};
  condition.standing = Standing::open;
  condition.armed = armed;
  condition.since = t;
  condition.above = maximum(Real(0), f);
  condition.noise = noise;
}
// The condition closes with a positive multiplier.
template <class Real>
ZWANG_INLINE void close_condition(Real multiplier_zero, Condition<Real>& condition) {
  condition = Condition<Real>{};
  condition.standing = Standing::closed;
  condition.multiplier_zero = multiplier_zero;
}

}  // namespace zwang
