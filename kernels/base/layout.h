// Types shared by host and kernels: kinds of events and measures, settings, the arrays for results, and the
// lists and counters of the GPU's work queues.
#pragma once

namespace zwang {

enum class EventKind {
  contact,       // an open position condition is reached
  touch,         // an open velocity condition is reached
  press,         // a closed condition with zero multiplier gets a positive multiplier
  release,       // a positive multiplier reaches zero
  shock,         // velocities jump
  impulse,       // an external impulse
  imposed,       // a condition comes into force
  lifted,        // a condition goes out of force
  accumulation,  // infinitely many shocks in finite time (Zeno), replaced by their limit
  event,         // a watched function crosses zero
  stop,          // the user's stop condition
  slide,         // a sticking contact begins to slip
  stick,         // a slipping contact comes to rest
  reverse,       // the slip of a contact, or a yielding constraint, passes through zero
  yield,         // a bounded multiplier reaches its bound
  lock,          // a yielding constraint holds again
  breaks         // a constraint reaches its bound and is gone for good
};
constexpr int event_kinds = 17;

// How a measure reduces a motion to one number, and which events it refers to.
enum class Reduction {
  initial,
  final,
  minimum,
  maximum,
  mean,
  integral,
  count,
  first,
  last,
  total,
  at,
  // Over the rows of a record.
  record_count,
  record_first,
  record_last,
  record_mean,
  record_minimum,
  record_maximum,
  record_std,
  record_period,
  record_label  // decided by the host once all members have ended
};
enum class EventPattern {
  none,
  shock,
  release,
  contact,
  accumulation,
  impulse,
  watched,
  slides,
  sticks,
  reverses,
  yields,
  locks,
  breaks,
  friction_impulse
};

// The numbers of [integrator] and [time]; their meaning is documented in src/base/settings.h.
struct KernelSettings {
  double step, rtol, atol, max_step;
  double contact_tolerance, rest_speed, accumulation_gap, painleve_margin;
  double end;
  // Fraction of a step that a low-order method may cover to reach an event
  // (rootfinding/step_length_search.h).
  double crossing_reach;
  long long max_steps, max_events;
  int outputs;  // number of output times
};

// Audit numbers of one member, in the order of struct Audit (src/reference/trajectory.h): seven
// violations, then the share that each group of laws uses of its bound (kernels/base/audit_bound.h).
constexpr int audit_violations = 7, audit_shares = 3;
constexpr int audit_numbers = audit_violations + audit_shares;

// One event in the log: t, kind, watched function, energy lost, velocities jump (0 or 1); then for each
// condition whether it is listed, whether it was reached, and its impulse; then the velocities before and
// after; then the state (q, v, z) after the event.
constexpr int event_row_head = 5;
constexpr int event_row_length(int coordinates, int conditions, int auxiliaries) {
  return event_row_head + 3 * conditions + 4 * coordinates + auxiliaries;
}

// The numbers of one record of a member: occurrences, and those counted; then rows of the time, the number of
// the occurrence and the values (kernels/record/member_records.h).
constexpr int record_head = 2, record_row_head = 2;
constexpr int record_row_length(int values) { return record_row_head + values; }

// Members and the arrays for their results, member after member. The pointer to an array that is not
// requested is null.
struct KernelBatch {
  long long count;
  const double* parameters;  // count x parameters
  const double* starts;      // count x (q, v, z)
  const int* prepared;       // count: status of the initial state
  const double* outputs;     // output times
  int* status;               // count
  double* end_time;          // count
  double* end_state;         // count x (q, v, z)
  double* measures;          // count x measures
  double* observables;       // count x outputs x observables
  double* states;            // count x outputs x (q, v, z, multipliers, closed)
  long long* steps;          // count x (taken, rejected)
  long long* event_counts;   // count x event_kinds
  double* audits;            // count x audit_numbers
  int* redundant;            // count
  double* events;            // count x event_capacity x event_row_length
  long long event_capacity;  // rows per member; further events are counted, not written
  double* records;           // count x Model::record_room
  // 3 clock tick sums: total, events and outputs, starts and ends of members. Null: not counted.
  long long* ticks;
};

// Threads in a block of the GPU kernels (entry/entry_cuda.h).
constexpr int cuda_threads = 128;
// Registers that functions of the slow path may use. They are compiled apart from the kernels that call them,
// which must have at least as many. With friction or bounds a member's numbers are in local memory, and fewer warps leave
// each more of the L1 cache.
constexpr int cuda_function_registers(bool friction) { return friction ? 168 : 128; }

// Kinds of work for the slow path. Each has a list of its own, so that the lanes of a warp execute the same code.
enum class SlowWork : int {
  start,              // an empty slot
  scheduled,          // a scheduled time
  event,              // the event at a step's end, while no inequality is closed and no contact sticks
  event_in_contact,   // the same while one row is held besides the equations
  event_in_contacts,  // the same while several are
  step,               // outputs and events inside a step, steps that no lane can take
};
constexpr int slow_works = 6;

// A run of the slow path: one launch of zwang_slow_path that has been given a list of slots. Several are under way at the
// same time, while turns of the other kernels follow each other (entry/slow_runs.h).
enum class SlowRunState : unsigned { idle, under_way, ended };
struct SlowRun {
  unsigned state;        // SlowRunState
  unsigned turn, copy;   // the turn whose launch it is, and the copy of the list `waiting` that it reads
  unsigned entries;      // length of that list
  unsigned taken;        // entries that warps have taken
  unsigned blocks_done;  // of its launch
  unsigned resumed;      // length of the list that it fills
  unsigned from, until;  // the entries of that list that zwang_event distributes in the next turn
  unsigned complete;     // not zero: there will be no others
};
// When runs begin, and when the members that they have handled go on; a property of the model (docs/gpu.md).
enum class SlowRunRule : unsigned long long {
  prompt,    // entries are short: a run begins as soon as members wait; they go on one by one
  gathered,  // with friction or bounds: a run begins when enough members wait; they go on when it ends
  overlapping,  // with many frictional contacts, where some entries take a thousand times as long as others: a run begins
                // when those before it have handed out their entries; members go on one by one
};
// The number of runs. Eight overlap: most are under way with their last warps only.
constexpr unsigned slow_runs(SlowRunRule rule) { return rule == SlowRunRule::overlapping ? 8 : 3; }
constexpr unsigned most_slow_runs = slow_runs(SlowRunRule::overlapping),
                   most_waiting_copies = most_slow_runs + 1;
// Frictional contacts from which runs overlap.
constexpr int many_frictional_contacts = 8;

// Counters shared by the kernels of one batch. Lists come in pairs: one is filled while the other is read,
// and they change places after every turn (entry/entry_cuda.h). Of the list `waiting` there is a copy for each run of the
// slow path and one that is being filled.
struct DeviceCounters {
  unsigned long long next_member;
  unsigned at_event[2], moving[2], waiting[most_waiting_copies][slow_works];  // lengths of the lists
  unsigned filled;       // the copy of the list `waiting` that is being filled
  unsigned blocks_done;  // of zwang_event in this turn
  unsigned taken;        // entries of the list `moving` that have been taken
  unsigned handled;      // length of the list `at_event` in the last turn
  SlowRun runs[most_slow_runs];
  // Trial steps of all lanes, and the number there was time for: the occupancy of stepping lanes.
  unsigned long long busy, possible;
};

// Steps that lanes leave to zwang_record, for the outputs and extremes inside them (entry/record_cuda.h). Each
// warp of the kernel that fills the list has a region of its own.
struct DeviceStepList {
  void* numbers;       // by region, number and entry
  unsigned* slots;     // the slot of each entry's member, or no slot
  unsigned* tags;      // index of the first output, and what is to be recorded
  unsigned* extremes;  // the entries of each region with extremes
  unsigned* counts;    // of each region: entries, entries with extremes
  unsigned capacity;   // entries in a region
  unsigned regions;
};

struct DeviceLists {
  DeviceCounters* counters;
  unsigned* at_event;  // slots whose step ends at an event
  // Slots that wait for the slow path, with one of the marks below or none: `slots` of them by kind of work.
  unsigned* waiting[most_waiting_copies];
  unsigned* moving[2];  // slots in smooth motion
  // Slots that a run of the slow path has left, with the mark `alone` or none; all bits set where nothing has been
  // written yet.
  unsigned* resumed[most_slow_runs];
  unsigned runs;            // the number of runs of the slow path
  unsigned slots;           // the room in each list
  unsigned enough_waiting;  // entries with which a run of the slow path begins, unless its rule is `prompt`
  // Steps to be recorded that zwang_step and zwang_event have left; empty for studies with nothing to record.
  DeviceStepList steps, events;
  // Marks of waiting slots. empty: the slot needs a new member. event_pending: the member is at the event at
  // the end of its step, which still has to be dispatched. alone: it has more steps to take in the slow path.
  // Without a mark its step has to be handled.
  static constexpr unsigned empty = 0x80000000U, event_pending = 0x40000000U, alone = 0x20000000U,
                            marks = empty | event_pending | alone;
};

}  // namespace zwang
