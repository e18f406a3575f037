// The members that wait for the slow path on a GPU (entry/entry_cuda.h): how they are listed, and in which turns the slow
// path runs.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/entry/warp.h"

namespace zwang {

__device__ __forceinline__ void append_waiting(const DeviceLists& lists, SlowWork work, unsigned entry) {
  const unsigned copy = lists.counters->filled;
  const unsigned place = atomicAdd(&lists.counters->waiting[copy][int(work)], 1U);
  lists.waiting[copy][unsigned(work) * lists.slots + place] = entry;
}

// The slow path gathers its work where an entry takes milliseconds and a turn without it is short: it runs when twice as
// many members wait as it has lanes, or when few others move.
constexpr unsigned many_lanes = 2, few_moving = 8;

// Called at the end of zwang_event by all threads. Its last block decides which copy of the list the slow path reads in
// this turn, if any. The slow path of the turn before may still run: what it appends to that copy is read too, because
// this turn's slow path begins after it.
template <bool gathers>
__device__ __forceinline__ void choose_slow_path(const DeviceLists& lists, int read) {
  DeviceCounters& counters = *lists.counters;
  __syncthreads();
  if (threadIdx.x > 0) return;
  __threadfence();
  if (atomicAdd(&counters.blocks_done, 1U) + 1 < gridDim.x) return;
  __threadfence();
  counters.blocks_done = 0;
  const auto length_of = [&](unsigned copy) {
    unsigned sum = 0;
    ZWANG_ROLLED for (int w = 0; w < slow_works; ++w) sum += __ldcg(&counters.waiting[copy][w]);
    return sum;
  };
  const unsigned filled = counters.filled, waiting = length_of(filled);
  bool due = waiting > 0;
  if constexpr (gathers) {
    const unsigned before = counters.slow_reads[1 - read];
    const unsigned elsewhere = __ldcg(&counters.moving[read]) + (before > 0 ? length_of(before - 1) : 0);
    due = due && (waiting >= many_lanes * lists.slow_path_lanes || elsewhere <= waiting / few_moving);
  }
  counters.slow_reads[read] = due ? filled + 1 : 0;
  if (!due) return;
  const unsigned next = (filled + 1) % waiting_copies;
  ZWANG_ROLLED for (int w = 0; w < slow_works; ++w) counters.waiting[next][w] = 0;
  __threadfence();
  counters.filled = next;
}

// The lists of all kinds of work in one copy, one after the other, each filled up to whole warps: the longest work first.
struct WaitingLists {
  __device__ __forceinline__ WaitingLists(const DeviceLists& lists, unsigned copy)
      : entries_(lists.waiting[copy]), slots_(lists.slots) {
    begin_[0] = 0;
    ZWANG_REGISTERS for (int w = 0; w < slow_works; ++w) {
      length_[w] = lists.counters->waiting[copy][slow_works - 1 - w];
      begin_[w + 1] = begin_[w] + (length_[w] + warp_lanes - 1) / warp_lanes * warp_lanes;
    }
  }

  __device__ __forceinline__ unsigned count() const { return begin_[slow_works]; }
  // no_slot where a list has been filled up.
  __device__ __forceinline__ unsigned entry(unsigned i) const {
    unsigned found = no_slot;
    ZWANG_REGISTERS for (int w = 0; w < slow_works; ++w) {
      if (i >= begin_[w] && i - begin_[w] < length_[w])
        found = entries_[(slow_works - 1 - w) * slots_ + (i - begin_[w])];
    }
    return found;
  }

 private:
  const unsigned* entries_;
  unsigned slots_, length_[slow_works], begin_[slow_works + 1];
};

}  // namespace zwang
