#include "host/batch_size.h"

#include <algorithm>

#include "kernels/layout.h"

namespace zwang {

namespace {

constexpr double results_bytes = 64.0 * 1024 * 1024;
constexpr double seconds_wanted = 0.2;  // progress moves five times a second
constexpr double fastest_growth = 4;

// What a member takes while its batch is on the way, roughly: inputs twice (batch and backend), results once.
double bytes_per_member(const Study& study) {
  const System& system = *study.system;
  const std::size_t state = 2 * system.size() + system.auxiliaries.size();
  const std::size_t numbers = study.time.outputs.size() * system.observables.size() + system.measures.size() +
                              2 * system.parameters.size() + 3 * state + event_kinds +
                              2 * std::size_t{audit_numbers} + 12;
  return 8 * static_cast<double>(numbers);
}

}  // namespace

// Threads take members one by one; with sixteen each, waiting for the last one costs a few per cent at most.
BatchSize::BatchSize(const Study& study, unsigned threads, long long fixed)
    : fixed_(fixed),
      least_(16LL * std::max(threads, 1U)),
      most_(std::max(least_, static_cast<long long>(results_bytes / bytes_per_member(study)))),
      next_(fixed > 0 ? fixed : least_) {}

void BatchSize::learn(long long members, double seconds) {
  if (fixed_ > 0 || members <= 0) return;
  const double factor = std::min(seconds_wanted / std::max(seconds, 1e-6), fastest_growth);
  next_ = std::clamp(static_cast<long long>(factor * static_cast<double>(members)), least_, most_);
}

}  // namespace zwang
