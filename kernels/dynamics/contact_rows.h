// Which contacts stick, slip or open and which bounded conditions hold or yield, at one instant: a complementarity
// problem in the space of the rows that take part. It is the same for accelerations [friction-3] [limit-2] and for
// the velocities after a shock [friction-11] [limit-4]. The reference is src/laws/mode_candidate.cpp.
//
// With Phi = A M^-1 A^T and Phi0 = A x0 + c, where x0 is the motion without any of the rows, the multipliers lambda
// leave the residuals r = Phi0 - Phi lambda (f'' and s', or f' and s after the shock):
//
//   equation           r = 0
//   inequality         held: r = 0, lambda >= 0            open: lambda = 0, r <= 0
//   contact (N, T)     stick: r_N = r_T = 0, |lambda_T| <= cone_static lambda_N
//                      slip:  r_N = 0, lambda_T = cone lambda_N d, d = the direction of the slip, or of r_T at rest
//                      open:  lambda_N = lambda_T = 0, r_N <= 0
//   bounded condition  hold:  r = 0, |lambda| <= limit     yield: lambda = limit sign, sign that of the rate or of r
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/dense_solve.h"
#include "kernels/dynamics/member.h"

namespace zwang {

enum class RowKind : int { equation, inequality, contact, bounded };
enum class RowChoice : int {
  hold,
  slip,
  slip_back,
  open
};  // slip and slip_back: yield, for bounded conditions

// A row, or a contact with its one or two slip rows.
template <class Real>
struct ContactUnit {
  RowKind kind;
  int row;       // its (first) row; the slip rows of a contact follow
  int tangents;  // slip rows of a contact
  Real cone, cone_static, limit;
  bool moving;    // it slips or yields already: in the direction d
  bool may_hold;  // stick or hold are not excluded
  bool limited;   // an inequality whose multiplier is at most `limit`: it breaks there
  Real d[2];

  // limit sign; the bound of an impulse may be infinite.
  ZWANG_INLINE Real limit_times(Real sign) const { return sign == 0 ? Real(0) : limit * sign; }
};

template <class M>
struct ContactSolution {
  using Real = typename M::Real;
  RowChoice choice[M::rows];  // by unit
  Real lambda[M::rows], residual[M::rows];
  Real d[M::rows][2];  // by unit: the direction of the slip
  bool dependent;
};

template <class M>
struct ContactRows {
  using Real = typename M::Real;
  using Unit = ContactUnit<Real>;
  using Solution = ContactSolution<M>;
  static constexpr int rows = M::rows, n = M::n;

  typename M::Root root;
  int count = 0, units = 0;
  int condition[rows];  // by row
  Real u[rows][n];      // rows in the mass metric: Phi_ij = u_i u_j
  Real phi[rows][rows], phi0[rows];
  Real slack[rows];    // what counts as zero for a residual; for a multiplier, divided by |A_i|^2
  Real squares[rows];  // |A_i|^2, which is Phi_ii unless equations have been eliminated
  Unit unit[rows];

  // Adds a row. `offset` is c, and x0 the motion without rows.
  ZWANG_DEVICE int add_row(int which, const Real* a, Real excess, Real zero) {
    const int i = count++;
    condition[i] = which;
    root.into(a, u[i]);
    phi0[i] = excess;
    slack[i] = zero;
    for (int j = 0; j <= i; ++j) phi[i][j] = phi[j][i] = dot<n>(u[i], u[j]);
    squares[i] = phi[i][i];
    return i;
  }
  ZWANG_DEVICE Unit& add_unit(RowKind kind, int row) {
    Unit& made = unit[units++];
    made.kind = kind;
    made.row = row;
    made.tangents = 0;
    made.cone = made.cone_static = made.limit = 0;
    made.moving = false;
    made.may_hold = true;
    made.limited = false;
    made.d[0] = made.d[1] = 0;
    return made;
  }

  // --- Choices ---
  ZWANG_DEVICE bool is_possible(const Unit& of, RowChoice choice) const {
    switch (of.kind) {
      case RowKind::equation:
        return choice == RowChoice::hold;
      case RowKind::inequality:
        return choice == RowChoice::hold || choice == RowChoice::open ||
               (of.limited && choice == RowChoice::slip);
      case RowKind::contact:
        if (choice == RowChoice::open) return true;
        if (choice == RowChoice::hold) return !of.moving && of.may_hold && of.cone_static > 0;
        if (choice == RowChoice::slip) return true;
        // In space, and where nothing rubs, one direction is found.
        return !of.moving && of.tangents == 1 && of.cone > 0;
      case RowKind::bounded:
        if (choice == RowChoice::hold) return !of.moving && of.may_hold;
        if (of.moving) return choice == (of.d[0] > 0 ? RowChoice::slip : RowChoice::slip_back);
        return choice != RowChoice::open;
    }
    return false;
  }
  ZWANG_DEVICE bool solves_row(const Unit& of, RowChoice choice) const {
    if (of.kind == RowKind::bounded || of.limited) return choice == RowChoice::hold;
    return choice != RowChoice::open;
  }
  ZWANG_DEVICE bool solves_tangents(const Unit& of, RowChoice choice) const {
    return of.kind == RowKind::contact && choice == RowChoice::hold;
  }

  // --- Solution for given choices ---

  // lambda_T = cone lambda_N d, and the sign of a yielding condition.
  ZWANG_DEVICE void set_directions(Solution& at) const {
    for (int k = 0; k < units; ++k) {
      const Unit& of = unit[k];
      const RowChoice choice = at.choice[k];
      at.d[k][0] = at.d[k][1] = 0;
      if (of.kind == RowKind::bounded || of.limited) {
        at.d[k][0] = choice == RowChoice::slip        ? Real(1)
                     : choice == RowChoice::slip_back ? Real(-1)
                                                      : Real(0);
      } else if (of.kind == RowKind::contact && choice != RowChoice::hold && choice != RowChoice::open) {
        at.d[k][0] = of.d[0];
        at.d[k][1] = of.d[1];
        if (!of.moving && of.tangents == 1) at.d[k][0] = choice == RowChoice::slip ? Real(1) : Real(-1);
      }
    }
  }

  // The unknown multipliers of a choice.
  struct Unknowns {
    int count = 0;
    int row[rows];    // by unknown
    int unit[rows];   // by unknown: the unit whose first row it is; -1: a slip row
    int first[rows];  // by unit: its first unknown; -1: none
  };
  ZWANG_DEVICE void list_unknowns(const Solution& at, Unknowns& all) const {
    for (int k = 0; k < units; ++k) {
      const Unit& of = unit[k];
      all.first[k] = -1;
      if (!solves_row(of, at.choice[k])) continue;
      all.first[k] = all.count;
      all.unit[all.count] = k;
      all.row[all.count++] = of.row;
      for (int c = 1; c <= of.tangents && solves_tangents(of, at.choice[k]); ++c) {
        all.unit[all.count] = -1;
        all.row[all.count++] = of.row + c;
      }
    }
  }
  // What is left of Phi0 in row i by the forces of yielding rows.
  ZWANG_DEVICE Real without_unknowns(const Solution& at, int i) const {
    Real sum = phi0[i];
    for (int k = 0; k < units; ++k)
      if (unit[k].kind == RowKind::bounded || unit[k].limited)
        sum -= phi[i][unit[k].row] * unit[k].limit_times(at.d[k][0]);
    return sum;
  }
  // Row i of Phi in the column of unknown j; that of a slipping contact is A_N + cone d A_T [friction-4].
  ZWANG_DEVICE Real column_entry(const Solution& at, const Unknowns& all, int i, int j) const {
    Real entry = phi[i][all.row[j]];
    if (all.unit[j] < 0) return entry;
    const Unit& of = unit[all.unit[j]];
    for (int c = 0; c < of.tangents && !solves_tangents(of, at.choice[all.unit[j]]); ++c)
      entry += of.cone * at.d[all.unit[j]][c] * phi[i][of.row + 1 + c];
    return entry;
  }
  // Phi lambda = Phi0 over the unknowns, or = the column of row `of` of Phi.
  ZWANG_DEVICE void write_system(const Solution& at, const Unknowns& all, int of, Real (&matrix)[rows][rows],
                                 Real* right) const {
    for (int i = 0; i < all.count; ++i) {
      right[i] = of < 0 ? without_unknowns(at, all.row[i]) : phi[all.row[i]][of];
      for (int j = 0; j < all.count; ++j) matrix[i][j] = column_entry(at, all, all.row[i], j);
    }
  }

  // Solves for the multipliers. Rows that depend on each other share the load as contacts of equal compliance
  // [friction-15].
  ZWANG_COLD void solve_linear(Solution& at) const {
    Unknowns all;
    list_unknowns(at, all);
    Real x[rows];
    solve_unknowns(at, all, -1, x);
    for (int i = 0; i < count; ++i) at.lambda[i] = 0;
    for (int j = 0; j < all.count; ++j) at.lambda[all.row[j]] = x[j];
    complete(at);
  }
  // False where the matrix is singular beside the dependences of the rows: those of its columns then differ.
  ZWANG_DEVICE bool solve_unknowns(Solution& at, const Unknowns& all, int of, Real* x) const {
    return solve_system(all, x, at.dependent, [&](Real(&matrix)[rows][rows], Real* right) {
      write_system(at, all, of, matrix, right);
    });
  }
  // The same for the system that `write` fills in.
  template <class Write>
  ZWANG_COLD bool solve_system(const Unknowns& all, Real* x, bool& dependent, const Write& write) const {
    const int m = all.count;
    Real matrix[rows][rows], right[rows], scale[rows];
    write(matrix, right);
    for (int i = 0; i < m; ++i) scale[i] = sqrt(maximum(squares[all.row[i]], Precision<Real>::tiny));
    // Pivots that may be rounding: the distances of the rows decide.
    const Real doubtful = Real(1e3) * Precision<Real>::dependent;
    dependent = false;
    if (solve_dense(m, matrix, right, scale, doubtful, x) == m) return true;
    Real vectors[rows][n];
    for (int j = 0; j < m; ++j) copy<n>(u[all.row[j]], vectors[j]);
    NullSpace<Real, rows> dependences;
    dependences.find(m, vectors, sqrt(Precision<Real>::dependent));
    write(matrix, right);
    add_dependences(dependences, m, scale, matrix);
    const int rank = solve_dense(m, matrix, right, scale, Precision<Real>::dependent, x);
    dependent = dependences.count > 0 || rank < m;
    return rank == m;
  }

  // Multipliers of slip and yield, and the residuals of all rows.
  ZWANG_DEVICE void complete(Solution& at) const {
    for (int k = 0; k < units; ++k) {
      const Unit& of = unit[k];
      if ((of.kind == RowKind::bounded || of.limited) && at.choice[k] != RowChoice::hold)
        at.lambda[of.row] = of.limit_times(at.d[k][0]);
      if (of.kind == RowKind::contact && at.choice[k] != RowChoice::hold)
        for (int c = 0; c < of.tangents; ++c)
          at.lambda[of.row + 1 + c] = of.cone * at.lambda[of.row] * at.d[k][c];
    }
    for (int i = 0; i < count; ++i) {
      Real sum = phi0[i];
      for (int j = 0; j < count; ++j) sum -= phi[i][j] * at.lambda[j];
      at.residual[i] = sum;
    }
  }

  // --- Judgement ---
  ZWANG_DEVICE bool is_admissible(const Solution& at) const {
    for (int k = 0; k < units; ++k)
      if (!is_admissible(unit[k], at.choice[k], at.d[k], at)) return false;
    return true;
  }
  ZWANG_DEVICE Real zero_of_multiplier(int i) const { return slack[i] / squares[i]; }
  ZWANG_DEVICE bool is_admissible(const Unit& of, RowChoice choice, const Real* d, const Solution& at) const {
    const int i = of.row;
    const Real lambda = at.lambda[i], residual = at.residual[i], zero = zero_of_multiplier(i);
    if (!is_finite(lambda) || !is_finite(residual)) return false;
    if (of.kind == RowKind::bounded) {
      if (choice == RowChoice::hold)
        return absolute(residual) <= 4 * slack[i] && absolute(lambda) <= of.limit + zero;
      return of.moving || d[0] * residual >= -slack[i];
    }
    if (choice == RowChoice::open) return residual <= slack[i];
    if (of.limited && choice == RowChoice::slip) return residual >= -slack[i];
    if (of.limited && !(lambda <= of.limit + zero)) return false;
    // A row that depends on others must agree with them.
    if (!(absolute(residual) <= 4 * slack[i])) return false;
    if (of.kind == RowKind::equation) return true;
    if (!(lambda >= -zero)) return false;
    if (of.kind == RowKind::inequality) return true;
    return is_tangentially_admissible(of, choice, d, at);
  }
  ZWANG_DEVICE bool is_tangentially_admissible(const Unit& of, RowChoice choice, const Real* d,
                                               const Solution& at) const {
    const int i = of.row;
    Real force = 0, along = 0, zero = of.cone_static * zero_of_multiplier(i), slack_along = 0;
    for (int c = 0; c < of.tangents; ++c) {
      const int t = i + 1 + c;
      force += square(at.lambda[t]);
      along += d[c] * at.residual[t];
      zero = maximum(zero, zero_of_multiplier(t));
      slack_along = maximum(slack_along, slack[t]);
      if (choice == RowChoice::hold && !(absolute(at.residual[t]) <= 4 * slack[t])) return false;
    }
    if (choice == RowChoice::hold) return sqrt(force) <= of.cone_static * at.lambda[i] + zero;
    if (of.moving || !(of.cone > 0)) return true;
    // In space it must also point along the slip that begins.
    const Real across = of.tangents == 1 ? Real(0) : d[0] * at.residual[i + 2] - d[1] * at.residual[i + 1];
    return along >= -slack_along && absolute(across) <= 4 * slack_along + direction_error() * absolute(along);
  }

  // By how much a slip that begins may point beside its friction, as a share of its size.
  ZWANG_INLINE static Real direction_error() { return 10 * sqrt(Precision<Real>::epsilon); }

  // The judge of a solution, whatever found it: the largest violation of the laws at the head of this file beyond
  // rounding, relative to the size of the problem (friction_residual() of the reference).
  ZWANG_COLD Real violation(const Solution& at) const {
    Real worst = 0, size = 0;
    for (int i = 0; i < count; ++i)
      size = maximum(size, maximum(absolute(phi0[i]), absolute(at.lambda[i]) * phi[i][i]) / sqrt(phi[i][i]));
    const auto raise = [&](Real value, Real zero, int i) {
      worst = maximum(worst, (value - 4 * zero) / sqrt(phi[i][i]));
    };
    for (int k = 0; k < units; ++k) {
      const Unit& of = unit[k];
      const int i = of.row;
      const Real lambda = at.lambda[i] * phi[i][i], residual = at.residual[i];
      if (of.kind == RowKind::equation) raise(absolute(residual), slack[i], i);
      if (of.kind == RowKind::bounded && !of.moving) {
        raise(absolute(at.lambda[i]) * phi[i][i] - of.limit * phi[i][i], slack[i], i);
        raise(minimum(absolute(residual), of.limit * phi[i][i] - lambda * (residual > 0 ? 1 : -1)), slack[i],
              i);
      }
      if (of.kind == RowKind::inequality || of.kind == RowKind::contact) {
        if (!of.limited) raise(residual, slack[i], i);
        raise(-lambda, slack[i], i);
        if (!of.limited) raise(minimum(lambda, -residual), slack[i], i);
      }
      if (of.kind != RowKind::contact || !(of.cone_static > 0)) continue;
      // The rounding of a slip in space is that of the less exact of its two rows.
      Real force = 0, power = 0, speed = 0, zero = 0;
      for (int c = 0; c < of.tangents; ++c) {
        const int t = i + 1 + c;
        force += square(at.lambda[t]);
        power += at.lambda[t] * at.residual[t];
        speed += square(at.residual[t]);
        zero = maximum(zero, slack[t]);
      }
      const int t = i + 1;
      raise((sqrt(force) - of.cone_static * at.lambda[i]) * phi[t][t], zero + of.cone_static * slack[i], t);
      if (!of.moving && speed > square(8 * zero))
        raise((of.cone * at.lambda[i] - power / sqrt(speed)) * phi[t][t], zero + of.cone * slack[i], t);
    }
    return worst > 0 && size > 0 ? worst / size : Real(0);
  }

  // The square of the difference of two motions in the mass metric. Summed as forces, since the multipliers of dependent
  // rows may differ by much and move alike.
  ZWANG_DEVICE Real difference(const Solution& a, const Solution& b) const {
    Real apart[n];
    for (int j = 0; j < n; ++j) apart[j] = 0;
    for (int i = 0; i < count; ++i) add_multiple<n>(a.lambda[i] - b.lambda[i], u[i], apart);
    return dot<n>(apart, apart);
  }
  ZWANG_DEVICE Real size_of(const Solution& at) const {
    Real sum = 0;
    for (int i = 0; i < count; ++i) sum += square(at.lambda[i]) * phi[i][i];
    return sum;
  }

  // kappa of a slipping contact: the change of its r_N by its own multiplier where the other rows of the choice hold
  // [friction-4]; or the same without its friction. Computed as Phi0/lambda would be unsafe where both vanish; here
  // from a unit change of Phi0.
  ZWANG_COLD Real kappa(int k, const Solution& chosen, bool rubs) const {
    Unknowns all;
    list_unknowns(chosen, all);
    const int own = all.first[k];
    Real x[rows];
    bool dependent;
    solve_system(all, x, dependent, [&](Real(&matrix)[rows][rows], Real* right) {
      for (int i = 0; i < all.count; ++i) {
        right[i] = i == own ? Real(1) : Real(0);
        for (int j = 0; j < all.count; ++j)
          matrix[i][j] =
              j == own && !rubs ? phi[all.row[i]][all.row[j]] : column_entry(chosen, all, all.row[i], j);
      }
    });
    return x[own] == 0 ? Real(0) : 1 / x[own];
  }
};

}  // namespace zwang
