// Interface of the backends, which integrate batches of members: arrays of numbers in, arrays of numbers out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/estimators/rank_correlation.h"
#include "host/statistics/deferred_plan.h"
#include "host/statistics/reduction_plan.h"
#include "host/study/study.h"
#include "kernels/base/status.h"
#include "src/reference/reference.h"
#include "src/reference/trajectory.h"

namespace zwang {

class MemberRecordLayout;
struct DrawPlan;

// Members prepared for integration: parameters drawn, starts made consistent with the constraints.
struct Batch {
  std::size_t count = 0;
  // If set, the backend draws the members itself and the lists below are empty. Only for run_reduced of a
  // backend whose draws() is true.
  const DrawPlan* device_sampling = nullptr;
  std::vector<double> parameters;  // count x parameters of the system, member by member
  std::vector<double> starts;      // count x (q, v, z)
  std::vector<Status> prepared;    // count: ok, or inconsistent_start (such a member is not integrated)
  // How the starts were prepared; backends do not read it.
  std::vector<double> position_moved, velocity_moved;  // count: by making the start consistent
  std::vector<double> drawn_change;                    // count: PreparedMember::drawn_change
  std::vector<int> drawn_change_of;                    // count
  std::vector<unsigned> attempts;                      // count: draws made
};

// Results to return in addition to end states and measures.
struct Wanted {
  bool observables = true;  // at the output times
  bool states = false;      // q, v, z, multipliers and closed flags at the output times
  bool events = false;      // every event in full
};

// The events of one member, as in Trajectory.
using MemberEvents = std::vector<Event>;

// Results by member, in the order of the batch. Outputs that a member did not reach are NaN.
struct BatchResults {
  std::vector<Status> status;              // count
  std::vector<double> end_time;            // count
  std::vector<double> end_state;           // count x (q, v, z): the last good state
  std::vector<double> measures;            // count x measures; NaN: never occurred
  std::vector<double> records;             // count x System::record_room() (kernels/base/layout.h)
  std::vector<double> observables;         // count x outputs x observables, if wanted
  std::vector<double> states;              // count x outputs x (q, v, z, multipliers, closed), if wanted
  std::vector<MemberEvents> events;        // count, if wanted
  std::vector<long long> steps, rejected;  // count
  std::vector<long long> event_counts;     // count x event kinds (EventKind), always
  std::vector<Audit> audits;               // count
  std::vector<char> redundant;             // count: dependent constraints occurred
};

// A batch whose statistics were computed on the device.
struct ReducedBatch {
  std::vector<ReducedMembers> parts;  // in order, without gaps
};

// Where a backend puts the records of members (host/backend/member_bytes.h).
struct RecordTarget {
  const MemberRecordLayout* layout = nullptr;  // null: no records are wanted
  char* records = nullptr;                     // batch.count x layout->bytes()
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;  // "cpu", "cuda", "reference"
  // For example "4 lanes, dop853" or "NVIDIA H200". Written to result files, so it must not depend on the
  // number of threads.
  virtual std::string device() const = 0;
  virtual unsigned threads() const = 0;  // host threads that integrate
  virtual BatchResults run(const Batch& batch, const Wanted& wanted) = 0;
  // Whether run_reduced is available, which computes the statistics on the device and copies only these.
  // `first`, the number of the batch's first member, is a multiple of 256. Records hold what the device
  // knows; how the host has prepared the starts has to be entered afterwards.
  virtual bool reduces() const { return false; }
  virtual bool draws() const { return false; }  // whether it accepts Batch::device_sampling
  // The fewest members for which run_reduced is faster than copying them to the host: a GPU is not filled by
  // fewer.
  virtual long long fewest_reduced() const { return 1 << 14; }
  virtual ReducedBatch run_reduced(const Batch& batch, long long first, DeferredPlan& plan,
                                   const RecordTarget& records);
  // How many calls of run_reduced may be under way at the same time, from different threads.
  virtual std::size_t batches_at_once() const { return 1; }
  // Ranks long columns on the device; empty: the host does it.
  virtual ColumnRanker column_ranker() const { return {}; }
  // Nothing will be integrated any more, and no values are left on the device: its memory may be released,
  // which takes a while, on a thread of its own.
  virtual void retire() {}
  double compile_seconds = 0;  // spent before the first batch
};

}  // namespace zwang
