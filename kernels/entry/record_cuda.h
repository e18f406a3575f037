// Outputs and extremes inside the steps of a GPU's lanes. They need the dense output of a step: about as many
// operations and registers as the step itself. So a stepping lane only appends its step to a list and goes
// on; after each turn zwang_record evaluates the listed steps, one per lane, with all lanes of a warp at the
// same work. Nothing in the motion of a member depends on what is recorded.
//
// A list is divided into regions, one for each warp that fills it, so that no counter is shared between
// warps. Within a region number f of entry i is at f * capacity + i: lanes that append together write whole
// cache lines.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/member.h"
#include "kernels/entry/warp.h"
#include "kernels/integrator/interpolant.h"
#include "kernels/integrator/runge_kutta.h"
#include "kernels/lanes/dense_lane.h"
#include "kernels/lanes/record_step.h"
#include "kernels/lanes/refine_extremes.h"
#include "kernels/record/measures.h"

namespace zwang {

// Entries of a region that are reserved for lanes whose member cannot be stored yet when the region is full.
constexpr unsigned step_list_reserve = 4 * warp_lanes;

// Whether the interpolant of a method uses the rates of stage j, for velocities or for positions.
template <class Method>
ZWANG_CONSTANT constexpr bool interpolant_uses_stage(int j) {
  if (j == 0 || j == Method::last) return true;
  bool used = false;
  const auto add = [&](int count, const auto& weight) {
    double position = 0;
    for (int l = j + 1; l < count; ++l) position += weight(l) * Method::a(l, j);
    used = used || position != 0 || (j < count && weight(j) != 0);
  };
  for (int i = Method::last + 1; i < Method::stages; ++i) add(i, [&](int l) { return Method::a(i, l); });
  if constexpr (Method::last == Dop853::last)
    for (int m = 0; m < dop853::interpolant_rows; ++m)
      add(Method::stages, [&](int l) { return Method::dense(m, l); });
  else if constexpr (Method::last == Tsit5::last)
    for (int m = 0; m < Method::terms; ++m) add(Method::stages, [&](int l) { return Method::dense(m, l); });
  return used;
}

// The numbers of a listed step, in the order in which `each` passes them.
template <class M>
struct ListedStep {
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  static constexpr int kept = M::fed_back - M::n;  // rates of a stage that the interpolant needs
  static constexpr unsigned outputs = 1, extremes = 2, constrained = 4, index_shift = 3;  // of a tag

  ZWANG_CONSTANT static constexpr int numbers() {
    int count = 3 + 2 * M::fed_back + M::r;
    for (int m = 0; m < Model::reductions; ++m) count += is_extreme<Model>(m) ? 2 : 0;
    for (int j = 0; j <= Method::last; ++j) count += interpolant_uses_stage<Method>(j) ? kept : 0;
    return count;
  }
  // Calls f(j, m) for each rate m of each stage j that the interpolant needs.
  template <int j = 0, class F>
  __device__ __forceinline__ static void each_stage(const F& f) {
    if constexpr (j <= Method::last) {
      if constexpr (interpolant_uses_stage<Method>(j)) {
        ZWANG_REGISTERS for (int m = 0; m < kept; ++m) { f(j, m); }
      }
      each_stage<j + 1>(f);
    }
  }
};

// The region of one warp, as its lanes fill it; in shared memory.
template <class M>
struct StepListRegion {
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  using Entry = ListedStep<M>;
  Real* numbers;
  unsigned *slots, *tags, *extremes, *counts;
  unsigned capacity, used, used_extremes;

  // By one lane of the warp.
  __device__ __forceinline__ void open(const DeviceStepList& list, unsigned region) {
    capacity = list.capacity;
    const unsigned long long first = (unsigned long long)region * capacity;
    numbers = static_cast<Real*>(list.numbers) + first * Entry::numbers();
    slots = list.slots + first;
    tags = list.tags + first;
    extremes = list.extremes + first;
    counts = list.counts + 2 * region;
    used = used_extremes = 0;
  }
  __device__ __forceinline__ void close() const {
    counts[0] = used < capacity ? used : capacity;
    counts[1] = used_extremes;
  }
  __device__ __forceinline__ bool is_full() const { return used + step_list_reserve > capacity; }

  // Appends the step of a lane and returns the entry, or no_slot if there is no room.
  template <class Group>
  __device__ __forceinline__ unsigned append(Group& group, RecordRequest<M, Real>& request, unsigned slot) {
    const unsigned entry = atomicAdd(&used, 1U);
    if (entry >= capacity) return no_slot;
    // Whether an extremum lies before the crossing or behind it is left to the slow path.
    const bool refines = request.extremes && request.part >= Real(1);
    unsigned tag = (request.outputs ? Entry::outputs : 0U) | (refines ? Entry::extremes : 0U);
    Real* to = numbers + entry;
    const auto put = [&](Real number) {
      *to = number;
      to += capacity;
    };
    put(group.state.t);
    put(group.trial.step.h);
    put(request.until);
    ZWANG_REGISTERS for (int c = 0; c < M::fed_back; ++c) { put(group.state.y[c]); }
    bool by_stages = true;
    if constexpr (Method::expands) by_stages = group.trial.constrained;
    if (by_stages) tag |= Entry::constrained;
    ZWANG_REGISTERS for (int i = 0; i < M::r; ++i) { put(group.state.held[i]); }
    if constexpr (Model::any_extremes) {
      ZWANG_REGISTERS for (int m = 0; m < Model::reductions; ++m) {
        if (!is_extreme<Model>(m)) continue;
        if (refines) {
          to[0] = group.state.values[m];
          to[capacity] = group.state.best[m];
        }
        to += 2 * capacity;
      }
    }
    if (by_stages) {
      ZWANG_REGISTERS for (int c = 0; c < M::fed_back; ++c) { put(group.trial.step.end[c]); }
      auto* const stages = group.trial.step.stage_rates();
      Entry::each_stage(
          [&](int j, int m) { put(j == Method::last ? group.trial.step.last()[m] : stages[j][m]); });
    }
    M& me = *group.full_members;
    tags[entry] = tag | unsigned(me.next_output) << Entry::index_shift;
    slots[entry] = slot;
    if (refines) extremes[atomicAdd(&used_extremes, 1U)] = entry;
    pass_outputs(group, me, request);
    group.recorder().finish(request, request.extremes && !refines);
    return entry;
  }

  // Takes back an entry whose step the slow path handles after all.
  __device__ __forceinline__ void drop(unsigned entry, M& me, const KernelBatch& batch) const {
    if (entry == no_slot) return;
    slots[entry] = no_slot;
    if ((tags[entry] & Entry::outputs) == 0) return;
    me.next_output = int(tags[entry] >> Entry::index_shift);
    me.exchange.next_output = Real(batch.outputs[me.next_output]);
  }

 private:
  // Moves the next output time of the member behind those that the entry covers.
  template <class Group>
  __device__ __forceinline__ static void pass_outputs(const Group& group, M& me,
                                                      RecordRequest<M, Real>& request) {
    if (!request.outputs) return;
    int index = me.next_output;
    while (request.next_output < request.until) {
      ++index;
      request.next_output =
          index < group.settings.outputs ? Real(group.batch.outputs[index]) : infinity<Real>();
    }
    me.next_output = index;
    // Where the front of the member is staged (StagedMembers), its lines are stored whole after an event, and
    // the last of them may contain this number.
    me.exchange.next_output = group.members->exchange.next_output = request.next_output;
  }
};

// The bits of a number, for atomic comparisons.
__device__ __forceinline__ unsigned long long word_of(double number) {
  return (unsigned long long)__double_as_longlong(number);
}
__device__ __forceinline__ unsigned word_of(float number) { return __float_as_uint(number); }
__device__ __forceinline__ double number_of(unsigned long long word) {
  return __longlong_as_double((long long)word);
}
__device__ __forceinline__ float number_of(unsigned word) { return __uint_as_float(word); }

// --- zwang_record -------------------------------------------------------------------------------------------

template <class M>
struct CudaRecorder {
  using Model = typename M::Model;
  using Method = typename M::Method;
  using Real = typename M::Real;
  using Entry = ListedStep<M>;

  __device__ static void run(const KernelSettings& settings, const KernelBatch& batch, M* slots,
                             const DeviceLists& lists) {
    run_list(settings, batch, slots, lists.steps);
    if (lists.events.regions > 0) run_list(settings, batch, slots, lists.events);
  }

 private:
  // One warp per region: first all outputs, then all extremes, 32 steps at a time.
  __device__ __forceinline__ static void run_list(const KernelSettings& settings, const KernelBatch& batch,
                                                  M* slots, const DeviceStepList& list) {
    const unsigned warps = gridDim.x * (blockDim.x / warp_lanes),
                   warp = blockIdx.x * (blockDim.x / warp_lanes) + threadIdx.x / warp_lanes,
                   lane = threadIdx.x % warp_lanes;
    for (unsigned region = warp; region < list.regions; region += warps) {
      const unsigned long long first = (unsigned long long)region * list.capacity;
      const unsigned entries = list.counts[2 * region], peaks = list.counts[2 * region + 1],
                     chunks = (entries + warp_lanes - 1) / warp_lanes,
                     peak_chunks = Model::any_extremes ? (peaks + warp_lanes - 1) / warp_lanes : 0;
      ZWANG_ROLLED for (unsigned chunk = 0; chunk < chunks + peak_chunks; ++chunk) {
        const bool refines = chunk >= chunks;
        unsigned i = (refines ? chunk - chunks : chunk) * warp_lanes + lane;
        if (i >= (refines ? peaks : entries)) continue;
        if (refines) i = list.extremes[first + i];
        const unsigned slot = list.slots[first + i], tag = list.tags[first + i];
        if (slot == no_slot || (!refines && (tag & Entry::outputs) == 0)) continue;
        const Real* numbers = static_cast<const Real*>(list.numbers) + first * Entry::numbers() + i;
        record(settings, batch, slots[slot], numbers, list.capacity, tag, refines);
      }
      __syncwarp();
      if (lane == 0) list.counts[2 * region] = list.counts[2 * region + 1] = 0;
    }
  }

  // The outputs of one listed step, or its extremes.
  __device__ __forceinline__ static void record(const KernelSettings& settings, const KernelBatch& batch,
                                                M& me, const Real* numbers, unsigned stride, unsigned tag,
                                                bool refines) {
    Real rates[Method::stages][StepRecord<M, Real>::rates];
    StepRecord<M, Real> step;
    step.stages = rates;
    Real until, values[M::reductions], best[M::reductions];
    read(me, numbers, stride, tag, refines, step, until, values, best);
    const DenseLane<M, Real> dense(step, settings, true);
    if (!refines) {
      write_rows(settings, batch, me.input.number, step, dense, until, int(tag >> Entry::index_shift));
    } else if constexpr (Model::any_extremes) {
      const ExtremeRefinement<M, Real> refinement{step, dense, Real(1), best};
      const bool unresolved = refinement.refine(true, values);
      if (unresolved)
        bracket(settings, me, numbers, stride, tag);
      else
        raise_all(best, me);
    }
  }
  // Extremes that the refinement did not find, by a slower search that always ends. A function of its own, so
  // that record() keeps its numbers in registers.
  __device__ __noinline__ static void bracket(const KernelSettings& settings, M& me, const Real* numbers,
                                              unsigned stride, unsigned tag) {
    if constexpr (Model::any_extremes) {
      Real rates[Method::stages][StepRecord<M, Real>::rates];
      StepRecord<M, Real> step;
      step.stages = rates;
      Real until, values[M::reductions], best[M::reductions];
      read(me, numbers, stride, tag, true, step, until, values, best);
      const DenseLane<M, Real> dense(step, settings, true);
      const ExtremeRefinement<M, Real> refinement{step, dense, Real(1), best};
      bracket_extremes<Model>([&](Real x, Real* at) { refinement.values_at(x, at); }, best);
      raise_all(best, me);
    }
  }

  // Reads a listed step. Its numbers for extremes are read where these are refined.
  __device__ __forceinline__ static void read(const M& me, const Real* numbers, unsigned stride, unsigned tag,
                                              bool refines, StepRecord<M, Real>& step, Real& until,
                                              Real* values, Real* best) {
    const auto get = [&] {
      const Real number = *numbers;
      numbers += stride;
      return number;
    };
    step.t = get();
    step.h = get();
    until = get();
    ZWANG_REGISTERS for (int c = 0; c < M::fed_back; ++c) { step.y[c] = get(); }
    step.any_held = false;
    ZWANG_REGISTERS for (int i = 0; i < M::r; ++i) {
      step.held[i] = get();
      step.any_held = step.any_held || step.held[i] > 0;
    }
    if constexpr (Model::any_extremes) {
      ZWANG_REGISTERS for (int m = 0; m < Model::reductions; ++m) {
        if (!is_extreme<Model>(m)) continue;
        if (refines) {
          values[m] = numbers[0];
          best[m] = numbers[stride];
        }
        numbers += 2 * stride;
      }
    }
    step.constrained = (tag & Entry::constrained) != 0;
    if (step.constrained) {
      ZWANG_REGISTERS for (int c = 0; c < M::fed_back; ++c) { step.end[c] = get(); }
      Entry::each_stage([&](int j, int m) { step.stages[j][m] = get(); });
    }
    ZWANG_REGISTERS for (int i = 0; i < Model::constants; ++i) { step.k[i] = me.k[i]; }
  }

  __device__ __forceinline__ static void write_rows(const KernelSettings& settings, const KernelBatch& batch,
                                                    long long number, const StepRecord<M, Real>& step,
                                                    const DenseLane<M, Real>& dense, Real until, int index) {
    if (!batch.observables && !batch.states) return;
    for (; index < settings.outputs; ++index) {
      const Real when = Real(batch.outputs[index]);
      if (!(when < until)) break;
      Real y[M::size];
      dense.at((when - step.t) / step.h, y);
      clear_turns<M>(y);
      if (step.any_held) project<M>(step.k, when, y, step.held, 3);
      OutputRow<M, Real> row;
      row.evaluate(batch, step, when, y);
      row.write(batch, step, y, 0, number * settings.outputs + index);
    }
  }

  // Several steps of one member may be refined at the same time.
  __device__ __forceinline__ static void raise_all(const Real* best, M& me) {
    ZWANG_REGISTERS for (int m = 0; m < Model::reductions; ++m) {
      if (is_extreme<Model>(m) && best[m] == best[m]) raise(m, best[m], me.refined.extremes[m]);
    }
  }
  // The better one of two values that may be missing (NaN), in one step for all lanes.
  __device__ __forceinline__ static void raise(int m, Real value, Real& known) {
    const bool largest = Reduction(Model::reduction_kind(m)) == Reduction::maximum;
    auto* const word = reinterpret_cast<decltype(word_of(value))*>(&known);
    auto before = *word;
    while (better_of(largest, number_of(before), value) == value && number_of(before) != value) {
      const auto seen = atomicCAS(word, before, word_of(value));
      if (seen == before) return;
      before = seen;
    }
  }
};

}  // namespace zwang
