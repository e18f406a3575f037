// Runs other programs without a shell, in parallel and with a time limit.
#pragma once

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace zwang {

struct Command {
  std::vector<std::string> arguments;  // the first is the path of the program; PATH is not searched
  std::filesystem::path folder;        // working directory
  std::filesystem::path messages;      // file that receives standard output and standard error
};

// SIGINT, SIGTERM or SIGHUP arrived while commands ran. It is an exception so that destructors remove
// temporary files. A program without a handler should then end with exit code 128 + signal, as if the signal
// had killed it.
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
  std::size_t command = 0;  // index of the first command that failed
  int code = 0;             // its exit code (failed) or signal (killed)
};

// Runs all commands, as many in parallel as there are cores. The first failure, the time limit or an
// interrupt ends all others, including every process they started. On an interrupt the handler of this
// process runs, if it has one, and Interrupted is thrown; ignored signals stay ignored.
// `environment` (NAME=value) is added to this process's own. Throws MachineError if a program cannot be
// started.
CommandsResult run_commands(const std::vector<Command>& commands, const std::vector<std::string>& environment,
                            std::chrono::milliseconds limit);

}  // namespace zwang
