// What the solver knows of a model at compile time: sizes, truths about the whole, tables by number.
#pragma once

#include <string>

#include "src/system/system.h"

namespace zwang {

// The opening of the struct. A member's array k ends with its branches, the first of them at `first_branch`.
std::string model_head(const System& system, bool masked, std::size_t first_branch, std::size_t drives);

std::string model_tables(const System& system);

}  // namespace zwang
