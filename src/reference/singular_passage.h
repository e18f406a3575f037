// Positions in which active rows become linearly dependent for an instant, although the motion goes on smoothly: a
// parallelogram linkage whose cranks and coupler come to lie in one line.
//
// Branches of the configuration space cross there. With s the distance of a unit row from the span of the others,
// which passes through zero linearly in time, a state off the constraints by d has accelerations wrong by d/s, and the
// branches are apart by about s. So near such a position
//   - the right side is evaluated at the state projected onto the constraints: the error d/s is gone, and the method
//     keeps its order;
//   - no stage and no end of a step may come close to the dependence: the step is chosen so that the dependence falls
//     into the widest gap between the nodes of the method (plan_step);
//   - a projection that moves a state by a considerable part of the step rejects the step: the branch would not be
//     certain.
// Where this is not possible the member ends as `singular`. kernels/event/singular_passage.h is the same for kernels.
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <vector>

#include "kernels/base/status.h"
#include "src/base/settings.h"
#include "src/reference/member_state.h"
#include "src/reference/runge_kutta.h"
#include "src/system/equations.h"

namespace zwang {

// The approach to a dependence at the member's state.
struct Approach {
  Status status = Status::ok;  // singular: the rows are dependent now, or were when they became active
  bool near = false;           // the dependence is within a few steps, ahead or behind
  double time = 0;             // until the dependence; negative: it is behind
  double excluded = 0;         // the time around it in which rounding spoils a right side
};

class SingularPassage {
 public:
  // The approach at the start of a step of length h; `rate` is that of the member's state.
  Approach approach(const MemberState& member, const Eigen::VectorXd& rate, double h);

 private:
  std::vector<std::size_t> rows_;  // the active rows to which rank_ belongs
  std::size_t rank_ = 0;
};

// The length of a step of at most h, so that a dependence `time` ahead falls into the widest gap between the nodes of
// the method, or clearly behind the step's end.
double plan_step(IntegratorSettings::Method method, double h, double time);

// Projects a state within a step of length h onto the active conditions. False where that moves it too far to be
// certain about the branch.
bool project_within_step(const MemberState& member, double h, State& state);

// The error estimate of a step without its part across the constraints: the projection at the end of the step removes
// that part, and near a dependence it is dominated by rounding.
Eigen::VectorXd tangential(const MemberState& member, const Step& step);

}  // namespace zwang
