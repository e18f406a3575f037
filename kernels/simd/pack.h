// Packs: several members in one vector register of a CPU. Every operation acts on each lane alone, so the
// bits of a member do not depend on the other members of its pack. Only the CPU entry includes this file.
// All functions are templates: a CUDA compiler may read this file but cannot instantiate them.
//
// Compiler vector extensions are used rather than a library: both supported compilers have them, and the
// headers of a library alone would take half of the time in which a study has to compile.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/simd/lane_traits.h"
#include "kernels/simd/sincos.h"

namespace zwang {

template <class T>
struct VectorOf;
template <>
struct VectorOf<double> {
  typedef double Vector __attribute__((vector_size(ZWANG_VECTOR_BYTES)));
  typedef long long Bits __attribute__((vector_size(ZWANG_VECTOR_BYTES)));
  typedef char Bytes __attribute__((vector_size(ZWANG_VECTOR_BYTES / 8)));
};
template <>
struct VectorOf<float> {
  typedef float Vector __attribute__((vector_size(ZWANG_VECTOR_BYTES)));
  typedef int Bits __attribute__((vector_size(ZWANG_VECTOR_BYTES)));
  typedef char Bytes __attribute__((vector_size(ZWANG_VECTOR_BYTES / 4)));
};

// A mask: all bits of a lane are ones (true) or zeros (false).
template <class T>
struct PackMask {
  typename VectorOf<T>::Bits bits;
};

// One vector register. Two registers would hide latency a little better (10 % with two lanes) but double the
// time to compile.
template <class T>
struct Pack {
  using Vector = typename VectorOf<T>::Vector;
  static constexpr int count = ZWANG_VECTOR_BYTES / int(sizeof(T));
  Vector vector;

  Pack() = default;
  ZWANG_INLINE explicit Pack(T x) : vector(Vector{} + x) {}
  struct Raw {};
  ZWANG_INLINE Pack(Raw, Vector x) : vector(x) {}
};

template <class T>
struct Lanes<Pack<T>> {
  using Real = T;
  using Mask = PackMask<T>;
  static constexpr int count = Pack<T>::count;
};

template <class T>
ZWANG_INLINE T lane_of(const Pack<T>& x, int lane) {
  return x.vector[lane];
}
template <class T>
ZWANG_INLINE bool lane_of(const PackMask<T>& x, int lane) {
  return x.bits[lane] != 0;
}
template <class T>
ZWANG_INLINE void set_lane(Pack<T>& x, int lane, T value) {
  x.vector[lane] = value;
}
template <class T>
ZWANG_INLINE void set_lane(PackMask<T>& x, int lane, bool value) {
  x.bits[lane] = value ? -1 : 0;
}

#define ZWANG_PACK(expression) Pack<T>(typename Pack<T>::Raw{}, expression)
#define ZWANG_ARITHMETIC(op)                                             \
  template <class T>                                                     \
  ZWANG_INLINE Pack<T> operator op(const Pack<T>& a, const Pack<T>& b) { \
    return ZWANG_PACK(a.vector op b.vector);                             \
  }
#define ZWANG_COMPARISON(op)                                                 \
  template <class T>                                                         \
  ZWANG_INLINE PackMask<T> operator op(const Pack<T>& a, const Pack<T>& b) { \
    return {a.vector op b.vector};                                           \
  }
ZWANG_ARITHMETIC(+)
ZWANG_ARITHMETIC(-)
ZWANG_ARITHMETIC(*)
ZWANG_ARITHMETIC(/)
ZWANG_COMPARISON(<)
ZWANG_COMPARISON(>)
ZWANG_COMPARISON(<=)
ZWANG_COMPARISON(>=)
#undef ZWANG_ARITHMETIC
#undef ZWANG_COMPARISON

template <class T>
ZWANG_INLINE PackMask<T> operator&&(const PackMask<T>& a, const PackMask<T>& b) {
  return {a.bits & b.bits};
}
template <class T>
ZWANG_INLINE PackMask<T> operator||(const PackMask<T>& a, const PackMask<T>& b) {
  return {a.bits | b.bits};
}
template <class T>
ZWANG_INLINE PackMask<T> operator!(const PackMask<T>& a) {
  return {~a.bits};
}
// The mask with one byte for each lane. With registers of 64 bytes this conversion is one instruction, while
// access to single lanes goes through memory.
template <class T>
struct MaskWords {
  static constexpr int count = Pack<T>::count / 8;
  unsigned long long word[at_least_one(count)];
};
template <class T>
ZWANG_INLINE MaskWords<T> words_of(const PackMask<T>& a) {
  return same_bits<MaskWords<T>>(__builtin_convertvector(a.bits, typename VectorOf<T>::Bytes));
}
template <class T>
ZWANG_INLINE bool any(const PackMask<T>& a) {
  if constexpr (ZWANG_VECTOR_BYTES == 64) {
    const MaskWords<T> all = words_of(a);
    return (all.word[0] | all.word[all.count - 1]) != 0;
  }
  auto yes = a.bits[0];
  ZWANG_UNROLL for (int i = 1; i < Pack<T>::count; ++i) { yes |= a.bits[i]; }
  return yes != 0;
}
template <class T, class Visit>
ZWANG_INLINE void each_lane(const PackMask<T>& mask, const Visit& visit) {
  if constexpr (ZWANG_VECTOR_BYTES == 64) {
    const MaskWords<T> all = words_of(mask);
    for (int i = 0; i < all.count; ++i)
      for (unsigned long long left = all.word[i]; left != 0;
           left &= ~(0xffULL << (__builtin_ctzll(left) & ~7)))
        visit(8 * i + __builtin_ctzll(left) / 8);
  } else {
    for (int lane = 0; lane < Pack<T>::count; ++lane)
      if (lane_of(mask, lane)) visit(lane);
  }
}

template <class T>
ZWANG_INLINE Pack<T> operator-(const Pack<T>& a) {
  return ZWANG_PACK(-a.vector);
}
template <class T>
ZWANG_INLINE Pack<T> select(const PackMask<T>& mask, const Pack<T>& a, const Pack<T>& b) {
  return ZWANG_PACK(mask.bits ? a.vector : b.vector);
}
template <class T>
ZWANG_INLINE Pack<T> if_less(const Pack<T>& a, const Pack<T>& b, const Pack<T>& x, const Pack<T>& y) {
  return ZWANG_PACK(a.vector < b.vector ? x.vector : y.vector);
}
// A NaN on the left is returned, as for single numbers.
template <class T>
ZWANG_INLINE Pack<T> minimum(const Pack<T>& a, const Pack<T>& b) {
  return ZWANG_PACK(b.vector < a.vector ? b.vector : a.vector);
}
template <class T>
ZWANG_INLINE Pack<T> maximum(const Pack<T>& a, const Pack<T>& b) {
  return ZWANG_PACK(b.vector > a.vector ? b.vector : a.vector);
}
template <class T>
ZWANG_INLINE Pack<T> lesser(const Pack<T>& a, const Pack<T>& b) {
  return minimum(a, b);
}
template <class T>
ZWANG_INLINE Pack<T> larger(const Pack<T>& a, const Pack<T>& b) {
  return maximum(a, b);
}
template <class T>
struct Bits<Pack<T>> {
  using Vector = typename VectorOf<T>::Bits;
  static constexpr auto one = Bits<T>::one, half_log_error = Bits<T>::half_log_error,
                        unsigned_part = Bits<T>::unsigned_part;
  ZWANG_INLINE static Vector of(const Pack<T>& x) { return same_bits<Vector>(x.vector); }
  ZWANG_INLINE static Pack<T> from(Vector x) { return ZWANG_PACK(same_bits<typename Pack<T>::Vector>(x)); }
  ZWANG_INLINE static PackMask<T> is_odd(Vector x) { return {-(x & 1)}; }
};
// Clears the sign bit: one instruction, while a comparison and a selection take three.
template <class T>
ZWANG_INLINE Pack<T> absolute(const Pack<T>& a) {
  using B = Bits<Pack<T>>;
  return B::from(B::of(a) & B::unsigned_part);
}

// Functions without a vector instruction are evaluated lane by lane; the compiler vectorises the square root.
#define ZWANG_LANE_BY_LANE_1(name, function)                                                             \
  template <class T>                                                                                     \
  ZWANG_INLINE Pack<T> name(const Pack<T>& a) {                                                          \
    Pack<T> made;                                                                                        \
    ZWANG_UNROLL for (int i = 0; i < Pack<T>::count; ++i) { made.vector[i] = function(T(a.vector[i])); } \
    return made;                                                                                         \
  }
#define ZWANG_LANE_BY_LANE_2(name)                                \
  template <class T>                                              \
  ZWANG_INLINE Pack<T> name(const Pack<T>& a, const Pack<T>& b) { \
    Pack<T> made;                                                 \
    ZWANG_UNROLL for (int i = 0; i < Pack<T>::count; ++i) {       \
      made.vector[i] = name(T(a.vector[i]), T(b.vector[i]));      \
    }                                                             \
    return made;                                                  \
  }
ZWANG_LANE_BY_LANE_1(sqrt, sqrt)
ZWANG_LANE_BY_LANE_1(library_sin, sin)
ZWANG_LANE_BY_LANE_1(library_cos, cos)
ZWANG_LANE_BY_LANE_1(tan, tan)
ZWANG_LANE_BY_LANE_1(asin, asin)
ZWANG_LANE_BY_LANE_1(acos, acos)
ZWANG_LANE_BY_LANE_1(atan, atan)
ZWANG_LANE_BY_LANE_1(sinh, sinh)
ZWANG_LANE_BY_LANE_1(cosh, cosh)
ZWANG_LANE_BY_LANE_1(tanh, tanh)
ZWANG_LANE_BY_LANE_1(exp, exp)
ZWANG_LANE_BY_LANE_1(log, log)
ZWANG_LANE_BY_LANE_1(sign, sign)
ZWANG_LANE_BY_LANE_1(round_down, round_down)
ZWANG_LANE_BY_LANE_2(atan2)
ZWANG_LANE_BY_LANE_2(hypot)
ZWANG_LANE_BY_LANE_2(power)
ZWANG_LANE_BY_LANE_2(wrap)
#undef ZWANG_LANE_BY_LANE_1
#undef ZWANG_LANE_BY_LANE_2
template <class T>
ZWANG_INLINE Pack<T> fused(const Pack<T>& a, const Pack<T>& b, const Pack<T>& c) {
  Pack<T> made;
  ZWANG_UNROLL for (int i = 0; i < Pack<T>::count; ++i) {
    made.vector[i] = fused(T(a.vector[i]), T(b.vector[i]), T(c.vector[i]));
  }
  return made;
}
#undef ZWANG_PACK

// The sine of x plus `quarters` quarter turns (0 or 1). Lanes beyond the range of sin_reduced() are evaluated
// by the library. The choice is made for each lane alone, so its bits do not depend on the other lanes.
template <class T>
ZWANG_INLINE Pack<T> sin_of_lanes(const Pack<T>& x, int quarters) {
  Pack<T> made = sin_reduced(x, quarters);
  const PackMask<T> moderate = absolute(x) < Pack<T>(moderate_angle);
  if (any(!moderate))
    for (int lane = 0; lane < Pack<T>::count; ++lane) {
      if (lane_of(moderate, lane)) continue;
      const T angle = lane_of(x, lane);
      set_lane(made, lane, quarters == 0 ? sin(angle) : cos(angle));
    }
  return made;
}
template <class T>
ZWANG_INLINE Pack<T> sin(const Pack<T>& x) {
  if constexpr (ZWANG_FUSES && same_type<T, double>)
    return sin_of_lanes(x, 0);
  else
    return library_sin(x);
}
template <class T>
ZWANG_INLINE Pack<T> cos(const Pack<T>& x) {
  if constexpr (ZWANG_FUSES && same_type<T, double>)
    return sin_of_lanes(x, 1);
  else
    return library_cos(x);
}

}  // namespace zwang
