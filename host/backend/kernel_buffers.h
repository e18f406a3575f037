// What the kernels read and write, in plain arrays, and the way from there to results: common to all backends that run
// the kernels.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "host/backend/backend.h"
#include "kernels/base/layout.h"
#include "src/reference/trajectory.h"
#include "src/system/system.h"

namespace zwang {

// Numbers by member, as the kernels count them.
struct KernelShape {
  KernelShape(const System& system, std::size_t output_times);
  std::size_t parameters, state, sample, outputs, observables, measures, event_row;

  // Bytes a member takes in all arrays together.
  std::size_t member_bytes(const Wanted& wanted, long long event_room) const;
};

// Results that are not brought here: no room is made for them.
struct Stay {
  bool observables = false, members = false;  // ends, measures and counts of each member
};

// Audit numbers as the kernels write them.
Audit audit_of(const double* numbers);

class KernelBuffers {
 public:
  // Members [begin, end) of the batch, which has to stay: their inputs, and room for their results. `event_room`: events
  // kept for each member, where events are wanted.
  KernelBuffers(const KernelShape& shape, const std::vector<double>& outputs, const Batch& batch,
                std::size_t begin, std::size_t end, const Wanted& wanted, long long event_room,
                Stay stay = {});

  std::size_t count() const { return static_cast<std::size_t>(batch_.count); }
  const KernelBatch& batch() const { return batch_; }  // pointers into this object
  KernelBatch& batch() { return batch_; }

  // One array: where it lies here, and its pointer in a KernelBatch (of this object, or a copy for a device).
  struct Array {
    void* data;  // null: it stays on the device, where every byte is `fill` at first
    std::size_t bytes;
    bool given;  // read by the kernels, not written
    unsigned char fill;
  };
  using Visit = std::function<void(const Array& array, const std::function<void(void*)>& point)>;
  // Every array there is; `point` sets the pointer in `batch`.
  void each_array(KernelBatch& batch, const Visit& visit);

  long long events_of(std::size_t member) const;  // how many happened, kept or not

  // These members' results, events apart. They are gone from here then.
  BatchResults take_results();
  // The events of one member, where they were wanted and all found room.
  MemberEvents events(std::size_t member, const System& system) const;

 private:
  KernelShape shape_;
  std::span<const double> parameters_, starts_;  // of the batch
  std::vector<double> outputs_;
  std::vector<int> prepared_, status_, redundant_;
  std::vector<double> end_time_, end_state_, measures_, observables_, states_, audits_, events_;
  std::vector<long long> steps_, event_counts_;
  KernelBatch batch_{};
  std::size_t count_ = 0;
  Wanted wanted_;
  Stay stay_;
};

// The results of the members that follow.
void append_results(BatchResults& to, BatchResults&& from);

// Events kept for each member at first; members with more are run again with room for all of theirs.
constexpr long long first_event_room = 64;

}  // namespace zwang
