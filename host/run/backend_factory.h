// Creates the backend named on the command line.
#pragma once

#include <functional>

#include "host/backend/backend.h"
#include "host/backend/cuda/library.h"
#include "host/program/host_compiler.h"
#include "host/study/study.h"
#include "src/system/system.h"

namespace zwang {

struct BackendOptions {
  unsigned threads = 0;            // 0: the number of cores
  std::vector<int> devices = {0};  // ordinals of GPUs; empty: all
  // Called with notes for the user: which backend "auto" selected and why.
  std::function<void(const std::string&)> note = [](const std::string&) {};
  // The compiler for the cpu backend; replaced in tests.
  std::function<std::optional<HostCompiler>()> find_compiler = [] { return HostCompiler::find(); };
  // For "auto": the reason why no GPU can be used; empty: there is one.
  std::function<std::string()> why_no_device = cuda::why_no_device;
};

// Whether members have so many frictional contacts in space that "auto" prefers the cpu to a device.
bool is_faster_on_cpu(const System& system);

// kind: "auto", "cpu", "cuda" or "reference". Throws MachineError if this kind is unknown or not available.
std::unique_ptr<Backend> make_backend(const std::string& kind, const Study& study,
                                      const BackendOptions& options);

}  // namespace zwang
