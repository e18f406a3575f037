// Lane traits: the interface through which one text runs on single numbers and on packs of numbers. Here for
// single numbers, which are packs of one lane; simd/pack.h and simd/pack_pair.h extend it to vector registers
// of a CPU.
#pragma once

#include "kernels/base/portable.h"

namespace zwang {

// Real: the number type of one lane. Mask: one truth value for each lane.
template <class Number>
struct Lanes {
  using Real = Number;
  using Mask = bool;
  static constexpr int count = 1;
};

// The mask with no lane set.
template <class Number>
ZWANG_INLINE typename Lanes<Number>::Mask no_lanes() {
  return Number(1) < Number(0);
}

ZWANG_INLINE bool any(bool mask) { return mask; }
// Calls `visit(lane)` for every lane that is set in the mask, in ascending order.
template <class Visit>
ZWANG_INLINE void each_lane(bool mask, const Visit& visit) {
  if (mask) visit(0);
}
ZWANG_INLINE bool lane_of(bool mask, int) { return mask; }
ZWANG_INLINE void set_lane(bool& mask, int, bool value) { mask = value; }
ZWANG_INLINE double lane_of(double x, int) { return x; }
ZWANG_INLINE float lane_of(float x, int) { return x; }
ZWANG_INLINE void set_lane(double& x, int, double value) { x = value; }
ZWANG_INLINE void set_lane(float& x, int, float value) { x = value; }
ZWANG_INLINE double select(bool mask, double a, double b) { return mask ? a : b; }
ZWANG_INLINE float select(bool mask, float a, float b) { return mask ? a : b; }

}  // namespace zwang
