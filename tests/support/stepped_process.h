// Kills a process before a given system call, instead of after a given time.
#pragma once

#include <sys/ptrace.h>

#include "tests/support/scratch.h"

namespace zwang {

enum class Stepped { killed, ended, not_allowed };

// Runs `work` in a new process and kills it before its system call number `call` (0: the first). Files change
// only in system calls, so doing this for every call covers a kill at any time, independently of the speed of
// the machine. not_allowed: this machine does not allow tracing of child processes.
template <class Work>
Stepped kill_before_call(int call, Work&& work) {
  constexpr int refused = 117;
  const pid_t process = ::fork();
  if (process == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(refused);
    ::raise(SIGSTOP);
    work();
    ::_exit(0);
  }
  const auto next_stop = [&] {
    int status = 0;
    while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  };
  const auto go_on = [&](int signal) {
    ::ptrace(PTRACE_SYSCALL, process, nullptr, static_cast<std::intptr_t>(signal));
    return next_stop();
  };

  int status = next_stop();
  if (!WIFSTOPPED(status)) return WEXITSTATUS(status) == refused ? Stepped::not_allowed : Stepped::ended;
  ::ptrace(PTRACE_SETOPTIONS, process, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  // Each call stops the process twice, at its entry and at its exit.
  int signal = 0;
  for (int stops = 0; stops <= 2 * call;) {
    status = go_on(signal);
    if (!WIFSTOPPED(status)) return Stepped::ended;
    const bool at_call = WSTOPSIG(status) == (SIGTRAP | 0x80);
    stops += at_call ? 1 : 0;
    signal = at_call ? 0 : WSTOPSIG(status);
  }
  ::kill(process, SIGKILL);
  while (WIFSTOPPED(status)) status = next_stop();
  return Stepped::killed;
}

}  // namespace zwang
