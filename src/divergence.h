// The divergence of the flow in (q, v, z) [voss-11]: how fast phase volume grows.
#pragma once

#include "src/equations.h"

namespace zwang {

// At a state with the accelerations and multipliers there; `set` are the conditions that hold as equations.
double flow_divergence(const Equations& equations, const State& state, const std::vector<std::size_t>& set,
                       const Eigen::VectorXd& accelerations, const Eigen::VectorXd& multipliers);

}  // namespace zwang
