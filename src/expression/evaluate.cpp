#include "src/expression/evaluate.h"

#include <cmath>

namespace zwang {

double wrap(double x, double a) {
  // ceil(x/a - 1/2) whole periods lie between x and its image in (-a/2, a/2].
  return x - a * std::ceil(x / a - 0.5);
}

template <>
double apply_operation<double>(Op op, const double& a, const double& b, const double& c, const double& d) {
  switch (op) {
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::multiply:
      return a * b;
    case Op::divide:
      return a / b;
    case Op::negate:
      return -a;
    case Op::power:
      return b == 2 ? a * a : std::pow(a, b);
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
    case Op::if_less:
      return a < b ? c : d;
    case Op::constant:
    case Op::symbol:
      break;
  }
  return std::nan("");
}

Program::Program(const Expressions& pool, const std::vector<Expr>& roots) {
  const std::vector<Expr> nodes = pool.reachable(roots);
  std::unordered_map<std::uint32_t, std::uint32_t> slot_of;
  slot_of.reserve(nodes.size());
  for (const Expr e : nodes) {
    const Node& node = pool.node(e);
    Instruction step{node.op, {}, node.value, node.symbol};
    for (int i = 0; i < arity(node.op); ++i) {
      const auto k = static_cast<std::size_t>(i);
      step.slots[k] = slot_of.at(node.arguments[k].id);
    }
    slot_of[e.id] = static_cast<std::uint32_t>(instructions_.size());
    instructions_.push_back(step);
  }
  for (const Expr root : roots) roots_.push_back(slot_of.at(root.id));
}

}  // namespace zwang
