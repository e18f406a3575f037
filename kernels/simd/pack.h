// Several members side by side in vector registers: the same text runs on a pack as on one number. Members in a pack
// share nothing but the instruction stream: every operation acts on each lane alone, so a member's bits do not depend
// on its neighbours.
//
// Compiler vectors rather than a library: they are part of both compilers we use, and a library's headers alone would
// cost half of the time a study may take to compile.
#pragma once

#include "kernels/base/portable.h"

namespace zwang {

// One number is a pack of one lane.
template <class Number>
struct Lanes {
  using Real = Number;
  using Mask = bool;
  static constexpr int count = 1;
};

ZWANG_INLINE bool any(bool mask) { return mask; }
// Calls `visit` for every lane of the mask, one after the other.
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

#if ZWANG_PACKS

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

// All bits of a lane are equal: yes or no.
template <class T>
struct PackMask {
  typename VectorOf<T>::Bits bits;
};

// One register. Two would hide latency a little better (a tenth on two lanes) and double the time to compile.
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
// Registers of 64 bytes shrink to a byte a lane in one instruction; taken apart they go through memory.
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
  ZWANG_UNROLL for (int i = 1; i < Pack<T>::count; ++i) yes |= a.bits[i];
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
// A NaN on the left comes through, as for plain numbers.
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
  static constexpr auto one = Bits<T>::one, trifle = Bits<T>::trifle, unsigned_part = Bits<T>::unsigned_part;
  ZWANG_INLINE static Vector of(const Pack<T>& x) { return same_bits<Vector>(x.vector); }
  ZWANG_INLINE static Pack<T> from(Vector x) { return ZWANG_PACK(same_bits<typename Pack<T>::Vector>(x)); }
  ZWANG_INLINE static PackMask<T> is_odd(Vector x) { return {-(x & 1)}; }
};
// Without its sign: one instruction, where a comparison and a choice are three.
template <class T>
ZWANG_INLINE Pack<T> absolute(const Pack<T>& a) {
  using B = Bits<Pack<T>>;
  return B::from(B::of(a) & B::unsigned_part);
}

// Functions without a vector instruction of their own go lane by lane; the square root the compiler turns into one.
#define ZWANG_FUNCTION_1(name)                                                                   \
  template <class T>                                                                             \
  ZWANG_INLINE Pack<T> name(const Pack<T>& a) {                                                  \
    Pack<T> made;                                                                                \
    ZWANG_UNROLL for (int i = 0; i < Pack<T>::count; ++i) made.vector[i] = name(T(a.vector[i])); \
    return made;                                                                                 \
  }
#define ZWANG_FUNCTION_2(name)                                             \
  template <class T>                                                       \
  ZWANG_INLINE Pack<T> name(const Pack<T>& a, const Pack<T>& b) {          \
    Pack<T> made;                                                          \
    ZWANG_UNROLL for (int i = 0; i < Pack<T>::count; ++i) made.vector[i] = \
        name(T(a.vector[i]), T(b.vector[i]));                              \
    return made;                                                           \
  }
ZWANG_FUNCTION_1(sqrt)
ZWANG_FUNCTION_1(sin)
ZWANG_FUNCTION_1(cos)
ZWANG_FUNCTION_1(tan)
ZWANG_FUNCTION_1(asin)
ZWANG_FUNCTION_1(acos)
ZWANG_FUNCTION_1(atan)
ZWANG_FUNCTION_1(sinh)
ZWANG_FUNCTION_1(cosh)
ZWANG_FUNCTION_1(tanh)
ZWANG_FUNCTION_1(exp)
ZWANG_FUNCTION_1(log)
ZWANG_FUNCTION_1(sign)
ZWANG_FUNCTION_1(round_down)
ZWANG_FUNCTION_2(atan2)
ZWANG_FUNCTION_2(hypot)
ZWANG_FUNCTION_2(power)
ZWANG_FUNCTION_2(wrap)
#undef ZWANG_FUNCTION_1
#undef ZWANG_FUNCTION_2
template <class T>
ZWANG_INLINE Pack<T> fused(const Pack<T>& a, const Pack<T>& b, const Pack<T>& c) {
  Pack<T> made;
  ZWANG_UNROLL for (int i = 0; i < Pack<T>::count; ++i) made.vector[i] =
      fused(T(a.vector[i]), T(b.vector[i]), T(c.vector[i]));
  return made;
}
#undef ZWANG_PACK

#endif

}  // namespace zwang
