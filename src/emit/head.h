// Compile-time properties of a model: sizes, flags, and tables by index.
#pragma once

#include <string>

#include "src/system/system.h"

namespace zwang {

// The opening of the struct. A member's array k ends with its modes, the first of them at `first_mode`, and its
// branches.
std::string model_head(const System& system, bool masked, std::size_t first_mode, std::size_t drives);

std::string model_tables(const System& system);

}  // namespace zwang
