// Statistics on the device: the moments of every column over blocks of 256 members, merged in a fixed binary
// tree over block numbers. The formulas are those of host/estimators/moments.cpp, in the same order and
// without fused multiply-adds, so that the bits are the same; the merge functions are shared by host and
// device.
//
// Every function handles one index independently of the others: one thread each on a GPU, a loop on the host.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/reduce/reduce_layout.h"

namespace zwang {

ZWANG_INLINE bool reduced_finite(double x) { return absolute(x) <= 1.7976931348623157e308; }

ZWANG_INLINE bool has_flag(const ReduceJob& job, long long member, int flag) {
  return job.batch.measures[member * (job.measures + job.flags) + job.measures + flag] == 1;
}

// A member's value in a column; NaN where the member does not count.
ZWANG_INLINE double column_value(const ReduceJob& job, long long member, long long column) {
  if (job.entered[member] == 0) return missing<double>();
  if (column < job.series) return job.batch.observables[member * job.series + column];
  column -= job.series;
  const long long row = job.measures + job.flags, given_series = job.series_given_count * job.series;
  if (column < given_series)
    return has_flag(job, member, job.series_given[column / job.series])
               ? job.batch.observables[member * job.series + column % job.series]
               : missing<double>();
  column -= given_series;
  if (column >= row + job.inputs) {
    // Measures by flag, then inputs by flag.
    column -= row + job.inputs;
    const bool measure = column < job.given_count * job.measures;
    if (!measure) column -= job.given_count * job.measures;
    const long long width = measure ? job.measures : job.inputs;
    if (!has_flag(job, member, job.given[column / width])) return missing<double>();
    column = column % width + (measure ? 0 : row);
  }
  if (column < row) return job.batch.measures[member * row + column];
  return job.batch.parameters[member * job.parameters + job.drawn[column - row]];
}

// --- Members that count ------------------------------------------------------------------------------------

// i: member. Counted are members that end regularly, except the nominal member.
ZWANG_INLINE void reduce_entered(const ReduceJob& job, long long i) {
  const auto status = static_cast<Status>(job.batch.status[i]);
  const bool well = status == Status::ok || status == Status::stopped;
  job.entered[i] = well && !(job.nominal != 0 && job.first + i == 0) ? 1 : 0;
}

// --- Moments -----------------------------------------------------------------------------------------------

// i: block x column. Two passes, as in block_moments() on the host.
ZWANG_INLINE void reduce_moments(const ReduceJob& job, long long i) {
  const long long block = i / job.columns, column = i % job.columns;
  const long long begin = block * reduced_block, end = begin + reduced_block;
  ColumnPart part{};
  part.minimum = infinity<double>();
  part.maximum = -infinity<double>();

  // The first value is the origin.
  double pivot = 0, sum = 0;
  for (long long m = begin; m < end; ++m) {
    const double x = column_value(job, m, column);
    const bool counts = reduced_finite(x);
    if (counts && part.finite == 0) pivot = x;
    part.finite += counts;
    part.above += !counts && x > 0;
    part.below += !counts && x < 0;
    sum += counts ? x - pivot : 0.0;
    part.minimum = x < part.minimum ? x : part.minimum;
    part.maximum = x > part.maximum ? x : part.maximum;
  }
  if (part.finite > 0) {
    const double offset = sum / double(part.finite);
    double s1 = 0, s2 = 0, s3 = 0, s4 = 0;
    for (long long m = begin; m < end; ++m) {
      const double x = column_value(job, m, column);
      const double d = reduced_finite(x) ? (x - pivot) - offset : 0.0;
      const double d2 = d * d;
      s1 += d;
      s2 += d2;
      s3 += d2 * d;
      s4 += d2 * d2;
    }
    const double m2 = s2 - s1 * s1 / double(part.finite);
    part.pivot = pivot;
    part.offset = offset;
    part.m2 = m2 > 0 ? m2 : 0;
    part.m3 = s3;
    part.m4 = s4;
  }
  job.parts[i] = part;
}

// Merges two neighbouring parts; `a` has the smaller member numbers. P. Pébay, Formulas for robust, one-pass
// parallel computation of covariances and arbitrary-order statistical moments, Sandia report SAND2008-6212
// (2008), the pairwise updates of order 2, 3, 4; order 2 is Chan, Golub and LeVeque (1979). Fractions na/n,
// nb/n instead of counts keep the numbers small. An empty part contributes nothing, not even its origin.
ZWANG_INLINE ColumnPart merged_parts_of_column(const ColumnPart& a, const ColumnPart& b) {
  ColumnPart sum = a.finite == 0 ? b : a;
  if (a.finite > 0 && b.finite > 0) {
    const double na = double(a.finite), nb = double(b.finite), n = na + nb;
    const double pa = na / n, pb = nb / n;
    const double d = (b.pivot - a.pivot) + (b.offset - a.offset);
    const double d2 = d * d;
    sum.offset = a.offset + d * pb;
    sum.m2 = (a.m2 + b.m2) + d2 * na * pb;
    sum.m3 = (a.m3 + b.m3) + d2 * d * na * pb * (pa - pb) + 3 * d * (pa * b.m2 - pb * a.m2);
    sum.m4 = (a.m4 + b.m4) + d2 * d2 * na * pb * (pa * pa - pa * pb + pb * pb) +
             6 * d2 * (pa * pa * b.m2 + pb * pb * a.m2) + 4 * d * (pa * b.m3 - pb * a.m3);
  }
  sum.finite = a.finite + b.finite;
  sum.above = a.above + b.above;
  sum.below = a.below + b.below;
  sum.minimum = b.minimum < a.minimum ? b.minimum : a.minimum;
  sum.maximum = b.maximum > a.maximum ? b.maximum : a.maximum;
  return sum;
}

// i: pair of siblings x column. Must run after reduce_merge_replicates of the same nodes, which needs both
// pivots.
ZWANG_INLINE void reduce_merge_moments(const ReduceJob& job, long long i) {
  const long long node = i / job.columns, column = i % job.columns;
  ColumnPart* left = job.parts + (job.left + 2 * job.reach * node) * job.columns + column;
  *left = merged_parts_of_column(*left, left[job.reach * job.columns]);
}

// --- Replicates --------------------------------------------------------------------------------------------

// i: block x column x replicate. A replicate has every replicates-th member.
ZWANG_INLINE void reduce_replicates(const ReduceJob& job, long long i) {
  const long long place = i / job.replicates, replicate = i % job.replicates;
  const long long block = place / job.columns, column = place % job.columns;
  const long long begin = block * reduced_block, end = begin + reduced_block;
  // Members before the first drawn one are not counted in any replicate.
  const long long drawn = job.first + begin - job.first_drawn;
  const long long skip = (replicate - drawn % job.replicates + job.replicates) % job.replicates;
  const double pivot = job.parts[place].pivot;
  ReplicatePart made{};
  for (long long m = begin + skip; m < end; m += job.replicates) {
    const double x = column_value(job, m, column);
    if (!reduced_finite(x)) continue;
    ++made.count;
    made.offset += x - pivot;
  }
  if (made.count > 0) made.offset /= double(made.count);
  job.replicate_parts[i] = made;
}

ZWANG_INLINE ReplicatePart merged_replicate(const ReplicatePart& left, double left_pivot,
                                            const ReplicatePart& right, double right_pivot, double pivot) {
  // Both parts relative to the pivot of the sum.
  const double offset_l = (left_pivot - pivot) + left.offset, offset_r = (right_pivot - pivot) + right.offset;
  ReplicatePart sum{left.count + right.count, 0};
  if (left.count > 0 && right.count > 0)
    sum.offset = offset_l + (offset_r - offset_l) * (double(right.count) / double(sum.count));
  else
    sum.offset = left.count > 0 ? offset_l : right.count > 0 ? offset_r : 0;
  return sum;
}

// i: pair of siblings x column x replicate.
ZWANG_INLINE void reduce_merge_replicates(const ReduceJob& job, long long i) {
  const long long place = i / job.replicates, replicate = i % job.replicates;
  const long long node = place / job.columns, column = place % job.columns;
  const long long left = (job.left + 2 * job.reach * node) * job.columns + column;
  const long long right = left + job.reach * job.columns;
  const ColumnPart &a = job.parts[left], &b = job.parts[right];
  ReplicatePart& sum = job.replicate_parts[left * job.replicates + replicate];
  sum = merged_replicate(sum, a.pivot, job.replicate_parts[right * job.replicates + replicate], b.pivot,
                         a.finite == 0 ? b.pivot : a.pivot);
}

}  // namespace zwang
