// The motion between events as a power series in the time: the text of one `struct Series`, whose terms follow from each other
// order by order. Sums pass term by term; products and functions of the state need all earlier terms of their arguments, which
// they keep [E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, I.8].
#pragma once

#include <string>
#include <vector>

#include "src/emit/text.h"
#include "src/expression/expression.h"

namespace zwang {

struct EmittedSeries {
  std::string text;      // empty where the motion has no such series
  std::string obstacle;  // why: "abs()"
  long long sums = 0;    // over all earlier terms, for every term: what grows with the square of the order
  long long linear = 0;  // other operations for every term
};

// `rates`: of all numbers of a state but the positions, in their order.
EmittedSeries emit_series(Expressions& pool, const Hoisted& hoisted, const std::vector<Expr>& rates);

}  // namespace zwang
