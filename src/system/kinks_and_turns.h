// Places where functions of the motion are not smooth (kinks and jumps of integrands), and bounds on how far
// the arguments of periodic and bump-like functions may run within one step (turns).
#pragma once

#include "src/system/system.h"

namespace zwang {

// Finds the jumps and kinks of the integrands and replaces them there by branches (System::kinks,
// System::branches).
void collect_kinks(System& system);

// Finds what bounds the step length (System::turns). Call it when constraints and kinks are known.
void collect_turns(System& system);

}  // namespace zwang
