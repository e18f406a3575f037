// The built program, run as a user runs it.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/host/scratch.h"

namespace zwang {

struct ProgramRun {
  int code = 0;  // or 128 + signal
  std::string out, err;
};

// Starts it in `folder`, what it prints in files there.
inline pid_t start_program(const std::filesystem::path& folder, std::vector<std::string> arguments,
                           const std::string& out = "stdout") {
  const pid_t process = ::fork();
  if (process != 0) return process;
  if (::chdir(folder.c_str()) != 0) ::_exit(126);
  const auto redirect = [](const std::string& path, int stream) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || ::dup2(file, stream) < 0) ::_exit(126);
  };
  redirect(out, STDOUT_FILENO);
  redirect("stderr", STDERR_FILENO);
  arguments.insert(arguments.begin(), ZWANG_PROGRAM);
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  ::execv(ZWANG_PROGRAM, pointers.data());
  ::_exit(127);
}

inline ProgramRun run_program(const std::filesystem::path& folder,
                              const std::vector<std::string>& arguments) {
  ProgramRun made;
  made.code = wait_for(start_program(folder, arguments));
  made.out = read_text(folder / "stdout");
  made.err = read_text(folder / "stderr");
  return made;
}

}  // namespace zwang
