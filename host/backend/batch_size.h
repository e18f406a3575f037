// How many members to integrate at a time. Results do not depend on it: only memory, and how often progress is told.
#pragma once

#include "host/backend/backend.h"
#include "host/study/study.h"

namespace zwang {

class BatchSize {
 public:
  // For so many threads that integrate.
  BatchSize(const Study& study, unsigned threads, long long fixed);
  // fixed: always so many; 0: chosen by what a batch brings back and by how long batches take.
  // members_wanted: what a backend that reduces brings back all the same.
  BatchSize(const Study& study, const Backend& backend, long long fixed, bool members_wanted);

  long long next() const { return next_; }
  long long most() const { return most_; }
  // The last batch's members and seconds. The first batches are small: nobody knows yet how long a member takes.
  void learn(long long members, double seconds);

 private:
  long long fixed_, least_, most_, next_;
  double seconds_wanted_;
};

}  // namespace zwang
