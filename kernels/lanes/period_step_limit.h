// Conditions and watched functions that repeat: no step may leap over a period of theirs.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/simd/pack.h"

namespace zwang {

template <class LaneGroup>
struct PeriodLimit {
  using M = typename LaneGroup::Member;
  using R = typename LaneGroup::Number;
  using Model = typename M::Model;
  using Real = typename M::Real;
  using Mask = typename Lanes<R>::Mask;
  static constexpr int n = M::n;
  LaneGroup& group;

  // Rates change on the way: what rests now may fall over a whole row of obstacles. Over a step h with these accelerations
  // an argument runs rate h + growth h^2/2, and that shall be 1.
  ZWANG_INLINE R longest(R length) const {
    R later[M::fed_back];
    ZWANG_REGISTERS for (int i = 0; i < M::fed_back; ++i) later[i] = group.y[i];
    ZWANG_REGISTERS for (int i = 0; i < n; ++i) later[n + i] =
        group.y[n + i] + length * group.step.first()[i];
    const R now = argument_speed(group.t, group.y),
            growth = maximum(argument_speed(group.t + length, later) - now, R(0)) / length;
    return R(2) / (now + sqrt(now * now + R(2) * growth));
  }
  // Where accelerations have changed too, the step may have run too far all the same: then it is taken again, shorter.
  ZWANG_INLINE void reject_long(R then, const R* middle) const {
    const R run = group.step.h * R(Real(1.0 / 6)) *
                  (argument_speed(group.t, group.y) +
                   R(4) * argument_speed(group.t + R(Real(0.5)) * group.step.h, middle) +
                   argument_speed(then, group.end));
    const Mask far = group.accepted && !group.searching && (run > R(Real(1.5)));
    group.accepted = group.accepted && !far;
    group.rejected = group.rejected || far;
    group.ledger.rejected = group.ledger.rejected + select(far, R(1), R(0));
    group.next_h = select(far, R(Real(0.5)) * group.step.h, group.next_h);
  }

 private:
  // How fast arguments of periodic functions run, in units of what a step may hold.
  ZWANG_INLINE R argument_speed(R when, const R* there) const {
    return R(1) / Model::turn_bound(group.k, when, there, there + n, there + 2 * n);
  }
};

}  // namespace zwang
