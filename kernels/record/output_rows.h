// Rows of results at output times: observables, states and multipliers.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/record/measures.h"

namespace zwang {

template <class M>
ZWANG_INLINE typename M::Real next_output_time(const M& me) {
  return typename M::Real(me.input.batch->outputs[me.next_output]);
}
// Whether an output time is left that lies before `limit`.
template <class M>
ZWANG_INLINE bool output_before(const M& me, typename M::Real limit) {
  return me.next_output < me.input.settings->outputs && next_output_time(me) < limit;
}

// Writes the next row: the state y at the output time t. Counts it in next_output and changes nothing else.
template <class M, class Real>
ZWANG_COLD void write_output(M& me, Real t, const Real* y) {
  using Model = typename M::Model;
  const KernelBatch& batch = *me.input.batch;
  const long long row = me.input.number * me.input.settings->outputs + me.next_output++;
  if (!batch.observables && !batch.states) return;
  const typename M::Constraints& constraints = me.constraints;
  Real lambda[M::rows], observed[at_least_one(Model::observables)];
  forces_at<M>(me.k, constraints, t, y, lambda);
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
  while (me.next_output < me.input.settings->outputs && next_output_time(me) <= me.motion.t + margin)
    write_output(me, me.motion.t, me.motion.y);
}

}  // namespace zwang
