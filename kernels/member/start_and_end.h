// The start and the end of a member: from the inputs of the batch to a state that can be integrated, and from
// the last state to the results of the batch.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/linear_algebra.h"
#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/dynamics/audit.h"
#include "kernels/dynamics/member.h"
#include "kernels/dynamics/rounding.h"
#include "kernels/dynamics/smooth_motion.h"
#include "kernels/event/initial_active_set.h"
#include "kernels/event/instant_events.h"
#include "kernels/integrator/runge_kutta.h"
#include "kernels/record/event_log.h"
#include "kernels/record/measures.h"
#include "kernels/record/member_records.h"
#include "kernels/record/output_rows.h"

namespace zwang {

// The length of a first step: as long as the error of the method allows if the motion continues with its
// first and second derivatives (Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, section
// II.4).
template <class M, class Real, class Rates>
ZWANG_INLINE Real first_step(Real t, const Real* y, Real span, Real rtol, Real atol, const Real* rate,
                             const Rates& rates) {
  Real size = 0, speed = 0, share[M::error_controlled];
  ZWANG_REGISTERS for (int i = 0; i < M::error_controlled; ++i) {
    share[i] = rough_inverse(atol + rtol * absolute(y[i]));
    size = maximum(size, absolute(y[i]) * share[i]);
    speed = maximum(speed, absolute(rate[i]) * share[i]);
  }
  if (!(speed > 0) || !(size > 0)) return Real(1e-3) * span;
  // A state that rests at zero has neither size nor speed but rounding: then their ratio means nothing.
  const Real least = maximum(Real(1e-8) * span, 1600 * Precision<Real>::epsilon * absolute(t));
  const Real h0 = minimum(span, maximum(least, Real(0.01) * size / speed));
  Real ahead[M::size], next[M::size];
  ZWANG_REGISTERS for (int i = 0; i < M::size; ++i) { ahead[i] = y[i] + h0 * rate[i]; }
  rates(t + h0, ahead, next);
  Real bend = 0;
  ZWANG_REGISTERS for (int i = 0; i < M::error_controlled; ++i) {
    bend = maximum(bend, absolute(next[i] - rate[i]) * share[i]);
  }
  bend /= h0;
  if (!is_finite(bend)) return h0;
  // The eighth root, or nearly the fifth.
  const Real steepness = square(100 * maximum(speed, bend));
  const Real root = M::Method::last == Dop853::last ? rough_16th(steepness) : rough_3_32nds(steepness);
  const Real h1 = Real(3) * root;
  return minimum(minimum(100 * h0, h1), span);
}

// A function of its own, apart from that which computes `rate`: with both in one, NVRTC 13.0 takes `rate` for
// undefined.
template <class M, class Rates>
ZWANG_COLD typename M::Real first_step_from(const M& me, const typename M::Real* rate, const Rates& rates) {
  return first_step<M>(me.motion.t, me.motion.y, me.input.end - me.motion.t, me.input.rtol, me.input.atol,
                       rate, rates);
}

template <class M>
ZWANG_COLD typename M::Real initial_step(const M& me) {
  using Real = typename M::Real;
  const auto rates = [&](Real t, const Real* y, Real* rate) {
    Real lambda[M::rows];
    member_right_side<M>(me.k, me.constraints, t, y, rate, lambda);
  };
  Real rate[M::size];
  rates(me.motion.t, me.motion.y, rate);
  return first_step_from(me, rate, rates);
}

// Gives every field of a member its first value, but for k and the state.
template <class M>
ZWANG_COLD void reset_member(M& me, const KernelSettings& settings, const KernelBatch& batch,
                             long long number) {
  using Real = typename M::Real;
  me.input.settings = &settings;
  me.input.batch = &batch;
  me.input.number = number;
  me.input.rtol = Real(settings.rtol);
  me.input.atol = Real(settings.atol);
  me.input.contact_tolerance = within_precision<Real>(settings.contact_tolerance);
  me.input.rest_speed = within_precision<Real>(settings.rest_speed);
  me.input.end = Real(settings.end);
  me.motion.t = 0;
  me.motion.h = 0;
  for (int i = 0; i < M::size; ++i) me.motion.y[i] = 0;
  me.constraints.any_held = me.constraints.redundant = me.constraints.ever_redundant = false;
  me.constraints.near_dependence = false;
  if constexpr (may_become_dependent<typename M::Model>) me.dependence.rank = -1;
  for (int i = 0; i < M::r; ++i) {
    me.constraints.conditions[i] = Condition<Real>{};
    me.constraints.held[i] = 0;
  }
  me.candidates.clear();
  for (int i = 0; i < M::r; ++i) me.candidates.add(i);
  me.progress = {Status::ok, false, false};
  me.schedule.done_until = -infinity<Real>();
  me.schedule.remainder.unknown = false;
  me.schedule.remainder.begin = -infinity<Real>();
  if constexpr (ModesOf<typename M::Model>::any)
    me.schedule.ahead.counts = me.schedule.ahead.averages = false;
  me.accumulation.forget();
  me.next_output = 0;
  me.energy.lost = 0;
  me.steps = {0, 0};
  me.tally = {};
  me.tally.last_time = missing<Real>();
  for (int i = 0; i < event_kinds; ++i) me.event_counts[i] = 0;
  for (int i = 0; i < audit_numbers; ++i) me.audit.worst[i] = 0;
  for (int i = 0; i < M::Model::watches; ++i) me.watch_signs[i] = 0;
  me.exchange.step.no_search_from = -infinity<Real>();
  me.exchange.verdict = {};
  clear_measures<typename M::Model>(me.results, me.initial);
  if constexpr (M::has_refined)
    for (int m = 0; m < M::reductions; ++m) me.refined.extremes[m] = missing<Real>();
}

// Coefficients of friction and bounds outside their range, as draws may be.
template <class M>
ZWANG_COLD void check_coefficients([[maybe_unused]] M& me) {
  using Model = typename M::Model;
  if constexpr (ModesOf<Model>::any) {
    const typename M::Motion& motion = me.motion;
    const auto at = [&](auto function, int i) {
      return function(me.k, motion.t, motion.q(), motion.v(), motion.z(), i);
    };
    using Real = typename M::Real;
    for (int f = 0; f < Model::frictions; ++f) {
      const Real mu = at(Model::template cone<Real>, f), still = at(Model::template cone_static<Real>, f),
                 e = at(Model::template tangential_restitution<Real>, f);
      if (!(mu >= 0 && still >= mu && e >= 0 && e <= 1)) me.fail(Status::inconsistent_start);
    }
    for (int b = 0; b < Model::bounds; ++b)
      if (!(at(Model::template limit<Real>, b) > 0) || !(at(Model::template impulse_limit<Real>, b) >= 0))
        me.fail(Status::inconsistent_start);
    if constexpr (LinkLimitsOf<Model>::count > 0)
      for (int l = 0; l < Model::link_limits; ++l)
        if (!(at(Model::template link_limit<Real>, l) > 0)) me.fail(Status::inconsistent_start);
  }
}

// From the inputs of the batch to a member whose active set is known. False: it has failed or ended already.
template <class M>
ZWANG_COLD bool begin_member(M& me, const KernelSettings& settings, const KernelBatch& batch,
                             long long number) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  typename M::Motion& motion = me.motion;
  reset_member(me, settings, batch, number);
  Real p[at_least_one(Model::parameters)];
  for (int i = 0; i < Model::parameters; ++i) p[i] = Real(batch.parameters[number * Model::parameters + i]);
  Model::make_constants(p, me.k);
  for (int i = 0; i < Model::branches; ++i) me.k[Model::constants - 1 - i] = 0;
  if constexpr (ModesOf<Model>::any)
    for (int i = 0; i < Model::modes; ++i) me.k[Model::first_mode + i] = 0;
  for (int i = 0; i < M::fed_back; ++i) motion.y[i] = Real(batch.starts[number * M::fed_back + i]);
  measure_sizes<M>(me.k, motion, motion.y, motion.y, Real(0), me.sizes);
  me.energy.start = energy_of<M>(me.k, motion);
  me.fail(Status(batch.prepared ? batch.prepared[number] : 0));
  if (!me.going()) return false;
  begin_records(me);
  for (int i = 0; i < M::r; ++i) {
    const Real e = Model::restitution(me.k, i), from = Model::from(me.k, i), until = Model::until(me.k, i);
    if (!(e >= 0 && e <= 1) || !(Model::radius(me.k, motion.t, motion.q(), motion.v(), motion.z(), i) > 0))
      me.fail(Status::inconsistent_start);
    if (from < 0 && until > 0 && !is_slip_row<Model>(i))
      me.constraints.conditions[i].standing = Model::is_equation(i) ? Standing::equation : Standing::open;
  }
  check_coefficients(me);
  if (!all_finite<M::size>(motion.y) || !is_finite(me.energy.start)) me.fail(Status::not_finite);
  if (!me.going()) return false;
  if (!try_initial_active_set(me)) apply_scheduled_events(me, true);
  if (!me.going()) return false;
  begin_measures(me);
  audit_energy<M>(me.k, motion, me.energy, me.audit);
  emit_output_now(me);
  update_watch_signs(me);
  me.progress.finished = !(motion.t < me.input.end - motion.rounding_of_time());
  return me.going();
}

// Writes the results of a member into the batch. `begun`: begin_member() came to its end.
template <class M>
ZWANG_COLD void finish_member(M& me, bool begun) {
  using Model = typename M::Model;
  flush_accumulation(me);
  if constexpr (M::has_refined) update_extremes<Model>(me.refined.extremes, me.results);
  finish_measures(me, begun);
  judge_member(me);
  const KernelBatch& batch = *me.input.batch;
  const long long number = me.input.number;
  batch.status[number] = int(me.progress.status);
  batch.end_time[number] = double(me.motion.t);
  for (int i = 0; i < M::fed_back; ++i) batch.end_state[number * M::fed_back + i] = double(me.motion.y[i]);
  if constexpr (Model::member_values > 0) {
    // In double precision, whatever the precision of the motion: a condition compares with the parameter
    // drawn.
    double results[M::reductions];
    for (int i = 0; i < Model::reductions; ++i) results[i] = double(me.results[i]);
    Model::combine_reductions(batch.parameters + number * Model::parameters, results,
                              batch.measures + number * Model::member_values);
  }
  batch.steps[2 * number] = me.steps.taken;
  batch.steps[2 * number + 1] = me.steps.rejected;
  for (int i = 0; i < event_kinds; ++i) batch.event_counts[number * event_kinds + i] = me.event_counts[i];
  for (int i = 0; i < audit_numbers; ++i)
    batch.audits[number * audit_numbers + i] = double(me.audit.worst[i]);
  batch.redundant[number] = me.constraints.ever_redundant;
}

}  // namespace zwang
