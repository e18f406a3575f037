// The equations of a contact problem (dynamics/contact_rows.h), eliminated: an orthonormal basis of the span of their
// rows in the mass metric. Other rows act across this span only, so that a problem of the contacts alone is left, and
// the multipliers of the equations follow from its solution.
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"

namespace zwang {

template <class Real, int n>
struct EquationSpan {
  int count = 0;
  Real vector[n][n];
  Real part[n][n];  // equation e is the sum over j <= e of part[e][j] vector[j]
  Real level[n];    // what the equations fix: their part of U^T lambda is the sum of level[j] vector[j]

  // Adds the equation u . U^T lambda = right. False where it nearly depends on those before.
  ZWANG_DEVICE bool add(const Real* u, Real right) {
    if (count == n) return false;
    Real *own = vector[count], *parts = part[count];
    for (int i = 0; i < n; ++i) own[i] = u[i];
    for (int j = 0; j < count; ++j) parts[j] = 0;
    const Real before = dot<n>(u, u);
    Real left = split(own, parts);
    // A short rest has the rounding of what was removed.
    if (!(left > Real(1e-2) * before)) left = split(own, parts);
    if (!(left > Real(1e-6) * before)) return false;
    const Real length = sqrt(left), inverse = 1 / length;
    for (int i = 0; i < n; ++i) own[i] *= inverse;
    for (int j = 0; j < count; ++j) right -= parts[j] * level[j];
    parts[count] = length;
    level[count++] = right * inverse;
    return true;
  }

  // Removes from a row its part along the equations; returns what they contribute to its product with U^T lambda.
  ZWANG_DEVICE Real remove_from(Real* u) const {
    Real sum = 0;
    for (int j = 0; j < count; ++j) {
      const Real along = dot<n>(vector[j], u);
      add_multiple<n>(-along, vector[j], u);
      sum += along * level[j];
    }
    return sum;
  }

  // The multipliers of the equations, by equation, where other rows add `push` to U^T lambda.
  ZWANG_DEVICE void solve(const Real* push, Real* lambda) const {
    for (int e = count - 1; e >= 0; --e) {
      Real sum = level[e] - dot<n>(vector[e], push);
      for (int j = e + 1; j < count; ++j) sum -= part[j][e] * lambda[j];
      lambda[e] = sum / part[e][e];
    }
  }

 private:
  // Removes from a row its parts along the vectors, adds them to `parts`, and returns the square of the rest.
  ZWANG_DEVICE Real split(Real* row, Real* parts) const {
    for (int j = 0; j < count; ++j) {
      const Real along = dot<n>(vector[j], row);
      add_multiple<n>(-along, vector[j], row);
      parts[j] += along;
    }
    return dot<n>(row, row);
  }
};

}  // namespace zwang
