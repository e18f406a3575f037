// The rounding unit of doubles.
#pragma once

#include <limits>

namespace zwang {

constexpr double machine_epsilon = std::numeric_limits<double>::epsilon();

}  // namespace zwang
