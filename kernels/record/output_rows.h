// Rows of results at output times: observables, states and multipliers.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/record/forces.h"
#include "kernels/record/member_records.h"

namespace zwang {

// The next of the study's output times; infinity: there is none left.
template <class M>
ZWANG_INLINE typename M::Real next_listed_time(const M& me) {
  using Real = typename M::Real;
  return me.next_output < me.input.settings->outputs ? Real(me.input.batch->outputs[me.next_output])
                                                     : infinity<Real>();
}
// The next time at which something is written: an output time, or that of a periodic record.
template <class M>
ZWANG_INLINE typename M::Real next_output_time(const M& me) {
  if constexpr (RecordsOf<typename M::Model>::periodic)
    return minimum(next_listed_time(me), next_record_time(me));
  else
    return next_listed_time(me);
}
// Whether such a time is left that lies before `limit`.
template <class M>
ZWANG_INLINE bool output_before(const M& me, typename M::Real limit) {
  return next_output_time(me) < limit;
}

// Writes what is due at the time `when`, which is next_output_time(): the state y at the time t, the same but
// for rounding. Counts it in next_output and the clock of the records and changes nothing else.
template <class M, class Real>
ZWANG_COLD void write_output(M& me, Real when, Real t, const Real* y) {
  using Model = typename M::Model;
  if constexpr (RecordsOf<Model>::periodic) {
    const bool listed = next_listed_time(me) <= when;
    write_periodic_records(me, when, y);
    if (!listed) return;
  }
  const KernelBatch& batch = *me.input.batch;
  const long long row = me.input.number * me.input.settings->outputs + me.next_output++;
  if (!batch.observables && !batch.states) return;
  const typename M::Constraints& constraints = me.constraints;
  Real lambda[M::rows], observed[at_least_one(Model::observables)];
  if (Model::observes_forces || batch.states)
    forces_at<M>(me.k, constraints, t, y, lambda);
  else
    for (int i = 0; i < M::rows; ++i) lambda[i] = 0;
  if (batch.observables) {
    Model::observe(me.k, t, y, y + M::n, y + 2 * M::n, lambda, constraints.held, observed);
    for (int i = 0; i < Model::observables; ++i)
      batch.observables[row * Model::observables + i] = double(observed[i]);
  }
  if (batch.states) {
    double* to = batch.states + row * (M::fed_back + 2 * M::r);
    for (int i = 0; i < M::fed_back; ++i) to[i] = double(y[i]);
    for (int i = 0; i < M::r; ++i) to[M::fed_back + i] = double(lambda[i]);
    for (int i = 0; i < M::r; ++i) to[M::fed_back + M::r + i] = double(constraints.held[i]);
  }
}

// Writes the rows of all output times up to the present: values at an event are those after it.
template <class M>
ZWANG_DEVICE void emit_output_now(M& me) {
  using Real = typename M::Real;
  const Real margin = Precision<Real>::moment * maximum(absolute(me.motion.t), me.motion.h);
  while (next_output_time(me) <= me.motion.t + margin)
    write_output(me, next_output_time(me), me.motion.t, me.motion.y);
}

}  // namespace zwang
