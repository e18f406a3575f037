// Records: states of a member at events or at the times of a period ([[record]] of a study), each with its
// values, and reductions over them. The reference is src/reference/records.cpp.
//
// The records of a member are numbers in KernelBatch::records. For each record: how often it has occurred, how
// many of the occurrences since `from` count (below zero while `skip` lasts), then `most` rows of the time, the
// number of the occurrence and the values. With keep = "last" the rows are a ring.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/base/status.h"
#include "kernels/dynamics/member.h"
#include "kernels/record/event_pattern.h"
#include "kernels/record/forces.h"

namespace zwang {

// The numbers of record i of a member.
template <class M>
ZWANG_INLINE double* record_of(const KernelBatch& batch, long long number, int i) {
  return batch.records + number * M::Model::record_room + M::Model::record_offset(i);
}

// Counts an occurrence. Null: it is not kept; otherwise the row to fill.
template <class M>
ZWANG_DEVICE double* next_record_row(double* record, int i) {
  using Model = typename M::Model;
  const double counted = record[1];
  record[1] = counted + 1;
  if (counted < 0) return nullptr;
  const double most = double(Model::record_most(i));
  double slot = counted;
  if (counted >= most) {
    if (!Model::record_keeps_last(i)) return nullptr;
    slot = counted - most * double((long long)(counted / most));
  }
  return record + record_head + (long long)(slot)*record_row_length(Model::record_values(i));
}

// Fills a row: the values of record i at the state y.
template <class M, class Core, class Real>
ZWANG_COLD void fill_record_row(const Core& me, int i, Real t, double occurrence, const Real* y,
                                double* row) {
  using Model = typename M::Model;
  Real lambda[M::rows], values[at_least_one(Model::recorded_values)];
  if constexpr (Model::records_forces)
    forces_at<M>(me.k, me.constraints, t, y, lambda);
  else
    for (int c = 0; c < M::r; ++c) lambda[c] = 0;
  Model::recorded(me.k, t, y, y + M::n, y + 2 * M::n, lambda, me.constraints.held, values);
  row[0] = double(t);
  row[1] = occurrence;
  for (int v = 0; v < Model::record_values(i); ++v)
    row[record_row_head + v] = double(values[Model::record_first_value(i) + v]);
}

// --- At a period -------------------------------------------------------------------------------------------

template <class M>
ZWANG_INLINE bool is_periodic_record(int i) {
  return EventPattern(M::Model::record_pattern(i)) == EventPattern::none;
}

// The time of the occurrence that comes next: a product, never a sum over earlier ones.
template <class M>
ZWANG_DEVICE typename M::Real time_of_record(const M& me, int i) {
  using Real = typename M::Real;
  return Real(me.record_clock.next[i]) * M::Model::record_every(me.k, i) + M::Model::record_phase(me.k, i);
}

// The first of these times over all records; infinity without one.
template <class M>
ZWANG_INLINE typename M::Real next_record_time(const M& me) {
  if constexpr (RecordsOf<typename M::Model>::periodic)
    return me.record_clock.time;
  else
    return infinity<typename M::Real>();
}

template <class M>
ZWANG_DEVICE void set_record_clock(M& me) {
  if constexpr (RecordsOf<typename M::Model>::periodic) {
    using Real = typename M::Real;
    Real first = infinity<Real>();
    for (int i = 0; i < M::Model::records; ++i)
      if (is_periodic_record<M>(i)) first = minimum(first, time_of_record(me, i));
    me.record_clock.time = first;
  }
}

// At the start: nothing is recorded yet. A member whose period is not a positive number fails.
template <class M>
ZWANG_COLD void begin_records(M& me) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  if constexpr (RecordsOf<Model>::count > 0) {
    const KernelBatch& batch = *me.input.batch;
    for (int i = 0; i < Model::records; ++i) {
      double* record = batch.records ? record_of<M>(batch, me.input.number, i) : nullptr;
      if (record) record[0] = 0;
      if (record) record[1] = is_periodic_record<M>(i) ? 0 : -double(Model::record_skip(i));
      if constexpr (RecordsOf<Model>::periodic) {
        if (!is_periodic_record<M>(i)) continue;
        const Real every = Model::record_every(me.k, i), phase = Model::record_phase(me.k, i),
                   from = maximum(Model::record_from(me.k, i), Real(0));
        if (!(every > 0) || !is_finite(every) || !is_finite(phase)) {
          me.fail(Status::not_finite);
          me.record_clock.time = infinity<Real>();
          return;
        }
        // The first time that is not before `from`, but for rounding.
        const Real margin = Precision<Real>::moment * maximum(from, every);
        const Real first = maximum(round_down((from - phase) / every) - 1, Real(0));
        me.record_clock.next[i] = is_finite(first) ? (long long)(first) : (1LL << 60);
        while (time_of_record(me, i) < from - margin) ++me.record_clock.next[i];
        me.record_clock.next[i] += Model::record_skip(i);
      }
    }
    set_record_clock(me);
  }
}

// Records that are due at the time `when`, at the state y.
template <class M, class Real>
ZWANG_COLD void write_periodic_records(M& me, Real when, const Real* y) {
  using Model = typename M::Model;
  if constexpr (RecordsOf<Model>::periodic) {
    for (int i = 0; i < Model::records; ++i) {
      if (!is_periodic_record<M>(i)) continue;
      const Real due = time_of_record(me, i);
      if (!(due <= when)) continue;
      const double occurrence = double(me.record_clock.next[i]++);
      if (!me.input.batch->records) continue;
      double* record = record_of<M>(*me.input.batch, me.input.number, i);
      record[0] = occurrence + 1;
      if (double* row = next_record_row<M>(record, i)) fill_record_row<M>(me, i, due, occurrence, y, row);
    }
    set_record_clock(me);
  }
}

// --- At events ---------------------------------------------------------------------------------------------

// Whether an event is one of those that record i asks for. The shocks that an accumulation stands for are
// not listed.
template <class M>
ZWANG_INLINE bool is_recorded(const typename M::Event& event, int i) {
  const int target = M::Model::record_target(i);
  switch (EventPattern(M::Model::record_pattern(i))) {
    case EventPattern::shock:
      return event.jump && event.kind != EventKind::accumulation && event.constraints.has(target) &&
             event.impulse[target] != 0;
    case EventPattern::contact:
      return (event.kind == EventKind::contact || event.kind == EventKind::touch) &&
             event.constraints.has(target);
    default:
      return is_of_kind(event, EventPattern(M::Model::record_pattern(i)), target);
  }
}

// The member's state is that after the event.
template <class M>
ZWANG_COLD void write_event_records(const M& me, long long number, const typename M::Event& event,
                                    const KernelBatch& batch) {
  using Model = typename M::Model;
  using Real = typename M::Real;
  for (int i = 0; i < Model::records; ++i) {
    if (!is_recorded<M>(event, i) || !batch.records) continue;
    double* record = record_of<M>(batch, number, i);
    const double occurrence = record[0];
    record[0] = occurrence + 1;
    const Real from = Model::record_from(me.k, i);
    if (event.t < from - Precision<Real>::moment * absolute(from)) continue;
    double* row = next_record_row<M>(record, i);
    if (!row) continue;
    Real y[M::size];
    for (int c = 0; c < M::size; ++c) y[c] = me.motion.y[c];
    if (Model::record_before(i) && event.jump)
      for (int c = 0; c < M::n; ++c) y[M::n + c] = event.before[c];
    fill_record_row<M>(me, i, event.t, occurrence, y, row);
  }
}

// --- Reductions --------------------------------------------------------------------------------------------

// The rows of a record in the order of their occurrence.
struct RecordRows {
  const double* first;
  long long count, start, most;
  int length;

  ZWANG_INLINE double at(long long i, int column) const {
    const long long place = start + i < most ? start + i : start + i - most;
    return first[place * length + record_row_head + column];
  }
};
template <class M>
ZWANG_DEVICE RecordRows rows_of_record(const KernelBatch& batch, long long number, int i) {
  using Model = typename M::Model;
  const double* record = record_of<M>(batch, number, i);
  const long long most = Model::record_most(i), total = record[1] > 0 ? (long long)(record[1]) : 0;
  const bool wraps = Model::record_keeps_last(i) && total > most;
  return {record + record_head, total < most ? total : most, wraps ? total % most : 0, most,
          record_row_length(Model::record_values(i))};
}

// The smallest p <= n/3 with |y(i + p) - y(i)| <= tolerance for every i and every value; 0: none.
template <class Rows>
ZWANG_DEVICE double period_of_rows(const Rows& rows, int columns, double tolerance) {
  for (long long p = 1; p <= rows.count / 3; ++p) {
    bool repeats = true;
    for (long long i = 0; repeats && i + p < rows.count; ++i)
      for (int c = 0; repeats && c < columns; ++c) {
        const double change = rows.at(i + p, c) - rows.at(i, c);
        repeats = change <= tolerance && -change <= tolerance;
      }
    if (repeats) return double(p);
  }
  return 0;
}

// Reduction m of the rows of its record; `tolerance` of a period. Missing where there are too few rows.
template <class M>
ZWANG_COLD double reduced_record(const M& me, int m, double tolerance) {
  using Model = typename M::Model;
  const double none = missing<double>();
  if (!me.input.batch->records) return none;
  const RecordRows rows = rows_of_record<M>(*me.input.batch, me.input.number, Model::reduction_target(m));
  const Reduction kind = Reduction(Model::reduction_kind(m));
  const int column = Model::reduction_column(m);
  if (kind == Reduction::record_count) return double(rows.count);
  if (kind == Reduction::record_period)
    return rows.count < 3 ? none
                          : period_of_rows(rows, Model::record_values(Model::reduction_target(m)), tolerance);
  if (kind == Reduction::record_label || rows.count == 0) return none;
  if (kind == Reduction::record_first) return rows.at(0, column);
  if (kind == Reduction::record_last) return rows.at(rows.count - 1, column);
  double least = rows.at(0, column), largest = least, mean = 0, squares = 0;
  for (long long i = 0; i < rows.count; ++i) {
    const double value = rows.at(i, column), off = value - mean;
    least = minimum(least, value);
    largest = maximum(largest, value);
    mean += off / double(i + 1);
    squares += off * (value - mean);
  }
  if (kind == Reduction::record_minimum) return least;
  if (kind == Reduction::record_maximum) return largest;
  if (kind == Reduction::record_mean) return mean;
  return rows.count < 2 ? none : sqrt(squares / double(rows.count - 1));
}

}  // namespace zwang
