// Early stopping: a run ends once the mean of a measure is known to a given relative standard error.
//
// Decided at 1024, 2048, 4096 ... members only: the decision then depends on the members alone, not on the
// batches, and few decisions keep the estimate nearly unbiased. At these counts the merge tree is a single
// node.
#pragma once

#include "host/statistics/statistics.h"

namespace zwang {

struct UntilRule {
  std::size_t measure = 0;
  double relative_stderr = 0.01;
};

constexpr long long first_decision = 1024;

// The number of members at the next decision after `done`, or all members.
long long next_decision(long long done, long long members);

bool is_decision(long long done);

// Whether to stop here. False between decisions, and while the mean is 0: not having seen a rare event yet
// does not count as certainty. A shard cannot decide alone.
bool until_met(const UntilRule& rule, const Statistics& statistics);

}  // namespace zwang
