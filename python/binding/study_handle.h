// A study as Python holds it: what it was read from, so that it can be changed, compared and pickled, and the
// study itself.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "host/study/study.h"
#include "host/study_file/input_columns.h"

namespace zwang::python {

struct StudyHandle {
  std::string text, path;              // as read
  std::vector<std::string> overrides;  // "path.to.key=value", in the order in which they are applied
  std::vector<InputColumn> columns;    // of `inputs=`
  Study study;
};

// Immutable, and shared with the threads that use it.
using SharedStudy = std::shared_ptr<const StudyHandle>;

void bind_study(nanobind::module_& module);

}  // namespace zwang::python
