// A value together with the size of its rounding errors, in units of the machine epsilon.
//
// "Is f zero?" has no answer without a scale. The scale used here is the rounding of f itself: each operation
// propagates the errors of its arguments through its slope and adds the size of its own result. A condition
// written in millimetres has value and scale both a thousand times larger, so decisions do not depend on
// units.
#pragma once

#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"

namespace zwang {

struct Scaled {
  double value = 0;
  double scale = 0;
  Scaled() = default;
  explicit Scaled(double v);  // a constant: its own size
  Scaled(double v, double s) : value(v), scale(s) {}
};

template <>
Scaled apply_operation<Scaled>(Op op, const Scaled& a, const Scaled& b, const Scaled& c, const Scaled& d);

}  // namespace zwang
