// Finds the C++ compiler of this machine and runs it to compile a study's program into a shared library.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace zwang {

// The sources and flags of a program.
struct ProgramText {
  std::map<std::string, std::string> sources;  // name -> text; names are relative paths, as they are included
  std::vector<std::string> units;              // names of the sources that are translation units
  std::vector<std::string> flags;              // for compiling and linking; -shared, -fPIC and -I are added
  std::map<std::string, std::vector<std::string>> unit_flags{};  // by unit, appended to `flags`
  std::set<std::string> linked_units{};  // for GPUs: relocatable objects, linked into one module when loaded
};

class HostCompiler {
 public:
  // The first that exists of: $ZWANG_CXX, the compiler this program was built with, c++, g++ and clang++ on
  // the PATH. Nothing if there is none. Throws MachineError if ZWANG_CXX is set but is not a program.
  // ZWANG_CXX is a path or a name and is not split at blanks; empty counts as not set.
  static std::optional<HostCompiler> find(const std::filesystem::path& built_with = configured());
  static std::filesystem::path configured();

  explicit HostCompiler(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }

  // Identifies the compiler: its path, the target of links, size and modification time of that file.
  // Rejected: running it with --version, which costs a process at every start of a study. A wrapper that
  // stays the same while the compiler behind it changes goes unnoticed, which is harmless: programs of the
  // old compiler are still correct.
  const std::string& identity() const { return identity_; }

  // Everything the compiled program depends on, text, flags, compiler and machine: the key for a
  // ProgramCache.
  std::string key(const ProgramText& program) const;

  // 120 s, or $ZWANG_COMPILE_SECONDS. Throws MachineError if that is not a valid number.
  static std::chrono::milliseconds default_limit();

  // Writes the shared library `target`. Units are compiled concurrently. No shell is involved: names and
  // flags reach the compiler unchanged. A compiler that exceeds the limit is killed together with its child
  // processes. Throws a MachineError with the compiler's first messages if it fails.
  void compile(const ProgramText& program, const std::filesystem::path& target,
               std::chrono::milliseconds limit = default_limit()) const;

 private:
  std::filesystem::path path_;
  std::string identity_;
};

// The processor features that compiled code depends on, and the C library. Machines that differ in both may
// share a home folder and thus a cache.
std::string machine_identity();

}  // namespace zwang
