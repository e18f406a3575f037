// Root search over the step length: finds the length at which a single event function crosses zero at the end
// of the step. Every evaluation is an ordinary trial step, so searching and moving lanes execute the same
// code. The search ends when the remaining distance can be covered by a low-order method. Anything but a
// single crossing is left to the slow path (event/first_event.h).
#pragma once

#include "kernels/base/portable.h"

namespace zwang {

// Result of a search, also stored with the member for the kernels that handle the event.
template <class Real, int functions>
struct CrossingResult {
  // 1 for the event function whose crossing is sought, else 0: conditions, then signals. Weights instead of an index
  // keep arrays in registers.
  Real sought[functions];
  Real h, next_h;  // of the step before the search: its proposed length, and the proposed length after it
  // Slope of the event function at the latest end. For a crossing to be found on the series: its value at the
  // end of the whole step.
  Real slope;

  // The index of the event function sought.
  ZWANG_INLINE int which() const {
    int found = 0;
    for (int i = 0; i < functions; ++i)
      if (sought[i] > 0) found = i;
    return found;
  }
};

// State of a search. It belongs to the lane: a member is not stored while its search is in progress.
template <class Real, int functions>
struct StepLengthSearch : CrossingResult<Real, functions> {
  using CrossingResult<Real, functions>::slope;
  Real no_search_from;  // start time of a step for which a search failed; it is not searched again
  Real halved_at;       // start time of a step within which the function may have risen and fallen again
  int tries, halvings;
  Real reach;            // fraction of a trial step that a low-order method can cover
  Real low, high;        // bracket: lengths of steps that end below zero and above zero
  Real at[3], value[3];  // lengths and values of the latest three ends, the newest first

  static constexpr int most_tries = 12, most_halvings = 3;
  // On CPU packs, a lane that handles its event alone stalls the others, so guesses are computed more
  // accurately and the search ends closer to the event. On a GPU the additional work for a guess would stall
  // the other lanes.
  static constexpr bool accurate_guess = ZWANG_STAGES_KEPT;

  // Begins a search in a step of length `whole` with the value `from` below zero at its start, `to` above
  // zero at its end, and `via` at the fraction `part`. Returns the first guess of the length: the root of the
  // quartic with the slopes at both ends (`part` is then one half), or of the parabola where the slopes are
  // not known (NaN).
  ZWANG_INLINE Real begin(Real whole, Real from, Real to, Real from_slope, Real to_slope, Real part,
                          Real via) {
    set_bracket(whole, from, to);
    const Real rise = whole * from_slope, fall = whole * to_slope;
    if (rise != rise) {
      const Real unit = 1 / (to - from), bend = ((via - from) * unit - part) / (part * (part - 1));
      return inside(Real(root_of_parabola(float(from * unit), float(1 - bend), float(bend))) * whole);
    }
    const Real bow = 16 * (via - Real(0.5) * (from + to) - Real(0.125) * (rise - fall));
    return inside(Real(root_of_quartic(from, to, rise, fall, bow)) * whole);
  }

  // The same without slopes, but with a second inner value `beyond` at the fraction `second`: the root of the
  // cubic. Its slope at the root is accurate enough to be used after the first trial step.
  ZWANG_INLINE Real begin_between(Real whole, Real from, Real to, Real part, Real via, Real second,
                                  Real beyond) {
    set_bracket(whole, from, to);
    const Real unit = 1 / (to - from), bend = ((via - from) * unit - part) / (part * (part - 1)),
               more = (((beyond - from) * unit - second) / (second * (second - 1)) - bend) / (second - part);
    float steep;
    const Real there =
        Real(root_of_cubic(float(from * unit), float(bend), float(more), float(part), steep)) * whole;
    const Real next = inside(there);
    if (steep > 0 && next == there) slope = Real(steep) / (unit * whole);
    return next;
  }

  // A trial step of length `length` ended at the value `now`, with the slope `known_slope` or NaN. Returns
  // the next guess of the length.
  ZWANG_INLINE Real improve(Real length, Real now, Real known_slope) {
    ++tries;
    (now > 0 ? high : low) = length;
    at[2] = at[1];
    value[2] = value[1];
    at[1] = at[0];
    value[1] = value[0];
    at[0] = length;
    value[0] = now;
    if (!accurate_guess || tries > 1 || known_slope == known_slope) slope = known_slope;
    if (slope != slope) slope = slope_of_parabola();
    const Real next = length - now / slope;
    return slope > 0 ? inside(next) : Real(0.5) * (low + high);
  }

 private:
  ZWANG_INLINE void set_bracket(Real whole, Real from, Real to) {
    tries = 0;
    low = 0;
    high = whole;
    at[0] = at[2] = whole;
    at[1] = 0;
    value[0] = value[2] = to;
    value[1] = from;
    if (accurate_guess) slope = missing<Real>();
  }

  // The root of c0 + c1 x + c2 x^2, which is below zero at 0 and above zero at 1.
  ZWANG_INLINE static float root_of_parabola(float c0, float c1, float c2) {
    const float root = sqrt(c1 * c1 - 4 * c2 * c0);
    return c1 < 0 ? (root - c1) / (2 * c2) : -2 * c0 / (c1 + root);
  }

  // The approximate root of c0 + x + bend x (x - 1) + more x (x - 1) (x - part), and the slope there.
  ZWANG_INLINE static float root_of_cubic(float c0, float bend, float more, float part, float& steep) {
    float x = root_of_parabola(c0, 1 - bend, bend);
    const auto slope_at = [&](float u) {
      return 1 + bend * (2 * u - 1) + more * (u * (3 * u - 2 * (1 + part)) + part);
    };
    ZWANG_REGISTERS for (int i = 0; i < 2; ++i) {
      x -= (c0 + x * (1 + (x - 1) * (bend + more * (x - part)))) / slope_at(x);
    }
    steep = slope_at(x);
    return x;
  }

  // The root of the cubic from `from` below zero to `to` above zero with slopes `rise` and `fall` at the
  // ends, plus bow x^2 (1 - x)^2. With accurate_guess to about 1e-6: the iteration (Halley) ends when it
  // moves by less than 1 %, and its error is the cube of that. Otherwise to about 1e-3, after a move of less
  // than 2 % (Newton). Floats in units of the whole change are sufficient.
  ZWANG_INLINE static float root_of_quartic(Real from, Real to, Real rise, Real fall, Real bow) {
    const Real unit = 1 / (to - from);
    const float c0 = float(from * unit), c1 = float(rise * unit), c4 = float(bow * unit),
                end_slope = float(fall * unit);
    const float c2 = 3 - 2 * c1 - end_slope + c4, c3 = c1 + end_slope - 2 - 2 * c4;
    // The bracket is the half of the first crossing. The initial guess is the root of the parabola with the
    // same midpoint, or, for a curve that starts downwards and returns soon (after a bounce), with the same
    // beginning.
    const float middle = c0 + 0.5F * (c1 + 0.5F * (c2 + 0.5F * (c3 + 0.5F * c4)));
    float below = middle > 0 ? 0.0F : 0.5F, above = below + 0.5F;
    const float bend = 2 - 4 * (middle - c0), soon = root_of_parabola(c0, c1, c2);
    float x = c1 < 0 && soon < 0.2F ? soon : root_of_parabola(c0, 1 - bend, bend);
    ZWANG_ROLLED for (int i = 0; i < 16; ++i) {
      if (!(x > below && x < above)) x = 0.5F * (below + above);
      const float f = c0 + x * (c1 + x * (c2 + x * (c3 + x * c4))),
                  slope_there = c1 + x * (2 * c2 + x * (3 * c3 + 4 * x * c4)),
                  half_bend = c2 + x * (3 * c3 + 6 * x * c4),
                  next = accurate_guess ? x - f * slope_there / (slope_there * slope_there - f * half_bend)
                                        : x - f / slope_there;
      if (absolute(next - x) <= (accurate_guess ? 0.01F : 0.02F) * x) return next;
      above = f > 0 ? x : above;
      below = f > 0 ? below : x;
      x = next;
    }
    return x;
  }

  // The slope at the newest point: of the parabola through all three points, or of the chord through two.
  ZWANG_INLINE Real slope_of_parabola() const {
    const Real d1 = (value[0] - value[1]) / (at[0] - at[1]);
    if (at[2] == at[0] || at[2] == at[1]) return d1;
    const Real d2 = (value[0] - value[2]) / (at[0] - at[2]), d3 = (value[1] - value[2]) / (at[1] - at[2]);
    const Real made = d1 + d2 - d3;
    return made > 0 ? made : d1;
  }
  ZWANG_INLINE Real inside(Real next) const {
    // Near the root the end of the bracket may be equal to it up to rounding, hence a tolerance at its edges.
    const Real edge = Real(0.1) * reach * high;
    return next > low - edge && next < high + edge ? next : Real(0.5) * (low + high);
  }
};

}  // namespace zwang
