// Differences between compilers and machines; no other file of the kernels has preprocessor conditions. Also
// the scalar functions used by the emitted formulas, for double and float; simd/pack.h and base/scaled.h
// define them for their number types.
#pragma once

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
// Functions outside the step are not inlined: inlined everywhere, the program would take minutes to compile.
#define ZWANG_DEVICE __host__ __device__ __noinline__
#define ZWANG_CONSTANT __host__ __device__
// Instructions read operands directly from constant memory; a double literal would cost two more
// instructions.
#define ZWANG_CONSTANT_MEMORY __constant__
// Index tables of long models, read at run time.
#define ZWANG_TABLE __device__ const
#define ZWANG_HOT __host__ __device__ __forceinline__
#define ZWANG_INLINE __host__ __device__ __forceinline__
#define ZWANG_COLD __host__ __device__ __noinline__
#define ZWANG_BUILTIN(name) ::name
#if defined(ZWANG_LOOPS_ROLLED)  // see the end of this file
#define ZWANG_UNROLL
#define ZWANG_REGISTERS
#define ZWANG_ROLLED
#else
#define ZWANG_UNROLL _Pragma("unroll")
// Loops over arrays that must stay in registers: the compiler keeps an array there only if every index is
// constant. The arrays of long models do not fit: they are in local memory, and a few loads at once hide its
// latency.
#if defined(ZWANG_LONG_MODEL)
#define ZWANG_REGISTERS _Pragma("unroll 4")
#else
#define ZWANG_REGISTERS _Pragma("unroll")
#endif
// Loops that are not unrolled: in long code, instruction fetch limits the warps.
#define ZWANG_ROLLED _Pragma("unroll 1")
#endif
#define ZWANG_STAGES_KEPT 0
// A word that other threads of the device find only together with what this one has written before.
#define ZWANG_STORE_RELEASE(place, word) \
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(place), "r"(word) : "memory")
// Steps that the slow path takes with one member before the others go on.
#define ZWANG_STEPS_ALONE 4
#else
#define ZWANG_DEVICE
#define ZWANG_CONSTANT
#define ZWANG_CONSTANT_MEMORY inline
#define ZWANG_TABLE inline constexpr
#define ZWANG_HOT
#define ZWANG_REGISTERS
#define ZWANG_ROLLED
// The stages of a step are kept for the slow path: on a CPU they are in memory anyway, and a copy costs less
// than repeating the step.
#define ZWANG_STAGES_KEPT 1
#define ZWANG_STORE_RELEASE(place, word) (*(place) = (word))
#define ZWANG_STEPS_ALONE 2147483647
#define ZWANG_INLINE __attribute__((always_inline)) inline
// Events are rare compared to steps. Their functions are not inlined: compiled once, and not part of the hot
// loop.
#define ZWANG_COLD __attribute__((noinline))
#define ZWANG_BUILTIN(name) __builtin_##name
#define ZWANG_EXPORT __attribute__((visibility("default")))
#if defined(__clang__)
#define ZWANG_UNROLL _Pragma("unroll")
#else
#define ZWANG_UNROLL _Pragma("GCC unroll 64")
#endif
#endif

// 1 where a product and a sum are rounded once (fused multiply-add).
#if defined(__CUDACC__) || defined(__CUDACC_RTC__) || defined(__FMA__) || defined(__aarch64__)
#define ZWANG_FUSES 1
#else
#define ZWANG_FUSES 0
#endif

// Bytes of a vector register.
#if defined(__AVX512F__)
#define ZWANG_VECTOR_BYTES 64
#elif defined(__AVX__)
#define ZWANG_VECTOR_BYTES 32
#else
#define ZWANG_VECTOR_BYTES 16
#endif

namespace zwang {

// Processor clock in unspecified units: only ratios of differences are meaningful.
ZWANG_INLINE long long clock_ticks() {
#if defined(__CUDA_ARCH__)
  return clock64();
#elif defined(__x86_64__) && !defined(__CUDACC__)
  return static_cast<long long>(__builtin_ia32_rdtsc());
#elif defined(__aarch64__) && !defined(__CUDACC__)
  long long ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return 0;
#endif
}

ZWANG_INLINE unsigned long long bits_of_double(double x) {
#if defined(__CUDA_ARCH__)
  return static_cast<unsigned long long>(__double_as_longlong(x));
#else
  unsigned long long bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
#endif
}

ZWANG_INLINE double double_of_bits(unsigned long long bits) {
#if defined(__CUDA_ARCH__)
  return __longlong_as_double(static_cast<long long>(bits));
#else
  double x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
#endif
}

// 16 bytes, the largest single load or store of a GPU thread.
struct alignas(16) WideWord {
  unsigned word[4];
};
// Copies an object by loads and stores of that size.
template <class T>
ZWANG_INLINE void copy_by_wide_words(T& to, const T& from) {
#if defined(__CUDA_ARCH__)
  static_assert(alignof(T) % alignof(WideWord) == 0, "a whole number of wide words");
  _Pragma("unroll") for (int i = 0; i < int(sizeof(T) / sizeof(WideWord)); ++i) {
    reinterpret_cast<WideWord*>(&to)[i] = reinterpret_cast<const WideWord*>(&from)[i];
  }
#else
  to = from;
#endif
}

// Atomic updates of values shared by GPU threads. On the host the reductions run on one thread and need none.
template <class T>
ZWANG_INLINE T atomic_add(T* to, T what) {
#if defined(__CUDA_ARCH__)
  return atomicAdd(to, what);
#else
  const T before = *to;
  *to += what;
  return before;
#endif
}
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
// Sum over all lanes of a warp; every lane receives it. Devices before compute capability 8.0 have no
// instruction for it.
__device__ __forceinline__ unsigned sum_of_warp(unsigned x) {
  constexpr unsigned all_lanes = 0xffffffffU;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_add_sync(all_lanes, x);
#else
  for (int distance = 16; distance > 0; distance /= 2) x += __shfl_xor_sync(all_lanes, x, distance);
  return x;
#endif
}
#endif
// Counts in a number that no other thread writes. An atomic add to the global memory of a GPU does not wait for the old
// value; elsewhere a plain one is faster.
template <class T>
ZWANG_INLINE void increment(T& number) {
#if defined(__CUDA_ARCH__)
  if (__isGlobal(&number) != 0) {
    atomicAdd(&number, T(1));
    return;
  }
#endif
  number += 1;
}
template <class T>
ZWANG_INLINE void atomic_or(T* to, T what) {
#if defined(__CUDA_ARCH__)
  atomicOr(to, what);
#else
  *to |= what;
#endif
}
// Writes `what` where there is 0. True: it is there now.
ZWANG_INLINE bool atomic_claim(unsigned* to, unsigned what) {
#if defined(__CUDA_ARCH__)
  const unsigned before = atomicCAS(to, 0U, what);
#else
  const unsigned before = *to;
  if (before == 0) *to = what;
#endif
  return before == 0 || before == what;
}
// Maximum of non-negative numbers: their bit patterns are ordered like the numbers.
ZWANG_INLINE void atomic_largest(double* to, double what) {
#if defined(__CUDA_ARCH__)
  if (what > 0) atomicMax(reinterpret_cast<unsigned long long*>(to), bits_of_double(what));
#else
  if (what > *to) *to = what;
#endif
}
template <class T>
ZWANG_INLINE void atomic_largest(T* to, T what) {
#if defined(__CUDA_ARCH__)
  if (what > 0) atomicMax(to, what);
#else
  if (what > *to) *to = what;
#endif
}

// Array length for a count that may be zero (no conditions, no auxiliaries): C++ arrays cannot be empty.
ZWANG_CONSTANT constexpr int at_least_one(int n) { return n > 0 ? n : 1; }

// Tolerances that depend on the number type.
//   tie            relative difference below which conditions count as equal that agree only to the rounding
//                  of many terms
//   dependent      squared sine below which a row counts as a linear combination of others
//   moment         relative time difference within which an output takes the values of an event or of the end
//                  of a step; sixteen roundings are one instant and output times carry a few more, so doubles
//                  have room for a larger margin
//   release_noise  factor on the zero level of a multiplier that bounds its true error at a release; in
//                  floats the zero level is so close to rounding that ten times that would hide the slack of
//                  a string
template <class Real>
struct Precision;
template <>
struct Precision<double> {
  static constexpr double epsilon = 2.220446049250313e-16, tiny = 2.2250738585072014e-308;
  static constexpr double tie = 1e-11, dependent = 1e-14, moment = 1e-12, release_noise = 10;
};
template <>
struct Precision<float> {
  static constexpr float epsilon = 1.1920929e-07f, tiny = 1.17549435e-38f;
  static constexpr float tie = 2e-5f, dependent = 1e-6f, moment = 4e-6f, release_noise = 1;
};

#define ZWANG_MATH_1(name, f, ff)                                    \
  ZWANG_INLINE double name(double x) { return ZWANG_BUILTIN(f)(x); } \
  ZWANG_INLINE float name(float x) { return ZWANG_BUILTIN(ff)(x); }
#define ZWANG_MATH_2(name, f, ff)                                                 \
  ZWANG_INLINE double name(double x, double y) { return ZWANG_BUILTIN(f)(x, y); } \
  ZWANG_INLINE float name(float x, float y) { return ZWANG_BUILTIN(ff)(x, y); }
ZWANG_MATH_1(sin, sin, sinf)
ZWANG_MATH_1(cos, cos, cosf)
ZWANG_MATH_1(tan, tan, tanf)
ZWANG_MATH_1(asin, asin, asinf)
ZWANG_MATH_1(acos, acos, acosf)
ZWANG_MATH_1(atan, atan, atanf)
ZWANG_MATH_1(sinh, sinh, sinhf)
ZWANG_MATH_1(cosh, cosh, coshf)
ZWANG_MATH_1(tanh, tanh, tanhf)
ZWANG_MATH_1(exp, exp, expf)
ZWANG_MATH_1(log, log, logf)
ZWANG_MATH_1(sqrt, sqrt, sqrtf)
ZWANG_MATH_1(round_up, ceil, ceilf)
ZWANG_MATH_1(round_down, floor, floorf)
ZWANG_MATH_1(absolute, fabs, fabsf)
ZWANG_MATH_2(atan2, atan2, atan2f)
ZWANG_MATH_2(hypot, hypot, hypotf)
ZWANG_MATH_2(power, pow, powf)
#undef ZWANG_MATH_1
#undef ZWANG_MATH_2
// a b + c, always rounded once, independent of the compiler's contraction settings.
ZWANG_INLINE double fused(double a, double b, double c) { return ZWANG_BUILTIN(fma)(a, b, c); }

// On ARM g++ compiles the comparison forms to branches: a branch on a value just computed stalls, and the
// next stage of a step depends on it. The fmin/fmax instructions return the other operand for a NaN, so a NaN
// on the left is tested first. On x86 the comparison forms are one instruction.
#if defined(__aarch64__) && !defined(__CUDACC__) && !defined(__CUDACC_RTC__)
#define ZWANG_LESSER(a, b) \
  decltype(a)(sizeof(a) == sizeof(float) ? __builtin_fminf(a, b) : __builtin_fmin(a, b))
#define ZWANG_LARGER(a, b) \
  decltype(a)(sizeof(a) == sizeof(float) ? __builtin_fmaxf(a, b) : __builtin_fmax(a, b))
#define ZWANG_MINIMUM(a, b) (__builtin_expect(a != a, 0) ? a : ZWANG_LESSER(a, b))
#define ZWANG_MAXIMUM(a, b) (__builtin_expect(a != a, 0) ? a : ZWANG_LARGER(a, b))
#else
#define ZWANG_MINIMUM(a, b) (b < a ? b : a)
#define ZWANG_MAXIMUM(a, b) (b > a ? b : a)
#define ZWANG_LESSER(a, b) ZWANG_MINIMUM(a, b)
#define ZWANG_LARGER(a, b) ZWANG_MAXIMUM(a, b)
#endif

#define ZWANG_CHOICES(Real)                                                           \
  ZWANG_INLINE Real sign(Real x) { return x != x ? x : Real((x > 0) - (x < 0)); }     \
  /* a NaN on the left is returned */                                                 \
  ZWANG_INLINE Real minimum(Real a, Real b) { return ZWANG_MINIMUM(a, b); }           \
  ZWANG_INLINE Real maximum(Real a, Real b) { return ZWANG_MAXIMUM(a, b); }           \
  /* the same, but the result for a NaN is unspecified */                             \
  ZWANG_INLINE Real lesser(Real a, Real b) { return ZWANG_LESSER(a, b); }             \
  ZWANG_INLINE Real larger(Real a, Real b) { return ZWANG_LARGER(a, b); }             \
  ZWANG_INLINE Real if_less(Real a, Real b, Real x, Real y) { return a < b ? x : y; } \
  ZWANG_INLINE bool is_finite(Real x) { return x - x == 0; }                          \
  /* x reduced modulo a to (-a/2, a/2] */                                             \
  ZWANG_INLINE Real wrap(Real x, Real a) { return x - a * round_up(x / a - Real(0.5)); }
ZWANG_CHOICES(double)
ZWANG_CHOICES(float)
#undef ZWANG_CHOICES
#undef ZWANG_LESSER
#undef ZWANG_LARGER
#undef ZWANG_MINIMUM
#undef ZWANG_MAXIMUM

// NVRTC has no literal for infinity; an overflowing product yields it.
template <class R>
ZWANG_INLINE R infinity() {
  float large = 3e38f;
  return R(large * large);
}
template <class R>
ZWANG_INLINE R missing() {
  return infinity<R>() - infinity<R>();
}

// The bit pattern of a floating-point number, read as an integer, approximates its binary logarithm in fixed
// point (exponent and fraction). `one` is the pattern of 1. `half_log_error` is 0.043 in these units: half of
// the largest difference between fraction and logarithm, so that rounding errors of both signs are equally
// large.
template <class To, class From>
ZWANG_INLINE To same_bits(From x) {
  static_assert(sizeof(To) == sizeof(From), "types of equal size");
  union {
    From from;
    To to;
  } both;
  both.from = x;
  return both.to;
}
template <class R>
struct Bits;
template <class A, class B>
constexpr bool same_type = false;
template <class A>
constexpr bool same_type<A, A> = true;
template <>
struct Bits<double> {
  static constexpr long long one = 0x3ff0000000000000LL, half_log_error = 0x0000b00000000000LL,
                             unsigned_part = 0x7fffffffffffffffLL;
  ZWANG_INLINE static long long of(double x) { return same_bits<long long>(x); }
  ZWANG_INLINE static double from(long long x) { return same_bits<double>(x); }
  ZWANG_INLINE static bool is_odd(long long x) { return (x & 1) != 0; }
};
template <>
struct Bits<float> {
  static constexpr int one = 0x3f800000, half_log_error = 0x00058000, unsigned_part = 0x7fffffff;
  ZWANG_INLINE static int of(float x) { return same_bits<int>(x); }
  ZWANG_INLINE static float from(int x) { return same_bits<float>(x); }
};

// Approximate powers of positive numbers from their bit patterns, without square root or division. They are
// used where a few percent do not matter, as for the length of the next step: x^(-1/16) and x^(-3/32) to 4 %,
// 1 / x to half a percent.
template <class R>
ZWANG_INLINE R rough_16th(R x) {
  using B = Bits<R>;
  return B::from(B::one + (B::one >> 4) - B::half_log_error - (B::of(x) >> 4));
}
template <class R>
ZWANG_INLINE R rough_3_32nds(R x) {
  using B = Bits<R>;
  const auto bits = B::of(x);
  return B::from(B::one + (B::one >> 4) + (B::one >> 5) - B::half_log_error - ((bits >> 4) + (bits >> 5)));
}
template <class R>
ZWANG_INLINE R rough_inverse(R x) {
  using B = Bits<R>;
  const R y = B::from(2 * B::one - 2 * B::half_log_error - B::of(x));
  return y * (R(2) - x * y);
}

template <class R>
ZWANG_INLINE R square(R x) {
  return x * x;
}
template <class R>
ZWANG_INLINE R cube(R x) {
  return x * x * x;
}
template <int n, class R>
ZWANG_INLINE R whole_power(R x) {
  if constexpr (n < 0)
    return R(1) / whole_power<-n>(x);
  else if constexpr (n == 0)
    return R(1);
  else if constexpr (n == 1)
    return x;
  else if constexpr (n % 2 == 0)
    return square(whole_power<n / 2>(x));
  else
    return x * square(whole_power<n / 2>(x));
}

// body(0), ..., body(n - 1): short inner loops whose length is a constant. Where all other loops are rolled, these are
// written out, so that a thread has the loads of all passes under way at once.
template <int n, class Body>
ZWANG_INLINE void unrolled(const Body& body) {
#if defined(ZWANG_LOOPS_ROLLED)
  if constexpr (n <= 32) {
    _Pragma("unroll") for (int i = 0; i < n; ++i) body(i);
  } else {
    _Pragma("unroll 8") for (int i = 0; i < n; ++i) body(i);
  }
#else
  for (int i = 0; i < n; ++i) body(i);
#endif
}
// to[i] = value(i) for i < n. `value` may read to[i], but no other number of `to`.
template <int n, class Real, class Value>
ZWANG_INLINE void assign(Real* to, const Value& value) {
#if defined(ZWANG_LOOPS_ROLLED)
  if constexpr (n <= 32) {
    // The compiler cannot know that a store does not change what is loaded next.
    Real held[n > 0 ? n : 1];
    unrolled<n>([&](int i) { held[i] = value(i); });
    unrolled<n>([&](int i) { to[i] = held[i]; });
    return;
  }
#endif
  unrolled<n>([&](int i) { to[i] = value(i); });
}

}  // namespace zwang

#if defined(ZWANG_LOOPS_ROLLED)
// The slow path of a GPU for models with friction or bounds: no loop is unrolled, wherever the kernels say `for`. Left
// to itself the compiler unrolls nearly all of them, since their lengths are constants of the model: twice the code
// and twice the time to compile, for the same speed. Short models become slower by it.
#define for _Pragma("unroll 1") for
#endif
