// What the structure of the rows tells about their linear independence, whatever the state.
#pragma once

#include "src/system/system.h"

namespace zwang {

// Whether rows of equations and of inequalities without restitution may be linearly dependent at some state, as in a
// linkage that closes a loop. False is certain, as long as no gradient vanishes: in chains and trees every row has a
// part of its own: a coordinate, or all those of a body at the end of a link.
bool rows_may_become_dependent(const System& system);

}  // namespace zwang
