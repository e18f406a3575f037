// Maurer's general problem [maurer-7] [maurer-10]: conditions that belong to the variational problem itself,
// with multipliers rho that are states. The paths are geodesics instead of straightest paths.
#pragma once

#include "src/system/system.h"

namespace zwang {

// Adds the contribution of the general conditions to M, Q, the energy and its power. Call it when these and
// the constraints are derived.
void vary_generally(System& system);

}  // namespace zwang
