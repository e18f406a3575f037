// Who integrates members: one interface, several machines. A backend takes members as numbers and gives numbers back.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/statistics/reduction_plan.h"
#include "host/study/study.h"
#include "kernels/base/status.h"
#include "src/reference/reference.h"
#include "src/reference/trajectory.h"

namespace zwang {

// Members ready to be integrated: parameters drawn, starts on their conditions.
struct DrawPlan;
struct Batch {
  std::size_t count = 0;
  // Given: the backend draws the members itself, and the lists below are empty. For run_reduced of a backend that draws.
  const DrawPlan* drawn_there = nullptr;
  std::vector<double> parameters;  // count x parameters of the system, member by member
  std::vector<double> starts;      // count x (q, v, z)
  std::vector<Status> prepared;  // of the start: ok, or inconsistent_start (such a member is not integrated)
  // How the starts came about; a backend has no use for it.
  std::vector<double> position_moved, velocity_moved;  // count: by making the start consistent
  std::vector<unsigned> attempts;                      // count: draws made
};

// What to bring back beside the ends and measures.
struct Wanted {
  bool observables = true;  // at the output times
  bool states = false;      // q, v, z, multipliers and closed flags at the output times
  bool events = false;      // every event in full
};

// One event of one member, as in Trajectory.
using MemberEvents = std::vector<Event>;

// Numbers by member, in the order of the batch. Outputs a member did not reach are NaN.
struct BatchResults {
  std::vector<Status> status;              // count
  std::vector<double> end_time;            // count
  std::vector<double> end_state;           // count x (q, v, z): the last good state
  std::vector<double> measures;            // count x measures; NaN = missing
  std::vector<double> observables;         // count x outputs x observables, where wanted
  std::vector<double> states;              // count x outputs x (q, v, z, multipliers, closed), where wanted
  std::vector<MemberEvents> events;        // count, where wanted
  std::vector<long long> steps, rejected;  // count
  std::vector<long long> event_counts;     // count x event kinds (EventKind), always
  std::vector<Audit> audits;               // count
  std::vector<char> redundant;             // count: dependent rows were met
};

// A batch whose statistics were done where the members are.
struct ReducedBatch {
  std::vector<ReducedMembers> parts;  // in order, without gaps
  BatchResults members;               // where asked for; never observables
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;  // "cpu", "cuda", "reference"
  // In words: "4 lanes, dop853", "NVIDIA H200". Stands in result files, so it does not tell the number of threads.
  virtual std::string device() const = 0;
  virtual unsigned threads() const = 0;  // of this machine that integrate
  virtual BatchResults run(const Batch& batch, const Wanted& wanted) = 0;
  // Whether it can do the statistics itself: then only these leave the device. The batch's first member has a number that
  // is a multiple of 256; `members`: bring back ends and measures of each member too.
  virtual bool reduces() const { return false; }
  virtual bool draws() const { return false; }  // a batch may leave the drawing to it
  virtual ReducedBatch run_reduced(const Batch& batch, long long first, const ReductionPlan& plan,
                                   bool members);
  double compile_seconds = 0;  // spent before the first batch
};

}  // namespace zwang
