// Ctrl-C and its relatives, noticed at a moment that suits: files on the way are then taken back.
#pragma once

#include <csignal>
#include <vector>

namespace zwang {

// While one lives, the first SIGINT, SIGTERM or SIGHUP is only remembered; a second one ends the program at once, as
// usual. Signals that were ignored (nohup) stay ignored. One at a time in a program.
class InterruptWatch {
 public:
  InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  ~InterruptWatch();

  // Throws Interrupted once a signal has come.
  void check() const;

 private:
  struct Before {
    int signal;
    struct sigaction action;
  };
  std::vector<Before> before_;
};

}  // namespace zwang
