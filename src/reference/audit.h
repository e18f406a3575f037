// The audit decides: shares of the bound (kernels/base/audit_bound.h) that a motion's violations use, and the
// status `inaccurate` where one is above 1. The kernels have the same in kernels/dynamics/audit.h.
#pragma once

#include <string>

#include "src/reference/member_state.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"

namespace zwang {

// The largest so far. Numbers are never negative; NaN stays.
void raise_worst(double& worst, double value);

// An open inequality above zero has been passed without an event.
void audit_open_conditions(const MemberState& member, Audit& audit);

// At the end of a motion from `start`: shares, and status and cause if the motion is inaccurate.
void judge_audit(const MemberState& member, const State& start, Trajectory& trajectory);

// In words, from the numbers of an audit with a share above 1.
std::string cause_of_inaccuracy(const Audit& audit);

}  // namespace zwang
