// Maurer's general problem [maurer-7] [maurer-10]: conditions that belong to the variational problem itself, with
// multipliers rho that are states. Geodetic paths instead of straightest ones.
#pragma once

#include "src/system/system.h"

namespace zwang {

// Adds what the general conditions contribute to M, Q, the energy and its power. Call it when those and the
// constraints are derived.
void vary_generally(System& system);

}  // namespace zwang
