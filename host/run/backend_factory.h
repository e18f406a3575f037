// Which machine integrates: from the word on the command line to a Backend.
#pragma once

#include <functional>

#include "host/backend/backend.h"
#include "host/backend/cuda/library.h"
#include "host/program/host_compiler.h"
#include "host/study/study.h"

namespace zwang {

struct BackendOptions {
  unsigned threads = 0;            // 0: as many as the machine has cores
  std::vector<int> devices = {0};  // GPUs by number; none: all there are
  // Told what the user should know: which backend "auto" took, and why.
  std::function<void(const std::string&)> note = [](const std::string&) {};
  // The compiler for the cpu backend; a test can say that there is none.
  std::function<std::optional<HostCompiler>()> find_compiler = [] { return HostCompiler::find(); };
  // Why there is no GPU to run on, for "auto"; empty: there is one.
  std::function<std::string()> why_no_device = cuda::why_no_device;
};

// "auto", "cpu", "cuda" or "reference". Throws MachineError where the machine (or this version) has none of
// the kind.
std::unique_ptr<Backend> make_backend(const std::string& kind, const Study& study,
                                      const BackendOptions& options);

}  // namespace zwang
