// The multipliers of a state for what is recorded of it.
#pragma once

#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/smooth_motion.h"

namespace zwang {

// The multipliers as observables and measures see them: a closed inequality never has a negative one. What is
// below zero is rounding around a release.
template <class M, class Real>
ZWANG_DEVICE void forces_at(const Real* k, const typename M::Constraints& constraints, Real t, const Real* y,
                            Real* lambda) {
  for (int i = 0; i < M::r; ++i) lambda[i] = 0;
  if (!constraints.any_held) return;
  multipliers_at<M>(k, constraints, t, y, lambda);
  for (int i = 0; i < M::r; ++i) {
    if (!is_finite(lambda[i])) lambda[i] = 0;
    if (constraints.conditions[i].standing == Standing::closed) lambda[i] = maximum(lambda[i], Real(0));
  }
}

}  // namespace zwang
