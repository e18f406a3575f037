// The list of all reductions, expanded to a table of functions on the host and to entry points on a GPU.
#pragma once

#include "kernels/reduce/counts.h"
#include "kernels/reduce/covariances.h"
#include "kernels/reduce/member_record.h"
#include "kernels/reduce/quantile_buckets.h"
#include "kernels/reduce/resident_columns.h"
#include "kernels/sampling/draw.h"

#define ZWANG_REDUCTIONS(DO)  \
  DO(reduce_entered)          \
  DO(reduce_moments)          \
  DO(reduce_merge_moments)    \
  DO(reduce_replicates)       \
  DO(reduce_merge_replicates) \
  DO(reduce_related_columns)  \
  DO(reduce_pairs)            \
  DO(reduce_merge_pairs)      \
  DO(reduce_merge_related)    \
  DO(reduce_sketch_sizes)     \
  DO(reduce_sketch_entries)   \
  DO(reduce_keep)             \
  DO(reduce_tally)

// Counts by groups of group_lanes threads.
#define ZWANG_GROUP_REDUCTIONS(DO) \
  DO(reduce_sketch, SketchGroup)   \
  DO(reduce_histogram, HistogramGroup)

// Reductions of values that are resident on the device.
#define ZWANG_RESIDENT_REDUCTIONS(DO) \
  DO(count_radix_digits)              \
  DO(count_bins)

// Records of members.
#define ZWANG_RECORDS(DO) DO(pack_record_number)

// Sampling of members on the device.
#define ZWANG_DRAWS(DO) DO(draw_member_there)
