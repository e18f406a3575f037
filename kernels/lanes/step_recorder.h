// Decides what of a trial step has to be recorded (outputs and extremes inside it), has it recorded, and
// brings the lanes up to date. On a CPU lanes record their steps at once; on a GPU they leave them to a
// kernel of their own (entry/record_cuda.h).
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/lanes/dense_lane.h"
#include "kernels/lanes/lane_state.h"
#include "kernels/lanes/record_step.h"
#include "kernels/lanes/step_end.h"
#include "kernels/record/measures.h"
#include "kernels/rootfinding/step_length_search.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

template <class M, class R>
struct StepRecorder {
  using Model = typename M::Model;
  using Real = typename M::Real;
  using Mask = typename Lanes<R>::Mask;
  static constexpr int r = M::r, signals = Model::signals;

  const KernelSettings& settings;
  const KernelBatch& batch;
  M* full_members;                                             // as in LaneGroup
  const StepLengthSearch<Real, M::event_functions>* searches;  // one for each lane
  LaneState<M, R>& state;
  StepInProgress<M, R>& trial;
  StepFlags<M, R>& flags;
  LaneLedger<R, M::rows>& ledger;

  // Lanes whose step has something to be recorded inside it, and is free of events up to its end or up to the
  // crossing near its end that was sought. All others are left to the slow path.
  ZWANG_INLINE Mask due() const {
    if constexpr (!records_steps<M>) return no_lanes<R>();
    const Mask inside = flags.accepted && (flags.output_due || flags.extremum_possible);
    if (!any(inside)) return inside;
    return inside && (!flags.event_possible || ends_at_first_event());
  }

  // What is to be recorded in these lanes. The crossing may lie a little before the end of the step: that
  // part is left to the slow path.
  ZWANG_INLINE RecordRequest<M, R> request(const Mask& which) const {
    return request_until(which, select(flags.at_event, R(1 - 2 * Real(settings.crossing_reach)), R(1)),
                         false);
  }
  // The same for the step of a single lane that has been truncated at the crossing on its power series, to
  // rounding: what is left out is within rounding of the end.
  ZWANG_INLINE RecordRequest<M, R> request_truncated(const Mask& which) const {
    return request_until(which, R(1 - sqrt(Precision<Real>::epsilon)), true);
  }

  // Writes outputs and refines extremes at once.
  ZWANG_INLINE void record(RecordRequest<M, R>& request) {
    if constexpr (Model::any_extremes) {
      ZWANG_REGISTERS for (int m = 0; m < Model::reductions; ++m) {
        request.values[m] = state.values[m];
        request.best[m] = state.best[m];
      }
    }
    const StepRecord<M, R> step(state, trial, trial.step.stage_rates());
    const Mask unresolved = record_step<M, R>(settings, batch, full_members, step, request);
    if constexpr (Model::any_extremes) {
      ZWANG_REGISTERS for (int m = 0; m < Model::reductions; ++m) {
        if (is_extreme<Model>(m)) state.best[m] = request.best[m];
      }
    }
    finish(request, unresolved);
  }

  // Brings the lanes up to date with what has been recorded; `unresolved`: lanes whose extremes are left to
  // the slow path.
  ZWANG_INLINE void finish(const RecordRequest<M, R>& request, const Mask& unresolved) {
    const R then = state.t + trial.step.h;
    ledger.next_output = request.next_output;
    flags.output_due =
        flags.output_due && (ledger.next_output < then - nearness_of_end<R>(then, trial.step.h));
    flags.extremum_possible = flags.extremum_possible && (!request.extremes || unresolved);
  }

 private:
  // Up to the fraction `part` of the step.
  ZWANG_INLINE RecordRequest<M, R> request_until(const Mask& which, R part, bool at_end) const {
    const R then = state.t + trial.step.h;
    RecordRequest<M, R> made;
    made.until = then - nearness_of_end<R>(then, trial.step.h) - (R(1) - part) * trial.step.h;
    made.part = at_end ? R(1) : part;
    made.next_output = ledger.next_output;
    made.outputs = which && (made.next_output < made.until);
    made.extremes = which && flags.extremum_possible;
    return made;
  }

  // Lanes whose step ends at the crossing sought, without another crossing before.
  ZWANG_INLINE Mask ends_at_first_event() const {
    Mask made = no_lanes<R>();
    each_lane(flags.accepted && flags.at_event, [&, this](int lane) {
      bool first = false;
      ZWANG_REGISTERS for (int i = 0; i < r; ++i) {
        first = first || (searches[lane].sought[i] > 0 && lane_of(flags.first_if_at_end[i], lane));
      }
      ZWANG_REGISTERS for (int i = 0; i < signals; ++i) {
        first = first ||
                (searches[lane].sought[M::rows + i] > 0 && lane_of(flags.signal_first_if_at_end[i], lane));
      }
      set_lane(made, lane, first);
    });
    return made;
  }
};

}  // namespace zwang
