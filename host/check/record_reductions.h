// Reductions over the rows of records. Rows are numbered from the start of a motion, so they are not put
// together from segments: two reference runs over the whole motion are compared, row by row. Where these part
// (chaos, grazing) the reduction decides nothing.
#pragma once

#include <cstddef>
#include <vector>

#include "host/check/findings.h"
#include "host/check/measures.h"
#include "host/check/reference_pair.h"
#include "kernels/base/status.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

// Whether a measure or flag needs them.
bool has_record_reductions(const System& system);

// By reduction; those that are not over a record, and labels, which a member does not have by itself, are
// undecided. `whole`: from the start to the end; `status`: how the backend's motion ended.
std::vector<StitchedReductions::Verdict> record_verdicts(const System& system, const Equations& equations,
                                                         const ReferencePair& whole, Status status,
                                                         const Tolerance& tolerance);

}  // namespace zwang
