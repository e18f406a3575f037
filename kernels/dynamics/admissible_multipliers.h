// Multipliers of contacts with friction whose rows are linearly dependent, as of a box on two corners. The
// accelerations are unique, the multipliers are not: the admissible ones, within their cones, of least norm represent
// them [friction-9]. Stick ends when no admissible ones are left [friction-10]: that is where the largest possible
// value of the smallest margin falls to zero. The reference is src/laws/cone_multipliers.cpp.
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/mass.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/widest_margin.h"

namespace zwang {

// All multipliers that hold the rows: lambda + sum_k w_k null_k, with orthonormal null_k.
template <class M>
struct DependentMultipliers {
  using Model = typename M::Model;
  using Real = typename M::Real;
  static constexpr int rows = M::rows, n = M::n;
  bool valid = false;
  int count = 0, free_count = 0;
  int which[rows];   // conditions that are held
  int row_of[rows];  // by condition; -1: not held
  Real lambda[rows], null[rows][rows];

  ZWANG_COLD DependentMultipliers(const Real* k, const typename M::Constraints& constraints, Real t,
                                  const Real* y) {
    const Real *q = y, *v = M::v_of(y), *z = M::z_of(y);
    Real mass[MassShape<Model>::entries], force[n], free[n], a[rows][n], matrix[rows][rows], right[rows];
    typename M::Root root;
    Model::mass(k, t, q, v, z, mass);
    if (!root.factor(mass)) return;
    Model::applied(k, t, q, v, z, force);
    root.solve(force, free);
    for (int i = 0; i < M::r; ++i) {
      row_of[i] = -1;
      if (!(constraints.held[i] > 0)) continue;
      Real value, rate, rest;
      Model::row(k, t, q, v, z, i, value, rate, rest, a[count]);
      right[count] = dot<n>(a[count], free) + rest;
      row_of[i] = count;
      which[count++] = i;
    }
    for (int j = 0; j < count; ++j) {
      Real push[n], moved[n];
      copy<n>(a[j], push);
      add_drag(k, t, y, which[j], push);
      root.solve(push, moved);
      for (int i = 0; i < count; ++i) matrix[i][j] = dot<n>(a[i], moved);
    }
    eliminate(matrix, right);
    valid = true;
  }

  // cone d A_T of a contact that slips.
  ZWANG_DEVICE static void add_drag(const Real* k, Real t, const Real* y, int i, Real* push) {
    const int f = Model::friction_of(i);
    if (f < 0) return;
    const Real *q = y, *v = M::v_of(y), *z = M::z_of(y);
    const Real cone = Model::cone(k, t, q, v, z, f);
    const Real* e = k + Model::first_mode + Model::friction_mode(f);
    for (int c = 0; c < Model::friction_rows(f); ++c) {
      Real value, rate, rest, a[n];
      Model::row(k, t, q, v, z, Model::friction_row(f) + c, value, rate, rest, a);
      add_multiple<n>(cone * e[c], a, push);
    }
  }

  // Gauss-Jordan elimination with complete pivoting; the unknowns without pivot span the null space.
  ZWANG_DEVICE void eliminate(Real (&matrix)[rows][rows], Real* right) {
    Real scale[rows];
    for (int i = 0; i < count; ++i) scale[i] = sqrt(maximum(absolute(matrix[i][i]), Precision<Real>::tiny));
    int row_at[rows], column_at[rows], rank = 0;
    for (int i = 0; i < count; ++i) row_at[i] = column_at[i] = i;
    for (; rank < count; ++rank) {
      Real largest = 0;
      int best_row = rank, best_column = rank;
      for (int i = rank; i < count; ++i)
        for (int j = rank; j < count; ++j) {
          const Real share =
              absolute(matrix[row_at[i]][column_at[j]]) / (scale[row_at[i]] * scale[column_at[j]]);
          if (!(share > largest)) continue;
          largest = share;
          best_row = i;
          best_column = j;
        }
      if (!(largest > Real(100) * Precision<Real>::tie)) break;
      const int row = row_at[best_row], column = column_at[best_column];
      row_at[best_row] = row_at[rank];
      row_at[rank] = row;
      column_at[best_column] = column_at[rank];
      column_at[rank] = column;
      for (int i = 0; i < count; ++i) {
        if (i == row) continue;
        const Real factor = matrix[i][column] / matrix[row][column];
        for (int j = 0; j < count; ++j) matrix[i][j] -= factor * matrix[row][j];
        right[i] -= factor * right[row];
      }
    }
    for (int j = 0; j < count; ++j) lambda[j] = 0;
    for (int p = 0; p < rank; ++p) lambda[column_at[p]] = right[row_at[p]] / matrix[row_at[p]][column_at[p]];
    free_count = count - rank;
    for (int m = 0; m < free_count; ++m) {
      const int column = column_at[rank + m];
      for (int j = 0; j < count; ++j) null[m][j] = 0;
      null[m][column] = 1;
      for (int p = 0; p < rank; ++p)
        null[m][column_at[p]] = -matrix[row_at[p]][column] / matrix[row_at[p]][column_at[p]];
      for (int pass = 0; pass < 2; ++pass)
        for (int other = 0; other < m; ++other) {
          Real along = 0;
          for (int j = 0; j < count; ++j) along += null[m][j] * null[other][j];
          for (int j = 0; j < count; ++j) null[m][j] -= along * null[other][j];
        }
      Real length = 0;
      for (int j = 0; j < count; ++j) length += square(null[m][j]);
      for (int j = 0; j < count; ++j) null[m][j] /= sqrt(length);
    }
    // Of all solutions the one of least norm.
    for (int m = 0; m < free_count; ++m) {
      Real along = 0;
      for (int j = 0; j < count; ++j) along += null[m][j] * lambda[j];
      for (int j = 0; j < count; ++j) lambda[j] -= along * null[m][j];
    }
  }

  // --- Inequalities g . lambda >= 0 ---

  // Calls visit(g) for every inequality at the multipliers x: pressing contacts, and both sides of each cone; in
  // space the tangent plane at the direction of the force.
  template <class Visit>
  ZWANG_DEVICE void each_inequality(const Real* k, Real t, const Real* y, const Real* x,
                                    const Visit& visit) const {
    for (int j = 0; j < count; ++j) {
      const int i = which[j];
      if (Model::is_equation(i)) continue;
      Real g[rows];
      for (int c = 0; c < count; ++c) g[c] = 0;
      g[j] = 1;
      const int f = Model::friction_of(i);
      const int t0 = f >= 0 ? row_of[Model::friction_row(f)] : -1;
      if (t0 < 0) {
        visit(g, -1);
        continue;
      }
      g[j] = Model::cone_static(k, t, y, M::v_of(y), M::z_of(y), f);
      if (Model::friction_rows(f) == 1) {
        for (int side = -1; side <= 1; side += 2) {
          g[t0] = Real(side);
          visit(g, f);
        }
      } else {
        const int t1 = row_of[Model::friction_row(f) + 1];
        const Real size = sqrt(square(x[t0]) + square(x[t1]));
        g[t0] = size > 0 ? -x[t0] / size : Real(0);
        g[t1] = size > 0 ? -x[t1] / size : Real(0);
        visit(g, f);
      }
    }
  }

  // The admissible multipliers of least norm: Hildreth's method, projections onto one inequality after another with
  // their corrections kept. Writes them by condition.
  ZWANG_COLD void least_norm(const Real* k, Real t, const Real* y, Real* by_condition) const {
    constexpr int most = 3 * rows;
    Real x[rows], correction[most];
    copy<rows>(lambda, x);
    for (int i = 0; i < most; ++i) correction[i] = 0;
    for (int pass = 0; pass < 2000 && free_count > 0; ++pass) {
      int number = 0;
      Real moved = 0, size = 0;
      each_inequality(k, t, y, x, [&](const Real* g, int) {
        Real value = 0, along[rows], weight = 0;
        for (int j = 0; j < count; ++j) value += g[j] * x[j];
        for (int m = 0; m < free_count; ++m) {
          along[m] = 0;
          for (int j = 0; j < count; ++j) along[m] += g[j] * null[m][j];
          weight += square(along[m]);
        }
        if (weight > 0) {
          const Real step = maximum(-correction[number], -value / weight);
          correction[number] += step;
          for (int m = 0; m < free_count; ++m)
            for (int j = 0; j < count; ++j) x[j] += step * along[m] * null[m][j];
          moved = maximum(moved, absolute(step) * sqrt(weight));
        }
        ++number;
      });
      for (int j = 0; j < count; ++j) size = maximum(size, absolute(x[j]));
      if (!(moved > 4 * Precision<Real>::epsilon * size)) break;
    }
    for (int i = 0; i < M::r; ++i) by_condition[i] = row_of[i] >= 0 ? x[row_of[i]] : Real(0);
  }

  // The smallest margin of the sticking contacts at the multipliers x, and of friction `of` alone.
  ZWANG_DEVICE Real margin(const Real* k, Real t, const Real* y, const Real* x, int of = -1) const {
    Real least = infinity<Real>();
    each_inequality(k, t, y, x, [&](const Real* g, int f) {
      if (of >= 0 && f != of) return;
      Real value = 0;
      for (int j = 0; j < count; ++j) value += g[j] * x[j];
      least = minimum(least, value);
    });
    return least;
  }

  // The multipliers with the largest smallest margin, which is returned.
  ZWANG_COLD Real widest(const Real* k, Real t, const Real* y, Real* x) const {
    WidestMargin<Real, rows> margins(lambda, null, free_count);
    for (int j = 0; j < count; ++j) {
      const int i = which[j];
      if (Model::is_equation(i)) continue;
      const int f = Model::friction_of(i);
      const int t0 = f >= 0 ? row_of[Model::friction_row(f)] : -1;
      if (t0 < 0)
        margins.add(0, 1, j, -1, -1);
      else
        margins.add(0, Model::cone_static(k, t, y, M::v_of(y), M::z_of(y), f), j, t0,
                    Model::friction_rows(f) == 2 ? row_of[Model::friction_row(f) + 1] : -1);
    }
    Real w[rows];
    const Real largest = margins.solve(w);
    for (int j = 0; j < count; ++j) {
      x[j] = lambda[j];
      for (int m = 0; m < free_count; ++m) x[j] += w[m] * null[m][j];
    }
    return largest;
  }
};

}  // namespace zwang
