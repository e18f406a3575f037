#include "host/inspect/inspect_member.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/inspect/replay_backend.h"
#include "host/sample/member.h"
#include "host/sample/sample.h"
#include "host/toml/raw_text.h"
#include "kernels/base/status.h"
#include "src/analysis/equilibrium.h"
#include "src/analysis/linearise.h"
#include "src/base/error.h"
#include "src/reference/reference.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

void note_foreign_member(const Study& study, unsigned long long member, const TakeNote& note) {
  if (member >= static_cast<unsigned long long>(study.members_in_all()))
    note(fmt::format("member {} is not among the study's {} members (0 to {})", member,
                     study.members_in_all(), study.members_in_all() - 1));
}

MemberMotion member_motion(const Study& study, unsigned long long member, Backend* backend, bool every_step) {
  MemberMotion made{prepare_member(study, member), {}, backend ? backend->name() : "reference"};
  Plan plan = study_plan(study);
  plan.every_step = every_step;
  made.trajectory =
      backend ? replay_by_backend(study, made.member, *backend) : replay_member(study, made.member, plan);
  return made;
}

ExplainedState explain_state(const Study& study, unsigned long long member, double at, const TakeNote& note) {
  if (at > study.time.end)
    note(fmt::format("t = {} is beyond the end of the study ({}); the motion is continued", number_text(at),
                     number_text(study.time.end)));
  PreparedMember prepared = prepare_member(study, member);
  // Slightly beyond the requested time, so that an event at exactly that time is included.
  const double until = at * (1 + 1e-12);
  const Trajectory trajectory = replay_member(study, prepared, {{}, until});
  if (trajectory.last.state.t < at && trajectory.status != Status::ok)
    note(fmt::format("the member ended at t = {} with status {} ({})", trajectory.last.state.t,
                     status_name(trajectory.status), trajectory.cause));
  const Equations equations(*study.system, prepared.inputs.parameters);
  Explanation explanation = explain(equations, trajectory.last, study.integrator.contact_tolerance);
  if (trajectory.last.state.t >= at) explanation.state.t = at;
  return {std::move(prepared), std::move(explanation)};
}

Modes modes_near(const Study& study, const ModesMember& member,
                 const std::vector<std::pair<std::string, double>>& near) {
  const std::vector<std::string>& coordinates = study.system->coordinates;
  MemberInputs inputs = member ? prepare_member(study, *member).inputs : nominal_member(study);
  for (const auto& [name, value] : near) {
    const auto found = std::find(coordinates.begin(), coordinates.end(), name);
    if (found == coordinates.end())
      throw Error({.where = {"--near", 0, 0},
                   .message = "there is no coordinate of that name",
                   .found = printable(name),
                   .expected = "one of: " + list_text(coordinates, "or") + ", as in NAME=VALUE",
                   .hint = suggestion(name, coordinates)});
    inputs.start.q(found - coordinates.begin()) = value;
  }
  const Equations equations(*study.system, inputs.parameters);
  require_autonomous(equations, inputs.start, study.path);
  const RestEquations rest(equations);
  return find_modes(rest, inputs.start, study.integrator.contact_tolerance);
}

}  // namespace zwang
