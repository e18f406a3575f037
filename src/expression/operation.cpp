// Names, arities and values of the operations.
#include "src/expression/operation.h"

#include <array>
#include <cmath>

namespace zwang {

int arity(Op op) {
  switch (op) {
    case Op::constant:
    case Op::symbol:
      return 0;
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::divide:
    case Op::power:
    case Op::atan2:
    case Op::minimum:
    case Op::maximum:
    case Op::hypot:
    case Op::wrap:
      return 2;
    case Op::if_less:
      return 4;
    default:
      return 1;
  }
}

std::string_view name_of(Op op) {
  constexpr std::array<std::string_view, 29> names = {
      "constant", "symbol", "+",     "-",     "*",    "/",    "-",     "^",    "sin",    "cos",
      "tan",      "asin",   "acos",  "atan",  "sinh", "cosh", "tanh",  "exp",  "log",    "sqrt",
      "abs",      "sign",   "floor", "atan2", "min",  "max",  "hypot", "wrap", "if_less"};
  return names[static_cast<std::size_t>(op)];
}

double wrap(double x, double a) {
  // ceil(x/a - 1/2) whole periods lie between x and its image in (-a/2, a/2].
  return x - a * std::ceil(x / a - 0.5);
}

namespace {

double apply_unary(Op op, double a) {
  switch (op) {
    case Op::negate:
      return -a;
    case Op::sin:
      return std::sin(a);
    case Op::cos:
      return std::cos(a);
    case Op::tan:
      return std::tan(a);
    case Op::asin:
      return std::asin(a);
    case Op::acos:
      return std::acos(a);
    case Op::atan:
      return std::atan(a);
    case Op::sinh:
      return std::sinh(a);
    case Op::cosh:
      return std::cosh(a);
    case Op::tanh:
      return std::tanh(a);
    case Op::exp:
      return std::exp(a);
    case Op::log:
      return std::log(a);
    case Op::sqrt:
      return std::sqrt(a);
    case Op::abs:
      return std::abs(a);
    case Op::sign:
      return std::isnan(a) ? a : static_cast<double>((a > 0) - (a < 0));
    case Op::floor:
      return std::floor(a);
    default:
      return std::nan("");
  }
}

double apply_binary(Op op, double a, double b) {
  switch (op) {
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::multiply:
      return a * b;
    case Op::divide:
      return a / b;
    case Op::power:
      return b == 2 ? a * a : std::pow(a, b);
    case Op::atan2:
      return std::atan2(a, b);
    case Op::minimum:
      return a < b || std::isnan(a) ? a : b;
    case Op::maximum:
      return a > b || std::isnan(a) ? a : b;
    case Op::hypot:
      return std::hypot(a, b);
    case Op::wrap:
      return wrap(a, b);
    default:
      return std::nan("");
  }
}

}  // namespace

template <>
double apply_operation<double>(Op op, const double& a, const double& b, const double& c, const double& d) {
  switch (arity(op)) {
    case 1:
      return apply_unary(op, a);
    case 2:
      return apply_binary(op, a, b);
    case 4:  // if_less
      return a < b ? c : d;
    default:  // constants and symbols have no arguments
      return std::nan("");
  }
}

}  // namespace zwang
