// The data of a lane group, divided by lifetime: LaneState is carried from step to step, StepInProgress and
// StepFlags describe one trial step, LaneLedger holds schedules and audits that are touched once in a step.
//
// R is the number type of the group: a pack on a CPU, or a single number (one lane), as always on a GPU.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/integrator/stage_drive.h"
#include "kernels/integrator/stage_loop.h"
#include "kernels/integrator/taylor_series.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

// A member as its lane sees it at the start of a step.
//
// States of a lane, by these masks and the StepFlags. A lane is in the first state, from below, that applies:
//
//   state             masks                                         next
//   idle              !live                                         needs the slow path, for a new member
//   moving            live, !searching                              trial step at the proposed length h
//   searching         live, searching                               trial step at the length of the search
//   at event          accepted, at_event or crosses_on_series       FastEvent; the slow path if that fails
//   needs slow path   stuck, or accepted with event_possible,       member/slow_path.h
//                     extremum_possible, output_due or clipped
//
// accepted and rejected exclude each other; a stuck step is also rejected. at_event implies accepted and ends
// the search. crosses_on_series implies accepted and event_possible, and excludes at_event and searching. A
// step that is repeated with another length by a search is neither accepted nor rejected.
template <class M, class R>
struct LaneState {
  using Mask = typename Lanes<R>::Mask;
  static constexpr int signals = at_least_one(M::Model::signals);
  R k[at_least_one(M::Model::constants)];        // parameters and derived constants
  R t, h, y[M::size];                            // time, proposed step length, state
  R held[M::rows];                               // 1: the condition is active
  R lambda[M::rows];                             // multipliers
  R f[M::rows], f_rate[M::rows];                 // values of the conditions and their rates
  R signal[signals];                             // watched functions, the stop condition, kinks
  R side[signals];                               // as in LaneExchange
  R values[M::reductions], best[M::reductions];  // of extremal measures: present value, and the best so far
  Mask presses_now[M::rows];                     // an active inequality with a positive multiplier
  Mask always_handle;                            // every step goes through the slow path
  Mask live;                                     // the lane has a member
  Mask searching;                                // a search over the step length is in progress
  // Over all lanes of the group:
  bool any_held = false;       // some lane has an active condition
  bool any_redundant = false;  // the active rows of some lane are linearly dependent
};

// Multipliers at the second sample stage, stored only where lanes are in memory: registers are too few.
template <class M>
constexpr bool has_second_sample = ZWANG_STAGES_KEPT != 0 && (M::Method::second_sample_stage > 0);
template <class M, class R>
struct SecondSample {
  R second_sampled_lambda[M::rows];
};

// The masks of one trial step, saved and restored as a whole where an event is tried out.
template <class M, class R>
struct StepFlags {
  using Mask = typename Lanes<R>::Mask;
  Mask accepted, rejected;
  Mask stuck;                  // the step length is below the resolution of time
  Mask clipped;                // the step ends at a scheduled time, or is the last one allowed
  Mask event_possible;         // a condition or a signal may cross zero within the step
  Mask signal_event_possible;  // a signal may cross zero within the step
  Mask extremum_possible;      // a measure may have a new extremum within the step
  Mask output_due;             // an output time is within the step
  Mask at_event;               // the search has ended: the end of the step is within reach of the crossing
  Mask crosses_on_series;   // a single condition crosses zero within a step that is known as a power series
  Mask may_cross[M::rows];  // this condition may cross zero within the step
  // If the step ends where this condition crosses zero, it has not crossed before.
  Mask first_if_at_end[M::rows];
  Mask signal_may_cross[M::signals], signal_first_if_at_end[M::signals];  // the same for signals

  // A step that ends at an event, before anything else is known about it.
  ZWANG_INLINE void set_at_event() {
    at_event = accepted = !no_lanes<R>();
    stuck = event_possible = extremum_possible = output_due = crosses_on_series = no_lanes<R>();
  }

  ZWANG_INLINE StepFlags<M, typename M::Real> lane(int lane) const {
    StepFlags<M, typename M::Real> one;
    one.accepted = lane_of(accepted, lane);
    one.rejected = lane_of(rejected, lane);
    one.stuck = lane_of(stuck, lane);
    one.clipped = lane_of(clipped, lane);
    one.event_possible = lane_of(event_possible, lane);
    one.signal_event_possible = lane_of(signal_event_possible, lane);
    one.extremum_possible = lane_of(extremum_possible, lane);
    one.output_due = lane_of(output_due, lane);
    one.at_event = lane_of(at_event, lane);
    one.crosses_on_series = lane_of(crosses_on_series, lane);
    for (int i = 0; i < M::r; ++i) {
      one.may_cross[i] = lane_of(may_cross[i], lane);
      one.first_if_at_end[i] = lane_of(first_if_at_end[i], lane);
    }
    for (int i = 0; i < M::Model::signals; ++i) {
      one.signal_may_cross[i] = lane_of(signal_may_cross[i], lane);
      one.signal_first_if_at_end[i] = lane_of(signal_first_if_at_end[i], lane);
    }
    return one;
  }
  ZWANG_INLINE void set(int lane, const StepFlags<M, typename M::Real>& one) {
    set_lane(accepted, lane, one.accepted);
    set_lane(rejected, lane, one.rejected);
    set_lane(stuck, lane, one.stuck);
    set_lane(clipped, lane, one.clipped);
    set_lane(event_possible, lane, one.event_possible);
    set_lane(signal_event_possible, lane, one.signal_event_possible);
    set_lane(extremum_possible, lane, one.extremum_possible);
    set_lane(output_due, lane, one.output_due);
    set_lane(at_event, lane, one.at_event);
    set_lane(crosses_on_series, lane, one.crosses_on_series);
    for (int i = 0; i < M::r; ++i) {
      set_lane(may_cross[i], lane, one.may_cross[i]);
      set_lane(first_if_at_end[i], lane, one.first_if_at_end[i]);
    }
    for (int i = 0; i < M::Model::signals; ++i) {
      set_lane(signal_may_cross[i], lane, one.signal_may_cross[i]);
      set_lane(signal_first_if_at_end[i], lane, one.signal_first_if_at_end[i]);
    }
  }
};

// Schedules, counts and audits: touched once in a step, so that a GPU may keep them outside of the registers.
template <class R, int rows>
struct LaneLedger {
  R arming_level[rows], peak_lambda[rows];  // as in StoredLedger
  R scheduled_time, next_output, taken, rejected;
  R energy_start, energy_lost, drift, energy_size, worst_position, worst_velocity;
};

// The stages of a step, its power series, and the terms of its right side that depend on time alone.
template <class M, class R>
using StepStorage =
    typename StepOf<ZWANG_STAGES_KEPT, typename M::Method, M::n, M::size, M::fed_back, R>::Type;
template <class M, class R>
using SeriesStorage =
    typename OnlyIf<M::Method::expands, SeriesStep<typename M::Method, M::n, M::size, M::fed_back, R>>::Type;
template <class M, class R>
using DriveStorage = StageDrive<typename M::Model, typename M::Method, M::drives, R>;

// The trial step in progress: its stages, and the numbers at its end and inside it. They are in one struct,
// not in nested
// ones: otherwise the compiler finds more common subexpressions between the stages, and contracts other
// products and sums to fused multiply-adds, which changes the last bits of results.
template <class M, class R>
struct StepInProgress : OnlyIf<has_second_sample<M>, SecondSample<M, R>>::Type {
  using Mask = typename Lanes<R>::Mask;
  StepStorage<M, R> step;  // first(), last(): rates at its start, carried from step to step, and at its end
  SeriesStorage<M, R> series;
  Mask constrained;                     // the lane has active conditions, hence no power series
  DriveStorage<M, R>* drive = nullptr;  // in local memory on a GPU, like the stages
  // Multipliers: extremes over the stages, at the end, and at the sample stage.
  R lowest_lambda[M::rows], highest_lambda[M::rows], end_lambda[M::rows], sampled_lambda[M::rows];
  R mid_f[M::rows];          // values of the conditions at the midpoint
  R mid_signal[M::signals];  // those of the signals
  R end[M::size];            // state at the end, projected onto the active conditions
  R end_f[M::rows], end_f_rate[M::rows], end_signal[at_least_one(M::Model::signals)],
      end_values[M::reductions];
  R next_h;  // proposed length of the step after this one
};

}  // namespace zwang
