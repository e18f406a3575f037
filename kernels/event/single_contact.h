// The common events without a quadratic program: one condition is reached, or one lets go, and it is plain who holds
// afterwards. The set that holds is guessed, Gauss's principle is asked for its multipliers in straight lines
// (Model::motion), and where every one of them presses clearly, and nothing else is near, the guess is the answer: the
// conditions of the minimum are met. Wherever that is not clear, nothing is changed and events are taken
// the general way (event/dispatch.h). Both agree where both apply; a test holds them together.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/event/active_set.h"
#include "kernels/event/contact_rules.h"
#include "kernels/event/instant_events.h"
#include "kernels/record/event_log.h"

namespace zwang {

template <class M>
struct SingleContactSolver {
  using Model = typename M::Model;
  using Real = typename M::Real;
  static constexpr int n = M::n, most = 3;
  static constexpr bool possible = M::r > 0 && Model::masked && !Model::any_general && !Model::has_density;

  MassRoot<n, Model::diagonal_mass, Real> root;
  Real mass[n * n];
  // The rows that take part in a shock: those held, and the one that is reached, which comes last.
  int count = 0, which[most];
  Real u[most][n];                                   // in the mass metric
  Real weight[most], offset[most], rate_zero[most];  // |u|^2, f' at rest, what counts as zero for f'
  Real l[most];                                      // impulses
  // Rows that held and are left with a speed of their own, like a string that goes slack as another jerks.
  typename M::Set separating{};

  // After the event.
  Real y[M::size], held[M::rows], accelerations[M::size], lambda[M::rows];
  Real multiplier_zero[M::rows];

  // Is nothing near but condition i and those that hold? Velocity limits have a say in every shock, however far they are.
  static ZWANG_DEVICE bool is_isolated(const M& me, int i) {
    if (me.progress.accumulation_pending || me.constraints.redundant) return false;
    for (int j = 0; j < M::r; ++j) {
      const Condition<Real>& other = me.constraints.conditions[j];
      if (j == i || other.standing == Standing::absent || other.standing == Standing::equation) continue;
      if (!Model::is_holonomic(j)) return false;
      if (other.standing == Standing::open ? !is_far(me, j) : other.idle) return false;
    }
    return Model::is_holonomic(i);
  }

  // Adds a row; false where it has no direction, or none of its own beside the others.
  ZWANG_DEVICE bool add(const M& me, int j) {
    if (count == most || !Model::is_linear(j)) return false;
    Real value, rate, rest, a[n];
    Model::row(me.k, me.motion.t, me.motion.q(), me.motion.v(), me.motion.z(), j, value, rate, rest, a);
    const auto scaled = scaled_condition<M>(me.k, me.motion, j, me.motion.v(), me.sizes.q, me.sizes.v);
    root.into(a, u[count]);
    which[count] = j;
    weight[count] = dot<n>(u[count], u[count]);
    offset[count] = rate - dot<n>(a, me.motion.v());
    rate_zero[count] = me.input.rest_speed * scaled.rate_scale;
    ++count;
    return !scaled.vanishes && is_finite(rate);
  }

  // Phi l = b by Cholesky's method, b zero but for the last row. False where rows are nearly dependent.
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

  // The impulses of the shock of condition i [mayer2-9], with its rebound (mechanics section 4). Every row that holds takes
  // part; one that would have to pull parts instead. False where it is not clear who presses and who parts.
  ZWANG_DEVICE bool find_impulses(Real approach) {
    for (;;) {
      if (!solve(approach)) return false;
      int pulls = -1;
      for (int j = 0; j < count; ++j) {
        if (Model::is_equation(which[j])) continue;
        const Real strength = l[j] * weight[j], noise = safety_factor * rate_zero[j];
        if (strength < -noise)
          pulls = j;
        else if (!(strength > noise))
          return false;
      }
      if (pulls < 0) return true;
      if (pulls == count - 1) return false;
      remove_row(pulls);
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

  // Velocities after the shock of condition i. The conditions of the minimum are tried as they stand: where a row takes part
  // none is off by more than rounding, and those that part do so clearly.
  ZWANG_DEVICE bool apply_impact(const M& me, int i, Real e) {
    Model::mass(me.k, me.motion.t, me.motion.q(), me.motion.v(), me.motion.z(), mass);
    if (!root.factor(mass)) return false;
    for (int j = 0; j < M::r; ++j)
      if (me.constraints.held[j] > 0 && !add(me, j)) return false;
    if (!add(me, i)) return false;
    const Real approach = Model::rate(me.k, me.motion.t, me.motion.q(), me.motion.v(), me.motion.z(), i),
               leaves = e * approach;
    const Real noise = safety_factor * rate_zero[count - 1];
    if (!(approach > noise) || (e > 0 && !(leaves > noise)) || !find_impulses(approach + leaves))
      return false;
    Real sum[n], change[n];
    for (int c = 0; c < n; ++c) sum[c] = 0;
    for (int j = 0; j < count; ++j) add_multiple<n>(-l[j], u[j], sum);
    root.back(sum, change);
    copy<M::size>(me.motion.y, y);
    for (int c = 0; c < n; ++c) y[n + c] += change[c];
    drop_noise<M>(mass, me.motion.v(), y + n);
    for (int j = 0; j < count; ++j) {
      const Real wanted = j + 1 < count ? Real(0) : -leaves;
      const Real rate = Model::rate(me.k, me.motion.t, y, y + n, y + 2 * n, which[j]);
      if (!(absolute(rate - wanted) <= rate_zero[j])) return false;
    }
    for (int j = 0; j < M::r; ++j) {
      if (!separating.has(j)) continue;
      const Real rate = Model::rate(me.k, me.motion.t, y, y + n, y + 2 * n, j);
      if (!(rate < -safety_factor * zero_of(me, j).rate)) return false;
    }
    if (e > 0) separating.add(i);
    return true;
  }

  // [mayer-20] Does every inequality of `held` press clearly in the motion that begins now?
  ZWANG_DEVICE bool multipliers_positive(const M& me) {
    bool any = false;
    for (int j = 0; j < M::r; ++j) any = any || held[j] > 0;
    right_side<M>(me.k, me.motion.t, y, held, any, accelerations, lambda);
    if (!all_finite<M::size>(accelerations)) return false;
    if (!any) return true;
    Real force[n], metric[n];
    Model::applied(me.k, me.motion.t, y, y + n, y + 2 * n, force);
    root.into(force, metric);
    const Real free_size = norm<n>(metric);
    for (int j = 0; j < M::r; ++j) {
      if (!(held[j] > 0) || Model::is_equation(j)) continue;
      Real value, rate, rest, a[n], across[n];
      Model::row(me.k, me.motion.t, y, y + n, y + 2 * n, j, value, rate, rest, a);
      root.into(a, across);
      const Real squared = dot<n>(across, across);
      const auto scaled = scaled_condition<M>(me.k, me.motion, j, y + n, me.sizes.q, me.sizes.v);
      const Real slack = 10 * me.input.contact_tolerance * (sqrt(squared) * free_size + scaled.rest_scale);
      if (!(lambda[j] * squared > safety_factor * slack)) return false;
      multiplier_zero[j] = slack / squared;
    }
    return true;
  }

  // f'' of a condition in that motion, the size of its terms, and its row in the metric.
  struct Second {
    Real value, rate, size, weight;
  };
  ZWANG_DEVICE Second second(const M& me, int i) const {
    Real value, rest, a[n], across[n];
    Second made;
    Model::row(me.k, me.motion.t, y, y + n, y + 2 * n, i, value, made.rate, rest, a);
    root.into(a, across);
    made.weight = dot<n>(across, across);
    made.value = dot<n>(a, accelerations + n) + rest;
    made.size = absolute(rest);
    for (int c = 0; c < n; ++c) made.size += absolute(a[c] * accelerations[n + c]);
    return made;
  }

  // The set that holds from now on.
  ZWANG_DEVICE void close_held(M& me) const {
    for (int j = 0; j < M::r; ++j) {
      if (!(held[j] > 0) || me.constraints.conditions[j].standing == Standing::equation) continue;
      me.constraints.conditions[j] = Condition<Real>{};
      me.constraints.conditions[j].standing = Standing::closed;
      me.constraints.conditions[j].multiplier_zero = multiplier_zero[j];
    }
    update_held(me);
  }
};

// A condition that opens here and now.
template <class M>
ZWANG_DEVICE void open_now(M& me, int i, bool armed, typename M::Real f, typename M::Real noise) {
  auto& condition = me.constraints.conditions[i];
  condition = Condition<typename M::Real>{};
  condition.standing = Standing::open;
  condition.armed = armed;
  condition.since = me.motion.t;
  condition.above = maximum(typename M::Real(0), f);
  condition.noise = noise;
}

// The velocities jump. What collide() says of a shock, for the record.
template <class M>
ZWANG_DEVICE void jump(M& me, const SingleContactSolver<M>& solver, int i, bool rebounds,
                       typename M::Event& event) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  constexpr int n = M::n;
  event.t = me.motion.t;
  event.kind = EventKind::shock;
  event.reached.add(i);
  event.jump = true;
  for (int j = 0; j < M::r; ++j) event.impulse[j] = 0;
  copy<n>(me.motion.v(), event.before);
  copy<n>(solver.y + n, event.after);
  bool fixed = true;
  for (int j = 0; j < solver.count; ++j) {
    const int row = solver.which[j];
    fixed = fixed && absolute(solver.offset[j]) <= solver.rate_zero[j];
    if (!(absolute(solver.l[j]) * solver.weight[j] > solver.rate_zero[j])) continue;
    event.constraints.add(row);
    event.impulse[row] =
        solver.l[j] * Model::reach(me.k, me.motion.t, me.motion.q(), event.before, me.motion.z(), row);
  }
  Real kinetic_before, kinetic_after, energy_before, energy_after;
  Model::energies(me.k, me.motion.t, me.motion.q(), event.before, me.motion.z(), kinetic_before,
                  energy_before);
  Model::energies(me.k, me.motion.t, me.motion.q(), event.after, me.motion.z(), kinetic_after, energy_after);
  event.energy_lost = kinetic_before - kinetic_after;
  if (fixed) me.audit.raise(audit_created, -event.energy_lost);
  if (fixed && !rebounds)
    me.audit.raise(audit_carnot, carnot_defect<M>(solver.mass, event.before, event.after));
  copy<n>(event.after, me.motion.y + n);
  me.energy.lost += energy_before - energy_after;
  for (int c = 0; c < n; ++c)
    me.sizes.v[c] = maximum(me.sizes.v[c], maximum(absolute(event.before[c]), absolute(event.after[c])));
  me.accumulation.note(me.motion.t, event.reached);
}

// A hop too low to be followed is no plain one: as in settle().
template <class M>
ZWANG_DEVICE bool hops_are_resolved(const M& me, const SingleContactSolver<M>& solver) {
  for (int i = 0; i < M::r; ++i) {
    if (!solver.separating.has(i)) continue;
    const auto next = solver.second(me, i);
    if (!(next.value > 0)) continue;
    if (!(square(next.rate) > 8 * next.value * zero_of(me, i).value) ||
        !(-2 * next.rate > 16 * next.value * me.motion.rounding_of_time()))
      return false;
  }
  return true;
}

// Condition i is reached, alone beside those that hold. It stays when it has no rebound, and parts at once when it has.
template <class M>
ZWANG_COLD bool try_contact(M& me, int i) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  if (!SingleContactSolver<M>::is_isolated(me, i)) return false;
  SingleContactSolver<M> solver;
  const Real e = Model::restitution(me.k, i);
  if (!solver.apply_impact(me, i, e)) return false;
  for (int j = 0; j < M::r; ++j)
    solver.held[j] = (j == i || me.constraints.held[j] > 0) && !solver.separating.has(j) ? Real(1) : Real(0);
  if (!solver.multipliers_positive(me) || !hops_are_resolved(me, solver)) return false;
  const auto earlier = me.accumulation.sequence;
  typename M::Event contact, shock;
  contact.t = me.motion.t;
  contact.kind = EventKind::contact;
  contact.constraints.add(i);
  record_event_now(me, contact);
  jump(me, solver, i, e > 0, shock);
  for (int j = 0; j < M::r; ++j)
    if (solver.separating.has(j))
      open_now(me, j, true, Model::value(me.k, me.motion.t, me.motion.q(), me.motion.v(), me.motion.z(), j),
               Real(0));
  solver.close_held(me);
  record_event_now(me, shock);
  if (me.going()) finish_accumulation(me, contact.constraints, earlier);
  if (me.going()) project_drift(me);
  return true;
}

// Condition i presses no more, and lets go alone.
template <class M>
ZWANG_COLD bool try_release(M& me, int i, typename M::Real resolution) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  if (!SingleContactSolver<M>::is_isolated(me, i)) return false;
  SingleContactSolver<M> solver;
  Model::mass(me.k, me.motion.t, me.motion.q(), me.motion.v(), me.motion.z(), solver.mass);
  if (!solver.root.factor(solver.mass)) return false;
  copy<M::size>(me.motion.y, solver.y);
  for (int j = 0; j < M::r; ++j) solver.held[j] = j == i ? Real(0) : me.constraints.held[j];
  if (!solver.multipliers_positive(me)) return false;
  // Would the others push through it? Its multiplier was zero only to rounding, so its f'' is.
  const auto next = solver.second(me, i);
  const Real was_zero = maximum(me.constraints.conditions[i].multiplier_zero, resolution);
  const Real noise = Precision<Real>::release_noise * was_zero * next.weight;
  if (!(next.value <= Real(1e-6) * next.size + noise)) return false;
  const Zero<Real> zero = zero_of(me, i);
  open_now(me, i, zero.f < -zero.value || zero.f_rate < -zero.rate, zero.f, noise);
  solver.close_held(me);
  typename M::Event event;
  event.t = me.motion.t;
  event.kind = EventKind::release;
  event.constraints.add(i);
  record_event_now(me, event);
  return true;
}

// What happens here, if it is plain; false: nothing has been done.
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
