// The reductions' entrances on a GPU: a thread takes every so many-th index.
#pragma once

#include "kernels/reduce/reduction_list.h"

#define ZWANG_CUDA_ENTRANCE(name, Job)                                                          \
  extern "C" __global__ void __launch_bounds__(256)                                             \
      zwang_##name(const __grid_constant__ zwang::Job job, long long count) {                   \
    const long long lanes = (long long)gridDim.x * blockDim.x;                                  \
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += lanes) \
      zwang::name(job, i);                                                                      \
  }
#define ZWANG_CUDA_REDUCTION(name) ZWANG_CUDA_ENTRANCE(name, ReduceJob)
#define ZWANG_CUDA_DRAW(name) ZWANG_CUDA_ENTRANCE(name, DrawJob)
#define ZWANG_CUDA_RESIDENT_REDUCTION(name) ZWANG_CUDA_ENTRANCE(name, ResidentColumns)
