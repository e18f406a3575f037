// Jacobi's multiplier [voss-11] at an instant. Its rate is part of the model; here is what shocks do to it.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/shock.h"

namespace zwang {

// From here on the log-density means nothing: the state after it says so.
template <class M>
ZWANG_DEVICE void lose_density(M& me) {
  if constexpr (M::Model::has_density) me.motion.y[2 * M::n + M::Model::density + 1] = 1;
}

// Only an elastic reflection at one condition, and impulses given whatever the velocities, keep phase volume
// (src/reference/motion_events.cpp).
template <class M>
ZWANG_DEVICE bool keeps_volume(const M& me, const ShockResult<M>& result, EventKind kind) {
  using Model = typename M::Model;
  int struck = 0;
  bool elastic = true;
  for (int i = 0; i < M::r; ++i) {
    if (!result.struck.has(i) || me.constraints.conditions[i].standing == Standing::equation) continue;
    ++struck;
    elastic = elastic && Model::is_holonomic(i) && Model::restitution(me.k, i) == 1;
  }
  if (kind == EventKind::shock) return struck == 1 && elastic;
  return kind == EventKind::impulse && struck == 0 && Model::impulses_shift;
}

// After a shock, or a condition reached without one, when the closed set is rebuilt.
template <class M>
ZWANG_DEVICE void pass_density(M& me, const ShockResult<M>& result, const typename M::Set& reached,
                               EventKind kind, bool at_start) {
  if constexpr (M::Model::has_density) {
    bool closes = false;
    for (int i = 0; i < M::r; ++i)
      closes = closes || (reached.has(i) && me.constraints.conditions[i].standing == Standing::closed);
    const bool changed = result.jumped || kind == EventKind::impulse;
    if ((changed && !keeps_volume(me, result, kind)) || (closes && !at_start)) lose_density(me);
  }
}

}  // namespace zwang
