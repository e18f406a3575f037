// Elimination of the conditions of a long system: L D L^T of Phi along index tables, so that the code has the
// same length for any number of conditions, and a chain or a tree costs one division and a few products per
// condition.
//
// A Plan states the order and the fill, found once when the model is emitted (src/emit/elimination.h):
//   size          conditions
//   entries       numbers stored: Phi_cc of condition c at place c, then the entries below the diagonal
//   order(p)      the condition eliminated as number p
//   first(p)      its entries below the diagonal are numbers first(p) to first(p + 1) - 1:
//     row(e)      the condition of that row, eliminated later
//     place(e)    where the entry is stored
//   target(pair)  where the product of two entries of a pivot goes, in the order in which pairs are met
#pragma once

#include "kernels/base/portable.h"

namespace zwang {

// Replaces Phi by its factors: at place c the inverse of the pivot, below it L. `right` becomes L^-1 right.
//
// A row that is not held has a zero diagonal, and the pivot of a row that depends on earlier rows is only
// rounding: a share of the diagonal entry below `dependent`. Both get the inverse 0, and with it the
// multiplier 0.
template <class Plan, class R>
ZWANG_COLD void factor_held(R dependent, R* phi, R* right) {
  R noise[Plan::size];
  for (int c = 0; c < Plan::size; ++c) noise[c] = dependent * phi[c];
  int pair = 0;
  for (int p = 0; p < Plan::size; ++p) {
    const int c = Plan::order(p), begin = Plan::first(p), end = Plan::first(p + 1);
    const R pivot = phi[c], inverse = if_less(noise[c], pivot, R(1) / pivot, R(0));
    phi[c] = inverse;
    for (int e = begin; e < end; ++e) {
      const int row = Plan::row(e);
      const R below = phi[Plan::place(e)], l = below * inverse;
      phi[row] = phi[row] - l * below;
      right[row] = right[row] - l * right[c];
      for (int before = begin; before < e; ++before) {
        const int target = Plan::target(pair++);
        phi[target] = phi[target] - l * phi[Plan::place(before)];
      }
    }
    for (int e = begin; e < end; ++e) phi[Plan::place(e)] = phi[Plan::place(e)] * inverse;
  }
}

// x, holding L^-1 b, becomes Phi^-1 b.
template <class Plan, class R>
ZWANG_COLD void solve_factored(const R* phi, R* x) {
  for (int p = Plan::size - 1; p >= 0; --p) {
    const int c = Plan::order(p), end = Plan::first(p + 1);
    R value = x[c] * phi[c];
    for (int e = Plan::first(p); e < end; ++e) value = value - phi[Plan::place(e)] * x[Plan::row(e)];
    x[c] = value;
  }
}

// Phi lambda = b [mayer-17]; lambda is given as b.
template <class Plan, class R>
ZWANG_INLINE void solve_held(R dependent, R* phi, R* lambda) {
  factor_held<Plan>(dependent, phi, lambda);
  solve_factored<Plan>(phi, lambda);
}

// The smallest ratio of a pivot to its diagonal entry, without pivots that are rounding: 1 for orthogonal
// rows, 0 where they become dependent. Destroys phi.
template <class Plan, class R>
ZWANG_COLD R smallest_pivot_share(R dependent, R* phi) {
  R diagonal[Plan::size], right[Plan::size];
  for (int c = 0; c < Plan::size; ++c) {
    diagonal[c] = phi[c];
    right[c] = R(0);
  }
  factor_held<Plan>(dependent, phi, right);
  R smallest = R(1);
  for (int c = 0; c < Plan::size; ++c) {
    const R share = if_less(R(0), phi[c], R(1) / (phi[c] * diagonal[c]), R(1));
    smallest = minimum(smallest, share);
  }
  return smallest;
}

}  // namespace zwang
