// Central moments up to fourth order, minimum and maximum, for sixteen columns at a time.
//
// Members are divided into blocks of 256 consecutive numbers. A block is computed in two passes; blocks are
// then merged in a fixed binary tree over their numbers, so that results do not depend on threads, batches or
// shards.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <span>

#include "kernels/reduce/reduce_layout.h"

namespace zwang {

constexpr int block_members = reduced_block;  // the leaves of the tree: members [256 k, 256 (k + 1))
constexpr int tile_columns = 16;  // 128 bytes of a row: two cache lines, so that reading rows stays fast

// The moments of sixteen columns over some members. NaN is missing and not counted. Infinite values are
// counted and enter minimum and maximum; the moments are over the finite values.
//
// The mean is stored as two numbers, a value of the data (pivot) and the mean difference from it (offset).
// Their sum would lose the digits that a merge needs for a small spread about a large value.
struct TileMoments {
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  TileMoments() {
    minimum.fill(infinity);
    maximum.fill(-infinity);
  }

  using Lanes = std::array<double, tile_columns>;
  using Counts = std::array<long long, tile_columns>;
  Counts finite{}, above{}, below{};  // finite values, +inf, -inf
  Lanes pivot{}, offset{};            // mean = pivot + offset
  Lanes m2{}, m3{}, m4{};             // sums of (x - mean)^p
  Lanes minimum, maximum;
};

// rows: block_members x tile_columns, member by member; absent members are rows of NaN.
TileMoments block_moments(std::span<const double> rows);

// One column in the layout of the kernels.
ColumnPart column_of(const TileMoments& tile, std::size_t column);
void set_column(TileMoments& tile, std::size_t column, const ColumnPart& part);

// `left` has the smaller member numbers.
TileMoments merged_moments(const TileMoments& left, const TileMoments& right);

// Moments of one column. Undefined numbers (no member, one member, no spread) are NaN.
struct Moments {
  long long count = 0;     // values, infinite ones included
  long long infinite = 0;  // of these
  double mean = 0;
  double std = 0;             // of the sample: divided by count - 1
  double standard_error = 0;  // of the mean, members independent: std / sqrt(count)
  double skewness = 0;        // g1 = sqrt(n) M3 / M2^(3/2)
  double kurtosis = 0;        // excess, g2 = n M4 / M2^2 - 3: 0 for a normal distribution
  double minimum = 0, maximum = 0;
};

Moments column_moments(const TileMoments& tile, std::size_t column);

}  // namespace zwang
