// The F distribution.
#pragma once

namespace zwang {

// P(F <= x) for F with these degrees of freedom, both positive.
double f_probability(double x, double numerator, double denominator);

// The x with P(F <= x) = p.
double f_quantile(double p, double numerator, double denominator);

}  // namespace zwang
