// One member of a check: the backend's motion against the reference's, stretch by stretch.
#pragma once

#include "host/backend/backend.h"
#include "host/check/findings.h"
#include "host/check/reference_pair.h"
#include "host/study/study.h"
#include "kernels/base/status.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

// One member as a backend tells it.
struct BackendMotion {
  Status status = Status::ok;
  State start, end;  // end.t: where it ended
  std::vector<double> parameters;
  std::vector<Sample> samples;  // one per output time
  std::vector<char> reached;    // one per output time
  std::vector<Event> events;
  std::vector<long long> event_counts;  // by kind
  std::vector<double> measures;
};

BackendMotion motion_of(const Study& study, const Batch& batch, const BatchResults& results, std::size_t k);

// Over the start, the end and every output reached.
MemberSizes sizes_of_motion(const System& system, const BackendMotion& motion);

struct MemberFindings {
  Findings findings;
  std::size_t stretches = 0, undecided_stretches = 0;
  std::size_t measures = 0, undecided_measures = 0;
};

// Between two output times that are clear of events the reference runs from the backend's own state at the first to the
// second, and what the backend says there must be what the reference found.
MemberFindings check_member(const Study& study, const BackendMotion& motion, unsigned long long member);

}  // namespace zwang
