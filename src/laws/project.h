// Projection of a state onto its conditions, by the smallest change in the mass metric.
#pragma once

#include "kernels/base/status.h"
#include "src/system/equations.h"

namespace zwang {

struct Residuals {
  double position = 0;  // largest remaining |f|
  double velocity = 0;  // largest |f'| or |g|
};

// Drift correction (mechanics section 5): positions onto f = 0 for the holonomic conditions of `set`, then
// velocities onto f' = 0 and g = 0. Newton iteration down to rounding; returns the remaining residuals.
Residuals project(const Equations& equations, State& state, const Sizes& sizes,
                  const std::vector<std::size_t>& set);

struct Start {
  Status status = Status::ok;  // or inconsistent_start
  double position_moved = 0;   // Euclidean length of the change of q
  double velocity_moved = 0;   // and of v
  bool consistent = true;      // nothing had to move
};

// Nearest admissible state in the mass metric: equations f = 0, inequalities f <= 0; then f' = 0, g = 0, g <=
// 0. Inequalities at f = 0 with f' > 0 are not changed: they are shocks at the start. For `imposed` equations
// only positions are projected: their velocities change by a shock.
Start make_consistent(const Equations& equations, State& state, const std::vector<std::size_t>& in_force,
                      const std::vector<char>& imposed, double tolerance);

}  // namespace zwang
