// Interval arithmetic over the whole range of a condition's symbols. A bound that excludes zero proves that a
// condition can never restrict the motion, or can never be met; loose bounds only miss such cases.
#pragma once

#include <limits>

#include "src/expression/evaluate.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"

namespace zwang {

struct Interval {
  double low = 0, high = 0;
  Interval() = default;
  explicit Interval(double v) : low(v), high(v) {}
  Interval(double l, double h) : low(l), high(h) {}
  static Interval everything() {
    return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  }
};

template <>
Interval apply_operation<Interval>(Op op, const Interval& a, const Interval& b, const Interval& c,
                                   const Interval& d);

}  // namespace zwang
