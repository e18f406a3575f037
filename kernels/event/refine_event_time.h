// Refines the time of an event from the root on the interpolant to the root on the true flow (mechanics
// section 5, requirement 1).
#pragma once

#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/event/event_functions.h"
#include "kernels/rootfinding/first_root.h"

namespace zwang {

// Integrates over a short time from y at t by the classical Runge-Kutta method, or with fewer stages where
// the time is shorter still.
template <class M, class Real>
ZWANG_COLD void integrate_short(const M& me, Real t, const Real* y, Real duration, int stages, Real* state) {
  Real rate[M::size], lambda[M::rows], sum[M::size];
  member_right_side<M>(me.k, me.constraints, t, y, rate, lambda);
  for (int c = 0; c < M::size; ++c) sum[c] = rate[c];
  for (int stage = 1; stage < stages; ++stage) {
    const Real ahead = (stage < 3 ? Real(0.5) : Real(1)) * duration;
    for (int c = 0; c < M::size; ++c) state[c] = y[c] + ahead * rate[c];
    member_right_side<M>(me.k, me.constraints, t + ahead, state, rate, lambda);
    for (int c = 0; c < M::size; ++c) sum[c] += (stage < 3 ? 2 : 1) * rate[c];
  }
  for (int c = 0; c < M::size; ++c)
    state[c] = y[c] + duration * (stages == 4 ? Real(1.0 / 6) * sum[c] : rate[c]);
  // The flow stays on the held conditions; projecting later would move the event function off zero again.
  if (me.constraints.any_held) scalar_project<M>(me.k, t + duration, state, me.constraints.held, 3);
}

// Moves a state along the flow to a crossing nearby, down to rounding: `time` from t, where the event
// function has `value` and `slope`. The error of the moves shall be a hundredth of the tolerance: the shorter
// a move, the fewer stages it needs.
template <class M, class Real>
ZWANG_COLD void refine_on_flow(const M& me, const EventFunction<Real>& event_function, Real t, Real& time,
                               Real& value, Real& slope, Real* y) {
  constexpr int most = 20;
  for (int i = 0; i < most; ++i) {
    if (!(absolute(value) > Real(1e-4) * event_function.zero) || !(slope > 0)) return;
    const Real next = maximum(time - value / slope, Real(0));
    if (absolute(next - time) <= Precision<Real>::epsilon * next) return;
    Real state[M::size];
    const Real share = absolute(next - time) / me.exchange.step.h, error = Real(0.01) * me.input.rtol;
    const int stages = square(share) <= error ? 1 : cube(share) <= error ? 2 : 4;
    integrate_short(me, t + time, y, next - time, stages, state);
    const Real next_value = event_value(me, event_function, t + next, state);
    const Real secant = (next_value - value) / (next - time);
    if (secant > Real(0.1) * slope && secant < 10 * slope) slope = secant;
    if (!(absolute(next_value) < absolute(value))) return;  // rounding reached
    time = next;
    value = next_value;
    copy<M::size>(state, y);
  }
}

// The change of an event function within one rounding of the time.
template <class Real>
ZWANG_INLINE Real resolution_of(Real slope, Real t, Real h) {
  return slope * 8 * Precision<Real>::epsilon * maximum(h, absolute(t));
}

// The root of the cubic with the values and slopes given at 0 and 1, where its values have different signs.
template <class Real>
ZWANG_DEVICE Real root_between(Real from, Real slope_from, Real to, Real slope_to) {
  const Real rise = to - from, bend = 3 * rise - 2 * slope_from - slope_to,
             twist = slope_from + slope_to - 2 * rise;
  Real low = 0, high = 1, x = from / (from - to);
  for (int pass = 0; pass < 12; ++pass) {
    const Real value = from + x * (slope_from + x * (bend + x * twist)),
               slope = slope_from + x * (2 * bend + 3 * x * twist);
    ((value > 0) == (from > 0) ? low : high) = x;
    const Real next = x - value / slope;
    x = next > low && next < high ? next : Real(0.5) * (low + high);
  }
  return x;
}

// Where the interpolant is too inaccurate: widens its bracket until the true flow changes sign within it, and
// narrows it down as root() does (rootfinding/first_root.h): bisection takes 50 partial steps. Fails the member where
// the flow is not finite.
template <class M>
ZWANG_COLD void bracket_on_flow(M& me, const DenseStep<M>& dense,
                                const EventFunction<typename M::Real>& event_function,
                                LocatedEvent<M>& found) {
  using Real = typename M::Real;
  const Real t = dense.interpolant.t, h = dense.interpolant.h;
  Real y[M::size];
  const auto value_at = [&](Real x, Real* state) {
    dense.flow(x, state);
    return event_value(me, event_function, t + x * h, state);
  };
  // A state within an implicit step costs as much as the step. There the slopes of position conditions, which are
  // known, save half of the states; NaN elsewhere.
  const auto slope_at = [&](Real x, const Real* state) {
    if constexpr (slips_in_space<typename M::Model>())
      if (dense.implicit) return h * event_slope(me, event_function, t + x * h, state);
    return missing<Real>();
  };
  Real a = event_function.bracket.below, b = event_function.bracket.above, low = 0;
  for (Real stride = b - a; a > 0 && stride > 0 && (low = value_at(a, y)) > 0; stride *= 2)
    a = maximum(Real(0), a - stride);
  Real slope_other = slope_at(a, a > 0 ? y : dense.interpolant.start);
  if (!(a > 0)) low = event_value(me, event_function, t, dense.interpolant.start);
  Real value = value_at(b, found.y);
  if (value <= 0 && b < 1) {
    if (slope_other == slope_other) {
      a = b;
      low = value;
      slope_other = slope_at(b, found.y);
    }
    b = 1;
    value = value_at(b, found.y);
  }
  found.found = false;
  if (value <= 0) return;  // a grazing of the interpolant that the true motion does not have
  if (value != value) {
    me.fail(Status::event_lost);
    return;
  }
  // The newest point, the other end of the bracket, and the point before them.
  Real x = b, fx = value, other = a, f_other = minimum(low, Real(0)), part = fx / (fx - f_other);
  Real slope_x = slope_at(b, found.y), deepest = f_other;
  const auto part_by_slopes = [&] {
    const Real way = other - x;
    return root_between(fx, way * slope_x, f_other, way * slope_other);
  };
  if (f_other < 0 && slope_x == slope_x && slope_other == slope_other) part = part_by_slopes();
  // Below one rounding of the time nothing is told apart.
  constexpr bool any_modes = ModesOf<typename M::Model>::any;
  const Real resolved = any_modes ? Precision<Real>::epsilon * absolute(t) / h : Real(0);
  for (int i = 0; i < 100; ++i) {
    const Real tolerance = maximum(2 * Precision<Real>::epsilon * b, resolved), width = absolute(other - x);
    if (!(width > tolerance)) break;
    const Real least = Real(0.5) * tolerance / width;
    part = part == part ? minimum(maximum(part, least), 1 - least) : Real(0.5);
    const Real next = x + part * (other - x), f_next = value_at(next, y);
    const bool same = (f_next > 0) == (fx > 0);
    const Real before = same ? x : other, f_before = same ? fx : f_other;
    const bool slow = !(absolute(f_next) < Real(0.25) * minimum(absolute(fx), absolute(f_other)));
    if (!same) {
      other = x;
      f_other = fx;
      slope_other = slope_x;
    }
    x = next;
    fx = f_next;
    slope_x = slope_at(x, y);
    // Close to the root, short steps reach it: closing the bracket from both sides would take as many steps again. Near
    // the step's start all values are close to zero, and the root is where the slope shows it.
    deepest = minimum(deepest, fx);
    const bool clear = x > Real(0.01) || (slope_x > 0 && absolute(fx) <= Real(-1e-3) * deepest);
    if (absolute(fx) <= event_function.zero && clear) {
      Real time = x * h, slope = slope_x > 0 ? slope_x / h : (fx - f_other) / ((x - other) * h), left = fx;
      refine_on_flow(me, event_function, t, time, left, slope, y);
      b = minimum(time / h, Real(1));
      copy<M::size>(y, found.y);
      break;
    }
    if (fx > 0) {
      b = x;
      copy<M::size>(y, found.y);
      if (fx <= Real(1e-4) * event_function.zero) break;
    }
    const Real xi = (x - other) / (before - other), phi = (fx - f_other) / (f_before - f_other);
    const bool smooth = square(phi) < xi && square(1 - phi) < 1 - xi;
    part = smooth ? fx / (f_other - fx) * (f_before / (f_other - f_before)) +
                        (before - x) / (other - x) * (fx / (f_before - fx)) * (f_other / (f_before - f_other))
                  : Real(0.5);
    if (slope_x == slope_x && slope_other == slope_other && f_other != 0)
      part = slow && i > 0 ? Real(0.5) : part_by_slopes();
  }
  found.found = true;
  found.event_function = event_function;
  found.x = b;
}

// The state at a fraction of the step, from both its ends: positions by the polynomial of degree 5 through
// values, velocities and accelerations, the rest by cubics. Accurate enough to see whether an event is
// possible.
template <class M, class Real>
ZWANG_COLD void state_between_ends(const M& me, Real x, Real* state) {
  const auto& exchange = me.exchange;
  const Real h = exchange.step.h, u = 1 - x;
  for (int c = 0; c < M::fed_back; ++c) {
    const Real first = c < M::n ? me.motion.y[M::n + c] : exchange.first_rate[c - M::n];
    const Real final = c < M::n ? exchange.end[M::n + c] : exchange.last_rate[c - M::n];
    const Real delta = exchange.end[c] - me.motion.y[c];
    state[c] = me.motion.y[c] + x * (delta + u * (u * (h * first - delta) - x * (h * final - delta)));
    if (c >= M::n) continue;
    // What the cubic misses of the second derivatives, h^2 a at both ends.
    const Real a = square(h) * exchange.first_rate[c] - (6 * delta - h * (4 * first + 2 * final));
    const Real b = square(h) * exchange.last_rate[c] - (h * (2 * first + 4 * final) - 6 * delta);
    state[c] += Real(0.5) * square(x * u) * (a * u + b * x);
  }
}

// Whether the crossing at the step's end is the first one of this event function.
template <class M>
ZWANG_COLD bool is_first_crossing(const M& me, const EventFunction<typename M::Real>& event_function) {
  using Real = typename M::Real;
  const Real h = me.exchange.step.h;
  const auto curve = [&](Real x) {
    Real state[M::size];
    for (int c = M::fed_back; c < M::size; ++c) state[c] = 0;
    state_between_ends(me, x, state);
    return event_value(me, event_function, me.motion.t + x * h, state);
  };
  Real samples[sample_count];
  for (int s = 0; s < sample_count; ++s) samples[s] = curve(Real(sample_fraction(s)));
  const auto slope = [&](int s) {
    Real state[M::size];
    state_between_ends(me, Real(sample_fraction(s)), state);
    return h * event_slope(me, event_function, me.motion.t + Real(sample_fraction(s)) * h, state);
  };
  const Bracket<Real> rise = first_rise(samples, event_function.zero, slope, curve);
  return !rise.found || rise.below >= Real(sample_fraction(sample_count - 2));
}

// Whether another open condition has been crossed clearly before the state y of an event at the time t. The search
// over the step length follows one crossing at a time, and of two that are close it may end at the later one.
template <class M, class Real>
ZWANG_COLD bool another_is_crossed(const M& me, int event_condition, Real t, const Real* y) {
  Real f[M::rows], f_rate[M::rows];
  M::Model::levels(me.k, t, y, M::v_of(y), M::z_of(y), f, f_rate);
  for (int i = 0; i < M::r; ++i) {
    const auto& condition = me.constraints.conditions[i];
    if (i == event_condition || condition.standing != Standing::open || !condition.armed) continue;
    if (M::Model::is_holonomic(i) && f[i] > 0 && f[i] > zero_of(me, i).value) return true;
  }
  return false;
}

// The event at the end of a step that was truncated at a crossing (rootfinding/step_length_search.h).
// `found.x` is a time here, not a fraction. False: it is no crossing after all.
template <class M>
ZWANG_COLD bool locate_at_step_end(M& me, LocatedEvent<M>& found) {
  using Real = typename M::Real;
  const auto& exchange = me.exchange;
  const int which = exchange.step.crossing.which();
  const bool transition = which >= M::rows + M::first_transition;
  if (which >= M::rows && !transition) return false;  // a signal that its lane could not handle
  EventFunction<Real>& event_function = found.event_function;
  event_function.below_at = infinity<Real>();
  if (transition) {
    const int signal = which - M::rows;
    event_function.kind = EventFunctionKind::transition;
    event_function.index = signal;
    event_function.sign = 1;
    event_function.level = event_function.noise = event_function.since = 0;
    event_function.zero = me.input.contact_tolerance * scaled_signal(me, signal).scale;
  } else {
    const bool reached = me.constraints.conditions[which].standing == Standing::open;
    event_function.kind = reached ? EventFunctionKind::reached : EventFunctionKind::release;
    event_function.index = which;
    event_function.sign = reached ? Real(1) : Real(-1);
    event_function.zero =
        reached ? zero_of(me, which).value : me.constraints.conditions[which].multiplier_zero;
  }
  if (exchange.verdict.order_unknown && !is_first_crossing(me, event_function)) return false;
  copy<M::size>(exchange.end, found.y);
  found.x = exchange.step.h;
  Real slope = exchange.step.crossing.slope,
       value = event_value(me, event_function, me.motion.t + found.x, found.y);
  refine_on_flow(me, event_function, me.motion.t, found.x, value, slope, found.y);
  found.resolution = resolution_of(slope, me.motion.t, exchange.step.h);
  found.found = absolute(value) <= maximum(event_function.zero, found.resolution) &&
                !another_is_crossed(me, transition ? -1 : which, me.motion.t + found.x, found.y);
  return found.found;
}

// From the root on the interpolant to that on the true flow (requirement 1): Newton's method with the slope
// of the interpolant, then secants. It takes one to three partial steps where the interpolant is accurate;
// where it is not, the root is bracketed on the true flow itself. Fails the member where that is not finite.
template <class M>
ZWANG_COLD void locate_event(M& me, const DenseStep<M>& dense,
                             const EventFunction<typename M::Real>& event_function, LocatedEvent<M>& found) {
  using Real = typename M::Real;
  // Over this fraction of a step its curvature is below rounding: 3e-8 squared is 4 epsilon.
  const Real tangent_reach = 2 * sqrt(Precision<Real>::epsilon);
  const Real t = dense.interpolant.t, h = dense.interpolant.h;
  const auto value_at = [&](Real x, Real* state) {
    dense.flow(x, state);
    return event_value(me, event_function, t + x * h, state);
  };
  const auto curve = [&](Real x) {
    Real y[M::size];
    dense.interpolant.at(x, y);
    return event_value(me, event_function, t + x * h, y);
  };
  const Real width = event_function.bracket.above - event_function.bracket.below;
  const Real reach = minimum(Real(1e-4), Real(0.5) * width + Real(1e-12));
  const Real left = maximum(event_function.x - reach, Real(0)),
             right = minimum(event_function.x + reach, Real(1));
  Real slope = right > left ? (curve(right) - curve(left)) / (right - left) : Real(0);
  found.x = event_function.x;
  Real value = value_at(found.x, found.y);
  for (int i = 0; i < 20; ++i) {
    if (!(absolute(value) > Real(1e-4) * event_function.zero) || !(slope > 0)) break;  // down to rounding
    const Real next = minimum(maximum(found.x - value / slope, Real(0)), Real(1));
    if (absolute(next - found.x) <= tangent_reach) {
      Real time = found.x * h, per_time = slope / h;
      refine_on_flow(me, event_function, t, time, value, per_time, found.y);
      found.x = minimum(time / h, Real(1));
      slope = per_time * h;
      break;
    }
    Real y[M::size];
    const Real next_value = value_at(next, y);
    const Real secant = (next_value - value) / (next - found.x);
    if (secant > Real(0.1) * slope && secant < 10 * slope) slope = secant;
    if (!(absolute(next_value) < absolute(value))) break;  // rounding reached, or no root nearby
    found.x = next;
    copy<M::size>(y, found.y);
    value = next_value;
  }
  found.resolution = resolution_of(slope / h, t, h);
  const bool close = absolute(found.x - event_function.x) <= Real(0.1) * width + Real(1e-6);
  if (close && absolute(value) <= maximum(event_function.zero, found.resolution)) {
    // Near the step's start the interpolant is dominated by rounding, and so it is where it hardly rises.
    // There the true flow must really have crossed by the end of the bracket.
    Real beyond[M::size];
    const Real end = maximum(event_function.bracket.above, found.x);
    const bool clearly =
        found.x > Real(0.01) && curve(end) > Real(0.1) * slope * (end - found.x) && end > found.x;
    if (clearly || end == found.x || value_at(end, beyond) > 0) {
      found.found = true;
      found.event_function = event_function;
      return;
    }
  }
  bracket_on_flow(me, dense, event_function, found);
}

}  // namespace zwang
