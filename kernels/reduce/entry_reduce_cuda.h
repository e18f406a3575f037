// The GPU entry points of the reductions, as grid-stride loops over the indices.
#pragma once

#include "kernels/reduce/reduction_list.h"

namespace zwang {

constexpr int reduce_threads = 256;  // largest number of threads in a block; the host launches that many

}  // namespace zwang

#define ZWANG_CUDA_REDUCE_ENTRY(name, Job)                                                      \
  extern "C" __global__ void __launch_bounds__(zwang::reduce_threads)                           \
      zwang_##name(const __grid_constant__ zwang::Job job, long long count) {                   \
    const long long lanes = (long long)gridDim.x * blockDim.x;                                  \
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += lanes) \
      zwang::name(job, i);                                                                      \
  }
#define ZWANG_CUDA_REDUCTION(name) ZWANG_CUDA_REDUCE_ENTRY(name, ReduceJob)
#define ZWANG_CUDA_RECORD(name) ZWANG_CUDA_REDUCE_ENTRY(name, RecordJob)
#define ZWANG_CUDA_DRAW(name) ZWANG_CUDA_REDUCE_ENTRY(name, DrawJob)
#define ZWANG_CUDA_RESIDENT_REDUCTION(name) ZWANG_CUDA_REDUCE_ENTRY(name, ResidentColumns)
