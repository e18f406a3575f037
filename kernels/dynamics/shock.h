// Velocities across a shock: the principle of least constraint one level lower, for velocities instead of
// accelerations [mayer2-2] [mayer2-9] [mayer2-15]. The reference is src/laws/shock.cpp.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/dynamics/mass.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"

namespace zwang {

template <class M>
struct ShockResult {
  using Real = typename M::Real;
  Status status = Status::ok;
  Real v[M::n];            // velocities after
  Real impulses[M::rows];  // l, summed over the rounds of one instant
  // Sum of the magnitudes of the changes of velocity by single impulses: the scale of their rounding, even
  // where they cancel.
  Real pushed[M::n];
  typename M::Set struck{};  // l > 0 beyond rounding (of either sign for equations)
  bool jumped = false;
  int rounds = 0;
  Real energy_lost = 0, kkt = 0, carnot = 0;
  typename M::Set broken{};  // conditions whose impulse has reached the bound at which they break
};

// The conditions that may take part in a shock of the member `me`.
template <class M>
struct ShockSetting {
  using Model = typename M::Model;
  using Real = typename M::Real;
  static constexpr int n = M::n;
  const M& me;
  typename M::Set contacts, velocities;  // holonomic inequalities at f = 0; velocity inequalities in force
  Real mass[MassShape<Model>::entries];
  Real zero[M::rows];      // what counts as zero for f' or g
  bool vanishes[M::rows];  // whether the gradient does, of conditions that are linear in v
  typename M::Set gone{};  // broken in an earlier round of this instant

  // Slip rows and bounded conditions take part by laws of their own (dynamics/friction_shock.h), links that a shock
  // breaks not at all.
  ZWANG_INLINE static bool has_own_law([[maybe_unused]] int i) {
    if constexpr (ModesOf<Model>::any)
      return is_slip_row<Model>(i) || Model::bound_of(i) >= 0 || is_free_in_shocks<Model>(i);
    else
      return false;
  }
  ZWANG_INLINE bool is_equation(int i) const {
    if (has_own_law(i)) return false;
    return me.constraints.conditions[i].standing == Standing::equation;
  }
  // A bounded equation that breaks holds as other equations do until then: one that moves, as a grip that has just been
  // imposed, causes a shock [limit-4]. Other bounded equations that move yield.
  ZWANG_DEVICE bool holds_or_breaks([[maybe_unused]] int i) const {
    if constexpr (ModesOf<Model>::any) {
      const int b = Model::bound_of(i);
      return b >= 0 && Model::is_equation(i) && Model::bound_breaks(b) && !gone.has(i) &&
             me.constraints.conditions[i].standing == Standing::equation;
    } else {
      return false;
    }
  }
  // The slip rows of contacts that do not take part.
  ZWANG_DEVICE typename M::Set other_slip_rows() const {
    typename M::Set others{};
    if constexpr (ModesOf<Model>::any)
      for (int f = 0; f < Model::frictions; ++f)
        for (int c = 0; c < Model::friction_rows(f) && !contacts.has(Model::friction_contact(f)); ++c)
          others.add(Model::friction_row(f) + c);
    return others;
  }
  ZWANG_DEVICE bool takes_part(int i) const {
    return is_equation(i) || ((contacts.has(i) || velocities.has(i)) && !gone.has(i));
  }
  ZWANG_DEVICE Real rate(int i, const Real* v) const {
    return Model::rate(me.k, me.motion.t, me.motion.q(), v, me.motion.z(), i);
  }
  ZWANG_DEVICE bool violated(const Real* v) const {
    for (int i = 0; i < M::r; ++i) {
      const bool equal = is_equation(i) || holds_or_breaks(i);
      if (!equal && !takes_part(i)) continue;
      const Real f = rate(i, v);
      if (equal ? absolute(f) > zero[i] : f > zero[i]) return true;
    }
    return false;
  }
  // Bounded equations that hold and that bear an impulse, or break by one: an external impulse that moves them causes a
  // shock [limit-4]. One that moves already yields, also at the start.
  ZWANG_COLD bool moves_bounded([[maybe_unused]] const Real* v) const {
    if constexpr (ModesOf<Model>::any) {
      for (int b = 0; b < Model::bounds; ++b) {
        const int i = Model::bound_condition(b);
        if (!Model::is_equation(i) || me.constraints.conditions[i].standing != Standing::equation) continue;
        const typename M::Motion& motion = me.motion;
        const Real zero_now = rest_zero(i, v);
        const bool bears =
            Model::bound_breaks(b) || Model::impulse_limit(me.k, motion.t, motion.q(), v, motion.z(), b) > 0;
        if (bears && absolute(rate(i, v)) > zero_now && absolute(rate(i, motion.v())) <= zero_now)
          return true;
      }
    }
    return false;
  }
  // What counts as zero for the rate of a bounded equation or of a slip after the shock.
  ZWANG_DEVICE Real rest_zero(int i, const Real* v) const {
    Real larger[n];
    for (int j = 0; j < n; ++j) larger[j] = maximum(me.sizes.v[j], absolute(v[j]));
    return me.input.rest_speed * scaled_condition<M>(me.k, me.motion, i, v, me.sizes.q, larger).rate_scale;
  }
  ZWANG_DEVICE Real kinetic(const Real* v) const {
    Real t_energy, energy;
    Model::energies(me.k, me.motion.t, me.motion.q(), v, me.motion.z(), t_energy, energy);
    return t_energy;
  }
};

// The rows of one round of a shock, and the velocity with which each rebounds.
template <class M>
struct ShockRows {
  int count = 0;
  bool inelastic = false;  // no rebound, nor one along the surface
  int condition[M::rows];
  bool equation[M::rows];
  typename M::Real rebound[M::rows];
  ZWANG_DEVICE void add(int i, bool is_equation, typename M::Real e) {
    condition[count] = i;
    equation[count] = is_equation;
    rebound[count++] = e;
  }
};

// The rows that take part in a round, at the velocities alpha. With a rebound, only contacts and velocity
// inequalities that are not clearly satisfied take part (mechanics section 4), and equations that do not hold
// yet come first, on their own: a rebound off the unconstrained velocity could otherwise create energy.
template <class M, class Real>
ZWANG_DEVICE void collect_rows(const ShockSetting<M>& setting, const Real* alpha, bool inelastic,
                               ShockRows<M>& rows) {
  const M& me = setting.me;
  rows.inelastic = inelastic;
  bool rebounds = false, imposing = false;
  for (int i = 0; i < M::r; ++i) {
    if (setting.is_equation(i)) {
      rows.add(i, true, 0);
      imposing = imposing || absolute(setting.rate(i, alpha)) > setting.zero[i];
    } else if (setting.holds_or_breaks(i)) {
      imposing = imposing || absolute(setting.rate(i, alpha)) > setting.zero[i];
    } else if (setting.contacts.has(i) && !inelastic && M::Model::restitution(me.k, i) > 0) {
      rebounds = rebounds || setting.rate(i, alpha) > setting.zero[i];
    }
  }
  if (rebounds && imposing) return;
  for (int i = 0; i < M::r; ++i) {
    if ((!setting.contacts.has(i) && !setting.velocities.has(i)) || setting.gone.has(i)) continue;
    const Real approach = setting.rate(i, alpha);
    if (rebounds && approach < -setting.zero[i]) continue;
    const bool bounces = setting.contacts.has(i) && !inelastic;
    rows.add(i, false, bounces ? M::Model::restitution(me.k, i) * maximum(approach, Real(0)) : Real(0));
  }
}

template <class M>
struct ShockRound {
  using Real = typename M::Real;
  bool feasible = false;
  bool ambiguous = false;  // several velocities are admissible (friction)
  bool fixed = true;       // no row prescribes a velocity other than zero, by its own motion or a rebound
  Real v[M::n], l[M::rows], weight[M::rows], pushed[M::n];
  Real kkt = 0;
};

// Linearises the rows at v0, solves, linearises at the solution, until it no longer changes; a single pass
// where all rows are linear in v. Far from a strongly curved condition the solutions would oscillate: the
// moves are relaxed (Aitken).
template <class M, class Real>
ZWANG_DEVICE void solve_from(const ShockSetting<M>& setting, const Real* alpha, const ShockRows<M>& rows,
                             const Real* start, bool linear, bool only_linear, ShockRound<M>& round) {
  using Model = typename M::Model;
  constexpr int n = M::n;
  const M& me = setting.me;
  Real v0[n], last[n], factor = 1;
  copy<n>(start, v0);
  round.feasible = false;
  for (int pass = 0; pass < (linear ? 1 : 200); ++pass) {
    typename M::Qp qp;
    if (!qp.root.factor(setting.mass)) return;
    copy<n>(alpha, qp.free);
    round.fixed = true;
    for (int j = 0; j < rows.count; ++j) {
      Real value, rate, rest, a[n];
      if (only_linear && !Model::is_linear(rows.condition[j])) continue;
      Model::row(me.k, me.motion.t, me.motion.q(), v0, me.motion.z(), rows.condition[j], value, rate, rest,
                 a);
      const Real offset = rate - dot<n>(a, v0) + rows.rebound[j];
      if (!is_finite(offset) || !all_finite<n>(a)) return;
      qp.add_row(rows.condition[j], a, offset, rows.equation[j]);
      round.fixed = round.fixed && absolute(offset) <= setting.zero[rows.condition[j]];
    }
    qp.solve();
    if (!qp.feasible) return;
    qp.point(round.v);
    for (int i = 0; i < n; ++i) round.pushed[i] = 0;
    for (int j = 0; j < qp.count; ++j) {
      round.l[j] = qp.multiplier(j);
      round.weight[j] = qp.length[j] * qp.length[j];
      qp.add_push(j, round.pushed);
    }
    round.kkt = qp.kkt();
    Real size = 0, moved = 0;
    for (int i = 0; i < n; ++i) {
      size = maximum(size, absolute(round.v[i]) + absolute(alpha[i]));
      moved = maximum(moved, absolute(round.v[i] - v0[i]));
    }
    round.feasible = linear || moved <= 64 * Precision<Real>::epsilon * size;
    if (round.feasible) return;
    Real move[n];
    for (int i = 0; i < n; ++i) move[i] = round.v[i] - v0[i];
    if (pass > 0) {
      Real squared = 0, along = 0;
      for (int i = 0; i < n; ++i) {
        squared += square(move[i] - last[i]);
        along += last[i] * (move[i] - last[i]);
      }
      if (squared > 0) factor = minimum(maximum(-factor * along / squared, Real(0.01)), Real(1));
    }
    copy<n>(move, last);
    add_multiple<n>(factor, move, v0);
  }
}

// Velocity conditions that are not linear in v can have several stationary points, and linearising at alpha
// may lead to a far branch. So a second iteration starts from the solution of the linear conditions alone;
// the solution with the smaller change of velocity in the mass metric is taken.
template <class M, class Real>
ZWANG_COLD void solve_round(const ShockSetting<M>& setting, const Real* alpha, const ShockRows<M>& rows,
                            ShockRound<M>& best) {
  constexpr int n = M::n;
  bool linear = true;
  for (int j = 0; j < rows.count; ++j) linear = linear && M::Model::is_linear(rows.condition[j]);
  solve_from(setting, alpha, rows, alpha, linear, false, best);
  if (linear) return;
  ShockRound<M> linear_only, other;
  solve_from(setting, alpha, rows, alpha, true, true, linear_only);
  if (!linear_only.feasible) return;
  solve_from(setting, alpha, rows, linear_only.v, false, false, other);
  if (!other.feasible) return;
  Real by_best[n], by_other[n];
  for (int i = 0; i < n; ++i) {
    by_best[i] = best.v[i] - alpha[i];
    by_other[i] = other.v[i] - alpha[i];
  }
  using Mass = MassShape<typename M::Model>;
  const Real cost_best = Mass::product(by_best, setting.mass, by_best),
             cost_other = Mass::product(by_other, setting.mass, by_other);
  if (!best.feasible || cost_other < cost_best) best = other;
}

// Defined in dynamics/friction_shock.h.
template <class M, class Real>
ZWANG_COLD void solve_frictional_round(const ShockSetting<M>& setting, const Real* alpha, ShockRows<M>& rows,
                                       ShockRound<M>& round, typename M::Set& broken);

// The same with friction and bounds, in models that have them.
template <class M, class Real>
ZWANG_DEVICE void solve_any_round(const ShockSetting<M>& setting, const Real* alpha, ShockRows<M>& rows,
                                  ShockRound<M>& round, [[maybe_unused]] ShockResult<M>& result) {
  if constexpr (ModesOf<typename M::Model>::any)
    solve_frictional_round(setting, alpha, rows, round, result.broken);
  else
    solve_round(setting, alpha, rows, round);
}

// Adds a round to the result of its instant.
template <class M>
ZWANG_DEVICE void add_round(const ShockSetting<M>& setting, const ShockRows<M>& rows,
                            const ShockRound<M>& round, ShockResult<M>& result) {
  for (int j = 0; j < rows.count; ++j) {
    const int i = rows.condition[j];
    result.impulses[i] += round.l[j];
    if (absolute(round.l[j]) * round.weight[j] > setting.zero[i]) result.struck.add(i);
  }
  for (int i = 0; i < M::n; ++i) result.pushed[i] += round.pushed[i];
  result.kkt = maximum(result.kkt, round.kkt);
  result.jumped = true;
}

// Fills in masses and what counts as zero; false where masses or velocities are not finite.
template <class M, class Real>
ZWANG_DEVICE bool prepare(ShockSetting<M>& setting, const Real* alpha, ShockResult<M>& result) {
  constexpr int n = M::n;
  const M& me = setting.me;
  M::Model::mass(me.k, me.motion.t, me.motion.q(), me.motion.v(), me.motion.z(), setting.mass);
  copy<n>(alpha, result.v);
  for (int i = 0; i < n; ++i) result.pushed[i] = 0;
  for (int i = 0; i < M::r; ++i) result.impulses[i] = setting.zero[i] = 0;
  if (!all_finite<MassShape<typename M::Model>::entries>(setting.mass) || !all_finite<n>(alpha)) return false;
  Real larger[n];
  for (int i = 0; i < n; ++i)
    larger[i] = maximum(me.sizes.v[i], maximum(absolute(alpha[i]), absolute(me.motion.v()[i])));
  const typename M::Set others = setting.other_slip_rows();
  for (int i = 0; i < M::r; ++i) {
    if (others.has(i) || !(setting.takes_part(i) || setting.has_own_law(i))) continue;
    const auto scaled = scaled_condition<M>(me.k, me.motion, i, alpha, me.sizes.q, larger);
    setting.zero[i] = me.input.rest_speed * scaled.rate_scale;
    setting.vanishes[i] = scaled.vanishes;
  }
  return true;
}

// Whether a condition at its limit or beyond has a vanishing gradient, through which no impulse can act.
template <class M, class Real>
ZWANG_DEVICE bool is_singular(const ShockSetting<M>& setting, const Real* v) {
  const M& me = setting.me;
  for (int i = 0; i < M::r; ++i) {
    if (!setting.takes_part(i)) continue;
    const bool acts = setting.is_equation(i) || setting.rate(i, v) >= -setting.zero[i];
    if (acts && (M::Model::is_linear(i)
                     ? setting.vanishes[i]
                     : scaled_condition<M>(me.k, me.motion, i, v, me.sizes.q, me.sizes.v).vanishes))
      return true;
  }
  return false;
}

// [mayer2-§2] Carnot: with fixed conditions, no rebound and no external impulse T(u) - T(v) = T(v - u).
// Returns the difference of the two sides as a share of T(u).
template <class M, class Real>
ZWANG_DEVICE Real carnot_defect(const Real* mass, const Real* u, const Real* v) {
  constexpr int n = M::n;
  using Mass = MassShape<typename M::Model>;
  Real difference[n];
  for (int i = 0; i < n; ++i) difference[i] = v[i] - u[i];
  const Real before = Mass::product(u, mass, u), after = Mass::product(v, mass, v),
             change = Mass::product(difference, mass, difference);
  return before > 0 ? absolute(before - after - change) / before : Real(0);
}

// What remains of infinitely many rounds along the surfaces: contacts at rest whose slip is so many zeros or less come to
// rest along them too. As slips they would have directions made of rounding, in which several contacts may jam. Adds
// their slip rows and the bounded conditions at rest, which must stay so. True: some slip is not clearly zero.
template <class M, class Real>
ZWANG_COLD bool add_resting_slips([[maybe_unused]] const ShockSetting<M>& setting,
                                  [[maybe_unused]] const Real* v, [[maybe_unused]] Real clearly,
                                  [[maybe_unused]] ShockRows<M>& rows) {
  using Model = typename M::Model;
  constexpr Real most_zeros = 64;
  bool unclear = false;
  if constexpr (ModesOf<Model>::any) {
    for (int f = 0; f < Model::frictions; ++f) {
      const int i = Model::friction_contact(f);
      if (!setting.contacts.has(i) || absolute(setting.rate(i, v)) > setting.zero[i]) continue;
      Real squares = 0, zero = 0;
      for (int c = 0; c < Model::friction_rows(f); ++c) {
        squares += square(setting.rate(Model::friction_row(f) + c, v));
        zero = maximum(zero, setting.zero[Model::friction_row(f) + c]);
      }
      if (squares > square(most_zeros * zero)) continue;
      unclear = unclear || squares > square(clearly * zero);
      for (int c = 0; c < Model::friction_rows(f); ++c) rows.add(Model::friction_row(f) + c, true, 0);
    }
    for (int b = 0; b < Model::bounds; ++b) {
      const int i = Model::bound_condition(b);
      if (Model::is_equation(i) && setting.me.constraints.conditions[i].standing == Standing::equation &&
          !setting.gone.has(i) && absolute(setting.rate(i, v)) <= setting.zero[i])
        rows.add(i, true, 0);
    }
  }
  return unclear;
}

// Rounds of rebounds at one instant end when every approach is within zero. A row of contacts without a gap,
// as of disks that fill the width of a box, is left with speeds of that size, which are what remains of
// infinitely many rounds. Contacts whose rate is not clearly zero come to rest, and velocity inequalities reach
// their limits: left as they are, some would count as approaching, or as short of their limits, for the active set,
// whose zeros are those of the velocities after the shock.
template <class M>
ZWANG_COLD void settle(const ShockSetting<M>& setting, ShockResult<M>& result) {
  using Real = typename M::Real;
  constexpr Real clearly =
      Real(0.25);  // the zeros before and after a shock differ by less than a factor of 4
  ShockRows<M> rows;
  bool unclear = false;
  for (int i = 0; i < M::r; ++i) {
    if (!setting.takes_part(i)) continue;
    const Real size = absolute(setting.rate(i, result.v));
    const bool rests = !setting.is_equation(i) && size <= setting.zero[i];
    unclear = unclear || (rests && size > clearly * setting.zero[i]);
    rows.add(i, rests || setting.is_equation(i), 0);
  }
  unclear = add_resting_slips(setting, result.v, clearly, rows) || unclear;
  if (!unclear) return;
  ShockRound<M> round;
  solve_round(setting, result.v, rows, round);
  if (!round.feasible) return;
  add_round(setting, rows, round, result);
  copy<M::n>(round.v, result.v);
}

// A shock of the member, whose velocities are u. alpha are the velocities that an external impulse would give
// the system without conditions [mayer2-12], or u itself [mayer2-16].
template <class M, class Real>
ZWANG_COLD void shock(ShockSetting<M>& setting, const Real* alpha, ShockResult<M>& result) {
  constexpr int n = M::n, round_limit = 1000;
  const M& me = setting.me;
  if (!prepare(setting, alpha, result)) {
    result.status = Status::not_finite;
    return;
  }
  const bool moves_bounded = setting.moves_bounded(result.v);
  if (!moves_bounded && !setting.violated(result.v)) {
    result.energy_lost = setting.kinetic(me.motion.v()) - setting.kinetic(result.v);
    return;
  }
  if (is_singular(setting, result.v)) {
    result.status = Status::singular;
    return;
  }
  bool identity_applies = true;  // Carnot's
  for (int i = 0; i < n; ++i) identity_applies = identity_applies && alpha[i] == me.motion.v()[i];
  for (;
       result.rounds <= round_limit && ((moves_bounded && result.rounds == 0) || setting.violated(result.v));
       ++result.rounds) {
    ShockRows<M> rows;
    ShockRound<M> round;
    collect_rows(setting, result.v, result.rounds == round_limit, rows);
    solve_any_round(setting, result.v, rows, round, result);
    if (!round.feasible && !round.ambiguous) {
      // No velocity satisfies all rebounds: then without rebound.
      rows.count = 0;
      collect_rows(setting, result.v, true, rows);
      solve_any_round(setting, result.v, rows, round, result);
    }
    if (!round.feasible) {
      result.status = round.ambiguous ? Status::ambiguous : Status::infeasible;
      return;
    }
    add_round(setting, rows, round, result);
    setting.gone = result.broken;
    identity_applies = identity_applies && round.fixed;
    copy<n>(round.v, result.v);
    drop_noise<M>(setting.mass, alpha, result.v);
  }
  if (result.rounds > 1) {
    settle(setting, result);
    drop_noise<M>(setting.mass, alpha, result.v);
  }
  result.energy_lost = setting.kinetic(me.motion.v()) - setting.kinetic(result.v);
  if (!identity_applies || result.rounds != 1) return;
  result.carnot = carnot_defect<M>(setting.mass, me.motion.v(), result.v);
}

// Defined in dynamics/friction_shock.h.
template <class M>
ZWANG_COLD void completed_frictional_shock(ShockSetting<M>& setting, const typename M::Set& kept,
                                           ShockResult<M>& result);

// The limit of infinitely many shocks of the contacts: the projection onto f' = 0 for all of them, and onto g
// = 0 for the velocity limits in `kept`.
template <class M>
ZWANG_COLD void completed_shock(ShockSetting<M>& setting, const typename M::Set& kept,
                                ShockResult<M>& result) {
  constexpr int n = M::n;
  if constexpr (ModesOf<typename M::Model>::any) {
    completed_frictional_shock(setting, kept, result);
    return;
  }
  const M& me = setting.me;
  if (!prepare(setting, me.motion.v(), result)) {
    result.status = Status::not_finite;
    return;
  }
  ShockRows<M> rows;
  for (int i = 0; i < M::r; ++i) {
    const bool equal = setting.is_equation(i) || setting.contacts.has(i) || kept.has(i);
    if (equal || setting.velocities.has(i)) rows.add(i, equal, 0);
  }
  ShockRound<M> round;
  solve_round(setting, me.motion.v(), rows, round);
  if (!round.feasible) {
    result.status = Status::infeasible;
    return;
  }
  add_round(setting, rows, round, result);
  copy<n>(round.v, result.v);
  drop_noise<M>(setting.mass, me.motion.v(), result.v);
  result.energy_lost = setting.kinetic(me.motion.v()) - setting.kinetic(result.v);
}

}  // namespace zwang
