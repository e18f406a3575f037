// A formula as a key that does not depend on its indices and numbers, and the list of those.
#include "src/emit/shape.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <unordered_map>
#include <utility>

#include "src/expression/expression.h"
#include "src/expression/operation.h"

namespace zwang {

namespace {

class ShapeReader {
 public:
  ShapeReader(const Expressions& pool, const Hoisted& hoisted) : pool_(pool), hoisted_(hoisted) {}

  Shape read(const std::vector<Output>& outputs) {
    made_ = {};
    number_.clear();
    for (const Output& output : outputs) {
      visit(output.value);
      const Place target = place_of(output.target);
      made_.key +=
          "=" + target.array + (target.index ? "[]" : "") + std::to_string(number_.at(output.value.id)) + ";";
      if (target.index) made_.targets.push_back(*target.index);
    }
    return std::move(made_);
  }

 private:
  // Arguments before the node, each node once, in an order that depends on the structure alone.
  void visit(Expr root) {
    std::vector<std::pair<Expr, bool>> waiting = {{root, false}};
    while (!waiting.empty()) {
      const auto [e, arguments_done] = waiting.back();
      waiting.pop_back();
      if (number_.contains(e.id)) continue;
      const Node& node = pool_.node(e);
      const bool leaf = hoisted_.contains(e.id) || arity(node.op) == 0;
      if (leaf || arguments_done) {
        describe(e, node);
        number_.emplace(e.id, number_.size());
        continue;
      }
      waiting.push_back({e, true});
      for (int i = arity(node.op) - 1; i >= 0; --i)
        waiting.push_back({node.arguments[static_cast<std::size_t>(i)], false});
    }
  }

  void describe(Expr e, const Node& node) {
    if (const auto name = hoisted_.find(e.id); name != hoisted_.end()) {
      add_leaf(e, place_of(name->second));
    } else if (node.op == Op::symbol) {
      add_leaf(e, place_of(symbol_text(node.symbol)));
    } else if (node.op == Op::constant && !std::isfinite(node.value)) {
      made_.key += literal(node.value);
    } else if (node.op == Op::constant) {
      made_.key += "#";
      made_.leaves.push_back({e, "", 0, node.value});
    } else {
      made_.key += std::to_string(static_cast<int>(node.op)) + "(";
      for (int i = 0; i < arity(node.op); ++i) {
        const Expr argument = node.arguments[static_cast<std::size_t>(i)];
        made_.key += std::to_string(number_.at(argument.id)) + ",";
        // The exponent decides the form of the text.
        if (node.op == Op::power && i == 1 && pool_.is_constant(argument))
          made_.key += literal(pool_.node(argument).value);
      }
    }
  }

  void add_leaf(Expr e, const Place& place) {
    made_.key += place.array + (place.index ? "[]," : ",");
    if (place.index) made_.leaves.push_back({e, place.array, *place.index, 0});
  }

  const Expressions& pool_;
  const Hoisted& hoisted_;
  Shape made_;
  std::unordered_map<std::uint32_t, std::size_t> number_;
};

}  // namespace

Place place_of(const std::string& text) {
  const std::size_t bracket = text.find('[');
  if (bracket == std::string::npos) return {text, {}};
  return {text.substr(0, bracket), std::strtol(text.c_str() + bracket + 1, nullptr, 10)};
}

Shape shape_of(const Expressions& pool, const Hoisted& hoisted, const std::vector<Output>& outputs) {
  return ShapeReader(pool, hoisted).read(outputs);
}

}  // namespace zwang
