// Expressions as text, with parentheses by precedence.
#include "src/expression/print_expression.h"

#include <unordered_map>

#include "src/base/error.h"
#include "src/expression/operation.h"

namespace zwang {

namespace {

struct Piece {
  std::string text;
  int strength;  // how tightly it binds: 1 sum, 2 product, 3 sign, 4 power, 5 atom
};

std::string held(const Piece& piece, int strength) {
  return piece.strength >= strength ? piece.text : "(" + piece.text + ")";
}

Piece infix(Op op, const Piece& a, const Piece& b) {
  switch (op) {
    case Op::add:
      return {held(a, 1) + " + " + held(b, 2), 1};
    case Op::subtract:
      return {held(a, 1) + " - " + held(b, 2), 1};
    case Op::multiply:
      return {held(a, 2) + "*" + held(b, 3), 2};
    case Op::divide:
      return {held(a, 2) + "/" + held(b, 3), 2};
    default:
      return {held(a, 5) + "^" + held(b, 4), 4};
  }
}

Piece piece_of(const Node& node, const std::array<const Piece*, 4>& a, const SymbolNamer& name) {
  switch (node.op) {
    case Op::constant:
      return {number_text(node.value), node.value < 0 ? 1 : 5};
    case Op::symbol:
      return {name(node.symbol), 5};
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::divide:
    case Op::power:
      return infix(node.op, *a[0], *a[1]);
    case Op::negate:
      return {"-" + held(*a[0], 3), 1};
    default: {
      std::string text = std::string(name_of(node.op)) + "(";
      for (int i = 0; i < arity(node.op); ++i) text += (i ? ", " : "") + a[static_cast<std::size_t>(i)]->text;
      return {text + ")", 5};
    }
  }
}

}  // namespace

std::string expression_text(const Expressions& pool, Expr e, const SymbolNamer& name, std::size_t limit) {
  std::unordered_map<std::uint32_t, Piece> pieces;
  for (const Expr x : pool.reachable({e})) {
    const Node& node = pool.node(x);
    std::array<const Piece*, 4> arguments{};
    for (int i = 0; i < arity(node.op); ++i) {
      const auto k = static_cast<std::size_t>(i);
      arguments[k] = &pieces.at(node.arguments[k].id);
    }
    Piece piece = piece_of(node, arguments, name);
    if (piece.text.size() > limit) piece = {piece.text.substr(0, limit) + "...", 5};
    pieces.emplace(x.id, std::move(piece));
  }
  return pieces.at(e.id).text;
}

}  // namespace zwang
