// Extracts one member from the results of a batch.
#include "host/check/backend_motion.h"

#include <algorithm>
#include <cmath>

#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

namespace {

using Numbers = Eigen::Map<const Eigen::VectorXd>;

void enlarge(Eigen::VectorXd& size, const Eigen::VectorXd& x) {
  for (Eigen::Index i = 0; i < x.size(); ++i)
    if (std::isfinite(x(i))) size(i) = std::max(size(i), std::abs(x(i)));
}

}  // namespace

MemberSizes sizes_of_motion(const System& system, const BackendMotion& motion) {
  const auto zero = [](std::size_t count) {
    return Eigen::VectorXd(Eigen::VectorXd::Zero(static_cast<Eigen::Index>(count)));
  };
  MemberSizes sizes{zero(system.size()), zero(system.size()), zero(system.auxiliaries.size()),
                    zero(system.constraints.size()), zero(system.observables.size())};
  const auto include = [&](const State& state) {
    enlarge(sizes.q, state.q);
    enlarge(sizes.v, state.v);
    enlarge(sizes.z, state.z);
  };
  include(motion.start);
  include(motion.end);
  for (std::size_t j = 0; j < motion.samples.size(); ++j) {
    if (!motion.reached[j]) continue;
    const Sample& sample = motion.samples[j];
    include(sample.state);
    enlarge(sizes.multipliers, sample.multipliers);
    enlarge(sizes.observables, Numbers(sample.observables.data(), sizes.observables.size()));
  }
  return sizes;
}

bool is_limit(Status status) {
  return status == Status::step_limit || status == Status::event_limit || status == Status::step_too_small ||
         status == Status::event_lost;
}

long long credited_steps(const BackendMotion& motion) {
  return is_limit(motion.status) ? 0 : motion.trial_steps;
}

BackendMotion motion_of(const Study& study, const Batch& batch, const BatchResults& results, std::size_t k) {
  const System& system = *study.system;
  const auto n = static_cast<Eigen::Index>(system.size());
  const auto nz = static_cast<Eigen::Index>(system.auxiliaries.size());
  const auto conditions = static_cast<Eigen::Index>(system.constraints.size());
  const std::size_t outputs = study.time.outputs.size(), observables = system.observables.size();
  const auto width = static_cast<std::size_t>(2 * n + nz);
  const auto state_at = [&](double t, const double* from) {
    return State{t, Numbers(from, n), Numbers(from + n, n), Numbers(from + 2 * n, nz)};
  };
  const auto part = [k](const auto& all, std::size_t size) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(k * size);
    return std::vector(from, from + static_cast<std::ptrdiff_t>(size));
  };

  BackendMotion made;
  made.status = results.status[k];
  made.start = state_at(0, batch.starts.data() + k * width);
  made.end = state_at(results.end_time[k], results.end_state.data() + k * width);
  made.parameters = part(batch.parameters, system.parameters.size());
  made.events = results.events[k];
  made.event_counts = part(results.event_counts, event_kinds);
  made.trial_steps = results.steps[k] + results.rejected[k];
  made.measures = part(results.measures, system.member_values());
  made.measures.resize(system.measures.size());
  for (std::size_t j = 0; j < outputs; ++j) {
    const double* row =
        results.states.data() + (k * outputs + j) * (width + 2 * static_cast<std::size_t>(conditions));
    Sample sample{state_at(study.time.outputs[j], row), Numbers(row + width, conditions), {}, {}};
    const double* closed = row + width + conditions;
    sample.closed.assign(closed, closed + conditions);
    const double* seen = results.observables.data() + (k * outputs + j) * observables;
    sample.observables.assign(seen, seen + observables);
    made.reached.push_back(!sample.state.q.hasNaN() && !sample.state.z.hasNaN());
    made.samples.push_back(std::move(sample));
  }
  return made;
}

}  // namespace zwang
