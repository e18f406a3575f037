// Early stopping: a run ends once the mean of a measure is known well enough.
//
// Decided at 1024, 2048, 4096 ... members only: the decision then depends on the members alone, not on the
// batches, and few decisions keep the estimate nearly unbiased. At these counts the merge tree is a single
// node.
#pragma once

#include "host/statistics/statistics.h"
#include "host/study/study.h"

namespace zwang {

struct UntilRule {
  using Error = UntilSettings::Error;
  std::size_t measure = 0;
  Error error = Error::relative_stderr;
  double limit = 0.01;
  // Instead of the measure's mean: an index of pick-freeze, for one or for all of its measures.
  struct Index {
    bool total = false;
    std::size_t input = 0;
    std::optional<std::size_t> measure = {};  // among those of the plan
  };
  std::optional<Index> index = {};
};

constexpr long long first_decision = 1024;

// The number of members at the next decision after `done`, or all members.
long long next_decision(long long done, long long members);

bool is_decision(long long done);

// Whether an error is small enough; `halfwidth` is that of a 95 % interval.
bool is_small_enough(const UntilRule& rule, double mean, double standard_error, double halfwidth);

// Whether to stop here. False between decisions, and while the mean is 0: not having seen a rare event yet
// does not count as certainty. A measure that is 0 or 1 decides nothing before 10 members have either value.
// A shard cannot decide alone.
bool until_met(const UntilRule& rule, const Statistics& statistics);

}  // namespace zwang
