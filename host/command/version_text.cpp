// Collects version, build and CUDA information.
#include "host/command/version_text.h"

#include <fmt/format.h>
#include <netcdf.h>

#include <array>

#include "host/backend/cuda/library.h"
#include "host/platform/machine_error.h"

namespace zwang {

namespace {

std::string built_by() {
#if defined(__clang__)
  return fmt::format("clang {}", __clang_version__);
#else
  return fmt::format("g++ {}", __VERSION__);
#endif
}

// The CUDA driver and devices of this machine, or why there are none.
std::string cuda_here() {
  try {
    const cuda::Driver& driver = cuda::Driver::get();
    int version = 0, count = 0;
    driver.driver_version(&version);
    driver.device_count(&count);
    std::string text = fmt::format("driver for CUDA {}.{}", version / 1000, version % 1000 / 10);
    for (int k = 0; k < count; ++k) {
      std::array<char, 256> name{};
      cuda::Device device = 0;
      if (driver.device_get(&device, k) == 0 && driver.device_name(name.data(), name.size() - 1, device) == 0)
        text += fmt::format("; device {}: {}", k, name.data());
    }
    return text;
  } catch (const MachineError& error) {
    return "not available: " + error.problem().message;
  }
}

}  // namespace

std::string version_text() {
  const std::string toolkit = ZWANG_CUDA_VERSION;
  return fmt::format(
      "zwang {}\n"
      "build    {}, {}, {}\n"
      "cuda     built {}; {}\n"
      "netcdf   {}",
      ZWANG_VERSION, built_by(), ZWANG_BUILD_TYPE, ZWANG_PROCESSOR,
      toolkit.empty() ? "without a toolkit" : "with toolkit " + toolkit, cuda_here(), nc_inq_libvers());
}

}  // namespace zwang
