// A change of mode handled by its lane (lanes/fast_event.h): the only closed contact of a planar system begins to
// slip, comes to rest or reverses; or a bounded condition yields, locks or reverses. The new mode is guessed and
// accepted only where every inequality of it is clearly met. Where the contact's multiplier is positive without
// friction and with friction in either direction, kappa is positive for both, and one contact has no other admissible
// mode [friction-4]. Bounds alone are a convex problem, whose solution is unique [limit-2].
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/signals.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/lanes/event_point.h"
#include "kernels/lanes/fast_event_lane.h"
#include "kernels/lanes/lane_state.h"
#include "kernels/record/event_log.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

// Whether a model's changes of mode may be handled by lanes: frictions in the plane, no links that break, and no other
// signals.
template <class Model>
ZWANG_CONSTANT constexpr bool has_fast_transitions() {
  if constexpr (ModesOf<Model>::any) {
    bool planar = Model::masked && Model::signals == Model::transitions && !Model::has_density &&
                  LinkLimitsOf<Model>::count == 0;
    for (int f = 0; f < Model::frictions; ++f) planar = planar && Model::friction_rows(f) == 1;
    return planar;
  } else {
    return false;
  }
}

// The state of one lane where a transition crosses zero.
template <class M>
struct TransitionPoint {
  using Model = typename M::Model;
  using Real = typename M::Real;
  static constexpr int n = M::n, r = M::r, rows = M::rows, size = M::size;

  Real contact_tolerance;
  Real k[at_least_one(Model::constants)];
  Real t, y[size], rate[size], lambda[rows], held[rows];
  bool any_held;
  static constexpr bool reached = false;  // its slope is not known by a formula
  int index;                              // among the transitions
  Real zero;
  Real f[rows], f_rate[rows], signal[M::signals], side[M::signals];
  Real resolution, next_h;

  ZWANG_INLINE Real curve() const {
    return Model::signal(k, t, y, y + n, y + 2 * n, lambda, held, M::first_transition + index);
  }
  ZWANG_INLINE Real curve_zero() const { return zero; }
  ZWANG_INLINE Real curve_rate() const { return missing<Real>(); }
  // Conditions that are reached at the same time are found by the next step.
  ZWANG_INLINE Real zero_at(int) const { return 0; }
  struct Second {
    Real value;
  };
  ZWANG_INLINE Second second() const { return {Real(0)}; }
  ZWANG_INLINE void evaluate_rates() { right_side<M>(k, t, y, held, any_held, rate, lambda); }
  ZWANG_INLINE void evaluate_rows() {}
  ZWANG_INLINE void flow(Real duration, int stages, bool strays) {
    move_along_flow<M>(*this, duration, stages, strays);
  }
  ZWANG_INLINE void update_held() {
    any_held = false;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) { any_held = any_held || held[i] > 0; }
  }

  // What counts as zero for the transition: rounding of the multipliers it compares, or of the velocities of its
  // rate.
  ZWANG_INLINE void find_zero(const Real* from, Real duration) {
    const TransitionKind kind = TransitionKind(Model::transition_kind(index));
    const int of = Model::transition_of(index);
    if (kind == TransitionKind::stick || kind == TransitionKind::lock) {
      Real size_q[n], size_v[n], mass[n * n];
      Model::mass(k, t, y, y + n, y + 2 * n, mass);
      measure_sizes_by_mass<n>(mass, from, y, duration, size_q, size_v);
      zero =
          contact_tolerance * scaled_signal_at<M>(k, t, y, size_q, size_v, M::first_transition + index).scale;
    } else if (kind == TransitionKind::slide) {
      const Real cone = Model::cone_static(k, t, y, y + n, y + 2 * n, of);
      zero =
          10 * contact_tolerance *
          (absolute(lambda[Model::friction_row(of)]) + cone * absolute(lambda[Model::friction_contact(of)]));
    } else {
      zero = 20 * contact_tolerance * absolute(Model::limit(k, t, y, y + n, y + 2 * n, of));
    }
  }

  // The rate of row i changes by this much.
  ZWANG_INLINE Real second_of(int i) const {
    Real value, f_rate_now, rest, a[n];
    Model::row(k, t, y, y + n, y + 2 * n, i, value, f_rate_now, rest, a);
    return dot<n>(a, rate + n) + rest;
  }
};

template <class M, class R>
struct TransitionCrossing : FastEventLane<M, R> {
  using Base = FastEventLane<M, R>;
  using Model = typename M::Model;
  using Real = typename M::Real;
  using Base::batch, Base::flags, Base::full_members, Base::ledger, Base::members, Base::searches,
      Base::settings, Base::state, Base::trial;
  static constexpr int n = M::n, r = M::r, rows = M::rows, size = M::size;
  using Point = TransitionPoint<M>;

  // False: nothing has been changed.
  ZWANG_INLINE bool handle(int lane, int signal) const {
    Point point;
    Tally<Real> tally = members[lane].tally;
    EventKind kind;
    bool first = false;
    ZWANG_REGISTERS for (int i = 0; i < Model::signals; ++i) {
      if (i == signal) first = lane_of(flags.signal_first_if_at_end[i], lane);
    }
    if (!first || !this->is_alone(lane, tally) || !is_simple(lane) || !approach(lane, signal, point) ||
        !this->nothing_else_is_due(lane, point))
      return false;
    Model::levels(point.k, point.t, point.y, point.y + n, point.y + 2 * n, point.f, point.f_rate);
    if (!this->is_first(lane, point)) return false;
    Real before[M::reductions];
    this->evaluate_measures(point, before);
    if (!change_mode(point, kind)) return false;
    point.next_h = searches[lane].next_h;
    store_modes(lane, point);
    record(lane, point, kind, tally);
    members[lane].tally = tally;
    store_signals(lane, point);
    this->store_measures(lane, point, before);
    this->resume_motion(lane, point);
    return true;
  }

 private:
  // At most one contact with friction is closed, and then no other inequality. Models that break conditions are left
  // to the slow path.
  ZWANG_INLINE bool is_simple(int lane) const {
    int rubbing = 0, pressing = 0, breaking = 0;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      const bool presses = lane_of(state.presses_now[i], lane);
      pressing += presses ? 1 : 0;
      rubbing += presses && Model::friction_of(i) >= 0 ? 1 : 0;
    }
    ZWANG_REGISTERS for (int b = 0; b < Model::bounds; ++b) { breaking += Model::bound_breaks(b) ? 1 : 0; }
    return breaking == 0 && (rubbing == 0 || (pressing == 1 && Model::bounds == 0));
  }

  ZWANG_INLINE bool approach(int lane, int signal, Point& point) const {
    const Real h = lane_of(trial.step.h, lane);
    point.contact_tolerance = within_precision<Real>(settings.contact_tolerance);
    ZWANG_REGISTERS for (int i = 0; i < Model::constants; ++i) { point.k[i] = lane_of(state.k[i], lane); }
    point.t = lane_of(state.t, lane) + h;
    point.index = signal - M::first_transition;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) { point.held[i] = lane_of(state.held[i], lane); }
    point.update_held();
    Real from[size];
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) {
      from[i] = lane_of(state.y[i], lane);
      point.y[i] = lane_of(trial.end[i], lane);
    }
    point.evaluate_rates();
    point.find_zero(from, h);
    return this->refine_in_registers(point, lane_of(state.t, lane), h, searches[lane].slope);
  }

  // The mode after the transition. False: it is not clear.
  ZWANG_INLINE bool change_mode(Point& point, EventKind& kind) const {
    const int of = Model::transition_of(point.index);
    switch (TransitionKind(Model::transition_kind(point.index))) {
      case TransitionKind::slide:
        kind = EventKind::slide;
        return slide(point, of);
      case TransitionKind::stick:
        return rest(point, of, kind);
      case TransitionKind::yield:
        kind = EventKind::yield;
        return yield(point, of);
      case TransitionKind::lock:
        return lock(point, of, kind);
      default:
        return false;
    }
  }

  ZWANG_INLINE void set_friction(Point& point, int f, bool sticks, Real e) const {
    point.held[Model::friction_row(f)] = sticks ? Real(1) : Real(0);
    point.k[Model::first_mode + Model::friction_mode(f)] = e;
    point.update_held();
    point.evaluate_rates();
  }
  // Whether the contact's multiplier is clearly positive for either direction of the slip and without friction.
  ZWANG_INLINE bool is_unique(Point& point, int f) const {
    const int contact = Model::friction_contact(f);
    Real least = infinity<Real>(), most = 0;
    ZWANG_ROLLED for (int e = -1; e <= 1; ++e) {
      set_friction(point, f, false, Real(e));
      least = minimum(least, point.lambda[contact]);
      most = maximum(most, absolute(point.lambda[contact]));
    }
    return least > Real(1e-6) * most && is_finite(most);
  }

  ZWANG_INLINE bool slide(Point& point, int f) const {
    const Real e = point.lambda[Model::friction_row(f)] > 0 ? Real(1) : Real(-1);
    if (!is_unique(point, f)) return false;
    set_friction(point, f, false, e);
    // The slip begins with s' = 0 at the cone, or faster where static friction is larger.
    return e * point.second_of(Model::friction_row(f)) >= -noise_of(point, Model::friction_row(f));
  }
  ZWANG_INLINE bool rest(Point& point, int f, EventKind& kind) const {
    const int row = Model::friction_row(f), contact = Model::friction_contact(f);
    const Real e = point.k[Model::first_mode + Model::friction_mode(f)];
    if (!is_unique(point, f)) return false;
    set_friction(point, f, true, Real(0));
    const Real cone = Model::cone_static(point.k, point.t, point.y, point.y + n, point.y + 2 * n, f);
    const Real most = cone * point.lambda[contact], force = absolute(point.lambda[row]);
    if (!(point.lambda[contact] > 0)) return false;
    if (force < most * (1 - clearly())) {
      kind = EventKind::stick;
      return true;
    }
    // It may go through zero, where the force that would hold it is beyond the cone and along the new slip.
    if (!(force > most * (1 + clearly())) || !(point.lambda[row] * e < 0)) return false;
    kind = EventKind::reverse;
    set_friction(point, f, false, -e);
    return -e * point.second_of(row) > noise_of(point, row);
  }

  ZWANG_INLINE void set_bound(Point& point, int b, Real sign) const {
    point.k[Model::first_mode + Model::bound_sign(b)] = sign;
    point.held[Model::bound_condition(b)] = sign == 0 ? Real(1) : Real(0);
    if (sign == 0 && Model::bound_offset(b) >= 0)
      point.k[Model::first_mode + Model::bound_offset(b)] +=
          Model::value(point.k, point.t, point.y, point.y + n, point.y + 2 * n, Model::bound_condition(b));
    point.update_held();
    point.evaluate_rates();
  }
  // Whether all other holding conditions are clearly within their bounds, and closed inequalities press.
  ZWANG_INLINE bool others_are_clear(const Point& point, int b) const {
    bool clear = true;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      if (!Model::is_equation(i) && point.held[i] > 0) clear = clear && point.lambda[i] > 0;
      const int other = Model::bound_of(i);
      if (other < 0 || other == b || !(point.held[i] > 0)) continue;
      const Real limit = Model::limit(point.k, point.t, point.y, point.y + n, point.y + 2 * n, other);
      clear = clear && absolute(point.lambda[i]) < limit * (1 - clearly());
    }
    return clear;
  }
  ZWANG_INLINE bool yield(Point& point, int b) const {
    const int i = Model::bound_condition(b);
    const Real sign = point.lambda[i] > 0 ? Real(1) : Real(-1);
    set_bound(point, b, sign);
    return sign * point.second_of(i) >= -noise_of(point, i) && others_are_clear(point, b);
  }
  ZWANG_INLINE bool lock(Point& point, int b, EventKind& kind) const {
    const int i = Model::bound_condition(b);
    const Real sign = point.k[Model::first_mode + Model::bound_sign(b)];
    const Real limit = Model::limit(point.k, point.t, point.y, point.y + n, point.y + 2 * n, b);
    set_bound(point, b, Real(0));
    const Real force = absolute(point.lambda[i]);
    kind = EventKind::lock;
    if (force < limit * (1 - clearly())) return others_are_clear(point, b);
    if (!(force > limit * (1 + clearly())) || !(point.lambda[i] * sign < 0)) return false;
    kind = EventKind::reverse;
    set_bound(point, b, -sign);
    return -sign * point.second_of(i) > noise_of(point, i) && others_are_clear(point, b);
  }

  // Shares of a force within which two forces are not clearly different.
  ZWANG_INLINE static Real clearly() { return Real(1e3) * Precision<Real>::tie; }
  // The rounding of f'' of row i.
  ZWANG_INLINE static Real noise_of(const Point& point, int i) {
    Real value, f_rate, rest, a[n], sum;
    Model::row(point.k, point.t, point.y, point.y + n, point.y + 2 * n, i, value, f_rate, rest, a);
    sum = absolute(rest);
    ZWANG_REGISTERS for (int c = 0; c < n; ++c) { sum += absolute(a[c] * point.rate[n + c]); }
    ZWANG_REGISTERS for (int j = 0; j < r; ++j) { sum += absolute(point.lambda[j]) * absolute_row(a); }
    return Real(1e3) * Precision<Real>::tie * sum;
  }
  ZWANG_INLINE static Real absolute_row(const Real* a) {
    Real sum = 0;
    ZWANG_REGISTERS for (int c = 0; c < n; ++c) { sum += absolute(a[c]); }
    return sum;
  }

  ZWANG_INLINE void store_modes(int lane, const Point& point) const {
    M& me = members[lane];
    me.constraints.any_held = point.any_held;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      me.constraints.held[i] = point.held[i];
      set_lane(state.held[i], lane, point.held[i]);
      if (is_slip_row<Model>(i) || Model::bound_of(i) >= 0)
        me.constraints.conditions[i].standing = point.held[i] > 0 ? Standing::equation : Standing::absent;
    }
    ZWANG_REGISTERS for (int m = 0; m < Model::modes; ++m) {
      const int place = Model::first_mode + m;
      set_lane(state.k[place], lane, point.k[place]);
      me.k[place] = point.k[place];
    }
  }

  ZWANG_INLINE void record(int lane, const Point& point, EventKind kind, Tally<Real>& tally) const {
    typename M::Event event;
    event.t = point.t;
    event.kind = kind;
    const int of = Model::transition_of(point.index);
    const bool friction = kind == EventKind::slide || kind == EventKind::stick ||
                          TransitionKind(Model::transition_kind(point.index)) == TransitionKind::stick;
    event.constraints.add(friction ? Model::friction_contact(of) : Model::bound_condition(of));
    this->place_member(members[lane], point, point.y + n);
    append_event(members[lane], full_members[lane], tally, event, settings, batch, point.y, point.y + n);
  }

  // The transitions of the modes in force now, and their values; those of a mode that has just begun start at zero.
  ZWANG_INLINE void store_signals(int lane, Point& point) const {
    Model::levels(point.k, point.t, point.y, point.y + n, point.y + 2 * n, point.f, point.f_rate);
    Model::all_signals(point.k, point.t, point.y, point.y + n, point.y + 2 * n, point.lambda, point.held,
                       point.signal);
    const int of = Model::transition_of(point.index);
    ZWANG_REGISTERS for (int i = 0; i < Model::transitions; ++i) {
      const int signal = M::first_transition + i;
      const bool active = is_active(point, i);
      const bool same = Model::transition_of(i) == of && active;
      const TransitionKind kind = TransitionKind(Model::transition_kind(i));
      const bool rate = kind == TransitionKind::stick || kind == TransitionKind::lock;
      set_lane(state.signal[signal], lane, same && rate ? Real(0) : point.signal[signal]);
      set_lane(state.side[signal], lane, active ? Real(1) : Real(0));
      members[lane].exchange.side[signal] = active ? Real(1) : Real(0);
    }
  }
  ZWANG_INLINE static bool is_active(const Point& point, int i) {
    const int of = Model::transition_of(i);
    switch (TransitionKind(Model::transition_kind(i))) {
      case TransitionKind::slide:
        return point.held[Model::friction_row(of)] > 0;
      case TransitionKind::stick:
        return point.k[Model::first_mode + Model::friction_mode(of)] != 0;
      case TransitionKind::lock:
        return point.k[Model::first_mode + Model::bound_sign(of)] != 0;
      default:
        return point.held[Model::bound_condition(of)] > 0;
    }
  }
};

}  // namespace zwang
