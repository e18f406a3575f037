// One member, small oscillations, checks and measurements: each as the text and the JSON of the command line.
#pragma once

#include <nanobind/nanobind.h>

namespace zwang::python {

void bind_inspect(nanobind::module_& module);

}  // namespace zwang::python
