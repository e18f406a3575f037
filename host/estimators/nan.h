// The value of a statistic that is not defined.
#pragma once

#include <limits>

namespace zwang {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace zwang
