// Reads MJCF, the model format of MuJoCo: <mujoco> with a tree of <body> in <worldbody>.
#pragma once

#include "host/import/mechanism.h"
#include "host/import/xml_file.h"

namespace zwang {

// Throws Error with the place of what cannot be read.
Mechanism read_mjcf(const XmlFile& file);

}  // namespace zwang
