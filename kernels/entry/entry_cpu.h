// The entry points of a compiled study on a CPU. The host starts threads; each thread runs a lane group,
// which takes members from a common counter, a few at a time, so that a slow member does not delay the
// others.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/entry/work_queue.h"
#include "kernels/event/event_functions.h"
#include "kernels/lanes/lane_group.h"
#include "kernels/rootfinding/first_root.h"
#include "kernels/simd/pack_pair.h"

namespace zwang {

template <class Model, class Method, class Real_, class Number_>
struct CpuEntry {
  using Real = Real_;
  using Number = Number_;
  using M = Member<Model, Method, Real>;
  using Group = LaneGroup<M, Number>;
  static constexpr int lanes = Group::lanes;
  // Stack size of a thread: the lane group, its members, and the locals of the slow path (quadratic programs,
  // dense output, copies of states in nested calls), with a generous margin.
  static constexpr long long stack_bytes = (1LL << 20) + 2 * (long long)(sizeof(Group) + lanes * sizeof(M)) +
                                           16 * (long long)(sizeof(typename M::Qp) + sizeof(DenseStep<M>)) +
                                           64 * (long long)sizeof(Real) * M::size * sample_count;

  static void work(const KernelSettings& settings, const KernelBatch& batch, long long* counter) {
    MemberQueue queue{counter, batch.count};
    M members[lanes];
    typename Group::Search searches[lanes];
    typename Group::Ledger ledger;
    Group group(settings, batch, members, searches, ledger);
    group.run(queue);
  }
};

}  // namespace zwang

// Steps, fast events, records and the slow path are translation units of their own, compiled in parallel:
// `which` is `template` in the unit that contains the function and `extern template` in the others.
#define ZWANG_CPU_FAST_EVENTS(which, Entry) \
  which bool zwang::handle_fast_event<Entry::Group>(Entry::Group&, int);
#define ZWANG_CPU_EVENTS(which, Entry)                                                                      \
  which bool zwang::handle_member<Entry::M>(Entry::M&);                                                     \
  which bool zwang::start_member<Entry::M>(Entry::M&, const zwang::KernelSettings&,                         \
                                           const zwang::KernelBatch&, long long);                           \
  which void zwang::multipliers_at<Entry::M>(const Entry::Real*, const Entry::M::Constraints&, Entry::Real, \
                                             const Entry::Real*, Entry::Real*, int);                        \
  which void zwang::measured_at<Entry::M>(const Entry::Real*, const Entry::M::Constraints&, Entry::Real,    \
                                          const Entry::Real*, Entry::Real*);

#define ZWANG_CPU_RECORDS(which, Entry)                                                \
  which zwang::Lanes<Entry::Number>::Mask zwang::record_step<Entry::M, Entry::Number>( \
      const zwang::KernelSettings&, const zwang::KernelBatch&, Entry::M*,              \
      const zwang::StepRecord<Entry::M, Entry::Number>&, zwang::RecordRequest<Entry::M, Entry::Number>&);

// `zwang_work` integrates members until the counter has passed the last one. Any number of threads may call
// it at once.
#define ZWANG_CPU_ENTRIES(Entry)                                                                 \
  extern "C" ZWANG_EXPORT void zwang_work(const zwang::KernelSettings* settings,                 \
                                          const zwang::KernelBatch* batch, long long* counter) { \
    Entry::work(*settings, *batch, counter);                                                     \
  }                                                                                              \
  extern "C" ZWANG_EXPORT int zwang_lanes() { return Entry::lanes; }                             \
  extern "C" ZWANG_EXPORT long long zwang_stack_bytes() { return Entry::stack_bytes; }
