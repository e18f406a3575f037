// The search for the choices that solve a contact problem (dynamics/contact_rows.h). The reference is
// src/laws/mode_search.cpp.
//
// Every combination is tried, because several may be admissible: friction is not a minimum of one function. Where
// there are too many, projected Gauss-Seidel iterations propose one, which is then solved and judged like the others;
// that it is the only one is then not certain.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/dynamics/contact_rows.h"

namespace zwang {

template <class M>
struct ContactProblem : ContactRows<M> {
  using Base = ContactRows<M>;
  using Real = typename M::Real;
  using Unit = typename Base::Unit;
  using Solution = typename Base::Solution;
  using Base::count, Base::difference, Base::is_admissible, Base::is_possible, Base::phi, Base::phi0,
      Base::size_of, Base::solve, Base::unit, Base::units;
  static constexpr int most_combinations = 4096, most_admissible = 8;

  enum class Verdict : int { one, none, several };

  ZWANG_COLD Verdict find(Solution& found) const {
    long long combinations = 1;
    for (int k = 0; k < units && combinations <= most_combinations; ++k) {
      int options = 0;
      for (int c = 0; c < 4; ++c) options += is_possible(unit[k], RowChoice(c)) ? 1 : 0;
      combinations *= options;
    }
    return combinations <= most_combinations ? find_among_all(found) : find_by_iteration(found);
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

  ZWANG_COLD Verdict find_among_all(Solution& found) const {
    Solution admissible[most_admissible], at;
    int many = 0;
    for (int k = 0; k < units; ++k) at.choice[k] = first_choice(k);
    do {
      solve(at);
      if (many < most_admissible && is_admissible(at)) admissible[many++] = at;
    } while (next_choice(at));
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
    int first = -1;
    for (int s = 0; s < many; ++s) {
      if (out[s]) continue;
      if (first < 0) {
        first = s;
        continue;
      }
      const Real size = maximum(size_of(admissible[first]), size_of(admissible[s]));
      if (difference(admissible[first], admissible[s]) > square(Real(1e3) * Precision<Real>::tie) * size)
        return Verdict::several;
      // Equal motions: one without dependent rows has multipliers of its own.
      if (admissible[first].dependent && !admissible[s].dependent) first = s;
    }
    found = admissible[first];
    return Verdict::one;
  }

  // Projected Gauss-Seidel iterations on the multipliers; the choices they end with are solved and judged.
  ZWANG_COLD Verdict find_by_iteration(Solution& found) const {
    for (int k = 0; k < units; ++k) found.choice[k] = RowChoice::hold;
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
    return is_admissible(found) ? Verdict::one : Verdict::none;
  }
  ZWANG_DEVICE Real residual_now(int i, const Solution& at) const {
    Real sum = phi0[i];
    for (int j = 0; j < count; ++j) sum -= phi[i][j] * at.lambda[j];
    return sum;
  }
  ZWANG_DEVICE void relax(const Unit& of, Solution& at) const {
    const int i = of.row;
    Real& lambda = at.lambda[i];
    if (of.kind == RowKind::bounded && of.moving) {
      lambda = of.limit_times(of.d[0]);
      return;
    }
    lambda += residual_now(i, at) / phi[i][i];
    if (of.kind == RowKind::bounded) lambda = minimum(maximum(lambda, -of.limit), of.limit);
    if (of.kind == RowKind::inequality || of.kind == RowKind::contact) lambda = maximum(lambda, Real(0));
    if (of.kind != RowKind::contact) return;
    Real force = 0;
    for (int c = 0; c < of.tangents; ++c) {
      Real& tangential = at.lambda[i + 1 + c];
      if (of.moving)
        tangential = of.cone * lambda * of.d[c];
      else
        tangential += residual_now(i + 1 + c, at) / phi[i + 1 + c][i + 1 + c];
      force += square(tangential);
    }
    const Real most = of.cone_static * lambda;
    if (of.moving || !(sqrt(force) > most)) return;
    for (int c = 0; c < of.tangents; ++c) at.lambda[i + 1 + c] *= of.cone * lambda / sqrt(force);
  }
  ZWANG_DEVICE RowChoice choice_of(const Unit& of, const Solution& at) const {
    const int i = of.row;
    const Real lambda = at.lambda[i];
    if (of.kind == RowKind::equation) return RowChoice::hold;
    if (of.kind == RowKind::bounded) {
      if (of.moving) return of.d[0] > 0 ? RowChoice::slip : RowChoice::slip_back;
      if (absolute(lambda) < of.limit * (1 - Precision<Real>::tie) && of.may_hold) return RowChoice::hold;
      return lambda > 0 ? RowChoice::slip : RowChoice::slip_back;
    }
    if (!(lambda > 0)) return RowChoice::open;
    if (of.kind == RowKind::inequality) return RowChoice::hold;
    Real force = 0;
    for (int c = 0; c < of.tangents; ++c) force += square(at.lambda[i + 1 + c]);
    const bool inside = sqrt(force) < of.cone * lambda * (1 - Precision<Real>::tie);
    if (inside && is_possible(of, RowChoice::hold)) return RowChoice::hold;
    return of.tangents == 1 && !of.moving && at.lambda[i + 1] < 0 ? RowChoice::slip_back : RowChoice::slip;
  }
};

}  // namespace zwang
