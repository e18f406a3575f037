// The multipliers of rows of which some may depend on the others linearly, as those of four corners on a floor: contacts
// share the load as if all had the same compliance [friction-15].
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/dense_solve.h"

namespace zwang {

// Rows u_j, and the pushes p_j of their multipliers: the same rows, and where a contact slips, with its friction. Wanted
// is the solution of
//   sum_j (u_i . p_j) x_j = right_i for all i
// that is perpendicular to every dependence of the rows, x_j = u_j . w with w in their span. With an orthonormal basis b_s
// of the span, u_j = sum_s along_js b_s and w = sum_s c_s b_s, the unknowns are the c_s, no more than coordinates:
//   sum_s (sum_j (b_r . p_j) along_js) c_s = d_r,  right_i = sum_r along_ir d_r.
template <class Real, int most, int n>
struct SharedLoad {
  int rank = 0;
  Real basis[n][n], along[most][n];
  int pivot[n];  // the rows of which the basis was made, in that order

  // The row farthest from the span of those before it, in units of its length, is the next of the basis. Those that are
  // closer than `threshold` depend on them.
  ZWANG_COLD void find_span(int count, const Real (*u)[n], Real threshold) {
    Real outside[most], inverse[most];  // squared distances from the span, and the inverse of squared lengths
    for (int j = 0; j < count; ++j) {
      outside[j] = dot<n>(u[j], u[j]);
      inverse[j] = 1 / maximum(outside[j], Precision<Real>::tiny);
    }
    for (rank = 0; rank < n && rank < count; ++rank) {
      int farthest = 0;
      for (int j = 1; j < count; ++j)
        if (outside[j] * inverse[j] > outside[farthest] * inverse[farthest]) farthest = j;
      if (!(outside[farthest] * inverse[farthest] > square(threshold))) break;
      add_to_basis(u[farthest]);
      pivot[rank] = farthest;
      for (int j = 0; j < count; ++j) {
        along[j][rank] = dot<n>(basis[rank], u[j]);
        outside[j] -= square(along[j][rank]);
      }
      outside[farthest] = 0;
    }
  }

  // `pushes_alike[j]`: p_j is u_j, and pushed[j] is not read.
  ZWANG_COLD void solve(int count, const bool* pushes_alike, const Real (*pushed)[n], const Real* right,
                        Real* x) const {
    Real matrix[n][n], d[n], c[n], scale[n];
    for (int r = 0; r < rank; ++r) {
      scale[r] = 0;
      for (int s = 0; s < rank; ++s) matrix[r][s] = 0;
      d[r] = right[pivot[r]];
      for (int s = 0; s < r; ++s) d[r] -= along[pivot[r]][s] * d[s];
      d[r] /= along[pivot[r]][r];
    }
    for (int j = 0; j < count; ++j)
      for (int r = 0; r < rank; ++r) {
        const Real part = pushes_alike[j] ? along[j][r] : dot<n>(basis[r], pushed[j]);
        for (int s = 0; s < rank; ++s) matrix[r][s] += part * along[j][s];
        scale[r] += square(along[j][r]);
      }
    for (int r = 0; r < rank; ++r) scale[r] = sqrt(maximum(scale[r], Precision<Real>::tiny));
    solve_dense(rank, matrix, d, scale, Precision<Real>::dependent, c);
    for (int j = 0; j < count; ++j) {
      x[j] = 0;
      for (int s = 0; s < rank; ++s) x[j] += along[j][s] * c[s];
    }
  }

 private:
  // Gram-Schmidt, twice: orthogonal to rounding.
  ZWANG_DEVICE void add_to_basis(const Real* u) {
    Real* made = basis[rank];
    copy<n>(u, made);
    for (int pass = 0; pass < 2; ++pass)
      for (int s = 0; s < rank; ++s) add_multiple<n>(-dot<n>(basis[s], made), basis[s], made);
    const Real length = norm<n>(made);
    for (int i = 0; i < n; ++i) made[i] /= length;
  }
};

}  // namespace zwang
