// The GPU entry points of the reductions, as grid-stride loops over the indices, or over groups of them with a block each.
#pragma once

#include "kernels/reduce/reduce_layout.h"
#include "kernels/reduce/reduction_list.h"

namespace zwang {

constexpr int reduce_threads =
    group_lanes;  // largest number of threads in a block; the host launches that many

}  // namespace zwang

#define ZWANG_CUDA_REDUCE_ENTRY(name, Job)                                                      \
  extern "C" __global__ void __launch_bounds__(zwang::reduce_threads)                           \
      zwang_##name(const __grid_constant__ zwang::Job job, long long count) {                   \
    const long long lanes = (long long)gridDim.x * blockDim.x;                                  \
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += lanes) \
      zwang::name(job, i);                                                                      \
  }
#define ZWANG_CUDA_GROUP_REDUCTION(name, Group)                                                            \
  extern "C" __global__ void __launch_bounds__(zwang::group_lanes)                                         \
      zwang_##name(const __grid_constant__ zwang::ReduceJob job, long long count) {                        \
    __shared__ unsigned counters[zwang::group_counters];                                                   \
    for (long long group = blockIdx.x; group < count / zwang::group_lanes; group += gridDim.x) {           \
      const zwang::Group members(job, group, counters, static_cast<int>(threadIdx.x), zwang::group_lanes); \
      members.clear();                                                                                     \
      __syncthreads();                                                                                     \
      members.count();                                                                                     \
      __syncthreads();                                                                                     \
      members.add();                                                                                       \
      __syncthreads();                                                                                     \
    }                                                                                                      \
  }
#define ZWANG_CUDA_REDUCTION(name) ZWANG_CUDA_REDUCE_ENTRY(name, ReduceJob)
#define ZWANG_CUDA_RECORD(name) ZWANG_CUDA_REDUCE_ENTRY(name, RecordJob)
#define ZWANG_CUDA_DRAW(name) ZWANG_CUDA_REDUCE_ENTRY(name, DrawJob)
#define ZWANG_CUDA_RESIDENT_REDUCTION(name) ZWANG_CUDA_REDUCE_ENTRY(name, ResidentColumns)
