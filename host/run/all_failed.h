// Thrown where the first members of an ensemble all fail: the rest would be work for nothing.
#pragma once

#include <stdexcept>
#include <utility>

#include "host/statistics/run_tally.h"

namespace zwang {

// The members that decide: a whole number of blocks, so that every backend and every division of the work
// decides over the same members. On the host they are the first batch, on a device a part of it.
constexpr long long early_members = 1024;

class AllFailed : public std::runtime_error {
 public:
  explicit AllFailed(RunTally tally)
      : std::runtime_error("the first members all failed"), tally_(std::move(tally)) {}
  const RunTally& tally() const { return tally_; }

 private:
  RunTally tally_;
};

}  // namespace zwang
