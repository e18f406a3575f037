// Event functions of a step: curves whose rise through zero is an event (mechanics section 5, requirements 1
// to 3).
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <vector>

#include "src/reference/member_state.h"
#include "src/reference/motion_formulas.h"
#include "src/reference/smooth_motion.h"
#include "src/system/equations.h"

namespace zwang {

struct EventFunction {
  enum class Kind { reached, release, press, watch, stop, kink, transition, painleve } kind;
  std::size_t index = 0;  // of the condition, watched function, kink, transition or contact with friction
  double sign = 1;        // of the raw function
  double level = 0;       // the event is where sign * raw rises above the level
  double zero = 0;        // tolerance of the function's value at the located event
  double since = 0, noise = 0;  // the level grows by noise (t - since)^2 / 2
};

// All event functions that may end this step early.
std::vector<EventFunction> event_functions(const MemberState& member, const MotionFormulas& formulas,
                                           const SmoothMotion& smooth, const SmoothStep& step);

// The function at a state. `multipliers` may be null; they are then computed where the function needs them.
double event_value(const MemberState& member, const MotionFormulas& formulas,
                   const EventFunction& event_function, const State& state,
                   const Eigen::VectorXd* multipliers);

}  // namespace zwang
