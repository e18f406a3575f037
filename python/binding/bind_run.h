// Runs and result folders.
#pragma once

#include <nanobind/nanobind.h>

namespace zwang::python {

void bind_run(nanobind::module_& module);

}  // namespace zwang::python
