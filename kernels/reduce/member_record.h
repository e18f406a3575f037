// The record of one member for members.nc: 8 bytes per number, the same layout on host and device. A device
// packs the records of its members, so that one copy brings home what is written.
#pragma once

#include "kernels/base/layout.h"
#include "kernels/base/portable.h"

namespace zwang {

// Places of the numbers, in units of 8 bytes. Counts, status and redundant are whole numbers of 64 bits, all
// others doubles.
struct RecordPlaces {
  int inputs, state, end_time, measures, position_moved, velocity_moved;
  int steps, rejected, events, attempts, status, redundant;
  int size;
};

// `inputs`: drawn parameters; `state`: numbers of (q, v, z).
ZWANG_INLINE RecordPlaces record_places(int inputs, int state, int measures) {
  RecordPlaces made{};
  made.inputs = 0;
  made.state = inputs;
  made.end_time = made.state + state;
  made.measures = made.end_time + 1;
  made.position_moved = made.measures + measures;
  made.velocity_moved = made.position_moved + 1;
  made.steps = made.velocity_moved + 1;
  made.rejected = made.steps + 1;
  made.events = made.rejected + 1;
  made.attempts = made.events + event_kinds;
  made.status = made.attempts + 1;
  made.redundant = made.status + 1;
  made.size = made.redundant + 1;
  return made;
}

// The arguments of pack_record_number; all pointers are of the memory in which it runs.
struct RecordJob {
  KernelBatch batch;
  RecordPlaces places;
  const int* drawn;  // for each input: its parameter
  int parameters;
  long long first;              // index of the first member to pack
  unsigned long long* records;  // members x places.size
};

// The number at place k of a member, as 64 bits. The start is taken as drawn at the first attempt and not
// moved: where that may be wrong, the host has prepared the start and enters what it knows.
ZWANG_INLINE unsigned long long record_number(const RecordJob& job, long long member, int k) {
  const RecordPlaces& at = job.places;
  const KernelBatch& batch = job.batch;
  if (k < at.state) return bits_of_double(batch.parameters[member * job.parameters + job.drawn[k]]);
  if (k < at.end_time)
    return bits_of_double(batch.end_state[member * (at.end_time - at.state) + (k - at.state)]);
  if (k == at.end_time) return bits_of_double(batch.end_time[member]);
  if (k < at.position_moved)
    return bits_of_double(batch.measures[member * (at.position_moved - at.measures) + (k - at.measures)]);
  if (k < at.steps) return 0;
  if (k < at.events) return static_cast<unsigned long long>(batch.steps[2 * member + (k - at.steps)]);
  if (k < at.attempts)
    return static_cast<unsigned long long>(batch.event_counts[member * event_kinds + (k - at.events)]);
  if (k == at.attempts) return 1;
  if (k == at.status) return static_cast<unsigned long long>(batch.status[member]);
  return batch.redundant[member] != 0 ? 1 : 0;
}

// i: member x number of its record.
ZWANG_INLINE void pack_record_number(const RecordJob& job, long long i) {
  job.records[i] = record_number(job, job.first + i / job.places.size, static_cast<int>(i % job.places.size));
}

}  // namespace zwang
