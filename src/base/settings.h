// How a motion is integrated: the numbers of [integrator], defaults included.
#pragma once

#include <limits>

namespace zwang {

struct IntegratorSettings {
  // `automatic` is taylor where that pays, else dop853 for fine tolerances and tsit5 for coarse ones. The reference, which
  // judges, takes tsit5 for all of them.
  enum class Method { automatic, tsit5, dop853, rk4, taylor };
  Method method = Method::automatic;
  double step = 1e-3;   // of rk4
  bool single = false;  // the kernels calculate with floats; the reference does not
  double rtol = 1e-9;
  double atol = 1e-9;
  double max_step = std::numeric_limits<double>::infinity();
  long long max_steps = 1'000'000;
  long long max_events = 100'000;
  // |f| within contact_tolerance times the size of the terms of f counts as 0 (and f', f'' likewise).
  double contact_tolerance = 1e-12;
  // A contact that leaves a shock slower than rest_speed times the size of the terms of f' rests.
  double rest_speed = 1e-12;
  // A geometric sequence of shocks is completed when what is left of it is shorter than accumulation_gap times its
  // whole length.
  double accumulation_gap = 1e-7;

  // The numbers the kernels go by: floats cannot be held to more than a few dozen of their roundings (1.2e-7), and the
  // length of a sequence of hops is known to fewer digits.
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
