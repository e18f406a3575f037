// How far a drawn start is off the constraints, in shares of their largest terms.
#pragma once

#include <cstddef>
#include <vector>

#include "src/system/equations.h"

namespace zwang {

// A start that is off by less is taken as rounding of the numbers in the study and projected without a
// message.
constexpr double start_rounding = 1e-6;

struct StartDeviation {
  std::size_t constraint = 0;
  bool velocity = false;  // f' or g instead of f
  double value = 0;       // f, f' or g
  double share = 0;       // of its largest term
};

// The constraints in force at t = 0 that the start violates by more than `share` of their largest term,
// largest first. `formulas`: the sizes of the terms of the formulas that gave the start; sin(pi) is 1e-16 of
// numbers of size 3. Values that are not finite are not listed.
std::vector<StartDeviation> start_deviations(const Equations& equations, const State& start,
                                             const Sizes& formulas, double share);

}  // namespace zwang
