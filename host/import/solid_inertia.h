// Volume, and mass and inertia of homogeneous solids.
#pragma once

#include "host/import/mechanism.h"

namespace zwang {

double solid_volume(const Solid& solid);
// In the frame of the body the solid belongs to.
Inertial solid_inertial(const Solid& solid, double mass);

}  // namespace zwang
