// Runs one member with any backend and returns its motion in the form of the reference.
#pragma once

#include "host/backend/backend.h"
#include "host/sample/prepared_member.h"
#include "host/study/study.h"
#include "src/reference/trajectory.h"

namespace zwang {

Trajectory replay_by_backend(const Study& study, const PreparedMember& member, Backend& backend);

}  // namespace zwang
