// Compiles the units of a GPU program concurrently. Each is a program with its own entry in the cache: the
// reductions, for example, are the same for every study.
#pragma once

#include <filesystem>
#include <future>
#include <string>
#include <vector>

#include "host/backend/cuda/device_program.h"
#include "host/backend/cuda/worker.h"
#include "host/program/host_compiler.h"

namespace zwang {

class CudaCompilations {
 public:
  // Starts compiling for devices of this compute capability.
  CudaCompilations(const ProgramText& program, int architecture, const std::filesystem::path& cache);

  struct Made {
    CudaBinaries binaries;
    std::string note;       // why the cache was not used; empty if it was
    bool compiled = false;  // at least one unit was not found in the cache
  };
  // Throws what the compiler has thrown.
  Made wait();

 private:
  struct Unit {
    std::string binary, note;
    bool compiled = false, linked = false;
  };
  std::vector<std::future<Unit>> units_;
};

}  // namespace zwang
