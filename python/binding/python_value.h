// Python objects as the values of a TOML document.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "host/toml/document.h"

namespace zwang::python {

// A dict, list, tuple, str, bool, int, float, or something with tolist() such as a NumPy array. `place` names
// it in messages: "parameters.L". Throws Error if the object, or one inside it, is anything else.
Value value_of(nanobind::handle object, const std::string& place);

}  // namespace zwang::python
