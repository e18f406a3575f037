// How a motion is integrated: the numbers of [integrator], defaults included.
#pragma once

#include <limits>

namespace zwang {

struct IntegratorSettings {
  // `automatic` is taylor where that is faster, else dop853 for fine tolerances and tsit5 for coarse ones.
  // The reference uses tsit5 in place of all three.
  enum class Method { automatic, tsit5, dop853, rk4, taylor };
  Method method = Method::automatic;
  double step = 1e-3;   // of rk4
  bool single = false;  // single precision in the kernels; the reference always uses double
  double rtol = 1e-9;
  double atol = 1e-9;
  double max_step = std::numeric_limits<double>::infinity();
  long long max_steps = 1'000'000;
  long long max_events = 100'000;
  // |f| within contact_tolerance times the size of the terms of f counts as 0 (and f', f'' likewise).
  double contact_tolerance = 1e-12;
  // A contact that leaves a shock more slowly than rest_speed times the size of the terms of f' is at rest.
  double rest_speed = 1e-12;
  // A geometric sequence of shocks is completed when its remainder is shorter than accumulation_gap times its
  // whole length.
  double accumulation_gap = 1e-7;
  // [friction-5] A slipping contact whose kappa falls to this share of A M^-1 A^T ends its member as `painleve`.
  double painleve_margin = 1e-9;

  // The settings that the kernels use. Floats cannot meet tolerances below a few dozen of their roundings
  // (1.2e-7), and the length of a sequence of hops is known to fewer digits.
  IntegratorSettings within_precision() const {
    IntegratorSettings made = *this;
    if (!single) return made;
    constexpr double finest = 4e-6, gap = 1e-4;
    made.rtol = rtol > finest ? rtol : finest;
    made.atol = atol > finest ? atol : finest;
    made.accumulation_gap = accumulation_gap > gap ? accumulation_gap : gap;
    return made;
  }
};

}  // namespace zwang
