// Number of members per batch. Results do not depend on it; memory and the rate of progress reports do.
#pragma once

#include "host/backend/backend.h"
#include "host/study/study.h"

namespace zwang {

class BatchSize {
 public:
  // `threads`: host threads that integrate. `fixed`: members per batch; 0: chosen from the size of the
  // results and the time that batches take.
  BatchSize(const Study& study, unsigned threads, long long fixed);
  // `members_wanted`: results of each member are returned even if the backend computes the statistics.
  BatchSize(const Study& study, const Backend& backend, long long fixed, bool members_wanted);

  long long next() const { return next_; }
  // Size of a batch if this many members are left: the last batches are equally large.
  long long next(long long left) const;
  long long most() const { return most_; }
  // Members and seconds of the last batch. The first batches are small because the time per member is
  // unknown.
  void learn(long long members, double seconds);

 private:
  void use_device(const Study& study, const Backend& backend, long long fixed, bool members_wanted);

  long long fixed_, least_, most_, next_;
  double seconds_wanted_, fastest_growth_;
  bool overlaps_ = false;  // several batches are under way at a time
};

}  // namespace zwang
