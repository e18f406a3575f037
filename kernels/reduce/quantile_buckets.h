// Quantile buckets on the device: how many values of a column lie in each bucket of their distance from a pivot
// (host/estimators/quantile_sketch.h). Integer sums do not depend on the order in which threads add.
//
// The table of one column takes 8 MiB, more than the caches of a GPU hold for many columns. Most values lie within a few
// octaves of distances: the counters of these, the window, fit into the memory that the threads of a GPU block share, and
// are added to the table at the end.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/reduce/group_counters.h"
#include "kernels/reduce/moments.h"
#include "kernels/reduce/reduce_layout.h"
#include "kernels/reduce/worst_share.h"

namespace zwang {

// --- Counting ----------------------------------------------------------------------------------------------

// Some members of one column, counted by several threads: clear() by all of them, then count(), then add().
struct SketchGroup {
  const ReduceJob& job;
  long long place, begin, end;  // of the column among the sketch_count of this call; members
  unsigned first;               // the smallest key in the window
  unsigned* table;              // of the column
  SketchCounters& shared;
  int lane, lanes;  // this thread, and how many

  // group: run of group_members members x column among the sketch_count columns of this call.
  ZWANG_INLINE SketchGroup(const ReduceJob& all, long long group, unsigned* counters, int own, int count)
      : job(all),
        place(group % all.sketch_count),
        shared(*reinterpret_cast<SketchCounters*>(counters)),
        lane(own),
        lanes(count) {
    begin = group / job.sketch_count * job.group_members;
    end = least(begin + job.group_members, job.blocks * reduced_block);
    first = job.sketch_windows[job.sketch_first + place];
    table = job.sketch_table + place * sketch_keys;
  }
  ZWANG_INLINE void clear() const {
    clear_counters(&shared.window[0][0], sizeof shared / sizeof(unsigned), lane, lanes);
  }

  ZWANG_INLINE void count() const {
    const long long column = job.sketch_columns[job.sketch_first + place];
    const double pivot = job.sketch_pivots[job.sketch_first + place];
    SketchCounters::Seen seen{};
    // Several values are on their way at once.
    constexpr int at_once = 4;
    for (long long m = begin + lane; m < end; m += at_once * lanes) {
      double x[at_once];
      ZWANG_REGISTERS for (int k = 0; k < at_once; ++k) {
        const long long member = m + k * lanes;
        x[k] = member < end ? column_value(job, member, column) : missing<double>();
      }
      ZWANG_REGISTERS for (int k = 0; k < at_once; ++k) count_value(x[k], pivot, seen);
    }
    share(seen);
  }

  ZWANG_INLINE void add() const {
    const auto own = static_cast<unsigned>(lane), all = static_cast<unsigned>(lanes);
    for (unsigned side = 0; side < 2; ++side)
      for (unsigned k = own; k < sketch_window_side; k += all)
        add_count(side * sketch_side + first + k, shared.window[side][k]);
    for (unsigned k = own; k < sketch_places_outside; k += all)
      add_count(shared.key_outside[k] - 1, shared.count_outside[k]);
    if (lane == 0) add_seen();
  }

 private:
  ZWANG_INLINE void count_value(double x, double pivot, SketchCounters::Seen& seen) const {
    if (x != x) return;
    // The bucket: sign, exponent and leading fraction bits of the distance from the pivot.
    const double d = x - pivot;
    const unsigned long long bits = bits_of_double(d);
    if ((bits >> 52 & 2047) - 1 < 2046) {
      seen.digits[0] |= static_cast<unsigned>(bits);
      seen.digits[1] |= static_cast<unsigned>(bits >> 32) & ((1U << 20) - 1);
      const auto key = static_cast<unsigned>(bits >> (52 - sketch_digits)) & (sketch_side - 1);
      const auto side = static_cast<unsigned>(bits >> 63);
      note_key(seen, side, key);
      count_key(side, key);
    } else if (reduced_finite(d)) {
      ++seen.zeros;
    } else {
      ++(x > pivot ? seen.above : seen.below);
    }
  }
  ZWANG_INLINE void count_key(unsigned side, unsigned key) const {
    const unsigned at = key - first;  // a large number for keys below the window
    if (at < sketch_window_side) {
      atomic_add(&shared.window[side][at], 1U);
      return;
    }
    // Values that are equal up to rounding, as gaps of taut strings, are in a few buckets far below the window.
    const unsigned bucket = side * sketch_side + key, place_outside = bucket * 2654435761U >> 23;
    unsigned& key_outside = shared.key_outside[place_outside];
    if (key_outside == bucket + 1 || atomic_claim(&key_outside, bucket + 1))
      atomic_add(&shared.count_outside[place_outside], 1U);
    else
      atomic_add(table + bucket, 1U);
  }
  ZWANG_INLINE void add_count(unsigned bucket, unsigned count) const {
    if (count > 0) atomic_add(table + bucket, count);
  }

  // Both sides by constant indices: they stay in registers.
  ZWANG_INLINE static void note_key(SketchCounters::Seen& seen, unsigned of_side, unsigned key) {
    ZWANG_REGISTERS for (unsigned side = 0; side < 2; ++side) {
      if (side == of_side && sketch_side - key > seen.below_end[side])
        seen.below_end[side] = sketch_side - key;
      if (side == of_side && key + 1 > seen.end[side]) seen.end[side] = key + 1;
    }
  }
  ZWANG_INLINE void share(const SketchCounters::Seen& seen) const {
    SketchCounters::Seen& all = shared.seen;
    ZWANG_REGISTERS for (int k = 0; k < 2; ++k) {
      if (seen.below_end[k] > 0) atomic_largest(&all.below_end[k], seen.below_end[k]);
      if (seen.end[k] > 0) atomic_largest(&all.end[k], seen.end[k]);
      if (seen.digits[k] != 0) atomic_or(&all.digits[k], seen.digits[k]);
    }
    if (seen.zeros > 0) atomic_add(&all.zeros, seen.zeros);
    if (seen.above > 0) atomic_add(&all.above, seen.above);
    if (seen.below > 0) atomic_add(&all.below, seen.below);
  }
  ZWANG_INLINE void add_seen() const {
    using Large = unsigned long long;
    const SketchCounters::Seen& seen = shared.seen;
    for (int side = 0; side < 2; ++side) {
      SketchKeys& range = job.sketch_ranges[2 * place + side];
      atomic_largest(&range.below_end, Large(seen.below_end[side]));
      atomic_largest(&range.end, Large(seen.end[side]));
    }
    SketchExtras& extras = job.sketch_extras[job.sketch_first + place];
    atomic_or(&extras.digits_seen, Large(seen.digits[1]) << 32 | seen.digits[0]);
    atomic_add(&extras.zeros, Large(seen.zeros));
    atomic_add(&extras.above, Large(seen.above));
    atomic_add(&extras.below, Large(seen.below));
  }
};

// --- Reading -----------------------------------------------------------------------------------------------

// Calls visit(place of the column, key, counter) for the buckets of index i: column x side x stripe. Only the keys
// between the smallest and the largest one in use are visited: most of a table is empty.
template <class Visit>
ZWANG_INLINE void each_bucket(const ReduceJob& job, long long i, const Visit& visit) {
  const long long side = i / sketch_stripes, place = side / 2;
  const SketchKeys keys = job.sketch_ranges[side];
  if (keys.end == 0) return;
  unsigned* table = job.sketch_table + side * sketch_side;
  const unsigned first = side % 2 != 0 ? sketch_side : 0;
  for (unsigned long long key =
           sketch_side - keys.below_end + static_cast<unsigned long long>(i % sketch_stripes);
       key < keys.end; key += sketch_stripes)
    visit(place, first + static_cast<unsigned>(key), table[key]);
}

// Counts the buckets of each column that are not empty.
ZWANG_INLINE void reduce_sketch_sizes(const ReduceJob& job, long long i) {
  unsigned long long found = 0;
  each_bucket(job, i, [&](long long, unsigned, unsigned count) { found += count > 0 ? 1 : 0; });
  if (found > 0) atomic_add(job.sketch_found + i / (2 * sketch_stripes), found);
}

// Writes the buckets that are not empty, in any order, beginning at the column's offset, and clears them.
ZWANG_INLINE void reduce_sketch_entries(const ReduceJob& job, long long i) {
  each_bucket(job, i, [&](long long place, unsigned key, unsigned& count) {
    if (count == 0) return;
    const unsigned long long at = atomic_add(job.sketch_found + place, 1ULL);
    job.sketch_entries[at] = {key, count};
    count = 0;
  });
}

}  // namespace zwang
