// The operations of the formula language: their names, their number of arguments and their value on numbers.
#pragma once

#include <cstdint>
#include <string_view>

namespace zwang {

enum class Op : std::uint8_t {
  constant,
  symbol,
  // arithmetic
  add,
  subtract,
  multiply,
  divide,
  negate,
  power,
  // functions of one argument
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  exp,
  log,
  sqrt,
  abs,
  sign,
  floor,
  // functions of two arguments
  atan2,
  minimum,
  maximum,
  hypot,
  wrap,  // x shifted by whole periods into (-a/2, a/2]
  // if_less(a, b, x, y) = a < b ? x : y; not in the formula language, but in derivatives and emitted models
  if_less,
};

int arity(Op op);
std::string_view name_of(Op op);  // "sin", "atan2", "+", ...

// One operation on numbers, specialised for each number type. Unused arguments are ignored.
template <class Number>
Number apply_operation(Op op, const Number& a, const Number& b, const Number& c, const Number& d);

template <>
double apply_operation<double>(Op op, const double& a, const double& b, const double& c, const double& d);

// x shifted by whole periods into (-a/2, a/2].
double wrap(double x, double a);

}  // namespace zwang
