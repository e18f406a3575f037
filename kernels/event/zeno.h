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
  typename M::Real landing[M::rows];  // when the hop that begins now ends
  typename M::Real ends[M::rows];     // when all hops of that contact end
};
// The rule is that of hop_is_resolved() (event/contact_rules.h), here with the divisions of its derivation.
template <class M>
ZWANG_DEVICE UnresolvedHops<M> find_unresolved_hops(const M& me, const typename M::Set& touching,
                                                    int released, const typename M::Real* accelerations,
                                                    const Zero<typename M::Real>* zeros) {
  using Real = typename M::Real;
  UnresolvedHops<M> hops;
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
      hops.landing[i] = me.motion.t + duration;
      hops.ends[i] = limit_of_hops(me, i, f_rate, second);
      ++hops.count;
    }
  }
  return hops;
}

// The last cycle of a sequence, from one shock to the next. The rest of the sequence repeats it.
template <class M>
ZWANG_COLD typename M::Phases phases_of_cycle(const M& me, const typename M::Accumulation::Sequence& of) {
  typename M::Phases phases;
  if constexpr (M::inequalities() <= 1) {
    typename M::Set equations;
    for (int i = 0; i < M::r; ++i)
      if (me.constraints.conditions[i].standing == Standing::equation) equations.add(i);
    phases.add(1, equations);
  } else {
    for (int ago = 0; ago < of.period; ++ago)
      phases.add(me.accumulation.share_of_cycle(of, ago),
                 me.held_before.sets[M::Accumulation::index_in(of, ago)]);
  }
  return phases;
}

// Whether all conditions of a cycle but those of `hops` are closed.
template <class M>
ZWANG_COLD bool others_rest(const M& me, const typename M::Set& cycle, const typename M::Set& hops) {
  bool rest = true;
  for (int i = 0; i < M::r; ++i)
    rest =
        rest && (!cycle.has(i) || hops.has(i) || me.constraints.conditions[i].standing == Standing::closed);
  return rest;
}

// The sequence that continues with a shock of `contact` at the time `landing`, if the shocks since its last
// one repeat those before: then the ratio of these two cycles is that of all further ones. The other conditions of the
// cycle have to be closed: one that hops on is struck again before the limit, and the contact has come to rest by then.
// Writes the limit and the phases until then; false where there is none.
template <class M>
ZWANG_COLD bool continue_cycle(const M& me, int contact, typename M::Real landing, typename M::Real& limit,
                               typename M::Phases& phases) {
  using Real = typename M::Real;
  if constexpr (M::inequalities() > 1) {
    const auto& watch = me.accumulation;
    constexpr int longest = M::Accumulation::longest_cycle;
    int period = 1;
    while (2 * period <= watch.count && period <= longest &&
           !watch.reached[watch.index_of(period - 1)].has(contact))
      ++period;
    if (period < 2 || period > longest || 2 * period > watch.count) return false;
    for (int k = 0; k < period; ++k)
      if (!(watch.reached[watch.index_of(k)] == watch.reached[watch.index_of(k + period)])) return false;
    if constexpr (ModesOf<typename M::Model>::any) {
      typename M::Set hop;
      hop.add(contact);
      for (int k = 0; k < period; ++k)
        if (!others_rest(me, watch.reached[watch.index_of(k)], hop)) return false;
    }
    const auto time = [&](int ago) { return watch.time[watch.index_of(ago)]; };
    const Real now = me.motion.t, d1 = landing - time(period - 1),
               d2 = time(period - 1) - time(2 * period - 1);
    if (!(landing > now && d1 < d2)) return false;
    const typename M::Set held = held_now<M>(me.constraints);
    const Real r = d1 / d2, later = d1 * r / (1 - r), whole = landing - now + later;
    const Real share = later / (d1 * whole);
    limit = landing + later;
    phases.add((landing - now) / whole, held);
    phases.add(share * (landing - time(0)), held);
    for (int k = 0; k + 1 < period; ++k)
      phases.add(share * (time(k) - time(k + 1)), me.held_before.sets[watch.index_of(k)]);
    return true;
  }
  return false;
}

// [friction-14] The tangential impulse of the hops, with the first slip row of its contact: cone times the normal one
// while the contact slips, what the rows of a sticking contact transfer otherwise.
template <class M, class Real>
ZWANG_DEVICE void list_friction_of_hops(const M& me, Real* totals) {
  using Model = typename M::Model;
  const typename M::Motion& motion = me.motion;
  for (int f = 0; f < Model::frictions; ++f) {
    Real squares = 0;
    for (int c = 0; c < Model::friction_rows(f); ++c) {
      squares += square(totals[Model::friction_row(f) + c]);
      totals[Model::friction_row(f) + c] = 0;
    }
    // A contact with a limit bears impulses without friction [limit-4].
    if (Model::bound_of(Model::friction_contact(f)) >= 0) continue;
    const bool slips = !(me.constraints.held[Model::friction_row(f)] > 0);
    const Real cone = Model::cone(me.k, motion.t, motion.q(), motion.v(), motion.z(), f);
    totals[Model::friction_row(f)] = slips ? cone * totals[Model::friction_contact(f)] : Real(sqrt(squares));
  }
}

// What a motion that keeps all conditions closed for the time `duration` from now lacks of the one with the phases of the
// remainder: in rates, times that time, and in what multipliers transfer. Forces in the middle of the time stand for their
// means. False where they are not finite.
template <class M>
ZWANG_COLD bool compare_phases(const M& me, typename M::Real duration, typename M::Real* rates,
                               typename M::Real* transferred) {
  using Real = typename M::Real;
  const typename M::Remainder& rest = me.schedule.remainder;
  const typename M::Motion& motion = me.motion;
  Real middle = motion.t, there[M::size];
  copy<M::size>(motion.y, there);
  Real closed_rate[M::size], closed_lambda[M::rows], rate[M::size], lambda[M::rows];
  const auto evaluate = [&](const typename M::Constraints& constraints, Real* rate_of, Real* lambda_of) {
    member_right_side<M>(me.k, constraints, middle, there, rate_of, lambda_of);
    if (constraints.redundant) multipliers_at<M>(me.k, constraints, middle, there, lambda_of);
    return all_finite<M::size>(rate_of) && all_finite<M::r>(lambda_of);
  };
  bool valid = evaluate(me.constraints, rate, lambda);
  middle += duration / 2;
  add_multiple<M::size>(duration / 2, rate, there);
  valid = valid && evaluate(me.constraints, closed_rate, closed_lambda);
  for (int i = 0; i < M::size; ++i) rates[i] = 0;
  for (int i = 0; i < M::r; ++i) transferred[i] = 0;
  for (int phase = 0; phase < rest.phases.count && valid; ++phase) {
    typename M::Constraints then = me.constraints;
    then.any_held = false;
    for (int i = 0; i < M::r; ++i) {
      const bool holds = rest.phases.held[phase].has(i) && then.in_force(i);
      then.held[i] = holds ? 1 : 0;
      then.any_held = then.any_held || holds;
    }
    valid = evaluate(then, rate, lambda);
    const Real part = duration * rest.phases.share[phase];
    for (int i = 0; i < M::size; ++i) rates[i] += part * (rate[i] - closed_rate[i]);
    for (int i = 0; i < M::r; ++i) transferred[i] += part * (closed_lambda[i] - lambda[i]);
  }
  if (!valid) return false;
  // A force that differs by rounding alone leaves no impulse.
  for (int i = 0; i < M::r; ++i) {
    const Real rounding = 100 * Precision<Real>::tie * duration * absolute(closed_lambda[i]);
    if (!(absolute(transferred[i]) > rounding)) transferred[i] = 0;
  }
  return true;
}

// Lists the impulses of the shocks that the pending accumulation stands for; `transferred` by the closed phase.
template <class M, class Real>
ZWANG_COLD void list_impulses_of_hops(M& me, const Real* transferred) {
  const typename M::Motion& motion = me.motion;
  typename M::Event& event = me.schedule.accumulation;
  // An inequality only pushes.
  Real totals[M::rows];
  for (int i = 0; i < M::r; ++i) {
    totals[i] = me.schedule.remainder.multipliers[i] + transferred[i];
    if (me.constraints.conditions[i].standing != Standing::equation) totals[i] = maximum(totals[i], Real(0));
  }
  if constexpr (ModesOf<typename M::Model>::any) list_friction_of_hops(me, totals);
  for (int i = 0; i < M::r; ++i) {
    if (totals[i] == 0) continue;
    event.reached.add(i);
    event.impulse[i] = totals[i] * M::Model::reach(me.k, motion.t, motion.q(), motion.v(), motion.z(), i);
  }
}

// [friction-14] [limit-4] Contacts that break bear their impulses without friction: until the limit they rub in the phases
// only, and the projection gives back nothing of what the closed phase rubs. So the velocities at the limit are those before
// the projection, with what the phases change more than the closed phase does, projected with the impulses of the hops.
template <class M>
ZWANG_COLD void leave_hops_without_friction(M& me, const typename M::Real* rates,
                                            const typename M::Real* transferred) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  constexpr int n = M::n;
  typename M::Event& event = me.schedule.accumulation;
  bool any = false;
  for (int f = 0; f < Model::frictions; ++f) {
    const int contact = Model::friction_contact(f);
    if (Model::bound_of(contact) < 0 || transferred[contact] == 0) continue;
    for (int c = 0; c < Model::friction_rows(f); ++c)
      any = any || me.k[Model::first_mode + Model::friction_mode(f) + c] != 0;
  }
  // Where another accumulation has been completed since, the velocities are those of its limit.
  for (int i = 0; i < n; ++i) any = any && me.motion.v()[i] == event.after[i];
  if (!any) return;
  // The conditions of complete_accumulation(), which are closed by now.
  ShockSetting<M> setting{me, {}, {}, {}, {}};
  add_shock_participants(me.constraints, {}, setting);
  setting.contacts = event.constraints;
  typename M::Set kept;
  for (int i = 0; i < M::r; ++i)
    if (me.constraints.conditions[i].standing == Standing::closed)
      (Model::is_holonomic(i) ? setting.contacts : kept).add(i);
  const Real energy = energy_of<M>(me.k, me.motion);
  for (int i = 0; i < n; ++i) me.motion.v()[i] = event.before[i] + rates[n + i];
  ShockResult<M> result;
  completed_shock(setting, kept, result);
  if (result.status == Status::infeasible) {
    result = ShockResult<M>{};
    completed_shock(setting, {}, result);
  }
  copy<n>(result.status == Status::ok ? result.v : event.after, me.motion.v());
  if (result.status != Status::ok) return;
  copy<n>(result.v, event.after);
  const Real lost = energy - energy_of<M>(me.k, me.motion);
  me.energy.lost += lost;
  event.energy_lost += lost;
  for (int i = 0; i < M::r; ++i)
    me.schedule.remainder.multipliers[i] =
        (result.struck.has(i) ? result.impulses[i] : Real(0)) - transferred[i];
}

// The shocks that a completed accumulation stands for: the sum of their impulses, and what the time until the
// limit adds to integrals. Changes those and the pending event; the velocities too, where contacts rub that break.
//
// Let tau be that time. The motion of the record is projected at once, M (v* - v) = -A^T l, and keeps all
// conditions closed until the limit; their multipliers transfer tau lambda. In the motion it stands for,
// shocks of impulses J alternate with phases in which other sets hold, whose multipliers transfer tau mu, the
// mean over the phases. Both reach the same velocities, and the other forces transfer the same up to tau^2,
// hence
//   J = l + tau (lambda - mu),
// for dependent rows with multipliers of least norm. Integrals of functions that depend on the closed set, and the
// energies that friction dissipates, are corrected by the same means; the work is not, because the energy audit is about
// the recorded motion.
template <class M>
ZWANG_COLD void describe_remainder(M& me) {
  using Real = typename M::Real;
  typename M::Remainder& rest = me.schedule.remainder;
  if (!rest.unknown) return;
  rest.unknown = false;
  if constexpr (ModesOf<typename M::Model>::any) me.schedule.ahead.counts = false;
  typename M::Motion& motion = me.motion;
  Real rates[M::size], transferred[M::rows];
  if (!compare_phases(me, rest.time, rates, transferred)) return;
  // Integrals, and the auxiliary states among which the dissipated energies are; those without forces do not differ.
  for (int i = 2 * M::n; i < M::error_controlled; ++i) motion.y[i] += rates[i];

  if constexpr (ModesOf<typename M::Model>::any) leave_hops_without_friction(me, rates, transferred);

  // What friction does not dissipate between the shocks left out is lost in them.
  typename M::Event& event = me.schedule.accumulation;
  for (int i = 2 * M::n; i < M::fed_back; ++i) event.energy_lost -= rates[i];
  list_impulses_of_hops(me, transferred);

  if constexpr (ModesOf<typename M::Model>::any) {
    auto& ahead = me.schedule.ahead;
    ahead.counts = true;
    ahead.interrupted = false;
    ahead.averages = me.progress.accumulation_pending;
    ahead.from = motion.t;
    ahead.limit = motion.t + rest.time;
    for (int i = 2 * M::n; i < M::error_controlled; ++i) ahead.corrections[i - 2 * M::n] = rates[i];
    copy<M::rows>(transferred, ahead.transferred);
  }
}

// Contacts that break do not do so before the limit of the hops that are left out.
template <class M>
ZWANG_COLD void note_hopping(M& me, const typename M::Event& accumulation) {
  using Model = typename M::Model;
  auto& ahead = me.schedule.ahead;
  for (int b = 0; b < Model::bounds; ++b) {
    if (!(me.schedule.remainder.begin >= 0)) ahead.hops_end[b] = 0;
    if (Model::bound_breaks(b) && accumulation.constraints.has(Model::bound_condition(b)))
      ahead.hops_end[b] = accumulation.t;
  }
}

// Completes an accumulation of the given contacts, whose limit time is `limit`: the limit velocity is the
// projection onto f' = 0 for all of them. `phases` describe the time until then. Changes velocities, rounding
// sizes, lost energy, density and audit; the event becomes pending, because its time lies a little ahead. The
// closed set is left to update_active_set(), and the impulses of the event to describe_remainder().
template <class M>
ZWANG_COLD void complete_accumulation(M& me, typename M::Set contacts, typename M::Real limit,
                                      typename M::Phases phases) {
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
  // What was completed at this instant already is closed during the rest of this one.
  typename M::Remainder& rest = me.schedule.remainder;
  describe_remainder(me);
  if (me.progress.accumulation_pending && rest.begin == me.motion.t)
    for (int phase = 0; phase < phases.count; ++phase)
      phases.held[phase].add(me.schedule.accumulation.constraints);
  flush_accumulation(me);
  me.accumulation.forget();
  me.progress.accumulation_pending = true;
  if constexpr (ModesOf<typename M::Model>::any) {
    forget_averaged_extremes(me);
    note_hopping(me, event);
    me.schedule.ahead.interrupted = false;
    copy<M::reductions>(me.results, me.schedule.ahead.results);
  }
  me.schedule.accumulation = event;
  rest.unknown = true;
  rest.begin = me.motion.t;
  rest.time = event.t - me.motion.t;
  rest.phases = phases;
  for (int i = 0; i < M::r; ++i) rest.multipliers[i] = result.struck.has(i) ? result.impulses[i] : Real(0);
}

// Completes hops too low or too short to be followed. As part of a sequence of several conditions they end
// with it, unless another one hops on; otherwise each contact hops by itself until its own limit.
template <class M>
ZWANG_COLD void complete_hops(M& me, const UnresolvedHops<M>& hops) {
  using Real = typename M::Real;
  const auto& sequence = me.accumulation.sequence;
  bool in_sequence = sequence.found && sequence.conditions.size() > 1 && sequence.limit > me.motion.t;
  if constexpr (ModesOf<typename M::Model>::any)
    in_sequence = in_sequence && others_rest(me, sequence.conditions, hops.contacts);
  Real limit = me.motion.t;
  typename M::Phases phases;
  for (int i = 0; i < M::r; ++i) {
    if (!hops.contacts.has(i)) continue;
    if (hops.count == 1 && continue_cycle(me, i, hops.landing[i], limit, phases)) {
      complete_accumulation(me, hops.contacts, limit, phases);
      return;
    }
    in_sequence = in_sequence && sequence.conditions.has(i);
    limit = maximum(limit, hops.ends[i]);
  }
  if (in_sequence) {
    complete_accumulation(me, hops.contacts, sequence.limit, phases_of_cycle(me, sequence));
    return;
  }
  // In the order of their ends; more phases than are stored count as the last of them.
  typename M::Set held = held_now<M>(me.constraints);
  const Real duration = limit - me.motion.t;
  Real begin = me.motion.t;
  while (begin < limit && phases.count < M::Phases::most) {
    Real end = limit;
    for (int i = 0; i < M::r; ++i)
      if (hops.contacts.has(i) && hops.ends[i] > begin) end = minimum(end, hops.ends[i]);
    if (phases.count + 1 == M::Phases::most) end = limit;
    for (int i = 0; i < M::r; ++i)
      if (hops.contacts.has(i) && hops.ends[i] <= begin) held.add(i);
    phases.add((end - begin) / duration, held);
    begin = end;
  }
  complete_accumulation(me, hops.contacts, limit, phases);
}

}  // namespace zwang
