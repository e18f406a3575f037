// The first rise above zero of a function of the fraction theta in [0, 1] of a step.
#pragma once

#include <functional>
#include <optional>
#include <span>

namespace zwang {

using Curve = std::function<double(double theta)>;

// The fractions at which event functions are sampled. Unevenly spaced, so that a periodic function cannot
// have the same phase at all samples.
std::span<const double> sample_fractions();

struct Bracket {
  double below = 0, above = 0;  // curve <= 0 at `below`, > 0 at `above`
};

// `samples` are the curve at sample_fractions(). The start counts as below zero independent of rounding (the
// caller knows the sign of the function). A maximum above zero between two samples below zero is found from
// the slopes at both; intervals in which a cubic does not describe the curve are bisected.
std::optional<Bracket> first_rise(std::span<const double> samples, const Curve& curve);

// A root inside the bracket, to the last bits of theta: secant steps, with bisection as a safeguard.
double root(const Bracket& bracket, const Curve& curve);

// The largest value of the curve on [left, right] and where it is, by golden sections.
struct Peak {
  double theta = 0, value = 0;
};
Peak peak(double left, double right, const Curve& curve);

}  // namespace zwang
