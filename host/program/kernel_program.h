// The text of a study's program: its model, the kernels, and the lines that bring them together.
#pragma once

#include <string>

#include "host/program/host_compiler.h"
#include "host/study/study.h"
#include "kernels/base/layout.h"

namespace zwang {

// How many members share one instruction stream on the CPU.
enum class LaneChoice {
  best,    // packs where they pay
  single,  // one by one
};

struct KernelProgram {
  ProgramText text;
  std::string method;  // "tsit5", "dop853", "taylor" or "rk4": what `auto` came to
  long long motion_operations = 0;
  long long series_operations = 0;  // of a whole step by power series; 0: by stages
  double emission_seconds = 0;
};

// For the CPU: one unit with C entrances, see kernels/entry/entry_cpu.h.
KernelProgram cpu_program(const Study& study, LaneChoice lanes);

// For GPUs: a unit for each kernel, see kernels/entry/entry_cuda.h.
KernelProgram cuda_program(const Study& study);

KernelSettings kernel_settings(const Study& study);

}  // namespace zwang
