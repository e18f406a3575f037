// Small symmetric matrices and sets of rows: an upper bound of the largest eigenvalue, the inverse, the span.
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"

namespace zwang {

// An upper bound of the largest eigenvalue of a symmetric matrix, the eighth root of |A^8| (Frobenius): at
// most m^(1/16) times the eigenvalue. Overwrites the matrix.
template <class Real, int most>
ZWANG_COLD Real eigenvalue_bound(int m, Real (&matrix)[most][most]) {
  const auto size = [&] {
    Real squares = 0;
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < m; ++j) squares += square(matrix[i][j]);
    return sqrt(squares);
  };
  const Real unit = size();
  if (!(unit > 0)) return unit;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) matrix[i][j] /= unit;
  for (int power = 0; power < 3; ++power) {
    Real product[most][most];
    for (int i = 0; i < m; ++i)
      for (int j = 0; j <= i; ++j) {
        Real sum = 0;
        for (int l = 0; l < m; ++l) sum += matrix[i][l] * matrix[l][j];
        product[i][j] = product[j][i] = sum;
      }
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < m; ++j) matrix[i][j] = product[i][j];
  }
  return unit * sqrt(sqrt(sqrt(size())));
}

// The inverse of a positive definite matrix, in its place, by Gauss-Jordan elimination. False if pivot i is
// not above least[i].
template <class Real, int most>
ZWANG_DEVICE bool invert_positive(int m, const Real* least, Real (&matrix)[most][most]) {
  for (int p = 0; p < m; ++p) {
    if (!(matrix[p][p] > least[p])) return false;
    const Real pivot = 1 / matrix[p][p];
    matrix[p][p] = 1;
    for (int j = 0; j < m; ++j) matrix[p][j] *= pivot;
    for (int i = 0; i < m; ++i) {
      if (i == p) continue;
      const Real factor = matrix[i][p];
      matrix[i][p] = 0;
      for (int j = 0; j < m; ++j) matrix[i][j] -= factor * matrix[p][j];
    }
  }
  return true;
}

// An orthonormal basis of the span of rows; those that depend on earlier ones add nothing.
template <class Real, int n, int most>
struct SpanOfRows {
  int count = 0;
  Real vector[most < n ? most : n][n];

  // False where the span would have more than `most` dimensions.
  ZWANG_DEVICE bool add(const Real* row) {
    Real rest[n];
    const Real length = split(row, rest);
    if (!(length > sqrt(Precision<Real>::dependent) * norm<n>(row))) return true;
    if (count == (most < n ? most : n)) return count == n;
    for (int i = 0; i < n; ++i) vector[count][i] = rest[i] / length;
    ++count;
    return true;
  }
  // The part of a row across the span, and its length. Twice, which removes what rounding left.
  ZWANG_DEVICE Real split(const Real* row, Real* rest) const {
    copy<n>(row, rest);
    for (int pass = 0; pass < 2; ++pass)
      for (int j = 0; j < count; ++j) add_multiple<n>(-dot<n>(vector[j], rest), vector[j], rest);
    return norm<n>(rest);
  }
};

}  // namespace zwang
