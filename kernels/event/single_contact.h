// The common events without a quadratic program: a single condition is reached, or a single one is released.
// The set of conditions that hold afterwards is guessed, and its impulses and multipliers are found by
// elimination (Model::motion). Where every one of them is clearly positive and no other condition is near,
// the conditions of the minimum of Gauss's principle are met and the guess is right. Otherwise nothing is
// changed, and the event is handled in the general way (event/dispatch.h). A test compares the two.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/mass.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/shock.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/event/contact_rules.h"
#include "kernels/event/contacts.h"
#include "kernels/event/instant_events.h"
#include "kernels/record/event_log.h"

namespace zwang {

// Reads the member and changes nothing in it, but for close_held(). Not for long models: more than three rows
// hold in most of their events, and their quadratic program costs little more than one elimination.
template <class M>
struct SingleContactSolver {
  using Model = typename M::Model;
  using Real = typename M::Real;
  static constexpr int n = M::n, most = 3;
  static constexpr bool possible = M::r > 0 && Model::masked && !Model::any_general && !Model::has_density &&
                                   !is_long_model<Model> && !ModesOf<Model>::any;

  typename M::Root root;
  Real mass[MassShape<Model>::entries];
  // The rows of a shock: those held, and last the one that is reached.
  int count = 0, which[most];
  Real u[most][n];                                   // in the mass metric
  Real weight[most], offset[most], rate_zero[most];  // |u|^2, f' at rest, what counts as zero for f'
  Real l[most];                                      // impulses
  // Conditions that separate: held until now, like a string that goes slack as another one jerks, or with a
  // rebound.
  typename M::Set separating{};

  // After the event.
  Real y[M::size], held[M::rows], accelerations[M::size], lambda[M::rows];
  Real multiplier_zero[M::rows];

  // Whether no condition is near but condition i and those that hold. A model with velocity inequalities in
  // force never qualifies: they take part in every shock, however far they are from zero.
  static ZWANG_DEVICE bool is_isolated(const M& me, int i) {
    if (me.progress.accumulation_pending || me.constraints.redundant) return false;
    for (int j = 0; j < M::r; ++j) {
      const Condition<Real>& other = me.constraints.conditions[j];
      if (j == i || other.standing == Standing::absent || other.standing == Standing::equation) continue;
      if (!Model::is_holonomic(j)) return false;
      if (other.standing == Standing::open ? !is_far(other, me.candidates.has(j)) : other.idle) return false;
    }
    return Model::is_holonomic(i);
  }

  // Adds the row of condition j. False where its gradient vanishes, or there are too many rows.
  ZWANG_DEVICE bool add(const M& me, int j) {
    if (count == most || !Model::is_linear(j)) return false;
    const typename M::Motion& motion = me.motion;
    Real value, rate, rest, a[n];
    Model::row(me.k, motion.t, motion.q(), motion.v(), motion.z(), j, value, rate, rest, a);
    const auto scaled = scaled_condition<M>(me.k, motion, j, motion.v(), me.sizes.q, me.sizes.v);
    root.into(a, u[count]);
    which[count] = j;
    weight[count] = dot<n>(u[count], u[count]);
    offset[count] = rate - dot<n>(a, motion.v());
    rate_zero[count] = me.input.rest_speed * scaled.rate_scale;
    ++count;
    return !scaled.vanishes && is_finite(rate);
  }

  // Solves Phi l = (0, ..., 0, b) by Cholesky's method. False where the rows are nearly dependent.
  ZWANG_DEVICE bool solve(Real b) {
    Real phi[most][most];
    for (int i = 0; i < count; ++i)
      for (int j = 0; j <= i; ++j) {
        Real sum = dot<n>(u[i], u[j]);
        for (int k = 0; k < j; ++k) sum -= phi[i][k] * phi[j][k];
        if (i > j) {
          phi[i][j] = sum / phi[j][j];
        } else if (sum > Real(1e-6) * weight[i]) {
          phi[i][i] = sqrt(sum);
        } else {
          return false;
        }
      }
    for (int i = 0; i < count; ++i) l[i] = 0;
    l[count - 1] = b / square(phi[count - 1][count - 1]);
    for (int i = count - 2; i >= 0; --i) {
      for (int j = i + 1; j < count; ++j) l[i] -= phi[j][i] * l[j];
      l[i] /= phi[i][i];
    }
    return true;
  }

  // The impulses of the shock of the reached condition [mayer2-9], with its rebound (mechanics section 4).
  // The rule for rows with a negative impulse is that of event/contact_rules.h. False where some sign is not
  // clear.
  ZWANG_DEVICE bool find_impulses(Real approach) {
    for (;;) {
      if (!solve(approach)) return false;
      int removed = -1;
      for (int j = 0; j < count; ++j) {
        if (Model::is_equation(which[j])) continue;
        const Real strength = l[j] * weight[j];
        const bool negative = is_clearly_negative(strength, rate_zero[j]);
        if (negative ? j == count - 1 : !is_clearly_positive(strength, rate_zero[j])) return false;
        if (negative && removed < 0) removed = j;
      }
      if (removed < 0) return true;
      remove_row(removed);
    }
  }
  ZWANG_DEVICE void remove_row(int row) {
    separating.add(which[row]);
    --count;
    for (int j = row; j < count; ++j) {
      which[j] = which[j + 1];
      weight[j] = weight[j + 1];
      offset[j] = offset[j + 1];
      rate_zero[j] = rate_zero[j + 1];
      copy<n>(u[j + 1], u[j]);
    }
  }

  // The velocities after the shock of condition i, into y. The conditions of the minimum are checked on the
  // result: f' of the remaining rows is off by no more than rounding, and the removed rows separate clearly.
  ZWANG_DEVICE bool apply_impact(const M& me, int i, Real e) {
    const typename M::Motion& motion = me.motion;
    Model::mass(me.k, motion.t, motion.q(), motion.v(), motion.z(), mass);
    if (!root.factor(mass)) return false;
    for (int j = 0; j < M::r; ++j)
      if (me.constraints.held[j] > 0 && !add(me, j)) return false;
    if (!add(me, i)) return false;
    const Real approach = Model::rate(me.k, motion.t, motion.q(), motion.v(), motion.z(), i),
               leaves = e * approach;
    const Real zero = rate_zero[count - 1];
    if (!is_clearly_positive(approach, zero) || (e > 0 && !is_clearly_positive(leaves, zero)) ||
        !find_impulses(approach + leaves))
      return false;
    Real sum[n], change[n];
    for (int c = 0; c < n; ++c) sum[c] = 0;
    for (int j = 0; j < count; ++j) add_multiple<n>(-l[j], u[j], sum);
    root.back(sum, change);
    copy<M::size>(motion.y, y);
    Real* v = M::v_of(y);
    for (int c = 0; c < n; ++c) v[c] += change[c];
    drop_noise<M>(mass, motion.v(), v);
    for (int j = 0; j < count; ++j) {
      const Real wanted = j + 1 < count ? Real(0) : -leaves;
      const Real rate = Model::rate(me.k, motion.t, y, v, M::z_of(y), which[j]);
      if (!(absolute(rate - wanted) <= rate_zero[j])) return false;
    }
    for (int j = 0; j < M::r; ++j) {
      if (!separating.has(j)) continue;
      const Real rate = Model::rate(me.k, motion.t, y, v, M::z_of(y), j);
      if (!is_clearly_negative(rate, zero_of(me, j).rate)) return false;
    }
    if (e > 0) separating.add(i);
    return true;
  }

  // [mayer-20] Whether every inequality of `held` has a clearly positive multiplier in the motion that begins
  // at y.
  ZWANG_DEVICE bool multipliers_positive(const M& me) {
    const Real t = me.motion.t, *v = M::v_of(y), *z = M::z_of(y);
    bool any = false;
    for (int j = 0; j < M::r; ++j) any = any || held[j] > 0;
    scalar_right_side<M>(me.k, t, y, held, any, accelerations, lambda);
    if (!all_finite<M::size>(accelerations)) return false;
    if (!any) return true;
    Real force[n], metric[n];
    Model::applied(me.k, t, y, v, z, force);
    root.into(force, metric);
    const Real free_size = norm<n>(metric);
    for (int j = 0; j < M::r; ++j) {
      if (!(held[j] > 0) || Model::is_equation(j)) continue;
      Real value, rate, rest, a[n], across[n];
      Model::row(me.k, t, y, v, z, j, value, rate, rest, a);
      root.into(a, across);
      const Real squared = dot<n>(across, across);
      const auto scaled = scaled_condition<M>(me.k, me.motion, j, v, me.sizes.q, me.sizes.v);
      const Real slack =
          zero_of_second(me.input.contact_tolerance, sqrt(squared), free_size, scaled.rest_scale);
      if (!is_clearly_positive(lambda[j] * squared, slack)) return false;
      multiplier_zero[j] = slack / squared;
    }
    return true;
  }

  // f' and f'' of a condition in that motion, the sum of the magnitudes of the terms of f'', and the squared
  // length of its row.
  struct Second {
    Real value, rate, size, weight;
  };
  ZWANG_DEVICE Second second_of(const M& me, int i) const {
    Real value, rest, a[n], across[n];
    Second second;
    Model::row(me.k, me.motion.t, y, M::v_of(y), M::z_of(y), i, value, second.rate, rest, a);
    root.into(a, across);
    second.weight = dot<n>(across, across);
    second.value = dot<n>(a, M::v_of(accelerations)) + rest;
    second.size = absolute(rest);
    for (int c = 0; c < n; ++c) second.size += absolute(a[c] * accelerations[n + c]);
    return second;
  }

  // Whether the hops of all conditions that separate can be followed.
  ZWANG_DEVICE bool hops_are_resolved(const M& me) const {
    for (int i = 0; i < M::r; ++i) {
      if (!separating.has(i)) continue;
      const auto second = second_of(me, i);
      if (!(second.value > 0)) continue;
      if (!hop_is_resolved(second.rate, second.value, zero_of(me, i).value, me.motion.rounding_of_time()))
        return false;
    }
    return true;
  }

  // Closes the conditions of `held`.
  ZWANG_DEVICE void close_held(typename M::Constraints& constraints) const {
    for (int j = 0; j < M::r; ++j) {
      Condition<Real>& condition = constraints.conditions[j];
      if (!(held[j] > 0) || condition.standing == Standing::equation) continue;
      close_condition(multiplier_zero[j], condition);
    }
    update_held<M>(constraints);
  }
};

// Gives the member the velocities after the shock of condition i, and fills in the event for the log. Changes
// velocities, lost energy, rounding sizes, audit and accumulation.
template <class M>
ZWANG_DEVICE void apply_jump(M& me, const SingleContactSolver<M>& solver, int i, bool rebounds,
                             typename M::Event& event) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  constexpr int n = M::n;
  typename M::Motion& motion = me.motion;
  event.t = motion.t;
  event.kind = EventKind::shock;
  event.reached.add(i);
  event.jump = true;
  for (int j = 0; j < M::r; ++j) event.impulse[j] = 0;
  copy<n>(motion.v(), event.before);
  copy<n>(M::v_of(solver.y), event.after);
  bool fixed = true;
  for (int j = 0; j < solver.count; ++j) {
    const int row = solver.which[j];
    fixed = fixed && absolute(solver.offset[j]) <= solver.rate_zero[j];
    if (!(absolute(solver.l[j]) * solver.weight[j] > solver.rate_zero[j])) continue;
    event.constraints.add(row);
    event.impulse[row] =
        solver.l[j] * Model::reach(me.k, motion.t, motion.q(), event.before, motion.z(), row);
  }
  Real kinetic_before, kinetic_after, energy_before, energy_after;
  Model::energies(me.k, motion.t, motion.q(), event.before, motion.z(), kinetic_before, energy_before);
  Model::energies(me.k, motion.t, motion.q(), event.after, motion.z(), kinetic_after, energy_after);
  event.energy_lost = kinetic_before - kinetic_after;
  if (fixed) me.audit.raise(audit_created, -event.energy_lost);
  if (fixed && !rebounds)
    me.audit.raise(audit_carnot, carnot_defect<M>(solver.mass, event.before, event.after));
  copy<n>(event.after, motion.v());
  me.energy.lost += energy_before - energy_after;
  for (int c = 0; c < n; ++c)
    me.sizes.v[c] = maximum(me.sizes.v[c], maximum(absolute(event.before[c]), absolute(event.after[c])));
  me.accumulation.note(motion.t, event.reached);
  note_held(me, me);
}

// Condition i is reached while no other is near. Without rebound it closes, with one it separates at once.
// False: nothing has been changed.
template <class M>
ZWANG_COLD bool try_contact(M& me, int i) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  typename M::Constraints& constraints = me.constraints;
  const typename M::Motion& motion = me.motion;
  if (!SingleContactSolver<M>::is_isolated(me, i)) return false;
  SingleContactSolver<M> solver;
  const Real e = Model::restitution(me.k, i);
  if (!solver.apply_impact(me, i, e)) return false;
  for (int j = 0; j < M::r; ++j)
    solver.held[j] = (j == i || constraints.held[j] > 0) && !solver.separating.has(j) ? Real(1) : Real(0);
  if (!solver.multipliers_positive(me) || !solver.hops_are_resolved(me)) return false;
  const auto earlier = me.accumulation.sequence;
  typename M::Event contact, shock;
  contact.t = motion.t;
  contact.kind = EventKind::contact;
  contact.constraints.add(i);
  record_event_now(me, contact);
  apply_jump(me, solver, i, e > 0, shock);
  for (int j = 0; j < M::r; ++j)
    if (solver.separating.has(j))
      open_condition(motion.t, true, Model::value(me.k, motion.t, motion.q(), motion.v(), motion.z(), j),
                     Real(0), constraints.conditions[j]);
  solver.close_held(constraints);
  record_event_now(me, shock);
  if (me.going()) finish_accumulation(me, contact.constraints, earlier);
  if (me.going()) project_drift<M>(me.k, constraints, me.motion, me.audit);
  return true;
}

// The multiplier of condition i reaches zero while no other is near. False: nothing has been changed.
template <class M>
ZWANG_COLD bool try_release(M& me, int i, typename M::Real resolution) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  typename M::Constraints& constraints = me.constraints;
  const typename M::Motion& motion = me.motion;
  if (!SingleContactSolver<M>::is_isolated(me, i)) return false;
  SingleContactSolver<M> solver;
  Model::mass(me.k, motion.t, motion.q(), motion.v(), motion.z(), solver.mass);
  if (!solver.root.factor(solver.mass)) return false;
  copy<M::size>(motion.y, solver.y);
  for (int j = 0; j < M::r; ++j) solver.held[j] = j == i ? Real(0) : constraints.held[j];
  if (!solver.multipliers_positive(me)) return false;
  const auto second = solver.second_of(me, i);
  const Real was_zero = maximum(constraints.conditions[i].multiplier_zero, resolution);
  const Real noise = noise_of_released(was_zero, second.weight);
  if (!(second.value <= largest_released_second(second.size, noise))) return false;
  const Zero<Real> zero = zero_of(me, i);
  open_condition(motion.t, opens_armed(zero.f, zero.f_rate, zero.value, zero.rate), zero.f, noise,
                 constraints.conditions[i]);
  solver.close_held(constraints);
  typename M::Event event;
  event.t = motion.t;
  event.kind = EventKind::release;
  event.constraints.add(i);
  record_event_now(me, event);
  return true;
}

// Handles the event `due` if it is the contact or release of a single condition. False: nothing has been
// changed.
template <class M>
ZWANG_COLD bool try_single_contact(M& me, const EventToHandle<typename M::Real>& due) {
  if constexpr (SingleContactSolver<M>::possible) {
    const bool done = due.kind == EventFunctionKind::reached   ? try_contact(me, due.index)
                      : due.kind == EventFunctionKind::release ? try_release(me, due.index, due.resolution)
                                                               : false;
    if (done && me.going()) update_watch_signs(me);
    return done;
  }
  return false;
}

}  // namespace zwang
