// The work that the reference may spend on one member of a check, counted in trial steps (accepted or not),
// so that a report does not depend on the speed of the machine.
#pragma once

#include <cstddef>

#include "src/reference/trajectory.h"

namespace zwang {

// A pool of trial steps for one member, from which its segments draw in order. A run may use half of a
// quarter of what is left (there are two runs per segment): a segment that needs far more than the others is
// given up and leaves enough for those after it. The last segments divide what is left.
class WorkBudget {
 public:
  // Unlimited.
  WorkBudget() = default;
  // `scale` multiplies every number of the budget. `backend_steps`: trial steps of the backend for this
  // member. `members`: number of members in the check, among which a fixed amount is divided.
  WorkBudget(double scale, long long backend_steps, std::size_t members);

  // Sets the limit of the runs that follow; `stretches_left` includes the one that begins.
  void begin_stretch(std::size_t stretches_left);
  // Trial steps that one run may take.
  long long run_limit() const { return run_limit_; }
  void spend(const Trajectory& run) { left_ -= trial_steps(run); }

  static long long trial_steps(const Trajectory& run) { return run.steps + run.rejected; }

 private:
  double least_ = 0;  // trial steps of a run, however little is left
  double left_ = 0;
  long long run_limit_ = no_limit;
};

}  // namespace zwang
