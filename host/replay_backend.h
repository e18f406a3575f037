// One member's motion by any backend, in the form the reference gives it.
#pragma once

#include "host/backend.h"
#include "host/member.h"

namespace zwang {

Trajectory replay_by_backend(const Study& study, const PreparedMember& member, Backend& backend);

}  // namespace zwang
