// Contact problems (dynamics/contact_rows.h) that have one motion at most (dynamics/uniqueness.h): it is
// found without trying all choices. Projected iterations propose a choice, Newton's method finds its
// directions, and what contradicts the choice is corrected. Where that fails, or ends at the edge of a
// choice, all of them are tried (contact_problem.h).
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/contact_rows.h"
#include "kernels/dynamics/dense_solve.h"
#include "kernels/dynamics/nearest_in_cones.h"
#include "kernels/dynamics/uniqueness.h"

namespace zwang {

template <class M>
struct UniqueMotion : Uniqueness<M> {
  using Base = Uniqueness<M>;
  using Real = typename M::Real;
  using Unit = typename Base::Unit;
  using Solution = typename Base::Solution;
  using Base::choice_of, Base::contradicts_deflections, Base::count, Base::deflection, Base::difference,
      Base::has_one_motion, Base::is_admissible, Base::is_possible, Base::list_rubbing,
      Base::polish_directions, Base::relax, Base::represent, Base::rubs, Base::seeks_direction,
      Base::set_directions, Base::slack, Base::solve_linear, Base::u, Base::unit, Base::units,
      Base::zero_of_multiplier;
  using Rubbing = typename Base::Rubbing;
  static constexpr int rows = M::rows, n = M::n, most = Base::most;

  // False where several motions are not excluded, or the one is at the edge of its choice.
  ZWANG_COLD bool find_unique(Solution& found) const {
    Rubbing rubbing;
    if (!list_rubbing(rubbing) || !has_one_motion(rubbing)) return false;
    // Iterations propose a choice, which is solved and corrected where it fails. The frictions of dependent
    // rows that iterations end with may be at their cones although the contacts stick.
    Solution guess;
    for (int i = 0; i < count; ++i) guess.lambda[i] = 0;
    for (int round = 0; round < 8; ++round) {
      for (int pass = 0; pass < (round == 0 ? 4 : 16); ++pass) {
        for (int k = 0; k < units; ++k) relax(unit[k], guess);
        if (rubbing.dependent) share_load(rubbing, guess);
      }
      for (int k = 0; k < units; ++k) guess.choice[k] = choice_of(unit[k], guess);
      found = guess;
      for (int correction = 0; correction < 4; ++correction) {
        if (!solve_near(found)) break;
        if (is_at_rest(rubbing, found) && bears_rest(rubbing, found)) return hold_all(rubbing, found);
        if (is_clear(found)) return !rubbing.dependent || excludes_stick(rubbing, found);
        if (!correct(found)) break;
      }
    }
    return false;
  }

  // The least forces with the same resultants: along w until one of them vanishes.
  ZWANG_DEVICE void share_load(const Rubbing& rubbing, Solution& at) const {
    Real before[most];
    for (int j = 0; j < most; ++j) before[j] = at.lambda[unit[rubbing.unit[j]].row];
    shift_load(rubbing, at);
    // Friction follows, as in slip.
    for (int j = 0; j < most; ++j) {
      const Unit& of = unit[rubbing.unit[j]];
      for (int c = 1; c <= of.tangents; ++c)
        at.lambda[of.row + c] *= before[j] > 0 ? at.lambda[of.row] / before[j] : Real(0);
    }
  }
  ZWANG_DEVICE void shift_load(const Rubbing& rubbing, Solution& at) const {
    Real along = 0, least, largest;
    for (int j = 0; j < most; ++j) along -= rubbing.w[j] * at.lambda[unit[rubbing.unit[j]].row];
    bound_shift(rubbing, at, least, largest);
    const Real shift = maximum(minimum(along, largest), least);
    for (int j = 0; j < most; ++j) {
      Real& force = at.lambda[unit[rubbing.unit[j]].row];
      const Real moved = shift * rubbing.w[j];
      force = force + moved > 4 * Precision<Real>::epsilon * absolute(moved) ? force + moved : Real(0);
    }
  }
  // The shifts along w that leave all normal forces positive.
  ZWANG_DEVICE void bound_shift(const Rubbing& rubbing, const Solution& at, Real& least,
                                Real& largest) const {
    least = -infinity<Real>();
    largest = infinity<Real>();
    for (int j = 0; j < most; ++j) {
      const Real force = at.lambda[unit[rubbing.unit[j]].row], w = rubbing.w[j];
      if (w > 0) least = maximum(least, -force / w);
      if (w < 0) largest = minimum(largest, -force / w);
    }
  }

  // Solves the choice of `at` with the directions of its friction as a first guess.
  ZWANG_COLD bool solve_near(Solution& at) const {
    Real guess[rows][2];
    int sought[rows], many = 0;
    for (int k = 0; k < units; ++k) {
      if (!seeks_direction(k, at)) continue;
      const int t = unit[k].row + 1;
      const Real size = sqrt(square(at.lambda[t]) + square(at.lambda[t + 1]));
      if (!(size > 0)) return false;
      for (int c = 0; c < 2; ++c) guess[many][c] = at.lambda[t + c] / size;
      sought[many++] = k;
    }
    set_directions(at);
    for (int j = 0; j < many; ++j)
      for (int c = 0; c < 2; ++c) at.d[sought[j]][c] = guess[j][c];
    solve_linear(at);
    if (many > 0) polish_directions(sought, many, at);
    return true;
  }

  // Changes the choices of contacts that contradict them. False if there are none.
  ZWANG_COLD bool correct(Solution& at) const {
    bool changed = false;
    for (int k = 0; k < units; ++k) {
      const Unit& of = unit[k];
      if (of.kind != RowKind::contact && of.kind != RowKind::inequality) continue;
      const RowChoice now = at.choice[k];
      RowChoice next = now;
      Real pressed;
      if (now == RowChoice::open) {
        const bool closes =
            at.residual[of.row] > slack[of.row] ||
            (at.residual[of.row] >= -slack[of.row] && deflection(at, of.row, pressed) && pressed > 0);
        if (closes) next = close(k, at);
      } else if (!(at.lambda[of.row] > 0)) {
        next = RowChoice::open;
      } else if (rubs(k) && !of.moving && !is_tangentially_clear(k, at, Real(1e3))) {
        next = now == RowChoice::hold ? slip_along(of, at.lambda) : RowChoice::hold;
        if (!is_possible(of, next)) next = now;
      }
      changed = changed || next != now;
      at.choice[k] = next;
    }
    return changed;
  }

  // A contact that must close goes on slipping where it slips now, with friction that way as a first guess.
  ZWANG_DEVICE RowChoice close(int k, Solution& at) const {
    const Unit& of = unit[k];
    Real slip = 0;
    for (int c = 1; c <= of.tangents; ++c) {
      if (rubs(k) && !of.moving) at.lambda[of.row + c] = at.residual[of.row + c];
      slip = maximum(slip, absolute(at.residual[of.row + c]));
    }
    const bool slips = rubs(k) && slip > Real(1e3) * slack[of.row + 1];
    return !slips && is_possible(of, RowChoice::hold) ? RowChoice::hold : slip_along(of, at.residual);
  }
  // The choice of a contact that slips where `tangential` points; in space its direction is found apart.
  ZWANG_DEVICE static RowChoice slip_along(const Unit& of, const Real* tangential) {
    const bool back = of.tangents == 1 && !of.moving && tangential[of.row + 1] < 0;
    return back ? RowChoice::slip_back : RowChoice::slip;
  }

  // Whether a solution is admissible and far from the edges of its choice, so that no other choice has its
  // motion.
  ZWANG_COLD bool is_clear(const Solution& at) const {
    if (!is_admissible(at)) return false;
    for (int k = 0; k < units; ++k)
      if (!is_clear(k, at)) return false;
    return true;
  }
  ZWANG_DEVICE bool is_clear(int k, const Solution& at) const {
    const Unit& of = unit[k];
    const RowChoice choice = at.choice[k];
    if (of.kind == RowKind::equation) return true;
    const int i = of.row;
    const Real far = 1e3, lambda = at.lambda[i], zero = far * zero_of_multiplier(i),
               residual = at.residual[i];
    if (of.kind == RowKind::bounded) {
      if (choice == RowChoice::hold) return absolute(lambda) <= of.limit - zero;
      return of.moving || at.d[k][0] * residual >= far * slack[i];
    }
    if (choice == RowChoice::open) {
      // It separates, or those that hold would press it less than not at all.
      Real pressed;
      return residual <= -far * slack[i] || (deflection(at, i, pressed) && pressed < 0);
    }
    if (of.limited) return choice == RowChoice::hold && lambda >= zero && lambda <= of.limit - zero;
    if (!(lambda >= zero)) return false;
    return !rubs(k) || of.moving || is_tangentially_clear(k, at, far);
  }
  ZWANG_DEVICE bool is_tangentially_clear(int k, const Solution& at, Real far) const {
    const Unit& of = unit[k];
    const int i = of.row;
    Real force = 0, along = 0, zero = of.cone * zero_of_multiplier(i), slack_along = 0;
    for (int c = 0; c < of.tangents; ++c) {
      const int t = i + 1 + c;
      force += square(at.lambda[t]);
      along += at.d[k][c] * at.residual[t];
      zero = maximum(zero, zero_of_multiplier(t));
      slack_along = maximum(slack_along, slack[t]);
    }
    if (at.choice[k] == RowChoice::hold) return sqrt(force) <= of.cone * at.lambda[i] - far * zero;
    return along >= far * slack_along;
  }

  // Whether a solution leaves all contacts with friction at rest. Several choices then have this motion: rows
  // that depend on each other may share the forces in many ways.
  ZWANG_COLD bool is_at_rest(const Rubbing& rubbing, const Solution& at) const {
    for (int j = 0; j < rubbing.count; ++j) {
      const Unit& of = unit[rubbing.unit[j]];
      if (!is_possible(of, RowChoice::hold)) return false;
      for (int i = of.row; i <= of.row + of.tangents; ++i)
        if (!(absolute(at.residual[i]) <= 4 * slack[i])) return false;
    }
    for (int k = 0; k < units; ++k)
      if (!rubs(k) && !is_clear(k, at)) return false;
    return true;
  }
  // Whether there are admissible forces for it with the normal ones of least norm, if not those of `at`:
  // frictions that move nothing may be added.
  ZWANG_COLD bool bears_rest(const Rubbing& rubbing, const Solution& at) const {
    if (is_admissible(at) && !contradicts_deflections(at)) return true;
    Solution stuck = at;
    for (int j = 0; j < rubbing.count; ++j) stuck.choice[rubbing.unit[j]] = RowChoice::hold;
    set_directions(stuck);
    solve_linear(stuck);
    if (rubbing.dependent) shift_load(rubbing, stuck);
    Real force[rows][n], lambda[rows], x[rows];
    int m = 0;
    for (int j = 0; j < rubbing.count; ++j)
      for (int c = 1; c <= unit[rubbing.unit[j]].tangents; ++c) {
        copy<n>(u[unit[rubbing.unit[j]].row + c], force[m]);
        lambda[m++] = stuck.lambda[unit[rubbing.unit[j]].row + c];
      }
    NullSpace<Real, rows> null;
    null.find(m, force, Real(100) * Precision<Real>::tie);
    // The normal forces, which stay as they are, follow the frictions.
    NearestInCones<Real, rows> nearest(m + rubbing.count, lambda, null);
    for (int j = 0, tangent = 0; j < rubbing.count; ++j) {
      const Unit& of = unit[rubbing.unit[j]];
      lambda[m + j] = stuck.lambda[of.row];
      for (int d = 0; d < null.count; ++d) null.vector[d][m + j] = 0;
      nearest.add_cone(m + j, tangent, of.tangents, of.cone);
      tangent += of.tangents;
    }
    nearest.solve(x);
    m = 0;
    for (int j = 0; j < rubbing.count; ++j)
      for (int c = 1; c <= unit[rubbing.unit[j]].tangents; ++c)
        stuck.lambda[unit[rubbing.unit[j]].row + c] = x[m++];
    return is_admissible(stuck);
  }
  // The first of these choices: all of them stick.
  ZWANG_COLD bool hold_all(const Rubbing& rubbing, Solution& at) const {
    for (int j = 0; j < rubbing.count; ++j) at.choice[rubbing.unit[j]] = RowChoice::hold;
    set_directions(at);
    solve_linear(at);
    if (at.dependent) represent(at);
    return is_admissible(at);
  }

  // Dependent normal rows: where all contacts stick, forces of any norm are admissible. Against a slip r
  // found, such a solution would have |v|^2 <= sum mu x_N |r|, with the same v for all of its forces.
  ZWANG_COLD bool excludes_stick(const Rubbing& rubbing, const Solution& found) const {
    Real speed[most];
    bool slips = false;
    Solution stuck = found;
    for (int j = 0; j < most; ++j) {
      const Unit& of = unit[rubbing.unit[j]];
      const Real x = found.residual[of.row + 1], y = found.residual[of.row + 2];
      if (of.moving) return true;
      speed[j] = sqrt(square(x) + square(y));
      slips = slips || speed[j] > maximum(slack[of.row + 1], slack[of.row + 2]);
      stuck.choice[rubbing.unit[j]] = RowChoice::hold;
    }
    if (!slips) return true;
    set_directions(stuck);
    solve_linear(stuck);
    Real least, largest;
    bound_shift(rubbing, stuck, least, largest);
    if (least > largest) return true;
    Real work = 0, change = 0;
    for (int j = 0; j < most; ++j) {
      const Unit& of = unit[rubbing.unit[j]];
      work += of.cone * (stuck.lambda[of.row] - found.lambda[of.row]) * speed[j];
      change += of.cone * rubbing.w[j] * speed[j];
    }
    const Real bound = work + maximum(change * least, change * largest);
    return difference(found, stuck) > bound + Real(1e-6) * absolute(bound);
  }
};

}  // namespace zwang
