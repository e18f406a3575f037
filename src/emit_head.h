// What the solver knows of a model at compile time: sizes, truths about the whole, tables by number.
#pragma once

#include <string>

#include "src/system.h"

namespace zwang {

// The opening of the struct. `constants` is the length of a member's array k.
std::string model_head(const System& system, bool masked, std::size_t constants, std::size_t drives);

std::string model_tables(const System& system);

}  // namespace zwang
