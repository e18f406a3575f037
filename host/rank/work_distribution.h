// Dynamic work distribution: member ranges are assigned to workers on request and joined in member order.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "host/backend/batch_size.h"
#include "host/rank/messages.h"

namespace zwang {

class WorkDistribution {
 public:
  // The ranges of [begin, end), begin at the beginning of a block; `last_end` gives the largest permitted end
  // of a range that begins at `first`. Range sizes adapt like batch sizes: `sizes` is copied for every worker.
  // `boundary_from` gives the first beginning of a block at or after a member; by default multiples of 256.
  WorkDistribution(long long begin, long long end, std::function<long long(long long first)> last_end,
                   BatchSize sizes, std::function<long long(long long member)> boundary_from = {});

  // The next range for this worker at time `now` in seconds; empty if there is none at present. Once all
  // ranges are assigned, or too many results are held back by one unfinished range, the oldest overdue range
  // is assigned again: every worker computes the same bits, and the first result counts.
  std::optional<MemberRange> next(int worker, double now);

  // Accepts a worker's result. False if another worker has already delivered this range.
  bool accept_result(int worker, const MemberRange& range, double seconds);

  // All members before `position` are joined.
  void joined(long long position);

 private:
  struct Assigned {
    MemberRange range;
    std::vector<int> workers;
    double since = 0;  // time of the last assignment
    bool finished = false;
  };
  std::optional<MemberRange> fresh(int worker, double now);
  std::optional<MemberRange> overdue(int worker, double now);
  BatchSize& sizes_of(int worker);

  long long next_, end_;
  std::function<long long(long long)> last_end_, boundary_from_;
  BatchSize sizes_;
  std::map<int, BatchSize> by_worker_;
  std::map<long long, Assigned> assigned_;  // assigned and not joined, by first member
  double slowest_s_ = 0;                    // slowest finished range so far
};

}  // namespace zwang
