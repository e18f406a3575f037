// The C++ compiler of this machine, used while the program runs.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace zwang {

// What is to be compiled.
struct ProgramText {
  std::map<std::string, std::string> sources;  // name -> text; names are relative paths, as they are included
  std::vector<std::string> units;              // the names among them that are translation units
  std::vector<std::string> flags;  // for compiling and linking; -shared, -fPIC and -I come by themselves
  std::map<std::string, std::vector<std::string>> unit_flags{};  // of single units, after those of all
};

class HostCompiler {
 public:
  // The first that there is of: $ZWANG_CXX, the compiler this program was built with, c++, g++ and clang++ on the
  // PATH. Nothing when there is none, MachineError when ZWANG_CXX is set and names no program: whoever sets it
  // wants to know. ZWANG_CXX is a path or a name, never split at blanks; empty counts as not set.
  static std::optional<HostCompiler> find(const std::filesystem::path& built_with = configured());
  static std::filesystem::path configured();

  explicit HostCompiler(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }

  // Which compiler this is: its path, where links lead from there, size and time of change of that file. Asking
  // it for its version would cost a process on every start of a study. The weak spot, a wrapper that stays the
  // same while the compiler behind it changes, is harmless: what the old one made is still right.
  const std::string& identity() const { return identity_; }

  // Everything the compiled program depends on: text, flags, compiler, machine. The key for a ProgramCache.
  std::string key(const ProgramText& program) const;

  // 120 s, or $ZWANG_COMPILE_SECONDS. Throws MachineError where that is no such number.
  static std::chrono::milliseconds default_limit();

  // Makes the shared library `target`. Several units are compiled side by side. No shell is involved: names and
  // flags reach the compiler as they are. A compiler that exceeds the limit is killed with all it started.
  // MachineError with its first messages when it fails.
  void compile(const ProgramText& program, const std::filesystem::path& target,
               std::chrono::milliseconds limit = default_limit()) const;

 private:
  std::filesystem::path path_;
  std::string identity_;
};

// The processor as far as compiled code depends on it, and the C library. A home folder may be shared by machines
// that differ in both.
std::string machine_identity();

}  // namespace zwang
