// Multipliers of a choice whose rows are linearly dependent (dynamics/contact_rows.h). The motion is unique, the
// multipliers are not: the admissible ones of least norm represent them [friction-9]. The reference is
// src/laws/cone_multipliers.cpp.
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/contact_rows.h"
#include "kernels/dynamics/slip_directions.h"
#include "kernels/dynamics/widest_margin.h"

namespace zwang {

template <class M>
struct DependentChoice : SlipDirections<M> {
  using Base = SlipDirections<M>;
  using Real = typename M::Real;
  using Unit = typename Base::Unit;
  using Solution = typename Base::Solution;
  using Base::complete, Base::is_admissible, Base::solves_row, Base::solves_tangents, Base::u, Base::unit,
      Base::units;
  static constexpr int rows = M::rows, n = M::n;

  // The unknown multipliers of a choice, and the changes of them that move nothing.
  struct Unknowns {
    int count = 0, free_count = 0;
    int row[rows];          // by unknown
    int first[rows];        // by unit: its first unknown; -1: none
    Real lambda[rows];      // by unknown
    Real null[rows][rows];  // orthonormal
  };

  // Replaces the multipliers of a choice with dependent rows by admissible ones, where there are any.
  ZWANG_COLD void represent(Solution& at) const {
    Unknowns all;
    list_unknowns(at, all);
    find_null_space(at, all);
    if (all.free_count == 0) return;
    for (int m = 0; m < all.free_count; ++m) {
      Real along = 0;
      for (int j = 0; j < all.count; ++j) along += all.null[m][j] * all.lambda[j];
      for (int j = 0; j < all.count; ++j) all.lambda[j] -= along * all.null[m][j];
    }
    const Solution kept = at;
    Real x[rows];
    for (int j = 0; j < all.count; ++j) x[j] = all.lambda[j];
    if (accept(all, x, at)) return;
    project_into_cones(all, at, x);
    if (accept(all, x, at)) return;
    spread(all, at, x);
    if (!accept(all, x, at)) at = kept;
  }

 private:
  ZWANG_DEVICE bool accept(const Unknowns& all, const Real* x, Solution& at) const {
    for (int j = 0; j < all.count; ++j) at.lambda[all.row[j]] = x[j];
    complete(at);
    return is_admissible(at);
  }

  ZWANG_DEVICE void list_unknowns(const Solution& at, Unknowns& all) const {
    for (int k = 0; k < units; ++k) {
      const Unit& of = unit[k];
      all.first[k] = -1;
      if (!solves_row(of, at.choice[k])) continue;
      all.first[k] = all.count;
      all.row[all.count++] = of.row;
      for (int c = 1; c <= of.tangents && solves_tangents(of, at.choice[k]); ++c)
        all.row[all.count++] = of.row + c;
    }
    for (int j = 0; j < all.count; ++j) all.lambda[j] = at.lambda[all.row[j]];
  }

  // Gauss-Jordan elimination, with complete pivoting, of the forces per unit of each unknown. The unknowns without
  // pivot span the null space.
  ZWANG_COLD void find_null_space(const Solution& at, Unknowns& all) const {
    Real force[rows][n], length[rows];
    for (int j = 0; j < all.count; ++j) copy<n>(u[all.row[j]], force[j]);
    for (int k = 0; k < units; ++k) {
      if (all.first[k] < 0 || solves_tangents(unit[k], at.choice[k])) continue;
      for (int c = 0; c < unit[k].tangents; ++c)
        add_multiple<n>(unit[k].cone * at.d[k][c], u[unit[k].row + 1 + c], force[all.first[k]]);
    }
    int row_at[n], column_at[rows], rank = 0;
    for (int i = 0; i < n; ++i) row_at[i] = i;
    for (int j = 0; j < all.count; ++j) {
      column_at[j] = j;
      length[j] = maximum(norm<n>(force[j]), Precision<Real>::tiny);
    }
    for (; rank < all.count && rank < n; ++rank) {
      Real largest = 0;
      int best_row = rank, best_column = rank;
      for (int i = rank; i < n; ++i)
        for (int j = rank; j < all.count; ++j) {
          const Real share = absolute(force[column_at[j]][row_at[i]]) / length[column_at[j]];
          if (!(share > largest)) continue;
          largest = share;
          best_row = i;
          best_column = j;
        }
      if (!(largest > Real(100) * Precision<Real>::tie)) break;
      Base::swap_entries(row_at, rank, best_row);
      Base::swap_entries(column_at, rank, best_column);
      const int p = row_at[rank], q = column_at[rank];
      for (int i = 0; i < n; ++i) {
        if (i == p) continue;
        const Real factor = force[q][i] / force[q][p];
        for (int j = 0; j < all.count; ++j)
          if (j != q) force[j][i] -= factor * force[j][p];
        force[q][i] = 0;
      }
    }
    all.free_count = all.count - rank;
    for (int m = 0; m < all.free_count; ++m) {
      Real* made = all.null[m];
      const int column = column_at[rank + m];
      for (int j = 0; j < all.count; ++j) made[j] = 0;
      made[column] = 1;
      for (int p = 0; p < rank; ++p)
        made[column_at[p]] = -force[column][row_at[p]] / force[column_at[p]][row_at[p]];
      for (int pass = 0; pass < 2; ++pass)
        for (int other = 0; other < m; ++other) {
          Real along = 0;
          for (int j = 0; j < all.count; ++j) along += made[j] * all.null[other][j];
          for (int j = 0; j < all.count; ++j) made[j] -= along * all.null[other][j];
        }
      Real squares = 0;
      for (int j = 0; j < all.count; ++j) squares += square(made[j]);
      for (int j = 0; j < all.count; ++j) made[j] /= sqrt(squares);
    }
  }

  // The point of least norm: Dykstra's alternating projections onto the cones and onto the multipliers that move alike.
  ZWANG_COLD void project_into_cones(const Unknowns& all, const Solution& at, Real* x) const {
    Real correction[rows], y[rows];
    for (int j = 0; j < all.count; ++j) correction[j] = 0;
    for (int pass = 0; pass < 1000; ++pass) {
      Real moved = 0, size = 0;
      for (int j = 0; j < all.count; ++j) y[j] = x[j] + correction[j];
      clip(all, at, y);
      for (int j = 0; j < all.count; ++j) {
        correction[j] += x[j] - y[j];
        y[j] -= all.lambda[j];
      }
      for (int j = 0; j < all.count; ++j) {
        Real next = all.lambda[j];
        for (int m = 0; m < all.free_count; ++m) {
          Real along = 0;
          for (int i = 0; i < all.count; ++i) along += all.null[m][i] * y[i];
          next += along * all.null[m][j];
        }
        moved = maximum(moved, absolute(next - x[j]));
        size = maximum(size, absolute(next));
        x[j] = next;
      }
      if (!(moved > 4 * Precision<Real>::epsilon * size)) break;
    }
  }
  // The nearest multipliers inside all cones and bounds.
  ZWANG_DEVICE void clip(const Unknowns& all, const Solution& at, Real* y) const {
    for (int k = 0; k < units; ++k) {
      const Unit& of = unit[k];
      const int j = all.first[k];
      if (j < 0 || of.kind == RowKind::equation) continue;
      if (of.kind == RowKind::bounded || of.limited) {
        y[j] = maximum(minimum(y[j], of.limit), of.kind == RowKind::bounded ? -of.limit : Real(0));
      } else if (!solves_tangents(of, at.choice[k])) {
        y[j] = maximum(y[j], Real(0));
      } else {
        Real force = 0;
        for (int c = 1; c <= of.tangents; ++c) force += square(y[j + c]);
        force = sqrt(force);
        const Real mu = of.cone_static;
        if (force <= mu * y[j]) continue;
        // On the cone, or at its tip.
        const Real normal = maximum((y[j] + mu * force) / (1 + mu * mu), Real(0));
        y[j] = normal;
        for (int c = 1; c <= of.tangents; ++c) y[j + c] *= force > 0 ? mu * normal / force : Real(0);
      }
    }
  }

  // The point with the largest margins, which is found also where little room is left.
  ZWANG_COLD void spread(const Unknowns& all, const Solution& at, Real* x) const {
    WidestMargin<Real, rows> margins(all.lambda, all.null, all.free_count);
    for (int k = 0; k < units; ++k) {
      const Unit& of = unit[k];
      const int j = all.first[k];
      if (j < 0 || of.kind == RowKind::equation) continue;
      if (of.kind == RowKind::bounded) {
        margins.add(of.limit, 0, -1, j, -1);
        continue;
      }
      const bool holds = solves_tangents(of, at.choice[k]);
      margins.add(0, holds ? of.cone_static : Real(1), j, holds ? j + 1 : -1,
                  holds && of.tangents == 2 ? j + 2 : -1);
      if (of.limited) margins.add(of.limit, -1, j, -1, -1);
    }
    Real w[rows];
    margins.solve(w);
    for (int j = 0; j < all.count; ++j) {
      x[j] = all.lambda[j];
      for (int m = 0; m < all.free_count; ++m) x[j] += w[m] * all.null[m][j];
    }
  }
};

}  // namespace zwang
