// Names the formula that has no finite value at a state, for the cause of members that end as not_finite.
#pragma once

#include <string>

#include "src/system/equations.h"

namespace zwang {

// For example "the force on x: log(x - 2) = nan, x - 2 = -1.2" or "the mass of 'load' = -0.3, not positive";
// empty if every formula of the motion is finite at the state. `ahead` also tries states shortly ahead, along
// the velocities: a step fails because of a formula that is still finite where the step begins.
std::string describe_not_finite(const Equations& equations, const State& state, bool ahead);

}  // namespace zwang
