// Counters that the threads of a group share (SketchGroup, HistogramGroup).
#pragma once

#include "kernels/base/portable.h"

namespace zwang {

ZWANG_INLINE long long least(long long a, long long b) { return a < b ? a : b; }

ZWANG_INLINE void clear_counters(unsigned* counters, unsigned count, int lane, int lanes) {
  for (unsigned k = static_cast<unsigned>(lane); k < count; k += static_cast<unsigned>(lanes))
    counters[k] = 0;
}

}  // namespace zwang
