// Eigen's signed indices from the sizes of the standard library.
#pragma once

#include <cstddef>

#include <Eigen/Core>

namespace zwang {

inline Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }

}  // namespace zwang
