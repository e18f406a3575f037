// Pairs of packs that act as one number: instructions of the second pack fill the latency of the first. A
// stage of a small system is a chain of dependent instructions. Pairs pay only with narrow registers: with
// eight lanes there is little latency left to hide, and more to load (bench/results).
#pragma once

#include "kernels/base/portable.h"
#include "kernels/simd/lane_traits.h"
#include "kernels/simd/pack.h"

namespace zwang {

template <class P>
struct PackPairMask {
  typename Lanes<P>::Mask part[2];
};

template <class P>
struct PackPair {
  using T = typename Lanes<P>::Real;
  P part[2];

  PackPair() = default;
  ZWANG_INLINE explicit PackPair(T x) : part{P(x), P(x)} {}
  ZWANG_INLINE PackPair(const P& a, const P& b) : part{a, b} {}
};

template <class P>
struct Lanes<PackPair<P>> {
  using Real = typename Lanes<P>::Real;
  using Mask = PackPairMask<P>;
  static constexpr int count = 2 * Lanes<P>::count;
};

// Lanes are numbered through: first those of the first pack, then those of the second.
template <class P>
ZWANG_INLINE typename Lanes<P>::Real lane_of(const PackPair<P>& x, unsigned lane) {
  return lane_of(x.part[lane / Lanes<P>::count], lane % Lanes<P>::count);
}
template <class P>
ZWANG_INLINE bool lane_of(const PackPairMask<P>& x, unsigned lane) {
  return lane_of(x.part[lane / Lanes<P>::count], lane % Lanes<P>::count);
}
template <class P>
ZWANG_INLINE void set_lane(PackPair<P>& x, unsigned lane, typename Lanes<P>::Real value) {
  set_lane(x.part[lane / Lanes<P>::count], lane % Lanes<P>::count, value);
}
template <class P>
ZWANG_INLINE void set_lane(PackPairMask<P>& x, unsigned lane, bool value) {
  set_lane(x.part[lane / Lanes<P>::count], lane % Lanes<P>::count, value);
}
template <class P, class Visit>
ZWANG_INLINE void each_lane(const PackPairMask<P>& mask, const Visit& visit) {
  for (int half = 0; half < 2; ++half)
    each_lane(mask.part[half], [&](int lane) { visit(half * Lanes<P>::count + lane); });
}

#define ZWANG_BY_PACK_1(name, Result, Argument)       \
  template <class P>                                  \
  ZWANG_INLINE Result<P> name(const Argument<P>& a) { \
    return {name(a.part[0]), name(a.part[1])};        \
  }
#define ZWANG_BY_PACK_2(name, Result, Argument)                             \
  template <class P>                                                        \
  ZWANG_INLINE Result<P> name(const Argument<P>& a, const Argument<P>& b) { \
    return {name(a.part[0], b.part[0]), name(a.part[1], b.part[1])};        \
  }
ZWANG_BY_PACK_2(operator+, PackPair, PackPair)
ZWANG_BY_PACK_2(operator-, PackPair, PackPair)
ZWANG_BY_PACK_2(operator*, PackPair, PackPair)
ZWANG_BY_PACK_2(operator/, PackPair, PackPair)
ZWANG_BY_PACK_2(operator<, PackPairMask, PackPair)
ZWANG_BY_PACK_2(operator>, PackPairMask, PackPair)
ZWANG_BY_PACK_2(operator<=, PackPairMask, PackPair)
ZWANG_BY_PACK_2(operator>=, PackPairMask, PackPair)
ZWANG_BY_PACK_2(operator&&, PackPairMask, PackPairMask)
ZWANG_BY_PACK_2(operator||, PackPairMask, PackPairMask)
ZWANG_BY_PACK_1(operator!, PackPairMask, PackPairMask)
ZWANG_BY_PACK_1(operator-, PackPair, PackPair)
ZWANG_BY_PACK_2(minimum, PackPair, PackPair)
ZWANG_BY_PACK_2(maximum, PackPair, PackPair)
ZWANG_BY_PACK_2(lesser, PackPair, PackPair)
ZWANG_BY_PACK_2(larger, PackPair, PackPair)
ZWANG_BY_PACK_1(absolute, PackPair, PackPair)
ZWANG_BY_PACK_1(rough_16th, PackPair, PackPair)
ZWANG_BY_PACK_1(rough_3_32nds, PackPair, PackPair)
ZWANG_BY_PACK_1(rough_inverse, PackPair, PackPair)
ZWANG_BY_PACK_1(sqrt, PackPair, PackPair)
ZWANG_BY_PACK_1(sin, PackPair, PackPair)
ZWANG_BY_PACK_1(cos, PackPair, PackPair)
ZWANG_BY_PACK_1(tan, PackPair, PackPair)
ZWANG_BY_PACK_1(asin, PackPair, PackPair)
ZWANG_BY_PACK_1(acos, PackPair, PackPair)
ZWANG_BY_PACK_1(atan, PackPair, PackPair)
ZWANG_BY_PACK_1(sinh, PackPair, PackPair)
ZWANG_BY_PACK_1(cosh, PackPair, PackPair)
ZWANG_BY_PACK_1(tanh, PackPair, PackPair)
ZWANG_BY_PACK_1(exp, PackPair, PackPair)
ZWANG_BY_PACK_1(log, PackPair, PackPair)
ZWANG_BY_PACK_1(sign, PackPair, PackPair)
ZWANG_BY_PACK_1(round_down, PackPair, PackPair)
ZWANG_BY_PACK_2(atan2, PackPair, PackPair)
ZWANG_BY_PACK_2(hypot, PackPair, PackPair)
ZWANG_BY_PACK_2(power, PackPair, PackPair)
ZWANG_BY_PACK_2(wrap, PackPair, PackPair)
#undef ZWANG_BY_PACK_1
#undef ZWANG_BY_PACK_2

template <class P>
ZWANG_INLINE bool any(const PackPairMask<P>& a) {
  return any(a.part[0] || a.part[1]);
}
template <class P>
ZWANG_INLINE PackPair<P> select(const PackPairMask<P>& mask, const PackPair<P>& a, const PackPair<P>& b) {
  return {select(mask.part[0], a.part[0], b.part[0]), select(mask.part[1], a.part[1], b.part[1])};
}
template <class P>
ZWANG_INLINE PackPair<P> if_less(const PackPair<P>& a, const PackPair<P>& b, const PackPair<P>& x,
                                 const PackPair<P>& y) {
  return {if_less(a.part[0], b.part[0], x.part[0], y.part[0]),
          if_less(a.part[1], b.part[1], x.part[1], y.part[1])};
}
template <class P>
ZWANG_INLINE PackPair<P> fused(const PackPair<P>& a, const PackPair<P>& b, const PackPair<P>& c) {
  return {fused(a.part[0], b.part[0], c.part[0]), fused(a.part[1], b.part[1], c.part[1])};
}

// The number type of a lane group: a pack, or a pair of packs where a register holds only two doubles and the
// model is small (`light`), so that the longer compilation is affordable.
template <class T, bool pairs>
struct PackingFor {
  using Number = Pack<T>;
};
template <class T>
struct PackingFor<T, true> {
  using Number = PackPair<Pack<T>>;
};
template <class T, bool light>
using Packing = typename PackingFor<T, light && ZWANG_VECTOR_BYTES == 16>::Number;

}  // namespace zwang
