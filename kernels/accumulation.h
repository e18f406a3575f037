// Recognising that shocks accumulate: infinitely many of them in a finite time (mechanics section 5, requirement 5);
// src/accumulation.h is the reference.
#pragma once

#include "kernels/portable.h"

namespace zwang {

// A set of conditions, one bit each.
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
  ZWANG_INLINE void add(const ConditionSet& other) {
    for (int i = 0; i < words; ++i) word[i] |= other.word[i];
  }
  ZWANG_INLINE bool operator==(const ConditionSet& other) const {
    bool same = true;
    for (int i = 0; i < words; ++i) same = same && word[i] == other.word[i];
    return same;
  }
  ZWANG_INLINE int size() const {
    int members = 0;
    for (int i = 0; i < count; ++i) members += has(i);
    return members;
  }
};

template <class Set, class Real>
struct AccumulationWatch {
  static constexpr int longest_cycle = 8, memory = 32;  // a power of two, more than three cycles
  int count = 0;                                        // shocks noted since the last one was forgotten
  int newest = 0;  // where it stands; the one before stands before it, all round
  Real time[memory];
  Set reached[memory];
  Real began = 0;

  // The geometric sequence the last shocks form, if they do.
  struct Sequence {
    bool found = false;
    Set conditions{};
    Real limit = 0, remaining = 0, length = 0;
  } sequence;

  ZWANG_DEVICE void forget() {
    count = newest = 0;
    began = 0;
    sequence = Sequence{};
  }

  ZWANG_INLINE void note(Real t, const Set& who) {
    newest = (newest + 1) & (memory - 1);
    if (count < memory) ++count;
    time[newest] = t;
    reached[newest] = who;
    const bool going_on = sequence.found;
    recognise();
    if (!sequence.found) return;
    const Real start = t - sequence.length;
    began = going_on ? minimum(began, start) : start;
    sequence.length = t - began;
  }

  // So many shocks ago.
  ZWANG_INLINE int place(int ago) const { return (newest - ago) & (memory - 1); }

  // The same conditions in the same order, cycle after cycle, each shorter than the one before by nearly one factor.
  ZWANG_INLINE void recognise() {
    sequence.found = false;
    ZWANG_ROLLED for (int period = 1; period <= longest_cycle && 3 * period < count; ++period) {
      const Real t0 = time[newest], t1 = time[place(period)], t2 = time[place(2 * period)];
      const Real d1 = t0 - t1, d2 = t1 - t2, d3 = t2 - time[place(3 * period)];
      if (!(d1 > 0 && d2 > d1 && d3 > d2)) continue;
      bool repeats = true;
      for (int i = 0; i < 2 * period && repeats; ++i)
        repeats = reached[place(i)] == reached[place(i + period)];
      if (!repeats) continue;
      const Real r1 = d1 / d2, r2 = d2 / d3;
      // Ratios still drifting towards 1 belong to sequences that end by themselves.
      if (absolute(r1 - r2) > Real(0.3) * (1 - maximum(r1, r2))) continue;
      sequence.found = true;
      sequence.remaining = d1 * r1 / (1 - r1);
      sequence.limit = t0 + sequence.remaining;
      sequence.length = d1 + d2 + d3;
      sequence.conditions.clear();
      for (int i = 0; i < period; ++i) sequence.conditions.add(reached[place(i)]);
      return;
    }
  }

  // The conditions that caused the last two shocks.
  ZWANG_DEVICE Set latest() const {
    Set found;
    for (int i = 0; i < 2 && i < count; ++i) found.add(reached[place(i)]);
    return found;
  }
};

}  // namespace zwang
