#include "host/program/host_compiler.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "host/platform/child_process.h"
#include "host/platform/machine_error.h"
#include "host/platform/private_files.h"
#include "src/base/error.h"

namespace zwang {

namespace fs = std::filesystem;

// --- Which compiler ----------------------------------------------------------------------------------------

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool is_program(const fs::path& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed) && ::access(path.c_str(), X_OK) == 0;
}

// A name is searched on the PATH, a path is used as it is. Relative entries of the PATH are skipped, so that
// no compiler is taken from the current folder by accident.
std::optional<fs::path> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (!is_program(name)) return std::nullopt;
    return fs::absolute(name);
  }
  const std::string folders = variable("PATH");
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const fs::path candidate = fs::path(folders.substr(begin, end - begin)) / name;
    if (candidate.is_absolute() && is_program(candidate)) return candidate;
    begin = end + 1;
  }
  return std::nullopt;
}

}  // namespace

std::chrono::milliseconds HostCompiler::default_limit() {
  const std::string wanted = variable("ZWANG_COMPILE_SECONDS");
  if (wanted.empty()) return std::chrono::seconds(120);
  double seconds = 0;
  const auto [end, code] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), seconds);
  if (code != std::errc{} || end != wanted.data() + wanted.size() || !(seconds > 0 && seconds <= 1e6))
    throw MachineError({.where = {.file = "ZWANG_COMPILE_SECONDS"},
                        .message = "the time limit for the compiler is not a valid number",
                        .found = wanted,
                        .expected = "seconds, more than 0 and at most 1000000",
                        .hint = "unset it for the default of 120 s"});
  return std::chrono::milliseconds(static_cast<long long>(std::ceil(1000 * seconds)));
}

fs::path HostCompiler::configured() { return ZWANG_DEFAULT_CXX; }

std::optional<HostCompiler> HostCompiler::find(const fs::path& built_with) {
  // An explicit choice has no fallback.
  if (const std::string wanted = variable("ZWANG_CXX"); !wanted.empty()) {
    if (const auto path = find_program(wanted)) return HostCompiler(*path);
    throw MachineError({.where = {.file = "ZWANG_CXX"},
                        .message = "there is no such compiler",
                        .found = wanted,
                        .expected = "the path of a C++ compiler, or its name on the PATH, without options",
                        .hint = "unset ZWANG_CXX to use the compiler that zwang was built with"});
  }

  for (const std::string& candidate :
       {built_with.string(), std::string("c++"), std::string("g++"), std::string("clang++")})
    if (const auto path = candidate.empty() ? std::nullopt : find_program(candidate))
      return HostCompiler(*path);
  return std::nullopt;
}

HostCompiler::HostCompiler(fs::path path) : path_(std::move(path)) {
  // Inode and device are not included: containers and network file systems renumber them at every start.
  std::error_code failed;
  const fs::path real = fs::canonical(path_, failed);
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0) status = {};
  identity_ = fmt::format("{} -> {}, {} bytes, changed {}.{:09}", path_.string(), real.string(),
                          status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

// --- What a program depends on -----------------------------------------------------------------------------

std::string machine_identity() {
  utsname system{};
  ::uname(&system);
  std::string identity =
      fmt::format("{} {}, glibc {}", system.sysname, system.machine, gnu_get_libc_version());

  // Only the first processor, and one read instead of the whole file, which is slow with hundreds of
  // processors.
  const OpenFile file(::open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC));
  std::array<char, 16384> buffer{};
  const ssize_t count = file.is_open() ? ::read(file.descriptor(), buffer.data(), buffer.size()) : 0;
  std::string_view text(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  text = text.substr(0, text.find("\n\n"));

  // Only fields that are the same at every start: no clock rates, no numbering.
  constexpr std::array<std::string_view, 13> constant_fields{
      "vendor_id", "cpu family",  "model",    "model name", "stepping", "flags",       "CPU implementer",
      "CPU part",  "CPU variant", "Features", "isa",        "cpu",      "CPU revision"};
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::string_view name = line.substr(0, line.find_first_of("\t:"));
    if (std::find(constant_fields.begin(), constant_fields.end(), name) != constant_fields.end())
      identity.append("\n").append(line);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return identity;
}

std::string HostCompiler::key(const ProgramText& program) const {
  // Each field is preceded by its length, so that different programs have different keys.
  std::string key;
  const auto add = [&key](std::string_view name, std::string_view text) {
    key += fmt::format("{} {}\n", name, text.size());
    key.append(text).append("\n");
  };
  add("compiler", identity_);
  add("machine", machine_identity());
  // Variables that tell gcc and clang where to find headers and their own components.
  for (const char* name : {"CPATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX"})
    add(name, variable(name));
  for (const std::string& flag : program.flags) add("flag", flag);
  for (const std::string& unit : program.units) add("unit", unit);
  for (const auto& [unit, flags] : program.unit_flags)
    for (const std::string& flag : flags) add(unit, flag);
  for (const auto& [name, text] : program.sources) {
    add("source", name);
    add("text", text);
  }
  return key;
}

// --- Compiling ---------------------------------------------------------------------------------------------

namespace {

// Names inside the temporary folder. Units are passed with "./" in front, so that a leading '-' or '@' is not
// read as an option.
constexpr const char* library_name = "program.so";
std::string object_name(std::size_t unit) { return fmt::format("unit{}.o", unit); }
std::string messages_name(std::size_t command) { return fmt::format("messages{}.txt", command); }

void write_sources(const fs::path& folder, const std::map<std::string, std::string>& sources) {
  for (const auto& [name, text] : sources) {
    const fs::path path = folder / name;
    assert(fs::path(name).is_relative() && fs::path(name).lexically_normal() == fs::path(name));
    int code = make_private_folder(path.parent_path());
    if (code == 0) code = write_new(path, text, 0600, false);
    if (code != 0)
      throw MachineError({.where = {.file = path.string()},
                          .message = "could not write the sources of the program",
                          .found = system_message(code),
                          .expected = "space in the temporary folder",
                          .hint = "set TMPDIR to a folder with free space"});
  }
}

// One command for a single unit; otherwise one per unit, followed by the link.
std::vector<std::vector<Command>> stages(const fs::path& compiler, const ProgramText& program,
                                         const fs::path& folder) {
  const auto command = [&](const std::vector<std::string>& own, std::size_t number) {
    std::vector<std::string> arguments{compiler.string()};
    arguments.insert(arguments.end(), program.flags.begin(), program.flags.end());
    arguments.insert(arguments.end(), {"-fPIC", "-fdiagnostics-color=never", "-I."});
    arguments.insert(arguments.end(), own.begin(), own.end());
    return Command{arguments, folder, folder / messages_name(number)};
  };
  if (program.units.size() == 1)
    return {{command({"-shared", "./" + program.units[0], "-o", library_name}, 0)}};

  std::vector<Command> compiles;
  std::vector<std::string> link{"-shared"};
  for (std::size_t i = 0; i < program.units.size(); ++i) {
    std::vector<std::string> own{"-c", "./" + program.units[i], "-o", object_name(i)};
    if (const auto flags = program.unit_flags.find(program.units[i]); flags != program.unit_flags.end())
      own.insert(own.begin(), flags->second.begin(), flags->second.end());
    compiles.push_back(command(own, i));
    link.push_back(object_name(i));
  }
  link.insert(link.end(), {"-o", library_name});
  return {compiles, {command(link, program.units.size())}};
}

// The first messages of the compiler, from the first error on, with control characters replaced by blanks.
std::string first_messages(const fs::path& file) {
  constexpr std::size_t most_lines = 12;
  constexpr std::size_t longest_line = 240;
  const std::string text = read_whole(file).value_or("");
  std::string_view rest = text;
  if (const std::size_t error = rest.find("error:"); error != std::string_view::npos)
    rest.remove_prefix(rest.rfind('\n', error) + 1);  // npos + 1 = 0: the first line

  std::string kept;
  for (std::size_t lines = 0; lines < most_lines && !rest.empty(); ++lines) {
    std::string line(rest.substr(0, std::min(rest.find('\n'), longest_line)));
    rest.remove_prefix(
        std::min(rest.size(), rest.find('\n') == rest.npos ? rest.size() : rest.find('\n') + 1));
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 127; }, ' ');
    kept += (kept.empty() ? "" : "\n            ") + line;
  }
  if (!rest.empty()) kept += "\n            ...";
  return kept.empty() ? "no message" : kept;
}

[[noreturn]] void report_failure(const fs::path& compiler, const CommandsResult& result,
                                 const fs::path& messages, std::chrono::milliseconds limit) {
  const double seconds = std::chrono::duration<double>(limit).count();
  const std::string name = "the C++ compiler " + compiler.string();
  Problem problem{.message = name + fmt::format(" failed with exit code {}", result.code),
                  .found = first_messages(messages),
                  .expected = "a shared library",
                  .hint = "ZWANG_CXX names another compiler; `--backend reference` needs none"};
  if (result.ending == Ending::killed)
    problem.message = name + fmt::format(" was killed by signal {}", result.code);
  if (result.ending == Ending::killed && result.code == SIGKILL) problem.message += " (out of memory?)";
  if (result.ending == Ending::out_of_time) {
    problem.message = name + " did not finish";
    problem.found = fmt::format("still running after {} s", seconds);
    problem.hint += "; ZWANG_COMPILE_SECONDS raises the time limit";
  }
  throw MachineError(problem);
}

// Renames if both paths are on one file system, otherwise copies.
void move_library(const fs::path& made, const fs::path& target) {
  std::error_code failed;
  if (::chmod(made.c_str(), 0700) == 0 && ::rename(made.c_str(), target.c_str()) == 0) return;
  const auto bytes = read_whole(made);
  fs::remove(target, failed);
  const int code = bytes ? write_new(target, *bytes, 0700, false) : EIO;
  if (code != 0)
    throw MachineError({.where = {.file = target.string()},
                        .message = "could not write the compiled program",
                        .found = system_message(code),
                        .expected = "a folder with free space",
                        .hint = {}});
}

}  // namespace

void HostCompiler::compile(const ProgramText& program, const fs::path& target,
                           std::chrono::milliseconds limit) const {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  const TemporaryFolder folder;
  write_sources(folder.path(), program.sources);

  // The compiler's temporary files are removed with the folder. Its messages are in English so that errors
  // are found.
  const std::vector<std::string> environment{"TMPDIR=" + folder.path().string(), "LC_ALL=C", "LANG=C"};
  for (const std::vector<Command>& stage : stages(path_, program, folder.path())) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    const CommandsResult result = run_commands(stage, environment, left);
    if (result.ending != Ending::done) report_failure(path_, result, stage[result.command].messages, limit);
  }

  const fs::path made = folder.path() / library_name;
  if (!fs::exists(made))
    throw MachineError({.message = "the C++ compiler " + path_.string() + " wrote no library",
                        .found = "exit code 0 but no output file",
                        .expected = "a shared library",
                        .hint = "does ZWANG_CXX name a C++ compiler?"});
  move_library(made, target);
}

}  // namespace zwang
