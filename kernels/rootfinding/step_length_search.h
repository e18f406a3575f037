// The search for the end of a step that a single crossing cuts short: ordinary tries, each ending where the crossing was
// last thought to be, until the rest is so short that a plain method will do. All lanes that seek take the same steps as those that
// merely move, so a search keeps nobody waiting; whatever is less simple than one crossing is left to event/first_event.h.
#pragma once

#include "kernels/base/portable.h"

namespace zwang {

// What a search that has ended leaves to whoever goes on from there.
template <class Real, int rows>
struct CrossingResult {
  Real sought
      [rows];  // 1 for the condition that is sought, else 0: lanes have no other way to point at one of theirs
  Real h, next_h;  // of the whole step: the length it was given, and what would come after it
  Real slope;      // of the curve at the newest end; or how far above zero a step ends that crosses

  ZWANG_INLINE int which() const {
    int found = 0;
    for (int i = 0; i < rows; ++i)
      if (sought[i] > 0) found = i;
    return found;
  }
};

// It stays with its lane: a member is not handed over in the middle of one.
template <class Real, int rows>
struct StepLengthSearch : CrossingResult<Real, rows> {
  using CrossingResult<Real, rows>::slope;
  Real no_search_from;  // the start of a step that was not so simple after all
  Real halved_at;       // the start of a step that may have gone up and come back
  int tries, halvings;
  Real reach;            // of a try: over this share of it a plain method is good enough
  Real low, high;        // lengths of steps that end below zero, and above
  Real at[3], value[3];  // the latest three ends, the newest first

  static constexpr int most_tries = 12, most_halvings = 3;
  // One lane of a pack that lands has all others wait: the nearer the shorter. On a GPU they would wait for the guess.
  static constexpr bool closely = ZWANG_STAGES_KEPT;

  // A step of length `whole` goes from value `from` below zero to `to` above it, and through `via` at the fraction `part`.
  // The first guess: the root of the quartic with the slopes at both ends, `part` being a half; where they are not known
  // (NaN), of the parabola.
  ZWANG_INLINE Real begin(Real whole, Real from, Real to, Real from_slope, Real to_slope, Real part,
                          Real via) {
    set_out(whole, from, to);
    const Real rise = whole * from_slope, fall = whole * to_slope;
    if (rise != rise) {
      const Real unit = 1 / (to - from), bend = ((via - from) * unit - part) / (part * (part - 1));
      return inside(Real(root_of_parabola(float(from * unit), float(1 - bend), float(bend))) * whole);
    }
    const Real bow = 16 * (via - Real(0.5) * (from + to) - Real(0.125) * (rise - fall));
    return inside(Real(root_of_quartic(from, to, rise, fall, bow)) * whole);
  }

  // The same without slopes, but through `beyond` at `second` too: the root of the cubic. Its slope there is good enough to be
  // believed when the try has ended.
  ZWANG_INLINE Real begin_between(Real whole, Real from, Real to, Real part, Real via, Real second,
                                  Real beyond) {
    set_out(whole, from, to);
    const Real unit = 1 / (to - from), bend = ((via - from) * unit - part) / (part * (part - 1)),
               more = (((beyond - from) * unit - second) / (second * (second - 1)) - bend) / (second - part);
    float steep;
    const Real there =
        Real(root_of_cubic(float(from * unit), float(bend), float(more), float(part), steep)) * whole;
    const Real next = inside(there);
    if (steep > 0 && next == there) slope = Real(steep) / (unit * whole);
    return next;
  }

  // A try of length `length` ended at `now`; its slope is NaN where not known. Where the crossing is thought to be now.
  ZWANG_INLINE Real improve(Real length, Real now, Real known_slope) {
    ++tries;
    (now > 0 ? high : low) = length;
    at[2] = at[1];
    value[2] = value[1];
    at[1] = at[0];
    value[1] = value[0];
    at[0] = length;
    value[0] = now;
    if (!closely || tries > 1 || known_slope == known_slope) slope = known_slope;
    if (slope != slope) slope = slope_of_parabola();
    const Real next = length - now / slope;
    return slope > 0 ? inside(next) : Real(0.5) * (low + high);
  }

 private:
  ZWANG_INLINE void set_out(Real whole, Real from, Real to) {
    tries = 0;
    low = 0;
    high = whole;
    at[0] = at[2] = whole;
    at[1] = 0;
    value[0] = value[2] = to;
    value[1] = from;
    if (closely) slope = missing<Real>();
  }

  // Where c0 + c1 x + c2 x^2, which is below zero at 0 and above it at 1, crosses zero.
  ZWANG_INLINE static float root_of_parabola(float c0, float c1, float c2) {
    const float root = sqrt(c1 * c1 - 4 * c2 * c0);
    return c1 < 0 ? (root - c1) / (2 * c2) : -2 * c0 / (c1 + root);
  }

  // Near the root of c0 + x + bend x (x - 1) + more x (x - 1) (x - part), and its slope there.
  ZWANG_INLINE static float root_of_cubic(float c0, float bend, float more, float part, float& steep) {
    float x = root_of_parabola(c0, 1 - bend, bend);
    const auto slope_at = [&](float u) {
      return 1 + bend * (2 * u - 1) + more * (u * (3 * u - 2 * (1 + part)) + part);
    };
    ZWANG_REGISTERS for (int i = 0; i < 2; ++i) x -=
        (c0 + x * (1 + (x - 1) * (bend + more * (x - part)))) / slope_at(x);
    steep = slope_at(x);
    return x;
  }

  // Of the cubic from `from` below zero to `to` above it with slopes `rise` and `fall`, and bow x^2 (1 - x)^2. To about a
  // millionth: floats in units of the whole change will do, and after a move of a hundredth (Halley's) the next would be that
  // small. Or to a thousandth, after one of a fiftieth (Newton's).
  ZWANG_INLINE static float root_of_quartic(Real from, Real to, Real rise, Real fall, Real bow) {
    const Real unit = 1 / (to - from);
    const float c0 = float(from * unit), c1 = float(rise * unit), c4 = float(bow * unit),
                end_slope = float(fall * unit);
    const float c2 = 3 - 2 * c1 - end_slope + c4, c3 = c1 + end_slope - 2 - 2 * c4;
    // The half in which it crosses zero first; and where the parabola does that has the same middle, or of a curve that sets
    // off downwards and comes back soon, as after a bounce, the same beginning.
    const float middle = c0 + 0.5F * (c1 + 0.5F * (c2 + 0.5F * (c3 + 0.5F * c4)));
    float below = middle > 0 ? 0.0F : 0.5F, above = below + 0.5F;
    const float bend = 2 - 4 * (middle - c0), soon = root_of_parabola(c0, c1, c2);
    float x = c1 < 0 && soon < 0.2F ? soon : root_of_parabola(c0, 1 - bend, bend);
    ZWANG_ROLLED for (int i = 0; i < 16; ++i) {
      if (!(x > below && x < above)) x = 0.5F * (below + above);
      const float f = c0 + x * (c1 + x * (c2 + x * (c3 + x * c4))),
                  slope_there = c1 + x * (2 * c2 + x * (3 * c3 + 4 * x * c4)),
                  half_bend = c2 + x * (3 * c3 + 6 * x * c4),
                  next = closely ? x - f * slope_there / (slope_there * slope_there - f * half_bend)
                                 : x - f / slope_there;
      if (absolute(next - x) <= (closely ? 0.01F : 0.02F) * x) return next;
      above = f > 0 ? x : above;
      below = f > 0 ? below : x;
      x = next;
    }
    return x;
  }

  // At the newest point, of the parabola through all three; of the chord while there are only two.
  ZWANG_INLINE Real slope_of_parabola() const {
    const Real d1 = (value[0] - value[1]) / (at[0] - at[1]);
    if (at[2] == at[0] || at[2] == at[1]) return d1;
    const Real d2 = (value[0] - value[2]) / (at[0] - at[2]), d3 = (value[1] - value[2]) / (at[1] - at[2]);
    const Real made = d1 + d2 - d3;
    return made > 0 ? made : d1;
  }
  ZWANG_INLINE Real inside(Real next) const {
    // An end that is there to rounding may lie on the bracket's edge.
    const Real edge = Real(0.1) * reach * high;
    return next > low - edge && next < high + edge ? next : Real(0.5) * (low + high);
  }
};

}  // namespace zwang
