// Integer counts over members on the device: histograms, and the statuses with which members end. Integer sums do not
// depend on the order in which threads add.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/reduce/group_counters.h"
#include "kernels/reduce/moments.h"
#include "kernels/reduce/reduce_layout.h"
#include "kernels/reduce/worst_share.h"

namespace zwang {

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

// Some members of one histogram's column, counted by several threads: clear() by all of them, then count(), then add().
struct HistogramGroup {
  const ReduceJob& job;
  const HistogramColumn& histogram;
  long long begin, end;  // members
  unsigned* shared;      // group_counters; of a histogram with more bins, those of the first ones
  int lane, lanes;       // this thread, and how many

  // group: run of group_members members x histogram.
  ZWANG_INLINE HistogramGroup(const ReduceJob& all, long long group, unsigned* counters, int own, int count)
      : job(all),
        histogram(all.histograms[group % all.histogram_count]),
        shared(counters),
        lane(own),
        lanes(count) {
    begin = group / job.histogram_count * job.group_members;
    end = least(begin + job.group_members, job.blocks * reduced_block);
  }
  ZWANG_INLINE void clear() const { clear_counters(shared, shared_counters(), lane, lanes); }
  ZWANG_INLINE void count() const {
    for (long long m = begin + lane; m < end; m += lanes) {
      const double x = column_value(job, m, histogram.column);
      if (x != x) continue;
      const long long place =
          histogram_place(job.edges + histogram.first_edge, histogram.bins, histogram.per_width, x);
      if (place < group_counters)
        atomic_add(shared + place, 1U);
      else
        atomic_add(job.histogram_counts + histogram.first_count + place, 1ULL);
    }
  }
  ZWANG_INLINE void add() const {
    for (unsigned k = static_cast<unsigned>(lane); k < shared_counters(); k += static_cast<unsigned>(lanes))
      if (shared[k] > 0)
        atomic_add(job.histogram_counts + histogram.first_count + k,
                   static_cast<unsigned long long>(shared[k]));
  }

 private:
  ZWANG_INLINE unsigned shared_counters() const {
    return static_cast<unsigned>(least(histogram.bins + 2, group_counters));
  }
};

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
