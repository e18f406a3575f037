// Runs of the slow path on a GPU (entry/entry_cuda.h): the lists of members that wait for it, when a run begins, and how
// its members go on.
//
// An entry of the slow path takes as long as many turns of the other kernels, and some entries take ten times as long as
// others. If the turns waited for the end of a run, the device would be idle for most of the time while its last warps
// end. Therefore runs are under way beside the turns, several at the same time, each on a stream of its own:
//
//   zwang_event of turn t      gives the list that waits to an idle run, which is then `under_way`
//   zwang_slow_path            the launch of turn t on the stream of that run reads the list; every other launch returns at
//                              once. Its last block marks the run as `ended`.
//   zwang_event of turn t + n  sees that, and in turn t + n + 1 all its blocks distribute the slots resumed by the run
//
// A run appends to a list of its own only, so that no list grows while another kernel reads it.
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
__device__ __forceinline__ void append_moving(const DeviceLists& lists, int list, unsigned slot) {
  lists.moving[list][atomicAdd(&lists.counters->moving[list], 1U)] = slot;
}
__device__ __forceinline__ void append_resumed(const DeviceLists& lists, unsigned run, unsigned slot,
                                               bool alone) {
  const unsigned place = atomicAdd(&lists.counters->runs[run].resumed, 1U);
  lists.resumed[run][place] = alone ? slot | DeviceLists::alone : slot;
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

// Gives a warp of a run its entries, 32 at a time: whichever warp is free takes the next ones. Blocks are warps.
class SlowRunFeed {
 public:
  __device__ __forceinline__ SlowRunFeed(SlowRun& run, const WaitingLists& waiting)
      : run_(run), waiting_(waiting), entry_(no_slot) {}

  // All lanes of the warp call together. False after the last entries.
  __device__ __forceinline__ bool next() {
    __syncwarp();
    unsigned first = 0;
    if (threadIdx.x == 0) first = atomicAdd(&run_.taken, unsigned(warp_lanes));
    first = __shfl_sync(whole_warp, first, 0);
    if (first >= waiting_.count()) return false;
    entry_ = waiting_.entry(first + threadIdx.x);
    return true;
  }
  // Of this lane; no_slot: none.
  __device__ __forceinline__ unsigned entry() const { return entry_; }
  __device__ __forceinline__ unsigned slot() const {
    return entry_ == no_slot ? no_slot : entry_ & ~DeviceLists::marks;
  }

 private:
  SlowRun& run_;
  const WaitingLists& waiting_;
  unsigned entry_;
};

// Called at the end of a run by all its blocks, which are warps.
__device__ __forceinline__ void end_slow_run(SlowRun& run) {
  __threadfence();
  __syncwarp();
  if (threadIdx.x > 0 || atomicAdd(&run.blocks_done, 1U) + 1 < gridDim.x) return;
  atomicExch(&run.state, unsigned(SlowRunState::ended));
}

// Called at the beginning of zwang_event by all threads: the slots of runs that have ended go on in this turn.
__device__ __forceinline__ void collect_resumed(const DeviceLists& lists, int read) {
  ZWANG_ROLLED for (int r = 0; r < slow_runs; ++r) {
    const SlowRun& run = lists.counters->runs[r];
    const unsigned count = run.collected != 0 ? run.resumed : 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
      const unsigned entry = lists.resumed[r][i];
      if ((entry & DeviceLists::alone) != 0)
        append_waiting(lists, SlowWork::step, entry);
      else
        append_moving(lists, read, entry);
    }
  }
}

// The copy of the list `waiting` that no run reads.
__device__ __forceinline__ unsigned free_copy(const DeviceCounters& counters) {
  bool used[waiting_copies] = {};
  ZWANG_REGISTERS for (int r = 0; r < slow_runs; ++r) {
    ZWANG_REGISTERS for (unsigned c = 0; c < waiting_copies; ++c) {
      used[c] =
          used[c] || (counters.runs[r].state != unsigned(SlowRunState::idle) && counters.runs[r].copy == c);
    }
  }
  unsigned found = 0;
  ZWANG_REGISTERS for (unsigned c = 0; c < waiting_copies; ++c) {
    if (!used[c]) found = c;
  }
  return found;
}

// Called at the end of zwang_event by all threads. Its last block frees the runs whose slots have been distributed, notes
// which runs have ended, and begins one if work waits. `gathers`: only if enough entries wait, or more than members move,
// because an entry takes long and a warp should be full.
template <bool gathers>
__device__ __forceinline__ void begin_slow_run(const DeviceLists& lists, unsigned turn) {
  DeviceCounters& counters = *lists.counters;
  __syncthreads();
  if (threadIdx.x > 0) return;
  __threadfence();
  if (atomicAdd(&counters.blocks_done, 1U) + 1 < gridDim.x) return;
  __threadfence();
  counters.blocks_done = 0;
  int idle = -1;
  ZWANG_ROLLED for (int r = 0; r < slow_runs; ++r) {
    SlowRun& run = counters.runs[r];
    if (run.collected != 0) run = SlowRun{};
    if (__ldcg(&run.state) == unsigned(SlowRunState::idle)) idle = r;
    run.collected = __ldcg(&run.state) == unsigned(SlowRunState::ended) ? 1 : 0;
  }
  unsigned waiting = 0;
  ZWANG_ROLLED for (int w = 0; w < slow_works; ++w) waiting += __ldcg(&counters.waiting[counters.filled][w]);
  bool due = waiting > 0 && idle >= 0;
  if constexpr (gathers)
    due = due && (waiting >= lists.enough_waiting || __ldcg(&counters.moving[turn % 2]) <= waiting);
  if (!due) return;
  SlowRun& run = counters.runs[idle];
  run.turn = turn;
  run.copy = counters.filled;
  run.state = unsigned(SlowRunState::under_way);
  const unsigned next = free_copy(counters);
  ZWANG_ROLLED for (int w = 0; w < slow_works; ++w) counters.waiting[next][w] = 0;
  __threadfence();
  counters.filled = next;
}

}  // namespace zwang
