// Runs the built program with command-line arguments.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/scratch.h"

namespace zwang {

struct ProgramRun {
  int code = 0;  // or 128 + signal
  std::string out, err;
};

// Options of `more` replace those of the same name; --set may occur several times.
inline std::vector<std::string> with_options(std::vector<std::string> arguments,
                                             const std::vector<std::string>& more) {
  for (const std::string& word : more) {
    if (!word.starts_with("--") || word == "--set") continue;
    const auto before = std::find(arguments.begin(), arguments.end(), word);
    if (before == arguments.end()) continue;
    const bool has_value = before + 1 != arguments.end() && !(before + 1)->starts_with("--");
    arguments.erase(before, before + (has_value ? 2 : 1));
  }
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// Starts it in `folder`, with its output in files there. `before` runs in the new process: limits, another
// user.
inline pid_t start_program(const std::filesystem::path& folder, std::vector<std::string> arguments,
                           const std::string& out = "stdout", const std::function<void()>& before = {}) {
  const pid_t process = ::fork();
  if (process != 0) return process;
  if (::chdir(folder.c_str()) != 0) ::_exit(126);
  const auto redirect = [](const std::string& path, int stream) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || ::dup2(file, stream) < 0) ::_exit(126);
  };
  redirect(out, STDOUT_FILENO);
  redirect("stderr", STDERR_FILENO);
  // A shell starts commands in the background with SIGINT ignored, and that is inherited: interrupts would do nothing.
  std::signal(SIGINT, SIG_DFL);
  arguments.insert(arguments.begin(), ZWANG_PROGRAM);
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  if (before) before();
  ::execv(ZWANG_PROGRAM, pointers.data());
  ::_exit(127);
}

inline ProgramRun run_program(const std::filesystem::path& folder, const std::vector<std::string>& arguments,
                              const std::function<void()>& before = {}) {
  ProgramRun made;
  made.code = wait_for(start_program(folder, arguments, "stdout", before));
  made.out = read_text(folder / "stdout");
  made.err = read_text(folder / "stderr");
  return made;
}

}  // namespace zwang
