// The source text of kernels/, embedded in the executable: emitted models are compiled with it on machines
// without a copy of the sources.
#pragma once

#include <span>
#include <string_view>

namespace zwang {

struct KernelFile {
  std::string_view name;  // as it is included: "kernels/dynamics/shock.h"
  std::string_view text;
};

// All headers of kernels/, sorted by name.
std::span<const KernelFile> kernel_files();

}  // namespace zwang
