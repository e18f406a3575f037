// One member from its number to a start the motion can begin from.
#pragma once

#include "host/sample/sample.h"
#include "host/study/study.h"
#include "src/laws/project.h"
#include "src/reference/reference.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"

namespace zwang {

struct PreparedMember {
  unsigned long long number = 0;
  MemberInputs inputs;    // as drawn; inputs.start is the drawn state
  State start;            // moved onto the conditions where the study says "project"
  Start preparation;      // how far, and whether it worked
  unsigned attempts = 1;  // draws made ("reject")
};

// Throws Error where `consistency = "error"` and the start is off the conditions.
PreparedMember prepare_member(const Study& study, unsigned long long number);

// The member's motion by the reference. A start that could not be made consistent ends in its status.
Trajectory replay_member(const Study& study, const PreparedMember& member, const Plan& plan);

// The study's output times and end.
Plan study_plan(const Study& study);

}  // namespace zwang
