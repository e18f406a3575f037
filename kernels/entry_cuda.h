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

#include "kernels/trajectory.h"
#include "kernels/warp.h"

namespace zwang {

// Tries a lane spends on one slot before it looks after others: no slot is left behind in a long smooth motion. More where
// hardly anybody needed attention the last time.
constexpr int steps_in_a_turn = 32, steps_in_a_calm_turn = 128;

// Lanes that want another member wait for so many of their warp: fetching one is long, and the others stand by meanwhile.
// Fewer where they seldom want one.
constexpr int gathering = 8, gathering_in_stride = 4;

// `strides`: events are what members are attended to for, not outputs.
template <class Model, class Method, class Real, bool strides>
struct CudaEntry {
  using M = Member<Model, Method, Real>;

  // Landing is a long text: only where little of it needs registers, and where the lanes of a block go through it together.
  // One warp by itself would make all others wait for instructions.
  static constexpr bool in_stride = strides && Crew<M, Real>::crosses_by_series && M::n == 1;

  // A lane's search, in its processor's own memory; and its accounts, where that leaves room for more lanes. In larger systems
  // registers are taken all the same. Odd distances keep the lanes of a warp out of each other's way.
  static constexpr bool accounts_too = M::n == 1;
  using Accounts = Ledger<Real, M::rows>;
  struct Desk : OnlyIf<accounts_too, Accounts>::Type {
    typename Crew<M, Real>::Search search;
  };
  struct Shelf : Desk {
    Real beside[sizeof(Desk) / sizeof(Real) % 2 == 0 ? 1 : 2];
  };
  // As long as there is room for a few blocks of them: the searches of many conditions are long.
  static constexpr bool on_shelves = cuda_threads * sizeof(Shelf) <= 32768;

  __device__ __forceinline__ static Accounts& accounts_of(Desk& desk, Accounts& in_registers) {
    if constexpr (accounts_too)
      return desk;
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
    const bool calm = lists.counters->attended < count / 16;
    __shared__ Shelf shelves[on_shelves ? cuda_threads : 1];
    __shared__ WarpBin bins[in_stride ? 1 : cuda_threads / warp_lanes];
    __shared__ BlockVotes votes;
    Desk own;
    Accounts in_registers;
    Desk& desk = on_shelves ? shelves[threadIdx.x] : own;
    Crew<M, Real> crew(settings, batch, slots, &desk.search, accounts_of(desk, in_registers));
    typename Crew<M, Real>::Steps::Stages stages;
    typename Crew<M, Real>::Drives drives;
    crew.step.stages = &stages;
    crew.drive = &drives;
    WarpFeed feed(lists.moving[side], count, &lists.counters->taken);
    WarpBin& landed = bins[in_stride ? 0 : threadIdx.x / warp_lanes];
    unsigned* const landings = &lists.counters->landed[1 - side];
    unsigned landed_count = 0;
    LandingTime landing_time;
    bool busy = false, more = true, lands = false;
    unsigned slot = no_slot;
    int left = 0;
    unsigned tries = 0, turns = 0;
    for (;;) {
      const unsigned idle = __ballot_sync(everyone, !busy && more);
      if (__popc(idle) >= (in_stride ? gathering_in_stride : gathering) ||
          !__any_sync(everyone, busy && !lands)) {
        const bool wanted = !busy && more;
        const unsigned next = feed.next(wanted);
        if (wanted) more = busy = next != no_slot;
        if (wanted && busy) {
          slot = next;
          crew.resume(slots + slot);
          left = calm ? steps_in_a_calm_turn : steps_in_a_turn;
        }
      }
      if (!in_stride && !__any_sync(everyone, busy)) break;
      ++turns;
      if (busy && !lands) {
        ++tries;
        const Progress made = crew.step_once();
        lands = made == Progress::lands;
        if (made == Progress::waits) {
          crew.give();
          wait(lists, 1 - side, slot);
          busy = false;
        } else if (made == Progress::moves && --left <= 0 && crew.may_park()) {
          crew.park();
          move(lists, 1 - side, slot);
          busy = false;
        }
      }
      if constexpr (in_stride) {
        const BlockVote vote = votes.count(lands, !lands && (busy || more), turns);
        if (vote.landing + vote.others == 0) break;
        if (!landing_time.has_come(vote)) continue;
        if (lands && !crew.land_in_stride()) {
          crew.give();
          wait(lists, 1 - side, slot);
          busy = false;
        }
      } else {
        if (lands) {
          crew.give();
          busy = false;
        }
        landed.add(lands, slot, landed_count, lists.landed, landings);
      }
      lands = false;
    }
    if constexpr (!in_stride) landed.flush(landed_count, lists.landed, landings);
    // A warp's sum first: every lane by itself would queue up at the end of every turn.
    const unsigned busy_tries = sum_of_warp(tries), possible = sum_of_warp(turns);
    if (threadIdx.x % 32 == 0 && possible > 0) {
      atomicAdd(&lists.counters->busy, (unsigned long long)busy_tries);
      atomicAdd(&lists.counters->possible, (unsigned long long)possible);
    }
  }

  // What the last turn has read is filled in this one.
  __device__ __forceinline__ static void begin_turn(DeviceCounters& counters, int side) {
    counters.attended = counters.landed[side];
    counters.landed[1 - side] = counters.moving[1 - side] = counters.taken = 0;
  }

  __device__ static void land_all(const KernelSettings& settings, const KernelBatch& batch, M* slots,
                                  const DeviceLists& lists, int side) {
    if (blockIdx.x == 0 && threadIdx.x == 0) begin_turn(*lists.counters, side);
    if constexpr (Toucher<Crew<M, Real>>::possible)
      touch_all(settings, batch, slots, lists, side);
    else
      land_members(slots, lists, side);
  }

  // What landings need of members lies first in them, and what they may change in front of that.
  static constexpr int changed = int(sizeof(typename M::Near) + sizeof(ChangedHand<typename M::Near>)),
                       needed = int(sizeof(typename M::Near) + sizeof(NearHand<typename M::Near>));
  using LandingTable = Brought<M, needed>;
  static constexpr bool brought = Toucher<Crew<M, Real>>::possible && LandingTable::fits;
  // Small members are brought whole to be attended to.
  using TendingTable = Brought<M, int(sizeof(M))>;
  static constexpr int landing_threads = brought ? warp_lanes : cuda_threads;
  static constexpr int tending_threads = TendingTable::fits ? warp_lanes : cuda_threads;
  // As many of those as fit on a processor, with all registers they want.
  ZWANG_CONSTANT static constexpr int tending_blocks(int otherwise) {
    return TendingTable::fits ? int(229376 / (sizeof(TendingTable) + 1024)) : otherwise;
  }

  // What is carried has been written before, gaps between the numbers included.
  __device__ __forceinline__ static void clear(M& me) {
    if constexpr (brought && !TendingTable::fits)
      for (int i = 0; i < LandingTable::place - 1; ++i) reinterpret_cast<Piece*>(&me)[i] = Piece{};
  }

  // Lanes in their stride: what is not plain is for the others.
  __device__ __forceinline__ static void touch_all(const KernelSettings& settings, const KernelBatch& batch,
                                                   M* slots, const DeviceLists& lists, int side) {
    const unsigned count = lists.counters->landed[side];
    typename Crew<M, Real>::Search search;
    Accounts accounts;
    Crew<M, Real> crew(settings, batch, slots, &search, accounts);
    typename Crew<M, Real>::Steps::Stages stages;
    crew.step.stages = &stages;
    if constexpr (brought) {
      __shared__ LandingTable near;
      // From the end: what was written last may still be near.
      const auto entry = [&](unsigned i) { return i < count ? lists.landed[count - 1 - i] : no_slot; };
      unsigned slot = entry(blockIdx.x * warp_lanes + threadIdx.x);
      for (unsigned first = blockIdx.x * warp_lanes; first < count; first += gridDim.x * warp_lanes) {
        const unsigned next = entry(first + gridDim.x * warp_lanes + threadIdx.x);
        near.bring(slots, slot);
        const bool there = slot != no_slot, goes = there && crew.land(near.mine(), slots + slot);
        if (goes) crew.park();
        const WarpPlaces places(goes, slot, &lists.counters->moving[side]);
        near.template take_back<changed>(slots, goes ? slot : no_slot);
        places.fill(lists.moving[side]);
        if (there && !goes) wait(lists, side, slot);
        slot = next;
      }
    } else {
      for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const unsigned slot = lists.landed[i];
        if (crew.land(slots + slot, slots + slot)) {
          crew.park();
          move(lists, side, slot);
        } else {
          wait(lists, side, slot);
        }
      }
    }
  }

  __device__ static void land_members(M* slots, const DeviceLists& lists, int side) {
    const unsigned count = lists.counters->landed[side];
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
      const unsigned slot = lists.landed[i];
      M& me = slots[slot];
      if (!land_plainly(me)) {
        wait(lists, side, slot | DeviceLists::due);
      } else if (leave_landing(me)) {
        move(lists, side, slot);
      } else {
        wait(lists, side, slot | DeviceLists::empty);
      }
    }
  }

  __device__ static void tend_all(const KernelSettings& settings, const KernelBatch& batch, M* slots,
                                  const DeviceLists& lists, int side) {
    const unsigned count = lists.counters->waiting[side];
    if constexpr (TendingTable::fits) {
      __shared__ TendingTable near;
      for (unsigned first = blockIdx.x * warp_lanes; first < count; first += gridDim.x * warp_lanes) {
        const unsigned i = first + threadIdx.x, entry = i < count ? lists.waiting[side][i] : no_slot;
        const unsigned slot = entry == no_slot ? no_slot : entry & ~DeviceLists::marks;
        near.bring(slots, (entry & DeviceLists::empty) != 0 ? no_slot : slot);
        const bool going = entry != no_slot && tend_entry(*near.mine(), settings, batch, lists, entry);
        const WarpPlaces places(going, slot, &lists.counters->moving[1 - side]);
        near.template take_back<int(sizeof(M))>(slots, going ? slot : no_slot);
        places.fill(lists.moving[1 - side]);
      }
    } else {
      for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const unsigned entry = lists.waiting[side][i], slot = entry & ~DeviceLists::marks;
        if (tend_entry(slots[slot], settings, batch, lists, entry)) move(lists, 1 - side, slot);
      }
    }
  }

  // One that waits, and those that follow it in its place when it has come to its end. False: there are no more.
  __device__ __forceinline__ static bool tend_entry(M& me, const KernelSettings& settings,
                                                    const KernelBatch& batch, const DeviceLists& lists,
                                                    unsigned entry) {
    bool going = (entry & DeviceLists::empty) == 0;
    if (going) going = (entry & DeviceLists::due) != 0 ? happen_at_landing(me) : tend(me);
    while (!going) {
      const long long number = (long long)atomicAdd(&lists.counters->next_member, 1ULL);
      if (number >= batch.count) return false;
      clear(me);
      going = start(me, settings, batch, number);
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
#define ZWANG_CUDA_LAND(Entry, threads, blocks)                                               \
  extern "C" __global__ void __launch_bounds__(Entry::landing_threads,                        \
                                               (blocks) * (threads) / Entry::landing_threads) \
      zwang_land(const __grid_constant__ zwang::KernelSettings settings,                      \
                 const __grid_constant__ zwang::KernelBatch batch, Entry::M* slots,           \
                 const __grid_constant__ zwang::DeviceLists lists, int side) {                \
    Entry::land_all(settings, batch, slots, lists, side);                                     \
  }
#define ZWANG_CUDA_TEND(Entry, threads, blocks)                                                           \
  extern "C" __global__ void __launch_bounds__(Entry::tending_threads, Entry::tending_blocks(blocks))     \
      zwang_tend(const zwang::KernelSettings* settings, const zwang::KernelBatch* batch, Entry::M* slots, \
                 const __grid_constant__ zwang::DeviceLists lists, int side) {                            \
    Entry::tend_all(*settings, *batch, slots, lists, side);                                               \
  }
