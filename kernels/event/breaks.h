// Conditions and links that break: by their forces right after an event [limit-3], and in a shock [limit-4]. The reference
// is src/reference/motion_breaks.cpp.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/contact_rows.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/shock.h"
#include "kernels/dynamics/signals.h"
#include "kernels/event/contacts.h"
#include "kernels/event/modes.h"
#include "kernels/record/event_log.h"

namespace zwang {

// Whether a condition that breaks is at its bound. A contact with friction is so by its normal force, which the problem of
// its slip does not bound.
template <class M>
ZWANG_DEVICE bool is_overloaded(const M& me, int b, const ModeProblem<M>& problem) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  const typename M::Motion& motion = me.motion;
  const int i = Model::bound_condition(b), k = problem.unit_of[i];
  if (!Model::bound_breaks(b) || k < 0 || !(me.constraints.held[i] > 0) || is_hopping(me, i)) return false;
  const auto& unit = problem.contacts.unit[k];
  if (unit.kind != RowKind::contact)
    return problem.solution.choice[k] == RowChoice::slip ||
           problem.solution.choice[k] == RowChoice::slip_back;
  const Real limit = Model::limit(me.k, motion.t, motion.q(), motion.v(), motion.z(), b);
  return problem.solution.lambda[unit.row] > limit * (1 + Precision<Real>::tie);
}

// At the limit of hops left out: whether a contact that breaks is overloaded at rest.
template <class M>
ZWANG_COLD bool ends_hops_overloaded([[maybe_unused]] M& me) {
  bool any = false;
  if constexpr (ModesOf<typename M::Model>::any) {
    using Model = typename M::Model;
    using Real = typename M::Real;
    const typename M::Motion& motion = me.motion;
    if (!(me.schedule.remainder.begin >= 0)) return false;
    for (int b = 0; b < Model::bounds; ++b) {
      Real& end = me.schedule.ahead.hops_end[b];
      const int i = Model::bound_condition(b);
      if (!(end > 0) || is_hopping(me, i)) continue;
      end = 0;
      if (!(me.constraints.held[i] > 0)) continue;
      Real lambda[M::rows];
      multipliers_at<M>(me.k, me.constraints, motion.t, motion.y, lambda);
      const Real limit = Model::limit(me.k, motion.t, motion.q(), motion.v(), motion.z(), b);
      any = any || lambda[i] > limit * (1 + Precision<Real>::tie);
    }
  }
  return any;
}

// Whether the force or torque of link limit l is beyond its bound.
template <class M>
ZWANG_DEVICE bool is_link_overloaded(const M& me, int l, const ModeProblem<M>& problem) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  const typename M::Motion& motion = me.motion;
  if (!(me.constraints.held[Model::link_first(l)] > 0)) return false;
  Real squares = 0;
  for (int c = 0; c < Model::link_loaded(l); ++c) {
    const int k = problem.unit_of[Model::link_first_loaded(l) + c];
    if (k >= 0) squares += square(problem.solution.lambda[problem.contacts.unit[k].row]);
  }
  const Real limit = Model::link_limit(me.k, motion.t, motion.q(), motion.v(), motion.z(), l);
  return sqrt(squares) > limit * (1 + Precision<Real>::tie);
}

// All conditions of the link are gone for good; they are added to `broken`.
template <class M>
ZWANG_DEVICE void break_link(M& me, int l, typename M::Set& broken) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  for (int c = 0; c < Model::link_rows(l); ++c) {
    me.constraints.conditions[Model::link_first(l) + c] = Condition<Real>{};
    broken.add(Model::link_first(l) + c);
  }
  if (Model::link_broken_state(l) >= 0) me.motion.y[2 * M::n + Model::link_broken_state(l)] = 1;
}

// Condition i is gone for good.
template <class M>
ZWANG_DEVICE void break_condition(M& me, int b) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  me.constraints.conditions[Model::bound_condition(b)] = Condition<Real>{};
  if (Model::bound_broken_state(b) >= 0) me.motion.y[2 * M::n + Model::bound_broken_state(b)] = 1;
}

// Conditions whose multipliers are beyond their bounds right after an event break at once, all of them together.
// True: some have, and the set has to be found anew.
template <class M, class Problem>
ZWANG_DEVICE bool break_overloaded([[maybe_unused]] M& me, [[maybe_unused]] const Problem& problem,
                                   [[maybe_unused]] typename M::Set& broken) {
  using Model = typename M::Model;
  bool any = false;
  if constexpr (ModesOf<Model>::any) {
    for (int b = 0; b < Model::bounds; ++b) {
      if (!is_overloaded(me, b, problem)) continue;
      break_condition(me, b);
      broken.add(Model::bound_condition(b));
      any = true;
    }
    // Links: those overloaded while all others hold.
    if constexpr (LinkLimitsOf<Model>::count > 0) {
      if (any) return true;
      bool overloaded[LinkLimitsOf<Model>::count];
      for (int l = 0; l < Model::link_limits; ++l) overloaded[l] = is_link_overloaded(me, l, problem);
      for (int l = 0; l < Model::link_limits; ++l) {
        if (!overloaded[l] || !me.constraints.in_force(Model::link_first(l))) continue;
        break_link(me, l, broken);
        any = true;
      }
    }
  }
  return any;
}
// Lists them once the set without them is found: a force beyond the bound has never acted and enters no measure.
template <class M>
ZWANG_DEVICE void record_overloaded(M& me, const typename M::Set& broken) {
  if (broken.size() == 0) return;
  typename M::Event event;
  event.t = me.motion.t;
  event.kind = EventKind::breaks;
  event.constraints = broken;
  record_event(me, event);
}

// Conditions that break in a shock [limit-4]: those whose impulse has reached its bound, and those without part in
// shocks that cannot follow the jump, links with all their conditions.
template <class M>
ZWANG_DEVICE void note_broken([[maybe_unused]] M& me, [[maybe_unused]] ShockResult<M>& result) {
  using Model = typename M::Model;
  if constexpr (ModesOf<Model>::any)
    for (int b = 0; b < Model::bounds; ++b) {
      const int i = Model::bound_condition(b);
      const typename M::Motion& motion = me.motion;
      if (!Model::bound_breaks(b) || !me.constraints.in_force(i)) continue;
      const bool bears = Model::impulse_limit(me.k, motion.t, motion.q(), motion.v(), motion.z(), b) > 0;
      const auto now = zero_of(me, i);
      if (Model::is_equation(i) && !bears && absolute(now.f_rate) > now.rate) result.broken.add(i);
      if (result.broken.has(i)) break_condition(me, b);
    }
  if constexpr (LinkLimitsOf<Model>::count > 0)
    for (int l = 0; l < Model::link_limits; ++l) {
      const int first = Model::link_first(l);
      if (Model::link_bears_impulses(l) || !me.constraints.in_force(first)) continue;
      bool separated = false;
      for (int i = first; i < first + Model::link_rows(l); ++i) {
        const auto now = zero_of(me, i);
        separated = separated || absolute(now.f_rate) > now.rate;
      }
      if (separated) break_link(me, l, result.broken);
    }
}
template <class M>
ZWANG_DEVICE void record_broken([[maybe_unused]] M& me, [[maybe_unused]] const ShockResult<M>& result) {
  if constexpr (ModesOf<typename M::Model>::any) {
    typename M::Event event;
    event.t = me.motion.t;
    event.kind = EventKind::breaks;
    event.constraints = result.broken;
    if (result.broken.size() > 0) record_event(me, event);
  }
}

}  // namespace zwang
