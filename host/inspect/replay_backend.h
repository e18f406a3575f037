// One member's motion by any backend, in the form the reference gives it.
#pragma once

#include "host/backend/backend.h"
#include "host/sample/prepared_member.h"
#include "host/study/study.h"
#include "src/reference/trajectory.h"

namespace zwang {

Trajectory replay_by_backend(const Study& study, const PreparedMember& member, Backend& backend);

}  // namespace zwang
