// The program's entrances on a GPU.
//
// Members under way lie in slots in the device's memory, more of them than there are lanes. Three kernels take turns.
// `zwang_step` moves members by smooth steps, a lane a member, all in registers; a lane whose member needs attention puts
// it on a list and takes the next one. Lanes of small systems that know their motion as a power series land by themselves,
// all lanes of a block at the same time; for the others `zwang_land` goes through those whose step ends at a crossing, the
// common event. What is not plain there is left to `zwang_tend`, which goes through all others too, rare events, outputs,
// ends and starts, beside the next steps of those who move. So lanes of a warp set out together on the same text, and a
// straggler costs one lane. Which lane takes which slot, and when, is left to chance; a member's numbers do not depend on it.
//
// `side` says which of two lists is read: stepping and tending fill the other one, landing what they are about to read.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/entry/warp.h"
#include "kernels/lanes/fast_event.h"
#include "kernels/lanes/lane_group.h"
#include "kernels/member/slow_path.h"

namespace zwang {

// Tries a lane spends on one slot before it looks after others: no slot is left behind in a long smooth motion. More where
// hardly anybody needed attention the last time.
constexpr int steps_per_turn = 32, steps_per_calm_turn = 128;

// Lanes that want another member wait for so many of their warp: fetching one is long, and the others stand by meanwhile.
// Fewer where they seldom want one.
constexpr int refill_threshold = 8, refill_threshold_with_events = 4;

// `strides`: events are what members are attended to for, not outputs.
template <class Model, class Method, class Real, bool registers_suffice>
struct CudaEntry {
  using M = Member<Model, Method, Real>;

  // Landing is a long text: only where little of it needs registers, and where the lanes of a block go through it together.
  // One warp by itself would make all others wait for instructions.
  static constexpr bool events_in_registers =
      registers_suffice && LaneGroup<M, Real>::finds_crossings_on_series && M::n == 1;

  // A lane's search, in its processor's own memory; and its accounts, where that leaves room for more lanes. In larger systems
  // registers are taken all the same. Odd distances keep the lanes of a warp out of each other's way.
  static constexpr bool ledger_in_shared_memory = M::n == 1;
  using Ledger = LaneLedger<Real, M::rows>;
  struct LaneScratch : OnlyIf<ledger_in_shared_memory, Ledger>::Type {
    typename LaneGroup<M, Real>::Search search;
  };
  struct PaddedScratch : LaneScratch {
    Real beside[sizeof(LaneScratch) / sizeof(Real) % 2 == 0 ? 1 : 2];
  };
  // As long as there is room for a few blocks of them: the searches of many conditions are long.
  static constexpr bool scratch_in_shared_memory = cuda_threads * sizeof(PaddedScratch) <= 32768;

  __device__ __forceinline__ static Ledger& ledger_of(LaneScratch& scratch, Ledger& in_registers) {
    if constexpr (ledger_in_shared_memory)
      return scratch;
    else
      return in_registers;
  }

  __device__ __forceinline__ static void move(const DeviceLists& lists, int side, unsigned slot) {
    lists.moving[side][atomicAdd(&lists.counters->moving[side], 1U)] = slot;
  }
  __device__ __forceinline__ static void wait(const DeviceLists& lists, int side, unsigned entry) {
    lists.waiting[side][atomicAdd(&lists.counters->waiting[side], 1U)] = entry;
  }

  __device__ __forceinline__ static void step(const KernelSettings& settings, const KernelBatch& batch,
                                              M* slots, const DeviceLists& lists, int side) {
    const unsigned count = lists.counters->moving[side];
    const bool calm = lists.counters->handled < count / 16;
    __shared__ PaddedScratch shared_scratch[scratch_in_shared_memory ? cuda_threads : 1];
    __shared__ WarpBuffer bins[events_in_registers ? 1 : cuda_threads / warp_lanes];
    __shared__ BlockVotes votes;
    LaneScratch own;
    Ledger in_registers;
    LaneScratch& scratch = scratch_in_shared_memory ? shared_scratch[threadIdx.x] : own;
    LaneGroup<M, Real> group(settings, batch, slots, &scratch.search, ledger_of(scratch, in_registers));
    typename LaneGroup<M, Real>::Steps::Stages stages;
    typename LaneGroup<M, Real>::Drives drives;
    group.step.stages = &stages;
    group.drive = &drives;
    WarpFeed feed(lists.moving[side], count, &lists.counters->taken);
    WarpBuffer& event_buffer = bins[events_in_registers ? 0 : threadIdx.x / warp_lanes];
    unsigned* const at_event_counter = &lists.counters->at_event[1 - side];
    unsigned at_event_count = 0;
    EventPhase event_phase;
    bool busy = false, more = true, event_ready = false;
    unsigned slot = no_slot;
    int left = 0;
    unsigned tries = 0, turns = 0;
    for (;;) {
      const unsigned idle = __ballot_sync(everyone, !busy && more);
      if (__popc(idle) >= (events_in_registers ? refill_threshold_with_events : refill_threshold) ||
          !__any_sync(everyone, busy && !event_ready)) {
        const bool wanted = !busy && more;
        const unsigned next = feed.next(wanted);
        if (wanted) more = busy = next != no_slot;
        if (wanted && busy) {
          slot = next;
          group.resume(slots + slot);
          left = calm ? steps_per_calm_turn : steps_per_turn;
        }
      }
      if (!events_in_registers && !__any_sync(everyone, busy)) break;
      ++turns;
      if (busy && !event_ready) {
        ++tries;
        const Progress made = group.step_once();
        event_ready = made == Progress::at_event;
        if (made == Progress::needs_slow_path) {
          group.store_for_event_handling();
          wait(lists, 1 - side, slot);
          busy = false;
        } else if (made == Progress::continues && --left <= 0 && group.may_store()) {
          group.store_member();
          move(lists, 1 - side, slot);
          busy = false;
        }
      }
      if constexpr (events_in_registers) {
        const BlockVote vote = votes.count(event_ready, !event_ready && (busy || more), turns);
        if (vote.crossing + vote.others == 0) break;
        if (!event_phase.begins(vote)) continue;
        if (event_ready && !group.handle_event_in_registers()) {
          group.store_for_event_handling();
          wait(lists, 1 - side, slot);
          busy = false;
        }
      } else {
        if (event_ready) {
          group.store_for_event_handling();
          busy = false;
        }
        event_buffer.add(event_ready, slot, at_event_count, lists.at_event, at_event_counter);
      }
      event_ready = false;
    }
    if constexpr (!events_in_registers) event_buffer.flush(at_event_count, lists.at_event, at_event_counter);
    // A warp's sum first: every lane by itself would queue up at the end of every turn.
    const unsigned busy_tries = sum_of_warp(tries), possible = sum_of_warp(turns);
    if (threadIdx.x % 32 == 0 && possible > 0) {
      atomicAdd(&lists.counters->busy, (unsigned long long)busy_tries);
      atomicAdd(&lists.counters->possible, (unsigned long long)possible);
    }
  }

  // What the last turn has read is filled in this one.
  __device__ __forceinline__ static void begin_turn(DeviceCounters& counters, int side) {
    counters.handled = counters.at_event[side];
    counters.at_event[1 - side] = counters.moving[1 - side] = counters.taken = 0;
  }

  __device__ static void handle_events_at_step_end(const KernelSettings& settings, const KernelBatch& batch,
                                                   M* slots, const DeviceLists& lists, int side) {
    if (blockIdx.x == 0 && threadIdx.x == 0) begin_turn(*lists.counters, side);
    if constexpr (FastEvent<M, Real>::possible)
      handle_fast_events(settings, batch, slots, lists, side);
    else
      handle_events_in_memory(slots, lists, side);
  }

  // What landings need of members lies first in them, and what they may change in front of that.
  static constexpr int changed = M::bytes_changed_by_events, needed = M::bytes_needed_by_events;
  using EventTable = StagedMembers<M, needed>;
  static constexpr bool stages_members = FastEvent<M, Real>::possible && EventTable::fits;
  // Small members are brought whole to be attended to.
  using SlowPathTable = StagedMembers<M, int(sizeof(M))>;
  static constexpr int event_threads = stages_members ? warp_lanes : cuda_threads;
  static constexpr int slow_path_threads = SlowPathTable::fits ? warp_lanes : cuda_threads;
  // As many of those as fit on a processor, with all registers they want.
  ZWANG_CONSTANT static constexpr int slow_path_blocks(int otherwise) {
    return SlowPathTable::fits ? int(229376 / (sizeof(SlowPathTable) + 1024)) : otherwise;
  }

  // What is carried has been written before, gaps between the numbers included.
  __device__ __forceinline__ static void clear(M& me) {
    if constexpr (stages_members && !SlowPathTable::fits)
      for (int i = 0; i < EventTable::place - 1; ++i) reinterpret_cast<WideWord*>(&me)[i] = WideWord{};
  }

  // Lanes in their stride: what is not plain is for the others.
  __device__ __forceinline__ static void handle_fast_events(const KernelSettings& settings,
                                                            const KernelBatch& batch, M* slots,
                                                            const DeviceLists& lists, int side) {
    const unsigned count = lists.counters->at_event[side];
    typename LaneGroup<M, Real>::Search search;
    Ledger lane_ledger;
    LaneGroup<M, Real> group(settings, batch, slots, &search, lane_ledger);
    typename LaneGroup<M, Real>::Steps::Stages stages;
    group.step.stages = &stages;
    if constexpr (stages_members) {
      __shared__ EventTable near;
      // From the end: what was written last may still be near.
      const auto entry = [&](unsigned i) { return i < count ? lists.at_event[count - 1 - i] : no_slot; };
      unsigned slot = entry(blockIdx.x * warp_lanes + threadIdx.x);
      for (unsigned first = blockIdx.x * warp_lanes; first < count; first += gridDim.x * warp_lanes) {
        const unsigned next = entry(first + gridDim.x * warp_lanes + threadIdx.x);
        near.load(slots, slot);
        const bool there = slot != no_slot,
                   goes = there && group.handle_stored_event(near.sought(), slots + slot);
        if (goes) group.store_member();
        const WarpPlaces places(goes, slot, &lists.counters->moving[side]);
        near.template store_back<changed>(slots, goes ? slot : no_slot);
        places.fill(lists.moving[side]);
        if (there && !goes) wait(lists, side, slot);
        slot = next;
      }
    } else {
      for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const unsigned slot = lists.at_event[i];
        if (group.handle_stored_event(slots + slot, slots + slot)) {
          group.store_member();
          move(lists, side, slot);
        } else {
          wait(lists, side, slot);
        }
      }
    }
  }

  __device__ static void handle_events_in_memory(M* slots, const DeviceLists& lists, int side) {
    const unsigned count = lists.counters->at_event[side];
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
      const unsigned slot = lists.at_event[i];
      M& me = slots[slot];
      if (!try_event_at_step_end(me)) {
        wait(lists, side, slot | DeviceLists::due);
      } else if (continue_from_event(me)) {
        move(lists, side, slot);
      } else {
        wait(lists, side, slot | DeviceLists::empty);
      }
    }
  }

  __device__ static void run_slow_path(const KernelSettings& settings, const KernelBatch& batch, M* slots,
                                       const DeviceLists& lists, int side) {
    const unsigned count = lists.counters->waiting[side];
    if constexpr (SlowPathTable::fits) {
      __shared__ SlowPathTable near;
      for (unsigned first = blockIdx.x * warp_lanes; first < count; first += gridDim.x * warp_lanes) {
        const unsigned i = first + threadIdx.x, entry = i < count ? lists.waiting[side][i] : no_slot;
        const unsigned slot = entry == no_slot ? no_slot : entry & ~DeviceLists::marks;
        near.load(slots, (entry & DeviceLists::empty) != 0 ? no_slot : slot);
        const bool going = entry != no_slot && slow_path_entry(*near.sought(), settings, batch, lists, entry);
        const WarpPlaces places(going, slot, &lists.counters->moving[1 - side]);
        near.template store_back<int(sizeof(M))>(slots, going ? slot : no_slot);
        places.fill(lists.moving[1 - side]);
      }
    } else {
      for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const unsigned entry = lists.waiting[side][i], slot = entry & ~DeviceLists::marks;
        if (slow_path_entry(slots[slot], settings, batch, lists, entry)) move(lists, 1 - side, slot);
      }
    }
  }

  // One that waits, and those that follow it in its place when it has come to its end. False: there are no more.
  __device__ __forceinline__ static bool slow_path_entry(M& me, const KernelSettings& settings,
                                                         const KernelBatch& batch, const DeviceLists& lists,
                                                         unsigned entry) {
    bool going = (entry & DeviceLists::empty) == 0;
    if (going) going = (entry & DeviceLists::due) != 0 ? dispatch_at_step_end(me) : handle_member(me);
    while (!going) {
      const long long number = (long long)atomicAdd(&lists.counters->next_member, 1ULL);
      if (number >= batch.count) return false;
      clear(me);
      going = start_member(me, settings, batch, number);
    }
    return true;
  }

  // Every slot waits for its first member.
  __device__ static void open(const DeviceLists& lists, unsigned slots) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < slots; i += gridDim.x * blockDim.x)
      lists.waiting[0][i] = i | DeviceLists::empty;
    if (blockIdx.x == 0 && threadIdx.x == 0) lists.counters->waiting[0] = slots;
  }
};

}  // namespace zwang

// One entrance a program: they are compiled side by side. `blocks` of `threads` should fit on a processor at once. A step
// reads its settings from constant memory; members keep pointers to theirs from launch to launch, so those lie in the
// device's memory.
#define ZWANG_CUDA_STEP(Entry, threads, blocks)                                      \
  extern "C" __device__ unsigned long long zwang_slot_bytes = sizeof(Entry::M);      \
  extern "C" __global__ void __launch_bounds__(threads)                              \
      zwang_open(const __grid_constant__ zwang::DeviceLists lists, unsigned slots) { \
    Entry::open(lists, slots);                                                       \
  }                                                                                  \
  extern "C" __global__ void __launch_bounds__(threads, blocks)                      \
      zwang_step(const __grid_constant__ zwang::KernelSettings settings,             \
                 const __grid_constant__ zwang::KernelBatch batch, Entry::M* slots,  \
                 const __grid_constant__ zwang::DeviceLists lists, int side) {       \
    Entry::step(settings, batch, slots, lists, side);                                \
  }
#define ZWANG_CUDA_EVENT(Entry, threads, blocks)                                            \
  extern "C" __global__ void __launch_bounds__(Entry::event_threads,                        \
                                               (blocks) * (threads) / Entry::event_threads) \
      zwang_event(const __grid_constant__ zwang::KernelSettings settings,                   \
                  const __grid_constant__ zwang::KernelBatch batch, Entry::M* slots,        \
                  const __grid_constant__ zwang::DeviceLists lists, int side) {             \
    Entry::handle_events_at_step_end(settings, batch, slots, lists, side);                  \
  }
#define ZWANG_CUDA_SLOW_PATH(Entry, threads, blocks)                                                      \
  extern "C" __global__ void __launch_bounds__(Entry::slow_path_threads, Entry::slow_path_blocks(blocks)) \
      zwang_slow_path(const zwang::KernelSettings* settings, const zwang::KernelBatch* batch,             \
                      Entry::M* slots, const __grid_constant__ zwang::DeviceLists lists, int side) {      \
    Entry::run_slow_path(*settings, *batch, slots, lists, side);                                          \
  }
