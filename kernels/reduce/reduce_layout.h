// Data shared by host and device reductions: partial statistics and the arguments of a reduction.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/status.h"

namespace zwang {

constexpr int reduced_block = 256;  // members in a leaf of the merge tree

// Moments of one column over some members; TileMoments on the host has the same for sixteen columns.
struct ColumnPart {
  long long finite, above, below;
  double pivot, offset, m2, m3, m4, minimum, maximum;
};

// Randomised Sobol sampling: the mean of one column in one replicate, relative to the column's pivot.
struct ReplicatePart {
  long long count;
  double offset;
};

// For covariances: a column of measures and inputs, and a pair of them.
struct RelatedColumn {
  double pivot, mean;   // mean: of a complete block, relative to the pivot
  int known, complete;  // known: has a pivot; complete: no value of the block is missing
};
struct RelatedPair {
  long long count;
  double offset_i, offset_j, product;
};

// Counts beside the buckets of a quantile sketch (host/estimators/quantile_sketch.h).
struct SketchExtras {
  unsigned long long zeros, above, below, digits_seen;
};
struct SketchEntry {
  unsigned key, count;  // key: 21 bits, the highest is set for negative distances from the pivot
};
constexpr int sketch_digits = 9;
constexpr unsigned sketch_side = 1U << (11 + sketch_digits);  // keys of one sign
constexpr long long sketch_keys = 2LL * sketch_side;
// The keys in use on one side: from sketch_side - below_end up to, not including, end. Both 0: none.
struct SketchKeys {
  unsigned long long below_end, end;
};
// Threads that share the buckets of one side of a table.
constexpr long long sketch_stripes = 4096;

// Values are counted by groups of threads: a GPU block, with counters in the memory that its threads share. 48 KiB, the
// most that needs no request.
constexpr int group_lanes = 256;
constexpr unsigned group_counters = 12288;
// Those of a sketch: of ten octaves of distances on either side, its window; of buckets outside, as many as have a free
// place; and what the group's threads have seen.
constexpr unsigned sketch_window_side = 10U << sketch_digits, sketch_places_outside = 512;
struct SketchCounters {
  unsigned window[2][sketch_window_side];
  unsigned key_outside[sketch_places_outside], count_outside[sketch_places_outside];  // key + 1; 0: free
  // As SketchKeys and SketchExtras.
  struct Seen {
    unsigned below_end[2], end[2], digits[2], zeros, above, below;
  } seen;
};
static_assert(sizeof(SketchCounters) <= group_counters * sizeof(unsigned),
              "it fits into the memory of a group");

// A histogram of one column with known edges. Its counts: below, the bins, above.
struct HistogramColumn {
  long long column, bins, first_edge, first_count;
  double per_width;
};

// Sums over members: counted members, steps, statuses, events; the largest audit values of members that
// did not fail; and the largest shares of the audit's bound, inaccurate members included, as keys
// (worst_share.h).
struct TallyCounts {
  unsigned long long entered, steps, rejected, redundant;
  unsigned long long status[status_count], events[event_kinds];
  double worst[audit_numbers];
  unsigned long long shares[audit_shares];
};

// The arguments of one reduction; all pointers are of the memory in which it runs.
struct ReduceJob {
  KernelBatch batch;  // members, with their results
  long long first;    // number of the first member, a multiple of 256
  long long blocks;   // number of complete blocks
  int nominal;        // 1: member 0 is not counted
  char* entered;      // by member

  // Columns: observables by time, the same of members with a flag, measures, flags, inputs, and measures and
  // inputs of members with a flag. The values of other members are missing in columns of members with a flag.
  long long series, measures, flags, inputs, parameters;
  const int *series_given, *given;  // flags that select members
  long long series_given_count, given_count;
  long long columns;                    // of all kinds
  long long related_count, pair_count;  // measures and inputs, and their pairs
  const int* drawn;                     // for each input: its parameter
  ColumnPart* parts;                    // blocks x columns; a merged node lies where its first block did

  int replicates;                  // 0: no replicates
  long long first_drawn;           // the member that belongs to replicate 0
  ReplicatePart* replicate_parts;  // blocks x columns x replicates

  RelatedColumn* related;  // blocks x (measures + inputs)
  RelatedPair* pairs;      // blocks x pairs

  // One level of the tree: `left` is the index of the first left node; its sibling is `reach` further.
  long long left, reach;

  long long group_members;  // members of a column that a group counts

  // Quantile sketches, for some columns at a time.
  const long long* sketch_columns;
  const double* sketch_pivots;
  long long sketch_first, sketch_count;  // the range of columns in this call
  const unsigned* sketch_windows;        // the smallest key in the window of each sketched column
  SketchExtras* sketch_extras;           // by sketched column
  unsigned* sketch_table;                // sketch_count x sketch_keys; empty between two calls
  SketchKeys* sketch_ranges;             // sketch_count x 2 sides
  SketchEntry* sketch_entries;           // buckets that are not empty
  unsigned long long* sketch_found;      // their number, by column
  unsigned long long sketch_room;        // capacity of sketch_entries

  const HistogramColumn* histograms;
  long long histogram_count;
  const double* edges;
  unsigned long long* histogram_counts;

  // Values of every stride-th member that stay on the device.
  const long long* kept_columns;
  long long kept_count, kept_skip, kept_stride, kept_rows;
  double* kept;  // kept_count x kept_rows

  TallyCounts* tally;
  long long tally_lanes;
};

}  // namespace zwang
