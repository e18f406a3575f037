// Checks one member: the backend's motion against the reference's, segment by segment.
#pragma once

#include <functional>
#include <vector>

#include "host/check/backend_motion.h"
#include "host/check/findings.h"
#include "host/check/work_budget.h"
#include "host/study/study.h"

namespace zwang {

struct MemberFindings {
  Findings findings;
  std::size_t segments = 0, undecided_segments = 0;
  double decided_duration = 0;
  std::size_t measures = 0, undecided_measures = 0;
  std::vector<UndecidedStretch> undecided;
};

// Between two output times without a nearby event, the reference runs from the backend's state at the first
// to the second time, where the backend's values must agree with the reference's. `segment_done` is called
// after each of these segments.
MemberFindings check_member(
    const Study& study, const BackendMotion& motion, unsigned long long member, WorkBudget budget = {},
    const std::function<void()>& segment_done = [] {});

}  // namespace zwang
