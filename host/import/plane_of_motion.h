// Mechanisms whose bodies all move parallel to one plane: their study has planar bodies.
#pragma once

#include <Eigen/Dense>
#include <optional>

#include "host/import/mechanism.h"

namespace zwang {

// Right-handed: right, up, normal. Angles of planar bodies are about the normal.
struct MotionPlane {
  Eigen::Vector3d right, up, normal;
};

// Directions that differ by less are the same: files often have pi/2 with seven digits.
constexpr double direction_tolerance = 1e-6;

// All hinges have parallel axes, all slides are across them, and every plane that is touched is along them or across.
std::optional<MotionPlane> plane_of_motion(const Mechanism& mechanism);

// Components that are rounding errors of 0 and 1 become 0 and 1.
Eigen::Vector3d tidy_direction(const Eigen::Vector3d& direction);

}  // namespace zwang
