// Distributions with the arguments of one member: validity, quantile, centre and text.
#pragma once

#include <span>
#include <string>

#include "host/study/study.h"

namespace zwang {

// A distribution with these arguments as a study writes it: "normal = { mean = 1, std = -0.2 }".
std::string distribution_text(const Distribution& distribution, std::span<const double> x);

// What the arguments x must satisfy, as text for a message, and whether they do.
struct ArgumentCheck {
  const char* expected;
  bool ok;
};
ArgumentCheck check_arguments_of(Distribution::Kind kind, std::span<const double> x);

// The quantile function at u in (0, 1), for the kinds that are drawn from a uniform number.
double at_quantile(Distribution::Kind kind, std::span<const double> x, double u);

// The centre of the distribution, used for the nominal member.
double at_centre(Distribution::Kind kind, std::span<const double> x);

// Point `index` of `points` equally spaced points from a to b. Both ends are exact.
double grid_value(double a, double b, long long index, long long points);

// Whether a draw of this kind uses a uniform number, and therefore a dimension of the sampler.
bool takes_uniform(Distribution::Kind kind);

}  // namespace zwang
