// Serialises a tally: all its numbers in one fixed order.
#pragma once

#include "host/platform/bytes.h"
#include "host/statistics/run_tally.h"

namespace zwang {

void save_tally(ByteWriter& bytes, const RunTally& tally);
// The tally of the members first to first + members - 1. Throws Error if such members cannot have these
// counts.
RunTally load_tally(ByteReader& bytes, long long first, long long members);

}  // namespace zwang
