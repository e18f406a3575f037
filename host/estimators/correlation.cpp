#include "host/estimators/correlation.h"

#include <cmath>

#include "host/estimators/moments.h"
#include "host/estimators/nan.h"
#include "kernels/reduce/covariances.h"
#include "kernels/reduce/reduce_layout.h"

namespace zwang {

namespace {

// One column of a block, relative to its first value. Missing values are NaN.
struct BlockColumn {
  std::vector<double> from_pivot;
  bool complete = true;
  double mean = 0;  // of from_pivot, if complete
};

// Four partial sums, added in a fixed order: fast and reproducible bit by bit.
template <class Term>
double block_sum(const Term& term) {
  double sums[4] = {};
  for (std::size_t row = 0; row < block_members; row += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += term(row + lane);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

std::vector<BlockColumn> block_columns(std::span<const double> rows, CoMoments& moments) {
  const std::size_t columns = moments.columns;
  std::vector<BlockColumn> made(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    BlockColumn& column = made[c];
    column.from_pivot.resize(block_members);
    for (std::size_t row = 0; row < block_members; ++row) {
      const double x = rows[row * columns + c];
      const bool present = std::isfinite(x);
      if (present && moments.known[c] == 0) {
        moments.known[c] = 1;
        moments.pivot[c] = x;
      }
      column.complete = column.complete && present;
      column.from_pivot[row] = present ? x - moments.pivot[c] : nan;
    }
    if (column.complete) {
      column.mean = block_sum([&](std::size_t k) { return column.from_pivot[k]; }) / block_members;
    }
  }
  return made;
}

// No value is missing: the means are known and only the sum of products remains.
void complete_pair(const BlockColumn& a, const BlockColumn& b, std::size_t pair, CoMoments& moments) {
  moments.count[pair] = block_members;
  moments.offset_i[pair] = a.mean;
  moments.offset_j[pair] = b.mean;
  moments.product[pair] =
      block_sum([&](std::size_t k) { return (a.from_pivot[k] - a.mean) * (b.from_pivot[k] - b.mean); });
}

void incomplete_pair(const BlockColumn& a, const BlockColumn& b, std::size_t pair, CoMoments& moments) {
  long long count = 0;
  double sum_a = 0, sum_b = 0;
  for (std::size_t k = 0; k < block_members; ++k) {
    if (std::isnan(a.from_pivot[k]) || std::isnan(b.from_pivot[k])) continue;
    ++count;
    sum_a += a.from_pivot[k];
    sum_b += b.from_pivot[k];
  }
  if (count == 0) return;
  const double mean_a = sum_a / double(count), mean_b = sum_b / double(count);
  double product = 0;
  for (std::size_t k = 0; k < block_members; ++k) {
    if (std::isnan(a.from_pivot[k]) || std::isnan(b.from_pivot[k])) continue;
    product += (a.from_pivot[k] - mean_a) * (b.from_pivot[k] - mean_b);
  }
  moments.count[pair] = count;
  moments.offset_i[pair] = mean_a;
  moments.offset_j[pair] = mean_b;
  moments.product[pair] = product;
}

RelatedPair pair_at(const CoMoments& moments, std::size_t pair) {
  return {moments.count[pair], moments.offset_i[pair], moments.offset_j[pair], moments.product[pair]};
}

}  // namespace

CoMoments::CoMoments(std::size_t n)
    : columns(n),
      known(n, 0),
      pivot(n, 0.0),
      count(pair_count(n), 0),
      offset_i(pair_count(n), 0.0),
      offset_j(pair_count(n), 0.0),
      product(pair_count(n), 0.0) {}

CoMoments block_comoments(std::span<const double> rows, std::size_t columns) {
  CoMoments moments(columns);
  const std::vector<BlockColumn> block = block_columns(rows, moments);
  for (std::size_t i = 0; i < columns; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const bool complete = block[i].complete && block[j].complete;
      (complete ? complete_pair : incomplete_pair)(block[i], block[j], pair_index(i, j), moments);
    }
  }
  return moments;
}

CoMoments merged_comoments(const CoMoments& left, const CoMoments& right) {
  CoMoments sum(left.columns);
  for (std::size_t c = 0; c < sum.columns; ++c) {
    sum.known[c] = left.known[c] != 0 || right.known[c] != 0;
    sum.pivot[c] = left.known[c] != 0 ? left.pivot[c] : right.pivot[c];
  }
  for (std::size_t i = 0; i < sum.columns; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const std::size_t pair = pair_index(i, j);
      const RelatedPair merged = merged_related_pair(
          pair_at(left, pair), pair_at(right, pair),
          {left.pivot[i], left.pivot[j], right.pivot[i], right.pivot[j], sum.pivot[i], sum.pivot[j]});
      sum.count[pair] = merged.count;
      sum.offset_i[pair] = merged.offset_i;
      sum.offset_j[pair] = merged.offset_j;
      sum.product[pair] = merged.product;
    }
  }
  return sum;
}

Matrix covariance_matrix(const CoMoments& moments) {
  const std::size_t n = moments.columns;
  Matrix matrix(n * n, nan);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const std::size_t pair = pair_index(i, j);
      if (moments.count[pair] < 2) continue;
      matrix[i * n + j] = matrix[j * n + i] = moments.product[pair] / double(moments.count[pair] - 1);
    }
  }
  return matrix;
}

}  // namespace zwang
