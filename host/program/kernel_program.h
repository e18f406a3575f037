// Assembles the source text of a study's program: the emitted model, the kernels, and the instantiations for
// a backend.
#pragma once

#include <string>

#include "host/program/host_compiler.h"
#include "host/study/study.h"
#include "kernels/base/layout.h"

namespace zwang {

// Members per instruction stream on the CPU.
enum class LaneChoice {
  best,    // packs if the model supports them
  single,  // one member at a time
};

struct KernelProgram {
  ProgramText text;
  std::string method;  // "tsit5", "dop853", "taylor" or "rk4": never "auto"
  long long motion_operations = 0;
  long long series_operations = 0;  // of a whole step by power series; 0 for the other methods
  double emission_seconds = 0;
};

// For the CPU: see kernels/entry/entry_cpu.h for the functions it exports.
KernelProgram cpu_program(const Study& study, LaneChoice lanes);

// For GPUs: one unit per kernel, see kernels/entry/entry_cuda.h.
KernelProgram cuda_program(const Study& study);

KernelSettings kernel_settings(const Study& study);

}  // namespace zwang
