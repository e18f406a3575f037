// Replays a failed member by the reference, with few steps.
#include "host/inspect/failure_cause.h"

#include <algorithm>

#include "host/sample/member.h"
#include "host/sample/prepared_member.h"
#include "host/study/study.h"
#include "kernels/base/status.h"
#include "src/base/error.h"
#include "src/reference/trajectory.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// A step of the reference costs more in long systems; about a second in all.
long long few_steps(const Study& study) {
  return 200'000 / static_cast<long long>(study.system->size() + 10);
}

}  // namespace

std::string failure_cause(const Study& study, long long member) {
  Study shortened = study;
  const bool cut = shortened.integrator.max_steps > few_steps(study);
  if (cut) shortened.integrator.max_steps = few_steps(study);
  try {
    const PreparedMember prepared = prepare_member(shortened, static_cast<unsigned long long>(member));
    const Trajectory trajectory = replay_member(shortened, prepared, study_plan(shortened));
    const bool well = trajectory.status == Status::ok || trajectory.status == Status::stopped;
    // A step limit that stands only here is not the member's cause.
    if (well || (cut && trajectory.status == Status::step_limit)) return "";
    return trajectory.cause;
  } catch (const Error&) {
    return "";
  }
}

}  // namespace zwang
