// What a condition says about accelerations where its row A vanishes: the next time derivatives.
#pragma once

#include "src/laws/singular.h"
#include "src/system/equations.h"

namespace zwang {

// A row of `state` that vanishes, followed to the order at which accelerations appear.
VanishingRow vanishing_row(const Equations& equations, std::size_t condition, const State& state,
                           const Sizes& sizes);

}  // namespace zwang
