// The result of one member's motion: samples at the output times, events, measures, audit.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/reference/accumulation.h"
#include "src/system/equations.h"

namespace zwang {

std::string event_kind_name(EventKind kind);

// The kind of event that a pattern of friction or bounds refers to; nothing for other patterns.
std::optional<EventKind> mode_event(EventPattern pattern);

// As a number of trial steps.
constexpr long long no_limit = std::numeric_limits<long long>::max();

struct Event {
  double t = 0;
  EventKind kind = EventKind::contact;
  std::vector<std::size_t> constraints{};  // by kind: reached, released, with l > 0, imposed ...
  // Of a shock: the conditions that caused it. Of an accumulation: those that its remaining shocks strike.
  std::vector<std::size_t> reached{};
  std::size_t watch = 0;  // of a watched event
  // Of shocks, impulses and impositions:
  bool velocities_jump = false;
  // Size of the reaction's impulse, by entry of struck(). Of an accumulation: the sum over the shocks that
  // are not listed.
  std::vector<double> impulses{};
  double energy_lost = 0;
  Eigen::VectorXd velocity_before{}, velocity_after{};
  State state{};  // after the event

  // The conditions that the impulses belong to.
  const std::vector<std::size_t>& struck() const {
    return kind == EventKind::accumulation ? reached : constraints;
  }
};

struct Sample {
  State state;
  Eigen::VectorXd multipliers;  // one per condition
  std::vector<double> closed;   // one per condition, 0 or 1
  std::vector<double> observables;
};

struct Audit {
  double position_violation = 0;  // largest remaining |f| of equations and closed conditions
  double velocity_violation = 0;  // largest |f'| or |g|
  double energy_drift = 0;        // largest |E + lost - work - E(0)|
  double energy_size = 0;         // largest of |T|, |V| and |work|: the scale of the drift
  double kkt = 0;                 // largest kkt_residual()
  double carnot = 0;              // largest violation of Carnot's identity
  // Largest T(v+) - T(v-) at a shock with fixed conditions and no external impulse.
  double energy_created = 0;
  // Shares of what the tolerances explain (kernels/base/audit_bound.h); above 1: the motion is inaccurate.
  double energy_share = 0, condition_share = 0, shock_share = 0;
};

// One state that was kept by a record.
struct RecordRow {
  double t = 0;
  long long occurrence = 0;  // its number among all since the start
  std::vector<double> values;
};
struct MemberRecord {
  long long occurrences = 0, total = 0;  // all; those since `from` and after `skip`
  std::vector<RecordRow> rows;           // those kept
};

struct Trajectory {
  Status status = Status::ok;
  std::string cause;  // in words, when the status is not ok
  bool redundant = false;
  double position_moved = 0, velocity_moved = 0;  // by making the start consistent
  bool start_consistent = true;
  std::vector<Sample> samples;  // at the output times reached
  Sample last;                  // where the member ended
  std::vector<Event> events;
  std::vector<double> reductions;     // over the whole motion; NaN = missing
  std::vector<double> measures;       // measures, then flags (System::member_value_formulas); NaN = missing
  std::vector<MemberRecord> records;  // as System::records
  std::vector<int> sides;  // of watched functions where it ended: -1, +1, 0 (never clearly off zero)
  std::optional<AccumulationWatch> shocks;  // the last ones, of which an accumulation may become
  Audit audit;
  long long steps = 0, rejected = 0;
  bool given_up = false;  // Plan::max_trial_steps was used up; the status is step_limit
};

}  // namespace zwang
