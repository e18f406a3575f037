// What is emitted of a System.
#pragma once

#include <cstddef>
#include <string>

#include "src/emit/taylor_series.h"
#include "src/emit/text.h"

namespace zwang {

struct EmittedModel {
  std::string text;
  // True if accelerations are solved inside the model, in straight-line code with every condition. Where that
  // would be too much text, the solver works on the list of rows instead.
  bool masked = true;
  bool is_long = false;             // loops in place of straight-line code (src/emit/long_model.h)
  long long motion_operations = 0;  // arithmetic of one evaluation of motion(); 0 when not masked
  Operations motion_by_kind{};      // of motion() alone, without drive()
  std::size_t drives = 0;           // values of drive()
  EmittedSeries series{};           // of the motion with no condition held: a second struct
};

// How accelerations are found: by straight-line code in the model where the system is small enough, or always
// by an orthogonal factor of the list of held rows, which keeps the digits of masses far apart.
enum class Elimination { straight_where_short, orthogonal };

}  // namespace zwang
