// The shape of formulas: what remains of them without the indices and numbers they contain.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/emit/text.h"
#include "src/expression/expression.h"

namespace zwang {

// "k[12]" as ("k", 12); a plain name has no index.
struct Place {
  std::string array;
  std::optional<long> index;
};

Place place_of(const std::string& text);

// What a formula reads from arrays, or a number in it.
struct Leaf {
  Expr node{};
  std::string array;  // empty: a number
  long index = 0;
  double number = 0;
};

// The formulas of one repetition: their common structure as a key, and what differs between repetitions.
struct Shape {
  std::string key;
  std::vector<Leaf> leaves;
  std::vector<long> targets;  // indices of the outputs
};

// The shape of the outputs of one repetition. Values in `hoisted` are leaves.
Shape shape_of(const Expressions& pool, const Hoisted& hoisted, const std::vector<Output>& outputs);

}  // namespace zwang
