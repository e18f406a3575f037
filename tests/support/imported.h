// Imports robot description files in tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "host/import/import_study.h"
#include "host/study_file/load_study.h"
#include "tests/support/scratch.h"
#include "tests/support/study_runs.h"

namespace zwang {

inline std::string example_path(const std::string& file) {
  return std::string(ZWANG_SOURCE_DIR) + "/examples/import/" + file;
}

inline ImportedStudy imported(const std::string& text, const ImportOptions& options = {}) {
  return import_study(text, "model.xml", options);
}

inline ImportedStudy imported_example(const std::string& file, const ImportOptions& options = {}) {
  return import_study(read_text(example_path(file)), file, options);
}

// One member of an imported mechanism, by the reference at its finest tolerance.
inline StudyRun imported_run(const ImportedStudy& made, const std::vector<double>& times,
                             const Overrides& overrides = {}) {
  return StudyRun(sampled(written(made.text, overrides), times));
}

// A model of MJCF around the content of its <worldbody>.
inline std::string mjcf(const std::string& world, const std::string& before = "") {
  return "<mujoco model=\"test\"><compiler angle=\"radian\"/>" + before + "<worldbody>" + world +
         "</worldbody></mujoco>";
}

}  // namespace zwang
