// Reads URDF, the robot description of ROS: <robot> with <link> and <joint>.
#pragma once

#include "host/import/mechanism.h"
#include "host/import/xml_file.h"

namespace zwang {

struct UrdfOptions {
  bool floating_base = false;  // the root link moves freely; otherwise it is fixed to the world
  bool ground = false;         // the plane z = 0
  double friction = 0.5;       // of the ground: the format has no coefficient
};

// Throws Error with the place of what cannot be read.
Mechanism read_urdf(const XmlFile& file, const UrdfOptions& options);

}  // namespace zwang
