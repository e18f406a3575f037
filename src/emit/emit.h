// From a System to the C++ text of one `struct Model`: pure functions on numbers, which the kernels are templated on.
//
// Names of the study never enter the text. Arguments of the functions: k the member's constants (its parameters first),
// t, q, v, z the state, w what the time alone decides (drive()), lambda the multipliers, held one number per condition:
// above 0 where it is held.
#pragma once

#include <cstddef>
#include <string>

#include "src/emit/taylor_series.h"
#include "src/emit/text.h"
#include "src/system/system.h"

namespace zwang {

struct EmittedModel {
  std::string text;
  // Whether accelerations are solved inside the model, with every condition in one straight line. Where that would be
  // too much text, the solver works on the list of rows instead.
  bool masked = true;
  long long motion_operations = 0;  // arithmetic of one evaluation of motion(); 0 when not masked
  Operations motion_by_kind{};      // of motion() alone, without drive()
  std::size_t drives = 0;           // values of drive()
  EmittedSeries series{};           // of the motion with nothing held: a struct beside the model
};

EmittedModel emit_model(const System& system);

}  // namespace zwang
