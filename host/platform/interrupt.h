// SIGINT, SIGTERM and SIGHUP: the handler sets a flag, check() throws Interrupted at safe points, and stack
// unwinding removes incomplete files.
#pragma once

#include <csignal>
#include <vector>

namespace zwang {

// During its lifetime the first SIGINT, SIGTERM or SIGHUP only sets a flag; a second one ends the program at
// once. Signals that were ignored (nohup) stay ignored. At most one object may exist at a time.
class InterruptWatch {
 public:
  InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  ~InterruptWatch();

  // Throws Interrupted if a signal has arrived.
  void check() const;

 private:
  struct Before {
    int signal;
    struct sigaction action;
  };
  std::vector<Before> before_;
};

}  // namespace zwang
