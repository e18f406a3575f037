// What a run will cost: bytes of its files from the study, time from the members done so far.
#pragma once

#include <string>

#include "host/run/run.h"
#include "host/study/study.h"

namespace zwang {

// Bytes that the results of `members` members take on disk. Events of trajectories are not known beforehand
// and not counted.
double estimated_bytes(const Study& study, long long members);

// "850 kB", "12 GB"
std::string bytes_text(double bytes);

// Watches the first reports of progress until the rate is known.
class TimeEstimate {
 public:
  // The seconds that are left, once; nothing before the rate is known and after it was given.
  std::optional<double> seconds_left(const RunProgress& progress);

 private:
  bool given_ = false;
  std::optional<RunProgress> first_;
};

}  // namespace zwang
