// Interval bounds of the operations.
#include "src/expression/interval.h"
#include "src/expression/expression.h"
#include "src/expression/operation.h"

#include <algorithm>
#include <cmath>

namespace zwang {

namespace {

// 0 * inf is 0 here: the bound of a product with an exact zero.
double product(double x, double y) { return x == 0 || y == 0 ? 0 : x * y; }

// x / inf counts as 0, and inf / inf too: the bound then comes from the other corners.
double quotient(double x, double y) { return std::isinf(y) ? 0 : x / y; }

Interval hull(std::initializer_list<double> values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {*low, *high};
}

Interval multiply(const Interval& a, const Interval& b) {
  return hull(
      {product(a.low, b.low), product(a.low, b.high), product(a.high, b.low), product(a.high, b.high)});
}

Interval monotone(double (*f)(double), const Interval& a) { return {f(a.low), f(a.high)}; }

Interval clip_monotone(double (*f)(double), const Interval& a, double low, double high) {
  return {f(std::clamp(a.low, low, high)), f(std::clamp(a.high, low, high))};
}

Interval magnitude(const Interval& a) {
  if (a.low >= 0) return a;
  if (a.high <= 0) return {-a.high, -a.low};
  return {0, std::max(-a.low, a.high)};
}

Interval power(const Interval& a, const Interval& b) {
  if (b.low != b.high) return a.low >= 0 ? Interval{0, Interval::everything().high} : Interval::everything();
  const double n = b.low;
  if (n == std::floor(n) && std::fmod(std::abs(n), 2) == 0) {
    const Interval m = magnitude(a);
    return n >= 0 ? Interval{std::pow(m.low, n), std::pow(m.high, n)}
                  : Interval{std::pow(m.high, n), std::pow(m.low, n)};
  }
  if (n == std::floor(n) && n > 0) return {std::pow(a.low, n), std::pow(a.high, n)};
  if (n > 0) return {std::pow(std::max(a.low, 0.0), n), std::pow(std::max(a.high, 0.0), n)};
  return a.low >= 0 ? Interval{0, Interval::everything().high} : Interval::everything();
}

Interval sum(const Interval& a, const Interval& b) {
  const double low = a.low + b.low, high = a.high + b.high;
  return {std::isnan(low) ? -INFINITY : low, std::isnan(high) ? INFINITY : high};
}

Interval divide(const Interval& a, const Interval& b) {
  if (b.low <= 0 && b.high >= 0) return Interval::everything();
  return hull(
      {quotient(a.low, b.low), quotient(a.low, b.high), quotient(a.high, b.low), quotient(a.high, b.high)});
}

Interval apply_unary(Op op, const Interval& a) {
  switch (op) {
    case Op::negate:
      return {-a.high, -a.low};
    case Op::sin:
    case Op::cos:
      return a.low == a.high ? Interval(op == Op::sin ? std::sin(a.low) : std::cos(a.low)) : Interval{-1, 1};
    case Op::asin:
      return clip_monotone(std::asin, a, -1, 1);
    case Op::acos:
      return {std::acos(std::clamp(a.high, -1.0, 1.0)), std::acos(std::clamp(a.low, -1.0, 1.0))};
    case Op::atan:
      return monotone(std::atan, a);
    case Op::sinh:
      return monotone(std::sinh, a);
    case Op::cosh:
      return monotone(std::cosh, magnitude(a));
    case Op::tanh:
      return monotone(std::tanh, a);
    case Op::exp:
      return monotone(std::exp, a);
    case Op::log:
      return clip_monotone(std::log, a, 0, INFINITY);
    case Op::sqrt:
      return clip_monotone(std::sqrt, a, 0, INFINITY);
    case Op::abs:
      return magnitude(a);
    case Op::sign:
      return {apply_operation<double>(op, a.low, 0, 0, 0), apply_operation<double>(op, a.high, 0, 0, 0)};
    case Op::floor:
      return monotone(std::floor, a);
    default:
      return Interval::everything();
  }
}

Interval apply_binary(Op op, const Interval& a, const Interval& b) {
  switch (op) {
    case Op::add:
      return sum(a, b);
    case Op::subtract:
      return sum(a, {-b.high, -b.low});
    case Op::multiply:
      return multiply(a, b);
    case Op::divide:
      return divide(a, b);
    case Op::power:
      return power(a, b);
    case Op::atan2:
      return {-M_PI, M_PI};
    case Op::minimum:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case Op::maximum:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case Op::hypot: {
      const Interval x = magnitude(a), y = magnitude(b);
      return {std::hypot(x.low, y.low), std::hypot(x.high, y.high)};
    }
    case Op::wrap: {
      const double half = std::max(std::abs(b.low), std::abs(b.high)) / 2;
      return {-half, half};
    }
    default:
      return Interval::everything();
  }
}

}  // namespace

template <>
Interval apply_operation<Interval>(Op op, const Interval& a, const Interval& b, const Interval& c,
                                   const Interval& d) {
  switch (arity(op)) {
    case 1:
      return apply_unary(op, a);
    case 2:
      return apply_binary(op, a, b);
    case 4:  // if_less
      return {std::min(c.low, d.low), std::max(c.high, d.high)};
    default:
      return Interval::everything();
  }
}

}  // namespace zwang
