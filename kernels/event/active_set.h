// The active set: which conditions are closed, and which of them have a positive multiplier, by Gauss's
// principle. src/reference/motion_active_set.cpp is the reference, function by function.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/dynamics/mass.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/row_dependence.h"
#include "kernels/event/breaks.h"
#include "kernels/event/contact_rules.h"
#include "kernels/event/modes.h"
#include "kernels/event/zeno.h"
#include "kernels/record/event_log.h"

namespace zwang {

constexpr int no_condition = -1;

// A multiplier of this many zeros is clearly above zero. In single precision a zero is 4e-5 of the forces.
template <class Real>
ZWANG_INLINE Real clear_force() {
  return sizeof(Real) == sizeof(double) ? Real(1e4) : Real(100);
}

// Gauss's principle for a set of rows (mechanics section 3).
template <class M>
struct GaussProblem {
  using Real = typename M::Real;
  Status status = Status::ok;
  typename M::Qp qp;
  int which[M::rows];   // the condition of each row
  Real slack[M::rows];  // what counts as zero for each f''
  Real a[M::n];         // the accelerations

  ZWANG_INLINE const typename M::Root& root() const { return qp.root; }
  ZWANG_INLINE bool is_redundant() const { return qp.redundant; }
  ZWANG_INLINE Real kkt() const { return qp.kkt(); }
  // The conditions with multipliers of more than so many zeros.
  ZWANG_COLD typename M::Set pressing(Real zeros) const {
    typename M::Set made{};
    for (int j = 0; j < qp.count; ++j)
      if (qp.multiplier(j) * square(qp.length[j]) > zeros * slack[j]) made.add(which[j]);
    return made;
  }
};
// Friction is not a minimum: models with friction or bounds have a problem of their own.
template <class M, bool = ModesOf<typename M::Model>::any>
struct ActiveSetProblem {
  using Type = GaussProblem<M>;
};
template <class M>
struct ActiveSetProblem<M, true> {
  using Type = ModeProblem<M>;
};

template <class M>
ZWANG_COLD void solve_problem(const M& me, const typename M::Set& set, const ModeChange<M>& /*change*/,
                              GaussProblem<M>& problem) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  constexpr int n = M::n;
  const typename M::Motion& motion = me.motion;
  typename M::Qp& qp = problem.qp;
  Real mass[MassShape<Model>::entries], force[n];
  Model::mass(me.k, motion.t, motion.q(), motion.v(), motion.z(), mass);
  Model::applied(me.k, motion.t, motion.q(), motion.v(), motion.z(), force);
  if (!all_finite<MassShape<Model>::entries>(mass) || !all_finite<n>(force) || !qp.root.factor(mass)) {
    problem.status = Status::not_finite;
    return;
  }
  qp.root.solve(force, qp.free);
  Real metric[n];
  qp.root.into(force, metric);
  const Real free_size = norm<n>(metric);
  for (int i = 0; i < M::r; ++i) {
    if (!set.has(i)) continue;
    Real value, rate, rest, a[n];
    Model::row(me.k, motion.t, motion.q(), motion.v(), motion.z(), i, value, rate, rest, a);
    const int j = qp.count;
    problem.which[j] = i;
    qp.add_row(i, a, rest, Model::is_equation(i));
    const auto scaled = scaled_condition<M>(me.k, motion, i, motion.v(), me.sizes.q, me.sizes.v);
    if (scaled.vanishes) problem.status = Status::singular;
    problem.slack[j] = zero_of_second(me.input.contact_tolerance, qp.length[j], free_size, scaled.rest_scale);
  }
  if (problem.status != Status::ok) return;
  qp.solve();
  if (!qp.feasible) {
    problem.status = Status::infeasible;
    return;
  }
  qp.point(problem.a);
}

// Writes the solution into the constraint state: a condition of the problem stays closed unless its f'' is
// below zero; every other inequality in force is open. `zeros` belong to the conditions that are not far.
template <class M>
ZWANG_DEVICE void apply_solution(M& me, const GaussProblem<M>& problem, const typename M::Set& touching,
                                 const Zero<typename M::Real>* zeros) {
  using Real = typename M::Real;
  typename M::Constraints& constraints = me.constraints;
  for (int i = 0; i < M::r; ++i) {
    Condition<Real>& condition = constraints.conditions[i];
    if (!constraints.in_force(i) || condition.standing == Standing::equation ||
        is_far(condition, me.candidates.has(i)))
      continue;
    const bool leaving = touching.has(i) && zeros[i].f_rate < -zeros[i].rate;
    const bool armed = zeros[i].f < -zeros[i].value || leaving;
    open_condition(me.motion.t, armed, touching.has(i) ? zeros[i].f : Real(0), Real(0), condition);
  }
  for (int j = 0; j < problem.qp.count; ++j) {
    Condition<Real>& condition = constraints.conditions[problem.which[j]];
    if (condition.standing == Standing::equation) continue;
    const Real second = problem.qp.residual[j] * problem.qp.length[j], weight = square(problem.qp.length[j]);
    if (second < -problem.slack[j]) {
      condition.noise = problem.slack[j];
      continue;
    }
    close_condition(problem.slack[j] / weight, condition);
    condition.idle = !(problem.qp.multiplier(j) * weight > problem.slack[j]);
  }
  constraints.redundant = problem.qp.redundant;
  constraints.ever_redundant = constraints.ever_redundant || problem.qp.redundant;
  update_held<M>(constraints);
}

// Whether condition `released` may open under the accelerations of `problem`: it may not if f'' > 0, which
// would violate it. Its multiplier was zero to within `multiplier_zero`, which makes f'' uncertain; that
// noise is noted for the time after the release.
template <class M, class Problem>
ZWANG_DEVICE bool may_be_released(const M& me, int released, typename M::Real multiplier_zero,
                                  const Problem& problem, Condition<typename M::Real>& condition) {
  using Real = typename M::Real;
  const typename M::Motion& motion = me.motion;
  Real value, rate, rest, a[M::n], u[M::n], second, size;
  M::Model::row(me.k, motion.t, motion.q(), motion.v(), motion.z(), released, value, rate, rest, a);
  problem.root().into(a, u);
  second_rate<M>(me.k, motion, released, problem.a, rate, second, size);
  condition.noise = noise_of_released(multiplier_zero, dot<M::n>(u, u));
  return !(second > largest_released_second(size, condition.noise));
}

// Slip rows belong to their contacts; a bounded condition takes part whether it holds or yields.
template <class M>
ZWANG_DEVICE void replace_moded_rows([[maybe_unused]] const M& me, [[maybe_unused]] typename M::Set& set) {
  using Model = typename M::Model;
  if constexpr (ModesOf<Model>::any) {
    typename M::Set kept;
    for (int i = 0; i < M::r; ++i)
      if (set.has(i) && !is_slip_row<Model>(i)) kept.add(i);
    for (int b = 0; b < Model::bounds; ++b)
      if (Model::bound_sign(b) >= 0 && me.k[Model::first_mode + Model::bound_sign(b)] != 0)
        kept.add(Model::bound_condition(b));
    set = kept;
  }
}

// The inequalities that are open; with `just`, those that have opened at this instant.
template <class M>
ZWANG_DEVICE typename M::Set open_conditions(const M& me, bool just) {
  const typename M::Real instant =
      typename M::Real(1e-9) * absolute(me.motion.t) + me.motion.rounding_of_time();
  typename M::Set made;
  for (int i = 0; i < M::r; ++i) {
    const auto& condition = me.constraints.conditions[i];
    if (condition.standing == Standing::open && (!just || me.motion.t - condition.since <= instant))
      made.add(i);
  }
  return made;
}

// Takes those of the conditions `open` that are closed now and do not `bear` a force out of `touching`. False: there are
// none.
template <class M>
ZWANG_DEVICE bool keep_open(const typename M::Constraints& constraints, const typename M::Set& open,
                            const typename M::Set& bear, typename M::Set& touching) {
  bool any = false;
  for (int i = 0; i < M::r; ++i) {
    const bool closed = constraints.conditions[i].standing == Standing::closed;
    if (!open.has(i) || !touching.has(i) || !closed || bear.has(i)) continue;
    touching.remove(i);
    any = true;
  }
  return any;
}

// Rebuilds the set of closed conditions from f = 0 and f' = 0 (requirement 4) [mayer-1..5] [staeckel-20..24]
// and finds their multipliers by Gauss's principle. A condition just released stays out, unless the motion of
// the others would violate it. Where forces are not unique and the others hold it at zero, it stays closed without a
// force: the forces depend on the state alone. Conditions that leave together would close each other by turns: of those
// without a force, those that have opened at this instant stay open, and with the release of one that had no force all
// that were open. Contacts that separate so slowly that their hop cannot be followed close at once, and the set is built
// again with them. Conditions that break under the forces of the new set are listed, or added to `overloaded`.
// Changes constraints and audit; with such hops, what complete_accumulation() changes. False: failed.
template <class M>
ZWANG_COLD bool update_active_set(M& me, typename M::Set touching, int released, ModeChange<M> change = {},
                                  typename M::Set* overloaded = nullptr) {
  using Real = typename M::Real;
  typename M::Constraints& constraints = me.constraints;
  const Real multiplier_zero =
      released == no_condition ? Real(0) : constraints.conditions[released].multiplier_zero;
  const bool had_force = released != no_condition && !constraints.conditions[released].idle;
  const bool may_rest = had_force && constraints.redundant;
  const typename M::Set open_before = open_conditions(me, had_force);
  int rests = no_condition;
  typename M::Set broken;
  for (int pass = 0; pass < 8; ++pass) {
    typename M::Set set;
    Zero<Real> zeros[M::rows];
    for (int i = 0; i < M::r; ++i) {
      const Condition<Real>& condition = constraints.conditions[i];
      if (!constraints.in_force(i) || is_far(condition, me.candidates.has(i))) continue;
      if (condition.standing == Standing::equation) {
        set.add(i);
        continue;
      }
      zeros[i] = zero_of(me, i);
      if (touching.has(i) && absolute(zeros[i].f_rate) <= zeros[i].rate && i != released) set.add(i);
    }
    replace_moded_rows<M>(me, set);
    typename ActiveSetProblem<M>::Type problem;
    solve_problem(me, set, change, problem);
    // Dependent rows leave the multipliers undetermined, and with a general condition the motion depends on
    // them.
    if (M::Model::any_general && problem.is_redundant()) problem.status = Status::singular;
    if (problem.status != Status::ok) {
      me.fail(problem.status);
      return false;
    }
    me.audit.raise(audit_kkt, problem.kkt());
    apply_solution(me, problem, touching, zeros);
    if (released != no_condition) {
      // Forces that vanish at the same instant are known no better than the instant.
      const typename M::Set bear = problem.pressing(clear_force<Real>());
      if (may_rest && is_held_by_others<M>(me.k, constraints, me.motion.t, me.motion.y, bear, released))
        rests = released;
      if (rests != no_condition ||
          !may_be_released(me, released, multiplier_zero, problem, constraints.conditions[released])) {
        released = no_condition;
        continue;
      }
      if (keep_open<M>(constraints, open_before, bear, touching)) continue;
    }
    const UnresolvedHops<M> hops = find_unresolved_hops(me, touching, released, problem.a, zeros);
    if (hops.count == 0) {
      if (!break_overloaded(me, problem, broken)) break;
      continue;
    }
    complete_hops(me, hops);
    if (!me.going()) return false;
    touching.add(hops.contacts);
    change.jumped = true;
  }
  if (rests != no_condition && constraints.conditions[rests].standing == Standing::closed) {
    constraints.conditions[rests].idle = true;
    constraints.conditions[rests].multiplier_zero =
        maximum(constraints.conditions[rests].multiplier_zero, multiplier_zero);
  }
  describe_remainder(me);
  if (overloaded)
    overloaded->add(broken);
  else
    record_overloaded(me, broken);
  return me.going();
}

}  // namespace zwang
