// Covariances of measures and inputs on the device, with the formulas of host/estimators/correlation.cpp.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/reduce/moments.h"
#include "kernels/reduce/reduce_layout.h"

namespace zwang {

// The column of a measure or an input.
ZWANG_INLINE long long related_column(const ReduceJob& job, long long related) {
  const long long first = job.series * (1 + job.series_given_count);
  return first + related + (related < job.measures ? 0 : job.flags);
}

// A value of a column relative to the block's first value; NaN for missing values.
ZWANG_INLINE double from_pivot(const ReduceJob& job, long long member, long long column, double pivot) {
  const double x = column_value(job, member, related_column(job, column));
  return reduced_finite(x) ? x - pivot : missing<double>();
}

// i: block x related column.
ZWANG_INLINE void reduce_related_columns(const ReduceJob& job, long long i) {
  const long long block = i / job.related_count, column = i % job.related_count;
  const long long begin = block * reduced_block;
  RelatedColumn made{};
  made.complete = 1;
  // Four running sums, added in a fixed order.
  double sums[4] = {0, 0, 0, 0};
  for (int row = 0; row < reduced_block; ++row) {
    const double x = column_value(job, begin + row, related_column(job, column));
    const bool present = reduced_finite(x);
    if (present && made.known == 0) {
      made.known = 1;
      made.pivot = x;
    }
    if (!present) made.complete = 0;
    if (made.complete != 0) sums[row % 4] += x - made.pivot;
  }
  if (made.complete != 0) made.mean = ((sums[0] + sums[1]) + (sums[2] + sums[3])) / reduced_block;
  job.related[i] = made;
}

// Pairs (i, j), j <= i, at i (i + 1) / 2 + j.
struct PairOfColumns {
  long long i, j;
};
ZWANG_INLINE PairOfColumns pair_of(long long pair) {
  long long i = static_cast<long long>((ZWANG_BUILTIN(sqrt)(8.0 * double(pair) + 1) - 1) / 2);
  while (i * (i + 1) / 2 > pair) --i;
  while ((i + 1) * (i + 2) / 2 <= pair) ++i;
  return {i, pair - i * (i + 1) / 2};
}

// No value is missing: the means are known, and only the sum of products remains.
ZWANG_INLINE RelatedPair reduced_complete_pair(const ReduceJob& job, long long begin, const PairOfColumns& of,
                                               const RelatedColumn& a, const RelatedColumn& b) {
  double sums[4] = {0, 0, 0, 0};
  for (int row = 0; row < reduced_block; ++row) {
    const double x = from_pivot(job, begin + row, of.i, a.pivot),
                 y = from_pivot(job, begin + row, of.j, b.pivot);
    sums[row % 4] += (x - a.mean) * (y - b.mean);
  }
  return {reduced_block, a.mean, b.mean, (sums[0] + sums[1]) + (sums[2] + sums[3])};
}

// Some values are missing: means and products over the members that have both.
ZWANG_INLINE RelatedPair reduced_broken_pair(const ReduceJob& job, long long begin, const PairOfColumns& of,
                                             const RelatedColumn& a, const RelatedColumn& b) {
  RelatedPair made{};
  double sum_a = 0, sum_b = 0;
  for (int row = 0; row < reduced_block; ++row) {
    const double x = from_pivot(job, begin + row, of.i, a.pivot),
                 y = from_pivot(job, begin + row, of.j, b.pivot);
    if (x != x || y != y) continue;
    ++made.count;
    sum_a += x;
    sum_b += y;
  }
  if (made.count == 0) return made;
  made.offset_i = sum_a / double(made.count);
  made.offset_j = sum_b / double(made.count);
  for (int row = 0; row < reduced_block; ++row) {
    const double x = from_pivot(job, begin + row, of.i, a.pivot),
                 y = from_pivot(job, begin + row, of.j, b.pivot);
    if (x != x || y != y) continue;
    made.product += (x - made.offset_i) * (y - made.offset_j);
  }
  return made;
}

// i: block x pair.
ZWANG_INLINE void reduce_pairs(const ReduceJob& job, long long i) {
  const long long block = i / job.pair_count;
  const PairOfColumns of = pair_of(i % job.pair_count);
  const RelatedColumn &a = job.related[block * job.related_count + of.i],
                      &b = job.related[block * job.related_count + of.j];
  const long long begin = block * reduced_block;
  job.pairs[i] = a.complete != 0 && b.complete != 0 ? reduced_complete_pair(job, begin, of, a, b)
                                                    : reduced_broken_pair(job, begin, of, a, b);
}

// The pivots of columns i and j: of the left part, of the right part, and of the merged part.
struct PairPivots {
  double left_i, left_j, right_i, right_j, sum_i, sum_j;
};

// Pébay (SAND2008-6212), the pairwise update of a covariance. If one side is empty, the other is only shifted
// to the new pivots.
ZWANG_INLINE RelatedPair merged_related_pair(const RelatedPair& a, const RelatedPair& b,
                                             const PairPivots& pivot) {
  if (a.count > 0 && b.count > 0) {
    const double na = double(a.count), nb = double(b.count), share = nb / (na + nb);
    const double d_i = (pivot.right_i - pivot.left_i) + (b.offset_i - a.offset_i);
    const double d_j = (pivot.right_j - pivot.left_j) + (b.offset_j - a.offset_j);
    return {a.count + b.count, a.offset_i + d_i * share, a.offset_j + d_j * share,
            (a.product + b.product) + d_i * d_j * na * share};
  }
  if (a.count > 0)
    return {a.count, (pivot.left_i - pivot.sum_i) + a.offset_i, (pivot.left_j - pivot.sum_j) + a.offset_j,
            a.product};
  if (b.count > 0)
    return {b.count, (pivot.right_i - pivot.sum_i) + b.offset_i, (pivot.right_j - pivot.sum_j) + b.offset_j,
            b.product};
  return {0, 0, 0, 0};
}

// i: pair of siblings x pair of columns. Must run before their columns are merged.
ZWANG_INLINE void reduce_merge_pairs(const ReduceJob& job, long long i) {
  const long long node = i / job.pair_count, pair = i % job.pair_count;
  const PairOfColumns of = pair_of(pair);
  const long long left = job.left + 2 * job.reach * node, right = left + job.reach;
  const RelatedColumn *a = job.related + left * job.related_count,
                      *b = job.related + right * job.related_count;
  const PairPivots pivot{a[of.i].pivot,
                         a[of.j].pivot,
                         b[of.i].pivot,
                         b[of.j].pivot,
                         a[of.i].known != 0 ? a[of.i].pivot : b[of.i].pivot,
                         a[of.j].known != 0 ? a[of.j].pivot : b[of.j].pivot};
  RelatedPair& sum = job.pairs[left * job.pair_count + pair];
  sum = merged_related_pair(sum, job.pairs[right * job.pair_count + pair], pivot);
}

// i: pair of siblings x related column.
ZWANG_INLINE void reduce_merge_related(const ReduceJob& job, long long i) {
  const long long node = i / job.related_count, column = i % job.related_count;
  RelatedColumn* left = job.related + (job.left + 2 * job.reach * node) * job.related_count + column;
  const RelatedColumn& right = left[job.reach * job.related_count];
  if (left->known == 0) *left = right;
}

}  // namespace zwang
