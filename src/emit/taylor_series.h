// The motion between events as a power series in time: the text of one `struct Series`, whose terms are
// computed order by order. Sums are computed term by term; products and functions of the state need all
// earlier terms of their arguments, which are stored [E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary
// Differential Equations I, I.8].
#pragma once

#include <string>
#include <vector>

#include "src/emit/text.h"
#include "src/expression/expression.h"

namespace zwang {

struct EmittedSeries {
  std::string text;      // empty where the motion has no such series
  std::string obstacle;  // why: "abs()"
  long long sums = 0;    // sums over all earlier terms: their cost grows with the square of the order
  long long linear = 0;  // other operations for every term
};

// `rates`: of all entries of the state but the positions, in their order.
EmittedSeries emit_series(Expressions& pool, const Hoisted& hoisted, const std::vector<Expr>& rates);

}  // namespace zwang
