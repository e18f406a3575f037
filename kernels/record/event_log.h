// The log of a member's events, their counts, and the limits on them.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/dynamics/member.h"
#include "kernels/record/measures.h"
#include "kernels/record/member_records.h"

namespace zwang {

// More events than this at one instant mean that the motion makes no progress.
constexpr int standstill_limit = 1000;

// Counts an event at the time t, listed or not. True: too many have come at this instant.
template <class Real>
ZWANG_INLINE bool repeats_without_end(Tally<Real>& tally, Real t) {
  tally.at_last_time = t == tally.last_time ? tally.at_last_time + 1 : 1;
  tally.last_time = t;
  return tally.at_last_time > standstill_limit;
}

// Writes an event to the log and updates tally, counts and measures; fails the member where a limit is
// passed. `me` may be a copy of the member's front (MemberCore) in shared memory: its results and progress
// are written. Number and counts are those of `full_member`. y and v: the state after the event, of whose
// velocities v counts. `tally` is the member's, or a copy of it in
// registers.
template <class M>
ZWANG_INLINE void append_event(M& me, M& full_member, Tally<typename M::Real>& tally,
                               const typename M::Event& event, const KernelSettings& settings,
                               const KernelBatch& batch, const typename M::Real* y,
                               const typename M::Real* v) {
  update_event_measures(me, event);
  if constexpr (RecordsOf<typename M::Model>::at_events)
    write_event_records(me, full_member.input.number, event, batch);
  if (batch.events && tally.events < batch.event_capacity) {
    constexpr int row = event_row_length(M::n, M::r, M::nz);
    double* to = batch.events + (full_member.input.number * batch.event_capacity + tally.events) * row;
    *to++ = double(event.t);
    *to++ = double(int(event.kind));
    *to++ = double(event.watch);
    *to++ = double(event.energy_lost);
    *to++ = event.jump ? 1 : 0;
    ZWANG_REGISTERS for (int i = 0; i < M::r; ++i) { *to++ = event.constraints.has(i) ? 1 : 0; }
    ZWANG_REGISTERS for (int i = 0; i < M::r; ++i) { *to++ = event.reached.has(i) ? 1 : 0; }
    ZWANG_REGISTERS for (int i = 0; i < M::r; ++i) { *to++ = event.jump ? double(event.impulse[i]) : 0; }
    ZWANG_REGISTERS for (int i = 0; i < M::n; ++i) { *to++ = event.jump ? double(event.before[i]) : 0; }
    ZWANG_REGISTERS for (int i = 0; i < M::n; ++i) { *to++ = event.jump ? double(event.after[i]) : 0; }
    ZWANG_REGISTERS for (int i = 0; i < M::n; ++i) { *to++ = double(y[i]); }
    ZWANG_REGISTERS for (int i = 0; i < M::n; ++i) { *to++ = double(v[i]); }
    ZWANG_REGISTERS for (int i = 0; i < M::nz; ++i) { *to++ = double(y[2 * M::n + i]); }
  }
  ++tally.events;
  increment(full_member.event_counts[int(event.kind)]);
  if (repeats_without_end(tally, event.t)) me.fail(Status::event_lost);
  if (tally.events > settings.max_events) me.fail(Status::event_limit);
}

// Logs an event at the member's present state, whose measures count as well.
template <class M>
ZWANG_COLD void record_event_now(M& me, const typename M::Event& event) {
  update_extremes_now(me);
  append_event(me, me, me.tally, event, *me.input.settings, *me.input.batch, me.motion.y, me.motion.v());
}

// Extremes of forces since the completion of an accumulation do not count: until its limit these are means over hops.
template <class M>
ZWANG_COLD void forget_averaged_extremes(M& me) {
  using Model = typename M::Model;
  auto& ahead = me.schedule.ahead;
  if (!ahead.averages) return;
  ahead.averages = false;
  for (int m = 0; m < Model::reductions; ++m) {
    bool averaged = false;
    for (int i = 0; i < M::r && is_extreme<Model>(m); ++i)
      averaged = averaged || (ahead.transferred[i] != 0 && Model::reads_force(m * M::r + i));
    if (averaged) me.results[m] = ahead.results[m];
  }
}

// Logs the accumulation that is pending, if any: at its limit time, or now if something else comes before
// that. `overloaded`: at the limit something breaks, and the forces there have never acted.
template <class M>
ZWANG_COLD void flush_accumulation(M& me, [[maybe_unused]] bool overloaded = false) {
  if (!me.progress.accumulation_pending) return;
  typename M::Event& event = me.schedule.accumulation;
  me.progress.accumulation_pending = false;
  // At the limit itself the forces are those of the motion.
  if constexpr (ModesOf<typename M::Model>::any)
    if (!overloaded && !(me.motion.t < event.t - me.motion.rounding_of_time())) forget_averaged_extremes(me);
  event.t = minimum(event.t, me.motion.t);
  record_event_now(me, event);
  if constexpr (ModesOf<typename M::Model>::any)
    if (!me.schedule.ahead.interrupted) forget_averaged_extremes(me);
}

// Logs an event after the accumulation that is pending, if any.
template <class M>
ZWANG_DEVICE void record_event(M& me, const typename M::Event& event) {
  flush_accumulation(me);
  record_event_now(me, event);
}

}  // namespace zwang
