#include "host/run/backend_factory.h"

#include <algorithm>
#include <cstddef>

#include "host/backend/backend_cpu.h"
#include "host/backend/backend_reference.h"
#include "host/backend/cuda/backend_cuda.h"
#include "host/platform/machine_error.h"
#include "host/study/study.h"
#include "src/system/system.h"

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

// Measured with a die of eight corners (docs/performance.md#bodies): a member with so many rows needs 58 kB on the slow path,
// where nearly all of its events are handled, and the memory of those under way exceeds the caches of a device. A box of
// four corners in the plane is faster on the device.
bool is_faster_on_cpu(const System& system) {
  constexpr std::ptrdiff_t many = 8;
  const auto slips_in_space = [](const Friction& friction) { return friction.rows.size() == 2; };
  return std::count_if(system.frictions.begin(), system.frictions.end(), slips_in_space) >= many;
}

std::unique_ptr<Backend> make_backend(const std::string& kind, const Study& study,
                                      const BackendOptions& options) {
  if (kind == "reference") return std::make_unique<BackendReference>(study, options.threads);
  if (kind == "cuda") return make_cuda(study, options);
  if (kind != "cpu" && kind != "auto")
    throw MachineError({.message = "there is no backend '" + kind + "'",
                        .found = kind,
                        .expected = "auto, cuda, cpu or reference"});

  // "auto" takes the fastest backend that is available.
  if (kind == "auto" && options.why_no_device().empty()) {
    if (!is_faster_on_cpu(*study.system) || !options.find_compiler()) {
      auto made = make_cuda(study, options);
      options.note("backend: cuda, " + made->device());
      return made;
    }
    options.note(
        "backend: cpu, because it is faster with so many frictional contacts in space; `--backend cuda` uses "
        "the "
        "GPU nevertheless");
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
