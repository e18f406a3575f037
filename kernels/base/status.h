// The status with which a member ends, shared by host, reference and device.
#pragma once

namespace zwang {

enum class Status : int {
  ok = 0,
  stopped,             // reached the user's stop condition
  step_limit,          // max_steps used up
  event_limit,         // max_events used up
  step_too_small,      // the tolerance requires steps below the resolution of time
  not_finite,          // a state or force is not a finite number
  infeasible,          // no admissible acceleration or velocity
  singular,            // the gradient of an active condition vanishes
  inconsistent_start,  // the initial state could not be projected onto the conditions
  event_lost,          // an event could not be located, or repeats without end at one instant
  inaccurate,          // reached its end, but the audit is beyond its bound (kernels/base/audit_bound.h)
  painleve,            // a slipping contact has no admissible acceleration, or two (Painleve)
  ambiguous,           // several motions with friction are admissible
};

constexpr int status_count = 13;

constexpr const char* status_name(Status status) {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::stopped:
      return "stopped";
    case Status::step_limit:
      return "step_limit";
    case Status::event_limit:
      return "event_limit";
    case Status::step_too_small:
      return "step_too_small";
    case Status::not_finite:
      return "not_finite";
    case Status::infeasible:
      return "infeasible";
    case Status::singular:
      return "singular";
    case Status::inconsistent_start:
      return "inconsistent_start";
    case Status::event_lost:
      return "event_lost";
    case Status::painleve:
      return "painleve";
    case Status::ambiguous:
      return "ambiguous";
    case Status::inaccurate:
      return "inaccurate";
  }
  return "unknown";
}

}  // namespace zwang
