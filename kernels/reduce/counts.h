// What is counted in integers where the members are: buckets of quantiles, histograms, how members ended. The order in which
// threads add does not matter.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/reduce/moments.h"
#include "kernels/reduce/reduce_layout.h"

namespace zwang {

// --- Buckets ------------------------------------------------------------------------------------------------

// i: stretch of members x sketched column of those now in hand.
ZWANG_INLINE void reduce_sketch(const ReduceJob& job, long long i) {
  const long long dense = i / job.sketch_count, place = i % job.sketch_count;
  const long long column = job.sketch_columns[job.sketch_first + place];
  const double pivot = job.sketch_pivots[job.sketch_first + place];
  unsigned* table = job.sketch_table + place * sketch_keys;
  SketchExtras& extras = job.sketch_extras[job.sketch_first + place];
  SketchExtras seen{};
  unsigned last = 0, waiting = 0;
  const long long begin = dense * counted_in_a_row, end = begin + counted_in_a_row;
  for (long long m = begin; m < end; ++m) {
    const double x = column_value(job, m, column);
    if (x != x) continue;
    // Sign, exponent and leading digits of the distance from the pivot.
    const double d = x - pivot;
    const unsigned long long bits = bits_of_double(d);
    if ((bits >> 52 & 2047) - 1 < 2046) {
      seen.digits_seen |= bits & ((1ULL << 52) - 1);
      const auto key = static_cast<unsigned>(bits >> (52 - sketch_digits)) & (sketch_side - 1);
      const unsigned bucket = (bits >> 63 != 0 ? sketch_side : 0) | key;
      if (bucket != last) {
        if (waiting > 0) atomic_add(table + last, waiting);
        last = bucket;
        waiting = 0;
      }
      ++waiting;
    } else if (reduced_finite(d)) {
      ++seen.zeros;
    } else {
      ++(x > pivot ? seen.above : seen.below);
    }
  }
  if (waiting > 0) atomic_add(table + last, waiting);
  if (seen.zeros > 0) atomic_add(&extras.zeros, seen.zeros);
  if (seen.above > 0) atomic_add(&extras.above, seen.above);
  if (seen.below > 0) atomic_add(&extras.below, seen.below);
  if ((seen.digits_seen & ~extras.digits_seen) != 0) atomic_or(&extras.digits_seen, seen.digits_seen);
}

// i: bucket of the table. How many of a column hold something.
ZWANG_INLINE void reduce_sketch_sizes(const ReduceJob& job, long long i) {
  if (job.sketch_table[i] > 0) atomic_add(job.sketch_found + i / sketch_keys, 1ULL);
}

// i: bucket of the table. Those that hold something, in any order, from where the column's entries begin.
ZWANG_INLINE void reduce_sketch_entries(const ReduceJob& job, long long i) {
  const unsigned count = job.sketch_table[i];
  if (count == 0) return;
  const unsigned long long place = atomic_add(job.sketch_found + i / sketch_keys, 1ULL);
  job.sketch_entries[place] = {static_cast<unsigned>(job.sketch_first + i / sketch_keys),
                               static_cast<unsigned>(i % sketch_keys), count};
}

// --- Histograms ---------------------------------------------------------------------------------------------

// Where x lies among bins + 1 edges: 0 is below, 1 to bins the bins, bins + 1 above. Bins hold their lower edge, the last one
// both. A guess by division, put right by the edges as they are printed: who counts again finds the same.
ZWANG_INLINE long long histogram_place(const double* edges, long long bins, double per_width, double x) {
  if (x < edges[0]) return 0;
  if (x > edges[bins]) return bins + 1;
  const double guess = (x - edges[0]) * per_width;
  long long bin = guess > 0 ? (guess < double(bins - 1) ? static_cast<long long>(guess) : bins - 1) : 0;
  while (bin > 0 && x < edges[bin]) --bin;
  while (bin < bins - 1 && x >= edges[bin + 1]) ++bin;
  return bin + 1;
}

// i: stretch of members x histogram.
ZWANG_INLINE void reduce_histogram(const ReduceJob& job, long long i) {
  const long long dense = i / job.histogram_count;
  const HistogramColumn& histogram = job.histograms[i % job.histogram_count];
  unsigned long long* counts = job.histogram_counts + histogram.first_count;
  long long last = 0;
  unsigned long long waiting = 0;
  const long long begin = dense * counted_in_a_row, end = begin + counted_in_a_row;
  for (long long m = begin; m < end; ++m) {
    const double x = column_value(job, m, histogram.column);
    if (x != x) continue;
    const long long place =
        histogram_place(job.edges + histogram.first_edge, histogram.bins, histogram.per_width, x);
    if (place != last) {
      if (waiting > 0) atomic_add(counts + last, waiting);
      last = place;
      waiting = 0;
    }
    ++waiting;
  }
  if (waiting > 0) atomic_add(counts + last, waiting);
}

// --- Values that are kept -----------------------------------------------------------------------------------

// i: column x row kept.
ZWANG_INLINE void reduce_keep(const ReduceJob& job, long long i) {
  const long long row = i / job.kept_count, place = i % job.kept_count;
  job.kept[place * job.kept_rows + row] =
      column_value(job, job.kept_skip + row * job.kept_stride, job.kept_columns[place]);
}

// --- How members ended --------------------------------------------------------------------------------------

// i: one of tally_lanes that share the members, the incomplete last block included.
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
    if (status != Status::ok && status != Status::stopped) continue;
    for (int k = 0; k < audit_numbers; ++k) {
      const double x = batch.audits[m * audit_numbers + k];
      if (x > sum.worst[k]) sum.worst[k] = x;
    }
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
}

}  // namespace zwang
