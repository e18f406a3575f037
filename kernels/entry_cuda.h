// The program's entrances on a GPU.
//
// Members under way lie in slots in the device's memory, more of them than there are lanes. Three kernels take turns.
// `zwang_step` moves members by smooth steps, a lane a member, all in registers; a lane whose member needs attention puts
// it on a list and takes the next one. `zwang_land` goes through those whose step ends at a crossing, the common event, and
// leaves what is not plain there to `zwang_tend`, which goes through all others too, rare events, outputs, ends and starts,
// beside the next steps of those who move. So no lane that steps waits for one that attends, lanes of a warp set out together
// on the same text, and a straggler costs one lane. Which lane takes which slot, and when, is left to chance; a member's
// numbers do not depend on it.
//
// `side` says which of two lists is read: stepping and tending fill the other one.
#pragma once

#include "kernels/trajectory.h"

namespace zwang {

// Tries a lane spends on one slot before it looks after others: no slot is left behind in a long smooth motion. More where
// hardly anybody needed attention the last time.
constexpr int steps_in_a_turn = 32, steps_in_a_calm_turn = 128;

// Lanes that want another member wait for so many of their warp: fetching one is long, and the others stand by meanwhile.
constexpr int gathering = 8;

template <class Model, class Method, class Real>
struct CudaEntry {
  using M = Member<Model, Method, Real>;

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
    constexpr unsigned everyone = 0xffffffffU;
    const unsigned count = lists.counters->moving[side];
    const bool calm = lists.counters->attended < count / 16;
    __shared__ Shelf shelves[on_shelves ? cuda_threads : 1];
    Desk own;
    Accounts in_registers;
    Desk& desk = on_shelves ? shelves[threadIdx.x] : own;
    Crew<M, Real> crew(settings, batch, slots, &desk.search, accounts_of(desk, in_registers));
    typename Crew<M, Real>::Steps::Stages stages;
    typename Crew<M, Real>::Drives drives;
    crew.step.stages = &stages;
    crew.drive = &drives;
    bool busy = false, more = true;
    unsigned slot = 0;
    int left = 0;
    unsigned tries = 0, turns = 0;
    for (;;) {
      const unsigned idle = __ballot_sync(everyone, !busy && more);
      const bool gathered = __popc(idle) >= gathering || !__any_sync(everyone, busy);
      if (gathered && !busy && more) {
        const unsigned place = atomicAdd(&lists.counters->taken, 1U);
        more = place < count;
        if (more) {
          slot = lists.moving[side][place];
          crew.resume(slots + slot);
          busy = true;
          left = calm ? steps_in_a_calm_turn : steps_in_a_turn;
        }
      }
      if (!__any_sync(everyone, busy)) break;
      ++turns;
      if (!busy) continue;
      ++tries;
      const Progress made = crew.step_once();
      if (made == Progress::lands) {
        lists.landed[atomicAdd(&lists.counters->landed, 1U)] = slot;
        busy = false;
      } else if (made == Progress::waits) {
        wait(lists, 1 - side, slot);
        busy = false;
      } else if (--left <= 0 && crew.may_park()) {
        crew.park();
        move(lists, 1 - side, slot);
        busy = false;
      }
    }
    // A warp's sum first: every lane by itself would queue up at the end of every turn.
    const unsigned busy_tries = sum_of_warp(tries), possible = sum_of_warp(turns);
    if (threadIdx.x % 32 == 0 && possible > 0) {
      atomicAdd(&lists.counters->busy, (unsigned long long)busy_tries);
      atomicAdd(&lists.counters->possible, (unsigned long long)possible);
    }
  }

  __device__ static void land_all(const KernelSettings& settings, const KernelBatch& batch, M* slots,
                                  const DeviceLists& lists, int side) {
    if (blockIdx.x == 0 && threadIdx.x == 0) lists.counters->attended = lists.counters->landed;
    if constexpr (Toucher<Crew<M, Real>>::possible)
      touch_all(settings, batch, slots, lists, side);
    else
      land_members(slots, lists, side);
  }

  // Members that land lie scattered in memory, and every lane by itself would fetch its own in dozens of small pieces. So a warp
  // brings what its lanes will need of theirs, one after the other in whole lines, and takes it back in the same way.
  // Where members are too large for that, they are attended to where they lie.
  struct alignas(16) Piece {
    unsigned word[4];
  };
  static constexpr int warp = 32;
  static constexpr int needed = int(sizeof(typename M::Near) + sizeof(typename M::NearHand));
  static constexpr int pieces =
      (needed + int(alignof(M)) - 1) / int(alignof(M)) * int(alignof(M) / sizeof(Piece));
  static constexpr int place = pieces | 1;                                // an odd distance, as above
  static constexpr bool brought = warp * place * sizeof(Piece) <= 32768;  // several warps' on a processor
  static constexpr int landing_threads = Toucher<Crew<M, Real>>::possible && brought ? warp : cuda_threads;

  struct Table {
    Piece piece[warp * place];
    unsigned slot[warp];

    __device__ __forceinline__ M* of(unsigned lane) { return reinterpret_cast<M*>(piece + lane * place); }
    // From the members' slots, or back to them. A few lanes to each member, and all its pieces at once: each takes its time.
    template <bool back>
    __device__ __forceinline__ void carry(M* slots) {
      constexpr int lanes = alignof(M) / sizeof(Piece), rounds = pieces / lanes;
      ZWANG_ROLLED for (int first = 0; first < warp; first += warp / lanes) {
        const int member = first + int(threadIdx.x) / lanes, lane = int(threadIdx.x) % lanes;
        Piece* near = piece + member * place + lane;
        if (slot[member] == nobody) continue;
        Piece* far = reinterpret_cast<Piece*>(slots + slot[member]) + lane;
        Piece held[rounds];
        ZWANG_REGISTERS for (int i = 0; i < rounds; ++i) held[i] = (back ? near : far)[i * lanes];
        ZWANG_REGISTERS for (int i = 0; i < rounds; ++i)(back ? far : near)[i * lanes] = held[i];
      }
      __syncwarp();
    }
  };
  static constexpr unsigned nobody = 0xffffffffU;

  // What is carried has been written before, gaps between the numbers included.
  __device__ __forceinline__ static void clear(M& me) {
    if constexpr (landing_threads == warp)
      for (int i = 0; i < pieces; ++i) reinterpret_cast<Piece*>(&me)[i] = Piece{};
  }

  // Lanes in their stride: what is not plain is for the others.
  __device__ __forceinline__ static void touch_all(const KernelSettings& settings, const KernelBatch& batch,
                                                   M* slots, const DeviceLists& lists, int side) {
    const unsigned count = lists.counters->landed;
    typename Crew<M, Real>::Search search;
    Accounts accounts;
    Crew<M, Real> crew(settings, batch, slots, &search, accounts);
    typename Crew<M, Real>::Steps::Stages stages;
    crew.step.stages = &stages;
    const auto land = [&](M* me, unsigned slot) {
      if (crew.land(me)) {
        crew.park();
        move(lists, side, slot);
      } else {
        wait(lists, side, slot);
      }
    };
    if constexpr (brought) {
      __shared__ Table table;
      for (unsigned first = blockIdx.x * warp; first < count; first += gridDim.x * warp) {
        const unsigned i = first + threadIdx.x, slot = i < count ? lists.landed[i] : nobody;
        table.slot[threadIdx.x] = slot;
        __syncwarp();
        table.template carry<false>(slots);
        if (slot != nobody) land(table.of(threadIdx.x), slot);
        __syncwarp();
        table.template carry<true>(slots);
      }
    } else {
      for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        land(slots + lists.landed[i], lists.landed[i]);
    }
  }

  __device__ static void land_members(M* slots, const DeviceLists& lists, int side) {
    const unsigned count = lists.counters->landed;
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
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
      const unsigned entry = lists.waiting[side][i], slot = entry & ~DeviceLists::marks;
      M& me = slots[slot];
      bool going = (entry & DeviceLists::empty) == 0;
      if (going) going = (entry & DeviceLists::due) != 0 ? happen_at_landing(me) : tend(me);
      while (!going) {
        const long long number = (long long)atomicAdd(&lists.counters->next_member, 1ULL);
        if (number >= batch.count) break;
        clear(me);
        going = start(me, settings, batch, number);
      }
      if (going) move(lists, 1 - side, slot);
    }
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
  extern "C" __global__ void __launch_bounds__(threads, blocks)                                           \
      zwang_tend(const zwang::KernelSettings* settings, const zwang::KernelBatch* batch, Entry::M* slots, \
                 const __grid_constant__ zwang::DeviceLists lists, int side) {                            \
    Entry::tend_all(*settings, *batch, slots, lists, side);                                               \
  }
