// Integer counts over members on the device: quantile buckets, histograms, and the statuses with which
// members end. Integer sums do not depend on the order in which threads add.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/reduce/moments.h"
#include "kernels/reduce/reduce_layout.h"
#include "kernels/reduce/worst_share.h"

namespace zwang {

// --- Buckets -----------------------------------------------------------------------------------------------

// The counts of two buckets that a thread has not yet added to the table. Of a quantity that takes one value often,
// between values that differ, that value keeps its place, so that threads rarely contend for its counter.
struct PendingBuckets {
  unsigned* table;
  unsigned frequent = 0, frequent_count = 0, recent = 0, recent_count = 0;

  ZWANG_INLINE void add(unsigned bucket) {
    if (bucket == frequent && frequent_count > 0) {
      ++frequent_count;
    } else if (bucket == recent && recent_count > 0) {
      ++recent_count;
    } else {
      if (recent_count > frequent_count) exchange();
      flush_recent();
      recent = bucket;
      recent_count = 1;
    }
  }
  ZWANG_INLINE void flush() {
    flush_recent();
    exchange();
    flush_recent();
  }

 private:
  ZWANG_INLINE void exchange() {
    const unsigned bucket = frequent, count = frequent_count;
    frequent = recent;
    frequent_count = recent_count;
    recent = bucket;
    recent_count = count;
  }
  ZWANG_INLINE void flush_recent() {
    if (recent_count > 0) atomic_add(table + recent, recent_count);
    recent_count = 0;
  }
};

// The keys in use on one side of a table.
ZWANG_INLINE void widen_key_range(SketchKeys& keys, unsigned long long below_end, unsigned long long end) {
  if (below_end > keys.below_end) atomic_largest(&keys.below_end, below_end);
  if (end > keys.end) atomic_largest(&keys.end, end);
}

// i: run of counted_in_a_row members x column among the sketch_count columns of this call.
ZWANG_INLINE void reduce_sketch(const ReduceJob& job, long long i) {
  const long long run = i / job.sketch_count, place = i % job.sketch_count;
  const long long column = job.sketch_columns[job.sketch_first + place];
  const double pivot = job.sketch_pivots[job.sketch_first + place];
  PendingBuckets pending{job.sketch_table + place * sketch_keys};
  SketchExtras& extras = job.sketch_extras[job.sketch_first + place];
  SketchExtras seen{};
  SketchKeys keys[2] = {};
  const long long begin = run * counted_in_a_row, end = begin + counted_in_a_row;
  for (long long m = begin; m < end; ++m) {
    const double x = column_value(job, m, column);
    if (x != x) continue;
    // The bucket: sign, exponent and leading fraction bits of the distance from the pivot.
    const double d = x - pivot;
    const unsigned long long bits = bits_of_double(d);
    if ((bits >> 52 & 2047) - 1 < 2046) {
      seen.digits_seen |= bits & ((1ULL << 52) - 1);
      const auto key = static_cast<unsigned>(bits >> (52 - sketch_digits)) & (sketch_side - 1);
      const bool negative = bits >> 63 != 0;
      const unsigned long long below_end = sketch_side - key, behind = key + 1ULL;
      // Both sides by constant indices: they stay in registers.
      ZWANG_REGISTERS for (int side = 0; side < 2; ++side) {
        const bool own = (side == 1) == negative;
        if (own && below_end > keys[side].below_end) keys[side].below_end = below_end;
        if (own && behind > keys[side].end) keys[side].end = behind;
      }
      pending.add((negative ? sketch_side : 0) | key);
    } else if (reduced_finite(d)) {
      ++seen.zeros;
    } else {
      ++(x > pivot ? seen.above : seen.below);
    }
  }
  pending.flush();
  ZWANG_REGISTERS for (int side = 0; side < 2; ++side) {
    widen_key_range(job.sketch_ranges[2 * place + side], keys[side].below_end, keys[side].end);
  }
  if (seen.zeros > 0) atomic_add(&extras.zeros, seen.zeros);
  if (seen.above > 0) atomic_add(&extras.above, seen.above);
  if (seen.below > 0) atomic_add(&extras.below, seen.below);
  if ((seen.digits_seen & ~extras.digits_seen) != 0) atomic_or(&extras.digits_seen, seen.digits_seen);
}

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

// --- Histograms --------------------------------------------------------------------------------------------

// Index of x among bins + 1 edges: 0 is below, 1 to bins the bins, bins + 1 above. A bin contains its lower
// edge, the last bin both. The guess by division is corrected by comparison with the edges as they are
// printed, so that a recount from the printed edges gives the same counts.
ZWANG_INLINE long long histogram_place(const double* edges, long long bins, double per_width, double x) {
  if (x < edges[0]) return 0;
  if (x > edges[bins]) return bins + 1;
  const double guess = (x - edges[0]) * per_width;
  long long bin = guess > 0 ? (guess < double(bins - 1) ? static_cast<long long>(guess) : bins - 1) : 0;
  while (bin > 0 && x < edges[bin]) --bin;
  while (bin < bins - 1 && x >= edges[bin + 1]) ++bin;
  return bin + 1;
}

// i: run of counted_in_a_row members x histogram.
ZWANG_INLINE void reduce_histogram(const ReduceJob& job, long long i) {
  const long long run = i / job.histogram_count;
  const HistogramColumn& histogram = job.histograms[i % job.histogram_count];
  unsigned long long* counts = job.histogram_counts + histogram.first_count;
  long long last = 0;
  unsigned long long pending = 0;
  const long long begin = run * counted_in_a_row, end = begin + counted_in_a_row;
  for (long long m = begin; m < end; ++m) {
    const double x = column_value(job, m, histogram.column);
    if (x != x) continue;
    const long long place =
        histogram_place(job.edges + histogram.first_edge, histogram.bins, histogram.per_width, x);
    if (place != last) {
      if (pending > 0) atomic_add(counts + last, pending);
      last = place;
      pending = 0;
    }
    ++pending;
  }
  if (pending > 0) atomic_add(counts + last, pending);
}

// --- Values that stay on the device ------------------------------------------------------------------------

// i: column x row.
ZWANG_INLINE void reduce_keep(const ReduceJob& job, long long i) {
  const long long row = i / job.kept_count, place = i % job.kept_count;
  job.kept[place * job.kept_rows + row] =
      column_value(job, job.kept_skip + row * job.kept_stride, job.kept_columns[place]);
}

// --- Statuses, steps, events and audits of members ---------------------------------------------------------

// i: one of tally_lanes threads that share the members, the incomplete last block included.
ZWANG_INLINE void reduce_tally(const ReduceJob& job, long long i) {
  TallyCounts sum{};
  const KernelBatch& batch = job.batch;
  for (long long m = i; m < batch.count; m += job.tally_lanes) {
    const auto status = static_cast<Status>(batch.status[m]);
    sum.entered += job.entered[m] != 0;
    sum.steps += static_cast<unsigned long long>(batch.steps[2 * m]);
    sum.rejected += static_cast<unsigned long long>(batch.steps[2 * m + 1]);
    sum.redundant += batch.redundant[m] != 0;
    for (int how = 0; how < status_count; ++how) sum.status[how] += batch.status[m] == how;
    for (int kind = 0; kind < event_kinds; ++kind)
      sum.events[kind] += static_cast<unsigned long long>(batch.event_counts[m * event_kinds + kind]);
    const bool well = status == Status::ok || status == Status::stopped;
    if (!well && status != Status::inaccurate) continue;
    const double* audit = batch.audits + m * audit_numbers;
    for (int k = 0; k < audit_shares; ++k) {
      const unsigned long long key = share_key(audit[audit_violations + k], m);
      if (key > sum.shares[k]) sum.shares[k] = key;
    }
    for (int k = 0; well && k < audit_numbers; ++k)
      if (audit[k] > sum.worst[k]) sum.worst[k] = audit[k];
  }
  TallyCounts& all = *job.tally;
  atomic_add(&all.entered, sum.entered);
  atomic_add(&all.steps, sum.steps);
  atomic_add(&all.rejected, sum.rejected);
  if (sum.redundant > 0) atomic_add(&all.redundant, sum.redundant);
  for (int how = 0; how < status_count; ++how)
    if (sum.status[how] > 0) atomic_add(&all.status[how], sum.status[how]);
  for (int kind = 0; kind < event_kinds; ++kind)
    if (sum.events[kind] > 0) atomic_add(&all.events[kind], sum.events[kind]);
  for (int k = 0; k < audit_numbers; ++k) atomic_largest(&all.worst[k], sum.worst[k]);
  for (int k = 0; k < audit_shares; ++k) atomic_largest(&all.shares[k], sum.shares[k]);
}

}  // namespace zwang
