// A robot description file (URDF or MJCF) as the text of a study.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zwang {

struct ImportOptions {
  bool ground = false;             // URDF: the plane z = 0
  bool floating_base = false;      // URDF: the root link moves freely
  bool in_space = false;           // bodies in space also where all motion is in one plane
  std::optional<double> friction;  // of every contact, instead of the file's
  std::vector<std::pair<std::string, double>> joints;  // positions at the start, as the file counts them
};

struct ImportedStudy {
  std::string text;  // TOML
  std::string format;
  std::size_t bodies = 0, observables = 0;
  bool planar = false;
  std::vector<std::string> notes, left_out;
};

// Throws Error with the place in the file. The text is a study that `zwang run` accepts.
ImportedStudy import_study(const std::string& text, const std::string& path, const ImportOptions& options);

}  // namespace zwang
