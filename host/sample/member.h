// Single members: prepare one from its number, and integrate it with the reference.
#pragma once

#include "host/sample/prepared_member.h"
#include "host/study/study.h"
#include "src/reference/reference.h"
#include "src/reference/trajectory.h"

namespace zwang {

// Throws Error if the start violates a constraint and the study says `consistency = "error"`.
PreparedMember prepare_member(const Study& study, unsigned long long number);

// Integrates the member with the reference. If its start could not be made consistent, the trajectory holds
// only that status.
Trajectory replay_member(const Study& study, const PreparedMember& member, const Plan& plan);

// The study's output times and end time.
Plan study_plan(const Study& study);

}  // namespace zwang
