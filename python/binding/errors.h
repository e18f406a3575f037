// C++ exceptions as exceptions of the Python package.
#pragma once

#include <nanobind/nanobind.h>

namespace zwang::python {

// Error becomes zwang.StudyError, MachineError zwang.MachineError, BadVerdict zwang.MembersFailed, Interrupted
// KeyboardInterrupt, and a lack of memory MemoryError. The texts are those of the command line.
void translate_errors(nanobind::module_& module);

}  // namespace zwang::python
