// Order statistics and histograms of columns that are resident on the device. Integer counts only, so the
// result does not depend on the order in which parts are counted.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/reduce/counts.h"

namespace zwang {

// Values of whole columns, one after the other.
struct ResidentColumns {
  const double* values;  // columns x rows
  long long columns, rows;
  long long lanes;  // number of threads that share the rows of a column

  // Order statistics by radix selection, eight bits of the ordered key at a time: among the values whose key
  // begins with a prefix, the number of values for each next eight bits.
  int shift;                           // position of the digit: 56, 48, ... 0
  long long slots;                     // largest number of prefixes of a column
  const unsigned long long* prefixes;  // columns x slots, ascending
  const int* used;                     // number of prefixes, by column
  unsigned* digit_counts;              // columns x slots x 256

  // Histograms of some columns with common edges.
  const long long* counted;  // the columns
  const double* edges;       // bins + 1
  long long bins;
  double per_width;
  unsigned long long* bin_counts;  // by counted column: below, the bins, above
};

// Integer key with the order of the values; both zeros have the same key.
ZWANG_INLINE unsigned long long ordered_place(double x) {
  const unsigned long long bits = bits_of_double(x + 0.0);
  return bits >> 63 != 0 ? ~bits : bits | 1ULL << 63;
}

// Index of `prefix` among the ascending prefixes; -1: not found.
ZWANG_INLINE long long slot_of(const unsigned long long* prefixes, int used, unsigned long long prefix) {
  int low = 0, high = used;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (prefixes[middle] < prefix)
      low = middle + 1;
    else
      high = middle;
  }
  return low < used && prefixes[low] == prefix ? low : -1;
}

// i: column x lane.
ZWANG_INLINE void count_radix_digits(const ResidentColumns& job, long long i) {
  const long long column = i / job.lanes, lane = i % job.lanes;
  unsigned* counts = job.digit_counts + column * job.slots * 256;
  long long last = -1;
  unsigned pending = 0;
  for (long long row = lane; row < job.rows; row += job.lanes) {
    const double x = job.values[column * job.rows + row];
    if (x != x) continue;
    const unsigned long long place = ordered_place(x) >> job.shift;
    const long long slot = slot_of(job.prefixes + column * job.slots, job.used[column], place >> 8);
    if (slot < 0) continue;
    const long long now = slot * 256 + static_cast<long long>(place & 255);
    if (now != last) {
      if (pending > 0) atomic_add(counts + last, pending);
      last = now;
      pending = 0;
    }
    ++pending;
  }
  if (pending > 0) atomic_add(counts + last, pending);
}

// i: counted column x lane.
ZWANG_INLINE void count_bins(const ResidentColumns& job, long long i) {
  const long long one = i / job.lanes, lane = i % job.lanes, column = job.counted[one];
  unsigned long long* counts = job.bin_counts + one * (job.bins + 2);
  long long last = 0;
  unsigned long long pending = 0;
  for (long long row = lane; row < job.rows; row += job.lanes) {
    const double x = job.values[column * job.rows + row];
    if (x != x) continue;
    const long long now = histogram_place(job.edges, job.bins, job.per_width, x);
    if (now != last) {
      if (pending > 0) atomic_add(counts + last, pending);
      last = now;
      pending = 0;
    }
    ++pending;
  }
  if (pending > 0) atomic_add(counts + last, pending);
}

}  // namespace zwang
