// Recognises Zeno accumulations: infinitely many shocks within a finite time (mechanics section 5,
// requirement 5). The reference is src/reference/accumulation.h.
#pragma once

#include "kernels/base/portable.h"

namespace zwang {

// A set of conditions, one bit for each.
template <int count>
struct ConditionSet {
  static constexpr int words = at_least_one((count + 31) / 32);
  unsigned word[words];

  ZWANG_INLINE ConditionSet() { clear(); }
  ZWANG_INLINE void clear() {
    for (int i = 0; i < words; ++i) word[i] = 0;
  }
  ZWANG_INLINE bool has(int i) const { return (word[i / 32] >> (i % 32)) & 1u; }
  ZWANG_INLINE void add(int i) { word[i / 32] |= 1u << (i % 32); }
  ZWANG_INLINE void remove(int i) { word[i / 32] &= ~(1u << (i % 32)); }
  ZWANG_INLINE void add(const ConditionSet& other) {
    for (int i = 0; i < words; ++i) word[i] |= other.word[i];
  }
  ZWANG_INLINE bool operator==(const ConditionSet& other) const {
    bool same = true;
    for (int i = 0; i < words; ++i) same = same && word[i] == other.word[i];
    return same;
  }
  ZWANG_INLINE int size() const {
    int present = 0;
    for (int i = 0; i < count; ++i) present += has(i);
    return present;
  }
};

// The cycle that a sequence of shocks repeats.
template <class Real, bool alone>
struct CycleOfShocks {
  // By how much the last cycle has moved the limit. 0 for a single condition, whose limit is known by its
  // speed.
  Real uncertainty = 0;
  int period = 0;  // shocks in a cycle
  int last = 0;    // index of its latest shock in the ring buffers of AccumulationWatch
};
template <class Real>
struct CycleOfShocks<Real, true> {
  static constexpr int period = 1;
};

// The times and conditions of the latest shocks. `alone`: the model has a single inequality, so that a cycle
// is one shock.
template <class Set, class Real, bool alone>
struct AccumulationWatch {
  static constexpr int longest_cycle = alone ? 1 : 8;
  static constexpr int memory = alone ? 4 : 32;  // a power of two, more than three cycles
  int count = 0;                                 // shocks noted since forget(), at most `memory`
  int newest = 0;                                // index of the latest shock in the ring buffers below

  // The geometric sequence that the latest shocks form, if they do.
  struct Sequence : CycleOfShocks<Real, alone> {
    bool found = false;
    Set conditions{};
    Real limit = 0, remaining = 0, length = 0, began = 0;

    // Whether the time that is left is negligible, and the limit known to the tolerance. The rounding of the
    // last shocks does not allow a limit to be extrapolated more accurately than to 1e-9 of the length.
    ZWANG_INLINE bool nearly_over(Real gap, Real tolerance) const {
      if (!(found && remaining <= gap * length)) return false;
      if constexpr (alone)
        return true;
      else
        return this->uncertainty <= maximum(tolerance, Real(1e-9)) * length;
    }
  } sequence;

  Real time[memory];
  Set reached[memory];

  ZWANG_DEVICE void forget() {
    count = newest = 0;
    sequence = Sequence{};
    time[0] = 0;
  }

  // The index of the shock that many shocks before the newest.
  ZWANG_INLINE int index_of(int ago) const { return (newest - ago) & (memory - 1); }

  // Adds a shock of the conditions `struck` at the time t.
  ZWANG_INLINE void note(Real t, const Set& struck) { take(t, struck, sequence_with(t, struck)); }

  // The sequence that the shocks would form together with this one.
  ZWANG_INLINE Sequence sequence_with(Real t, const Set& struck) const {
    Sequence next = recognise(t, struck);
    if (!next.found) return next;
    const Real start = t - next.length;
    next.began = sequence.found ? minimum(sequence.began, start) : start;
    next.length = t - next.began;
    return next;
  }
  // Adds a shock whose sequence is known already.
  ZWANG_INLINE void take(Real t, const Set& struck, const Sequence& next) {
    newest = index_of(-1);
    if (count < memory) ++count;
    time[newest] = t;
    reached[newest] = struck;
    // Usually there is no sequence, before or after: then global memory is not touched.
    if (next.found || sequence.found) sequence = next;
  }

 private:
  // The durations of the last three cycles, the latest of which ends at t.
  struct Cycles {
    Real d1, d2, d3;
  };
  ZWANG_INLINE Cycles cycles(Real t, int period) const {
    const Real t1 = time[index_of(period - 1)], t2 = time[index_of(2 * period - 1)];
    return {t - t1, t1 - t2, t2 - time[index_of(3 * period - 1)]};
  }
  // The same, or zeros where there have been too few shocks. Free of branches, so that a GPU issues all loads
  // at once.
  ZWANG_INLINE Cycles cycles_if_any(Real t, int period) const {
    const bool any = 3 * period <= count;
    const Real t1 = time[any ? index_of(period - 1) : newest],
               t2 = time[any ? index_of(2 * period - 1) : newest],
               t3 = time[any ? index_of(3 * period - 1) : newest];
    return {t - t1, t1 - t2, t2 - t3};
  }

  // A sequence is three cycles of the same conditions in the same order, each shorter than the one before by
  // nearly the same factor.
  ZWANG_INLINE Sequence recognise(Real t, const Set& struck) const {
    Sequence next;
    unsigned shrinking = 0;
    ZWANG_REGISTERS for (int period = 1; period <= longest_cycle; ++period) {
      const Cycles last = cycles_if_any(t, period);
      const bool shrinks = (last.d1 > 0) & (last.d2 > last.d1) & (last.d3 > last.d2);
      shrinking |= unsigned(shrinks) << period;
    }
    ZWANG_ROLLED for (int period = 1; shrinking >> period != 0; ++period) {
      if (((shrinking >> period) & 1U) == 0) continue;
      const Cycles last = cycles(t, period);
      const Real r1 = last.d1 / last.d2, r2 = last.d2 / last.d3;
      // Ratios that still drift towards 1 belong to sequences without accumulation.
      if (absolute(r1 - r2) > Real(0.3) * (1 - maximum(r1, r2))) continue;
      if (!repeats(struck, period)) continue;
      next.found = true;
      next.remaining = last.d1 * r1 / (1 - r1);
      next.limit = t + next.remaining;
      next.length = last.d1 + last.d2 + last.d3;
      next.conditions = struck;
      for (int i = 1; i < period; ++i) next.conditions.add(reached[index_of(i - 1)]);
      if constexpr (!alone) {
        next.period = period;
        next.last = index_of(-1);
        if (next.conditions.size() > 1)
          next.uncertainty = absolute(last.d1 + next.remaining - last.d2 * r2 / (1 - r2));
      }
      return next;
    }
    return next;
  }
  // Whether three cycles of this period repeat each other, and the period is the shortest: within a cycle not
  // all shocks are alike.
  ZWANG_INLINE bool repeats(const Set& struck, int period) const {
    bool same = struck == reached[index_of(period - 1)], alike = period > 1;
    for (int i = 1; i < 2 * period && same; ++i)
      same = reached[index_of(i - 1)] == reached[index_of(i + period - 1)];
    for (int i = 1; i < period && alike; ++i) alike = reached[index_of(i - 1)] == struck;
    return same && !alike;
  }

 public:
  // The index of the shock that many shocks before the latest one of a sequence.
  ZWANG_INLINE static int index_in(const Sequence& of, int ago) { return (of.last - ago) & (memory - 1); }
  // The time from the shock before that one to it, as a share of the last cycle.
  ZWANG_DEVICE Real share_of_cycle(const Sequence& of, int ago) const {
    return (time[index_in(of, ago)] - time[index_in(of, ago + 1)]) /
           (time[of.last] - time[index_in(of, of.period)]);
  }
  // The conditions struck in the last two shocks.
  ZWANG_DEVICE Set latest() const {
    Set found;
    for (int i = 0; i < 2 && i < count; ++i) found.add(reached[index_of(i)]);
    return found;
  }
};

}  // namespace zwang
