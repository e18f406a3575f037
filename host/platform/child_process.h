// Other programs, run without a shell, with a limit on their time.
#pragma once

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace zwang {

struct Command {
  std::vector<std::string> arguments;  // the first is the program: a path, not looked up anywhere
  std::filesystem::path folder;        // where it runs
  std::filesystem::path messages;      // takes what it prints, on both streams
};

// SIGINT, SIGTERM or SIGHUP came while commands ran. An exception, so that files are cleaned up on the way out;
// a program without a handler should then end with exit code 128 + signal, as if the signal had killed it.
class Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(int signal) : std::runtime_error("interrupted"), signal_(signal) {}
  int signal() const { return signal_; }

 private:
  int signal_;
};

enum class Ending { done, failed, killed, out_of_time };

struct CommandsResult {
  Ending ending = Ending::done;
  std::size_t command = 0;  // the first that did not end well
  int code = 0;             // its exit code (failed) or signal (killed)
};

// Runs all commands, side by side as far as there are cores. The first that does not end well, the limit, or an
// interrupt ends the others too, with everything they started. On an interrupt this process's handler runs, where
// there is one, and Interrupted is thrown; ignored signals stay ignored.
// `environment` is added to this process's own, as NAME=value. MachineError when a program cannot be started.
CommandsResult run_commands(const std::vector<Command>& commands, const std::vector<std::string>& environment,
                            std::chrono::milliseconds limit);

}  // namespace zwang
