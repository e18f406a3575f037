// Step length limit for periodic conditions and watched functions: no step may cover a whole period.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/lanes/lane_state.h"
#include "kernels/simd/lane_traits.h"

namespace zwang {

template <class M, class R>
struct PeriodLimit {
  using Model = typename M::Model;
  using Real = typename M::Real;
  using Mask = typename Lanes<R>::Mask;
  static constexpr int n = M::n;
  const LaneState<M, R>& state;
  const StepStorage<M, R>& step;

  // The longest step, not beyond `length`. Rates change within a step: a body at rest may fall past a whole
  // row of obstacles. Over a step h at constant accelerations an argument changes by rate h + growth h^2/2,
  // which must be 1 at most.
  ZWANG_INLINE R longest(R length) const {
    R later[M::fed_back];
    ZWANG_REGISTERS for (int i = 0; i < M::fed_back; ++i) { later[i] = state.y[i]; }
    ZWANG_REGISTERS for (int i = 0; i < n; ++i) { later[n + i] = state.y[n + i] + length * step.first()[i]; }
    const R now = argument_speed(state.t, state.y),
            growth = maximum(argument_speed(state.t + length, later) - now, R(0)) / length;
    return R(2) / (now + sqrt(now * now + R(2) * growth));
  }
  // Where accelerations have changed as well, the step may still be too long: it is then rejected and
  // repeated with half of its length. `then`, `middle`: time of the end, state at the midpoint.
  ZWANG_INLINE void reject_long(R then, const R* middle, StepResult<M, R>& result, StepFlags<M, R>& flags,
                                LaneLedger<R, M::rows>& ledger) const {
    const R run =
        step.h * R(Real(1.0 / 6)) *
        (argument_speed(state.t, state.y) + R(4) * argument_speed(state.t + R(Real(0.5)) * step.h, middle) +
         argument_speed(then, result.end));
    const Mask far = flags.accepted && !state.searching && (run > R(Real(1.5)));
    flags.accepted = flags.accepted && !far;
    flags.rejected = flags.rejected || far;
    ledger.rejected = ledger.rejected + select(far, R(1), R(0));
    result.next_h = select(far, R(Real(0.5)) * step.h, result.next_h);
  }

 private:
  // Rate of the arguments of periodic functions, in units of the largest change allowed in a step.
  ZWANG_INLINE R argument_speed(R when, const R* there) const {
    return R(1) / Model::turn_bound(state.k, when, there, there + n, there + 2 * n);
  }
};

}  // namespace zwang
