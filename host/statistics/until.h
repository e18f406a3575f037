// Stopping when sure: a run ends early once a measure's mean is known well enough.
//
// Decided at 1024, 2048, 4096 ... members and nowhere else: the answer then depends on the members alone, not on how
// they were batched, and looking a few times rather than always keeps the estimate nearly unbiased. At these counts the
// merged tree is a single node.
#pragma once

#include "host/statistics/statistics.h"

namespace zwang {

struct UntilRule {
  std::size_t measure = 0;
  double relative_stderr = 0.01;
};

constexpr long long first_decision = 1024;

// The count of members up to which to run next, `done` being behind us: the next decision, or all members.
long long next_decision(long long done, long long members);

bool is_decision(long long done);

// Whether to stop here. Never where nothing is decided, nor while the mean is 0: a rare event not met yet is no
// certainty. A shard cannot decide alone.
bool until_met(const UntilRule& rule, const Statistics& statistics);

}  // namespace zwang
