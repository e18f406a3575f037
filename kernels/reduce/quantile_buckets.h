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
  unsigned* window;             // group_counters, shared
  int lane, lanes;              // this thread, and how many

  // group: run of group_members members x column among the sketch_count columns of this call.
  ZWANG_INLINE SketchGroup(const ReduceJob& all, long long group, unsigned* counters, int own, int count)
      : job(all), place(group % all.sketch_count), window(counters), lane(own), lanes(count) {
    begin = group / job.sketch_count * job.group_members;
    end = least(begin + job.group_members, job.blocks * reduced_block);
    first = job.sketch_windows[job.sketch_first + place];
  }
  ZWANG_INLINE void clear() const { clear_counters(window, group_counters, lane, lanes); }

  ZWANG_INLINE void count() const {
    const long long column = job.sketch_columns[job.sketch_first + place];
    const double pivot = job.sketch_pivots[job.sketch_first + place];
    SketchExtras seen{};
    SketchKeys keys[2] = {};
    for (long long m = begin + lane; m < end; m += lanes) {
      const double x = column_value(job, m, column);
      if (x != x) continue;
      // The bucket: sign, exponent and leading fraction bits of the distance from the pivot.
      const double d = x - pivot;
      const unsigned long long bits = bits_of_double(d);
      if ((bits >> 52 & 2047) - 1 < 2046) {
        seen.digits_seen |= bits & ((1ULL << 52) - 1);
        const auto key = static_cast<unsigned>(bits >> (52 - sketch_digits)) & (sketch_side - 1);
        const unsigned side = static_cast<unsigned>(bits >> 63);
        note_key(keys, side, key);
        const unsigned at = key - first;  // a large number for keys below the window
        atomic_add(at < sketch_window_side ? window + side * sketch_window_side + at
                                           : table() + side * sketch_side + key,
                   1U);
      } else if (reduced_finite(d)) {
        ++seen.zeros;
      } else {
        ++(x > pivot ? seen.above : seen.below);
      }
    }
    write(seen, keys);
  }

  ZWANG_INLINE void add() const {
    for (unsigned k = static_cast<unsigned>(lane); k < group_counters; k += static_cast<unsigned>(lanes))
      if (window[k] > 0)
        atomic_add(table() + first + (k < sketch_window_side ? k : k - sketch_window_side + sketch_side),
                   window[k]);
  }

 private:
  ZWANG_INLINE unsigned* table() const { return job.sketch_table + place * sketch_keys; }

  ZWANG_INLINE static void note_key(SketchKeys (&keys)[2], unsigned of_side, unsigned key) {
    const unsigned long long below_end = sketch_side - key, behind = key + 1ULL;
    // Both sides by constant indices: they stay in registers.
    ZWANG_REGISTERS for (unsigned side = 0; side < 2; ++side) {
      if (side == of_side && below_end > keys[side].below_end) keys[side].below_end = below_end;
      if (side == of_side && behind > keys[side].end) keys[side].end = behind;
    }
  }

  ZWANG_INLINE void write(const SketchExtras& seen, const SketchKeys (&keys)[2]) const {
    ZWANG_REGISTERS for (int side = 0; side < 2; ++side) {
      SketchKeys& all = job.sketch_ranges[2 * place + side];
      if (keys[side].below_end > all.below_end) atomic_largest(&all.below_end, keys[side].below_end);
      if (keys[side].end > all.end) atomic_largest(&all.end, keys[side].end);
    }
    SketchExtras& extras = job.sketch_extras[job.sketch_first + place];
    if (seen.zeros > 0) atomic_add(&extras.zeros, seen.zeros);
    if (seen.above > 0) atomic_add(&extras.above, seen.above);
    if (seen.below > 0) atomic_add(&extras.below, seen.below);
    if ((seen.digits_seen & ~extras.digits_seen) != 0) atomic_or(&extras.digits_seen, seen.digits_seen);
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
    job.sketch_entries[at] = {static_cast<unsigned>(job.sketch_first + place), key, count};
    count = 0;
  });
}

}  // namespace zwang
