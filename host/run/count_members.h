// Members counted as they end: how, with which events, how far off the laws, and what became of their starts.
#pragma once

#include "host/backend/backend.h"
#include "host/run/run_result.h"
#include "host/statistics/reduction_plan.h"
#include "host/statistics/run_tally.h"
#include "host/study/study.h"
#include "kernels/base/status.h"

namespace zwang {

// Whether this member enters the statistics: it ended as it should, and is not the nominal one.
bool enters(const EnsembleSettings& ensemble, long long member, Status status);

// Members first, first + 1, ... ; in order, so that the examples do not depend on the batches.
void add_to_tally(RunTally& tally, const EnsembleSettings& ensemble, long long first, const Batch& batch,
                  const BatchResults& results);

// The same where the members stayed with the backend: what the host knows of their starts, and what came
// back.
void add_starts_to_tally(RunTally& tally, const EnsembleSettings& ensemble, long long first,
                         const Batch& batch);
void add_ends_to_tally(RunTally& tally, const ReducedMembers& members);

// Another part of the ensemble joins, before or after: the tally of the whole to the last bit.
void join_tally(RunTally& tally, const RunTally& next);

// The share of members that failed, 0 to 1.
double failed_share(const RunTally& tally);

}  // namespace zwang
