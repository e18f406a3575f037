// Conditions and watched functions that repeat: no step may leap over a period of theirs.
#pragma once

#include "kernels/pack.h"

namespace zwang {

template <class Crew>
struct Turns {
  using M = typename Crew::Member;
  using R = typename Crew::Number;
  using Model = typename M::Model;
  using Real = typename M::Real;
  using Mask = typename Lanes<R>::Mask;
  static constexpr int n = M::n;
  Crew& crew;

  // Rates change on the way: what rests now may fall over a whole row of obstacles. Over a step h with these accelerations
  // an argument runs rate h + growth h^2/2, and that shall be 1.
  ZWANG_INLINE R longest(R length) const {
    R later[M::fed_back];
    ZWANG_REGISTERS for (int i = 0; i < M::fed_back; ++i) later[i] = crew.y[i];
    ZWANG_REGISTERS for (int i = 0; i < n; ++i) later[n + i] = crew.y[n + i] + length * crew.step.first()[i];
    const R now = turning(crew.t, crew.y),
            growth = maximum(turning(crew.t + length, later) - now, R(0)) / length;
    return R(2) / (now + sqrt(now * now + R(2) * growth));
  }
  // Where accelerations have changed too, the step may have run too far all the same: then it is taken again, shorter.
  ZWANG_INLINE void refuse_long(R then, const R* middle) const {
    const R run = crew.step.h * R(Real(1.0 / 6)) *
                  (turning(crew.t, crew.y) + R(4) * turning(crew.t + R(Real(0.5)) * crew.step.h, middle) +
                   turning(then, crew.end));
    const Mask far = crew.accepted && !crew.seeking && (run > R(Real(1.5)));
    crew.accepted = crew.accepted && !far;
    crew.refused = crew.refused || far;
    crew.ledger.rejected = crew.ledger.rejected + select(far, R(1), R(0));
    crew.next_h = select(far, R(Real(0.5)) * crew.step.h, crew.next_h);
  }

 private:
  // How fast arguments of periodic functions run, in units of what a step may hold.
  ZWANG_INLINE R turning(R when, const R* there) const {
    return R(1) / Model::turn_bound(crew.k, when, there, there + n, there + 2 * n);
  }
};

}  // namespace zwang
