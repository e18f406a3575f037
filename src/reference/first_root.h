// Where a function of a step's fraction theta in [0, 1] first rises above zero.
#pragma once

#include <functional>
#include <optional>
#include <span>

namespace zwang {

using Curve = std::function<double(double theta)>;

// The fractions at which event functions are sampled. Unevenly spaced, so that something periodic in the step cannot
// hide between them by resonance.
std::span<const double> sample_fractions();

struct Bracket {
  double below = 0, above = 0;  // curve <= 0 at `below`, > 0 at `above`
};

// `samples` are the curve at sample_fractions(). The start counts as below zero whatever rounding says (the caller
// knows on which side the function is). Dips: between neighbours below zero the slopes at both tell a hump, and halves
// are looked at where a cubic does not describe the curve.
std::optional<Bracket> first_rise(std::span<const double> samples, const Curve& curve);

// A root inside the bracket, to the last bits of theta: bisection kept safe, secants for speed (Brent).
double root(const Bracket& bracket, const Curve& curve);

// The largest value of the curve on [left, right] and where it is, by golden sections.
struct Peak {
  double theta = 0, value = 0;
};
Peak peak(double left, double right, const Curve& curve);

}  // namespace zwang
