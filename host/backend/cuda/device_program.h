// The compiled program of a study on one device: its modules, its kernels, and the sizes that it states. All workers of
// a device share it.
#pragma once

#include <string>
#include <vector>

#include "host/backend/cuda/library.h"
#include "kernels/base/layout.h"

namespace zwang {

// A compiled program.
struct CudaBinaries {
  std::vector<std::string>
      modules;  // complete: the stepping kernel, and the recording kernel where there is one
  std::vector<std::string> objects;  // relocatable, to be linked into one module, with the other kernels
};

struct CudaKernel {
  cuda::Function function = nullptr;
  int threads = 0;  // per block
  int blocks = 0;   // resident on the device at once
  // Its blocks take work until none is left: no more are started than are resident at once.
  bool loops = true;
};

class CudaDeviceProgram {
 public:
  // Loads a cuda_program into the current context; `stream` is one of that context.
  CudaDeviceProgram(const CudaBinaries& binaries, int processors, cuda::Stream stream);
  // The context must be current.
  ~CudaDeviceProgram();
  CudaDeviceProgram(const CudaDeviceProgram&) = delete;
  CudaDeviceProgram& operator=(const CudaDeviceProgram&) = delete;

  CudaKernel open, step, event, slow_path;
  CudaKernel record;  // without a function where a study has nothing to record inside steps
  unsigned long long slot_bytes = 0, listed_step_bytes = 0;
  SlowRunRule slow_run_rule{};

 private:
  void load(const CudaBinaries& binaries);
  CudaKernel kernel(std::size_t module, const char* name, int processors) const;
  void prefer_cache() const;
  unsigned long long stated_number(const char* name, cuda::Stream stream) const;

  const cuda::Driver& driver_;
  std::vector<cuda::Module> modules_;
};

}  // namespace zwang
