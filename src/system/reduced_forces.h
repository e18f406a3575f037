// The forces on which a reduction over the motion depends.
#pragma once

#include <cstddef>
#include <vector>

#include "src/system/system.h"

namespace zwang {

// The conditions whose multipliers the reduced formula contains.
std::vector<std::size_t> reduced_forces(const System& system, const ReductionFormula& formula);

}  // namespace zwang
