// Ranks of long columns on a device by Thrust, where the library for it was built.
#pragma once

#include "host/estimators/rank_correlation.h"

namespace zwang {

// Ranks columns on this device, one after the other; empty if there is no library libzwang_thrust.so beside
// the program or in its library folder. ZWANG_THRUST names another library, or "off".
ColumnRanker thrust_ranker(int device);

}  // namespace zwang
