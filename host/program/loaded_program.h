// A compiled program (shared library) loaded into this process.
#pragma once

#include <filesystem>

namespace zwang {

// Loads on construction, unloads on destruction. Symbols are local: two programs may use the same names.
class LoadedProgram {
 public:
  explicit LoadedProgram(const std::filesystem::path& library);  // throws MachineError if it cannot be loaded
  LoadedProgram(LoadedProgram&& other) noexcept;
  LoadedProgram& operator=(LoadedProgram&& other) noexcept;
  ~LoadedProgram();

  // The function or object of this name; throws MachineError if there is none. The type F is not checked.
  // Valid as long as this object exists.
  template <class F>
  F* symbol(const char* name) const {
    return reinterpret_cast<F*>(address(name));
  }

 private:
  void* address(const char* name) const;

  std::filesystem::path path_;
  void* handle_ = nullptr;
};

}  // namespace zwang
