// How many members to integrate at a time. Results do not depend on it: only memory, and how often progress is told.
#pragma once

#include "host/study.h"

namespace zwang {

class BatchSize {
 public:
  // fixed: always so many; 0: chosen by what a batch brings back and by how long batches take.
  BatchSize(const Study& study, unsigned threads, long long fixed);

  long long next() const { return next_; }
  // The last batch's members and seconds. The first batches are small: nobody knows yet how long a member takes.
  void learn(long long members, double seconds);

 private:
  long long fixed_, least_, most_, next_;
};

}  // namespace zwang
