// What host and reductions agree on: parts of statistics, and what a reduction is told.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/status.h"

namespace zwang {

constexpr int reduced_block = 256;  // members: the leaves of the tree

// One column over some members, as TileMoments has it for sixteen.
struct ColumnPart {
  long long finite, above, below;
  double pivot, offset, m2, m3, m4, minimum, maximum;
};

// Sobol: one replicate's mean of one column, from the column's pivot.
struct ReplicatePart {
  long long count;
  double offset;
};

// For covariances: a column of measures and inputs, and a pair of them.
struct RelatedColumn {
  double pivot, mean;   // mean: of a block, from the pivot, where complete
  int known, complete;  // has a pivot; nothing is missing in the block
};
struct RelatedPair {
  long long count;
  double offset_i, offset_j, product;
};

// A column whose values are counted in buckets (host/statistics/quantile_sketch.h), beside the buckets themselves.
struct SketchExtras {
  unsigned long long zeros, above, below, digits_seen;
};
struct SketchEntry {
  unsigned column, key, count;  // the highest bit of the key's 21: negative distances
};
constexpr int sketch_digits = 9;
constexpr unsigned sketch_side = 1U << (11 + sketch_digits);  // keys of one sign
constexpr long long sketch_keys = 2LL * sketch_side;

// A thread counts so many members of a column in a row; equal ones in a row are added at once.
constexpr int counted_in_a_row = 64;

// A histogram with known edges, of one column. Its counts: below, the bins, above.
struct HistogramColumn {
  long long column, bins, first_edge, first_count;
  double per_width;
};

// How members ended, added up.
struct TallyCounts {
  unsigned long long entered, steps, rejected, redundant;
  unsigned long long status[status_count], events[event_kinds];
  double worst[audit_numbers];
};

// What one call needs to know; all pointers are of the machine that works.
struct ReduceJob {
  KernelBatch batch;  // members, with their results
  long long first;    // number of the first one, a multiple of 256
  long long blocks;   // whole ones
  int nominal;        // 1: member 0 is not counted
  char* entered;      // by member

  // Columns: observables by time, measures, inputs.
  long long series, measures, inputs, parameters;
  long long columns;                    // of all three kinds
  long long related_count, pair_count;  // measures and inputs, and their pairs
  const int* drawn;                     // by input: which parameter
  ColumnPart* parts;                    // blocks x columns; a merged node lies where its first block did

  int replicates;                  // 0: none
  long long first_drawn;           // the member that belongs to replicate 0
  ReplicatePart* replicate_parts;  // blocks x columns x replicates

  RelatedColumn* related;  // blocks x (measures + inputs)
  RelatedPair* pairs;      // blocks x pairs

  // One level of the tree: `left` is the place of the first left node, its sibling lies `reach` further.
  long long left, reach;

  // Columns counted in buckets, some at a time.
  const long long* sketch_columns;
  const double* sketch_pivots;
  long long sketch_first, sketch_count;  // which of them now
  SketchExtras* sketch_extras;           // by sketched column
  unsigned* sketch_table;                // sketch_count x sketch_keys
  SketchEntry* sketch_entries;           // buckets that hold something
  unsigned long long* sketch_found;      // how many, by column
  unsigned long long sketch_room;        // for so many

  const HistogramColumn* histograms;
  long long histogram_count;
  const double* edges;
  unsigned long long* histogram_counts;

  // Values kept of every stride-th member.
  const long long* kept_columns;
  long long kept_count, kept_skip, kept_stride, kept_rows;
  double* kept;  // kept_count x kept_rows

  TallyCounts* tally;
  long long tally_lanes;
};

}  // namespace zwang
