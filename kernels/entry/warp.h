// Operations that the lanes of a GPU warp or block execute together: taking slots from a work queue,
// appending slots to one, and copying members between global and shared memory. Done by every lane alone,
// they would wait for global memory many times, or contend for one counter.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"

namespace zwang {

constexpr unsigned whole_warp = 0xffffffffU;  // mask of all lanes of a warp
constexpr int warp_lanes = 32;
constexpr unsigned no_slot = 0xffffffffU;

// Largest amount of shared memory in bytes that a block may take for its tables: several blocks should fit on
// a multiprocessor, which has 100 KiB (compute capability 8.6) to 228 KiB (9.0).
constexpr int shared_bytes_of_table = 32 * 1024;
// Shared memory of a multiprocessor of compute capability 9.0 in bytes, 228 KiB less a reserve of 4 KiB, and
// the amount that the hardware reserves for each block.
constexpr int shared_bytes_of_processor = 224 * 1024, shared_bytes_reserved_by_block = 1024;
constexpr int registers_of_processor = 64 * 1024;

// The number of lanes in the mask before this lane.
__device__ __forceinline__ unsigned rank_among(unsigned lanes) {
  return unsigned(__popc(lanes & ((1U << (threadIdx.x % warp_lanes)) - 1U)));
}

// An atomic addition by one lane for its warp. If the compiler recognises that all lanes of a warp add to one
// address, it combines the additions and makes the warp wait for the result at once. The address is made to
// look dependent on the slot (no slot has the number no_slot - 1), so that the result is waited for only
// where it is used.
__device__ __forceinline__ unsigned add_for_warp(unsigned* to, unsigned amount, unsigned slot) {
  return atomicAdd(to + (slot == no_slot - 1U ? 1 : 0), amount);
}

// Writes an entry of a list that another kernel reads at the same time: what this thread has written before, and what its
// warp has written before its last __syncwarp(), is visible to all that find the entry. A store that releases, and no
// __threadfence(), which would also empty the L1 cache of the multiprocessor.
__device__ __forceinline__ void publish(unsigned* place, unsigned entry) {
  ZWANG_STORE_RELEASE(place, entry);
}

// Appends slots to a list shared by all warps: the constructor reserves a place for every lane that wants
// one, write() fills it. Between the two there should be other work, which hides the latency of the atomic
// addition.
class WarpAppend {
 public:
  __device__ __forceinline__ WarpAppend(bool wanted, unsigned slot, unsigned* total)
      : slot_(wanted ? slot : no_slot), lanes_(__ballot_sync(whole_warp, wanted)), first_(0) {
    if (threadIdx.x % warp_lanes == 0 && lanes_ != 0)
      first_ = add_for_warp(total, unsigned(__popc(lanes_)), slot);
  }
  __device__ __forceinline__ void write(unsigned* list) const {
    const unsigned first = __shfl_sync(whole_warp, first_, 0);
    if (slot_ != no_slot) list[first + rank_among(lanes_)] = slot_;
  }
  // The same for a list that is read at the same time.
  __device__ __forceinline__ void publish_to(unsigned* list) const {
    const unsigned first = __shfl_sync(whole_warp, first_, 0);
    if (slot_ != no_slot) publish(&list[first + rank_among(lanes_)], slot_);
  }

 private:
  unsigned slot_, lanes_, first_;
};

// Takes slots from a list shared by all warps, 32 at a time, from its end: the last entries may still be
// cached.
class WarpFeed {
 public:
  __device__ __forceinline__ WarpFeed(const unsigned* list, unsigned count, unsigned* taken)
      : list_(list), count_(count), taken_(taken) {}

  // A slot for every lane that wants one; no_slot if there are no more. All lanes of the warp call together.
  __device__ __forceinline__ unsigned next(bool wanted) {
    const unsigned lanes = __ballot_sync(whole_warp, wanted), place = used_ + rank_among(lanes);
    unsigned slot = __shfl_sync(whole_warp, fetched_, int(place % warp_lanes));
    used_ += unsigned(__popc(lanes));
    if (used_ > warp_lanes) {
      fetch();
      const unsigned fresh = __shfl_sync(whole_warp, fetched_, int(place % warp_lanes));
      if (place >= warp_lanes) slot = fresh;
      used_ -= warp_lanes;
    }
    return slot;
  }

 private:
  __device__ __forceinline__ void fetch() {
    const unsigned lane = threadIdx.x % warp_lanes;
    unsigned first = count_;
    if (lane == 0 && !ended_) first = add_for_warp(taken_, unsigned(warp_lanes), fetched_);
    first = __shfl_sync(whole_warp, first, 0);
    ended_ = first >= count_;
    fetched_ = first + lane < count_ ? list_[count_ - 1 - first - lane] : no_slot;
  }

  const unsigned* list_;
  unsigned count_;
  unsigned* taken_;
  unsigned fetched_ = no_slot;  // the entry of this lane among the 32 fetched last
  unsigned used_ = warp_lanes;  // the number of those that have been given out
  bool ended_ = false;
};

// Collects slots of one warp in shared memory and appends them to a list shared by all warps, 32 at a time.
struct WarpBuffer {
  unsigned slot[2 * warp_lanes];

  // Adds the slots of the lanes with `wanted`. All lanes of the warp call together; `count` is the number of
  // slots in the buffer and equal in all lanes.
  __device__ __forceinline__ void add(bool wanted, unsigned which, unsigned& count, unsigned* list,
                                      unsigned* total) {
    const unsigned lanes = __ballot_sync(whole_warp, wanted);
    if (lanes == 0) return;
    if (wanted) slot[count + rank_among(lanes)] = which;
    count += unsigned(__popc(lanes));
    __syncwarp();
    if (count < warp_lanes) return;
    flush(warp_lanes, list, total);
    const unsigned lane = threadIdx.x % warp_lanes, left = slot[warp_lanes + lane];
    __syncwarp();
    slot[lane] = left;
    count -= warp_lanes;
    __syncwarp();
  }
  __device__ __forceinline__ void flush(unsigned count, unsigned* list, unsigned* total) const {
    const unsigned lane = threadIdx.x % warp_lanes;
    unsigned first = 0;
    if (lane == 0 && count > 0) first = add_for_warp(total, count, slot[0]);
    first = __shfl_sync(whole_warp, first, 0);
    if (lane < count) list[first + lane] = slot[lane];
  }
};

// The number of lanes of a block that are at an event, and of those that have other work.
struct BlockVote {
  unsigned at_event, others;
};
struct BlockVotes {
  static constexpr unsigned one_other = 1U << 16;
  unsigned of_warp[2][cuda_threads / warp_lanes];

  // All lanes of the block call together, once in a turn. Turns alternate between two tables, so that no warp
  // overwrites a table that others still read.
  __device__ __forceinline__ BlockVote count(bool at_event, bool other, unsigned turn) {
    const unsigned crossing = unsigned(__popc(__ballot_sync(whole_warp, at_event))),
                   others = unsigned(__popc(__ballot_sync(whole_warp, other)));
    unsigned* const votes = of_warp[turn % 2];
    if (threadIdx.x % warp_lanes == 0) votes[threadIdx.x / warp_lanes] = crossing + one_other * others;
    __syncthreads();
    unsigned sum = 0;
    ZWANG_REGISTERS for (int w = 0; w < cuda_threads / warp_lanes; ++w) { sum += votes[w]; }
    return {sum % one_other, sum / one_other};
  }
};

// Chooses the turn in which the lanes of a block handle their events together. An event takes as long as a
// few trial steps, and every lane that is held back for it loses one trial step in each turn. The best turn
// is the one with the most events per time; it is recognised one turn later, when that number falls. It is
// not computed while only a few lanes are at an event.
class EventPhase {
 public:
  __device__ __forceinline__ bool begins(const BlockVote& vote) {
    const unsigned all = vote.at_event + vote.others, time = ++turns_ + event_in_trial_steps;
    const bool fewer = vote.at_event * (time - 1) < before_ * time;
    before_ = vote.at_event;
    const bool now = vote.at_event > 0 && (vote.others == 0 || 8 * vote.at_event >= 7 * all ||
                                           (2 * vote.at_event >= all && fewer));
    if (now) before_ = turns_ = 0;
    return now;
  }

 private:
  static constexpr unsigned event_in_trial_steps = 3;  // duration of an event
  unsigned turns_ = 0, before_ = 0;
};

// The members of one warp, or their first `bytes`, in shared memory. Scattered in global memory, each lane
// alone would fetch its member in dozens of small pieces; instead all lanes copy the members one after the
// other in whole cache lines.
template <class M, int bytes>
struct StagedMembers {
  static constexpr int line = int(alignof(M)),
                       lanes = line / int(sizeof(WideWord));  // bytes and lanes of a line
  static_assert(line % int(sizeof(WideWord)) == 0 && warp_lanes % lanes == 0, "lines are shared out evenly");
  static_assert(bytes <= int(sizeof(M)) && int(sizeof(M)) % line == 0, "whole lines of a member");
  ZWANG_CONSTANT static constexpr int lines_of(int size) { return (size + line - 1) / line; }
  // Distance of members in wide words. An odd distance avoids bank conflicts between lanes.
  static constexpr int stride = lines_of(bytes) * lanes | 1;
  static constexpr bool fits = warp_lanes * stride * int(sizeof(WideWord)) <= shared_bytes_of_table;
  WideWord words[fits ? warp_lanes * stride : 1];
  unsigned slot[warp_lanes];

  // The member of this lane.
  __device__ __forceinline__ M* own() {
    return reinterpret_cast<M*>(words + threadIdx.x % warp_lanes * stride);
  }
  // Loads the member in slot `which` for each lane, or none for no_slot. All lanes of the warp call together.
  __device__ __forceinline__ void load(M* slots, unsigned which) { copy<false, bytes>(slots, which); }
  // Stores the first `size` bytes of each member, rounded up to whole lines.
  template <int size>
  __device__ __forceinline__ void store(M* slots, unsigned which) {
    copy<true, size>(slots, which);
  }

 private:
  // A few lanes copy all lines of one member, a few members at a time: with more requests in flight memory is
  // slower.
  template <bool to_slots, int size>
  __device__ __forceinline__ void copy(M* slots, unsigned which) {
    constexpr int rounds = lines_of(size);
    const int me = int(threadIdx.x) % warp_lanes, lane = me % lanes;
    share(which);
    ZWANG_ROLLED for (int first = 0; first < warp_lanes; first += warp_lanes / lanes) {
      const int member = first + me / lanes;
      if (slot[member] == no_slot) continue;
      WideWord* near = words + member * stride + lane;
      WideWord* far = reinterpret_cast<WideWord*>(slots + slot[member]) + lane;
      WideWord held[rounds];
      ZWANG_REGISTERS for (int i = 0; i < rounds; ++i) { held[i] = (to_slots ? near : far)[i * lanes]; }
      ZWANG_REGISTERS for (int i = 0; i < rounds; ++i) { (to_slots ? far : near)[i * lanes] = held[i]; }
    }
    __syncwarp();
  }
  __device__ __forceinline__ void share(unsigned which) {
    __syncwarp();
    slot[threadIdx.x % warp_lanes] = which;
    __syncwarp();
  }
};

// A member in the memory of one thread, where the numbers of the 32 lanes of a warp alternate: what they read together is
// in one line. In its slot each lane would read a line of its own.
template <class M>
struct LocalMember {
  __device__ __forceinline__ M& member() { return *reinterpret_cast<M*>(room); }
  __device__ __forceinline__ void load(const M& from) {
    copy(reinterpret_cast<const WideWord*>(&from), room);
  }
  __device__ __forceinline__ void store(M& to) const { copy(room, reinterpret_cast<WideWord*>(&to)); }

 private:
  static constexpr int words = int(sizeof(M) / sizeof(WideWord)), at_once = 16, pieces = words / at_once;
  alignas(M) WideWord room[words];

  __device__ __forceinline__ static void copy(const WideWord* from, WideWord* to) {
    ZWANG_ROLLED for (int i = 0; i < pieces; ++i) copy_piece<at_once>(from + i * at_once, to + i * at_once);
    copy_piece<words % at_once>(from + pieces * at_once, to + pieces * at_once);
  }
  template <int count>
  __device__ __forceinline__ static void copy_piece(const WideWord* from, WideWord* to) {
    WideWord held[count + 1];
    unrolled<count>([&](int i) { held[i] = from[i]; });
    unrolled<count>([&](int i) { to[i] = held[i]; });
  }
};

}  // namespace zwang
