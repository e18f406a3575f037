// Expressions as straight-line C++: one `const R x7 = ...;` for each shared subexpression; those used once
// are written in place.
//
// The text calls only functions that kernels/ defines for every number type, and never branches on a number:
// the same lines run on doubles, on packs of members and on numbers with a rounding scale.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "src/expression/expression.h"

namespace zwang {

// The share of a diagonal entry below which a pivot is rounding. It depends on the precision the text is
// compiled for, so it is emitted as a name, not as a number.
constexpr Symbol dependent_share{SymbolKind::time, 1};

// Numbers of operations in a piece of code.
struct Operations {
  long long sums = 0, products = 0, divisions = 0, selects = 0, functions = 0;
  long long total() const { return sums + products + divisions + selects + functions; }
};

struct Output {
  std::string target;  // "rate[3]"
  Expr value;
};

// A paragraph of the code, with the values that later paragraphs use.
struct Stage {
  std::string comment;
  std::vector<Expr> values;
};

// Names of values that a function does not compute itself, by node: constants computed once per member.
using Hoisted = std::unordered_map<std::uint32_t, std::string>;

// The nodes the roots depend on, themselves included, ascending; nothing below a node with a name.
std::vector<Expr> nodes_of(const Expressions& pool, const Hoisted& hoisted, const std::vector<Expr>& roots);

// "q[3]", the text of a symbol.
std::string symbol_text(const Symbol& symbol);

// A number as C++ text of type R, losing no bits.
std::string literal(double value);

struct Block {
  std::string text;                   // lines, each ending in a newline
  std::vector<std::string> returned;  // the formula of every output without a target
};

// The code that computes the outputs. Outputs with a target are assigned; the others are returned as formulas
// to put after `return`.
Block print_block(const Expressions& pool, const Hoisted& hoisted, const std::vector<Stage>& stages,
                  const std::vector<Output>& outputs, int indent);

// Counts each node once and hoisted nodes not at all.
Operations count_operations(const Expressions& pool, const Hoisted& hoisted, const std::vector<Expr>& roots);

}  // namespace zwang
