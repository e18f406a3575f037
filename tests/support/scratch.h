// Folders and environment variables of tests, restored afterwards.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/support/sanitized.h"

namespace zwang {

// A temporary folder of one test; its name has characters that must be quoted in a shell.
class Scratch {
 public:
  Scratch() {
    std::string name = ::testing::TempDir() + "scratch XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no scratch folder");
    path_ = name;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path folder(const std::string& name) const {
    std::filesystem::create_directories(path_ / name);
    std::filesystem::permissions(path_ / name, std::filesystem::perms::owner_all);
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

// Sets environment variables (nullptr: unsets) and restores them.
class Environment {
 public:
  void set(const char* name, const char* value) {
    if (!before_.contains(name)) {
      const char* old = std::getenv(name);
      before_[name] = old != nullptr ? std::optional<std::string>(old) : std::nullopt;
    }
    put(name, value);
  }
  void set(const char* name, const std::string& value) { set(name, value.c_str()); }

  Environment() = default;
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() {
    for (const auto& [name, value] : before_) put(name.c_str(), value ? value->c_str() : nullptr);
  }

 private:
  static void put(const char* name, const char* value) {
    if (value != nullptr)
      ::setenv(name, value, 1);
    else
      ::unsetenv(name);
  }
  std::map<std::string, std::optional<std::string>> before_;
};

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::ptrdiff_t count_files(const std::filesystem::path& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

// Runs `work` in a new process, whose exit code is 0 when `work` returns true. Failures of gtest assertions
// there are not seen in this process.
template <class Work>
pid_t start_process(Work&& work) {
  const pid_t process = ::fork();
  if (process != 0) return process;
  bool good = false;
  try {
    good = work();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "in a child process: %s\n", error.what());
  }
  ::_exit(good ? 0 : 1);
}

// Exit code, or 128 + signal.
inline int wait_for(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Whether a condition becomes true in time. Only a failure takes all of the time, so the limit is generous:
// it allows for a busy machine and for sanitizers.
template <class Condition>
bool eventually(Condition&& condition, int seconds = 60) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(sanitized ? 10 * seconds : seconds);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    ::usleep(2000);
  }
  return true;
}

// The message of the exception `work` throws; "" when it throws none of this type.
template <class Thrown, class Work>
std::string message_of(Work&& work) {
  try {
    work();
  } catch (const Thrown& error) {
    return error.what();
  }
  return "";
}

}  // namespace zwang
