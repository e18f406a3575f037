// Steps past positions in which the held rows become linearly dependent for an instant, although the motion
// goes on smoothly: a parallelogram linkage whose cranks and coupler come to lie in one line. Branches of the
// configuration space cross there. src/reference/singular_passage.h derives the method and is the reference:
//   - the right side is evaluated at the state projected onto the constraints;
//   - the dependence falls into the widest gap between the nodes of the method, or clearly behind the step's end;
//   - the error across the constraints does not count: the projection removes it;
//   - a step whose projection moves a state too far to be certain about the branch is rejected.
// Where no step is possible the member ends as `singular`.
//
// Contacts that slip and share a load (dynamics/smooth_motion.h) take their steps here too, without projections: their
// right side needs a null space, which is too long for a lane.
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/dynamics/mass.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/orientation.h"
#include "kernels/dynamics/row_dependence.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/event/event_functions.h"
#include "kernels/integrator/runge_kutta.h"
#include "kernels/member/slip_times.h"

namespace zwang {

// The gap between two nodes of the method that is to contain the dependence, as fractions of the step, and
// the fraction aimed at: nodes 1/3 and 0.6 of dop853, 0.327 and 0.9 of tsit5, 0.5 and 1 of rk4.
template <class Real>
struct NodeGap {
  Real from, aim, until;
};
template <class Method, class Real>
ZWANG_INLINE NodeGap<Real> widest_gap() {
  if constexpr (Method::last == Dop853::last)
    return {Real(0.40), Real(0.4667), Real(0.54)};
  else if constexpr (Method::last == Tsit5::last)
    return {Real(0.45), Real(0.6135), Real(0.78)};
  else
    return {Real(0.65), Real(0.75), Real(0.85)};
}

// The length of a step of at most h with regard to a dependence `time` ahead.
template <class Method, class Real>
ZWANG_DEVICE Real plan_step(Real h, Real time) {
  const Real clear_of_end = Real(1.35);
  if (!(time > 0) || time >= clear_of_end * h) return h;
  const NodeGap<Real> gap = widest_gap<Method, Real>();
  if (time > gap.until * h) return time / clear_of_end;
  return time < gap.from * h ? time / gap.aim : h;
}

// The time until the rows become dependent (negative: it is past), and whether that is within a few steps.
template <class Real>
struct Approach {
  bool near;
  Real time;
  Real excluded;  // the time around the dependence in which rounding spoils a right side
};

// The distance to the dependence is a linear function of time near its zero; its slope follows from a state a
// little later. Fails the member where the rows are dependent now, or were when they became active and are
// not any more.
template <class M>
ZWANG_COLD Approach<typename M::Real> approach_to_dependence(M& me) {
  using Real = typename M::Real;
  const Real near_distance = Real(0.25), near_steps = 100;
  const typename M::Motion& motion = me.motion;
  const Real* held = me.constraints.held;
  const Approach<Real> none{false, 0, 0};
  // Rounding of positions at a distance s is amplified to epsilon/s, of velocities to epsilon/s^2, of
  // accelerations to epsilon/s^3.
  const Real spoiled_distance = Real(sizeof(Real) == sizeof(double) ? 1e-2 : 1e-1);
  typename M::Set rows;
  for (int i = 0; i < M::r; ++i)
    if (held[i] > 0) rows.add(i);
  if (rows.size() < 2) return none;
  const RowDependence<Real> now = row_dependence<M>(me.k, motion.t, motion.y, held);
  Real later[M::size];
  const auto move_ahead = [&](Real ahead) {
    copy<M::size>(motion.y, later);
    Real way[M::n];
    for (int i = 0; i < M::n; ++i) {
      way[i] = ahead * (motion.v()[i] + Real(0.5) * ahead * me.exchange.first_rate[i]);
      later[i] += way[i];
    }
    turn_orientations<M>(way, later);
    clear_turns<M>(later);
  };
  if (me.dependence.rank < 0 || !(me.dependence.rows == rows)) {
    me.dependence.rank = now.rank;
    me.dependence.rows = rows;
    // Redundant rows stay dependent on the constraints; rows that are independent a little later start in a
    // singular position.
    if (now.rank < rows.size()) {
      const Real soon = Real(0.1) * motion.h;
      move_ahead(soon);
      scalar_project<M>(me.k, motion.t + soon, later, held, 6);
      const int rank = row_dependence<M>(me.k, motion.t + soon, later, held).rank;
      if (rank > now.rank) me.dependence.rank = rank;
    }
  }
  if (now.rank != me.dependence.rank) {
    me.fail(Status::singular);
    return none;
  }
  if (!(now.distance < near_distance)) return none;
  const Real ahead = Real(sizeof(Real) == sizeof(double) ? 1e-3 : 3e-2) * motion.h;
  move_ahead(ahead);
  const RowDependence<Real> then = row_dependence<M>(me.k, motion.t + ahead, later, held);
  const Real slope = (then.rank == now.rank ? then.distance - now.distance : -now.distance) / ahead;
  return {now.distance < near_steps * motion.h * absolute(slope), -now.distance / slope,
          spoiled_distance / absolute(slope)};
}

// Whether the next step has to be a projected one. Also sets the level at which lanes leave the step to the
// slow path: for rows that are almost dependent and stay so, well below their present share.
template <class M>
ZWANG_COLD bool is_near_dependence(M& me) {
  using Real = typename M::Real;
  constexpr Real near_share = Real(0.1);
  const Approach<Real> approach = approach_to_dependence(me);
  me.constraints.near_dependence = approach.near;
  me.dependence.time = approach.time;
  me.dependence.excluded = approach.excluded;
  me.dependence.level = near_share;
  if (!me.going()) return true;
  if (!approach.near && me.constraints.any_held)
    me.dependence.level =
        minimum(near_share, Real(0.25) * pivot_share<M>(me.k, me.motion.t, me.motion.y, me.constraints.held));
  return approach.near;
}

// x^T M x
template <class Model, class Real>
ZWANG_DEVICE Real squared_length(const Real* mass, const Real* x) {
  return MassShape<Model>::product(x, mass, x);
}

// Projects a state within a step of length h onto the held conditions. False where that moves it by so large
// a part of the way covered by the step that the branch would not be certain.
template <class M, class Real>
ZWANG_COLD bool project_within_step(const Real* k, Real t, const Real* held, Real h, Real* y) {
  constexpr int n = M::n;
  const Real largest_move = Real(0.05);
  Real mass[MassShape<typename M::Model>::entries], moved[n];
  M::Model::mass(k, t, y, M::v_of(y), M::z_of(y), mass);
  const Real way = square(h) * squared_length<typename M::Model>(mass, M::v_of(y));
  // Within a step the coordinates of turns have values, which the projection removes: these are no moves.
  clear_turns<M>(y);
  for (int i = 0; i < n; ++i) moved[i] = y[i];
  scalar_project<M>(k, t, y, held, 6);
  for (int i = 0; i < n; ++i) moved[i] -= y[i];
  return squared_length<typename M::Model>(mass, moved) <= square(largest_move) * way;
}

// Removes the part of x (a change of positions or of velocities) across the held conditions at the state y.
template <class M, class Real>
ZWANG_COLD void make_tangential(const Real* k, Real t, const Real* y, const Real* held, Real* x) {
  using Model = typename M::Model;
  constexpr int n = M::n;
  typename M::Qp qp;
  Real mass[MassShape<Model>::entries];
  Model::mass(k, t, y, M::v_of(y), M::z_of(y), mass);
  if (!qp.root.factor(mass)) return;
  copy<n>(x, qp.free);
  for (int i = 0; i < Model::conditions; ++i) {
    if (!(held[i] > 0)) continue;
    Real value, rate, rest, a[n];
    Model::row(k, t, y, M::v_of(y), M::z_of(y), i, value, rate, rest, a);
    qp.add_row(i, a, Real(0), true);
  }
  qp.solve_as_equations();
  qp.point(x);
}

// The squared error of a step as StepArrays::squared_error(), without the part across the constraints.
template <class M, class Step>
ZWANG_COLD typename M::Real tangential_error(const M& me, const Step& step, const typename M::Real* end) {
  using Real = typename M::Real;
  using Method = typename M::Method;
  constexpr int n = M::n, controlled = M::error_controlled;
  const Real then = me.motion.t + step.h;
  Real sums[2] = {0, 0};
  const auto add_estimate = [&](auto weights, Real& sum) {
    using W = decltype(weights);
    Real error[controlled];
    for (int c = 0; c < n; ++c) error[c] = step.h * weighted<PositionWeights<W>>(step.k, c, Real(0));
    for (int c = n; c < controlled; ++c) error[c] = weighted<W>(step.k, c - n, Real(0));
    make_tangential<M>(me.k, then, end, me.constraints.held, error);
    make_tangential<M>(me.k, then, end, me.constraints.held, M::v_of(error));
    for (int c = 0; c < controlled; ++c) {
      const Real size = maximum(absolute(me.motion.y[c]), absolute(step.end[c]));
      sum += square(error[c] / (me.input.atol + me.input.rtol * size));
    }
  };
  add_estimate(ErrorWeights<Method, 0>{}, sums[0]);
  if constexpr (Method::last == Dop853::last) add_estimate(ErrorWeights<Method, 1>{}, sums[1]);
  return squared_error_of<Method, controlled>(step.h, me.input.rtol, sums[0], sums[1]);
}

template <class M, class Step>
ZWANG_DEVICE typename M::Real error_of_step(const M& me, const Step& step, const typename M::Real* end) {
  if (me.constraints.near_dependence) return tangential_error(me, step, end);
  return step.template squared_error<M::error_controlled>(me.motion.y, me.input.rtol, me.input.atol);
}

// The longest step from here, without regard to errors: to the next scheduled time, and within the bounds of
// periodic functions.
template <class M>
ZWANG_DEVICE typename M::Real longest_step(const M& me) {
  using Real = typename M::Real;
  const typename M::Motion& motion = me.motion;
  Real longest = minimum(Real(me.input.settings->max_step), me.exchange.scheduled_time - motion.t);
  if constexpr (M::Model::any_turns)
    longest = minimum(longest,
                      Real(0.5) * M::Model::turn_bound(me.k, motion.t, motion.q(), motion.v(), motion.z()));
  return longest;
}

// One step of a member by itself, and its dense output: with projected right sides near a dependence. Writes the
// exchange as a lane would; the member stays at the start of the step. False: no step is possible, and it fails.
template <class M>
ZWANG_COLD bool take_step_alone(M& me, DenseStep<M>& dense) {
  using Real = typename M::Real;
  using Method = typename M::Method;
  constexpr int kept = M::size - M::n;
  if (!me.going()) return false;
  const typename M::Motion& motion = me.motion;
  const bool projected = me.constraints.near_dependence;
  const Real room = me.exchange.scheduled_time - motion.t;
  Real longest = longest_step(me);
  if constexpr (slips_in_space<typename M::Model>())
    if (!projected) longest = minimum(longest, slip_times(me).rest);
  StepArrays<Method, M::n, M::size, M::fed_back, Real> step;
  copy<kept>(me.exchange.first_rate, step.k[0]);
  Real h = Method::adaptive ? motion.h : Real(me.input.settings->step), factor = 1, end[M::size];
  for (;;) {
    h = minimum(h, longest);
    if constexpr (may_become_dependent<typename M::Model>)
      if (projected) h = plan_step<Method>(h, me.dependence.time);
    if (h >= room * Real(1 - 1e-10)) h = room;
    if constexpr (sizeof(Real) == sizeof(float)) h = (motion.t + h) - motion.t;
    if (!(h > motion.rounding_of_time())) {
      me.fail(projected ? Status::singular : Status::step_too_small);
      return false;
    }
    step.h = h;
    bool certain = true;
    const auto rates = [&](Real t, const Real* y, Real* rate) {
      Real there[M::size], lambda[M::rows];
      if (!projected) {
        right_side_at<M>(me.k, me.constraints, t, y, rate, lambda);
        return;
      }
      copy<M::size>(y, there);
      certain = project_within_step<M>(me.k, t, me.constraints.held, h, there) && certain;
      scalar_right_side<M>(me.k, t, there, me.constraints.held, true, rate, lambda);
    };
    step.take(motion.t, motion.y, rates);
    copy<M::size>(step.end, end);
    if (projected)
      certain = project_within_step<M>(me.k, motion.t + h, me.constraints.held, h, end) && certain;
    const bool finite = all_finite<M::size>(step.end);
    const Real error = Method::adaptive && finite && certain ? error_of_step(me, step, end) : Real(0);
    factor = Method::adaptive ? step_factor<Method>(error) : Real(1);
    if (finite && certain && error <= 1) break;
    ++me.steps.rejected;
    h *= finite && certain ? minimum(factor, Real(0.9)) : Real(0.5);
  }
  step.complete_interpolant(motion.t, motion.y, [&](Real t, const Real* y, Real* rate) {
    Real lambda[M::rows];
    member_right_side<M>(me.k, me.constraints, t, y, rate, lambda);
  });
  dense.interpolant.make(step, motion.t, motion.y);
  copy<kept>(step.k[0], dense.first_rate);
  if constexpr (may_become_dependent<typename M::Model>)
    if (projected) {
      dense.dependence = me.dependence.time / h;
      dense.excluded = me.dependence.excluded / h;
    }
  auto& exchange = me.exchange;
  copy<kept>(step.k[Method::last], exchange.last_rate);
  copy<M::size>(end, exchange.end);
  exchange.step.h = h;
  exchange.next_h = h < room ? h * factor : maximum(motion.h, h * factor);
  exchange.verdict.event_possible = true;
  for (int i = 0; i < M::r; ++i) me.candidates.add(i);
  return true;
}

}  // namespace zwang
