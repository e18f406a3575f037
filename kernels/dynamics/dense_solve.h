// Dense linear systems of a few rows that may be linearly dependent: the null space, the solve, and the solution in
// which dependent rows share a load.
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"

namespace zwang {

// An orthonormal basis of the null space of a matrix: the linear dependences of its columns.
template <class Real, int most>
struct NullSpace {
  int count = 0;
  Real vector[most][most];  // [dependence][column]

  // Gauss-Jordan elimination with complete pivoting, of columns of unit length; the columns without a pivot span the
  // null space. Columns closer than `threshold` to the span of others depend on them; that distance has the rounding of
  // the columns, whereas pivots of Phi are its square and have the rounding of 1. `columns` is overwritten.
  template <int n>
  ZWANG_COLD void find(int many, Real (&columns)[most][n], Real threshold) {
    Real inverse[most];  // of the lengths
    int row_at[n], column_at[most], rank = 0;
    for (int i = 0; i < n; ++i) row_at[i] = i;
    for (int j = 0; j < many; ++j) {
      column_at[j] = j;
      inverse[j] = 1 / maximum(norm<n>(columns[j]), Precision<Real>::tiny);
      for (int i = 0; i < n; ++i) columns[j][i] *= inverse[j];
    }
    for (; rank < many && rank < n; ++rank) {
      Real largest = 0;
      int best_row = rank, best_column = rank;
      for (int i = rank; i < n; ++i)
        for (int j = rank; j < many; ++j) {
          const Real size = absolute(columns[column_at[j]][row_at[i]]);
          if (!(size > largest)) continue;
          largest = size;
          best_row = i;
          best_column = j;
        }
      if (!(largest > threshold)) break;
      swap(row_at, rank, best_row);
      swap(column_at, rank, best_column);
      const int p = row_at[rank], q = column_at[rank];
      const Real pivot = 1 / columns[q][p];
      for (int i = 0; i < n; ++i) {
        if (i == p) continue;
        const Real factor = columns[q][i] * pivot;
        for (int j = 0; j < many; ++j)
          if (j != q) columns[j][i] -= factor * columns[j][p];
        columns[q][i] = 0;
      }
    }
    count = many - rank;
    for (int m = 0; m < count; ++m) {
      Real* made = vector[m];
      const int column = column_at[rank + m];
      for (int j = 0; j < many; ++j) made[j] = 0;
      made[column] = inverse[column];
      for (int p = 0; p < rank; ++p)
        made[column_at[p]] =
            -inverse[column_at[p]] * columns[column][row_at[p]] / columns[column_at[p]][row_at[p]];
      make_orthonormal(m, many);
    }
  }

 private:
  ZWANG_DEVICE void make_orthonormal(int m, int many) {
    for (int pass = 0; pass < 2; ++pass)
      for (int other = 0; other < m; ++other) {
        Real along = 0;
        for (int j = 0; j < many; ++j) along += vector[m][j] * vector[other][j];
        for (int j = 0; j < many; ++j) vector[m][j] -= along * vector[other][j];
      }
    Real squares = 0;
    for (int j = 0; j < many; ++j) squares += square(vector[m][j]);
    const Real length = sqrt(squares);
    for (int j = 0; j < many; ++j) vector[m][j] /= length;
  }
  ZWANG_INLINE static void swap(int* list, int i, int j) {
    const int kept = list[i];
    list[i] = list[j];
    list[j] = kept;
  }
};

// Solves matrix x = right by elimination with complete pivoting; scale[i] is the size of row and column i. Unknowns
// whose pivots, relative to these sizes, are below `threshold` are 0. Overwrites matrix and right; returns the rank.
template <class Real, int most>
ZWANG_COLD int solve_dense(int m, Real (&matrix)[most][most], Real* right, const Real* scale, Real threshold,
                           Real* x) {
  int row_at[most], column_at[most], rank = 0;
  Real inverse[most];  // of the sizes: divisions are slow
  for (int i = 0; i < m; ++i) {
    row_at[i] = column_at[i] = i;
    inverse[i] = 1 / scale[i];
  }
  // The largest entry that is left, found while the entries are computed.
  Real largest = 0;
  int best_row = 0, best_column = 0;
  const auto compare = [&](Real entry, int i, int j) {
    if (!(absolute(entry) > largest)) return;
    largest = absolute(entry);
    best_row = i;
    best_column = j;
  };
  for (int i = 0; i < m; ++i) {
    right[i] *= inverse[i];
    for (int j = 0; j < m; ++j) {
      matrix[i][j] *= inverse[i] * inverse[j];
      compare(matrix[i][j], i, j);
    }
  }
  for (; rank < m; ++rank) {
    if (!(largest > threshold)) break;
    const int p = row_at[best_row], q = column_at[best_column];
    row_at[best_row] = row_at[rank];
    row_at[rank] = p;
    column_at[best_column] = column_at[rank];
    column_at[rank] = q;
    const Real pivot = 1 / matrix[p][q];
    largest = 0;
    for (int i = rank + 1; i < m; ++i) {
      const int r = row_at[i];
      const Real factor = matrix[r][q] * pivot;
      for (int j = rank + 1; j < m; ++j) {
        Real& entry = matrix[r][column_at[j]];
        entry -= factor * matrix[p][column_at[j]];
        compare(entry, i, j);
      }
      right[r] -= factor * right[p];
    }
  }
  for (int j = 0; j < m; ++j) x[j] = 0;
  for (int i = rank - 1; i >= 0; --i) {
    const int p = row_at[i], q = column_at[i];
    Real sum = right[p];
    for (int j = i + 1; j < rank; ++j) sum -= matrix[p][column_at[j]] * x[column_at[j]];
    x[q] = sum / matrix[p][q];
  }
  for (int j = 0; j < m; ++j) x[j] *= inverse[j];
  return rank;
}

// How contacts of equal compliance share a load. With the dependences w of the rows, the left null vectors of `matrix`,
// (matrix + size w w^T) x = right has the solution of matrix x = right that is perpendicular to every w, which is the
// limit of (matrix + c I) x = right for c -> 0 [friction-15].
template <class Real, int most>
ZWANG_DEVICE void add_dependences(const NullSpace<Real, most>& dependences, int m, const Real* scale,
                                  Real (&matrix)[most][most]) {
  Real size = 0;
  for (int i = 0; i < m; ++i) size += square(scale[i]) / Real(m);
  for (int d = 0; d < dependences.count; ++d)
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < m; ++j) matrix[i][j] += size * dependences.vector[d][i] * dependences.vector[d][j];
}

}  // namespace zwang
