// Records what a study asks to see of the steps of a lane group, without the slow path: output rows inside the steps.
// The same for a member in memory is in member/outputs.h.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/lanes/dense_lane.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

// Whether lanes record their steps by themselves. On a GPU this is a choice for the study (host/program/tuning.h).
template <class M>
constexpr bool records_steps = ZWANG_STAGES_KEPT || M::Method::records;

// The multipliers as observables and measures see them: as forces_at() in record/measures.h.
template <class M, class R>
ZWANG_INLINE void forces_inside(const StepRecord<M, R>& step, R t, const R* y, R* lambda) {
  ZWANG_REGISTERS for (int i = 0; i < M::r; ++i) { lambda[i] = R(0); }
  if (!step.any_held) return;
  R rate[M::size], all[M::rows];
  rates_inside<M>(step, t, y, rate, all);
  ZWANG_REGISTERS for (int i = 0; i < M::r; ++i) {
    const R finite = if_less(absolute(all[i]), infinity<R>(), all[i], R(0));
    const R force = M::Model::is_equation(i) ? finite : maximum(finite, R(0));
    lambda[i] = if_less(R(0), step.held[i], force, R(0));
  }
}

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

// Writes the rows of output times before `until` in the lanes `wanted`: states by the dense output, projected onto the
// held conditions. Returns the next output time of each lane; the index of that time is stored with the member.
template <class M, class R>
ZWANG_COLD R write_outputs_inside(const KernelSettings& settings, const KernelBatch& batch, M* full_members,
                                  const StepRecord<M, R>& step, const typename Lanes<R>::Mask& wanted,
                                  R until, R next_output) {
  using Real = typename M::Real;
  const bool recorded = batch.observables || batch.states;
  const DenseLane<M, R> dense(step, settings, recorded ? wanted : no_lanes<R>());
  auto due = wanted;
  while (any(due)) {
    const R when = select(due, next_output, step.t);
    R y[M::size];
    OutputRow<M, R> row;
    if (recorded) {
      dense.at(select(due, (when - step.t) / step.h, R(0)), y);
      if (step.any_held) project<M>(step.k, when, y, step.held, 3);
      row.evaluate(batch, step, when, y);
    }
    each_lane(due, [&](int lane) {
      M& me = full_members[lane];
      const int index = me.next_output++;
      row.write(batch, step, y, lane, me.input.number * settings.outputs + index);
      me.exchange.next_output =
          index + 1 < settings.outputs ? Real(batch.outputs[index + 1]) : infinity<Real>();
      set_lane(next_output, lane, me.exchange.next_output);
    });
    due = due && (next_output < until);
  }
  return next_output;
}

}  // namespace zwang
