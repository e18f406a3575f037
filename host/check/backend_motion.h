// The motion of one member as a backend reports it, in the form in which a check reads it.
#pragma once

#include "host/backend/backend.h"
#include "host/check/reference_pair.h"
#include "host/study/study.h"
#include "kernels/base/status.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

struct BackendMotion {
  Status status = Status::ok;
  State start, end;  // end.t: the time at which the member ended
  std::vector<double> parameters;
  std::vector<Sample> samples;  // one per output time
  std::vector<char> reached;    // one per output time
  std::vector<Event> events;
  std::vector<long long> event_counts;  // by kind
  std::vector<double> measures;
  long long trial_steps = 0;  // accepted and rejected
};

// Trial steps of the backend by which a budget of the reference is measured. A member that ended because its
// steps became too many or too small says nothing about what a sound motion needs: it counts as none.
long long credited_steps(const BackendMotion& motion);

// Statuses that depend on the amount of work rather than on the mechanics: a restarted run cannot reproduce
// them.
bool is_limit(Status status);

BackendMotion motion_of(const Study& study, const Batch& batch, const BatchResults& results, std::size_t k);

// Largest absolute values over the start, the end and every output time reached.
MemberSizes sizes_of_motion(const System& system, const BackendMotion& motion);

}  // namespace zwang
