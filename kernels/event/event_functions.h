// Event functions of a step: curves whose rise through zero is an event (mechanics section 5, requirements 1
// to 3). The reference is src/reference/event_functions.cpp.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/dynamics/implicit_slip.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/row_dependence.h"
#include "kernels/dynamics/signals.h"
#include "kernels/dynamics/slip_stiffness.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/integrator/interpolant.h"
#include "kernels/integrator/runge_kutta.h"
#include "kernels/rootfinding/first_root.h"

namespace zwang {

template <class Real>
struct EventFunction {
  EventFunctionKind kind;
  int index;               // of the condition, or of the signal
  Real sign, level, zero;  // an event where sign * raw > level, located to within `zero`
  Real since, noise;       // the level grows by noise (t - since)^2 / 2
  Real below_at;           // from this time on the level is 0: the curve was clearly below zero then
  Bracket<Real> bracket;
  Real x;  // the root on the interpolant, as a fraction of the step
};

// An event located on the true flow.
template <class M>
struct LocatedEvent {
  using Real = typename M::Real;
  bool found = false;
  EventFunction<Real> event_function{};
  Real resolution = 0;  // the change of the event function within one rounding of the time
  Real x = 1;
  Real y[M::size];

  ZWANG_INLINE EventToHandle<Real> to_handle() const {
    return {event_function.kind, event_function.index, resolution};
  }
};

// A step with its dense output: the interpolant, and the method itself for fractions of the step.
template <class M>
struct DenseStep {
  using Real = typename M::Real;
  using Method = typename M::Method;
  const Real* k;
  const typename M::Constraints& constraints;
  Interpolant<Method, M::n, M::size, Real> interpolant;
  Real first_rate[M::size - M::n];
  // Where the held rows become linearly dependent, as a fraction of the step, and how far around that place
  // rounding spoils a right side (member/singular_passage.h).
  Real dependence = infinity<Real>(), excluded = 0;
  bool implicit = false;  // the step is implicit in the directions of slips (dynamics/implicit_slip.h)

  ZWANG_INLINE bool is_spoiled(Real x) const { return absolute(x - dependence) < excluded; }

  // The state at a fraction of the step by the method itself: as accurate as the whole step.
  ZWANG_COLD void flow(Real x, Real* y) const {
    if (x >= 1) {
      copy<M::size>(interpolant.end, y);
      return;
    }
    if (interpolant.expanded || is_spoiled(x)) {
      interpolant.at(x, y);
      return;
    }
    if constexpr (slips_in_space<typename M::Model>())
      if (implicit) {
        Real error;
        ImplicitSlip<M> slip(k, constraints, interpolant.t, interpolant.start);
        slip.take(constraints, interpolant.t, interpolant.start, x * interpolant.h, Real(1), Real(1), y,
                  error);
        return;
      }
    StepArrays<Method, M::n, M::size, M::fed_back, Real> partial;
    partial.h = x * interpolant.h;
    copy<M::size - M::n>(first_rate, partial.k[0]);
    partial.take(interpolant.t, interpolant.start, [&](Real t, const Real* at, Real* rate) {
      Real lambda[M::rows];
      member_right_side<M>(k, constraints, t, at, rate, lambda);
    });
    copy<M::size>(partial.end, y);
  }
};

// Whether multipliers that are not unique are admissible: no inequality pulls.
template <class M, class Real>
ZWANG_DEVICE bool none_pulls(const M& me, const Real* lambda) {
  for (int i = 0; i < M::r; ++i) {
    const auto& condition = me.constraints.conditions[i];
    if (condition.standing == Standing::closed && lambda[i] < -condition.multiplier_zero) return false;
  }
  return true;
}

// Where the multiplier of a condition falls to zero, or leaves it. One that is not unique stays at zero while it would
// be negative: there it is that of a condition that may pull, so that the curve crosses zero. An idle condition has no
// force to lose: it `ends` where its multiplier is negative and the others do not hold it.
template <class M, class Real>
ZWANG_DEVICE Real pressing_force(const M& me, int i, bool ends, Real t, const Real* y, const Real* lambda) {
  const auto& condition = me.constraints.conditions[i];
  if (!me.constraints.redundant || (lambda[i] > condition.multiplier_zero && none_pulls(me, lambda)))
    return lambda[i];
  if (ends && condition.idle) {
    typename M::Set bear{};
    for (int j = 0; j < M::r; ++j)
      if (!me.constraints.conditions[j].idle) bear.add(j);
    if (is_held_by_others<M>(me.k, me.constraints, t, y, bear, i)) return condition.multiplier_zero;
  }
  Real signed_forces[M::rows];
  multipliers_at<M>(me.k, me.constraints, t, y, signed_forces, i);
  return signed_forces[i];
}

template <class M, class Real>
ZWANG_DEVICE Real event_value(const M& me, const EventFunction<Real>& event_function, Real t, const Real* y) {
  using Model = typename M::Model;
  const Real *q = y, *v = M::v_of(y), *z = M::z_of(y);
  Real raw;
  if (event_function.kind == EventFunctionKind::reached) {
    raw = Model::value(me.k, t, q, v, z, event_function.index);
  } else if (event_function.kind == EventFunctionKind::release ||
             event_function.kind == EventFunctionKind::press) {
    Real lambda[M::rows];
    multipliers_at<M>(me.k, me.constraints, t, y, lambda);
    raw = pressing_force(me, event_function.index, event_function.kind == EventFunctionKind::release, t, y,
                         lambda);
  } else if (event_function.kind == EventFunctionKind::jam) {
    if constexpr (friction_may_jam<Model>())
      raw = Real(me.input.settings->painleve_margin) -
            slip_stiffness<M>(me.k, me.constraints.held, t, y, event_function.index);
    else
      raw = -1;
  } else {
    raw = signal_at<M>(me.k, me.constraints, t, y, event_function.index);
  }
  if (t >= event_function.below_at) return event_function.sign * raw;
  const Real elapsed = t - event_function.since;
  return event_function.sign * raw - event_function.level -
         Real(0.5) * event_function.noise * elapsed * elapsed;
}

// The slope of an event function in time: known for position conditions, NaN for all others.
template <class M, class Real>
ZWANG_DEVICE Real event_slope(const M& me, const EventFunction<Real>& event_function, Real t, const Real* y) {
  if (event_function.kind != EventFunctionKind::reached || !M::Model::is_holonomic(event_function.index))
    return missing<Real>();
  return M::Model::rate(me.k, t, y, M::v_of(y), M::z_of(y), event_function.index);
}

// All event functions of a step: at most two for a condition, one for a signal, and one for a contact that may jam.
template <class M>
struct EventFunctions {
  static constexpr int most = at_least_one(3 * M::r + M::Model::signals);
  int count = 0;
  bool forces = false;  // some are multipliers
  EventFunction<typename M::Real> list[most];

  using Real = typename M::Real;
  ZWANG_INLINE void add(EventFunctionKind kind, int index, Real sign, Real level, Real zero, Real since,
                        Real noise) {
    list[count++] = {kind, index, sign, level, zero, since, noise, infinity<Real>(), {false, 0, 0}, 2};
  }

  ZWANG_DEVICE void collect(const M& me) {
    using Model = typename M::Model;
    for (int i = 0; i < M::r; ++i) {
      if (!me.candidates.has(i)) continue;
      const Condition<Real>& condition = me.constraints.conditions[i];
      if (condition.standing == Standing::open && !Model::is_equation(i)) {
        // Not armed yet: rounding around zero is no contact, but a rise above the level of rounding is.
        const auto now = zero_of(me, i);
        const Real zero = now.value;
        // Armed: reached at zero, or where it comes back to a start that rounding has put above zero.
        if (condition.armed)
          add(EventFunctionKind::reached, i, 1, maximum(now.f, Real(0)), zero, 0, 0);
        else
          add(EventFunctionKind::reached, i, 1, condition.above + zero, zero, condition.since,
              condition.noise);
      }
      if (condition.standing == Standing::closed) {
        const Real zero = condition.multiplier_zero;
        forces = true;
        add(EventFunctionKind::release, i, -1, condition.idle ? zero : Real(0), zero, 0, 0);
        if (condition.idle) add(EventFunctionKind::press, i, 1, zero, zero, 0, 0);
      }
    }
    if constexpr (friction_may_jam<Model>())
      for (int f = 0; f < Model::frictions; ++f)
        if (me.constraints.held[Model::friction_contact(f)] > 0 && friction_slips<M>(me.k, f))
          add(EventFunctionKind::jam, f, 1, 0, Real(10) * Precision<Real>::tie, 0, 0);
    for (int i = 0; i < Model::signals; ++i) {
      if (i < Model::watches ? me.watch_signs[i] == 0 : i >= M::first_kink && me.exchange.side[i] == 0)
        continue;
      const auto value = scaled_signal(me, i);
      const Real zero = me.input.contact_tolerance * value.scale;
      // A function that rests at zero (the height of a body on the ground) crosses it when it is clearly
      // beyond.
      const Real level = absolute(value.value) <= zero ? zero : Real(0);
      // Integrands with kinks: the step ends at a kink, so that the integral is as accurate as the motion.
      if (i < Model::watches)
        add(EventFunctionKind::watch, i, me.watch_signs[i] < 0 ? 1 : -1, level, zero, 0, 0);
      else if (i < M::first_kink)
        add(EventFunctionKind::stop, i, 1, level, zero, 0, 0);
      else if (i < M::first_transition)
        add(EventFunctionKind::kink, i, me.exchange.side[i], level, zero, 0, 0);
      else
        add(EventFunctionKind::transition, i, 1, level, zero, 0, 0);
    }
  }
};

}  // namespace zwang
