// A compiled program in this process's memory.
#pragma once

#include <filesystem>

namespace zwang {

// Loads on construction, lets go at the end. Its symbols are its own: two programs may use the same names.
class LoadedProgram {
 public:
  explicit LoadedProgram(const std::filesystem::path& library);  // MachineError when it cannot be loaded
  LoadedProgram(LoadedProgram&& other) noexcept;
  LoadedProgram& operator=(LoadedProgram&& other) noexcept;
  ~LoadedProgram();

  // The function (or object) of that name; MachineError when there is none. Whether it is an F nobody checks.
  // Valid as long as this object lives.
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
