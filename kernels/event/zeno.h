// Zeno accumulations: infinitely many shocks within a finite time are completed by their limit (requirement
// 5). src/reference/motion_accumulation.cpp is the reference, function by function.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/dynamics/density.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/shock.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/event/contacts.h"
#include "kernels/record/event_log.h"

namespace zwang {

// The time at which the hops of one contact end, estimated from the hop that begins now: it lasts 2|f'|/f'',
// and each later one e times as long as the one before. Speeds are known more exactly than the times between
// shocks, so this is better than extrapolating those, which remains where f' and f'' describe no hop.
template <class M>
ZWANG_DEVICE typename M::Real limit_of_hops(const M& me, int contact, typename M::Real f_rate,
                                            typename M::Real second) {
  const auto e = M::Model::restitution(me.k, contact);
  if (!(f_rate < 0 && second > 0 && e < 1)) return limit_of_sequence(me);
  return me.motion.t - 2 * f_rate / (second * (1 - e));
}

// Contacts that separate, but whose hop is too low or too short to be followed.
template <class M>
struct UnresolvedHops {
  int count = 0;
  typename M::Set contacts;
  typename M::Real limit;  // when their accumulation ends
};
// The rule is that of hop_is_resolved() (event/contact_rules.h), here with the divisions of its derivation.
template <class M>
ZWANG_DEVICE UnresolvedHops<M> find_unresolved_hops(const M& me, const typename M::Set& touching,
                                                    int released, const typename M::Real* accelerations,
                                                    const Zero<typename M::Real>* zeros) {
  using Real = typename M::Real;
  UnresolvedHops<M> hops;
  hops.limit = limit_of_sequence(me);
  for (int i = 0; i < M::r; ++i) {
    if (me.constraints.conditions[i].standing != Standing::open || !touching.has(i) || i == released)
      continue;
    if (!M::Model::is_holonomic(i)) continue;
    Real f_rate, second, size;
    second_rate<M>(me.k, me.motion, i, accelerations, f_rate, second, size);
    if (!(f_rate < 0 && second > 0)) continue;
    const Real height = f_rate * f_rate / (2 * second), duration = -2 * f_rate / second;
    if (height <= 4 * zeros[i].value || duration <= 16 * me.motion.rounding_of_time()) {
      hops.contacts.add(i);
      if (++hops.count == 1) hops.limit = limit_of_hops(me, i, f_rate, second);
    }
  }
  if (hops.count > 1) hops.limit = limit_of_sequence(me);
  return hops;
}

// Completes an accumulation of the given contacts, whose limit time is `limit`: the limit velocity is the
// projection onto f' = 0 for all of them. Changes velocities, rounding sizes, lost energy, density and audit;
// the event becomes pending, because its time lies a little ahead. The closed set is left to
// update_active_set().
template <class M>
ZWANG_COLD void complete_accumulation(M& me, typename M::Set contacts, typename M::Real limit) {
  using Real = typename M::Real;
  // Closed contacts take part in the limit. Those that closed because they were struck just now belong to the
  // sequence.
  typename M::Set resting, accumulating = contacts;
  const typename M::Set latest = me.accumulation.latest();
  for (int i = 0; i < M::r; ++i)
    if (me.constraints.conditions[i].standing == Standing::closed && M::Model::is_holonomic(i)) {
      resting.add(i);
      if (latest.has(i)) accumulating.add(i);
    }
  contacts = accumulating;
  contacts.add(resting);
  me.candidates.add(contacts);  // wherever they are now, they meet at the limit
  ShockSetting<M> setting{me, {}, {}, {}, {}};
  add_shock_participants(me.constraints, {}, setting);
  setting.contacts = contacts;
  // Velocity limits that are closed at the end of the sequence stay closed in its limit. Otherwise they would
  // open by the small speeds that are left of the hops and close again at once: a moment with other forces,
  // whose length depends on accumulation_gap.
  typename M::Set kept;
  for (int i = 0; i < M::r; ++i)
    if (!M::Model::is_holonomic(i) && me.constraints.conditions[i].standing == Standing::closed) kept.add(i);
  ShockResult<M> result;
  completed_shock(setting, kept, result);
  if (result.status == Status::infeasible) {
    result = ShockResult<M>{};
    completed_shock(setting, {}, result);
  }
  if (result.status != Status::ok) {
    me.fail(result.status);
    return;
  }
  typename M::Event event;
  event.t = maximum(me.motion.t, limit);
  event.kind = EventKind::accumulation;
  event.constraints = accumulating;
  event.jump = true;
  event.energy_lost = result.energy_lost;
  for (int i = 0; i < M::r; ++i) event.impulse[i] = 0;
  copy<M::n>(me.motion.v(), event.before);
  copy<M::n>(result.v, event.after);
  const Real energy_before = energy_of<M>(me.k, me.motion);
  copy<M::n>(result.v, me.motion.v());
  for (int i = 0; i < M::n; ++i) me.sizes.v[i] = maximum(me.sizes.v[i], result.pushed[i]);
  lose_density<M>(me.motion);
  me.energy.lost += energy_before - energy_of<M>(me.k, me.motion);
  me.audit.raise(audit_kkt, result.kkt);
  flush_accumulation(me);
  me.accumulation.forget();
  me.progress.accumulation_pending = true;
  me.schedule.accumulation = event;
}

}  // namespace zwang
