#include "host/member.h"

#include <cmath>

#include "src/error.h"

namespace zwang {

namespace {

// Draws of one member before "reject" gives up.
constexpr unsigned attempt_limit = 1000;

// Which conditions the drawn start is off, for the message.
std::string what_is_off(const Equations& equations, const State& state) {
  std::string text;
  const auto& constraints = equations.system().constraints;
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const Row row = equations.row(i, state);
    const bool off =
        constraints[i].equation ? std::abs(row.value) + std::abs(row.rate) > 1e-9 : row.value > 1e-9;
    if (!off) continue;
    if (!text.empty()) text += "; ";
    text += "'" + constraints[i].name + "' is " + number_text(row.value);
    if (constraints[i].equation && constraints[i].holonomic) text += ", its rate " + number_text(row.rate);
  }
  return text.empty() ? "conditions missed by less than 1e-9" : text;
}

}  // namespace

PreparedMember prepare_member(const Study& study, unsigned long long number) {
  PreparedMember member;
  member.number = number;
  for (unsigned attempt = 0; attempt < attempt_limit; ++attempt) {
    member.attempts = attempt + 1;
    member.inputs = draw_member(study, number, attempt);
    member.start = member.inputs.start;
    const Equations equations(*study.system, member.inputs.parameters);
    member.preparation = prepare_start(equations, study.integrator, member.start);
    if (member.preparation.consistent) return member;
    if (study.ensemble.consistency == Consistency::project) return member;
    if (study.ensemble.consistency == Consistency::error)
      throw Error({.where = {study.path, 0, 0},
                   .message = "member " + std::to_string(number) + " starts off the conditions",
                   .found = what_is_off(equations, member.inputs.start),
                   .expected = "0 for equations and their rates, at most 0 for inequalities",
                   .hint = "consistency = \"project\" moves such starts to the nearest admissible state"});
  }
  member.preparation.status = Status::inconsistent_start;
  member.start = member.inputs.start;
  return member;
}

Trajectory replay_member(const Study& study, const PreparedMember& member, const Plan& plan) {
  const Equations equations(*study.system, member.inputs.parameters);
  Trajectory trajectory;
  if (member.preparation.status == Status::ok) {
    trajectory = simulate(equations, study.integrator, plan, member.start);
  } else {
    trajectory.status = member.preparation.status;
    trajectory.cause = "the drawn start could not be brought onto the conditions";
    trajectory.last.state = member.start;
    trajectory.last.multipliers = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(equations.count()));
    trajectory.last.closed.assign(equations.count(), 0.0);
    trajectory.measures.assign(study.system->measures.size(), std::nan(""));
  }
  trajectory.position_moved = member.preparation.position_moved;
  trajectory.velocity_moved = member.preparation.velocity_moved;
  trajectory.start_consistent = member.preparation.consistent;
  return trajectory;
}

Plan study_plan(const Study& study) { return {study.time.outputs, study.time.end}; }

}  // namespace zwang
