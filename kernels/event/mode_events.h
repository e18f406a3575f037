// Events that list changes of mode: which contacts have begun to slip, come to rest or reversed, and which bounded
// conditions have yielded, locked or reversed, by comparison of the modes before and after. The reference is
// Motion::record_mode_changes (src/reference/motion_modes.cpp).
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/density.h"
#include "kernels/dynamics/member.h"
#include "kernels/record/event_log.h"

namespace zwang {

template <class M, bool = ModesOf<typename M::Model>::any>
struct ModesInForce {
  ZWANG_INLINE explicit ModesInForce(const M&) {}
};
template <class M>
struct ModesInForce<M, true> {
  using Model = typename M::Model;
  using Real = typename M::Real;
  bool sticks[at_least_one(Model::frictions)];
  Real e[at_least_one(Model::frictions)][2];  // 0: does not slip
  bool held[at_least_one(Model::bounds)];
  Real sign[at_least_one(Model::bounds)];

  ZWANG_DEVICE explicit ModesInForce(const M& me) {
    for (int f = 0; f < Model::frictions; ++f) {
      sticks[f] = me.constraints.held[Model::friction_row(f)] > 0;
      for (int c = 0; c < 2; ++c)
        e[f][c] =
            c < Model::friction_rows(f) ? me.k[Model::first_mode + Model::friction_mode(f) + c] : Real(0);
    }
    for (int b = 0; b < Model::bounds; ++b) {
      held[b] = me.constraints.held[Model::bound_condition(b)] > 0;
      sign[b] = Model::bound_sign(b) >= 0 ? me.k[Model::first_mode + Model::bound_sign(b)] : Real(0);
    }
  }
  ZWANG_INLINE bool slips(int f) const { return e[f][0] != 0 || e[f][1] != 0; }
};

// One event for each kind of change. `reversed` is a contact in space whose slip has vanished and began anew at once;
// in the plane the signs show it.
template <class M>
ZWANG_COLD void record_mode_changes([[maybe_unused]] M& me, [[maybe_unused]] const ModesInForce<M>& before,
                                    [[maybe_unused]] int reversed = -1) {
  using Model = typename M::Model;
  if constexpr (ModesOf<Model>::any) {
    const ModesInForce<M> now(me);
    constexpr EventKind kinds[] = {EventKind::yield, EventKind::lock, EventKind::slide, EventKind::stick,
                                   EventKind::reverse};
    typename M::Set changed[5];
    for (int b = 0; b < Model::bounds; ++b) {
      const int i = Model::bound_condition(b);
      if (before.held[b] && now.sign[b] != 0) changed[0].add(i);
      if (before.sign[b] != 0 && now.held[b]) changed[1].add(i);
      if (before.sign[b] * now.sign[b] < 0) changed[4].add(i);
    }
    for (int f = 0; f < Model::frictions; ++f) {
      const int i = Model::friction_contact(f);
      if (before.sticks[f] && now.slips(f)) changed[2].add(i);
      if (before.slips(f) && now.sticks[f]) changed[3].add(i);
      const bool turned = Model::friction_rows(f) == 1 && before.e[f][0] * now.e[f][0] < 0;
      if (before.slips(f) && now.slips(f) && (turned || i == reversed)) changed[4].add(i);
    }
    // Where something comes to rest phase volume is lost.
    if (changed[1].size() + changed[3].size() > 0) lose_density<M>(me.motion);
    for (int kind = 0; kind < 5 && me.going(); ++kind) {
      if (changed[kind].size() == 0) continue;
      typename M::Event event;
      event.t = me.motion.t;
      event.kind = kinds[kind];
      event.constraints = changed[kind];
      record_event(me, event);
    }
  }
}

}  // namespace zwang
