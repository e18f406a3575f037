// Friction and bounds at an event: the problem that decides which contacts stick, slip or open and which bounded
// conditions hold or yield, and what its solution changes in the member. The reference is
// src/reference/motion_modes.cpp.
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/dynamics/admissible_multipliers.h"
#include "kernels/dynamics/contact_problem.h"
#include "kernels/dynamics/contact_rows.h"
#include "kernels/dynamics/mass.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/row_dependence.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/event/contact_rules.h"
#include "kernels/event/contacts.h"

namespace zwang {

// What is known of the modes before they are found anew.
template <class M>
struct ModeChange {
  typename M::Set
      leaves{};  // contacts and bounded conditions whose force has reached its bound: they cannot stay
  typename M::Set rests{};  // contacts and bounded conditions whose slip or rate has just vanished
  bool jumped = false;      // velocities have jumped: no mode is known
};

// The slip speeds of friction f at the member's state, their length, and what counts as zero for it.
template <class M>
struct SlipNow {
  using Real = typename M::Real;
  Real s[2], size, zero;

  ZWANG_DEVICE SlipNow(const M& me, int f) {
    s[0] = s[1] = zero = 0;
    for (int c = 0; c < M::Model::friction_rows(f); ++c) {
      const auto now = zero_of(me, M::Model::friction_row(f) + c);
      s[c] = now.f_rate;
      zero = maximum(zero, now.rate);
    }
    size = sqrt(square(s[0]) + square(s[1]));
  }
};

// In space the direction of a slip turns, and the law of friction takes the side on which its mode has it:
// the modes are renewed where a step begins. A slip within its rounding keeps its side.
template <class M>
ZWANG_COLD void renew_slip_directions(M& me) {
  using Model = typename M::Model;
  for (int f = 0; f < Model::frictions; ++f) {
    typename M::Real* e = me.k + Model::first_mode + Model::friction_mode(f);
    if (Model::friction_rows(f) != 2 || (e[0] == 0 && e[1] == 0)) continue;
    const SlipNow<M> slip(me, f);
    if (!(slip.size > maximum(slip.zero, e[2]))) continue;
    e[0] = slip.s[0] / slip.size;
    e[1] = slip.s[1] / slip.size;
  }
}

// The problem for accelerations, in the place of GaussProblem for models with friction or bounds.
template <class M>
struct ModeProblem {
  using Model = typename M::Model;
  using Real = typename M::Real;
  Status status = Status::ok;
  ContactProblem<M> contacts;
  ContactSolution<M> solution;
  Real a[M::n];                            // the accelerations
  Real k[at_least_one(Model::constants)];  // constants, with no condition yielding
  int unit_of[M::rows];                    // by condition; -1: takes no part

  ZWANG_INLINE const typename M::Root& root() const { return contacts.root; }
  ZWANG_INLINE bool is_redundant() const { return solution.dependent; }
  ZWANG_INLINE Real kkt() const { return contacts.violation(solution); }
  // The inequalities with multipliers of more than so many zeros.
  ZWANG_COLD typename M::Set pressing(Real zeros) const {
    typename M::Set made{};
    for (int i = 0; i < M::r; ++i) {
      if (unit_of[i] < 0) continue;
      const int row = contacts.unit[unit_of[i]].row;
      if (solution.lambda[row] * contacts.phi[row][row] > zeros * contacts.slack[row]) made.add(i);
    }
    return made;
  }
};

// Whether a slip within rounding of zero goes on in the direction e that it has: one that began a moment ago grows. One
// that shrinks comes to rest at this event too, as the second of two contacts joined by a rod. Judged by the
// accelerations before the event; `first` is the first of `count` rows with the rates of the slip.
template <class M>
ZWANG_COLD bool keeps_moving(const M& me, int first, int count, const typename M::Real* e) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  constexpr int n = M::n;
  const typename M::Motion& motion = me.motion;
  Real lambda[M::rows], rate[M::size], mass[MassShape<Model>::entries], force[n], along = 0, size = 0;
  scalar_right_side<M>(me.k, motion.t, motion.y, me.constraints.held, me.constraints.any_held, rate, lambda);
  // Reactions cancel forces but for their rounding.
  typename M::Root root;
  Real free[n];
  Model::mass(me.k, motion.t, motion.q(), motion.v(), motion.z(), mass);
  Model::applied(me.k, motion.t, motion.q(), motion.v(), motion.z(), force);
  for (int i = 0; i < n; ++i) free[i] = 0;
  if (root.factor(mass)) root.solve(force, free);
  for (int c = 0; c < count; ++c) {
    Real now, change, terms, unheld, forces;
    second_rate<M>(me.k, motion, first + c, M::v_of(rate), now, change, terms);
    second_rate<M>(me.k, motion, first + c, free, now, unheld, forces);
    along += e[c] * change;
    size += absolute(e[c]) * maximum(terms, forces);
  }
  return !(along < -Real(1e3) * Precision<Real>::tie * size);
}

// Row i with its residual in free motion.
template <class M>
ZWANG_DEVICE int add_mode_row(const M& me, int i, const typename M::Real* free, typename M::Real free_size,
                              ModeProblem<M>& problem) {
  using Real = typename M::Real;
  constexpr int n = M::n;
  const typename M::Motion& motion = me.motion;
  Real value, rate, rest, a[n], u[n];
  M::Model::row(problem.k, motion.t, motion.q(), motion.v(), motion.z(), i, value, rate, rest, a);
  problem.contacts.root.into(a, u);
  const auto scaled = scaled_condition<M>(problem.k, motion, i, motion.v(), me.sizes.q, me.sizes.v);
  if (scaled.vanishes) problem.status = Status::singular;
  const Real zero = zero_of_second(me.input.contact_tolerance, norm<n>(u), free_size, scaled.rest_scale);
  return problem.contacts.add_row(i, a, dot<n>(a, free) + rest, zero);
}

template <class M>
ZWANG_DEVICE void add_contact_unit(const M& me, int i, const ModeChange<M>& change,
                                   const typename M::Real* free, typename M::Real free_size,
                                   ModeProblem<M>& problem) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  const typename M::Motion& motion = me.motion;
  const int f = Model::friction_of(i), row = add_mode_row(me, i, free, free_size, problem);
  auto& unit = problem.contacts.add_unit(f >= 0 ? RowKind::contact : RowKind::inequality, row);
  if (f < 0) {
    const int b = Model::bound_of(i);
    unit.limited = b >= 0 && Model::bound_breaks(b) && !is_hopping(me, i);
    if (unit.limited) unit.limit = Model::limit(me.k, motion.t, motion.q(), motion.v(), motion.z(), b);
    return;
  }
  unit.tangents = Model::friction_rows(f);
  for (int c = 0; c < unit.tangents; ++c)
    add_mode_row(me, Model::friction_row(f) + c, free, free_size, problem);
  unit.cone = Model::cone(me.k, motion.t, motion.q(), motion.v(), motion.z(), f);
  unit.cone_static = Model::cone_static(me.k, motion.t, motion.q(), motion.v(), motion.z(), f);
  const SlipNow<M> slip(me, f);
  const Real* e = me.k + Model::first_mode + Model::friction_mode(f);
  const bool slips = e[0] != 0 || (unit.tangents == 2 && e[1] != 0);
  if (slip.size > slip.zero && !change.rests.has(i)) {
    unit.moving = true;
    for (int c = 0; c < unit.tangents; ++c) unit.d[c] = slip.s[c] / slip.size;
  } else if (slips && !change.rests.has(i) && !change.jumped &&
             keeps_moving(me, Model::friction_row(f), unit.tangents, e)) {
    unit.moving = true;
    for (int c = 0; c < unit.tangents; ++c) unit.d[c] = e[c];
  }
  if (!change.leaves.has(i)) return;
  // At the cone itself s' = 0: the slip begins in the direction of the force [friction-7].
  unit.may_hold = false;
  unit.moving = false;
  Real lambda[M::rows], rate[M::size];
  scalar_right_side<M>(me.k, motion.t, motion.y, me.constraints.held, me.constraints.any_held, rate, lambda);
  if (me.constraints.redundant) {
    const DependentMultipliers<M> multipliers(me.k, me.constraints, motion.t, motion.y);
    Real x[M::rows];
    if (multipliers.valid) multipliers.widest(me.k, motion.t, motion.y, x);
    for (int c = 0; c < unit.tangents && multipliers.valid; ++c)
      lambda[Model::friction_row(f) + c] = x[multipliers.row_of[Model::friction_row(f) + c]];
  }
  Real size = 0;
  for (int c = 0; c < unit.tangents; ++c) size += square(lambda[Model::friction_row(f) + c]);
  for (int c = 0; c < unit.tangents && size > 0; ++c)
    unit.d[c] = lambda[Model::friction_row(f) + c] / sqrt(size);
}

template <class M>
ZWANG_DEVICE void add_equation_unit(const M& me, int i, const ModeChange<M>& change,
                                    const typename M::Real* free, typename M::Real free_size,
                                    ModeProblem<M>& problem) {
  using Model = typename M::Model;
  const typename M::Motion& motion = me.motion;
  const int b = Model::bound_of(i), row = add_mode_row(me, i, free, free_size, problem);
  const bool bounded = b >= 0;
  auto& unit = problem.contacts.add_unit(bounded ? RowKind::bounded : RowKind::equation, row);
  if (!bounded) return;
  unit.limit = Model::limit(me.k, motion.t, motion.q(), motion.v(), motion.z(), b);
  if (Model::bound_breaks(b)) return;
  const auto now = zero_of(me, i);
  const typename M::Real sign = me.k[Model::first_mode + Model::bound_sign(b)];
  if (absolute(now.f_rate) > now.rate && !change.rests.has(i)) {
    unit.moving = true;
    unit.d[0] = now.f_rate > 0 ? 1 : -1;
  } else if (sign != 0 && !change.rests.has(i) && !change.jumped && keeps_moving(me, i, 1, &sign)) {
    unit.moving = true;
    unit.d[0] = sign;
  }
  unit.may_hold = !change.leaves.has(i);
}

// The accelerations by bounded conditions that yield, as a sum of their sizes in the mass metric: where no other forces
// act, what counts as zero rests on these.
template <class M>
ZWANG_DEVICE typename M::Real size_of_yields(const M& me, const typename M::Set& set,
                                             const ModeProblem<M>& problem) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  const typename M::Motion& motion = me.motion;
  Real sum = 0;
  for (int b = 0; b < Model::bounds; ++b) {
    const int i = Model::bound_condition(b);
    if (Model::bound_sign(b) < 0 || !set.has(i)) continue;
    const auto now = zero_of(me, i);
    if (me.k[Model::first_mode + Model::bound_sign(b)] == 0 && !(absolute(now.f_rate) > now.rate)) continue;
    Real value, rate, rest, a[M::n], u[M::n];
    Model::row(problem.k, motion.t, motion.q(), motion.v(), motion.z(), i, value, rate, rest, a);
    problem.contacts.root.into(a, u);
    sum += Model::limit(me.k, motion.t, motion.q(), motion.v(), motion.z(), b) * norm<M::n>(u);
  }
  return sum;
}

template <class M>
ZWANG_COLD void solve_problem(const M& me, const typename M::Set& set, const ModeChange<M>& change,
                              ModeProblem<M>& problem) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  constexpr int n = M::n;
  const typename M::Motion& motion = me.motion;
  auto& contacts = problem.contacts;
  copy<at_least_one(Model::constants)>(me.k, problem.k);
  for (int b = 0; b < Model::bounds; ++b)
    if (Model::bound_sign(b) >= 0) problem.k[Model::first_mode + Model::bound_sign(b)] = 0;
  Real mass[MassShape<Model>::entries], force[n], free[n], metric[n];
  Model::mass(problem.k, motion.t, motion.q(), motion.v(), motion.z(), mass);
  Model::applied(problem.k, motion.t, motion.q(), motion.v(), motion.z(), force);
  if (!all_finite<MassShape<Model>::entries>(mass) || !all_finite<n>(force) || !contacts.root.factor(mass)) {
    problem.status = Status::not_finite;
    return;
  }
  contacts.root.solve(force, free);
  contacts.root.into(force, metric);
  const Real free_size = norm<n>(metric) + size_of_yields(me, set, problem);
  for (int i = 0; i < M::r; ++i) problem.unit_of[i] = -1;
  for (int i = 0; i < M::r; ++i) {
    if (!set.has(i)) continue;
    problem.unit_of[i] = contacts.units;
    if (Model::is_equation(i))
      add_equation_unit(me, i, change, free, free_size, problem);
    else
      add_contact_unit(me, i, change, free, free_size, problem);
  }
  if (problem.status != Status::ok) return;
  using Verdict = typename ContactProblem<M>::Verdict;
  const Real margin = Real(me.input.settings->painleve_margin);
  Verdict verdict = contacts.find(problem.solution, margin);
  if (verdict == Verdict::none && change.leaves.size() > 0) {
    // It may stay: its force only touched the bound.
    for (int k = 0; k < contacts.units; ++k) contacts.unit[k].may_hold = true;
    verdict = contacts.find(problem.solution, margin);
  }
  if (verdict != Verdict::one) {
    const bool singular =
        verdict == Verdict::singular || (verdict == Verdict::none && contacts.may_be_singular(margin));
    problem.status = singular                   ? Status::painleve
                     : verdict == Verdict::none ? Status::infeasible
                                                : Status::ambiguous;
    return;
  }
  Real pushed[n];
  for (int i = 0; i < n; ++i) pushed[i] = 0;
  for (int j = 0; j < contacts.count; ++j) add_multiple<n>(problem.solution.lambda[j], contacts.u[j], pushed);
  contacts.root.back(pushed, problem.a);
  for (int i = 0; i < n; ++i) problem.a[i] = free[i] - problem.a[i];
}

// A contact in the solution: whether it sticks. One at rest whose slip does not begin sticks, although its
// multipliers may be on the cone: with dependent rows they are one choice of many [friction-9].
template <class M>
ZWANG_DEVICE bool sticks(const ModeProblem<M>& problem, int k) {
  const auto& contacts = problem.contacts;
  const auto& unit = contacts.unit[k];
  const RowChoice choice = problem.solution.choice[k];
  if (choice == RowChoice::hold) return true;
  if (choice == RowChoice::open || unit.moving || !unit.may_hold || !(unit.cone_static > 0)) return false;
  for (int c = 0; c < unit.tangents; ++c) {
    const int t = unit.row + 1 + c;
    if (!(absolute(problem.solution.residual[t]) <= 4 * contacts.slack[t])) return false;
  }
  return true;
}

// Writes the mode of friction f: sticking, slipping in the direction d, or neither (d = 0).
template <class M>
ZWANG_DEVICE void set_friction_mode(M& me, int f, bool stick, const typename M::Real* d) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  Real* e = me.k + Model::first_mode + Model::friction_mode(f);
  const int count = Model::friction_rows(f);
  for (int c = 0; c < count; ++c) {
    Condition<Real>& row = me.constraints.conditions[Model::friction_row(f) + c];
    row = Condition<Real>{};
    if (stick) row.standing = Standing::equation;
    e[c] = stick ? Real(0) : d[c];
  }
  // Contacts without a mode need no rounding of their slip.
  if (count == 2) e[2] = stick || d[0] != 0 || d[1] != 0 ? SlipNow<M>(me, f).zero : Real(0);
}

// The size of the terms of s' for the accelerations a.
template <class M>
ZWANG_DEVICE typename M::Real size_of_slip_rate(const M& me, int f, const typename M::Real* a) {
  typename M::Real squares = 0, f_rate, change, size;
  for (int c = 0; c < M::Model::friction_rows(f); ++c) {
    second_rate<M>(me.k, me.motion, M::Model::friction_row(f) + c, a, f_rate, change, size);
    squares += square(size);
  }
  return sqrt(squares);
}

// Writes the modes of all frictions and bounds that took part; those that did not have no mode.
template <class M>
ZWANG_DEVICE void apply_modes(M& me, ModeProblem<M>& problem) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  const typename M::Motion& motion = me.motion;
  for (int f = 0; f < Model::frictions; ++f) {
    const int k = problem.unit_of[Model::friction_contact(f)];
    const Real none[2] = {0, 0};
    if (k < 0 || problem.solution.choice[k] == RowChoice::open) {
      set_friction_mode(me, f, false, none);
      continue;
    }
    const bool stick = sticks(problem, k);
    problem.solution.dependent =
        problem.solution.dependent || (stick && problem.solution.choice[k] != RowChoice::hold);
    const bool rubs = problem.contacts.unit[k].cone > 0;
    set_friction_mode(me, f, stick, rubs ? problem.solution.d[k] : none);
    // The rounding of velocities that have just been at rest is nothing: the slip is known no better than the time
    // at which it begins.
    if (Model::friction_rows(f) == 1) continue;
    Real& rounding = me.k[Model::first_mode + Model::friction_mode(f) + 2];
    rounding = maximum(rounding, motion.rounding_of_time() * size_of_slip_rate(me, f, problem.a));
  }
  for (int b = 0; b < Model::bounds; ++b) {
    const int i = Model::bound_condition(b), k = problem.unit_of[i];
    if (Model::bound_breaks(b) || k < 0) continue;
    Real& sign = me.k[Model::first_mode + Model::bound_sign(b)];
    const bool held = me.constraints.conditions[i].standing == Standing::equation && sign == 0;
    const bool holds = problem.solution.choice[k] == RowChoice::hold;
    sign = holds ? Real(0) : problem.solution.d[k][0];
    me.constraints.conditions[i].standing = holds ? Standing::equation : Standing::absent;
    // It holds at the place where it stopped [limit-1].
    if (!holds || held || Model::bound_offset(b) < 0) continue;
    Real& offset = me.k[Model::first_mode + Model::bound_offset(b)];
    offset += Model::value(me.k, motion.t, motion.q(), motion.v(), motion.z(), i);
  }
}

// As apply_gauss_solution() for closed and open conditions; then the modes.
template <class M>
ZWANG_DEVICE void apply_solution(M& me, ModeProblem<M>& problem, const typename M::Set& touching,
                                 const Zero<typename M::Real>* zeros) {
  using Real = typename M::Real;
  typename M::Constraints& constraints = me.constraints;
  // Conditions that are closed without a part in the solution: at rest by the motion of the others.
  bool any_without_part = false;
  for (int i = 0; i < M::r; ++i) {
    Condition<Real>& condition = constraints.conditions[i];
    if (M::Model::is_equation(i) || !constraints.in_force(i) || is_far(condition, me.candidates.has(i)))
      continue;
    const bool leaving = touching.has(i) && zeros[i].f_rate < -zeros[i].rate;
    const bool armed = zeros[i].f < -zeros[i].value || leaving;
    open_condition(me.motion.t, armed, touching.has(i) ? zeros[i].f : Real(0), Real(0), condition);
    const int k = problem.unit_of[i];
    if (k < 0) continue;
    const int row = problem.contacts.unit[k].row;
    const Real slack = problem.contacts.slack[row], weight = problem.contacts.phi[row][row];
    if (problem.solution.residual[row] < -slack) {
      condition.noise = slack;
      continue;
    }
    close_condition(slack / weight, condition);
    condition.idle = !(problem.solution.lambda[row] * weight > slack);
    any_without_part = any_without_part || problem.solution.choice[k] == RowChoice::open;
  }
  apply_modes(me, problem);
  update_held<M>(constraints);
  constraints.redundant =
      problem.is_redundant() || (any_without_part && are_dependent<M>(me.k, constraints, me.motion));
  constraints.ever_redundant = constraints.ever_redundant || constraints.redundant;
}

}  // namespace zwang
