// Signal handlers that set a flag, which check() turns into an exception.
#include "host/platform/interrupt.h"

#include "host/platform/child_process.h"

namespace zwang {

namespace {

volatile std::sig_atomic_t signal_seen = 0;

void remember(int signal) { signal_seen = signal; }

}  // namespace

InterruptWatch::InterruptWatch() {
  signal_seen = 0;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;
    struct sigaction ours {};
    ours.sa_handler = remember;
    // SA_RESTART: system calls in progress continue. SA_RESETHAND: a second signal has its default effect.
    ours.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
    sigemptyset(&ours.sa_mask);
    sigaction(signal, &ours, nullptr);
    before_.push_back({signal, before});
  }
}

InterruptWatch::~InterruptWatch() {
  for (const Before& one : before_) sigaction(one.signal, &one.action, nullptr);
}

void InterruptWatch::check() const {
  if (signal_seen != 0) throw Interrupted(signal_seen);
}

}  // namespace zwang
