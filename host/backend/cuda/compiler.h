// NVRTC: from the text of a program to a binary for one kind of GPU. Needs no GPU.
#pragma once

#include <filesystem>
#include <string>

#include "host/program/host_compiler.h"

namespace zwang {

class CudaCompiler {
 public:
  // For devices of this compute capability, as 90 for 9.0. MachineError where there is no NVRTC.
  explicit CudaCompiler(int architecture);

  int architecture() const { return architecture_; }

  // Everything the compiled program depends on. The key for a ProgramCache.
  std::string key(const ProgramText& program) const;

  // Writes the binary for the first unit of the program and returns what the compiler said. MachineError with its first
  // messages, which name the file and line, when it fails.
  std::string compile(const ProgramText& program, const std::filesystem::path& target) const;

  // The first unit as portable assembly, which ptxas makes into binaries for this architecture and later ones.
  std::string ptx(const ProgramText& program) const;

 private:
  int architecture_;
  int major_ = 0, minor_ = 0;  // NVRTC's version
};

}  // namespace zwang
