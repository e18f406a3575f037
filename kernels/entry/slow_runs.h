// Runs of the slow path on a GPU (entry/entry_cuda.h): the lists of members that wait for it, when a run begins, and how
// its members go on.
//
// An entry of the slow path takes as long as many turns of the other kernels, and some entries take ten times as long as
// others. If the turns waited for the end of a run, the device would be idle for most of the time while its last warps
// end. Therefore runs are under way beside the turns, several at the same time, each on a stream of its own:
//
//   zwang_event of turn t   gives the list that waits to an idle run, which is then `under_way`
//   zwang_slow_path         the launch of turn t on the stream of that run reads the list; every other launch returns at
//                           once. A member that goes on is appended to a list of the run's own. The last block marks the
//                           run as `ended`.
//   zwang_event of turns    at the end of a turn its last block notes how far the lists of the runs have grown, and in the
//   t + 1, t + 2, ...       next turn all blocks distribute these slots; with the rule `gathered` (SlowRunRule) once the
//                           run has ended, else they do not wait for its last warps
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
// The list is read while it grows: a member must be stored before its slot is written.
__device__ __forceinline__ void append_resumed(const DeviceLists& lists, unsigned run, unsigned slot,
                                               bool alone) {
  const unsigned place = atomicAdd(&lists.counters->runs[run].resumed, 1U);
  publish(&lists.resumed[run][place], alone ? slot | DeviceLists::alone : slot);
}
// The entry for which a warp has taken this place, and will have written it within microseconds. The place is cleared for
// the next run.
__device__ __forceinline__ unsigned take_resumed(unsigned* place) {
  unsigned entry = no_slot;
  while (entry == no_slot) entry = *static_cast<volatile unsigned*>(place);
  *place = no_slot;
  return entry;
}

// The lists of all kinds of work in one copy, one after the other, each filled up to whole warps: the longest work first.
struct WaitingLists {
  __device__ __forceinline__ WaitingLists(const DeviceLists& lists, unsigned copy)
      : entries_(lists.waiting[copy]), slots_(lists.slots) {
    begin_[0] = 0;
    ZWANG_REGISTERS for (int w = 0; w < slow_works; ++w) {
      length_[w] = __ldcg(&lists.counters->waiting[copy][slow_works - 1 - w]);
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

// Called at the beginning of zwang_event by all threads: the slots that runs have left go on in this turn.
__device__ __forceinline__ void collect_resumed(const DeviceLists& lists, int read) {
  ZWANG_ROLLED for (unsigned r = 0; r < lists.runs; ++r) {
    const unsigned from = lists.counters->runs[r].from, until = lists.counters->runs[r].until;
    for (unsigned i = from + blockIdx.x * blockDim.x + threadIdx.x; i < until; i += gridDim.x * blockDim.x) {
      const unsigned entry = take_resumed(&lists.resumed[r][i]);
      if ((entry & DeviceLists::alone) != 0)
        append_waiting(lists, SlowWork::step, entry);
      else
        append_moving(lists, read, entry);
    }
  }
}

// The copy of the list `waiting` that no run reads.
__device__ __forceinline__ unsigned free_copy(const DeviceLists& lists) {
  unsigned used = 0;
  ZWANG_ROLLED for (unsigned r = 0; r < lists.runs; ++r) {
    const SlowRun& run = lists.counters->runs[r];
    if (__ldcg(&run.state) != unsigned(SlowRunState::idle)) used |= 1U << run.copy;
  }
  return unsigned(__ffs(int(~used))) - 1;
}

// Called at the end of zwang_event by all threads. Its last block frees the runs whose slots have all been distributed,
// notes which slots the others have left since, and begins a run if work waits and `launched` says that zwang_slow_path is
// launched for an idle one in this turn (a bit for each run). Where entries take long warps should be full: then only if
// enough entries wait, or more than members move.
template <SlowRunRule rule>
__device__ __forceinline__ void begin_slow_run(const DeviceLists& lists, unsigned turn, unsigned launched) {
  DeviceCounters& counters = *lists.counters;
  __syncthreads();
  if (threadIdx.x > 0) return;
  __threadfence();
  if (atomicAdd(&counters.blocks_done, 1U) + 1 < gridDim.x) return;
  __threadfence();
  counters.blocks_done = 0;
  int idle = -1;
  bool all_taken = true;
  ZWANG_ROLLED for (unsigned r = 0; r < lists.runs; ++r) {
    SlowRun& run = counters.runs[r];
    if (run.complete != 0) run = SlowRun{};
    const auto state = SlowRunState(__ldcg(&run.state));
    if (state == SlowRunState::idle && (launched >> r & 1U) != 0) idle = int(r);
    all_taken = all_taken && __ldcg(&run.taken) >= run.entries;
    run.complete = state == SlowRunState::ended ? 1 : 0;
  }
  __threadfence();  // a run that has ended by now appends nothing any more
  ZWANG_ROLLED for (unsigned r = 0; r < lists.runs; ++r) {
    SlowRun& run = counters.runs[r];
    run.from = run.until;
    if (rule != SlowRunRule::gathered || run.complete != 0) run.until = __ldcg(&run.resumed);
  }
  unsigned waiting = 0;
  ZWANG_ROLLED for (int w = 0; w < slow_works; ++w) waiting += __ldcg(&counters.waiting[counters.filled][w]);
  bool due = waiting > 0 && idle >= 0;
  if constexpr (rule != SlowRunRule::prompt)
    due = due && (waiting >= lists.enough_waiting || __ldcg(&counters.moving[turn % 2]) <= waiting);
  if constexpr (rule == SlowRunRule::overlapping) due = due && all_taken;
  if (!due) return;
  SlowRun& run = counters.runs[idle];
  run.turn = turn;
  run.copy = counters.filled;
  run.entries = WaitingLists(lists, run.copy).count();
  run.state = unsigned(SlowRunState::under_way);
  const unsigned next = free_copy(lists);
  ZWANG_ROLLED for (int w = 0; w < slow_works; ++w) counters.waiting[next][w] = 0;
  __threadfence();
  counters.filled = next;
}

}  // namespace zwang
