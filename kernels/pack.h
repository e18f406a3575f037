// Several members side by side in vector registers: the same text runs on a pack as on one number. Members in a pack
// share nothing but the instruction stream: every operation acts on each lane alone, so a member's bits do not depend
// on its neighbours.
//
// Compiler vectors rather than a library: they are part of both compilers we use, and a library's headers alone would
// cost half of the time a study may take to compile.
#pragma once

#include "kernels/portable.h"

namespace zwang {

// One number is a pack of one lane.
template <class Number>
struct Lanes {
  using Real = Number;
  using Mask = bool;
  static constexpr int count = 1;
};

ZWANG_INLINE bool any(bool mask) { return mask; }
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
};
template <>
struct VectorOf<float> {
  typedef float Vector __attribute__((vector_size(ZWANG_VECTOR_BYTES)));
  typedef int Bits __attribute__((vector_size(ZWANG_VECTOR_BYTES)));
};

// All bits of a lane are equal: yes or no.
template <class T>
struct PackMask {
  using Bits = typename VectorOf<T>::Bits;
  Bits part[ZWANG_VECTOR_PARTS];
};

template <class T>
struct Pack {
  using Vector = typename VectorOf<T>::Vector;
  static constexpr int per_part = ZWANG_VECTOR_BYTES / int(sizeof(T));
  static constexpr int count = ZWANG_VECTOR_PARTS * per_part;
  Vector part[ZWANG_VECTOR_PARTS];

  Pack() = default;
  ZWANG_INLINE explicit Pack(T x) {
    ZWANG_UNROLL for (int i = 0; i < ZWANG_VECTOR_PARTS; ++i) part[i] = Vector{} + x;
  }
};

template <class T>
struct Lanes<Pack<T>> {
  using Real = T;
  using Mask = PackMask<T>;
  static constexpr int count = Pack<T>::count;
};

template <class T>
ZWANG_INLINE T lane_of(const Pack<T>& x, int lane) {
  return x.part[lane / Pack<T>::per_part][lane % Pack<T>::per_part];
}
template <class T>
ZWANG_INLINE bool lane_of(const PackMask<T>& x, int lane) {
  return x.part[lane / Pack<T>::per_part][lane % Pack<T>::per_part] != 0;
}
template <class T>
ZWANG_INLINE void set_lane(Pack<T>& x, int lane, T value) {
  x.part[lane / Pack<T>::per_part][lane % Pack<T>::per_part] = value;
}
template <class T>
ZWANG_INLINE void set_lane(PackMask<T>& x, int lane, bool value) {
  x.part[lane / Pack<T>::per_part][lane % Pack<T>::per_part] = value ? -1 : 0;
}

// Each operation: the same on every part.
#define ZWANG_EACH(result, expression)                                                 \
  result made;                                                                         \
  ZWANG_UNROLL for (int i = 0; i < ZWANG_VECTOR_PARTS; ++i) made.part[i] = expression; \
  return made;
#define ZWANG_ARITHMETIC(op)                                             \
  template <class T>                                                     \
  ZWANG_INLINE Pack<T> operator op(const Pack<T>& a, const Pack<T>& b) { \
    ZWANG_EACH(Pack<T>, a.part[i] op b.part[i])                          \
  }
#define ZWANG_COMPARISON(op)                                                 \
  template <class T>                                                         \
  ZWANG_INLINE PackMask<T> operator op(const Pack<T>& a, const Pack<T>& b) { \
    ZWANG_EACH(PackMask<T>, a.part[i] op b.part[i])                          \
  }
#define ZWANG_LOGIC(op, bits)                                                        \
  template <class T>                                                                 \
  ZWANG_INLINE PackMask<T> operator op(const PackMask<T>& a, const PackMask<T>& b) { \
    ZWANG_EACH(PackMask<T>, a.part[i] bits b.part[i])                                \
  }
ZWANG_ARITHMETIC(+)
ZWANG_ARITHMETIC(-)
ZWANG_ARITHMETIC(*)
ZWANG_ARITHMETIC(/)
ZWANG_COMPARISON(<)
ZWANG_COMPARISON(>)
ZWANG_COMPARISON(<=)
ZWANG_COMPARISON(>=)
ZWANG_LOGIC(&&, &)
ZWANG_LOGIC(||, |)
#undef ZWANG_ARITHMETIC
#undef ZWANG_COMPARISON
#undef ZWANG_LOGIC

template <class T>
ZWANG_INLINE Pack<T> operator-(const Pack<T>& a) {
  ZWANG_EACH(Pack<T>, -a.part[i])
}
template <class T>
ZWANG_INLINE PackMask<T> operator!(const PackMask<T>& a) {
  ZWANG_EACH(PackMask<T>, ~a.part[i])
}
template <class T>
ZWANG_INLINE Pack<T> select(const PackMask<T>& mask, const Pack<T>& a, const Pack<T>& b) {
  ZWANG_EACH(Pack<T>, mask.part[i] ? a.part[i] : b.part[i])
}
template <class T>
ZWANG_INLINE Pack<T> if_less(const Pack<T>& a, const Pack<T>& b, const Pack<T>& x, const Pack<T>& y) {
  ZWANG_EACH(Pack<T>, a.part[i] < b.part[i] ? x.part[i] : y.part[i])
}
// A NaN on the left comes through, as for plain numbers.
template <class T>
ZWANG_INLINE Pack<T> minimum(const Pack<T>& a, const Pack<T>& b) {
  ZWANG_EACH(Pack<T>, a.part[i] >= b.part[i] ? b.part[i] : a.part[i])
}
template <class T>
ZWANG_INLINE Pack<T> maximum(const Pack<T>& a, const Pack<T>& b) {
  ZWANG_EACH(Pack<T>, a.part[i] <= b.part[i] ? b.part[i] : a.part[i])
}
template <class T>
ZWANG_INLINE Pack<T> absolute(const Pack<T>& a) {
  ZWANG_EACH(Pack<T>, a.part[i] < 0 ? -a.part[i] : a.part[i])
}
template <class T>
ZWANG_INLINE bool any(const PackMask<T>& a) {
  typename PackMask<T>::Bits all = a.part[0];
  ZWANG_UNROLL for (int i = 1; i < ZWANG_VECTOR_PARTS; ++i) all |= a.part[i];
  decltype(all[0] | all[0]) yes = 0;
  ZWANG_UNROLL for (int i = 0; i < Pack<T>::per_part; ++i) yes |= all[i];
  return yes != 0;
}

// Functions without a vector instruction of their own go lane by lane; the square root the compiler turns into one.
#define ZWANG_LANE_BY_LANE(call)                                                       \
  Pack<T> made;                                                                        \
  ZWANG_UNROLL for (int i = 0; i < ZWANG_VECTOR_PARTS; ++i)                            \
      ZWANG_UNROLL for (int j = 0; j < Pack<T>::per_part; ++j) made.part[i][j] = call; \
  return made;
#define ZWANG_FUNCTION_1(name)                  \
  template <class T>                            \
  ZWANG_INLINE Pack<T> name(const Pack<T>& a) { \
    ZWANG_LANE_BY_LANE(name(T(a.part[i][j])))   \
  }
#define ZWANG_FUNCTION_2(name)                                    \
  template <class T>                                              \
  ZWANG_INLINE Pack<T> name(const Pack<T>& a, const Pack<T>& b) { \
    ZWANG_LANE_BY_LANE(name(T(a.part[i][j]), T(b.part[i][j])))    \
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
#undef ZWANG_LANE_BY_LANE
#undef ZWANG_EACH

#endif

}  // namespace zwang
