#include "host/program/loaded_program.h"

#include <dlfcn.h>

#include <utility>

#include "host/platform/machine_error.h"

namespace zwang {

namespace {

std::string last_message() {
  const char* text = ::dlerror();
  return text != nullptr ? text : "no reason given";
}

}  // namespace

// absolute(), because dlopen searches a bare name among the system's libraries.
LoadedProgram::LoadedProgram(const std::filesystem::path& library)
    : path_(std::filesystem::absolute(library)), handle_(::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr)
    throw MachineError({.where = {.file = path_.string()},
                        .message = "the compiled program could not be loaded",
                        .found = last_message(),
                        .expected = "a shared library for this machine",
                        .hint = "if the disk is mounted noexec, set ZWANG_CACHE to a folder on another one"});
}

LoadedProgram::LoadedProgram(LoadedProgram&& other) noexcept
    : path_(std::move(other.path_)), handle_(std::exchange(other.handle_, nullptr)) {}

LoadedProgram& LoadedProgram::operator=(LoadedProgram&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(handle_, other.handle_);
  return *this;
}

LoadedProgram::~LoadedProgram() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

void* LoadedProgram::address(const char* name) const {
  void* found = ::dlsym(handle_, name);
  if (found == nullptr)
    throw MachineError({.where = {.file = path_.string()},
                        .message = "the compiled program has no function '" + std::string(name) + "'",
                        .found = last_message(),
                        .expected = "a program compiled by this version of zwang",
                        .hint = "`zwang cache --clear` removes programs of other versions"});
  return found;
}

}  // namespace zwang
