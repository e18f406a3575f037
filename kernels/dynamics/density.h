// Jacobi's multiplier [voss-11], the density in phase space along a trajectory, across shocks. Its rate along
// smooth motion is part of the emitted model.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/shock.h"

namespace zwang {

// Marks the log-density as undefined from here on; the mark is the auxiliary after it in the state.
template <class M>
ZWANG_DEVICE void lose_density(typename M::Motion& motion) {
  if constexpr (M::Model::has_density) M::z_of(motion.y)[M::Model::density + 1] = 1;
}

// Phase volume is kept by an elastic reflection at a single condition, and by impulses that do not depend on
// the velocities (src/reference/motion_events.cpp).
template <class M>
ZWANG_DEVICE bool keeps_volume(const typename M::Real* k, const typename M::Constraints& constraints,
                               const ShockResult<M>& result, EventKind kind) {
  using Model = typename M::Model;
  int struck = 0;
  bool elastic = true;
  for (int i = 0; i < M::r; ++i) {
    if (!result.struck.has(i) || constraints.conditions[i].standing == Standing::equation) continue;
    ++struck;
    elastic = elastic && Model::is_holonomic(i) && Model::restitution(k, i) == 1;
  }
  if (kind == EventKind::shock) return struck == 1 && elastic;
  return kind == EventKind::impulse && struck == 0 && Model::impulses_shift;
}

// After a shock, or after a condition was reached without one; `constraints` are those after the update of
// the active set. A condition that closes takes dimensions away from phase space: its volume is lost.
template <class M>
ZWANG_DEVICE void update_density(const typename M::Real* k, const typename M::Constraints& constraints,
                                 const ShockResult<M>& result, const typename M::Set& reached, EventKind kind,
                                 bool at_start, typename M::Motion& motion) {
  if constexpr (M::Model::has_density) {
    bool closes = false;
    for (int i = 0; i < M::r; ++i)
      closes = closes || (reached.has(i) && constraints.conditions[i].standing == Standing::closed);
    const bool changed = result.jumped || kind == EventKind::impulse;
    if ((changed && !keeps_volume(k, constraints, result, kind)) || (closes && !at_start))
      lose_density<M>(motion);
  }
}

}  // namespace zwang
