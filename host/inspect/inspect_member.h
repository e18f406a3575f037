// One member of a study: its motion, the explanation of one of its states, and small oscillations about the
// equilibrium near its start. The commands `replay`, `explain` and `modes` write what these functions find.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "host/backend/backend.h"
#include "host/inspect/write_modes.h"
#include "host/sample/prepared_member.h"
#include "host/study/study.h"
#include "src/analysis/explain.h"
#include "src/analysis/modes.h"
#include "src/reference/trajectory.h"

namespace zwang {

// Called with notes for the user.
using TakeNote = std::function<void(const std::string& text)>;

// Notes a number beyond the ensemble. It is valid: the draws of a member do not depend on the ensemble's size.
void note_foreign_member(const Study& study, unsigned long long member, const TakeNote& note);

struct MemberMotion {
  PreparedMember member;
  Trajectory trajectory;
  std::string backend;  // its name
};

// By the backend, or by the reference if it is null. `every_step`: states at the integrator's steps instead of
// the output times, by the reference only.
MemberMotion member_motion(const Study& study, unsigned long long member, Backend* backend, bool every_step);

struct ExplainedState {
  PreparedMember member;
  Explanation explanation;
};

// The state at time `at`; at an event: just after it. Beyond the end of the study the motion is continued.
ExplainedState explain_state(const Study& study, unsigned long long member, double at, const TakeNote& note);

// About the equilibrium near the start of the member, or of the nominal parameters. `near` moves the start of
// the search: coordinates by name. Throws Error if there is no such coordinate, if the system is not
// autonomous, or if no equilibrium is found.
Modes modes_near(const Study& study, const ModesMember& member,
                 const std::vector<std::pair<std::string, double>>& near);

}  // namespace zwang
