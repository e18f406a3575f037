// A distribution with one member's numbers: whether they make sense, and what it gives.
#pragma once

#include <span>
#include <string>

#include "host/study/study.h"

namespace zwang {

// "normal = { mean = 1, std = -0.2 }": a distribution with these arguments, in the study's notation.
std::string distribution_text(const Distribution& distribution, std::span<const double> x);

// What the arguments x must satisfy, in words and as a test.
struct Demand {
  const char* words;
  bool met;
};
Demand demand(Distribution::Kind kind, std::span<const double> x);

// The distribution at u in (0, 1): its quantile function, for the kinds that are drawn from a uniform number.
double at_quantile(Distribution::Kind kind, std::span<const double> x, double u);

// Its centre, for the nominal member.
double at_centre(Distribution::Kind kind, std::span<const double> x);

// Place `index` of `points` equally spaced ones from a to b; both ends are hit exactly.
double grid_value(double a, double b, long long index, long long points);

// Whether a draw of this kind takes a uniform number, and so a dimension.
bool takes_uniform(Distribution::Kind kind);

}  // namespace zwang
