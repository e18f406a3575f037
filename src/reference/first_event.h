// The first event within a step: event functions are sampled on the interpolant, and their roots are
// corrected on the true flow (mechanics section 5, requirements 1 to 3).
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <optional>
#include <vector>

#include "kernels/base/status.h"
#include "src/reference/event_functions.h"
#include "src/reference/member_state.h"
#include "src/reference/motion_formulas.h"
#include "src/reference/smooth_motion.h"

namespace zwang {

struct LocatedEvent {
  Status status = Status::ok;  // event_lost: the flow has no state at the event
  EventFunction event_function;
  double theta = 1;                 // the fraction of the step,
  Eigen::VectorXd y;                // and the state on the true flow there
  std::vector<std::size_t> also{};  // for a watched function: others that cross at the same instant
};

// None: the step reaches its end without an event.
std::optional<LocatedEvent> first_event(const MemberState& member, const MotionFormulas& formulas,
                                        const SmoothMotion& smooth, const SmoothStep& step);

}  // namespace zwang
