// The first event within a step: roots of the event functions on the interpolant, corrected on the true flow
// (mechanics section 5, requirements 1 to 3). The reference is src/reference/first_event.cpp.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/orientation.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/row_dependence.h"
#include "kernels/dynamics/signals.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/event/event_functions.h"
#include "kernels/event/refine_event_time.h"
#include "kernels/rootfinding/first_root.h"

namespace zwang {

// A condition that opened a moment ago and is clearly below zero at a sample is armed from there on. Arming
// it only at the step's end would miss a string that is slack for less than a step.
template <class Real>
ZWANG_DEVICE void arm_within_step(Real t, Real h, EventFunction<Real>& event_function,
                                  Condition<Real>& condition, Real* samples) {
  if (condition.armed && !(event_function.level > 0)) return;
  for (int s = 1; s < sample_count; ++s) {
    const Real now = t + Real(sample_fraction(s)) * h, elapsed = now - event_function.since;
    const Real level = event_function.level + Real(0.5) * event_function.noise * elapsed * elapsed;
    const Real value = samples[s] + level;
    if (value < -level) event_function.below_at = minimum(event_function.below_at, now);
    if (now >= event_function.below_at) samples[s] = value;
  }
  condition.below_at = minimum(condition.below_at, event_function.below_at);
}

// A curve that rises and falls again between two samples, as at a jump of its slope, has no bracket. If it is
// above zero at the event found so far, it has crossed before: `found` is replaced by that crossing.
template <class M>
ZWANG_COLD void find_earlier(M& me, const DenseStep<M>& dense, EventFunction<typename M::Real> event_function,
                             LocatedEvent<M>& found) {
  using Real = typename M::Real;
  const auto curve = [&](Real x) {
    Real y[M::size];
    dense.interpolant.at(x, y);
    return event_value(me, event_function, dense.interpolant.t + x * dense.interpolant.h, y);
  };
  if (!(curve(found.x) > event_function.zero) || !(curve(Real(0)) <= 0)) return;
  event_function.bracket = {true, 0, found.x};
  for (int s = 1; s < sample_count && Real(sample_fraction(s)) < found.x; ++s)
    if (curve(Real(sample_fraction(s))) <= 0) event_function.bracket.below = Real(sample_fraction(s));
  event_function.x = root(event_function.bracket, curve);
  LocatedEvent<M> before;
  locate_event(me, dense, event_function, before);
  if (me.going() && before.found && before.x < found.x) found = before;
}

// Finds the first root of every event function on the interpolant, where samples of it show a bracket.
// Changes the arming of conditions.
template <class M>
ZWANG_COLD void find_brackets(M& me, const DenseStep<M>& dense, EventFunctions<M>& event_functions) {
  using Real = typename M::Real;
  // The interpolant is sampled once for all event functions; multipliers only where some condition is closed.
  Real states[sample_count][M::size], multipliers[sample_count][M::rows];
  const Real t = dense.interpolant.t, h = dense.interpolant.h;
  for (int s = 0; s < sample_count; ++s) {
    dense.interpolant.at(Real(sample_fraction(s)), states[s]);
    if (event_functions.forces)
      multipliers_at<M>(me.k, me.constraints, t + Real(sample_fraction(s)) * h, states[s], multipliers[s]);
  }
  for (int c = 0; c < event_functions.count; ++c) {
    EventFunction<Real>& event_function = event_functions.list[c];
    const bool is_multiplier =
        event_function.kind == EventFunctionKind::release || event_function.kind == EventFunctionKind::press;
    Real samples[sample_count];
    for (int s = 0; s < sample_count; ++s) {
      if (is_multiplier)
        samples[s] = event_function.sign * pressing_force(me, event_function.index,
                                                          event_function.kind == EventFunctionKind::release,
                                                          t + Real(sample_fraction(s)) * h, states[s],
                                                          multipliers[s]) -
                     event_function.level;
      else
        samples[s] = event_value(me, event_function, t + Real(sample_fraction(s)) * h, states[s]);
    }
    if (event_function.kind == EventFunctionKind::reached)
      arm_within_step(t, h, event_function, me.constraints.conditions[event_function.index], samples);
    const auto curve = [&](Real x) {
      Real y[M::size];
      dense.interpolant.at(x, y);
      return event_value(me, event_function, t + x * h, y);
    };
    const auto slope = [&](int s) {
      const Real x = Real(sample_fraction(s));
      if (is_multiplier) return missing<Real>();
      const Real known = h * event_slope(me, event_function, t + x * h, states[s]);
      return known == known ? known : difference_slope(x, curve);
    };
    event_function.bracket = first_rise(samples, event_function.zero, slope, curve);
    if (event_function.bracket.found) event_function.x = root(event_function.bracket, curve);
  }
}

// A watched function that rests at zero and leaves it within the step is found where it is clearly beyond zero for the
// sizes of the whole step. Those up to that place are smaller: the search is repeated with what counts as zero there,
// else a velocity that leaves rest as the square of the time is found late by the root of its rounding.
template <class M>
ZWANG_COLD void find_departure(M& me, const DenseStep<M>& dense, LocatedEvent<M>& found) {
  using Real = typename M::Real;
  if (found.event_function.kind != EventFunctionKind::watch || !(found.event_function.level > 0)) return;
  const typename M::Rounding whole = me.sizes;
  const Real t = dense.interpolant.t, h = dense.interpolant.h;
  for (int pass = 0; pass < 20 && me.going(); ++pass) {
    EventFunction<Real> nearer = found.event_function;
    measure_sizes<M>(me.k, me.motion, dense.interpolant.start, found.y, found.x * h, me.sizes);
    nearer.level = nearer.zero = me.input.contact_tolerance * scaled_signal(me, nearer.index).scale;
    if (!(nearer.level > 0 && nearer.level < Real(0.5) * found.event_function.level)) break;
    const auto curve = [&](Real x) {
      Real y[M::size];
      dense.interpolant.at(x, y);
      return event_value(me, nearer, t + x * h, y);
    };
    nearer.bracket = {true, 0, found.x};
    nearer.x = root(nearer.bracket, curve);
    LocatedEvent<M> before;
    locate_event(me, dense, nearer, before);
    if (!before.found || !(before.x < found.x)) break;
    found = before;
  }
  me.sizes = whole;
}

// The earliest event of the step. A root of the interpolant that is none on the true flow gives way to the
// next one. Changes the arming of conditions; fails the member where an event cannot be located.
template <class M>
ZWANG_COLD void first_event(M& me, const DenseStep<M>& dense, LocatedEvent<M>& found) {
  if (is_locked(me, dense.first_rate)) return;
  EventFunctions<M> event_functions;
  event_functions.collect(me);
  if (event_functions.count == 0) return;
  find_brackets(me, dense, event_functions);
  bool without_bracket[EventFunctions<M>::most];
  for (int c = 0; c < event_functions.count; ++c) without_bracket[c] = !event_functions.list[c].bracket.found;
  // A root that moves to a later time on the true flow must not hide another before it: the motion would pass
  // through an open condition.
  LocatedEvent<M> next;
  for (int tried = 0; tried < event_functions.count; ++tried) {
    int best = -1;
    for (int c = 0; c < event_functions.count; ++c)
      if (event_functions.list[c].bracket.found &&
          (best < 0 || event_functions.list[c].x < event_functions.list[best].x))
        best = c;
    if (best < 0 || (found.found && !(event_functions.list[best].x < found.x))) break;
    locate_event(me, dense, event_functions.list[best], next);
    if (!me.going()) return;
    if (next.found && (!found.found || next.x < found.x)) found = next;
    event_functions.list[best].bracket.found = false;
  }
  for (int c = 0; c < event_functions.count && found.found && me.going(); ++c)
    if (without_bracket[c]) find_earlier(me, dense, event_functions.list[c], found);
  if (found.found && me.going()) find_departure(me, dense, found);
}

}  // namespace zwang
