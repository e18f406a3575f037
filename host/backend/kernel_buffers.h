// The arrays that the kernels read and write, and their conversion to BatchResults. Shared by all backends
// that run the kernels.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "host/backend/backend.h"
#include "kernels/base/layout.h"
#include "src/reference/trajectory.h"
#include "src/system/system.h"

namespace zwang {

// Numbers per member in the kernels' arrays.
struct KernelShape {
  KernelShape(const System& system, std::size_t output_times);
  std::size_t parameters, state, sample, outputs, observables, measures, records, event_row;

  // Bytes per member in all arrays together.
  std::size_t member_bytes(const Wanted& wanted, long long event_room) const;
};

// Results that stay resident on the device; the host allocates no arrays for them.
struct ResidentResults {
  bool observables = false, members = false;  // ends, measures and counts of each member
};

// From the audit numbers as the kernels write them.
Audit audit_of(const double* numbers);

class KernelBuffers {
 public:
  // Inputs of the members [begin, end) of the batch, which must outlive this object, and arrays for their
  // results. `event_room`: rows of the event log per member, if events are wanted.
  KernelBuffers(const KernelShape& shape, const std::vector<double>& outputs, const Batch& batch,
                std::size_t begin, std::size_t end, const Wanted& wanted, long long event_room,
                ResidentResults resident = {});

  std::size_t count() const { return static_cast<std::size_t>(batch_.count); }
  const KernelBatch& batch() const { return batch_; }  // pointers into this object
  KernelBatch& batch() { return batch_; }

  // One array on the host, which corresponds to one pointer of a KernelBatch.
  struct Array {
    void* data;  // null: resident on the device, where every byte is initialised to `fill`
    std::size_t bytes;
    bool input;  // read by the kernels, not written
    unsigned char fill;
  };
  using Visit = std::function<void(const Array& array, const std::function<void(void*)>& point)>;
  // Visits all arrays; `point` sets the pointer of the array in `batch` (of this object, or a copy for a
  // device).
  void each_array(KernelBatch& batch, const Visit& visit);

  long long events_of(std::size_t member) const;  // all events, including those beyond event_room

  // Moves the results out, except the events.
  BatchResults take_results();
  // The events of one member, if events were wanted and the log had room for all of them.
  MemberEvents events(std::size_t member, const System& system) const;

 private:
  KernelShape shape_;
  std::span<const double> parameters_, starts_;  // into the batch
  std::vector<double> outputs_;
  std::vector<int> prepared_, status_, redundant_;
  std::vector<double> end_time_, end_state_, measures_, observables_, states_, audits_, events_, records_;
  std::vector<long long> steps_, event_counts_;
  KernelBatch batch_{};
  std::size_t count_ = 0;
  Wanted wanted_;
  ResidentResults resident_;
};

// Appends the results of the members that follow.
void append_results(BatchResults& to, BatchResults&& from);

// Rows of the event log per member in the first run. Members with more events are run again with room for
// all.
constexpr long long first_event_room = 64;

}  // namespace zwang
