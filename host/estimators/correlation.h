// Covariances of a set of columns, mergeable like the moments.
//
// The covariance of a pair is over the members with finite values in both columns (pairwise complete), so a
// measure that is missing for most members does not affect the other pairs. The price is that a matrix with
// missing values need not be positive semidefinite.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace zwang {

// Sums of products about the means, for the pairs (i, j), j <= i, at i (i + 1) / 2 + j.
struct CoMoments {
  explicit CoMoments(std::size_t columns = 0);

  std::size_t columns = 0;
  std::vector<char> known;                 // by column: whether the pivot is set
  std::vector<double> pivot;               // by column: a value of the data; means are relative to it
  std::vector<long long> count;            // by pair: members with both
  std::vector<double> offset_i, offset_j;  // by pair: mean of column i (j) over these, relative to its pivot
  std::vector<double> product;             // by pair: sum of (x_i - mean_i) (x_j - mean_j)
};

constexpr std::size_t pair_index(std::size_t i, std::size_t j) { return i * (i + 1) / 2 + j; }
constexpr std::size_t pair_count(std::size_t columns) { return columns * (columns + 1) / 2; }

// rows: block_members x columns, member by member; missing values and absent members are NaN.
CoMoments block_comoments(std::span<const double> rows, std::size_t columns);

// `left` has the smaller member numbers.
CoMoments merged_comoments(const CoMoments& left, const CoMoments& right);

// A symmetric matrix of the columns, row by row.
using Matrix = std::vector<double>;

// Divided by count - 1; NaN if fewer than two members have both values.
Matrix covariance_matrix(const CoMoments& moments);

}  // namespace zwang
