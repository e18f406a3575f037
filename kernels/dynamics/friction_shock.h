// One round of a shock with friction and bounded impulses [friction-11] [limit-4]: Newton's law in the normal
// direction, Coulomb's cone on the impulse, and an energy that does not grow. The reference is
// src/laws/friction_shock.cpp.
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/dynamics/contact_problem.h"
#include "kernels/dynamics/contact_rows.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/shock.h"

namespace zwang {

// The rows of the round. The offset of row i is `rate[i] + theta * rebound[i]`.
template <class M>
struct FrictionRound {
  using Model = typename M::Model;
  using Real = typename M::Real;
  static constexpr int n = M::n;
  ContactProblem<M> contacts;
  ContactSolution<M> solution;
  Real rate[M::rows], rebound[M::rows];

  // Adds row i, linearised at the velocities before the round.
  ZWANG_DEVICE int add(const ShockSetting<M>& setting, const Real* alpha, int i, Real back, Real zero) {
    const M& me = setting.me;
    Real value, rest, a[n], f_rate;
    Model::row(me.k, me.motion.t, me.motion.q(), alpha, me.motion.z(), i, value, f_rate, rest, a);
    const int row = contacts.add_row(i, a, f_rate, zero);
    rate[row] = f_rate;
    rebound[row] = back;
    return row;
  }

  ZWANG_DEVICE void add_contact(const ShockSetting<M>& setting, const Real* alpha, int i, Real back,
                                bool inelastic) {
    const M& me = setting.me;
    const typename M::Motion& motion = me.motion;
    // A contact with a limit bears an impulse up to that limit, without friction [limit-4].
    const int b = Model::bound_of(i), f = b >= 0 ? -1 : Model::friction_of(i);
    const int row = add(setting, alpha, i, back, setting.zero[i]);
    auto& unit = contacts.add_unit(f >= 0 ? RowKind::contact : RowKind::inequality, row);
    if (b >= 0) unit.limit = Model::impulse_limit(me.k, motion.t, motion.q(), alpha, motion.z(), b);
    unit.limited = b >= 0 && unit.limit < infinity<Real>();
    if (f < 0) return;
    // Static friction plays no part in a shock.
    unit.cone = unit.cone_static = Model::cone(me.k, motion.t, motion.q(), alpha, motion.z(), f);
    unit.tangents = Model::friction_rows(f);
    const Real e = Model::tangential_restitution(me.k, motion.t, motion.q(), alpha, motion.z(), f);
    for (int c = 0; c < unit.tangents; ++c) {
      const int t = Model::friction_row(f) + c;
      const int slip = add(setting, alpha, t, 0, setting.rest_zero(t, alpha));
      rebound[slip] = inelastic ? Real(0) : e * rate[slip];
    }
  }

  ZWANG_DEVICE void add_bounded(const ShockSetting<M>& setting, const Real* alpha, int b) {
    const M& me = setting.me;
    const typename M::Motion& motion = me.motion;
    const int i = Model::bound_condition(b);
    const Real limit = Model::impulse_limit(me.k, motion.t, motion.q(), alpha, motion.z(), b);
    if (!(limit > 0) && !Model::bound_breaks(b)) return;
    const int row = add(setting, alpha, i, 0, setting.rest_zero(i, alpha));
    auto& unit = contacts.add_unit(limit < infinity<Real>() ? RowKind::bounded : RowKind::equation, row);
    unit.limit = limit;
  }

  ZWANG_DEVICE bool solve(Real theta) {
    for (int i = 0; i < contacts.count; ++i) contacts.phi0[i] = rate[i] + theta * rebound[i];
    return contacts.find(solution, Real(-1)) == ContactProblem<M>::Verdict::one;
  }

  // The energy that the impulses take out of the motion, in a frame that moves with the conditions: the impulses
  // times the mean of the rates before and after. For conditions at rest it is the loss of kinetic energy
  // [friction-12].
  ZWANG_DEVICE Real dissipated(Real theta) const {
    Real sum = 0;
    for (int i = 0; i < contacts.count; ++i)
      sum += solution.lambda[i] * (rate[i] + (solution.residual[i] - theta * rebound[i]));
    return sum / 2;
  }
  ZWANG_DEVICE Real size_of_energy() const {
    Real sum = 0;
    for (int i = 0; i < contacts.count; ++i) sum += absolute(solution.lambda[i] * rate[i]);
    return sum;
  }

  // The largest rebound, up to the whole one, that creates no energy: the first zero of the loss from theta = 0
  // upwards, or where the solution is lost before. Without rebound nothing is ever gained.
  ZWANG_COLD bool solve_within_energy(Real& theta) {
    theta = 1;
    if (!solve(theta)) return false;
    const Real noise = 64 * Precision<Real>::epsilon * size_of_energy();
    if (dissipated(theta) >= -noise) return true;
    theta = 0;
    if (!solve(theta)) return false;
    Real below = 0, above = 1;
    constexpr int parts = 64;
    const auto is_above = [&] { return !solve(theta) || dissipated(theta) < -noise; };
    for (int part = 1; part < parts; ++part) {
      theta = Real(part) / parts;
      if (is_above()) {
        above = theta;
        break;
      }
      below = theta;
    }
    for (int pass = 0; pass < 60 && above - below > Precision<Real>::epsilon; ++pass) {
      theta = (below + above) / 2;
      (is_above() ? above : below) = theta;
    }
    theta = below;
    return solve(theta);
  }
};

// Solves the round for the rows that take part. Replaces `rows` by all rows of the problem, slip rows included.
template <class M, class Real>
ZWANG_COLD void solve_frictional_round(const ShockSetting<M>& setting, const Real* alpha, ShockRows<M>& rows,
                                       ShockRound<M>& round, typename M::Set& broken) {
  using Model = typename M::Model;
  constexpr int n = M::n;
  FrictionRound<M> made;
  auto& contacts = made.contacts;
  round.feasible = false;
  round.ambiguous = false;
  if (!contacts.root.factor(setting.mass)) return;
  for (int j = 0; j < rows.count; ++j) {
    const int i = rows.condition[j];
    if (rows.equation[j]) {
      contacts.add_unit(RowKind::equation, made.add(setting, alpha, i, rows.rebound[j], setting.zero[i]));
      continue;
    }
    made.add_contact(setting, alpha, i, rows.rebound[j], rows.inelastic);
  }
  for (int b = 0; b < Model::bounds; ++b) {
    const int i = Model::bound_condition(b);
    const bool yields =
        Model::bound_sign(b) >= 0 && setting.me.k[Model::first_mode + Model::bound_sign(b)] != 0;
    const bool holds = setting.me.constraints.conditions[i].standing == Standing::equation;
    if (Model::is_equation(i) && (yields || holds) && !setting.gone.has(i))
      made.add_bounded(setting, alpha, b);
  }
  Real theta;
  if (!made.solve_within_energy(theta)) {
    round.ambiguous = contacts.find(made.solution, Real(-1)) == ContactProblem<M>::Verdict::several;
    return;
  }
  round.feasible = true;
  round.fixed = false;  // Carnot's identity is for shocks without friction
  round.kkt = contacts.violation(made.solution);
  Real pushed[n], move[n];
  for (int i = 0; i < n; ++i) pushed[i] = round.pushed[i] = 0;
  rows.count = 0;
  // An impulse within rounding of the largest is none: the rows are solved together.
  Real largest = 0;
  for (int i = 0; i < contacts.count; ++i)
    largest = maximum(largest, absolute(made.solution.lambda[i]) * sqrt(contacts.phi[i][i]));
  for (int i = 0; i < contacts.count; ++i) {
    rows.add(contacts.condition[i], true, 0);
    const bool noise = absolute(made.solution.lambda[i]) * sqrt(contacts.phi[i][i]) <=
                       8 * Precision<Real>::epsilon * largest;
    round.l[i] = noise ? Real(0) : made.solution.lambda[i];
    round.weight[i] = contacts.phi[i][i];
    Real single[n], change[n];
    for (int j = 0; j < n; ++j) single[j] = round.l[i] * contacts.u[i][j];
    contacts.root.back(single, change);
    for (int j = 0; j < n; ++j) round.pushed[j] += absolute(change[j]);
    add_multiple<n>(Real(1), single, pushed);
  }
  contacts.root.back(pushed, move);
  for (int i = 0; i < n; ++i) round.v[i] = alpha[i] - move[i];
  for (int k = 0; k < contacts.units; ++k) {
    const int b = Model::bound_of(contacts.condition[contacts.unit[k].row]);
    const bool at_bound =
        made.solution.choice[k] == RowChoice::slip || made.solution.choice[k] == RowChoice::slip_back;
    const bool limited = contacts.unit[k].kind == RowKind::bounded || contacts.unit[k].limited;
    if (b >= 0 && Model::bound_breaks(b) && at_bound && limited)
      broken.add(contacts.condition[contacts.unit[k].row]);
  }
}

// The limit of infinitely many shocks with friction: f' = 0 for the contacts.
//
// Until the limit the record keeps the contacts closed, and their friction acts with tau lambda, the impulse of the
// closed phase. The hops left out rub with cone J, and J = l + tau lambda, where l is the impulse of the projection
// (event/zeno.h): what is missing is cone l along the slip. So the projection itself pushes along A_N + cone d A_T,
// as in slip [friction-14]. Contacts that do not slip keep s = 0.
template <class M>
ZWANG_COLD void completed_frictional_shock(ShockSetting<M>& setting, const typename M::Set& kept,
                                           ShockResult<M>& result) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  constexpr int n = M::n;
  const M& me = setting.me;
  const Real* v = me.motion.v();
  FrictionRound<M> made;
  auto& contacts = made.contacts;
  if (!prepare(setting, v, result) || !contacts.root.factor(setting.mass)) {
    result.status = Status::not_finite;
    return;
  }
  // Bounded equations that hold and take part in shocks stay as they are.
  const auto stays = [&](int i) {
    const int b = Model::bound_of(i);
    if (b < 0 || !Model::is_equation(i) || me.constraints.conditions[i].standing != Standing::equation)
      return false;
    return Model::bound_breaks(b) ||
           Model::impulse_limit(me.k, me.motion.t, me.motion.q(), v, me.motion.z(), b) > 0;
  };
  for (int i = 0; i < M::r; ++i) {
    if (setting.is_equation(i) || kept.has(i) || stays(i)) {
      contacts.add_unit(RowKind::equation, made.add(setting, v, i, 0, setting.zero[i]));
    } else if (setting.contacts.has(i)) {
      made.add_contact(setting, v, i, 0, true);
      auto& unit = contacts.unit[contacts.units - 1];
      unit.limited = false;
      if (unit.kind == RowKind::inequality) unit.kind = RowKind::equation;
      Real size = 0, zero = 0;
      for (int c = 0; c < unit.tangents; ++c) {
        size += square(made.rate[unit.row + 1 + c]);
        zero = maximum(zero, contacts.slack[unit.row + 1 + c]);
      }
      unit.moving = unit.tangents > 0 && sqrt(size) > zero;
      for (int c = 0; c < unit.tangents && unit.moving; ++c)
        unit.d[c] = made.rate[unit.row + 1 + c] / sqrt(size);
    }
  }
  for (int i = 0; i < contacts.count; ++i) contacts.phi0[i] = made.rate[i];
  for (int k = 0; k < contacts.units; ++k)
    made.solution.choice[k] =
        contacts.unit[k].moving || !(contacts.is_possible(contacts.unit[k], RowChoice::hold))
            ? RowChoice::slip
            : RowChoice::hold;
  contacts.set_directions(made.solution);
  contacts.solve_linear(made.solution);
  for (int i = 0; i < contacts.count; ++i)
    if (!is_finite(made.solution.lambda[i])) result.status = Status::infeasible;
  if (result.status != Status::ok) return;
  Real pushed[n], move[n];
  for (int i = 0; i < n; ++i) pushed[i] = 0;
  for (int i = 0; i < contacts.count; ++i) {
    const int condition = contacts.condition[i];
    const Real lambda = made.solution.lambda[i];
    result.impulses[condition] += lambda;
    if (absolute(lambda) * contacts.phi[i][i] > contacts.slack[i]) result.struck.add(condition);
    add_multiple<n>(lambda, contacts.u[i], pushed);
  }
  contacts.root.back(pushed, move);
  for (int i = 0; i < n; ++i) {
    result.v[i] = v[i] - move[i];
    result.pushed[i] = absolute(move[i]);
  }
  result.jumped = true;
  drop_noise<M>(setting.mass, v, result.v);
  result.energy_lost = setting.kinetic(v) - setting.kinetic(result.v);
}

}  // namespace zwang
