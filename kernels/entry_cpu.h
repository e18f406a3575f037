// The program's entrances on the CPU. The host starts threads; each brings a crew that takes members one by one from a
// common counter, so that a slow member holds back nobody.
#pragma once

#include "kernels/trajectory.h"

namespace zwang {

// Gives the next member's number, or -1 when there is none.
struct MemberQueue {
  long long* counter;
  long long count;
  long long operator()() {
    const long long number = __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
    return number < count ? number : -1;
  }
};

template <class Model, class Method, class Real, class Number>
struct CpuEntry {
  using M = Member<Model, Method, Real>;
  using C = Crew<M, Number>;
  static constexpr int lanes = C::lanes;
  // The crew and what an event needs: some quadratic programs and copies of states, deep in calls.
  static constexpr long long stack_bytes = (1LL << 20) + 2 * (long long)(sizeof(C) + lanes * sizeof(M)) +
                                           16 * (long long)(sizeof(typename M::Qp) + sizeof(Stretch<M>)) +
                                           64 * (long long)sizeof(Real) * M::size * sample_count;

  static void work(const KernelSettings& settings, const KernelBatch& batch, long long* counter) {
    MemberQueue queue{counter, batch.count};
    M members[lanes];
    typename C::Search searches[lanes];
    Ledger<Number, M::rows> ledger;
    C crew(settings, batch, members, searches, ledger);
    crew.run(queue);
  }
};

}  // namespace zwang

// Steps and what is left to the members are two units, compiled side by side: `which` is `extern template` in the one and
// `template` in the other.
#define ZWANG_CPU_EVENTS(which, Entry)                                                                  \
  which bool zwang::tend<Entry::M>(Entry::M&);                                                          \
  which bool zwang::start<Entry::M>(Entry::M&, const zwang::KernelSettings&, const zwang::KernelBatch&, \
                                    long long);

// `zwang_work` integrates members until the counter has passed the last one. Any number of threads may be inside.
#define ZWANG_CPU_ENTRANCES(Entry)                                                               \
  extern "C" ZWANG_EXPORT void zwang_work(const zwang::KernelSettings* settings,                 \
                                          const zwang::KernelBatch* batch, long long* counter) { \
    Entry::work(*settings, *batch, counter);                                                     \
  }                                                                                              \
  extern "C" ZWANG_EXPORT int zwang_lanes() { return Entry::lanes; }                             \
  extern "C" ZWANG_EXPORT long long zwang_stack_bytes() { return Entry::stack_bytes; }
