// Translation of expressions to straight-line instructions.
#include "src/expression/evaluate.h"

#include <unordered_map>

namespace zwang {

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
