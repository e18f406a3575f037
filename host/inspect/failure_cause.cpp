// Replays a failed member by the reference, with few steps.
#include "host/inspect/failure_cause.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/run/progress.h"
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

std::string stopped_early_text(const RunTally& tally) {
  return fmt::format("all of the first {} members fail, so the run was stopped and nothing was written",
                     count_text(tally.members));
}

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

Problem all_failed_problem(const Study& study, const RunTally& tally, const std::string& outcome,
                           const std::function<std::string(long long member)>& hint) {
  std::string counts;
  std::size_t most = static_cast<std::size_t>(Status::ok);
  for (std::size_t how = 0; how < status_count; ++how) {
    if (tally.status[how] == 0) continue;
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count_text(tally.status[how]),
                          status_name(static_cast<Status>(how)));
    if (tally.status[how] > tally.status[most]) most = how;
  }
  const long long member = tally.examples[most].front();
  const std::string cause = failure_cause(study, member);
  return {.where = {study.path, 0, 0},
          .message = fmt::format("member {} ends as {}{}; {}", member, status_name(static_cast<Status>(most)),
                                 cause.empty() ? "" : ": " + cause, outcome),
          .found = counts,
          .expected = "members that reach their end",
          .hint = hint(member)};
}

}  // namespace zwang
