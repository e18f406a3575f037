#include "host/estimators/moments.h"

#include <algorithm>
#include <cmath>

#include "host/estimators/nan.h"
#include "kernels/reduce/moments.h"

namespace zwang {

namespace {

constexpr double largest = std::numeric_limits<double>::max();

// Four columns at a time in two 16-byte vectors, which every target supports. Lanes are independent, so the
// bits do not depend on the vector width. Explicit vectors, because the compiler does not vectorise these
// loops at -O2.
typedef double Vector __attribute__((vector_size(16)));
typedef long long Bits __attribute__((vector_size(16)));
constexpr int width = 4;
constexpr std::ptrdiff_t row_length = tile_columns;

struct Strip {
  Vector part[2];
  double lane(int k) const { return part[k / 2][k % 2]; }
  void set_lane(int k, double value) { part[k / 2][k % 2] = value; }
};

Vector loaded(const double* from) { return Vector{from[0], from[1]}; }
Bits finite_lanes(Vector x) { return (x <= largest) & (x >= -largest); }

// Results of the first pass over a block.
struct FirstPass {
  Strip pivot{}, sum{}, minimum{}, maximum{};
  Bits finite[2] = {};
  long long count(int lane) const { return finite[lane / 2][lane % 2]; }
};

FirstPass first_pass(const double* rows) {
  FirstPass pass;

  // The first finite value is the pivot: constant columns give exact zeros, and large offsets cost no digits.
  for (int lane = 0; lane < width; ++lane) {
    int row = 0;
    while (row < block_members - 1 && !reduced_finite(rows[row * tile_columns + lane])) ++row;
    const double first = rows[row * tile_columns + lane];
    pass.pivot.set_lane(lane, reduced_finite(first) ? first : 0);
    pass.minimum.set_lane(lane, TileMoments::infinity);
    pass.maximum.set_lane(lane, -TileMoments::infinity);
  }

  for (int row = 0; row < block_members; ++row) {
    for (int half = 0; half < 2; ++half) {
      const Vector x = loaded(rows + row_length * row + std::ptrdiff_t{2} * half);
      const Bits counts = finite_lanes(x);
      pass.finite[half] -= counts;  // true is -1
      pass.sum.part[half] += counts ? x - pass.pivot.part[half] : Vector{};
      pass.minimum.part[half] = x < pass.minimum.part[half] ? x : pass.minimum.part[half];
      pass.maximum.part[half] = x > pass.maximum.part[half] ? x : pass.maximum.part[half];
    }
  }
  return pass;
}

// Sums of powers of the differences from the mean.
struct SecondPass {
  Strip s1{}, s2{}, s3{}, s4{};
};

SecondPass second_pass(const double* rows, const Strip& pivot, const Strip& offset) {
  SecondPass pass;
  for (int row = 0; row < block_members; ++row) {
    for (int half = 0; half < 2; ++half) {
      const Vector x = loaded(rows + row_length * row + std::ptrdiff_t{2} * half);
      const Vector d = finite_lanes(x) ? (x - pivot.part[half]) - offset.part[half] : Vector{};
      const Vector d2 = d * d;
      pass.s1.part[half] += d;
      pass.s2.part[half] += d2;
      pass.s3.part[half] += d2 * d;
      pass.s4.part[half] += d2 * d2;
    }
  }
  return pass;
}

void count_infinities(const double* rows, int column, TileMoments& moments) {
  for (int row = 0; row < block_members; ++row) {
    const double x = rows[row * tile_columns + column];
    moments.above[column] += x > largest;
    moments.below[column] += x < -largest;
  }
}

}  // namespace

TileMoments block_moments(std::span<const double> rows) {
  TileMoments moments;
  for (int begin = 0; begin < tile_columns; begin += width) {
    const double* strip = rows.data() + begin;
    const FirstPass first = first_pass(strip);
    Strip offset{};
    for (int lane = 0; lane < width; ++lane) {
      if (first.count(lane) > 0) offset.set_lane(lane, first.sum.lane(lane) / double(first.count(lane)));
    }
    const SecondPass second = second_pass(strip, first.pivot, offset);

    for (int lane = 0; lane < width; ++lane) {
      const int c = begin + lane;
      moments.finite[c] = first.count(lane);
      moments.minimum[c] = first.minimum.lane(lane);
      moments.maximum[c] = first.maximum.lane(lane);
      if (moments.finite[c] < block_members) count_infinities(rows.data(), c, moments);
      if (moments.finite[c] == 0) continue;

      // The rounded mean has an error e = s1/n. The second moment is corrected for it; for the third and
      // fourth the correction 3 e M2 is below their rounding.
      const double s1 = second.s1.lane(lane);
      moments.pivot[c] = first.pivot.lane(lane);
      moments.offset[c] = offset.lane(lane);
      moments.m2[c] = std::max(0.0, second.s2.lane(lane) - s1 * s1 / double(moments.finite[c]));
      moments.m3[c] = second.s3.lane(lane);
      moments.m4[c] = second.s4.lane(lane);
    }
  }
  return moments;
}

ColumnPart column_of(const TileMoments& tile, std::size_t c) {
  return {tile.finite[c], tile.above[c], tile.below[c], tile.pivot[c],   tile.offset[c],
          tile.m2[c],     tile.m3[c],    tile.m4[c],    tile.minimum[c], tile.maximum[c]};
}

void set_column(TileMoments& tile, std::size_t c, const ColumnPart& part) {
  tile.finite[c] = part.finite;
  tile.above[c] = part.above;
  tile.below[c] = part.below;
  tile.pivot[c] = part.pivot;
  tile.offset[c] = part.offset;
  tile.m2[c] = part.m2;
  tile.m3[c] = part.m3;
  tile.m4[c] = part.m4;
  tile.minimum[c] = part.minimum;
  tile.maximum[c] = part.maximum;
}

TileMoments merged_moments(const TileMoments& left, const TileMoments& right) {
  TileMoments sum;
  for (std::size_t c = 0; c < tile_columns; ++c)
    set_column(sum, c, merged_parts_of_column(column_of(left, c), column_of(right, c)));
  return sum;
}

Moments column_moments(const TileMoments& tile, std::size_t c) {
  Moments moments;
  moments.infinite = tile.above[c] + tile.below[c];
  moments.count = tile.finite[c] + moments.infinite;
  moments.mean = moments.std = moments.standard_error = moments.skewness = moments.kurtosis = nan;
  moments.minimum = moments.count > 0 ? tile.minimum[c] : nan;
  moments.maximum = moments.count > 0 ? tile.maximum[c] : nan;

  // With an infinite value the mean is infinite (or undefined, with both signs) and no spread exists.
  if (moments.infinite > 0) {
    if (tile.below[c] == 0) moments.mean = TileMoments::infinity;
    if (tile.above[c] == 0) moments.mean = -TileMoments::infinity;
    return moments;
  }
  if (moments.count == 0) return moments;

  const double n = double(moments.count), m2 = tile.m2[c];
  moments.mean = tile.pivot[c] + tile.offset[c];
  if (moments.count < 2) return moments;
  moments.std = std::sqrt(m2 / (n - 1));
  moments.standard_error = moments.std / std::sqrt(n);

  // Without spread, skewness and kurtosis are undefined. They are also left out if powers underflow: the
  // fourth power of a difference of 1e-80 has lost most of its digits.
  const double smallest = std::numeric_limits<double>::min() / std::numeric_limits<double>::epsilon();
  const double variance = m2 / n;
  if (!(variance * variance > smallest) || !std::isfinite(tile.m4[c])) return moments;
  moments.skewness = tile.m3[c] / n / (variance * std::sqrt(variance));
  moments.kurtosis = tile.m4[c] / n / (variance * variance) - 3;
  return moments;
}

}  // namespace zwang
