// Order statistics and histograms of values that stayed where they were reduced. Integer counts only: which part is counted
// when, and by whom, does not matter.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/reduce/counts.h"

namespace zwang {

// Values of whole columns, one after the other.
struct ResidentColumns {
  const double* values;  // columns x rows
  long long columns, rows;
  long long lanes;  // that share the rows of a column

  // Order statistics, eight binary digits of a value's place at a time: of the values that begin with a prefix, how many have
  // which digits next.
  int shift;                           // of the digits: 56, 48, ... 0
  long long slots;                     // prefixes there is room for, by column
  const unsigned long long* prefixes;  // columns x slots, ascending
  const int* used;                     // by column: how many there are
  unsigned* digit_counts;              // columns x slots x 256

  // A histogram of some columns, each counted apart.
  const long long* counted;  // which columns
  const double* edges;       // bins + 1
  long long bins;
  double per_width;
  unsigned long long* bin_counts;  // by counted column: below, the bins, above
};

// Ordered as the values are; both zeros are one.
ZWANG_INLINE unsigned long long ordered_place(double x) {
  const unsigned long long bits = bits_of_double(x + 0.0);
  return bits >> 63 != 0 ? ~bits : bits | 1ULL << 63;
}

// Which of the ascending prefixes a place begins with; -1: none.
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
  unsigned waiting = 0;
  for (long long row = lane; row < job.rows; row += job.lanes) {
    const double x = job.values[column * job.rows + row];
    if (x != x) continue;
    const unsigned long long place = ordered_place(x) >> job.shift;
    const long long slot = slot_of(job.prefixes + column * job.slots, job.used[column], place >> 8);
    if (slot < 0) continue;
    const long long now = slot * 256 + static_cast<long long>(place & 255);
    if (now != last) {
      if (waiting > 0) atomic_add(counts + last, waiting);
      last = now;
      waiting = 0;
    }
    ++waiting;
  }
  if (waiting > 0) atomic_add(counts + last, waiting);
}

// i: counted column x lane.
ZWANG_INLINE void count_bins(const ResidentColumns& job, long long i) {
  const long long one = i / job.lanes, lane = i % job.lanes, column = job.counted[one];
  unsigned long long* counts = job.bin_counts + one * (job.bins + 2);
  long long last = 0;
  unsigned long long waiting = 0;
  for (long long row = lane; row < job.rows; row += job.lanes) {
    const double x = job.values[column * job.rows + row];
    if (x != x) continue;
    const long long now = histogram_place(job.edges, job.bins, job.per_width, x);
    if (now != last) {
      if (waiting > 0) atomic_add(counts + last, waiting);
      last = now;
      waiting = 0;
    }
    ++waiting;
  }
  if (waiting > 0) atomic_add(counts + last, waiting);
}

}  // namespace zwang
