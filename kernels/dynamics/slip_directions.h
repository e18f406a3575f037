// The directions of slips that begin in space, for given choices of a contact problem (dynamics/contact_rows.h). The
// reference is src/laws/slip_directions.cpp.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/dynamics/contact_rows.h"
#include "kernels/dynamics/dense_solve.h"
#include "kernels/dynamics/direction_roots.h"
#include "kernels/dynamics/member.h"

namespace zwang {

template <class M>
struct SlipDirections : ContactRows<M> {
  using Base = ContactRows<M>;
  using Real = typename M::Real;
  using Unit = typename Base::Unit;
  using Solution = typename Base::Solution;
  using Base::phi, Base::set_directions, Base::slack, Base::solve_linear, Base::unit, Base::units;
  static constexpr int rows = M::rows;

  ZWANG_COLD void solve(Solution& at) const {
    set_directions(at);
    solve_linear(at);
    if constexpr (slips_in_space<typename M::Model>()) find_directions(at);
  }

  // Calls visit(solution) for every solution of the choice `at`: several where contacts begin to slip in space.
  template <class Visit>
  ZWANG_DEVICE void each_solution(Solution& at, const Visit& visit) const {
    if constexpr (slips_in_space<typename M::Model>()) {
      DirectionRoots<Real> all;
      int sought[rows];
      if (reduce(at, sought, all)) {
        all.find();
        for (int m = 0; m < all.roots; ++m) {
          for (int j = 0; j < all.count; ++j)
            for (int c = 0; c < 2; ++c) at.d[sought[j]][c] = all.root[m][j][c];
          solve_linear(at);
          visit(at);
        }
        if (all.roots > 0) return;
      }
    }
    solve(at);
    visit(at);
  }

  // The problem of the directions alone. False where there are none to be found, too many, or where the other rows
  // cannot be solved without the friction of these contacts.
  ZWANG_COLD bool reduce(Solution& at, int* sought, DirectionRoots<Real>& all) const {
    for (int k = 0; k < units; ++k) {
      if (!seeks_direction(k, at)) continue;
      if (all.count == all.most) return false;
      sought[all.count++] = k;
    }
    if (all.count == 0) return false;
    set_directions(at);
    typename Base::Unknowns held;
    Base::list_unknowns(at, held);
    // Without friction of the contacts sought: their directions are zero so far. Column 0: Phi0, then the slip rows.
    Real solved[2 * DirectionRoots<Real>::most + 1][rows];
    for (int column = 0; column <= 2 * all.count; ++column) {
      const int t = column == 0 ? -1 : unit[sought[(column - 1) / 2]].row + 1 + (column - 1) % 2;
      if (!Base::solve_unknowns(at, held, t, solved[column])) return false;
    }
    for (int i = 0; i < all.count; ++i) {
      const Unit& of = unit[sought[i]];
      all.mu[i] = of.cone;
      all.b[i] = solved[0][held.first[sought[i]]];
      for (int p = 0; p < 2; ++p) {
        const int row = of.row + 1 + p;
        all.a[i][p] = Base::without_unknowns(at, row) - along_held(at, held, row, solved[0]);
        for (int j = 0; j < all.count; ++j)
          for (int q = 0; q < 2; ++q) {
            all.c[i][j][q] = solved[1 + 2 * j + q][held.first[sought[i]]];
            all.e[i][j][p][q] =
                phi[row][unit[sought[j]].row + 1 + q] - along_held(at, held, row, solved[1 + 2 * j + q]);
          }
      }
    }
    return true;
  }
  // The unknown multipliers x times their columns of Phi, with the friction of contacts whose direction is known.
  ZWANG_DEVICE Real along_held(const Solution& at, const typename Base::Unknowns& held, int row,
                               const Real* x) const {
    Real sum = 0;
    for (int j = 0; j < held.count; ++j) sum += Base::column_entry(at, held, row, j) * x[j];
    return sum;
  }

  // [friction-7] Slip in space that begins now goes where r_T points: d = r_T(d)/|r_T(d)|. Projected iterations come
  // near the solution; they turn ever slower where contacts are coupled, so Newton's method ends them.
  ZWANG_COLD void find_directions(Solution& at) const {
    int sought[rows], many = 0;
    for (int k = 0; k < units; ++k)
      if (seeks_direction(k, at)) sought[many++] = k;
    Real moved = many > 0 ? Real(1) : Real(0);
    for (int pass = 0; pass < 200 && moved > Real(1e-3); ++pass) {
      moved = 0;
      for (int j = 0; j < many; ++j) {
        const int k = sought[j], t = unit[k].row + 1;
        const Real weight = maximum(phi[t][t], phi[t + 1][t + 1]),
                   size = unit[k].cone * at.lambda[unit[k].row];
        const Real x = size * at.d[k][0] + at.residual[t] / weight,
                   y = size * at.d[k][1] + at.residual[t + 1] / weight, length = sqrt(x * x + y * y);
        // A slip within rounding of zero has no direction: that of the force stays.
        const bool begins =
            absolute(at.residual[t]) > slack[t] || absolute(at.residual[t + 1]) > slack[t + 1];
        if (!(length > 0) || (!begins && (at.d[k][0] != 0 || at.d[k][1] != 0))) continue;
        moved = maximum(moved, maximum(absolute(x / length - at.d[k][0]), absolute(y / length - at.d[k][1])));
        at.d[k][0] = x / length;
        at.d[k][1] = y / length;
      }
      solve_linear(at);
    }
    if (many > 0) polish_directions(sought, many, at);
  }
  // The slip across the direction of each unit sought, and the largest of them.
  ZWANG_DEVICE Real slip_across(const int* sought, int many, const Solution& at, Real* across) const {
    Real largest = 0;
    for (int j = 0; j < many; ++j) {
      const int k = sought[j], t = unit[k].row + 1;
      across[j] = at.d[k][0] * at.residual[t + 1] - at.d[k][1] * at.residual[t];
      largest = maximum(largest, absolute(across[j]));
    }
    return largest;
  }
  ZWANG_DEVICE static void turn(Real angle, Real* d) {
    const Real x = d[0] - angle * d[1], y = d[1] + angle * d[0], length = sqrt(x * x + y * y);
    d[0] = x / length;
    d[1] = y / length;
  }
  // Newton's method in the angles, derivatives by differences; each step must lessen the slip across.
  ZWANG_COLD void polish_directions(const int* sought, int many, Solution& at) const {
    const Real small = sqrt(Precision<Real>::epsilon);
    Real across[rows], turned[rows], matrix[rows][rows], step[rows];
    Real size = slip_across(sought, many, at, across);
    for (int pass = 0; pass < 20 && size > 0; ++pass) {
      Solution next;
      for (int j = 0; j < many; ++j) {
        next = at;
        turn(small, next.d[sought[j]]);
        solve_linear(next);
        slip_across(sought, many, next, turned);
        for (int i = 0; i < many; ++i) matrix[i][j] = (turned[i] - across[i]) / small;
        step[j] = -across[j];
      }
      eliminate(many, matrix, step);
      next = at;
      Real largest = 0;
      for (int j = 0; j < many; ++j) {
        turn(maximum(minimum(step[j], Real(0.5)), Real(-0.5)), next.d[sought[j]]);
        largest = maximum(largest, absolute(step[j]));
      }
      solve_linear(next);
      const Real left = slip_across(sought, many, next, turned);
      if (!(left < size)) return;
      at = next;
      size = left;
      for (int j = 0; j < many; ++j) across[j] = turned[j];
      // The next step would be rounding.
      if (largest <= small) return;
    }
  }
  // Solves matrix x = right for x, in the place of `right`. Angles that nothing determines stay: contacts whose rows are
  // dependent turn together.
  ZWANG_DEVICE static void eliminate(int size, Real (&matrix)[rows][rows], Real* right) {
    Real x[rows], scale[rows], largest = Precision<Real>::tiny;
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j) largest = maximum(largest, absolute(matrix[i][j]));
    for (int i = 0; i < size; ++i) scale[i] = sqrt(largest);
    // The entries are differences, exact to the root of rounding.
    solve_dense(size, matrix, right, scale, 100 * sqrt(Precision<Real>::epsilon), x);
    for (int i = 0; i < size; ++i) right[i] = x[i];
  }
  ZWANG_DEVICE bool seeks_direction(int k, const Solution& at) const {
    const Unit& of = unit[k];
    return of.kind == RowKind::contact && of.tangents == 2 && !of.moving && of.cone > 0 &&
           at.choice[k] == RowChoice::slip;
  }
};

}  // namespace zwang
