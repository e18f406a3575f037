// What differs between compilers and machines: the only file with conditional text. Then the plain functions that the
// emitted formulas call, for double and float; simd/pack.h and base/scaled.h have them for their numbers.
#pragma once

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
// Whatever is not a step's own work is kept out of line: inlined everywhere it would take minutes to compile.
#define ZWANG_DEVICE __host__ __device__ __noinline__
#define ZWANG_CONSTANT __host__ __device__
// Numbers that instructions take as operands from there; as literals each would cost two instructions of its own.
#define ZWANG_CONSTANT_MEMORY __constant__
#define ZWANG_HOT __host__ __device__ __forceinline__
#define ZWANG_INLINE __host__ __device__ __forceinline__
#define ZWANG_COLD __host__ __device__ __noinline__
#define ZWANG_BUILTIN(name) ::name
#define ZWANG_PACKS 0
#define ZWANG_UNROLL _Pragma("unroll")
// Arrays stay in registers only where every index is a constant.
#define ZWANG_REGISTERS _Pragma("unroll")
// Warps that wander through a long text wait for instructions more than for anything else: loops stay loops.
#define ZWANG_ROLLED _Pragma("unroll 1")
#define ZWANG_STAGES_KEPT 0
#else
#define ZWANG_DEVICE
#define ZWANG_CONSTANT
#define ZWANG_CONSTANT_MEMORY inline
#define ZWANG_HOT
#define ZWANG_REGISTERS
#define ZWANG_ROLLED
// A lane's stages lie in memory anyway; a copy is cheaper than taking the step again.
#define ZWANG_STAGES_KEPT 1
#define ZWANG_INLINE __attribute__((always_inline)) inline
// Events are rare beside steps: kept out of line, their text is compiled once and stays out of the hot loop's way.
#define ZWANG_COLD __attribute__((noinline))
#define ZWANG_BUILTIN(name) __builtin_##name
#define ZWANG_PACKS 1
#define ZWANG_EXPORT __attribute__((visibility("default")))
#if defined(__clang__)
#define ZWANG_UNROLL _Pragma("unroll")
#else
#define ZWANG_UNROLL _Pragma("GCC unroll 64")
#endif
#endif

// Whether a product and a sum are rounded once.
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

// A clock of the machine's own: only ratios of its differences mean anything.
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

struct alignas(16) Piece {
  unsigned word[4];
};
// In the largest pieces there are.
template <class T>
ZWANG_INLINE void write_whole(T& to, const T& from) {
#if defined(__CUDA_ARCH__)
  static_assert(alignof(T) % alignof(Piece) == 0, "whole pieces");
  _Pragma("unroll") for (int i = 0; i < int(sizeof(T) / sizeof(Piece));
                         ++i) reinterpret_cast<Piece*>(&to)[i] = reinterpret_cast<const Piece*>(&from)[i];
#else
  to = from;
#endif
}

// In a processor's own memory, not in that of the whole machine.
ZWANG_INLINE bool lies_near([[maybe_unused]] const void* there) {
#if defined(__CUDA_ARCH__)
  return __isShared(there) != 0;
#else
  return true;  // a CPU's caches see to that
#endif
}

// Counters shared by threads of a GPU; on the host one thread works at a time.
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
// Over all lanes of a warp; every lane gets it. Devices before 8.0 have no instruction for it.
__device__ __forceinline__ unsigned sum_of_warp(unsigned x) {
  constexpr unsigned everyone = 0xffffffffU;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_add_sync(everyone, x);
#else
  for (int distance = 16; distance > 0; distance /= 2) x += __shfl_xor_sync(everyone, x, distance);
  return x;
#endif
}
#endif
ZWANG_INLINE void atomic_or(unsigned long long* to, unsigned long long what) {
#if defined(__CUDA_ARCH__)
  atomicOr(to, what);
#else
  *to |= what;
#endif
}
// Of numbers that are not negative: their bits are ordered as they are.
ZWANG_INLINE void atomic_largest(double* to, double what) {
#if defined(__CUDA_ARCH__)
  if (what > 0) atomicMax(reinterpret_cast<unsigned long long*>(to), bits_of_double(what));
#else
  if (what > *to) *to = what;
#endif
}

// Arrays of C++ cannot be empty; a model may have no conditions, no auxiliaries ...
ZWANG_CONSTANT constexpr int at_least_one(int n) { return n > 0 ? n : 1; }

// Numbers about numbers. `tie` is what still passes for equal between conditions that agree only to the rounding of many
// terms; `dependent` is the squared sine below which a row counts as a combination of others; `moment` is the share of a
// time within which an output takes the values of an event or of a step's end. Sixteen roundings are one instant, and a
// few more may come together in an output time; doubles can afford more. `release_noise` times what counts as zero for a
// multiplier is how far it may really be off at a release. In floats what counts as zero is not so far above rounding
// that it could be taken ten times: a string's slack would drown in it.
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
// a b + c, rounded once whatever the compiler thinks of that.
ZWANG_INLINE double fused(double a, double b, double c) { return ZWANG_BUILTIN(fma)(a, b, c); }

// Left to itself g++ makes jumps of these on ARM: a jump that hangs on a number just computed waits for it, and the next stage of
// a step waits for the jump. There is an instruction, which takes the other for a NaN. On x86 these words are one instruction.
#if defined(__aarch64__) && ZWANG_PACKS
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
  /* a NaN on the left comes through */                                               \
  ZWANG_INLINE Real minimum(Real a, Real b) { return ZWANG_MINIMUM(a, b); }           \
  ZWANG_INLINE Real maximum(Real a, Real b) { return ZWANG_MAXIMUM(a, b); }           \
  /* the same, but what comes of a NaN is open */                                     \
  ZWANG_INLINE Real lesser(Real a, Real b) { return ZWANG_LESSER(a, b); }             \
  ZWANG_INLINE Real larger(Real a, Real b) { return ZWANG_LARGER(a, b); }             \
  ZWANG_INLINE Real if_less(Real a, Real b, Real x, Real y) { return a < b ? x : y; } \
  ZWANG_INLINE bool is_finite(Real x) { return x - x == 0; }                          \
  /* x brought into (-a/2, a/2] */                                                    \
  ZWANG_INLINE Real wrap(Real x, Real a) { return x - a * round_up(x / a - Real(0.5)); }
ZWANG_CHOICES(double)
ZWANG_CHOICES(float)
#undef ZWANG_CHOICES
#undef ZWANG_LESSER
#undef ZWANG_LARGER
#undef ZWANG_MINIMUM
#undef ZWANG_MAXIMUM

// Without a literal for it, infinity is what overflows.
template <class R>
ZWANG_INLINE R infinity() {
  float large = 3e38f;
  return R(large * large);
}
template <class R>
ZWANG_INLINE R missing() {
  return infinity<R>() - infinity<R>();
}

// The bits of a number, which are nearly its logarithm: exponent and fraction in fixed point. `one` are those of 1,
// `trifle` 0.043 of a power of two: half of what the fraction is off by at most.
template <class To, class From>
ZWANG_INLINE To same_bits(From x) {
  static_assert(sizeof(To) == sizeof(From), "as many bits");
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
  static constexpr long long one = 0x3ff0000000000000LL, trifle = 0x0000b00000000000LL,
                             unsigned_part = 0x7fffffffffffffffLL;
  ZWANG_INLINE static long long of(double x) { return same_bits<long long>(x); }
  ZWANG_INLINE static double from(long long x) { return same_bits<double>(x); }
  ZWANG_INLINE static bool is_odd(long long x) { return (x & 1) != 0; }
};
template <>
struct Bits<float> {
  static constexpr int one = 0x3f800000, trifle = 0x00058000, unsigned_part = 0x7fffffff;
  ZWANG_INLINE static int of(float x) { return same_bits<int>(x); }
  ZWANG_INLINE static float from(int x) { return same_bits<float>(x); }
};

// Rough functions of positive numbers, for what a few percent do not change, as the length of the next step: no square
// root, no division. x^(-1/16) and x^(-3/32) to 4 %, 1 / x to half a percent.
template <class R>
ZWANG_INLINE R rough_16th(R x) {
  using B = Bits<R>;
  return B::from(B::one + (B::one >> 4) - B::trifle - (B::of(x) >> 4));
}
template <class R>
ZWANG_INLINE R rough_3_32nds(R x) {
  using B = Bits<R>;
  const auto bits = B::of(x);
  return B::from(B::one + (B::one >> 4) + (B::one >> 5) - B::trifle - ((bits >> 4) + (bits >> 5)));
}
template <class R>
ZWANG_INLINE R rough_inverse(R x) {
  using B = Bits<R>;
  const R y = B::from(2 * B::one - 2 * B::trifle - B::of(x));
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

}  // namespace zwang
