// One member at a time: preparation through a temporary Sampler, integration by the reference.
#include "host/sample/member.h"

#include <cmath>

#include "host/sample/drawn_ranges.h"
#include "host/sample/sampler.h"
#include "host/study/study.h"
#include "kernels/base/status.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"
#include "src/system/not_finite.h"

namespace zwang {

PreparedMember prepare_member(const Study& study, unsigned long long number) {
  Sampler::Scratch scratch;
  PreparedMember member;
  Sampler(study).prepare(number, scratch, member);
  return member;
}

namespace {

// Why a member cannot start.
std::string cause_of_start(const Study& study, const Equations& equations, const PreparedMember& member) {
  const std::string range = DrawnRanges(study).violation(member.inputs.parameters);
  if (!range.empty()) return range;
  const std::string formula = describe_not_finite(equations, member.inputs.start, false);
  return "the drawn start could not be projected onto the constraints" +
         (formula.empty() ? "" : ": " + formula);
}

}  // namespace

Trajectory replay_member(const Study& study, const PreparedMember& member, const Plan& plan) {
  const Equations equations(*study.system, member.inputs.parameters);
  Trajectory trajectory;
  if (member.preparation.status == Status::ok) {
    trajectory = simulate(equations, study.integrator, plan, member.start);
  } else {
    trajectory.status = member.preparation.status;
    trajectory.cause = cause_of_start(study, equations, member);
    trajectory.last.state = member.start;
    trajectory.last.multipliers = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(equations.count()));
    trajectory.last.closed.assign(equations.count(), 0.0);
    trajectory.measures.assign(study.system->member_values(), std::nan(""));
  }
  trajectory.position_moved = member.preparation.position_moved;
  trajectory.velocity_moved = member.preparation.velocity_moved;
  trajectory.start_consistent = member.preparation.consistent;
  return trajectory;
}

Plan study_plan(const Study& study) { return {study.time.outputs, study.time.end}; }

}  // namespace zwang
