// Gauss's principle of least constraint as a quadratic program: the point of a convex region nearest to a
// given one [staeckel-29..33].
//
//     minimise 1/2 (x - x0)^T M (x - x0)   subject to   A_i x + c_i = 0 (equations) or <= 0 (inequalities)
//
// Accelerations, shocks and completed accumulations are all this problem. It is solved by a dual active-set
// method on rows of unit length in the mass metric. The reference is
// src/quadratic_program/quadratic_program.h.
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"

namespace zwang {

template <int n, int m, class Root, class Real>
struct QuadraticProgram {
  // The problem. `root` is the Cholesky factor L of M; rows are added one by one.
  Root root;
  Real free[n];  // x0
  int count = 0;
  bool equation[m];
  Real unit[m][n];  // u_i = L^-1 A_i / length_i
  Real length[m];
  Real gap[m];    // the row's value at x0, in units of its length
  Real floor[m];  // the rounding of that
  // The solution, in the metric: z = L^T (x - x0), z + U^T mu = 0.
  bool feasible = false, redundant = false;
  Real z[n], mu[m], residual[m];  // residual_i = u_i z + gap_i
  WorkingSet<n, Real> set;

  static constexpr Real rounding = 2 * (n + 2) * Precision<Real>::epsilon;
  // A row nearer than this to the span of others counts as linearly dependent; `coefficients` is the sum of
  // the magnitudes of the coefficients that express it by them.
  static ZWANG_INLINE Real dependence(Real coefficients) {
    return Precision<Real>::tie + 32 * Precision<Real>::epsilon * coefficients;
  }

  // A row of length zero restricts nothing: it is satisfied or not. The number of its condition matters to
  // SparseProgram only.
  ZWANG_DEVICE void add_row(int /*condition*/, const Real* a, Real c, bool is_equation) {
    const int i = count++;
    root.into(a, unit[i]);
    length[i] = norm<n>(unit[i]);  // the square root of Phi_ii [mayer-15]
    gap[i] = dot<n>(a, free) + c;  // Phi^0 [mayer-16]
    Real size = absolute(c);
    for (int k = 0; k < n; ++k) size += absolute(a[k] * free[k]);
    equation[i] = is_equation;
    const Real scale = length[i] > 0 ? 1 / length[i] : Real(0);
    for (int k = 0; k < n; ++k) unit[i][k] *= scale;
    gap[i] *= scale;
    floor[i] = rounding * size * scale;
  }

  ZWANG_DEVICE void solve() {
    if (count <= 1 && (count == 0 || length[0] > 0)) {
      solve_single_row();
      return;
    }
    // First with rounding as the only tolerance, then with ties.
    for (int level = 0; level < 2; ++level) {
      start_with_equations();
      if (search(level == 1)) break;
    }
    if (feasible) finish();
  }

  // Solves with all rows as equations; rows that depend on earlier ones are left out, with multiplier 0.
  ZWANG_DEVICE void solve_as_equations() {
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
    Real push[n];
    root.back(unit[i], push);
    for (int k = 0; k < n; ++k) pushed[k] += absolute(mu[i] * push[k]);
  }

  // The violation of the conditions of the minimum (Karush-Kuhn-Tucker) beyond rounding, relative to the size
  // of the problem: the same measure as kkt_residual() of the reference, for the audit of every member.
  ZWANG_DEVICE Real kkt() const {
    Real balance[n], size = norm<n>(z), worst = 0, noise = rounding * norm<n>(z), total = 0;
    copy<n>(z, balance);
    for (int i = 0; i < count; ++i) {
      add_multiple<n>(mu[i], unit[i], balance);
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
  // The number of equations in the working set. They come first, and their multipliers may be negative.
  int fixed;

  // One row, or none: z = -u mu with mu the gap, or 0 for an inequality that is satisfied.
  ZWANG_DEVICE void solve_single_row() {
    set.count = 0;
    feasible = true;
    redundant = false;
    for (int k = 0; k < n; ++k) z[k] = 0;
    if (count == 0) return;
    mu[0] = equation[0] ? gap[0] : maximum(gap[0], Real(0));
    residual[0] = gap[0] - mu[0];
    add_multiple<n>(-mu[0], unit[0], z);
  }

  // The minimum under the equations alone. Equations that depend on others are left out here; search() checks
  // them.
  ZWANG_DEVICE void start_with_equations() {
    set.count = 0;
    for (int i = 0; i < count; ++i) {
      mu[i] = 0;
      if (!equation[i] || !(length[i] > 0)) continue;
      append_if_independent(i);
    }
    fixed = set.count;
    solve_working_set();
  }

  ZWANG_DEVICE bool append_if_independent(int i) {
    Real rest[n], along[n], coefficients[n], sum = 0;
    const Real distance = set.split(unit[i], rest, along);
    set.solve(along, coefficients);
    for (int j = 0; j < set.count; ++j) sum += absolute(coefficients[j]);
    if (set.count == n || distance <= dependence(sum)) return false;
    set.append(i, rest, along, distance);
    return true;
  }

  // The minimum with the working rows as equations: z = -Q y, R^T y = gap, R mu = y [mayer-17].
  ZWANG_DEVICE void solve_working_set() {
    Real b[n], y[n], m_set[n];
    for (int j = 0; j < set.count; ++j) b[j] = gap[set.row[j]];
    set.solve_transposed(b, y);
    set.solve(y, m_set);
    for (int k = 0; k < n; ++k) z[k] = 0;
    for (int i = 0; i < count; ++i) mu[i] = 0;
    for (int j = 0; j < set.count; ++j) {
      add_multiple<n>(-y[j], set.q[j], z);
      mu[set.row[j]] = m_set[j];
    }
  }

  // Removes the row at this index of the working set, and factors the rest again; z and mu are left to the
  // caller.
  ZWANG_DEVICE void remove(int place) {
    int rows[n], kept = 0;
    for (int j = 0; j < set.count; ++j)
      if (j != place) rows[kept++] = set.row[j];
    set.count = 0;
    for (int j = 0; j < kept; ++j) {
      Real rest[n], along[n];
      const Real distance = set.split(unit[rows[j]], rest, along);
      set.append(rows[j], rest, along, distance);
    }
  }

  ZWANG_DEVICE Real size_of_problem() const {
    Real size = norm<n>(z);
    for (int i = 0; i < count; ++i) size = maximum(size, equation[i] ? absolute(gap[i]) : gap[i]);
    return size;
  }

  // Activates the row violated most until none is. `ties`: violations within Precision::tie count as none.
  // False: no decision within the allowed number of steps.
  ZWANG_DEVICE bool search(bool ties) {
    bool tolerated[m];  // violated by less than a tie, and cannot be activated
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
        const Real violation = dot<n>(unit[i], z) + gap[i];
        if (equation[i]) {
          if (absolute(violation) > floor[i] + allowed + tied + rounding_of_dependent(i))
            return true;  // inconsistent equations
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

  // The effect of the rounding of the working rows on a row that depends on them.
  ZWANG_DEVICE Real rounding_of_dependent(int i) const {
    Real rest[n], along[n], coefficients[n], sum = 0;
    set.split(unit[i], rest, along);
    set.solve(along, coefficients);
    for (int j = 0; j < set.count; ++j)
      sum += absolute(coefficients[j]) * (floor[set.row[j]] + rounding * norm<n>(z));
    return sum;
  }

  // Activates the violated row p. Its multiplier grows by t while those of the working rows change by -t r,
  // so that these stay satisfied; z moves by -t d. An inequality whose multiplier reaches zero before p is
  // satisfied is removed. False: p is violated at every point that satisfies the others.
  ZWANG_DEVICE bool activate(int p) {
    for (int round = 0; round <= n + m; ++round) {
      Real d[n], along[n], r[n], sum = 0;
      const Real distance = set.split(unit[p], d, along);
      set.solve(along, r);
      for (int j = 0; j < set.count; ++j) sum += absolute(r[j]);
      const bool dependent = set.count == n || distance <= dependence(sum);
      int blocking = -1;
      Real t = infinity<Real>();
      for (int j = fixed; j < set.count; ++j) {
        if (r[j] <= (dependent ? dependence(0) : Real(0))) continue;
        const Real reach = maximum(mu[set.row[j]], Real(0)) / r[j];
        if (reach < t) {
          t = reach;
          blocking = j;
        }
      }
      if (dependent && blocking < 0) return false;
      const Real violation = dot<n>(unit[p], z) + gap[p];
      if (!dependent && violation <= t * distance * distance) {
        set.append(p, d, along, distance);
        solve_working_set();
        return true;
      }
      // Up to the first multiplier that reaches zero, and on without its row.
      mu[p] += t;
      for (int j = 0; j < set.count; ++j) mu[set.row[j]] -= t * r[j];
      mu[set.row[blocking]] = 0;
      if (!dependent) add_multiple<n>(-t, d, z);
      remove(blocking);
    }
    return false;
  }

  // Removes inequalities with negative multipliers, which rounding causes where rows are nearly dependent.
  ZWANG_DEVICE void remove_negative() {
    for (int round = 0; round < n; ++round) {
      int place = -1;
      Real lowest = 0;
      for (int j = fixed; j < set.count; ++j)
        if (mu[set.row[j]] < lowest) {
          lowest = mu[set.row[j]];
          place = j;
        }
      if (place < 0) return;
      remove(place);
      solve_working_set();
    }
  }

  // Residuals of all rows; multipliers within a tie of zero become zero.
  ZWANG_DEVICE void finish() {
    const Real tied = Precision<Real>::tie * norm<n>(z);
    Real noise = rounding * norm<n>(z);
    for (int j = 0; j < set.count; ++j) noise = maximum(noise, floor[set.row[j]]);
    bool tight[m];
    int tight_count = 0;
    for (int i = 0; i < count; ++i) {
      residual[i] = dot<n>(unit[i], z) + gap[i];
      if (!equation[i] && mu[i] <= tied) mu[i] = 0;
      tight[i] = length[i] > 0 && (equation[i] || mu[i] > 0 || residual[i] >= -(tied + noise + floor[i]));
      tight_count += tight[i];
    }
    if (tight_count <= 1) return;
    find_least_norm_multipliers(tight);
  }

  // Solves G w = target, G = sum over the active rows of (length q.u)(length q.u)^T, by Cholesky's method in
  // place. False where G is not positive.
  ZWANG_DEVICE bool solve_in_span(const WorkingSet<n, Real>& span, const bool* active, const Real* target,
                                  Real* w) const {
    const int k = span.count;
    Real g[n][n];
    for (int a = 0; a < k; ++a)
      for (int b = 0; b < k; ++b) g[a][b] = 0;
    for (int i = 0; i < count; ++i) {
      if (!active[i]) continue;
      Real component[n];
      for (int a = 0; a < k; ++a) component[a] = length[i] * dot<n>(span.q[a], unit[i]);
      for (int a = 0; a < k; ++a)
        for (int b = 0; b <= a; ++b) g[a][b] += component[a] * component[b];
    }
    for (int a = 0; a < k; ++a) {
      for (int b = 0; b <= a; ++b) {
        Real sum = g[a][b];
        for (int c = 0; c < b; ++c) sum -= g[a][c] * g[b][c];
        if (a == b) {
          if (!(sum > 0)) return false;
          g[a][a] = sqrt(sum);
        } else {
          g[a][b] = sum / g[b][b];
        }
      }
    }
    for (int a = 0; a < k; ++a) {
      Real sum = target[a];
      for (int c = 0; c < a; ++c) sum -= g[a][c] * w[c];
      w[a] = sum / g[a][a];
    }
    for (int a = k - 1; a >= 0; --a) {
      Real sum = w[a];
      for (int c = a + 1; c < k; ++c) sum -= g[c][a] * w[c];
      w[a] = sum / g[a][a];
    }
    return true;
  }

  // Dependent tight rows leave the multipliers undetermined: of all that balance z, those of least norm are
  // taken, in the units of the rows (mechanics section 6). With w in the rows' span, lambda_i = max(0, w .
  // length_i u_i) (no max for equations) and sum lambda_i length_i u_i = -z. This is solved for w by Newton's
  // method, in which the set of positive multipliers becomes constant after few rounds.
  ZWANG_DEVICE void find_least_norm_multipliers(const bool* tight) {
    WorkingSet<n, Real> span;
    int tight_count = 0;
    for (int i = 0; i < count; ++i) {
      if (!tight[i]) continue;
      ++tight_count;
      Real rest[n], along[n], coefficients[n], sum = 0;
      const Real distance = span.split(unit[i], rest, along);
      span.solve(along, coefficients);
      for (int j = 0; j < span.count; ++j) sum += absolute(coefficients[j]);
      if (span.count < n && distance > dependence(sum)) span.append(i, rest, along, distance);
    }
    const int k = span.count;
    if (k == tight_count) return;
    redundant = true;
    bool active[m];
    for (int i = 0; i < count; ++i) active[i] = tight[i];
    Real target[n], w[n], candidate[m];
    for (int j = 0; j < k; ++j) target[j] = -dot<n>(span.q[j], z);
    for (int round = 0; round < 50; ++round) {
      // Where the active rows no longer span z the multipliers found first stay.
      if (!solve_in_span(span, active, target, w)) return;
      bool changed = false;
      const Real zero = 64 * Precision<Real>::epsilon * norm<n>(z);
      for (int i = 0; i < count; ++i) {
        if (!tight[i]) continue;
        Real lambda = 0;
        for (int a = 0; a < k; ++a) lambda += length[i] * dot<n>(span.q[a], unit[i]) * w[a];
        candidate[i] = lambda * length[i];
        const bool positive = equation[i] || candidate[i] > zero;
        changed = changed || positive != active[i];
        active[i] = positive;
      }
      if (changed) continue;
      for (int i = 0; i < count; ++i) mu[i] = tight[i] && active[i] ? candidate[i] : Real(0);
      return;
    }
  }
};

}  // namespace zwang
