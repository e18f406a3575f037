// The search for the choices that solve a contact problem (dynamics/contact_rows.h). The reference is
// src/laws/mode_search.cpp.
//
// Every combination is tried, because several may be admissible: friction is not a minimum of one function. Contacts
// that do not act on each other, as those of balls far apart on one table, are solved apart, so that the number of
// combinations grows with the size of the largest cluster of contacts. Where there are too many, projected Gauss-Seidel
// iterations propose one, which is then solved and judged like the others; that it is the only one is then not certain.
//
// Before that the equations are eliminated, and what is left is tried for one motion that is certainly the only one
// (unique_motion.h): among rods and links this takes a tenth of the operations of the search.
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/contact_rows.h"
#include "kernels/dynamics/equation_span.h"
#include "kernels/dynamics/unique_motion.h"

namespace zwang {

template <class M>
struct ContactProblem : UniqueMotion<M> {
  using Base = UniqueMotion<M>;
  using Real = typename M::Real;
  using Unit = typename Base::Unit;
  using Solution = typename Base::Solution;
  using Base::choice_of, Base::complete, Base::condition, Base::count, Base::deflection, Base::difference,
      Base::each_solution, Base::find_unique, Base::is_admissible, Base::is_possible,
      Base::contradicts_deflections, Base::phi, Base::phi0, Base::kappa, Base::relax, Base::represent,
      Base::set_directions, Base::size_of, Base::slack, Base::solve, Base::solve_linear, Base::squares,
      Base::u, Base::unit, Base::units;
  static constexpr int rows = M::rows, most_combinations = 4096, most_admissible = 8;

  // singular: kappa of a contact that slips vanishes or is negative (Painleve) [friction-5].
  enum class Verdict : int { one, none, several, singular };

  // `margin`: kappa counts as zero up to this share of its value without friction. In impacts (margin < 0) its sign
  // does not matter.
  ZWANG_COLD Verdict find(Solution& found, Real margin) const {
    int cluster_of[rows];
    const int clusters = find_clusters(cluster_of);
    if (clusters <= 1) return find_connected(found, margin);
    Verdict verdict = Verdict::one;
    found.dependent = false;
    for (int c = 0; c < clusters; ++c) {
      ContactProblem part;
      Solution own;
      extract(cluster_of, c, part);
      const Verdict judged = part.find_connected(own, margin);
      if (judged == Verdict::none) return judged;
      if (int(judged) > int(verdict)) verdict = judged;
      insert(cluster_of, c, part, own, found);
    }
    return verdict;
  }

  // Numbers the clusters of units that act on each other, directly or through others, and returns how many there are.
  ZWANG_COLD int find_clusters(int* cluster_of) const {
    int clusters = 0;
    for (int k = 0; k < units; ++k) cluster_of[k] = -1;
    for (int k = 0; k < units; ++k) {
      if (cluster_of[k] >= 0) continue;
      cluster_of[k] = clusters;
      for (bool grows = true; grows;) {
        grows = false;
        for (int a = k; a < units; ++a)
          for (int b = k + 1; b < units && cluster_of[a] == clusters; ++b) {
            if (cluster_of[b] >= 0 || !are_coupled(unit[a], unit[b])) continue;
            cluster_of[b] = clusters;
            grows = true;
          }
      }
      ++clusters;
    }
    return clusters;
  }
  ZWANG_DEVICE bool are_coupled(const Unit& a, const Unit& b) const {
    for (int i = a.row; i <= a.row + a.tangents; ++i)
      for (int j = b.row; j <= b.row + b.tangents; ++j)
        if (phi[i][j] != 0) return true;
    return false;
  }

  // The problem of one cluster alone; `condition` of its rows is their number here.
  ZWANG_DEVICE void extract(const int* cluster_of, int cluster, ContactProblem& part) const {
    for (int k = 0; k < units; ++k) {
      if (cluster_of[k] != cluster) continue;
      Unit& made = part.unit[part.units++];
      made = unit[k];
      made.row = part.count;
      for (int i = unit[k].row; i <= unit[k].row + unit[k].tangents; ++i) {
        const int row = part.count++;
        part.condition[row] = i;
        part.phi0[row] = phi0[i];
        part.slack[row] = slack[i];
        part.squares[row] = squares[i];
        copy<M::n>(u[i], part.u[row]);
      }
    }
    for (int i = 0; i < part.count; ++i)
      for (int j = 0; j < part.count; ++j) part.phi[i][j] = phi[part.condition[i]][part.condition[j]];
  }
  // Writes its solution in the place of the cluster.
  ZWANG_DEVICE void insert(const int* cluster_of, int cluster, const ContactProblem& part,
                           const Solution& own, Solution& found) const {
    int unit_of_part = 0;
    for (int k = 0; k < units; ++k) {
      if (cluster_of[k] != cluster) continue;
      found.choice[k] = own.choice[unit_of_part];
      for (int c = 0; c < 2; ++c) found.d[k][c] = own.d[unit_of_part][c];
      ++unit_of_part;
    }
    for (int i = 0; i < part.count; ++i) {
      found.lambda[part.condition[i]] = own.lambda[i];
      found.residual[part.condition[i]] = own.residual[i];
    }
    found.dependent = found.dependent || own.dependent;
  }

  // The motion of a problem that certainly has no other. False: all choices have to be tried.
  ZWANG_COLD bool find_certain(Solution& found, Real margin, bool& singular) const {
    bool equations = false;
    for (int k = 0; k < units; ++k) equations = equations || unit[k].kind == RowKind::equation;
    if (!equations) {
      if (!find_unique(found)) return false;
      singular = is_singular(found, margin);
      return true;
    }
    ContactProblem rest;
    EquationSpan<Real, M::n> span;
    Solution own;
    own.dependent = false;
    if (!eliminate_equations(span, rest)) return false;
    if (rest.units > 0 && !rest.find_unique(own)) return false;
    singular = rest.is_singular(own, margin);
    return complete_from(span, own, found);
  }

  // The problem of all rows but the equations. False where a row nearly depends on these.
  ZWANG_DEVICE bool eliminate_equations(EquationSpan<Real, M::n>& span, ContactProblem& rest) const {
    for (int k = 0; k < units; ++k)
      if (unit[k].kind == RowKind::equation && !span.add(u[unit[k].row], phi0[unit[k].row])) return false;
    for (int k = 0; k < units; ++k) {
      if (unit[k].kind == RowKind::equation) continue;
      Unit& made = rest.unit[rest.units++];
      made = unit[k];
      made.row = rest.count;
      for (int i = unit[k].row; i <= unit[k].row + unit[k].tangents; ++i) {
        const int row = rest.count++;
        Real* across = rest.u[row];
        copy<M::n>(u[i], across);
        rest.phi0[row] = phi0[i] - span.remove_from(across);
        rest.slack[row] = slack[i];
        rest.squares[row] = squares[i];
        for (int j = 0; j <= row; ++j) rest.phi[row][j] = rest.phi[j][row] = dot<M::n>(across, rest.u[j]);
        if (!(rest.phi[row][row] > Real(1e-6) * squares[i])) return false;
      }
    }
    return true;
  }

  // The solution with the choices of `own`, the problem without the equations. False where it is not admissible.
  ZWANG_DEVICE bool complete_from(const EquationSpan<Real, M::n>& span, const Solution& own,
                                  Solution& found) const {
    Real push[M::n], equation[M::n];
    for (int i = 0; i < M::n; ++i) push[i] = 0;
    int next = 0, row = 0, e = 0;
    for (int k = 0; k < units; ++k) {
      const bool fixed = unit[k].kind == RowKind::equation;
      found.choice[k] = fixed ? RowChoice::hold : own.choice[next];
      for (int c = 0; c < 2; ++c) found.d[k][c] = fixed ? Real(0) : own.d[next][c];
      if (fixed) continue;
      ++next;
      for (int i = unit[k].row; i <= unit[k].row + unit[k].tangents; ++i) {
        found.lambda[i] = own.lambda[row++];
        add_multiple<M::n>(found.lambda[i], u[i], push);
      }
    }
    if (own.dependent) {
      // The equations, too, count for what represents the forces.
      solve_linear(found);
      if (found.dependent) represent(found);
      return is_admissible(found);
    }
    span.solve(push, equation);
    for (int k = 0; k < units; ++k)
      if (unit[k].kind == RowKind::equation) found.lambda[unit[k].row] = equation[e++];
    found.dependent = false;
    complete(found);
    return is_admissible(found);
  }

  ZWANG_COLD Verdict find_connected(Solution& found, Real margin) const {
    if constexpr (M::Model::frictions > 0) {
      bool singular;
      if (find_certain(found, margin, singular)) return singular ? Verdict::singular : Verdict::one;
    }
    long long combinations = 1;
    for (int k = 0; k < units && combinations <= most_combinations; ++k) {
      int options = 0;
      for (int c = 0; c < 4; ++c) options += is_possible(unit[k], RowChoice(c)) ? 1 : 0;
      combinations *= options;
    }
    return combinations <= most_combinations ? find_among_all(found, margin)
                                             : find_by_iteration(found, margin);
  }

  // Whether a contact that slips in this solution has no stiffness left. Contacts that slip beside it count as open.
  ZWANG_COLD bool is_singular(const Solution& at, Real margin) const {
    if (margin < 0) return false;
    for (int k = 0; k < units; ++k) {
      if (!slips(k, at)) continue;
      Solution alone = at;
      for (int other = 0; other < units; ++other)
        if (other != k && slips(other, at)) alone.choice[other] = RowChoice::open;
      // Where what holds decides the motion of this contact, kappa is 0/0: its force is shared.
      Solution without = alone;
      Real shared;
      without.choice[k] = RowChoice::open;
      if (deflection(without, unit[k].row, shared)) continue;
      if (!(kappa(k, alone, true) > margin * kappa(k, alone, false))) return true;
    }
    return false;
  }
  // The rounding of a motion in the mass metric. Where no forces act, as between balls that fall together, it is all
  // that two solutions differ by.
  ZWANG_DEVICE Real rounding_of_motion() const {
    Real largest = 0;
    for (int i = 0; i < count; ++i)
      if (phi[i][i] > 0) largest = maximum(largest, slack[i] / sqrt(phi[i][i]));
    return largest;
  }
  ZWANG_DEVICE bool moves_alike(const Solution& a, const Solution& b) const {
    const Real size = maximum(size_of(a), size_of(b));
    const Real same =
        square(Real(1e3) * Precision<Real>::tie) * size + square(Real(1e3) * rounding_of_motion());
    return difference(a, b) <= same;
  }
  ZWANG_DEVICE bool slips(int k, const Solution& at) const {
    return unit[k].kind == RowKind::contact && unit[k].cone > 0 &&
           (at.choice[k] == RowChoice::slip || at.choice[k] == RowChoice::slip_back);
  }
  // The same where no choice is admissible: whether some contact alone would be singular in slip, one way or the
  // other.
  ZWANG_COLD bool may_be_singular(Real margin) const {
    for (int way = 1; way >= -1; way -= 2) {
      Solution at;
      for (int i = 0; i < count; ++i) at.lambda[i] = 0;
      for (int k = 0; k < units; ++k) {
        const Unit& of = unit[k];
        at.choice[k] = of.kind == RowKind::equation  ? RowChoice::hold
                       : of.kind == RowKind::contact ? RowChoice::slip
                                                     : RowChoice::open;
        at.d[k][0] = of.moving ? of.d[0] : Real(way);
        at.d[k][1] = of.moving ? of.d[1] : Real(0);
      }
      if (is_singular(at, margin)) return true;
    }
    return false;
  }

  // The next combination in the order hold, slip, slip back, open of the last unit; false after the last.
  ZWANG_DEVICE bool next_choice(Solution& at) const {
    for (int k = units - 1; k >= 0; --k) {
      for (int c = int(at.choice[k]) + 1; c < 4; ++c)
        if (is_possible(unit[k], RowChoice(c))) {
          at.choice[k] = RowChoice(c);
          return true;
        }
      at.choice[k] = first_choice(k);
    }
    return false;
  }
  ZWANG_DEVICE RowChoice first_choice(int k) const {
    for (int c = 0; c < 4; ++c)
      if (is_possible(unit[k], RowChoice(c))) return RowChoice(c);
    return RowChoice::open;
  }

  // The admissible solutions of all choices. `iterated`: one set of directions for each choice, found by iterations.
  ZWANG_COLD int list_admissible(bool iterated, Solution* admissible) const {
    Solution at;
    int many = 0;
    for (int k = 0; k < units; ++k) at.choice[k] = first_choice(k);
    do {
      const int before = many;
      const auto add = [&](Solution& one) {
        if (one.dependent) represent(one);
        if (many == most_admissible || !is_admissible(one) || contradicts_deflections(one)) return;
        for (int s = before; s < many; ++s)
          if (moves_alike(admissible[s], one)) return;
        admissible[many++] = one;
      };
      if (iterated) {
        solve(at);
        add(at);
      } else {
        each_solution(at, add);
      }
    } while (next_choice(at));
    return many;
  }

  ZWANG_COLD Verdict find_among_all(Solution& found, Real margin) const {
    Solution admissible[most_admissible];
    int many = list_admissible(false, admissible);
    // Where contacts are dependent, the sets of directions found may miss the one that iterations from rest lead to.
    if (slips_in_space<typename M::Model>() && many == 0) many = list_admissible(true, admissible);
    if (many == 0) return Verdict::none;
    // Where static friction exceeds sliding friction, stick wins over slip.
    bool out[most_admissible];
    for (int s = 0; s < many; ++s) out[s] = false;
    for (int k = 0; k < units; ++k) {
      if (unit[k].kind != RowKind::contact || !(unit[k].cone_static > unit[k].cone)) continue;
      bool sticks = false;
      for (int s = 0; s < many; ++s)
        sticks = sticks || (!out[s] && admissible[s].choice[k] == RowChoice::hold);
      for (int s = 0; s < many; ++s)
        out[s] = out[s] || (sticks && (admissible[s].choice[k] == RowChoice::slip ||
                                       admissible[s].choice[k] == RowChoice::slip_back));
    }
    // Of equal motions the first: it holds, or slips, rather than being open without a force.
    int first = -1;
    bool several = false, singular = false;
    for (int s = 0; s < many; ++s) {
      if (out[s]) continue;
      if (first < 0) {
        first = s;
        singular = is_singular(admissible[s], margin);
        continue;
      }
      if (moves_alike(admissible[first], admissible[s])) continue;
      several = true;
      singular = singular || is_singular(admissible[s], margin);
    }
    found = admissible[first];
    return singular ? Verdict::singular : several ? Verdict::several : Verdict::one;
  }

  // Projected Gauss-Seidel iterations on the multipliers; the choices they end with are solved and judged.
  ZWANG_COLD Verdict find_by_iteration(Solution& found, Real margin) const {
    for (int i = 0; i < count; ++i) found.lambda[i] = 0;
    for (int pass = 0; pass < 2000; ++pass)
      for (int k = 0; k < units; ++k) relax(unit[k], found);
    for (int k = 0; k < units; ++k) found.choice[k] = choice_of(unit[k], found);
    for (int k = 0; k < units; ++k) {
      // The directions found serve as a first guess in space.
      const Unit& of = unit[k];
      const Real size = of.cone * found.lambda[of.row];
      for (int c = 0; c < of.tangents; ++c)
        found.d[k][c] = size > 0 ? found.lambda[of.row + 1 + c] / size : Real(0);
    }
    solve(found);
    if (found.dependent) represent(found);
    if (!is_admissible(found)) return Verdict::none;
    return is_singular(found, margin) ? Verdict::singular : Verdict::one;
  }
};

}  // namespace zwang
