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
};

BackendMotion motion_of(const Study& study, const Batch& batch, const BatchResults& results, std::size_t k);

// Largest absolute values over the start, the end and every output time reached.
MemberSizes sizes_of_motion(const System& system, const BackendMotion& motion);

}  // namespace zwang
