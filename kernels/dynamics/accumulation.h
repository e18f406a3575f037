// Recognising that shocks accumulate: infinitely many of them in a finite time (mechanics section 5, requirement 5);
// src/reference/accumulation.h is the reference.
#pragma once

#include "kernels/base/portable.h"

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

// `alone`: there is but one condition that may be struck, and its shocks follow each other by one factor.
template <class Set, class Real, bool alone>
struct AccumulationWatch {
  static constexpr int longest_cycle = alone ? 1 : 8;
  static constexpr int memory = alone ? 4 : 32;  // a power of two, more than three cycles
  int count = 0;                                 // shocks noted since the last one was forgotten
  int newest = 0;  // where it stands; the one before stands before it, all round

  // The geometric sequence the last shocks form, if they do.
  struct Sequence {
    bool found = false;
    Set conditions{};
    Real limit = 0, remaining = 0, length = 0, began = 0;
  } sequence;

  Real time[memory];
  Set reached[memory];

  ZWANG_DEVICE void forget() {
    count = newest = 0;
    sequence = Sequence{};
    time[0] = 0;
  }

  ZWANG_INLINE void note(Real t, const Set& who) { take(t, who, sequence_with(t, who)); }

  // What the shocks will form when this one is among them.
  ZWANG_INLINE Sequence sequence_with(Real t, const Set& who) const {
    Sequence made = recognise(t, who);
    if (!made.found) return made;
    const Real start = t - made.length;
    made.began = sequence.found ? minimum(sequence.began, start) : start;
    made.length = t - made.began;
    return made;
  }
  ZWANG_INLINE void take(Real t, const Set& who, const Sequence& made) {
    newest = place(-1);
    if (count < memory) ++count;
    time[newest] = t;
    reached[newest] = who;
    // Most often there was none and is none: members may lie far away, and what is not touched need not be fetched.
    if (made.found || sequence.found) sequence = made;
  }

 private:
  // So many shocks ago.
  ZWANG_INLINE int place(int ago) const { return (newest - ago) & (memory - 1); }

  // How long the last three cycles took, the newest ending at t.
  struct Cycles {
    Real d1, d2, d3;
  };
  ZWANG_INLINE Cycles cycles(Real t, int period) const {
    const Real t1 = time[place(period - 1)], t2 = time[place(2 * period - 1)];
    return {t - t1, t1 - t2, t2 - time[place(3 * period - 1)]};
  }
  // The same, or no time at all where there have not been so many shocks: without a jump, so that a GPU fetches all at once.
  ZWANG_INLINE Cycles cycles_if_any(Real t, int period) const {
    const bool any = 3 * period <= count;
    const Real t1 = time[any ? place(period - 1) : newest], t2 = time[any ? place(2 * period - 1) : newest],
               t3 = time[any ? place(3 * period - 1) : newest];
    return {t - t1, t1 - t2, t2 - t3};
  }

  // The same conditions in the same order, cycle after cycle, each shorter than the one before by nearly one factor.
  ZWANG_INLINE Sequence recognise(Real t, const Set& who) const {
    Sequence made;
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
      // Ratios still drifting towards 1 belong to sequences that end by themselves.
      if (absolute(r1 - r2) > Real(0.3) * (1 - maximum(r1, r2))) continue;
      if (!repeats(who, period)) continue;
      made.found = true;
      made.remaining = last.d1 * r1 / (1 - r1);
      made.limit = t + made.remaining;
      made.length = last.d1 + last.d2 + last.d3;
      made.conditions = who;
      for (int i = 1; i < period; ++i) made.conditions.add(reached[place(i - 1)]);
      return made;
    }
    return made;
  }
  // Three cycles in which the same happened, and not always the same.
  ZWANG_INLINE bool repeats(const Set& who, int period) const {
    bool same = who == reached[place(period - 1)], alike = period > 1;
    for (int i = 1; i < 2 * period && same; ++i)
      same = reached[place(i - 1)] == reached[place(i + period - 1)];
    for (int i = 1; i < period && alike; ++i) alike = reached[place(i - 1)] == who;
    return same && !alike;
  }

 public:
  // The conditions that caused the last two shocks.
  ZWANG_DEVICE Set latest() const {
    Set found;
    for (int i = 0; i < 2 && i < count; ++i) found.add(reached[place(i)]);
    return found;
  }
};

}  // namespace zwang
