// Displacements of a system: coordinates are added, orientations are turned.
#pragma once

#include <Eigen/Dense>

#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

// [body-3] Moves the positions of a state by a displacement of all coordinates. The orientations of bodies in space
// turn by the angles that it holds for them, q o exp(angles/2), and get unit length.
void move_positions(const System& system, const Eigen::VectorXd& displacement, State& state);

// How far apart the positions of two states are: the length of the displacement, with turns in radians.
double distance_moved(const System& system, const State& from, const State& to);

}  // namespace zwang
