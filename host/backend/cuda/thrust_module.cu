// The library libzwang_thrust.so, compiled by nvcc and loaded by host/backend/cuda/thrust_module.cpp: the program itself
// needs no CUDA toolkit, neither to be built nor to run.
#include <cuda_runtime_api.h>

#include <exception>

#include "host/backend/cuda/thrust_ranks.h"

// Returns 0, or 1 if the device could not do it, for example because it has no room.
extern "C" __attribute__((visibility("default"))) int zwang_rank_column(int device, const double* values,
                                                                        unsigned long long rows,
                                                                        unsigned* ranks,
                                                                        unsigned long long* present) {
  try {
    if (cudaSetDevice(device) != cudaSuccess) return 1;
    *present = zwang::rank_by_thrust(values, rows, ranks);
    return 0;
  } catch (const std::exception&) {
    cudaGetLastError();  // clears it: a lack of memory leaves the device usable
    return 1;
  }
}
