#include "host/backend/backend_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/backend/batch.h"
#include "host/platform/parallel.h"
#include "host/sample/member.h"
#include "host/study/study.h"
#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/base/settings.h"
#include "src/reference/reference.h"
#include "src/reference/trajectory.h"
#include "src/system/equations.h"
#include "src/system/system.h"

namespace zwang {

namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

// Numbers per member in the arrays of a batch and its results.
struct Shape {
  explicit Shape(const System& system, std::size_t output_times)
      : parameters(system.parameters.size()),
        state(2 * system.size() + system.auxiliaries.size()),
        sample(state + 2 * system.constraints.size()),
        outputs(output_times),
        observables(system.observables.size()),
        measures(system.member_values()),
        records(system.record_room()) {}
  std::size_t parameters, state, sample, outputs, observables, measures, records;
};

double* put(const Eigen::VectorXd& values, double* to) { return std::copy(values.begin(), values.end(), to); }

double* put(const State& state, double* to) { return put(state.z, put(state.v, put(state.q, to))); }

State start_of(const System& system, const double* from) {
  const auto n = static_cast<Eigen::Index>(system.size());
  const auto nz = static_cast<Eigen::Index>(system.auxiliaries.size());
  using Numbers = Eigen::Map<const Eigen::VectorXd>;
  return {0, Numbers(from, n), Numbers(from + n, n), Numbers(from + 2 * n, nz)};
}

BatchResults allocate_results(std::size_t count, const Shape& shape, const Wanted& wanted) {
  BatchResults made;
  made.status.resize(count);
  made.end_time.resize(count);
  made.end_state.resize(count * shape.state);
  made.measures.assign(count * shape.measures, no_value);
  made.records.assign(count * shape.records, 0);
  if (wanted.observables) made.observables.assign(count * shape.outputs * shape.observables, no_value);
  if (wanted.states) made.states.assign(count * shape.outputs * shape.sample, no_value);
  if (wanted.events) made.events.resize(count);
  made.steps.resize(count);
  made.rejected.resize(count);
  made.event_counts.resize(count * event_kinds);
  made.audits.resize(count);
  made.redundant.resize(count);
  return made;
}

// In the layout of the kernels (kernels/base/layout.h). The rows are in their order from the first slot on: a
// ring that has gone round begins at slot `total % most`.
void store_records(const std::vector<MemberRecord>& records, const System& system, double* to) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    const RecordFormula& formula = system.records[i];
    const auto length = static_cast<std::size_t>(record_row_head) + formula.values.size();
    const bool wraps = formula.keep_last && records[i].total > formula.most;
    const long long start = wraps ? records[i].total % formula.most : 0;
    to[0] = static_cast<double>(records[i].occurrences);
    to[1] = static_cast<double>(records[i].total);
    for (std::size_t k = 0; k < records[i].rows.size(); ++k) {
      const RecordRow& row = records[i].rows[k];
      double* slot = to + record_head +
                     static_cast<std::size_t>((start + static_cast<long long>(k)) % formula.most) * length;
      slot[0] = row.t;
      slot[1] = static_cast<double>(row.occurrence);
      std::copy(row.values.begin(), row.values.end(), slot + record_row_head);
    }
    to += formula.room();
  }
}

void store_results(Trajectory&& trajectory, const System& system, std::size_t k, const Shape& shape,
                   const Wanted& wanted, BatchResults& results) {
  results.status[k] = trajectory.status;
  results.end_time[k] = trajectory.last.state.t;
  put(trajectory.last.state, results.end_state.data() + k * shape.state);
  std::copy(trajectory.measures.begin(), trajectory.measures.end(),
            results.measures.data() + k * shape.measures);
  for (std::size_t j = 0; j < trajectory.samples.size(); ++j) {
    const Sample& sample = trajectory.samples[j];
    const std::size_t row = k * shape.outputs + j;
    if (wanted.observables)
      std::copy(sample.observables.begin(), sample.observables.end(),
                results.observables.data() + row * shape.observables);
    if (wanted.states)
      std::copy(sample.closed.begin(), sample.closed.end(),
                put(sample.multipliers, put(sample.state, results.states.data() + row * shape.sample)));
  }
  store_records(trajectory.records, system, results.records.data() + k * shape.records);
  for (const Event& event : trajectory.events)
    ++results.event_counts[k * event_kinds + static_cast<std::size_t>(event.kind)];
  if (wanted.events) results.events[k] = std::move(trajectory.events);
  results.steps[k] = trajectory.steps;
  results.rejected[k] = trajectory.rejected;
  results.audits[k] = trajectory.audit;
  results.redundant[k] = trajectory.redundant ? 1 : 0;
}

}  // namespace

BackendReference::BackendReference(const Study& study, unsigned threads)
    : system_(study.system),
      settings_(study.integrator),
      plan_(study_plan(study)),
      threads_(thread_count(threads)) {}

std::string BackendReference::device() const {
  return settings_.method == IntegratorSettings::Method::rk4 ? "1 lane, rk4" : "1 lane, tsit5";
}

BatchResults BackendReference::run(const Batch& batch, const Wanted& wanted) {
  const Shape shape(*system_, plan_.outputs.size());
  BatchResults results = allocate_results(batch.count, shape, wanted);
  in_parallel(batch.count, threads_, [&](std::size_t k) {
    const double* parameters = batch.parameters.data() + k * shape.parameters;
    const State start = start_of(*system_, batch.starts.data() + k * shape.state);
    if (batch.prepared[k] != Status::ok) {
      results.status[k] = batch.prepared[k];
      put(start, results.end_state.data() + k * shape.state);
      return;
    }
    const Equations equations(*system_, {parameters, parameters + shape.parameters});
    store_results(simulate(equations, settings_, plan_, start), *system_, k, shape, wanted, results);
  });
  return results;
}

}  // namespace zwang
