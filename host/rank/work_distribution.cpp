// Assignment of new ranges, and repeated assignment of overdue ones.
#include "host/rank/work_distribution.h"

#include <algorithm>

#include "host/estimators/moments.h"
#include "host/statistics/plan.h"

namespace zwang {

namespace {

// Results that cannot be joined yet take memory: limit on ranges in flight, per worker and at least.
constexpr std::size_t window_per_worker = 3, window_minimum = 8;
constexpr std::size_t most_workers_per_range = 3;
// A range is overdue if it takes several times as long as the slowest finished range; it may have been queued
// behind another range of the same worker.
constexpr double reassign_after_s = 1, reassign_factor = 4;

long long whole_blocks(long long members) {
  return std::max(1LL, (members + block_members - 1) / block_members) * block_members;
}

}  // namespace

WorkDistribution::WorkDistribution(long long begin, long long end,
                                   std::function<long long(long long)> last_end, BatchSize sizes,
                                   std::function<long long(long long)> boundary_from)
    : next_(begin),
      end_(end),
      last_end_(std::move(last_end)),
      boundary_from_(std::move(boundary_from)),
      sizes_(sizes) {}

BatchSize& WorkDistribution::sizes_of(int worker) {
  return by_worker_.try_emplace(worker, sizes_).first->second;
}

std::optional<MemberRange> WorkDistribution::next(int worker, double now) {
  if (const auto range = fresh(worker, now)) return range;
  return overdue(worker, now);
}

std::optional<MemberRange> WorkDistribution::fresh(int worker, double now) {
  const long long size = whole_blocks(sizes_of(worker).next());
  const std::size_t window = window_minimum + window_per_worker * by_worker_.size();
  if (next_ >= end_ || assigned_.size() >= window) return {};
  const long long up_to = boundary_from_ ? boundary_from_(next_ + size) : next_ + size;
  const MemberRange range{next_, std::min({up_to, last_end_(next_), end_})};
  assigned_[range.first] = {range, {worker}, now, false};
  next_ = range.end;
  return range;
}

std::optional<MemberRange> WorkDistribution::overdue(int worker, double now) {
  for (auto& [first, assigned] : assigned_) {
    const bool has_it =
        std::find(assigned.workers.begin(), assigned.workers.end(), worker) != assigned.workers.end();
    if (assigned.finished || has_it || assigned.workers.size() >= most_workers_per_range) continue;
    if (now - assigned.since < reassign_after_s + reassign_factor * slowest_s_) continue;
    assigned.workers.push_back(worker);
    assigned.since = now;
    return assigned.range;
  }
  return {};
}

bool WorkDistribution::accept_result(int worker, const MemberRange& range, double seconds) {
  sizes_of(worker).learn(range.end - range.first, seconds);
  const auto assigned = assigned_.find(range.first);
  if (assigned == assigned_.end() || assigned->second.finished) return false;
  slowest_s_ = std::max(slowest_s_, seconds);
  assigned->second.finished = true;
  return true;
}

void WorkDistribution::joined(long long position) {
  assigned_.erase(assigned_.begin(), assigned_.lower_bound(position));
  next_ = std::max(next_, position);
}

}  // namespace zwang
