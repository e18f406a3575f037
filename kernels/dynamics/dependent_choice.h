// Multipliers of a choice whose rows are linearly dependent (dynamics/contact_rows.h). Multipliers that move nothing may
// be added: the admissible ones nearest to those of contacts with equal compliance represent them [friction-9]. The
// reference is src/laws/cone_multipliers.cpp.
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/contact_rows.h"
#include "kernels/dynamics/dense_solve.h"
#include "kernels/dynamics/nearest_in_cones.h"
#include "kernels/dynamics/slip_directions.h"
#include "kernels/dynamics/widest_margin.h"

namespace zwang {

template <class M>
struct DependentChoice : SlipDirections<M> {
  using Base = SlipDirections<M>;
  using Real = typename M::Real;
  using Unit = typename Base::Unit;
  using Solution = typename Base::Solution;
  using Unknowns = typename Base::Unknowns;
  using Base::complete, Base::is_admissible, Base::list_unknowns, Base::phi, Base::slack,
      Base::solves_tangents, Base::u, Base::unit, Base::units;
  static constexpr int rows = M::rows, n = M::n;

  // The unknown multipliers of a choice, and the changes of them that move nothing.
  struct Dependent : Unknowns {
    Real lambda[rows];  // by unknown
    NullSpace<Real, rows> null;
  };

  // Replaces the multipliers of a choice with dependent rows by admissible ones, where there are any.
  ZWANG_COLD void represent(Solution& at) const {
    if (is_admissible(at) || !moves_admissibly(at)) return;
    Dependent all;
    list_unknowns(at, all);
    for (int j = 0; j < all.count; ++j) all.lambda[j] = at.lambda[all.row[j]];
    find_null_space(at, all);
    if (all.null.count == 0) return;
    // The widest margins tell whether any multipliers are admissible. Only then the projections are followed
    // until they converge, which takes hundreds of passes.
    const Solution kept = at;
    Real widest[rows], x[rows];
    spread(all, at, widest);
    const bool any = accept(all, widest, at);
    project_into_cones(all, at, any ? 2000 : 64, x);
    if (accept(all, x, at)) return;
    at = kept;
    if (any) accept(all, widest, at);
  }

  // Whether the residuals of a choice are admissible, which multipliers that move nothing do not change.
  ZWANG_COLD bool moves_admissibly(Solution& at) const {
    Real kept[rows];
    for (int i = 0; i < this->count; ++i) {
      kept[i] = at.lambda[i];
      at.lambda[i] = 0;  // inside every cone and bound
    }
    const bool made = is_admissible(at);
    for (int i = 0; i < this->count; ++i) at.lambda[i] = kept[i];
    return made;
  }

  // Rows of equal compliance [friction-15]: lambda of each is its deflection, and that of a row that depends on the held
  // ones follows from theirs. A contact that is open without separating must not be pressed, and a bounded row that yields
  // without moving must be deflected as far as its limit: otherwise it would press others by as much as it bears.
  ZWANG_COLD bool contradicts_deflections(const Solution& at) const {
    const Real share = 1 - 10 * sqrt(Precision<Real>::epsilon);
    for (int k = 0; k < units; ++k) {
      const Unit& of = unit[k];
      const bool yields = at.choice[k] == RowChoice::slip || at.choice[k] == RowChoice::slip_back;
      const bool bounded = of.kind == RowKind::bounded || (of.limited && yields);
      const Real residual = at.residual[of.row];
      Real found;
      if (bounded) {
        if (!yields || of.moving || absolute(residual) > slack[of.row]) continue;
        if (deflection(at, of.row, found) && at.d[k][0] * found < of.limit * share) return true;
      } else if (of.kind == RowKind::contact || of.kind == RowKind::inequality) {
        if (at.choice[k] != RowChoice::open || residual < -slack[of.row]) continue;
        if (deflection(at, of.row, found) && found > 0) return true;
      }
    }
    return false;
  }

  // The sum of the multipliers that hold, each with its part in row i; 0 where it is rounding. False where row i does not
  // depend on theirs.
  ZWANG_COLD bool deflection(const Solution& at, int i, Real& sum) const {
    Unknowns all;
    list_unknowns(at, all);
    const int m = all.count;
    Real matrix[rows][rows], right[rows], scale[rows], part[rows], rest[n];
    for (int a = 0; a < m; ++a) {
      right[a] = phi[all.row[a]][i];
      scale[a] = sqrt(maximum(phi[all.row[a]][all.row[a]], Precision<Real>::tiny));
      for (int b = 0; b < m; ++b) matrix[a][b] = phi[all.row[a]][all.row[b]];
    }
    solve_dense(m, matrix, right, scale, Precision<Real>::dependent, part);
    copy<n>(u[i], rest);
    Real size = 0;
    sum = 0;
    for (int a = 0; a < m; ++a) {
      add_multiple<n>(-part[a], u[all.row[a]], rest);
      sum += part[a] * at.lambda[all.row[a]];
      size += absolute(part[a] * at.lambda[all.row[a]]);
    }
    const Real small = 10 * sqrt(Precision<Real>::epsilon);
    if (!(absolute(sum) > small * size)) sum = 0;
    return norm<n>(rest) <= small * norm<n>(u[i]);
  }

 private:
  ZWANG_DEVICE bool accept(const Dependent& all, const Real* x, Solution& at) const {
    for (int j = 0; j < all.count; ++j) at.lambda[all.row[j]] = x[j];
    complete(at);
    return is_admissible(at);
  }

  // The forces per unit of each unknown, and their dependences.
  ZWANG_COLD void find_null_space(const Solution& at, Dependent& all) const {
    Real force[rows][n];
    for (int j = 0; j < all.count; ++j) copy<n>(u[all.row[j]], force[j]);
    for (int k = 0; k < units; ++k) {
      if (all.first[k] < 0 || solves_tangents(unit[k], at.choice[k])) continue;
      for (int c = 0; c < unit[k].tangents; ++c)
        add_multiple<n>(unit[k].cone * at.d[k][c], u[unit[k].row + 1 + c], force[all.first[k]]);
    }
    all.null.find(all.count, force, Real(100) * Precision<Real>::tie);
  }

  // The nearest multipliers inside all cones and bounds.
  ZWANG_COLD void project_into_cones(const Dependent& all, const Solution& at, int passes, Real* x) const {
    NearestInCones<Real, rows> nearest(all.count, all.lambda, all.null);
    for (int k = 0; k < units; ++k) {
      const Unit& of = unit[k];
      const int j = all.first[k];
      if (j < 0 || of.kind == RowKind::equation) continue;
      if (of.kind == RowKind::bounded || of.limited)
        nearest.add_interval(j, of.kind == RowKind::bounded ? -of.limit : Real(0), of.limit);
      else if (!solves_tangents(of, at.choice[k]))
        nearest.add_interval(j, 0, infinity<Real>());
      else
        nearest.add_cone(j, j + 1, of.tangents, of.cone_static);
    }
    nearest.solve(x, passes);
  }

  // The point with the largest margins, which is found also where little room is left.
  ZWANG_COLD void spread(const Dependent& all, const Solution& at, Real* x) const {
    WidestMargin<Real, rows> margins(all.lambda, all.null.vector, all.null.count);
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
      for (int m = 0; m < all.null.count; ++m) x[j] += w[m] * all.null.vector[m][j];
    }
  }
};

}  // namespace zwang
