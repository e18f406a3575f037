// What device code of the entry points uses of CUDA, for one thread on a CPU: a grid of one block of one thread.
#pragma once

// NOLINTBEGIN: the names are CUDA's.
#define __device__
#define __forceinline__ inline

struct EmulatedIndex {
  unsigned x;
};
inline constexpr EmulatedIndex threadIdx{0}, blockIdx{0}, blockDim{1}, gridDim{1};

inline unsigned atomicAdd(unsigned* to, unsigned amount) {
  const unsigned before = *to;
  *to += amount;
  return before;
}
inline unsigned atomicExch(unsigned* to, unsigned value) {
  const unsigned before = *to;
  *to = value;
  return before;
}
inline unsigned __ldcg(const unsigned* from) { return *from; }
inline unsigned __ballot_sync(unsigned, bool vote) { return vote ? 1U : 0U; }
template <class Number>
Number __shfl_sync(unsigned, Number value, int) {
  return value;
}
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline void __threadfence() {}
inline void __syncthreads() {}
inline void __syncwarp() {}
// NOLINTEND
