// Records what a study asks to see of the steps of a lane group, without the slow path: output rows inside
// the steps and extremes of measures. The same for a member in memory is in member/outputs.h and
// record/measures.h.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/lanes/dense_lane.h"
#include "kernels/lanes/refine_extremes.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

// Whether lanes record their steps by themselves. On a GPU this is a choice for the study
// (host/program/tuning.h). The times of periodic records differ between members: these are left to the slow
// path.
template <class M>
constexpr bool records_steps = (ZWANG_STAGES_KEPT || M::Method::records) &&
                               !RecordsOf<typename M::Model>::periodic;

// The rows of one output time in every lane that is due.
template <class M, class R>
struct OutputRow {
  using Model = typename M::Model;
  using Real = typename M::Real;
  static constexpr int sample = M::fed_back + 2 * M::r;
  R observed[at_least_one(Model::observables)], lambda[M::rows];

  ZWANG_INLINE void evaluate(const KernelBatch& batch, const StepRecord<M, R>& step, R when, const R* y) {
    if (Model::observes_forces || batch.states) forces_inside<M>(step, when, y, lambda);
    if (batch.observables)
      Model::observe(step.k, when, y, y + M::n, y + 2 * M::n, lambda, step.held, observed);
  }
  ZWANG_INLINE void write(const KernelBatch& batch, const StepRecord<M, R>& step, const R* y, int lane,
                          long long row) const {
    if (batch.observables) {
      double* to = batch.observables + row * Model::observables;
      ZWANG_REGISTERS for (int i = 0; i < Model::observables; ++i) {
        to[i] = double(lane_of(observed[i], lane));
      }
    }
    if (batch.states) {
      double* to = batch.states + row * sample;
      ZWANG_REGISTERS for (int i = 0; i < M::fed_back; ++i) { to[i] = double(lane_of(y[i], lane)); }
      ZWANG_REGISTERS for (int i = 0; i < M::r; ++i) {
        to[M::fed_back + i] = double(lane_of(lambda[i], lane));
        to[M::fed_back + M::r + i] = double(lane_of(step.held[i], lane));
      }
    }
  }
};

// What is recorded of a step.
template <class M, class R>
struct RecordRequest {
  using Mask = typename Lanes<R>::Mask;
  Mask outputs;   // lanes with output times before `until`
  Mask extremes;  // lanes in which a measure may have an extremum inside the step
  R until,
      part;  // end of what is recorded: as a time, without the margin of the end; as a fraction of the step
  R next_output;                                 // in and out
  R values[M::reductions], best[M::reductions];  // of extremes: at the start; the best so far, in and out
};

// Writes the rows of output times: states by the dense output, projected onto the held conditions. The index
// of the next output time is stored with the member.
template <class M, class R>
ZWANG_INLINE void write_outputs(const KernelSettings& settings, const KernelBatch& batch, M* full_members,
                                const StepRecord<M, R>& step, const DenseLane<M, R>& dense,
                                RecordRequest<M, R>& request) {
  using Real = typename M::Real;
  const bool recorded = batch.observables || batch.states;
  auto due = request.outputs;
  while (any(due)) {
    const R when = select(due, request.next_output, step.t);
    R y[M::size];
    OutputRow<M, R> row;
    if (recorded) {
      dense.at(select(due, (when - step.t) / step.h, R(0)), y);
      clear_turns<M>(y);
      if (step.any_held) project<M>(step.k, when, y, step.held, 3);
      row.evaluate(batch, step, when, y);
    }
    each_lane(due, [&](int lane) {
      M& me = full_members[lane];
      const int index = me.next_output++;
      if (recorded) row.write(batch, step, y, lane, me.input.number * settings.outputs + index);
      const Real next = index + 1 < settings.outputs ? Real(batch.outputs[index + 1]) : infinity<Real>();
      me.exchange.next_output = next;
      set_lane(request.next_output, lane, next);
    });
    due = due && (request.next_output < request.until);
  }
}

// Records a step of all lanes that request it. Returns the lanes whose extremes are left to the slow path. On
// a GPU this is inlined: a call would store the lane group.
template <class M, class R>
ZWANG_HOT typename Lanes<R>::Mask record_step(const KernelSettings& settings, const KernelBatch& batch,
                                              M* full_members, const StepRecord<M, R>& step,
                                              RecordRequest<M, R>& request) {
  const DenseLane<M, R> dense(step, settings, request.outputs || request.extremes);
  write_outputs(settings, batch, full_members, step, dense, request);
  auto unresolved = no_lanes<R>();
  if constexpr (M::Model::any_extremes)
    if (any(request.extremes)) {
      const ExtremeRefinement<M, R> refinement{step, dense, request.part, request.best};
      unresolved = refinement.refine(request.extremes, request.values);
      const auto truncated = request.extremes && (request.part < R(1));
      if (any(truncated)) unresolved = unresolved || refinement.may_peak_in_rest(truncated);
    }
  return unresolved;
}

}  // namespace zwang
