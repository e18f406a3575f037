// Results of parsing that are more than one expression: conditions and measures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/base/layout.h"
#include "src/expression/expression.h"

namespace zwang {

// distance(a,b) or norm(a), recognised when it is one whole side of a condition.
struct Distance {
  std::vector<Expr> difference;  // components of a - b
  std::vector<Expr> first_end;   // the coordinates of a (or of b when a is an anchor): where the tension acts
};

enum class Comparison { less_equal, greater_equal, equal, less, greater };

struct Condition {
  Comparison comparison;
  Expr left, right;
  std::optional<Distance> left_distance, right_distance;
};

// A reduction over the whole motion: maximum(x), count(shock(c)), at(event(e), x) ...
struct ReducedFormula {
  Reduction reduction = Reduction::final;
  EventPattern pattern = EventPattern::none;
  std::string name{};    // the condition, the watched event or the record
  std::string column{};  // of a record: the value that is reduced
  Expr value{};          // what is reduced, or evaluated at the event
};

// A measure: an expression of reductions, parameters and other measures, or the truth of a condition on them.
struct MeasureFormula {
  Expr value{};              // NaN: missing. A condition: 1 where it is true, else 0
  bool probability = false;  // probability(..)
  Expr undecided{};          // of a condition: 1 where one of its comparisons has a missing side, else 0
};

}  // namespace zwang
