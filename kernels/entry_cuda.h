// The program's entrance on a GPU. Threads stay until there are no members left; each takes the next one from a common
// counter when its own is done, so a straggler costs one lane and no batch waits for it.
#pragma once

#include "kernels/trajectory.h"

namespace zwang {

// Gives the next member's number, or -1, once, when there is none. `counters`: members taken; then what stragglers cost:
// the clock ticks all lanes had work for, the ticks of the longest, and how many lanes there were.
struct DeviceQueue {
  unsigned long long* counters;
  long long count, begun;
  __device__ long long operator()() {
    const long long number = (long long)atomicAdd(counters, 1ULL);
    if (number < count) return number;
    const unsigned long long busy = (unsigned long long)(clock64() - begun);
    atomicAdd(counters + 1, busy);
    atomicMax(counters + 2, busy);
    atomicAdd(counters + 3, 1ULL);
    return -1;
  }
};
constexpr int device_counters = 4;

// Measured on an H200: see bench/results.
#ifndef ZWANG_PATIENCE
#define ZWANG_PATIENCE 8
#endif

// The lanes of a warp share one stream of instructions: while one attends to an event, the others stand still. So those
// who wait do so until `patience` of them can be attended to at once, or until nobody is left who moves.
struct Warp {
  static constexpr int patience = ZWANG_PATIENCE;
  static constexpr unsigned everyone = 0xffffffffU;
  __device__ __forceinline__ bool attends(bool waiting, bool moving) const {
    const int waiters = __popc(__ballot_sync(everyone, waiting));
    const bool movers = __any_sync(everyone, moving && !waiting);
    return waiting && (waiters >= patience || !movers);
  }
  __device__ __forceinline__ bool goes_on(bool live) const { return __any_sync(everyone, live); }
};

template <class Model, class Method, class Real>
struct CudaEntry {
  using M = Member<Model, Method, Real>;
  __device__ static void work(const KernelSettings& settings, const KernelBatch& batch,
                              unsigned long long* counters) {
    DeviceQueue queue{counters, batch.count, clock64()};
    M member;
    Crew<M, Real> crew(settings, batch, &member);
    crew.run(queue, Warp{});
  }
};

}  // namespace zwang

// Settings and batch come by value: they are read from constant memory. `blocks` of `threads` should fit on a processor at
// once; without the wish the compiler gives functions that call others few registers.
#define ZWANG_CUDA_ENTRANCE(Entry, threads, blocks)                                                \
  extern "C" __global__ void __launch_bounds__(threads, blocks)                                    \
      zwang_work(const __grid_constant__ zwang::KernelSettings settings,                           \
                 const __grid_constant__ zwang::KernelBatch batch, unsigned long long* counters) { \
    Entry::work(settings, batch, counters);                                                        \
  }
