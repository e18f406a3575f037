// A lane of zwang_step (entry/entry_cuda.h): takes members from the list of those in smooth motion, moves each
// by trial steps, and puts it on the list of what it needs next.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"
#include "kernels/entry/record_cuda.h"
#include "kernels/entry/slow_runs.h"
#include "kernels/entry/warp.h"
#include "kernels/lanes/lane_group.h"
#include "kernels/lanes/record_step.h"

namespace zwang {

// Number of idle lanes of a warp at which new members are loaded. Loading takes long, and the other lanes are
// idle meanwhile. Lanes that handle events in registers need new members less often.
constexpr int refill_threshold = 8, refill_threshold_with_events = 4;

// The work of an event while `rows` are held besides the equations: closed inequalities, and the slip rows of contacts
// that stick.
__device__ __forceinline__ SlowWork work_of_event(int rows) {
  return rows == 0 ? SlowWork::event : rows == 1 ? SlowWork::event_in_contact : SlowWork::event_in_contacts;
}
// The kind of work that the step of a lane is for the slow path.
template <class Group>
__device__ __forceinline__ SlowWork work_of_step(const Group& group) {
  const auto& flags = group.flags;
  if (!(flags.at_event || flags.crosses_on_series)) {
    const bool other = flags.stuck || flags.event_possible || flags.extremum_possible || flags.output_due;
    return flags.clipped && !other ? SlowWork::scheduled : SlowWork::step;
  }
  using Model = typename Group::Member::Model;
  int rows = 0;
  ZWANG_REGISTERS for (int i = 0; i < Group::Member::r; ++i) {
    rows += group.state.held[i] > 0 && !Model::is_equation(i) ? 1 : 0;
  }
  return work_of_event(rows);
}

// One lane of zwang_step.
template <class Group, bool events_in_registers>
struct SteppingLane {
  using M = typename Group::Member;
  Group& group;
  M* slots;
  const DeviceLists& lists;
  StepListRegion<M>& recorded;  // the steps of the warp that are left to zwang_record
  int filled;                   // index of the lists to fill
  bool busy = false, more = true, event_ready = false;
  unsigned slot = no_slot;
  int steps_left = 0;
  unsigned tries = 0, turns = 0;

  // Loads new members for the idle lanes of the warp if they are many enough, or if no other lane can step.
  // Once the list of recorded steps is full members are only passed on to the next turn.
  __device__ __forceinline__ void refill(WarpFeed& feed, int steps) {
    const bool full = records_steps<M> && __any_sync(whole_warp, recorded.is_full());
    const unsigned idle = __ballot_sync(whole_warp, !busy && more);
    if (__popc(idle) < (events_in_registers ? refill_threshold_with_events : refill_threshold) &&
        __any_sync(whole_warp, busy && !event_ready))
      return;
    const bool wanted = !busy && more;
    const unsigned next = feed.next(wanted);
    if (wanted) more = next != no_slot;
    if constexpr (records_steps<M>) {
      const WarpAppend passed_on(wanted && more && full, next, &lists.counters->moving[filled]);
      passed_on.write(lists.moving[filled]);
    }
    if (!wanted) return;
    busy = more && !full;
    if (busy) {
      slot = next;
      group.resume(slots + slot);
      steps_left = steps;
    }
  }

  __device__ __forceinline__ void try_step() {
    if (!busy || event_ready) return;
    ++tries;
    const bool records = group.step_once();
    if constexpr (records_steps<M>)
      if (records) {
        auto request = group.recorder().request(true);
        recorded.append(group, request, slot);
        if (recorded.is_full()) steps_left = 1;
      }
    finish_step();
  }
  // Handles the event of this step, which may have been truncated there and recorded.
  __device__ __forceinline__ void handle_event() {
    unsigned entry = no_slot;
    const auto record = [&](Group& from, auto& request) { entry = recorded.append(from, request, slot); };
    if (group.handle_event_in_registers(record)) return;
    if constexpr (records_steps<M>) recorded.drop(entry, slots[slot], group.batch);
    leave_to_slow_path();
  }

  __device__ __forceinline__ void finish_step() {
    const Progress made = group.finish_step();
    event_ready = made == Progress::at_event;
    if (made == Progress::needs_slow_path) {
      leave_to_slow_path();
    } else if (made == Progress::continues && --steps_left <= 0 && group.may_store()) {
      group.store_member();
      append_moving(lists, filled, slot);
      busy = false;
    }
  }

  __device__ __forceinline__ void leave_to_slow_path() {
    group.store_for_event_handling();
    append_waiting(lists, work_of_step(group), slot);
    busy = false;
  }
};

}  // namespace zwang
