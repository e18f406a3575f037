// What the lanes of a warp do together on a GPU: fetch slots to work on, hand slots on, bring members near. Each of them by
// itself would wait for memory that is far away, or queue at one counter.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"

namespace zwang {

constexpr unsigned everyone = 0xffffffffU;  // of a warp
constexpr int warp_lanes = 32;
constexpr unsigned no_slot = 0xffffffffU;

// How many lanes before this one are among these.
__device__ __forceinline__ unsigned rank_among(unsigned those) {
  return unsigned(__popc(those & ((1U << (threadIdx.x % warp_lanes)) - 1U)));
}

// By one lane for its warp. Where the compiler sees that all lanes of a warp would add to one place it adds them up first, and lets
// the warp wait for the result at once. So it shall not see that, and the result is waited for where it is used: no slot has
// that number.
__device__ __forceinline__ unsigned add_for_warp(unsigned* to, unsigned amount, unsigned slot) {
  return atomicAdd(to + (slot == no_slot - 1U ? 1 : 0), amount);
}

// A place in a list that all warps add to, for every lane that wants one. Asked for early and looked at late: it comes from afar.
class WarpPlaces {
 public:
  __device__ __forceinline__ WarpPlaces(bool wanted, unsigned slot, unsigned* total)
      : slot_(wanted ? slot : no_slot), those_(__ballot_sync(everyone, wanted)), first_(0) {
    if (threadIdx.x % warp_lanes == 0 && those_ != 0)
      first_ = add_for_warp(total, unsigned(__popc(those_)), slot);
  }
  __device__ __forceinline__ void fill(unsigned* list) const {
    const unsigned first = __shfl_sync(everyone, first_, 0);
    if (slot_ != no_slot) list[first + rank_among(those_)] = slot_;
  }

 private:
  unsigned slot_, those_, first_;
};

// Slots from a list that all warps take from, thirty-two at a time; the last ones first, for they may still be near.
class WarpFeed {
 public:
  __device__ __forceinline__ WarpFeed(const unsigned* list, unsigned count, unsigned* taken)
      : list_(list), count_(count), taken_(taken) {}

  // For every lane that wants one; no_slot when there are no more. All lanes ask together.
  __device__ __forceinline__ unsigned next(bool wanted) {
    const unsigned those = __ballot_sync(everyone, wanted), place = given_ + rank_among(those);
    unsigned slot = __shfl_sync(everyone, ahead_, int(place % warp_lanes));
    given_ += unsigned(__popc(those));
    if (given_ > warp_lanes) {
      fetch();
      const unsigned fresh = __shfl_sync(everyone, ahead_, int(place % warp_lanes));
      if (place >= warp_lanes) slot = fresh;
      given_ -= warp_lanes;
    }
    return slot;
  }

 private:
  __device__ __forceinline__ void fetch() {
    const unsigned lane = threadIdx.x % warp_lanes;
    unsigned first = count_;
    if (lane == 0 && !ended_) first = add_for_warp(taken_, unsigned(warp_lanes), ahead_);
    first = __shfl_sync(everyone, first, 0);
    ended_ = first >= count_;
    ahead_ = first + lane < count_ ? list_[count_ - 1 - first - lane] : no_slot;
  }

  const unsigned* list_;
  unsigned count_;
  unsigned* taken_;
  unsigned ahead_ = no_slot;     // this lane's of those fetched last
  unsigned given_ = warp_lanes;  // so many of them are given out
  bool ended_ = false;
};

// Slots for a list that all warps add to, thirty-two at a time.
struct WarpBuffer {
  unsigned slot[2 * warp_lanes];

  // All lanes call together; `count` is the same in all of them, and how many there are now.
  __device__ __forceinline__ void add(bool sought, unsigned which, unsigned& count, unsigned* list,
                                      unsigned* total) {
    const unsigned those = __ballot_sync(everyone, sought);
    if (those == 0) return;
    if (sought) slot[count + rank_among(those)] = which;
    count += unsigned(__popc(those));
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
    first = __shfl_sync(everyone, first, 0);
    if (lane < count) list[first + lane] = slot[lane];
  }
};

// How many lanes of a block land, and how many have other things to do: once a turn, all lanes of the block together.
struct BlockVote {
  unsigned crossing, others;
};
struct BlockVotes {
  static constexpr unsigned one_other = 1U << 16;
  unsigned of_warp[2][cuda_threads / warp_lanes];

  // Turns alternate between two tables: nobody writes what others may still be reading.
  __device__ __forceinline__ BlockVote count(bool lands, bool other, unsigned turn) {
    const unsigned crossing = unsigned(__popc(__ballot_sync(everyone, lands))),
                   others = unsigned(__popc(__ballot_sync(everyone, other)));
    unsigned* const votes = of_warp[turn % 2];
    if (threadIdx.x % warp_lanes == 0) votes[threadIdx.x / warp_lanes] = crossing + one_other * others;
    __syncthreads();
    unsigned sum = 0;
    ZWANG_REGISTERS for (int w = 0; w < cuda_threads / warp_lanes; ++w) sum += votes[w];
    return {sum % one_other, sum / one_other};
  }
};

// When those of a block who land do so. A landing takes as long as a few tries, and whoever waits for it misses a try a turn:
// the best moment is when landings per time are most, or were a turn ago. Early stragglers do not tell.
class EventPhase {
 public:
  __device__ __forceinline__ bool begins(const BlockVote& vote) {
    const unsigned all = vote.crossing + vote.others, time = ++waited_ + crossing_in_tries;
    const bool fewer = vote.crossing * (time - 1) < before_ * time;
    before_ = vote.crossing;
    const bool now = vote.crossing > 0 && (vote.others == 0 || 8 * vote.crossing >= 7 * all ||
                                           (2 * vote.crossing >= all && fewer));
    if (now) before_ = waited_ = 0;
    return now;
  }

 private:
  static constexpr unsigned crossing_in_tries = 3;
  unsigned waited_ = 0, before_ = 0;
};

// Members of one warp brought near, or the first `bytes` of them: scattered in memory, every lane by itself would fetch its own
// in dozens of small pieces. So the lanes bring them one after the other in whole lines, and take them back in the same way.
template <class M, int bytes>
struct StagedMembers {
  static constexpr int line = int(alignof(M)), lanes = line / int(sizeof(WideWord));  // to a line
  ZWANG_CONSTANT static constexpr int lines_of(int size) { return (size + line - 1) / line; }
  static constexpr int place =
      lines_of(bytes) * lanes | 1;  // an odd distance keeps lanes out of each other's way
  static constexpr bool fits = warp_lanes * place * int(sizeof(WideWord)) <= 32768;  // several on a processor
  WideWord piece[fits ? warp_lanes * place : 1];
  unsigned slot[warp_lanes];

  __device__ __forceinline__ M* sought() {
    return reinterpret_cast<M*>(piece + threadIdx.x % warp_lanes * place);
  }
  // Each lane names the slot of its member. All lanes call together.
  __device__ __forceinline__ void load(M* slots, unsigned which) { carry<false, bytes>(slots, which); }
  // The first `size` bytes, or a little more.
  template <int size>
  __device__ __forceinline__ void store_back(M* slots, unsigned which) {
    carry<true, size>(slots, which);
  }

 private:
  // A few lanes to each member, all its lines at once, and a few members at a time: with more of them under way memory is slower.
  template <bool back, int size>
  __device__ __forceinline__ void carry(M* slots, unsigned which) {
    constexpr int rounds = lines_of(size);
    const int me = int(threadIdx.x) % warp_lanes, lane = me % lanes;
    share(which);
    ZWANG_ROLLED for (int turn = 0; turn < warp_lanes; turn += warp_lanes / lanes) {
      const int member = turn + me / lanes;
      if (slot[member] == no_slot) continue;
      WideWord* near = piece + member * place + lane;
      WideWord* far = reinterpret_cast<WideWord*>(slots + slot[member]) + lane;
      WideWord held[rounds];
      ZWANG_REGISTERS for (int i = 0; i < rounds; ++i) held[i] = (back ? near : far)[i * lanes];
      ZWANG_REGISTERS for (int i = 0; i < rounds; ++i)(back ? far : near)[i * lanes] = held[i];
    }
    __syncwarp();
  }
  __device__ __forceinline__ void share(unsigned which) {
    __syncwarp();
    slot[threadIdx.x % warp_lanes] = which;
    __syncwarp();
  }
};

}  // namespace zwang
