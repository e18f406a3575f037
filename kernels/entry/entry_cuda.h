// The entry points of a compiled study on a GPU.
//
// Members in progress are in slots in global memory; there are more slots than lanes. The kernels pass slots
// to each other by lists. `read` is the index (0 or 1) of the lists that a turn reads, `1 - read` of those it
// fills for the next turn.
//
//   kernel            takes slots from   puts slots on                       work
//   zwang_open        -                  waiting                             every slot needs a first member
//   zwang_event       at_event           moving[read], waiting               the common event at a step's end
//   zwang_slow_path   waiting            resumed                             other events, outputs, starts
//   zwang_step        moving[read]       at_event, moving[1 - read], waiting smooth steps
//   zwang_record      -                  -                                   outputs and extremes inside steps
//                                                                            (entry/record_cuda.h)
//
// A turn is zwang_event, zwang_step and zwang_record. Runs of zwang_slow_path are under way beside them on streams of their
// own and may last for many turns: at its end zwang_event decides whether one begins, on the copy of `waiting` that has been
// filled so far, and at the beginning of later turns it distributes the slots that the runs have resumed
// (entry/slow_runs.h).
// In zwang_step a lane moves one member in registers; when the member needs anything else, the lane stores
// it, puts its slot on a list and takes the next slot. So the lanes of a warp execute the same code together,
// and a member that takes long occupies one lane only. Lanes of small systems with power series handle the
// common event within zwang_step, all lanes of a block at the same time (events_in_registers). The assignment
// of slots to lanes depends on timing; the numbers of a member do not.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/dynamics/mass.h"
#include "kernels/dynamics/member.h"
#include "kernels/entry/record_cuda.h"
#include "kernels/entry/slow_runs.h"
#include "kernels/entry/stepping_lane.h"
#include "kernels/entry/warp.h"
#include "kernels/lanes/fast_event.h"
#include "kernels/lanes/lane_group.h"
#include "kernels/lanes/record_step.h"
#include "kernels/member/slow_path.h"

namespace zwang {

// Trial steps of a lane on one member before it stores the member and takes another, so that no slot falls
// behind during a long smooth motion. More in turns after which few members were at an event: fewer than one
// in `quiet_ratio`.
constexpr int trial_steps_per_turn = 32, trial_steps_per_quiet_turn = 128, quiet_ratio = 16;

// `few_interruptions`: members leave their lane mainly for events, not for outputs or extremes
// (host/program).
template <class Model, class Method, class Real, bool few_interruptions>
struct CudaEntry {
  using M = Member<Model, Method, Real>;
  using Group = LaneGroup<M, Real>;

  // Event handling within zwang_step is long code. It pays only for models that need few registers, and only
  // if the lanes of a block execute it together: one warp alone would make the others wait for instructions.
  static constexpr bool events_in_registers =
      few_interruptions && Group::finds_crossings_on_series && M::n == 1;

  // The search of a lane is in shared memory, and so is its ledger where that leaves registers for more
  // lanes; larger systems use all registers anyway. An odd number of words avoids bank conflicts between the
  // lanes of a warp.
  static constexpr bool ledger_in_shared_memory = M::n == 1;
  using Ledger = typename Group::Ledger;
  struct LaneScratch : OnlyIf<ledger_in_shared_memory, Ledger>::Type {
    typename Group::Search search;
  };
  struct PaddedScratch : LaneScratch {
    Real padding[sizeof(LaneScratch) / sizeof(Real) % 2 == 0 ? 1 : 2];
  };
  // Searches of models with many conditions are too long for shared memory.
  static constexpr bool scratch_in_shared_memory =
      cuda_threads * sizeof(PaddedScratch) <= shared_bytes_of_table;

  __device__ __forceinline__ static Ledger& ledger_of(LaneScratch& scratch, Ledger& in_registers) {
    if constexpr (ledger_in_shared_memory)
      return scratch;
    else
      return in_registers;
  }

  // --- zwang_step ---------------------------------------------------------------------------------------

  using Lane = SteppingLane<Group, events_in_registers>;

  __device__ __forceinline__ static void step(const KernelSettings& settings, const KernelBatch& batch,
                                              M* slots, const DeviceLists& lists, int read) {
    const unsigned count = lists.counters->moving[read];
    const bool quiet = lists.counters->handled < count / quiet_ratio;
    const int steps = quiet ? trial_steps_per_quiet_turn : trial_steps_per_turn;
    __shared__ PaddedScratch shared_scratch[scratch_in_shared_memory ? cuda_threads : 1];
    __shared__ WarpBuffer buffers[events_in_registers ? 1 : cuda_threads / warp_lanes];
    __shared__ BlockVotes votes;
    __shared__ StepListRegion<M> regions[records_steps<M> ? cuda_threads / warp_lanes : 1];
    LaneScratch own;
    Ledger in_registers;
    LaneScratch& scratch = scratch_in_shared_memory ? shared_scratch[threadIdx.x] : own;
    Group group(settings, batch, slots, &scratch.search, ledger_of(scratch, in_registers));
    typename Group::Steps::Stages stages;
    typename Group::Drives drives;
    group.trial.step.stages = &stages;
    group.trial.drive = &drives;
    WarpFeed feed(lists.moving[read], count, &lists.counters->taken);
    WarpBuffer& at_event = buffers[events_in_registers ? 0 : threadIdx.x / warp_lanes];
    unsigned* const at_event_total = &lists.counters->at_event[1 - read];
    unsigned at_event_count = 0;
    EventPhase event_phase;
    StepListRegion<M>& recorded = regions[records_steps<M> ? threadIdx.x / warp_lanes : 0];
    const unsigned warp = (blockIdx.x * cuda_threads + threadIdx.x) / warp_lanes;
    if (records_steps<M> && threadIdx.x % warp_lanes == 0) recorded.open(lists.steps, warp);
    __syncwarp();
    Lane lane{group, slots, lists, recorded, 1 - read};
    for (;;) {
      lane.refill(feed, steps);
      if (!events_in_registers && !__any_sync(whole_warp, lane.busy || (records_steps<M> && lane.more)))
        break;
      ++lane.turns;
      lane.try_step();
      if constexpr (events_in_registers) {
        const BlockVote vote =
            votes.count(lane.event_ready, !lane.event_ready && (lane.busy || lane.more), lane.turns);
        if (vote.at_event + vote.others == 0) break;
        if (!event_phase.begins(vote)) continue;
        if (lane.event_ready) lane.handle_event();
      } else {
        if (lane.event_ready) {
          group.store_for_event_handling();
          lane.busy = false;
        }
        at_event.add(lane.event_ready, lane.slot, at_event_count, lists.at_event, at_event_total);
      }
      lane.event_ready = false;
    }
    if constexpr (!events_in_registers) at_event.flush(at_event_count, lists.at_event, at_event_total);
    __syncwarp();
    if (records_steps<M> && threadIdx.x % warp_lanes == 0) recorded.close();
    count_tries(lists, lane.tries, lane.turns);
  }

  // Sums over the warp first: otherwise all lanes would contend for the counters at the end of every turn.
  __device__ __forceinline__ static void count_tries(const DeviceLists& lists, unsigned tries,
                                                     unsigned turns) {
    const unsigned busy = sum_of_warp(tries), possible = sum_of_warp(turns);
    if (threadIdx.x % warp_lanes == 0 && possible > 0) {
      atomicAdd(&lists.counters->busy, (unsigned long long)busy);
      atomicAdd(&lists.counters->possible, (unsigned long long)possible);
    }
  }

  // --- zwang_event --------------------------------------------------------------------------------------

  // The lists that the last turn has read are filled in this one.
  __device__ __forceinline__ static void begin_turn(DeviceCounters& counters, int read) {
    counters.handled = counters.at_event[read];
    counters.at_event[1 - read] = counters.moving[1 - read] = counters.taken = 0;
  }

  __device__ static void handle_events_at_step_end(const KernelSettings& settings, const KernelBatch& batch,
                                                   M* slots, const DeviceLists& lists, unsigned turn,
                                                   unsigned launched) {
    const int read = int(turn % 2);
    if (blockIdx.x == 0 && threadIdx.x == 0) begin_turn(*lists.counters, read);
    collect_resumed(lists, read);
    if constexpr (FastEvent<M, Real>::possible)
      handle_fast_events(settings, batch, slots, lists, read);
    else
      handle_events_in_memory(slots, lists, read);
    begin_slow_run<slow_run_rule>(lists, turn, launched);
  }

  // The front of a member contains what a fast event needs, and in front of that what it may change
  // (dynamics/member.h).
  using EventTable = StagedMembers<M, M::bytes_needed_by_events>;
  static_assert(M::bytes_changed_by_events <= M::bytes_needed_by_events,
                "changed data is part of what is loaded");
  static constexpr bool stages_members = FastEvent<M, Real>::possible && EventTable::fits;
  // Small members are staged whole for the slow path.
  using SlowPathTable = StagedMembers<M, int(sizeof(M))>;
  // Larger ones are copied into the memory of their thread, but for those of long models.
  static constexpr bool copies_members = !SlowPathTable::fits && !is_long_model<typename M::Model>;
  static constexpr int event_threads = stages_members ? warp_lanes : cuda_threads;
  // One warp a block: in larger blocks warps that have ended would keep their registers until the last one ends.
  static constexpr int slow_path_threads = warp_lanes;
  // Blocks on a multiprocessor: as many as its shared memory has room for, so that each gets as many
  // registers as possible, and not more than leave registers for the functions.
  ZWANG_CONSTANT static constexpr int slow_path_blocks(int otherwise) {
    const int room =
                  int(shared_bytes_of_processor / (sizeof(SlowPathTable) + shared_bytes_reserved_by_block)),
              most = registers_of_processor /
                     (cuda_function_registers(ModesOf<typename M::Model>::any) * slow_path_threads);
    return !SlowPathTable::fits ? otherwise * cuda_threads / slow_path_threads : room < most ? room : most;
  }

  // Padding between the fields of a new member is written too, because it is copied along with them.
  __device__ __forceinline__ static void clear(M& me) {
    if constexpr (stages_members && !SlowPathTable::fits)
      for (int i = 0; i < EventTable::stride - 1; ++i) reinterpret_cast<WideWord*>(&me)[i] = WideWord{};
  }

  // Fast events; the rest waits for the slow path.
  __device__ __forceinline__ static void handle_fast_events(const KernelSettings& settings,
                                                            const KernelBatch& batch, M* slots,
                                                            const DeviceLists& lists, int read) {
    const unsigned count = lists.counters->at_event[read];
    typename Group::Search search;
    Ledger lane_ledger;
    Group group(settings, batch, slots, &search, lane_ledger);
    typename Group::Steps::Stages stages;
    group.trial.step.stages = &stages;
    constexpr bool records = records_steps<M> && Group::finds_crossings_on_series;
    __shared__ StepListRegion<M> regions[records ? event_threads / warp_lanes : 1];
    StepListRegion<M>& recorded = regions[records ? threadIdx.x / warp_lanes : 0];
    if (records && threadIdx.x % warp_lanes == 0)
      recorded.open(lists.events, (blockIdx.x * event_threads + threadIdx.x) / warp_lanes);
    __syncwarp();
    const auto handle = [&](M* front, unsigned slot) {
      unsigned entry = no_slot;
      const auto record = [&](Group& from, auto& request) { entry = recorded.append(from, request, slot); };
      if (group.handle_stored_event(front, slots + slot, record)) return true;
      if constexpr (records) recorded.drop(entry, slots[slot], batch);
      return false;
    };
    if constexpr (stages_members) {
      __shared__ EventTable staged;
      // From the end of the list: the members stored last may still be cached.
      const auto entry = [&](unsigned i) { return i < count ? lists.at_event[count - 1 - i] : no_slot; };
      unsigned slot = entry(blockIdx.x * warp_lanes + threadIdx.x);
      for (unsigned first = blockIdx.x * warp_lanes; first < count; first += gridDim.x * warp_lanes) {
        const unsigned next = entry(first + gridDim.x * warp_lanes + threadIdx.x);
        staged.load(slots, slot);
        const bool present = slot != no_slot, handled = present && handle(staged.own(), slot);
        if (handled) group.store_member();
        const WarpAppend moving(handled, slot, &lists.counters->moving[read]);
        staged.template store<M::bytes_changed_by_events>(slots, handled ? slot : no_slot);
        moving.write(lists.moving[read]);
        if (present && !handled) append_waiting(lists, work_of_step(group), slot);
        slot = next;
      }
    } else {
      for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const unsigned slot = lists.at_event[i];
        if (handle(slots + slot, slot)) {
          group.store_member();
          append_moving(lists, read, slot);
        } else {
          append_waiting(lists, work_of_step(group), slot);
        }
      }
    }
    __syncwarp();
    if (records && threadIdx.x % warp_lanes == 0) recorded.close();
  }

  __device__ static void handle_events_in_memory(M* slots, const DeviceLists& lists, int read) {
    const unsigned count = lists.counters->at_event[read];
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
      const unsigned slot = lists.at_event[i];
      M& me = slots[slot];
      if (!try_event_at_step_end(me)) {
        append_waiting(lists, work_of_event(closed_rows(me)), slot | DeviceLists::event_pending);
      } else if (continue_from_event(me)) {
        if (me.exchange.verdict.continues_alone)
          append_waiting(lists, SlowWork::step, slot | DeviceLists::alone);
        else
          append_moving(lists, read, slot);
      } else {
        append_waiting(lists, SlowWork::start, slot | DeviceLists::empty);
      }
    }
  }
  __device__ static int closed_rows(const M& me) {
    int rows = 0;
    for (int i = 0; i < M::r; ++i) rows += me.constraints.conditions[i].standing == Standing::closed ? 1 : 0;
    return rows;
  }

  // --- zwang_slow_path ----------------------------------------------------------------------------------

  // With friction or bounds an entry takes milliseconds, and some take ten times as long as others; with many frictional
  // contacts some take seconds, since all choices of sticking and slipping have to be tried.
  ZWANG_CONSTANT static constexpr SlowRunRule rule_of_slow_runs() {
    if constexpr (ModesOf<typename M::Model>::any)
      return M::Model::frictions >= many_frictional_contacts ? SlowRunRule::overlapping
                                                             : SlowRunRule::gathered;
    else
      return SlowRunRule::prompt;
  }
  static constexpr SlowRunRule slow_run_rule = rule_of_slow_runs();

  __device__ static void run_slow_path(const KernelSettings& settings, const KernelBatch& batch, M* slots,
                                       const DeviceLists& lists, unsigned turn, unsigned number) {
    SlowRun& run = lists.counters->runs[number];
    if (run.state != unsigned(SlowRunState::under_way) || run.turn != turn) return;
    const WaitingLists waiting(lists, run.copy);
    SlowRunFeed feed(run, waiting);
    if constexpr (SlowPathTable::fits) {
      __shared__ SlowPathTable staged;
      while (feed.next()) {
        const unsigned entry = feed.entry(), slot = feed.slot();
        staged.load(slots, (entry & DeviceLists::empty) != 0 ? no_slot : slot);
        const bool going = entry != no_slot && handle_entry(*staged.own(), settings, batch, lists, entry);
        const bool alone = going && staged.own()->exchange.verdict.continues_alone;
        const WarpAppend resumed(going, alone ? slot | DeviceLists::alone : slot, &run.resumed);
        staged.template store<int(sizeof(M))>(slots, going ? slot : no_slot);
        resumed.publish_to(lists.resumed[number]);
      }
    } else if constexpr (copies_members) {
      LocalMember<M> own;
      while (feed.next()) {
        const unsigned entry = feed.entry(), slot = feed.slot();
        if (entry == no_slot) continue;
        if ((entry & DeviceLists::empty) == 0) own.load(slots[slot]);
        if (!handle_entry(own.member(), settings, batch, lists, entry)) continue;
        own.store(slots[slot]);
        append_resumed(lists, number, slot, own.member().exchange.verdict.continues_alone);
      }
    } else {
      while (feed.next()) {
        const unsigned entry = feed.entry(), slot = feed.slot();
        if (entry == no_slot || !handle_entry(slots[slot], settings, batch, lists, entry)) continue;
        append_resumed(lists, number, slot, slots[slot].exchange.verdict.continues_alone);
      }
    }
    end_slow_run(run);
  }

  // One waiting member; when it ends, its slot gets the next one. False if there are no more members.
  __device__ __forceinline__ static bool handle_entry(M& me, const KernelSettings& settings,
                                                      const KernelBatch& batch, const DeviceLists& lists,
                                                      unsigned entry) {
    bool going = (entry & DeviceLists::empty) == 0;
    if (going)
      going = (entry & DeviceLists::alone) != 0           ? prepare_next_step(me)
              : (entry & DeviceLists::event_pending) != 0 ? dispatch_at_step_end(me)
                                                          : handle_member(me);
    while (!going) {
      const long long number = (long long)atomicAdd(&lists.counters->next_member, 1ULL);
      if (number >= batch.count) return false;
      clear(me);
      going = start_member(me, settings, batch, number);
    }
    return true;
  }

  // --- zwang_open ---------------------------------------------------------------------------------------

  __device__ static void open(const DeviceLists& lists, unsigned slots) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < slots; i += gridDim.x * blockDim.x)
      lists.waiting[0][i] = i | DeviceLists::empty;
    if (blockIdx.x == 0 && threadIdx.x == 0) lists.counters->waiting[0][int(SlowWork::start)] = slots;
  }
};

}  // namespace zwang

// Functions of the slow path that events in memory call too. `which` is `template` in the unit that contains
// them and `extern template` in the other; both units are linked.
#define ZWANG_CUDA_SHARED_EVENTS(which, Entry)                  \
  which bool zwang::try_event_at_step_end<Entry::M>(Entry::M&); \
  which bool zwang::continue_from_event<Entry::M>(Entry::M&);

// One kernel in each program, compiled in parallel. `blocks` blocks of `threads` threads should fit on a
// multiprocessor. zwang_step and zwang_event read their settings from constant memory (kernel parameters).
// Members keep pointers to their settings from launch to launch, so zwang_slow_path gets them in global
// memory.
#define ZWANG_CUDA_STEP(Entry, threads, blocks)                                                              \
  extern "C" __device__ unsigned long long zwang_slot_bytes = sizeof(Entry::M);                              \
  extern "C" __device__ unsigned long long zwang_listed_step_bytes =                                         \
      zwang::ListedStep<Entry::M>::numbers() * sizeof(Entry::M::Real);                                       \
  extern "C" __device__ unsigned long long zwang_slow_run_rule = (unsigned long long)(Entry::slow_run_rule); \
  extern "C" __global__ void __launch_bounds__(threads)                                                      \
      zwang_open(const __grid_constant__ zwang::DeviceLists lists, unsigned slots) {                         \
    Entry::open(lists, slots);                                                                               \
  }                                                                                                          \
  extern "C" __global__ void __launch_bounds__(threads, blocks)                                              \
      zwang_step(const __grid_constant__ zwang::KernelSettings settings,                                     \
                 const __grid_constant__ zwang::KernelBatch batch, Entry::M* slots,                          \
                 const __grid_constant__ zwang::DeviceLists lists, int read) {                               \
    Entry::step(settings, batch, slots, lists, read);                                                        \
  }
#define ZWANG_CUDA_EVENT(Entry, threads, blocks)                                                        \
  extern "C" __global__ void __launch_bounds__(Entry::event_threads,                                    \
                                               (blocks) * (threads) / Entry::event_threads)             \
      zwang_event(const __grid_constant__ zwang::KernelSettings settings,                               \
                  const __grid_constant__ zwang::KernelBatch batch, Entry::M* slots,                    \
                  const __grid_constant__ zwang::DeviceLists lists, unsigned turn, unsigned launched) { \
    Entry::handle_events_at_step_end(settings, batch, slots, lists, turn, launched);                    \
  }
#define ZWANG_CUDA_SLOW_PATH(Entry, threads, blocks)                                                      \
  extern "C" __global__ void __launch_bounds__(Entry::slow_path_threads, Entry::slow_path_blocks(blocks)) \
      zwang_slow_path(const zwang::KernelSettings* settings, const zwang::KernelBatch* batch,             \
                      Entry::M* slots, const __grid_constant__ zwang::DeviceLists lists, unsigned turn,   \
                      unsigned run) {                                                                     \
    Entry::run_slow_path(*settings, *batch, slots, lists, turn, run);                                     \
  }
#define ZWANG_CUDA_RECORD(Entry, threads, blocks)                                     \
  extern "C" __global__ void __launch_bounds__(threads, blocks)                       \
      zwang_record(const __grid_constant__ zwang::KernelSettings settings,            \
                   const __grid_constant__ zwang::KernelBatch batch, Entry::M* slots, \
                   const __grid_constant__ zwang::DeviceLists lists) {                \
    zwang::CudaRecorder<Entry::M>::run(settings, batch, slots, lists);                \
  }
