// Ranks of a column by Thrust's sort. Sorting and ranking are exact in any order, so they need not be our
// own; sums are, because their order decides their last digits.
//
// Compiled by nvcc for devices (thrust_module.cu), and by tests for Thrust's host backend.
#pragma once

#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include <cstddef>
#include <cstdint>

#include "kernels/reduce/resident_columns.h"

namespace zwang {

constexpr unsigned long long key_of_missing = ~0ULL;  // after the key of every number

struct OrderedKey {
  ZWANG_INLINE unsigned long long operator()(double x) const {
    return x != x ? key_of_missing : ordered_place(x);
  }
};
// The place itself if a run of equal keys begins (or ends) there, else the neutral element of the scan.
struct RunBegin {
  const unsigned long long* keys;
  ZWANG_INLINE std::uint32_t operator()(std::uint32_t k) const {
    return k == 0 || keys[k] != keys[k - 1] ? k : 0;
  }
};
struct RunEnd {
  const unsigned long long* keys;
  std::uint32_t count;
  ZWANG_INLINE std::uint32_t operator()(std::uint32_t k) const {
    return k + 1 == count || keys[k] != keys[k + 1] ? k + 1 : count;
  }
};
// Twice the mean rank, counted from 1, of the values at places first + 1 ... last.
struct DoubledRank {
  ZWANG_INLINE std::uint32_t operator()(std::uint32_t first, std::uint32_t last) const {
    return first + 1 + last;
  }
};
struct IsMissing {
  ZWANG_INLINE bool operator()(unsigned long long key) const { return key == key_of_missing; }
};
struct Larger {
  ZWANG_INLINE std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a > b ? a : b; }
};
struct Smaller {
  ZWANG_INLINE std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a < b ? a : b; }
};

// `values` and `ranks` are in host memory; at most 2^30 rows. Ranks as in
// host/estimators/rank_correlation.cpp: twice the mean rank, 0 for NaN. Returns the number of values that are
// not NaN.
inline std::size_t rank_by_thrust(const double* values, std::size_t rows, std::uint32_t* ranks) {
  thrust::device_vector<unsigned long long> keys(rows);
  {
    const thrust::device_vector<double> column(values, values + rows);
    thrust::transform(column.begin(), column.end(), keys.begin(), OrderedKey{});
  }
  thrust::device_vector<std::uint32_t> row(rows);
  thrust::sequence(row.begin(), row.end());
  thrust::sort_by_key(keys.begin(), keys.end(), row.begin());
  const std::size_t present =
      rows - static_cast<std::size_t>(thrust::count_if(keys.begin(), keys.end(), IsMissing{}));

  // Begin and end of the run of equal values at each place.
  const unsigned long long* sorted = thrust::raw_pointer_cast(keys.data());
  const auto count = static_cast<std::uint32_t>(present);
  const auto places = thrust::counting_iterator<std::uint32_t>(0);
  const auto begins = thrust::make_transform_iterator(places, RunBegin{sorted});
  const auto ends = thrust::make_transform_iterator(places, RunEnd{sorted, count});
  thrust::device_vector<std::uint32_t> first(present), last(present);
  thrust::inclusive_scan(begins, begins + count, first.begin(), Larger{});
  const auto from_behind = thrust::make_reverse_iterator(ends + count);
  thrust::inclusive_scan(from_behind, from_behind + count, thrust::make_reverse_iterator(last.end()),
                         Smaller{});
  thrust::transform(first.begin(), first.end(), last.begin(), first.begin(), DoubledRank{});

  thrust::device_vector<std::uint32_t> found(rows, 0);
  thrust::scatter(first.begin(), first.end(), row.begin(), found.begin());
  thrust::copy(found.begin(), found.end(), ranks);
  return present;
}

}  // namespace zwang
