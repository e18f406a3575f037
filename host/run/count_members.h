// Adds members to the tally of a run: statuses, events, audits, and how their starts were prepared.
#pragma once

#include "host/backend/backend.h"
#include "host/run/run_result.h"
#include "host/statistics/reduction_plan.h"
#include "host/statistics/run_tally.h"
#include "host/study/study.h"
#include "kernels/base/status.h"

namespace zwang {

// Whether a member with this status failed: neither ok nor stopped.
bool failed_at_end(Status status);

// Whether this member enters the statistics: its status is ok or stopped, and it is not the nominal member.
bool enters(const EnsembleSettings& ensemble, long long member, Status status);

// Adds the members first, first + 1, ... Must be called in order, so that the examples do not depend on the
// batches.
void add_to_tally(RunTally& tally, const EnsembleSettings& ensemble, long long first, const Batch& batch,
                  const BatchResults& results);

// The same in two parts if the members stay on the device: the starts, which the host knows, and the reduced
// results.
void add_starts_to_tally(RunTally& tally, const EnsembleSettings& ensemble, long long first,
                         const Batch& batch);
// `shift`: the number of the member that the reduced ones call 0.
void add_ends_to_tally(RunTally& tally, const ReducedMembers& members, long long shift);

// Adds one member of which only the status is known.
void add_end_to_tally(RunTally& tally, long long member, Status status);

// Adds the tally of another part of the ensemble, before or after this one; bit-identical to the tally of the
// whole.
void join_tally(RunTally& tally, const RunTally& next);

// The fraction of members that failed, 0 to 1.
double failed_share(const RunTally& tally);

}  // namespace zwang
