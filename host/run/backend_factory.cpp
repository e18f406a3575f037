#include "host/run/backend_factory.h"

#include "host/backend/backend_cpu.h"
#include "host/backend/backend_reference.h"
#include "host/backend/cuda/backend_cuda.h"
#include "host/platform/machine_error.h"
#include "host/study/study.h"

namespace zwang {

namespace {

std::unique_ptr<Backend> make_cpu(const Study& study, const HostCompiler& compiler,
                                  const BackendOptions& options) {
  auto made = std::make_unique<BackendCpu>(study, compiler, options.threads);
  if (!made->cache_note().empty()) options.note(made->cache_note());
  return made;
}

std::unique_ptr<Backend> make_cuda(const Study& study, const BackendOptions& options) {
  auto made = std::make_unique<BackendCuda>(study, options.devices);
  if (!made->cache_note().empty()) options.note(made->cache_note());
  return made;
}

}  // namespace

std::unique_ptr<Backend> make_backend(const std::string& kind, const Study& study,
                                      const BackendOptions& options) {
  if (kind == "reference") return std::make_unique<BackendReference>(study, options.threads);
  if (kind == "cuda") return make_cuda(study, options);
  if (kind != "cpu" && kind != "auto")
    throw MachineError({.message = "there is no backend '" + kind + "'",
                        .found = kind,
                        .expected = "auto, cuda, cpu or reference"});

  // "auto" tries the backends from fast to slow and takes the first available one.
  if (kind == "auto" && options.why_no_device().empty()) {
    auto made = make_cuda(study, options);
    options.note("backend: cuda, " + made->device());
    return made;
  }
  const std::optional<HostCompiler> compiler = options.find_compiler();
  if (compiler) {
    // The table at the end of a run names the backend; `zwang --version` tells why there is no GPU.
    return make_cpu(study, *compiler, options);
  }
  options.note(
      "WARNING: no C++ compiler found, so the kernels cannot be compiled for this study. The reference "
      "backend "
      "is used instead: same results, about a hundred times slower. Install g++ or clang++, or set "
      "ZWANG_CXX.");
  return std::make_unique<BackendReference>(study, options.threads);
}

}  // namespace zwang
