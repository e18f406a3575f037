// What all events have in common that a lane handles by itself (lanes/fast_event.h): whether nothing else is
// due, the way along the flow to the crossing, extremes of measures, and the lane's data afterwards.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/event/refine_event_time.h"
#include "kernels/lanes/lane_state.h"
#include "kernels/record/event_log.h"
#include "kernels/record/measures.h"
#include "kernels/rootfinding/step_length_search.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

template <class M, class R>
struct FastEventLane {
  using Model = typename M::Model;
  using Real = typename M::Real;
  static constexpr int n = M::n, r = M::r, rows = M::rows, size = M::size;

  const KernelSettings& settings;
  const KernelBatch& batch;
  M *members, *full_members;                                   // as in LaneGroup
  const StepLengthSearch<Real, M::event_functions>* searches;  // one for each lane
  LaneState<M, R>& state;
  StepInProgress<M, R>& trial;  // the rates at the start of the next step are changed
  LaneLedger<R, M::rows>& ledger;
  StepFlags<M, R>& flags;

  // Measures that are evaluated at an event by a formula.
  static constexpr bool measures_at_events() {
    bool any = false;
    for (int m = 0; m < Model::reductions; ++m)
      any = any || (EventPattern(Model::reduction_pattern(m)) != EventPattern::none &&
                    Reduction(Model::reduction_kind(m)) == Reduction::at);
    return any;
  }

  // As SingleContactSolver: besides the condition sought, only conditions with a positive multiplier are near
  // zero, and nothing else is due.
  ZWANG_INLINE bool is_alone(int lane, const Tally<Real>& tally) const {
    const M& me = members[lane];
    bool alone = !me.progress.accumulation_pending && !me.constraints.redundant &&
                 !lane_of(flags.output_due, lane) && !lane_of(flags.extremum_possible, lane) &&
                 !lane_of(flags.clipped, lane);
    alone = alone && tally.events + 2 <= settings.max_events && tally.at_last_time + 2 <= standstill_limit;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      if (Model::is_equation(i)) continue;
      const bool presses_now = lane_of(state.presses_now[i], lane);
      const Real arming_level = lane_of(ledger.arming_level[i], lane);
      if (searches[lane].sought[i] > 0)
        alone = alone && lane_of(flags.first_if_at_end[i], lane) && (presses_now || arming_level > 0);
      else  // one that has just opened must be clearly below zero at the end of the step
        alone = alone && (presses_now || !(arming_level < 0) || lane_of(trial.end_f[i], lane) < arming_level);
    }
    return alone;
  }

  template <class AnyPoint>
  ZWANG_INLINE bool refine_in_registers(AnyPoint& point, Real start, Real h, Real known_slope) const {
    const Real reach = 2 * Real(settings.crossing_reach), left_out = Real(0.01) * Real(settings.rtol);
    const Real zero = point.curve_zero();
    Real value = point.curve(), slope = point.reached ? point.curve_rate() : known_slope;
    Real duration = -value / slope;
    if (point.reached) {
      // The quadratic term saves a second iteration.
      const Real bent = Real(0.5) * point.second().value * duration / slope;
      if (absolute(bent) < Real(0.1)) duration -= bent * duration;
    }
    ZWANG_ROLLED for (int pass = 0; pass < 6; ++pass) {
      if (!(absolute(value) > Real(1e-4) * zero)) break;
      const Real share = absolute(duration) / h;
      if (!(slope > 0) || !(share <= reach)) return false;
      if (absolute(duration) <= Precision<Real>::epsilon * (point.t - start)) break;
      point.flow(duration,
                 square(share) <= left_out ? 1
                 : cube(share) <= left_out ? 2
                                           : 4,
                 square(share) > Precision<Real>::epsilon);
      const Real next = point.curve(), secant = (next - value) / duration;
      if (point.reached)
        slope = point.curve_rate();
      else if (secant > Real(0.1) * slope && secant < 10 * slope)
        slope = secant;
      const bool nearer = absolute(next) < absolute(value);
      value = next;
      if (!nearer) break;  // rounding reached
      duration = -value / slope;
    }
    point.resolution = resolution_of(slope, start, h);
    return absolute(value) <= maximum(zero, point.resolution) && all_finite<size>(point.y);
  }

  // No output time and no scheduled time up to the event.
  template <class AnyPoint>
  ZWANG_INLINE bool nothing_else_is_due(int lane, const AnyPoint& point) const {
    const Real near = Precision<Real>::moment * maximum(absolute(point.t), lane_of(trial.step.h, lane));
    return lane_of(ledger.next_output, lane) > point.t + near &&
           lane_of(ledger.scheduled_time, lane) > point.t + 64 * Precision<Real>::epsilon * absolute(point.t);
  }

  // Whether no other condition has been crossed before or together with the event. The search over the step length
  // follows one crossing at a time, and of two that are close it may end at the later one. Two contacts at one
  // instant are one shock, which is left to the slow path.
  template <class AnyPoint>
  ZWANG_INLINE bool is_first(int lane, const AnyPoint& point) const {
    bool first = true;
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      if (Model::is_equation(i) || !Model::is_holonomic(i)) continue;
      const bool open = !lane_of(state.presses_now[i], lane) && lane_of(ledger.arming_level[i], lane) > 0;
      first = first && (!open || searches[lane].sought[i] > 0 || !(point.f[i] > -point.zero_at(i)));
    }
    return first;
  }

  // Formulas at events are evaluated at the member's state; it is that of the event, with the velocities v.
  template <class AnyPoint>
  ZWANG_INLINE void place_member(M& me, const AnyPoint& point, const Real* v) const {
    if constexpr (measures_at_events() || RecordsOf<Model>::at_events) {
      me.motion.t = point.t;
      ZWANG_REGISTERS for (int c = 0; c < size; ++c) {
        me.motion.y[c] = c >= n && c < 2 * n ? v[c - n] : point.y[c];
      }
    }
  }

  ZWANG_INLINE void set_branch(int lane, int i, Real value) const {
    const int place = Model::constants - Model::branches + i;
    set_lane(state.k[place], lane, value);
    members[lane].k[place] = value;
  }

  // Extremes of measures: the multipliers before the event count as well as those after it.
  template <class AnyPoint>
  ZWANG_INLINE void evaluate_measures(const AnyPoint& point, Real* values) const {
    if constexpr (Model::any_extremes) {
      Real forces[rows];
      ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
        const Real force = is_finite(point.lambda[i]) ? point.lambda[i] : Real(0);
        forces[i] = Model::is_equation(i) ? force : maximum(force, Real(0));
      }
      Model::measured(point.k, point.t, point.y, point.y + n, point.y + 2 * n, forces, point.held, values);
    }
  }

  template <class AnyPoint>
  ZWANG_INLINE void store_measures(int lane, const AnyPoint& point, const Real* before) const {
    if constexpr (Model::any_extremes) {
      Real after[M::reductions];
      evaluate_measures(point, after);
      ZWANG_REGISTERS for (int m = 0; m < Model::reductions; ++m) {
        if (!is_extreme<Model>(m)) continue;
        const bool largest = Reduction(Model::reduction_kind(m)) == Reduction::maximum;
        Real best = lane_of(state.best[m], lane);
        best = better_of(largest, better_of(largest, best, before[m]), after[m]);
        set_lane(state.best[m], lane, best);
        set_lane(state.values[m], lane, after[m]);
      }
    }
  }

  template <class AnyPoint>
  ZWANG_INLINE void resume_motion(int lane, const AnyPoint& point) const {
    set_lane(state.t, lane, point.t);
    set_lane(state.h, lane, point.next_h);
    set_lane(ledger.taken, lane, lane_of(ledger.taken, lane) + 1);
    ZWANG_REGISTERS for (int i = 0; i < size; ++i) { set_lane(state.y[i], lane, point.y[i]); }
    ZWANG_REGISTERS for (int m = 0; m < size - n; ++m) {
      set_lane(trial.step.first()[m], lane, point.rate[n + m]);
    }
    Real position = lane_of(ledger.worst_position, lane), velocity = lane_of(ledger.worst_velocity, lane);
    ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
      set_lane(state.lambda[i], lane, point.lambda[i]);
      set_lane(ledger.peak_lambda[i], lane, absolute(point.lambda[i]));
      set_lane(state.f[i], lane, point.f[i]);
      set_lane(state.f_rate[i], lane, point.f_rate[i]);
      if (!(point.held[i] > 0)) continue;
      if (Model::is_holonomic(i)) position = maximum(position, absolute(point.f[i]));
      velocity = maximum(velocity, absolute(point.f_rate[i]));
    }
    set_lane(ledger.worst_position, lane, position);
    set_lane(ledger.worst_velocity, lane, velocity);
    audit(lane, point);
    set_lane(flags.at_event, lane, false);
    set_lane(state.searching, lane, false);
    set_lane(flags.accepted, lane, false);
  }

  // [voss] As LaneGroup::audit().
  template <class AnyPoint>
  ZWANG_INLINE void audit(int lane, const AnyPoint& point) const {
    Real kinetic, energy;
    Model::energies(point.k, point.t, point.y, point.y + n, point.y + 2 * n, kinetic, energy);
    const Real work = Model::works ? point.y[size - 1] : Real(0);
    const Real off =
        absolute(energy + lane_of(ledger.energy_lost, lane) - work - lane_of(ledger.energy_start, lane));
    const Real large = maximum(maximum(absolute(kinetic), absolute(energy - kinetic)), absolute(work));
    set_lane(ledger.drift, lane, maximum(lane_of(ledger.drift, lane), off));
    set_lane(ledger.energy_size, lane, maximum(lane_of(ledger.energy_size, lane), large));
  }
};

}  // namespace zwang
