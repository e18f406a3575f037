// Serialises a tally: all its numbers in one fixed order.
#pragma once

#include <utility>

#include "host/platform/bytes.h"
#include "host/statistics/run_tally.h"

namespace zwang {

void save_tally(ByteWriter& bytes, const RunTally& tally);
// The tally of so many members, or rows of pick-freeze, among those of the range [first, second). Throws Error
// if they cannot have these counts.
RunTally load_tally(ByteReader& bytes, std::pair<long long, long long> range, long long rows);

}  // namespace zwang
