// Child processes by posix_spawn, polled until they end, time out or a signal arrives.
#include "host/platform/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <thread>

#include "host/platform/machine_error.h"
#include "host/platform/private_files.h"

namespace zwang {

namespace {

using Clock = std::chrono::steady_clock;

// Polling interval: short compared with any compilation, long compared with the cost of one poll.
constexpr timespec poll_interval{.tv_sec = 0, .tv_nsec = 2'000'000};

sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

// Blocks SIGINT, SIGTERM and SIGHUP while children run. The children are in process groups of their own, so a
// Ctrl-C at the terminal does not reach them; if this process died at once, it would leave them and their
// files.
class HeldSignals {
 public:
  HeldSignals() {
    pthread_sigmask(SIG_BLOCK, &held_, &before_);
    // If SIGCHLD is ignored (some job schedulers do that), the exit codes of children are lost.
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, nullptr, &child_before_);
    if (child_before_.sa_handler == SIG_IGN) sigaction(SIGCHLD, &usual, nullptr);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() {
    if (child_before_.sa_handler == SIG_IGN) sigaction(SIGCHLD, &child_before_, nullptr);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    if (handled_ != 0) ::raise(handled_);
  }

  const sigset_t& before() const { return before_; }

  // Sleeps for one polling interval. Returns the signal that ended the sleep early, or 0. Signals that were
  // ignored before (nohup) stay ignored.
  int sleep() {
    const int signal = sigtimedwait(&held_, nullptr, &poll_interval);
    if (signal <= 0) return 0;
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_IGN) return 0;
    if (action.sa_handler != SIG_DFL) handled_ = signal;
    return signal;
  }

 private:
  sigset_t held_ = set_of({SIGINT, SIGTERM, SIGHUP});
  sigset_t before_{};
  struct sigaction child_before_ {};
  int handled_ = 0;  // a signal with a handler: raised again once the signal mask is restored
};

// File actions and attributes for posix_spawn, released by the destructor.
struct SpawnSettings {
  posix_spawn_file_actions_t files{};
  posix_spawnattr_t attributes{};

  SpawnSettings(const Command& command, const sigset_t& mask) {
    // Input from /dev/null, both output streams to the file. A process group of its own, so that one kill()
    // ends the child and everything it started.
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, command.messages.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    posix_spawn_file_actions_addchdir_np(&files, command.folder.c_str());

    const sigset_t usual = set_of({SIGCHLD, SIGPIPE});
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &mask);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
  }
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  list.reserve(texts.size() + 1);
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

// This process's environment, with some variables replaced.
std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
  std::vector<std::string> all = changes;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('=') + 1);
    const bool replaced = std::any_of(changes.begin(), changes.end(), [&](const std::string& change) {
      return std::string_view(change).starts_with(name);
    });
    if (!replaced) all.emplace_back(text);
  }
  return all;
}

// The running processes. The destructor ends those that are left.
class Children {
 public:
  Children(const std::vector<Command>& commands, const std::vector<std::string>& environment)
      : commands_(commands), environment_(environment_with(environment)) {}
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children() {
    for (const Child& child : running_) end(child.process);
  }

  std::size_t count() const { return running_.size(); }

  void start(std::size_t number, const sigset_t& mask) {
    const Command& command = commands_[number];
    std::vector<std::string> arguments = command.arguments;
    const SpawnSettings settings(command, mask);
    pid_t process = 0;
    const int code = posix_spawn(&process, arguments.front().c_str(), &settings.files, &settings.attributes,
                                 pointers(arguments).data(), pointers(environment_).data());
    if (code != 0)
      throw MachineError({.message = "could not start " + arguments.front(),
                          .found = system_message(code),
                          .expected = "an executable program",
                          .hint = {}});
    running_.push_back({number, process});
  }

  // Removes the processes that have ended. Returns the first one that failed, if any.
  CommandsResult collect() {
    CommandsResult result;
    std::erase_if(running_, [&](const Child& child) {
      siginfo_t info{};
      // WNOWAIT: until the group leader is reaped, its process id cannot be reused for another group.
      if (waitid(P_PID, static_cast<id_t>(child.process), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
          info.si_pid == 0)
        return false;
      end(child.process);
      if (result.ending != Ending::done || (info.si_code == CLD_EXITED && info.si_status == 0)) return true;
      result = {info.si_code == CLD_EXITED ? Ending::failed : Ending::killed, child.number, info.si_status};
      return true;
    });
    return result;
  }

  std::size_t first() const { return running_.empty() ? 0 : running_.front().number; }

 private:
  struct Child {
    std::size_t number;
    pid_t process;
  };

  static void end(pid_t process) {
    ::kill(-process, SIGKILL);
    while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  const std::vector<Command>& commands_;
  std::vector<std::string> environment_;
  std::vector<Child> running_;
};

}  // namespace

CommandsResult run_commands(const std::vector<Command>& commands, const std::vector<std::string>& environment,
                            std::chrono::milliseconds limit) {
  const Clock::time_point deadline = Clock::now() + limit;
  const std::size_t at_once = std::max(1U, std::thread::hardware_concurrency());
  // Order matters: the children are destroyed before the signals are restored.
  HeldSignals signals;
  Children children(commands, environment);

  std::size_t next = 0;
  while (next < commands.size() || children.count() > 0) {
    // At most one process per core.
    while (next < commands.size() && children.count() < at_once) children.start(next++, signals.before());

    // Wait for an interrupt, the end of a child, or the deadline, whichever comes first.
    const int signal = signals.sleep();
    if (signal != 0) throw Interrupted(signal);
    const CommandsResult result = children.collect();
    if (result.ending != Ending::done) return result;
    if (children.count() > 0 && Clock::now() > deadline) return {Ending::out_of_time, children.first(), 0};
  }
  return {};
}

}  // namespace zwang
