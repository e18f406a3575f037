// Drawing members one at a time: member k's inputs depend on (seed, k, the draw's name) alone. Ensembles are drawn by
// a Sampler (host/sample/sampler.h), which also says what other samplers than "random" depend on.
#pragma once

#include <vector>

#include "host/study/study.h"
#include "src/system/equations.h"

namespace zwang {

struct MemberInputs {
  std::vector<double> parameters;  // every parameter of the system, hidden ones included
  State start;                     // as drawn, before any projection
};

// The uniform number in (0, 1) behind a draw; `attempt` counts redraws of a rejected member.
double uniform_draw(unsigned long long seed, unsigned long long member, const std::string& name,
                    unsigned attempt = 0);

// Quantile functions on (0, 1).
double normal_quantile(double u);

// Throws Error when a distribution's numbers are impossible for this member (std < 0, a > b, ...).
MemberInputs draw_member(const Study& study, unsigned long long member, unsigned attempt = 0);

// Every distribution at its centre.
MemberInputs nominal_member(const Study& study);

// Indices (into Study::parameters) of the inputs that are drawn.
std::vector<std::size_t> drawn_inputs(const Study& study);

}  // namespace zwang
