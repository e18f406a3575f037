// The program's entrances on the CPU. The host starts threads; each brings a crew that takes members, few at a time, from a
// common counter, so that a slow member holds back nobody.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/entry/work_queue.h"
#include "kernels/event/event_functions.h"
#include "kernels/lanes/lane_group.h"
#include "kernels/simd/pack_pair.h"

namespace zwang {

template <class Model, class Method, class Real_, class Number>
struct CpuEntry {
  using Real = Real_;
  using M = Member<Model, Method, Real>;
  using C = LaneGroup<M, Number>;
  static constexpr int lanes = C::lanes;
  // The crew and what an event needs: some quadratic programs and copies of states, deep in calls.
  static constexpr long long stack_bytes = (1LL << 20) + 2 * (long long)(sizeof(C) + lanes * sizeof(M)) +
                                           16 * (long long)(sizeof(typename M::Qp) + sizeof(DenseStep<M>)) +
                                           64 * (long long)sizeof(Real) * M::size * sample_count;

  static void work(const KernelSettings& settings, const KernelBatch& batch, long long* counter) {
    MemberQueue queue{counter, batch.count};
    M members[lanes];
    typename C::Search searches[lanes];
    LaneLedger<Number, M::rows> ledger;
    C group(settings, batch, members, searches, ledger);
    group.run(queue);
  }
};

}  // namespace zwang

// Steps, events that lanes take in their stride and what is left to the members are units of their own, compiled side by
// side: `which` is `template` in the one that has the text and `extern template` in the others.
#define ZWANG_CPU_FAST_EVENTS(which, Entry) which bool zwang::handle_fast_event<Entry::C>(Entry::C&, int);
#define ZWANG_CPU_EVENTS(which, Entry)                                                                      \
  which bool zwang::handle_member<Entry::M>(Entry::M&);                                                     \
  which bool zwang::start_member<Entry::M>(Entry::M&, const zwang::KernelSettings&,                         \
                                           const zwang::KernelBatch&, long long);                           \
  which void zwang::multipliers_at<Entry::M>(const Entry::Real*, const Entry::M::Constraints&, Entry::Real, \
                                             const Entry::Real*, Entry::Real*);                             \
  which void zwang::measured_at<Entry::M>(const Entry::Real*, const Entry::M::Constraints&, Entry::Real,    \
                                          const Entry::Real*, Entry::Real*);

// `zwang_work` integrates members until the counter has passed the last one. Any number of threads may be inside.
#define ZWANG_CPU_ENTRIES(Entry)                                                                 \
  extern "C" ZWANG_EXPORT void zwang_work(const zwang::KernelSettings* settings,                 \
                                          const zwang::KernelBatch* batch, long long* counter) { \
    Entry::work(*settings, *batch, counter);                                                     \
  }                                                                                              \
  extern "C" ZWANG_EXPORT int zwang_lanes() { return Entry::lanes; }                             \
  extern "C" ZWANG_EXPORT long long zwang_stack_bytes() { return Entry::stack_bytes; }
