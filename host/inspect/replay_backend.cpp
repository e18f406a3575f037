// Converts the results of a batch of one member to a trajectory.
#include "host/inspect/replay_backend.h"
#include "host/study/study.h"
#include "kernels/base/status.h"
#include "src/reference/audit.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"
#include "src/system/system.h"

#include <cmath>

namespace zwang {

namespace {

Eigen::VectorXd vector_of(const double* from, std::size_t count) {
  return Eigen::Map<const Eigen::VectorXd>(from, static_cast<Eigen::Index>(count));
}

State state_of(const System& system, double t, const double* from) {
  const std::size_t n = system.size();
  return {t, vector_of(from, n), vector_of(from + n, n), vector_of(from + 2 * n, system.auxiliaries.size())};
}

}  // namespace

Trajectory replay_by_backend(const Study& study, const PreparedMember& member, Backend& backend) {
  const System& system = *study.system;
  const std::size_t n = system.size(), r = system.constraints.size();
  const std::size_t state = 2 * n + system.auxiliaries.size(), row = state + 2 * r;
  Batch batch;
  batch.count = 1;
  batch.parameters = member.inputs.parameters;
  for (const Eigen::VectorXd* part : {&member.start.q, &member.start.v, &member.start.z})
    batch.starts.insert(batch.starts.end(), part->begin(), part->end());
  batch.prepared = {member.preparation.status};
  BatchResults results = backend.run(batch, {.observables = true, .states = true, .events = true});

  Trajectory made;
  made.status = results.status[0];
  if (made.status == Status::inaccurate)
    made.cause = cause_of_inaccuracy(results.audits[0]);
  else if (made.status != Status::ok)
    made.cause = "the " + backend.name() + " backend gives no further cause";
  made.redundant = results.redundant[0] != 0;
  made.position_moved = member.preparation.position_moved;
  made.velocity_moved = member.preparation.velocity_moved;
  made.start_consistent = member.preparation.consistent;
  for (std::size_t k = 0; k < study.time.outputs.size(); ++k) {
    const double* from = results.states.data() + k * row;
    if (std::isnan(from[0])) break;  // not reached
    Sample sample{state_of(system, study.time.outputs[k], from),
                  vector_of(from + state, r),
                  std::vector<double>(from + state + r, from + row),
                  {}};
    const std::size_t count = system.observables.size();
    const double* seen = results.observables.data() + k * count;
    sample.observables.assign(seen, seen + count);
    made.samples.push_back(std::move(sample));
  }
  made.last.state = state_of(system, results.end_time[0], results.end_state.data());
  made.last.multipliers = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(r));
  made.last.closed.assign(r, 0.0);
  made.events = std::move(results.events[0]);
  made.measures = results.measures;
  made.audit = results.audits[0];
  made.steps = results.steps[0];
  made.rejected = results.rejected[0];
  return made;
}

}  // namespace zwang
