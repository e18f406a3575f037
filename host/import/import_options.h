// What the command line says about an import.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zwang {

struct ImportOptions {
  bool ground = false;                  // URDF: the plane z = 0
  bool floating_base = false;           // URDF: the root link moves freely
  bool in_space = false;                // bodies in space also where all motion is in one plane
  bool stand = false;                   // the lowest shape of what moves freely touches the first plane
  std::optional<std::string> keyframe;  // MJCF: by name; "none"; absent: the first, if there is one
  std::optional<double> friction;       // of every contact, instead of the file's
  std::vector<std::pair<std::string, double>> joints;  // positions at the start, as the file counts them
};

}  // namespace zwang
