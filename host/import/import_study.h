// A robot description file (URDF or MJCF) as the text of a study.
#pragma once

#include <string>
#include <vector>

#include "host/import/import_options.h"

namespace zwang {

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
