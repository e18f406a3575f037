// Hops left out by a completed accumulation (event/zeno.h) that another event interrupts before their limit. Their
// remainder counts for the time that has passed: a string breaks, a contact opens because something else changes its mode,
// or is struck by others and hops again. Otherwise friction that was taken off for the hops would never be added
// again by the closed contacts, and dissipated energies would fall. Models with friction or bounds only.
// src/reference/motion_accumulation.cpp is the reference.
#pragma once

#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/event/zeno.h"
#include "kernels/record/event_log.h"
#include "kernels/record/measures.h"

namespace zwang {

// Before an event that may change the motion: takes back what belongs to the time ahead, and lists the accumulation if it
// is pending. One that is completed at this very instant is listed as a whole.
template <class M>
ZWANG_COLD void interrupt_accumulation(M& me) {
  if constexpr (ModesOf<typename M::Model>::any) {
    using Real = typename M::Real;
    auto& ahead = me.schedule.ahead;
    typename M::Motion& motion = me.motion;
    if (ahead.counts && !(motion.t < ahead.limit)) ahead.counts = false;
    if (ahead.counts && !ahead.interrupted) {
      const Real share = (ahead.limit - motion.t) / (ahead.limit - ahead.from);
      ahead.divided = me.progress.accumulation_pending && motion.t > ahead.from + motion.rounding_of_time();
      for (int i = 2 * M::n; i < M::error_controlled; ++i)
        motion.y[i] -= share * ahead.corrections[i - 2 * M::n];
      if (ahead.divided) {
        typename M::Event& event = me.schedule.accumulation;
        for (int i = 2 * M::n; i < M::fed_back; ++i)
          event.energy_lost += share * ahead.corrections[i - 2 * M::n];
        for (int i = 0; i < M::r; ++i) {
          ahead.transferred[i] *= 1 - share;
          event.impulse[i] = 0;
        }
        event.reached.clear();
        list_impulses_of_hops(me, ahead.transferred);
      }
      ahead.interrupted = true;
    }
  }
  flush_accumulation(me);
}

// The impulses of the hops after the event, as an accumulation of its own.
template <class M>
ZWANG_COLD void list_rest_of_hops(M& me) {
  using Real = typename M::Real;
  typename M::Event& event = me.schedule.accumulation;
  event.t = me.schedule.ahead.limit;
  event.energy_lost = 0;
  for (int i = 2 * M::n; i < M::fed_back; ++i)
    event.energy_lost -= me.schedule.ahead.corrections[i - 2 * M::n];
  copy<M::n>(me.motion.v(), event.before);
  copy<M::n>(me.motion.v(), event.after);
  event.reached.clear();
  for (int i = 0; i < M::r; ++i) event.impulse[i] = me.schedule.remainder.multipliers[i] = Real(0);
  list_impulses_of_hops(me, me.schedule.ahead.transferred);
  me.progress.accumulation_pending = me.schedule.ahead.averages = true;
}

// After it: where the contacts are closed as before, their hops go on until the limit.
template <class M>
ZWANG_COLD void resume_accumulation([[maybe_unused]] M& me) {
  if constexpr (ModesOf<typename M::Model>::any) {
    using Real = typename M::Real;
    auto& ahead = me.schedule.ahead;
    if (!ahead.counts || !ahead.interrupted) return;
    ahead.counts = ahead.interrupted = false;
    forget_averaged_extremes(me);
    copy<M::reductions>(me.results, ahead.results);
    update_extremes_now(me);
    for (int i = 0; i < M::r; ++i)
      if (me.schedule.accumulation.constraints.has(i) &&
          me.constraints.conditions[i].standing != Standing::closed)
        return;
    Real rates[M::size], transferred[M::rows];
    if (!me.going() || !compare_phases(me, ahead.limit - me.motion.t, rates, transferred)) return;
    for (int i = 2 * M::n; i < M::error_controlled; ++i) {
      me.motion.y[i] += rates[i];
      ahead.corrections[i - 2 * M::n] = rates[i];
    }
    ahead.from = me.motion.t;
    ahead.counts = true;
    if (!ahead.divided) return;
    copy<M::rows>(transferred, ahead.transferred);
    list_rest_of_hops(me);
  }
}

}  // namespace zwang
