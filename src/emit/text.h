// Expressions as straight-line C++: one `const R x7 = ...;` per shared subexpression, what is used once written in place.
//
// The text calls only functions that kernels/ has for every kind of number, and never branches on a number: the same
// lines run on doubles, on packs of members and on numbers that carry their rounding.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "src/expression/expression.h"

namespace zwang {

// Stands for the share of a diagonal entry below which a pivot is rounding. It depends on the precision the text is
// compiled for, so it is a name, not a number.
constexpr Symbol dependent_share{SymbolKind::time, 1};

// How much work a piece of code is.
struct Operations {
  long long sums = 0, products = 0, divisions = 0, selects = 0, functions = 0;
  long long total() const { return sums + products + divisions + selects + functions; }
};

struct Output {
  std::string target;  // "rate[3]"
  Expr value;
};

// A paragraph of the code: what it computes that later ones use.
struct Stage {
  std::string comment;
  std::vector<Expr> values;
};

// What a function does not compute itself: constants made once per member, by node.
using Hoisted = std::unordered_map<std::uint32_t, std::string>;

// A number as C++ text of type R, losing no bits.
std::string literal(double value);

struct Block {
  std::string text;                   // lines, each ending in a newline
  std::vector<std::string> returned;  // the formula of every output without a target
};

// The code that computes the outputs. Those with a target are assigned; those without come back as formulas to put
// behind `return`.
Block print_block(const Expressions& pool, const Hoisted& hoisted, const std::vector<Stage>& stages,
                  const std::vector<Output>& outputs, int indent);

// Each node once, hoisted ones not at all.
Operations count_operations(const Expressions& pool, const Hoisted& hoisted, const std::vector<Expr>& roots);

}  // namespace zwang
