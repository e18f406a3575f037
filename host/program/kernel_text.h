// The text of kernels/, carried inside the program: generated code is compiled with it on machines that have no
// copy of the sources.
#pragma once

#include <span>
#include <string_view>

namespace zwang {

struct KernelFile {
  std::string_view name;  // as it is included: "kernels/dynamics/shock.h"
  std::string_view text;
};

// Every header of kernels/, by name.
std::span<const KernelFile> kernel_files();

}  // namespace zwang
