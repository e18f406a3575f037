// Gauss's principle of least constraint for long models, as QuadraticProgram (dynamics/least_constraint.h):
// the same problem, tolerances and results, but rows are stored by their few entries, and the rows of a
// working set are eliminated along the tables of the model (dynamics/sparse_elimination.h). A change of the
// working set costs as much as one elimination; an orthonormal basis of the rows would have no zeros.
//
// Only for models whose rows are always independent (chains, ropes, trees): multipliers are unique.
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/mass.h"
#include "kernels/dynamics/sparse_elimination.h"

namespace zwang {

// `exchanges`: how often the working set is corrected as a whole before rows are exchanged one by one.
template <class Model, class Real, int exchanges = 8>
struct SparseProgram {
  static constexpr int n = Model::coordinates, m = at_least_one(Model::conditions);
  using Plan = typename Model::VelocityElimination;

  DiagonalRoot<n, 1, Real> root;
  Real free[n];  // x0
  int count = 0;
  bool equation[m];
  Real length[m], gap[m], floor[m];  // by row, as in QuadraticProgram
  bool feasible = false;
  static constexpr bool redundant = false;
  Real z[n], mu[m], residual[m];

  static constexpr Real rounding = 2 * (n + 2) * Precision<Real>::epsilon;
  static ZWANG_INLINE Real dependence(Real coefficients) {
    return Precision<Real>::tie + 32 * Precision<Real>::epsilon * coefficients;
  }

  ZWANG_DEVICE SparseProgram() {
    for (int c = 0; c < m; ++c) row_of[c] = -1;
  }

  // `a` has n entries, of which those in the columns of the condition count. A condition is added once.
  ZWANG_DEVICE void add_row(int c, const Real* a, Real rest, bool is_equation) {
    const int i = count++;
    condition[i] = c;
    row_of[c] = i;
    Real squared = 0, size = absolute(rest), value = rest;
    for (int e = Model::first_column(c); e < Model::first_column(c + 1); ++e) {
      const int k = Model::column(e);
      unit[e] = a[k] * root.inverse[k];
      squared += square(unit[e]);
      value += a[k] * free[k];  // Phi^0 [mayer-16]
      size += absolute(a[k] * free[k]);
    }
    equation[i] = is_equation;
    length[i] = sqrt(squared);  // the square root of Phi_ii [mayer-15]
    const Real scale = length[i] > 0 ? 1 / length[i] : Real(0);
    for (int e = Model::first_column(c); e < Model::first_column(c + 1); ++e) unit[e] *= scale;
    gap[i] = value * scale;
    floor[i] = rounding * size * scale;
  }

  ZWANG_DEVICE void solve() {
    find_products();
    if (!exchange_blocks()) {
      for (int level = 0; level < 2; ++level) {
        start_with_equations();
        if (search(level == 1)) break;
      }
    }
    if (feasible) finish();
  }
  ZWANG_DEVICE void solve_as_equations() {
    find_products();
    for (int i = 0; i < count; ++i) equation[i] = true;
    start_with_equations();
  }

  // x = x0 + L^-T z
  ZWANG_DEVICE void point(Real* x) const {
    root.back(z, x);
    for (int i = 0; i < n; ++i) x[i] += free[i];
  }
  ZWANG_INLINE Real multiplier(int i) const { return length[i] > 0 ? mu[i] / length[i] : Real(0); }
  // Adds the magnitudes of the changes of x by the multiplier of a row.
  ZWANG_DEVICE void add_push(int i, Real* pushed) const {
    const int c = condition[i];
    for (int e = Model::first_column(c); e < Model::first_column(c + 1); ++e) {
      const int k = Model::column(e);
      pushed[k] += absolute(mu[i] * unit[e] * root.inverse[k]);
    }
  }

  ZWANG_DEVICE Real kkt() const {
    Real balance[n], size = norm<n>(z), worst = 0, noise = rounding * norm<n>(z), total = 0;
    copy<n>(z, balance);
    for (int i = 0; i < count; ++i) {
      add_row_multiple(mu[i], i, balance);
      noise = maximum(noise, floor[i]);
      total += absolute(mu[i]);
      size = maximum(size, equation[i] ? absolute(gap[i]) : gap[i]);
    }
    for (int i = 0; i < count; ++i) {
      if (!(length[i] > 0)) continue;
      const Real allowed = 2 * (noise + floor[i]);
      worst = maximum(worst, (equation[i] ? absolute(residual[i]) : residual[i]) - allowed);
      if (!equation[i]) worst = maximum(worst, maximum(-mu[i], minimum(mu[i], -residual[i] - allowed)));
    }
    worst = maximum(worst, norm<n>(balance) - 2 * rounding * (total + norm<n>(z)));
    return worst > 0 ? worst / size : Real(0);
  }

 private:
  int condition[m], row_of[m];    // of a row; of a condition: its row, or -1
  Real unit[Model::row_entries];  // u, by condition and column
  Real products[Plan::entries];   // u_i u_j of the rows, where the elimination stores Phi
  bool working[m];                // rows in the working set

  ZWANG_DEVICE Real dot_row(int i, const Real* x) const {
    const int c = condition[i];
    Real sum = 0;
    for (int e = Model::first_column(c); e < Model::first_column(c + 1); ++e)
      sum += unit[e] * x[Model::column(e)];
    return sum;
  }
  ZWANG_DEVICE void add_row_multiple(Real factor, int i, Real* x) const {
    const int c = condition[i];
    for (int e = Model::first_column(c); e < Model::first_column(c + 1); ++e)
      x[Model::column(e)] += factor * unit[e];
  }
  // u_c u_d of two conditions whose columns are ascending.
  ZWANG_DEVICE Real product_of(int c, int d) const {
    Real sum = 0;
    int e = Model::first_column(c), f = Model::first_column(d);
    while (e < Model::first_column(c + 1) && f < Model::first_column(d + 1)) {
      const int k = Model::column(e), l = Model::column(f);
      if (k == l) sum += unit[e] * unit[f];
      e += k <= l ? 1 : 0;
      f += l <= k ? 1 : 0;
    }
    return sum;
  }

  ZWANG_DEVICE void find_products() {
    for (int c = 0; c < m; ++c) products[c] = row_of[c] >= 0 && length[row_of[c]] > 0 ? Real(1) : Real(0);
    for (int p = 0; p < Plan::size; ++p) {
      const int c = Plan::order(p);
      for (int e = Plan::first(p); e < Plan::first(p + 1); ++e) {
        const int d = Plan::row(e);
        products[Plan::place(e)] = row_of[c] >= 0 && row_of[d] >= 0 ? product_of(c, d) : Real(0);
      }
    }
  }

  // Solves U U^T x = b on the working rows; x = 0 elsewhere. Both are by condition; x is given as b.
  ZWANG_DEVICE void solve_working(Real* x) const {
    Real factor[Plan::entries];
    const auto works = [&](int c) { return row_of[c] >= 0 && working[row_of[c]]; };
    for (int c = 0; c < m; ++c) {
      factor[c] = works(c) ? products[c] : Real(0);
      if (!works(c)) x[c] = 0;
    }
    for (int p = 0; p < Plan::size; ++p)
      for (int e = Plan::first(p); e < Plan::first(p + 1); ++e)
        factor[Plan::place(e)] =
            works(Plan::order(p)) && works(Plan::row(e)) ? products[Plan::place(e)] : Real(0);
    solve_held<Plan>(Real(Precision<Real>::dependent), factor, x);
  }

  // The minimum with the working rows as equations: U U^T mu = gap, z = -U^T mu [mayer-17].
  ZWANG_DEVICE void solve_working_set() {
    Real x[m];
    for (int c = 0; c < m; ++c) x[c] = row_of[c] >= 0 ? gap[row_of[c]] : Real(0);
    solve_working(x);
    for (int k = 0; k < n; ++k) z[k] = 0;
    for (int i = 0; i < count; ++i) {
      mu[i] = x[condition[i]];
      add_row_multiple(-mu[i], i, z);
    }
  }

  ZWANG_DEVICE void start_with_equations() {
    for (int i = 0; i < count; ++i) working[i] = equation[i] && length[i] > 0;
    solve_working_set();
  }

  // Guesses the working set and corrects it: rows with negative multipliers leave, violated rows enter, all
  // at once. Where nothing is left to correct the conditions of the minimum hold. In most events that takes
  // one to three eliminations, however many rows there are; false: undecided.
  ZWANG_DEVICE bool exchange_blocks() {
    feasible = false;
    for (int i = 0; i < count; ++i) {
      if (!(length[i] > 0)) return false;
      working[i] = true;
    }
    for (int round = 0; round < exchanges; ++round) {
      solve_working_set();
      const Real allowed = rounding * norm<n>(z);
      bool changed = false;
      for (int i = 0; i < count; ++i) {
        const Real violation = dot_row(i, z) + gap[i];
        if (equation[i]) {
          if (!(absolute(violation) <= floor[i] + allowed)) return false;
          continue;
        }
        const bool wanted = working[i] ? mu[i] >= 0 : violation > floor[i] + allowed;
        if (working[i] && wanted && !(violation <= floor[i] + allowed)) return false;
        changed = changed || wanted != working[i];
        working[i] = wanted;
      }
      if (changed) continue;
      feasible = true;
      return true;
    }
    return false;
  }

  ZWANG_DEVICE Real size_of_problem() const {
    Real size = norm<n>(z);
    for (int i = 0; i < count; ++i) size = maximum(size, equation[i] ? absolute(gap[i]) : gap[i]);
    return size;
  }

  // As QuadraticProgram::search().
  ZWANG_DEVICE bool search(bool ties) {
    bool tolerated[m];
    for (int i = 0; i < count; ++i) tolerated[i] = false;
    feasible = false;
    for (int step = 0; step < 20 + 10 * m; ++step) {
      const Real allowed = rounding * norm<n>(z), tied = Precision<Real>::tie * size_of_problem();
      int worst_row = -1;
      Real worst = 0;
      for (int i = 0; i < count; ++i) {
        if (!(length[i] > 0)) {
          if (equation[i] ? gap[i] != 0 : gap[i] > 0) return true;  // contradiction
          continue;
        }
        const Real violation = dot_row(i, z) + gap[i];
        if (equation[i]) {
          if (!(absolute(violation) <= floor[i] + allowed + tied)) return true;  // inconsistent equations
          continue;
        }
        if (tolerated[i] || violation <= worst || violation <= floor[i] + allowed + (ties ? tied : Real(0)))
          continue;
        worst = violation;
        worst_row = i;
      }
      if (worst_row < 0) {
        feasible = true;
        return true;
      }
      if (activate(worst_row)) {
        remove_negative();
        for (int i = 0; i < count; ++i) tolerated[i] = false;
      } else if (worst <= floor[worst_row] + allowed + tied) {
        tolerated[worst_row] = true;
      } else {
        return true;  // no point satisfies all rows
      }
    }
    return false;
  }

  // As QuadraticProgram::activate().
  ZWANG_DEVICE bool activate(int p) {
    for (int round = 0; round <= n + m; ++round) {
      Real d[n], r[m], sum = 0;
      for (int c = 0; c < m; ++c)
        r[c] = row_of[c] >= 0 && working[row_of[c]] ? product_of(c, condition[p]) : Real(0);
      solve_working(r);
      for (int k = 0; k < n; ++k) d[k] = 0;
      add_row_multiple(Real(1), p, d);
      for (int i = 0; i < count; ++i) {
        if (!working[i]) continue;
        add_row_multiple(-r[condition[i]], i, d);
        sum += absolute(r[condition[i]]);
      }
      const Real distance = norm<n>(d);
      const bool dependent = distance <= dependence(sum);
      int blocking = -1;
      Real t = infinity<Real>();
      for (int i = 0; i < count; ++i) {
        if (!working[i] || equation[i] || r[condition[i]] <= (dependent ? dependence(0) : Real(0))) continue;
        const Real reach = maximum(mu[i], Real(0)) / r[condition[i]];
        if (reach < t) {
          t = reach;
          blocking = i;
        }
      }
      if (dependent && blocking < 0) return false;
      const Real violation = dot_row(p, z) + gap[p];
      if (!dependent && violation <= t * distance * distance) {
        working[p] = true;
        solve_working_set();
        return true;
      }
      mu[p] += t;
      for (int i = 0; i < count; ++i)
        if (working[i]) mu[i] -= t * r[condition[i]];
      mu[blocking] = 0;
      if (!dependent) add_multiple<n>(-t, d, z);
      working[blocking] = false;
    }
    return false;
  }

  ZWANG_DEVICE void remove_negative() {
    for (int round = 0; round < n; ++round) {
      int lowest = -1;
      for (int i = 0; i < count; ++i)
        if (working[i] && !equation[i] && mu[i] < (lowest < 0 ? Real(0) : mu[lowest])) lowest = i;
      if (lowest < 0) return;
      working[lowest] = false;
      solve_working_set();
    }
  }

  // Residuals of all rows; multipliers within a tie of zero become zero.
  ZWANG_DEVICE void finish() {
    const Real tied = Precision<Real>::tie * norm<n>(z);
    for (int i = 0; i < count; ++i) {
      residual[i] = dot_row(i, z) + gap[i];
      if (!equation[i] && mu[i] <= tied) mu[i] = 0;
    }
  }
};

}  // namespace zwang
