// Compiles a program with NVRTC into a binary for one GPU architecture. Needs no GPU.
#pragma once

#include <filesystem>
#include <string>

#include "host/program/host_compiler.h"

namespace zwang {

class CudaCompiler {
 public:
  // For devices of this compute capability, 90 for 9.0. Throws MachineError if NVRTC cannot be loaded or does
  // not support the architecture.
  explicit CudaCompiler(int architecture);

  int architecture() const { return architecture_; }

  // Everything the compiled program depends on: the key for a ProgramCache.
  std::string key(const ProgramText& program) const;

  // Writes the binary of the program's first unit, an object if it is one of the linked units, and returns
  // the compiler's log. Throws a MachineError with the first messages, which name file and line, if
  // compilation fails.
  std::string compile(const ProgramText& program, const std::filesystem::path& target) const;

  // The first unit as PTX, which ptxas translates for this architecture and later ones.
  std::string ptx(const ProgramText& program) const;

 private:
  int architecture_;
  int major_ = 0, minor_ = 0;  // NVRTC's version
};

}  // namespace zwang
