// Propagation of rounding scales through the operations.
#include "src/expression/scaled.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"

#include <cmath>
#include <limits>

namespace zwang {

Scaled::Scaled(double v) : value(v), scale(std::abs(v)) {}

namespace {

double unary_slope(Op op, double x, double y) {
  switch (op) {
    case Op::sin:
      return std::cos(x);
    case Op::cos:
      return std::sin(x);
    case Op::tan:
      return 1 + y * y;
    case Op::asin:
    case Op::acos:
      return 1 / std::sqrt(1 - x * x);
    case Op::atan:
      return 1 / (1 + x * x);
    case Op::sinh:
      return std::cosh(x);
    case Op::cosh:
      return std::sinh(x);
    case Op::tanh:
      return 1 - y * y;
    case Op::exp:
      return y;
    case Op::log:
      return 1 / x;
    case Op::sqrt:
      return 0.5 / y;
    case Op::abs:
    case Op::negate:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

template <>
Scaled apply_operation<Scaled>(Op op, const Scaled& a, const Scaled& b, const Scaled& c, const Scaled& d) {
  const double y = apply_operation<double>(op, a.value, b.value, c.value, d.value);
  double inherited = 0;
  switch (op) {
    case Op::add:
    case Op::subtract:
      return {y, a.scale + b.scale + std::abs(y)};
    case Op::wrap:  // the error of the period, times the number of periods between x and its image
      return {y, a.scale + std::abs((a.value - y) / b.value) * b.scale};
    case Op::multiply:
      return {y, std::abs(a.value) * b.scale + std::abs(b.value) * a.scale};
    case Op::divide:
      inherited = (a.scale + std::abs(y) * b.scale) / std::abs(b.value);
      break;
    case Op::power:
      inherited = std::abs(b.value * std::pow(a.value, b.value - 1)) * a.scale;
      // An integer exponent is exact; others have an error of their own.
      if (a.value > 0 && b.value != std::floor(b.value))
        inherited += std::abs(y * std::log(a.value)) * b.scale;
      break;
    case Op::atan2:
    case Op::hypot: {
      const double r2 = a.value * a.value + b.value * b.value;
      const double over = op == Op::hypot ? std::sqrt(r2) : r2;
      inherited = over > 0 ? (std::abs(a.value) * b.scale + std::abs(b.value) * a.scale) / over : 0;
      if (op == Op::hypot) inherited = a.scale + b.scale;
      break;
    }
    case Op::minimum:
    case Op::maximum:
      return {y, y == a.value ? a.scale : b.scale};
    case Op::if_less:
      return a.value < b.value ? c : d;
    default:
      inherited = std::abs(unary_slope(op, a.value, y)) * a.scale;
      break;
  }
  // Where the slope is infinite (a root at zero), the error is the change of the function over the argument's
  // own error.
  if (!std::isfinite(inherited) && std::isfinite(y)) {
    constexpr double epsilon = std::numeric_limits<double>::epsilon();
    const double moved = apply_operation<double>(op, a.value + epsilon * a.scale, b.value, c.value, d.value);
    inherited = std::isfinite(moved) ? std::abs(moved - y) / epsilon : 0;
  }
  return {y, inherited + std::abs(y)};
}

}  // namespace zwang
