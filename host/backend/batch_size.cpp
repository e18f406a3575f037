#include "host/backend/batch_size.h"

#include <algorithm>

#include "host/study/study.h"
#include "kernels/base/layout.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// Results are freed and allocated again for every batch. They must be small enough for the allocator to reuse
// the pages: fresh pages cost a short member a fifth of its time on a virtual machine
// (docs/decisions.md).
constexpr double results_bytes = 16.0 * 1024 * 1024;
// With statistics on the device, results stay there. A GPU needs many members: batches below device_least
// leave most of it idle.
constexpr double resident_bytes = 2048.0 * 1024 * 1024;
// Longer than on the host: the summaries of every batch are copied, and at the end of a batch, when few members are
// left, most of the device is idle.
constexpr double device_seconds = 5;
constexpr long long device_least = 1 << 18;
constexpr double host_seconds = 0.2;  // progress is updated five times a second
constexpr double fastest_growth = 4, fastest_growth_of_device = 16;
constexpr double recorded_bytes = 64.0 * 1024 * 1024;  // of [[record]], held for one batch

// Approximate bytes per member while its batch is processed: inputs twice (batch and backend), results once.
double bytes_per_member(const Study& study, bool observables, bool members) {
  const System& system = *study.system;
  const std::size_t state = 2 * system.size() + system.auxiliaries.size();
  std::size_t numbers = 2 * system.parameters.size() + 2 * state + 8;
  if (observables) numbers += study.time.outputs.size() * system.observables.size();
  if (members) numbers += system.member_values() + state + event_kinds + 8;
  return 8 * static_cast<double>(numbers);
}

}  // namespace

// Threads take members one by one. With sixteen members per thread, idle threads at the end of a batch cost a
// few per cent at most.
BatchSize::BatchSize(const Study& study, unsigned threads, long long fixed)
    : fixed_(fixed),
      least_(16LL * std::max(threads, 1U)),
      most_(std::max(least_, static_cast<long long>(results_bytes / bytes_per_member(study, true, true)))),
      next_(fixed > 0 ? fixed : least_),
      seconds_wanted_(host_seconds),
      fastest_growth_(fastest_growth) {}

BatchSize::BatchSize(const Study& study, const Backend& backend, long long fixed, bool members_wanted)
    : BatchSize(study, backend.threads(), fixed) {
  use_device(study, backend, fixed, members_wanted);
  const auto room = static_cast<double>(study.system->record_room());
  if (room == 0) return;
  most_ = std::clamp(static_cast<long long>(recorded_bytes / (8 * room)), 1LL, most_);
  least_ = std::min(least_, most_);
  next_ = std::min(next_, most_);
}

void BatchSize::use_device(const Study& study, const Backend& backend, long long fixed, bool members_wanted) {
  if (!backend.reduces()) return;
  least_ = device_least;
  seconds_wanted_ = device_seconds;
  fastest_growth_ = fastest_growth_of_device;
  overlaps_ = backend.batches_at_once() > 1;
  most_ = std::max(least_,
                   static_cast<long long>(resident_bytes / bytes_per_member(study, false, members_wanted)));
  next_ = fixed > 0 ? fixed : least_;
}

// On a device what is left is divided at least in two: the statistics of one half are computed while the other is
// integrated.
long long BatchSize::next(long long left) const {
  if (fixed_ > 0 || left <= least_) return next_;
  const bool whole = left <= next_;
  if (whole && !(overlaps_ && left > 4 * least_)) return next_;
  const long long batches = whole ? 2 : (left + next_ - 1) / next_;
  return (left + batches - 1) / batches;
}

void BatchSize::learn(long long members, double seconds) {
  if (fixed_ > 0 || members <= 0) return;
  // So few members say little about the speed of a device. A batch may be somewhat smaller than next() without an
  // argument says, because it ends with a block and the last ones are equally large.
  if (overlaps_ && 2 * members < least_) return;
  const double size = static_cast<double>(members);
  const double wanted = seconds_wanted_ / std::max(seconds, 1e-6) * size;
  next_ = std::clamp(static_cast<long long>(std::min(wanted, fastest_growth_ * size)), least_, most_);
}

}  // namespace zwang
