// The crossing of a watched function or of a kink of an integrand, handled by its lane (lanes/fast_event.h):
// the event is recorded, and the signal changes its side.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/lanes/fast_event_lane.h"
#include "kernels/lanes/lane_state.h"
#include "kernels/lanes/signal_point.h"
#include "kernels/record/event_log.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

template <class M, class R>
struct SignalCrossing : FastEventLane<M, R> {
  using Base = FastEventLane<M, R>;
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  using Base::batch, Base::flags, Base::full_members, Base::ledger, Base::members, Base::searches,
      Base::settings, Base::state, Base::trial;
  static constexpr int n = M::n, r = M::r, rows = M::rows, size = M::size;

  // The signal whose crossing is sought, or -1.
  ZWANG_INLINE int sought_signal(int lane) const {
    int found = -1;
    ZWANG_REGISTERS for (int i = 0; i < Model::signals; ++i) {
      if (searches[lane].sought[rows + i] > 0) found = i;
    }
    return found;
  }

  // The crossing of a watched function or a kink.
  ZWANG_INLINE bool handle(int lane, int index) const {
    SignalPoint<M> point;
    Real there[size];
    Tally<Real> tally = members[lane].tally;
    bool first = false;
    ZWANG_REGISTERS for (int i = 0; i < Model::signals; ++i) {
      if (i == index) first = lane_of(flags.signal_first_if_at_end[i], lane);
    }
    if (!first || !this->is_alone(lane, tally) || !approach_signal(lane, index, point) ||
        !this->nothing_else_is_due(lane, point) || ends_a_motion(lane, point) ||
        !point.leaves_zero(Real(1.0 / 256) * lane_of(trial.step.h, lane), there))
      return false;
    point.evaluate_levels();
    if (!this->is_first(lane, point)) return false;
    point.next_h = searches[lane].next_h;
    record_signal(lane, point, tally);
    members[lane].tally = tally;
    change_branch(lane, point, there);
    point.evaluate_signals();
    change_side(lane, point);
    Real values[M::reductions];
    this->evaluate_measures(point, values);
    this->store_measures(lane, point, values);
    Real peak[rows];
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) { peak[i] = lane_of(ledger.peak_lambda[i], lane); }
    this->resume_motion(lane, point);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      set_lane(ledger.peak_lambda[i], lane, maximum(peak[i], absolute(point.lambda[i])));
    }
    return true;
  }

 private:
  ZWANG_INLINE bool approach_signal(int lane, int index, SignalPoint<M>& point) const {
    const Real h = lane_of(trial.step.h, lane);
    point.contact_tolerance = within_precision<Real>(settings.contact_tolerance);
    ZWANG_REGISTERS for (int i = 0; i < Model::constants; ++i) { point.k[i] = lane_of(state.k[i], lane); }
    point.t = lane_of(state.t, lane) + h;
    point.index = index;
    point.any_held = false;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      point.held[i] = lane_of(state.held[i], lane);
      point.any_held = point.any_held || point.held[i] > 0;
    }
    ZWANG_REGISTERS for (int i = 0; i < Model::signals; ++i) {
      if (i == index) point.side = lane_of(state.side[i], lane);
    }
    Real from[size];
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) {
      from[i] = lane_of(state.y[i], lane);
      point.y[i] = lane_of(trial.end[i], lane);
    }
    point.find_zero(from, h);
    point.evaluate_rates();
    return this->refine_in_registers(point, lane_of(state.t, lane), h, searches[lane].slope);
  }

  // Whether a slip or yield may end at the same instant: it has all but vanished within the step. The motion after it
  // decides whether a watched function crosses zero.
  ZWANG_INLINE bool ends_a_motion([[maybe_unused]] int lane,
                                  [[maybe_unused]] const SignalPoint<M>& point) const {
    bool ends = false;
    if constexpr (ModesOf<Model>::any) {
      ZWANG_REGISTERS for (int i = M::first_transition; i < Model::signals; ++i) {
        const TransitionKind kind = TransitionKind(Model::transition_kind(i - M::first_transition));
        if (kind != TransitionKind::stick && kind != TransitionKind::lock) continue;
        const Real now = Model::signal(point.k, point.t, point.y, point.y + n, point.y + 2 * n, point.lambda,
                                       point.held, i);
        ends = ends || (lane_of(state.side[i], lane) > 0 &&
                        absolute(now) <= Real(1e-6) * absolute(lane_of(state.signal[i], lane)));
      }
    }
    return ends;
  }

  // A watched function that crosses in its direction is an event; a kink is none.
  ZWANG_INLINE void record_signal(int lane, const SignalPoint<M>& point, Tally<Real>& tally) const {
    if (point.index >= Model::watches) return;
    M &me = members[lane], &full_member = full_members[lane];
    const int sign = point.side > 0 ? 1 : -1, direction = Model::watch_direction(point.index);
    full_member.watch_signs[point.index] = sign;
    if (direction != 0 && direction != sign) return;
    typename M::Event event;
    event.t = point.t;
    event.kind = EventKind::event;
    event.watch = point.index;
    this->place_member(me, point, point.y + n);
    append_event(me, full_member, tally, event, settings, batch, point.y, point.y + n);
  }

  // The branch of the integrand behind a kink; `there` is a state of that side. The rates of the point are
  // then its.
  ZWANG_INLINE void change_branch(int lane, SignalPoint<M>& point, const Real* there) const {
    if constexpr (Model::branches > 0) {
      ZWANG_REGISTERS for (int i = 0; i < Model::branches; ++i) {
        if (M::first_kink + i != point.index) continue;
        const Real made =
            Model::branch(point.k, point.t, there, there + n, there + 2 * n, point.lambda, point.held, i);
        this->set_branch(lane, i, made);
        point.k[Model::constants - Model::branches + i] = made;
      }
      point.evaluate_rates();
    }
  }

  // The signal that has crossed is on its other side from now on.
  ZWANG_INLINE void change_side(int lane, const SignalPoint<M>& point) const {
    ZWANG_REGISTERS for (int i = 0; i < Model::signals; ++i) {
      set_lane(state.signal[i], lane, point.signal[i]);
      if (i != point.index) continue;
      set_lane(state.side[i], lane, -point.side);
      members[lane].exchange.side[i] = -point.side;
    }
  }
};

}  // namespace zwang
