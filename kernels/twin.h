// Two packs side by side, as one number: while an instruction of the one waits for the answer before it, the other's can be
// under way. A stage of a small system is a chain of such waits. It pays where registers are short; eight lanes side by side
// leave little to gain, and more to be fetched (bench/results).
#pragma once

#include "kernels/swift.h"

namespace zwang {

#if ZWANG_PACKS

template <class P>
struct TwinMask {
  typename Lanes<P>::Mask part[2];
};

template <class P>
struct Twin {
  using T = typename Lanes<P>::Real;
  P part[2];

  Twin() = default;
  ZWANG_INLINE explicit Twin(T x) : part{P(x), P(x)} {}
  ZWANG_INLINE Twin(const P& a, const P& b) : part{a, b} {}
};

template <class P>
struct Lanes<Twin<P>> {
  using Real = typename Lanes<P>::Real;
  using Mask = TwinMask<P>;
  static constexpr int count = 2 * Lanes<P>::count;
};

// The second pack's lanes follow the first's.
template <class P>
ZWANG_INLINE typename Lanes<P>::Real lane_of(const Twin<P>& x, unsigned lane) {
  return lane_of(x.part[lane / Lanes<P>::count], lane % Lanes<P>::count);
}
template <class P>
ZWANG_INLINE bool lane_of(const TwinMask<P>& x, unsigned lane) {
  return lane_of(x.part[lane / Lanes<P>::count], lane % Lanes<P>::count);
}
template <class P>
ZWANG_INLINE void set_lane(Twin<P>& x, unsigned lane, typename Lanes<P>::Real value) {
  set_lane(x.part[lane / Lanes<P>::count], lane % Lanes<P>::count, value);
}
template <class P>
ZWANG_INLINE void set_lane(TwinMask<P>& x, unsigned lane, bool value) {
  set_lane(x.part[lane / Lanes<P>::count], lane % Lanes<P>::count, value);
}
template <class P, class Visit>
ZWANG_INLINE void each_lane(const TwinMask<P>& mask, const Visit& visit) {
  for (int half = 0; half < 2; ++half)
    each_lane(mask.part[half], [&](int lane) { visit(half * Lanes<P>::count + lane); });
}

#define ZWANG_TWIN_1(name, Result, Argument)          \
  template <class P>                                  \
  ZWANG_INLINE Result<P> name(const Argument<P>& a) { \
    return {name(a.part[0]), name(a.part[1])};        \
  }
#define ZWANG_TWIN_2(name, Result, Argument)                                \
  template <class P>                                                        \
  ZWANG_INLINE Result<P> name(const Argument<P>& a, const Argument<P>& b) { \
    return {name(a.part[0], b.part[0]), name(a.part[1], b.part[1])};        \
  }
ZWANG_TWIN_2(operator+, Twin, Twin)
ZWANG_TWIN_2(operator-, Twin, Twin)
ZWANG_TWIN_2(operator*, Twin, Twin)
ZWANG_TWIN_2(operator/, Twin, Twin)
ZWANG_TWIN_2(operator<, TwinMask, Twin)
ZWANG_TWIN_2(operator>, TwinMask, Twin)
ZWANG_TWIN_2(operator<=, TwinMask, Twin)
ZWANG_TWIN_2(operator>=, TwinMask, Twin)
ZWANG_TWIN_2(operator&&, TwinMask, TwinMask)
ZWANG_TWIN_2(operator||, TwinMask, TwinMask)
ZWANG_TWIN_1(operator!, TwinMask, TwinMask)
ZWANG_TWIN_1(operator-, Twin, Twin)
ZWANG_TWIN_2(minimum, Twin, Twin)
ZWANG_TWIN_2(maximum, Twin, Twin)
ZWANG_TWIN_2(lesser, Twin, Twin)
ZWANG_TWIN_2(larger, Twin, Twin)
ZWANG_TWIN_1(absolute, Twin, Twin)
ZWANG_TWIN_1(rough_16th, Twin, Twin)
ZWANG_TWIN_1(rough_3_32nds, Twin, Twin)
ZWANG_TWIN_1(rough_inverse, Twin, Twin)
ZWANG_TWIN_1(sqrt, Twin, Twin)
ZWANG_TWIN_1(sin, Twin, Twin)
ZWANG_TWIN_1(cos, Twin, Twin)
ZWANG_TWIN_1(tan, Twin, Twin)
ZWANG_TWIN_1(asin, Twin, Twin)
ZWANG_TWIN_1(acos, Twin, Twin)
ZWANG_TWIN_1(atan, Twin, Twin)
ZWANG_TWIN_1(sinh, Twin, Twin)
ZWANG_TWIN_1(cosh, Twin, Twin)
ZWANG_TWIN_1(tanh, Twin, Twin)
ZWANG_TWIN_1(exp, Twin, Twin)
ZWANG_TWIN_1(log, Twin, Twin)
ZWANG_TWIN_1(sign, Twin, Twin)
ZWANG_TWIN_1(round_down, Twin, Twin)
ZWANG_TWIN_2(atan2, Twin, Twin)
ZWANG_TWIN_2(hypot, Twin, Twin)
ZWANG_TWIN_2(power, Twin, Twin)
ZWANG_TWIN_2(wrap, Twin, Twin)
#undef ZWANG_TWIN_1
#undef ZWANG_TWIN_2

template <class P>
ZWANG_INLINE bool any(const TwinMask<P>& a) {
  return any(a.part[0] || a.part[1]);
}
template <class P>
ZWANG_INLINE Twin<P> select(const TwinMask<P>& mask, const Twin<P>& a, const Twin<P>& b) {
  return {select(mask.part[0], a.part[0], b.part[0]), select(mask.part[1], a.part[1], b.part[1])};
}
template <class P>
ZWANG_INLINE Twin<P> if_less(const Twin<P>& a, const Twin<P>& b, const Twin<P>& x, const Twin<P>& y) {
  return {if_less(a.part[0], b.part[0], x.part[0], y.part[0]),
          if_less(a.part[1], b.part[1], x.part[1], y.part[1])};
}
template <class P>
ZWANG_INLINE Twin<P> fused(const Twin<P>& a, const Twin<P>& b, const Twin<P>& c) {
  return {fused(a.part[0], b.part[0], c.part[0]), fused(a.part[1], b.part[1], c.part[1])};
}

// What crews compute with: a pack, or two of them where a register holds but two doubles and the text is `light`.
template <class T, bool twins>
struct PackingOf {
  using Number = Pack<T>;
};
template <class T>
struct PackingOf<T, true> {
  using Number = Twin<Pack<T>>;
};
template <class T, bool light>
using Packing = typename PackingOf<T, light && ZWANG_VECTOR_BYTES == 16>::Number;

#endif

}  // namespace zwang
