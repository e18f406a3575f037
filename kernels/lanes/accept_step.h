// The end of a step without events becomes the start of the next one.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/lanes/lane_state.h"
#include "kernels/record/measures.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

// Lanes whose step is accepted without an event move to its end. Lanes that were handled are there already;
// lanes in `staying` keep their state.
template <class M, class R>
ZWANG_INLINE void accept_step(const typename Lanes<R>::Mask& staying, StepInProgress<M, R>& trial,
                              StepFlags<M, R>& flags, LaneState<M, R>& state,
                              LaneLedger<R, M::rows>& ledger) {
  using Model = typename M::Model;
  using Mask = typename Lanes<R>::Mask;
  flags.accepted = flags.accepted && !staying;
  flags.rejected = flags.rejected && !staying;
  const Mask accepted = flags.accepted;
  state.h = select(accepted || flags.rejected, trial.next_h, state.h);
  const R then = state.t + trial.step.h;
  ZWANG_REGISTERS for (int i = 0; i < M::size; ++i) {
    state.y[i] = select(accepted, trial.end[i], state.y[i]);
  }
  ZWANG_REGISTERS for (int m = 0; m < trial.step.rates; ++m) {
    trial.step.first()[m] = select(accepted, trial.step.last()[m], trial.step.first()[m]);
  }
  state.t = select(accepted, then, state.t);
  ledger.taken = ledger.taken + select(accepted, R(1), R(0));
  ZWANG_REGISTERS for (int i = 0; i < M::r; ++i) {
    state.lambda[i] = select(accepted, trial.end_lambda[i], state.lambda[i]);
    ledger.peak_lambda[i] =
        select(accepted, larger(ledger.peak_lambda[i], absolute(trial.end_lambda[i])), ledger.peak_lambda[i]);
    state.f[i] = select(accepted, trial.end_f[i], state.f[i]);
    state.f_rate[i] = select(accepted, trial.end_f_rate[i], state.f_rate[i]);
    // A condition that opened and did not cross zero in this step is armed.
    ledger.arming_level[i] = select(accepted && ledger.arming_level[i] < R(0), R(1), ledger.arming_level[i]);
  }
  ZWANG_REGISTERS for (int i = 0; i < Model::signals; ++i) {
    state.signal[i] = select(accepted, trial.end_signal[i], state.signal[i]);
  }
  if constexpr (Model::any_extremes) {
    ZWANG_REGISTERS for (int m = 0; m < Model::reductions; ++m) {
      if (!is_extreme<Model>(m)) continue;
      state.values[m] = select(accepted, trial.end_values[m], state.values[m]);
      const bool largest = Reduction(Model::reduction_kind(m)) == Reduction::maximum;
      const R better = largest ? if_less(state.best[m], state.values[m], state.values[m], state.best[m])
                               : if_less(state.values[m], state.best[m], state.values[m], state.best[m]);
      state.best[m] = select(accepted, better, state.best[m]);
    }
  }
}

}  // namespace zwang
