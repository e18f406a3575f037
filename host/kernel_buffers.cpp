#include "host/kernel_buffers.h"

#include <limits>

namespace zwang {

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

template <class T>
std::vector<T> part(const std::vector<T>& all, std::size_t begin, std::size_t end, std::size_t width) {
  const auto at = [&](std::size_t member) {
    return all.begin() + static_cast<std::ptrdiff_t>(member * width);
  };
  return {at(begin), at(end)};
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// One row of the log (kernels/layout.h) as an Event.
Event event_of(const double* row, const System& system) {
  const std::size_t n = system.size(), r = system.constraints.size();
  Event event;
  event.t = row[0];
  event.kind = static_cast<EventKind>(static_cast<int>(row[1]));
  event.watch = static_cast<std::size_t>(row[2]);
  event.velocities_jump = row[4] != 0;
  event.energy_lost = row[3];
  const double *listed = row + event_row_head, *reached = listed + r, *impulse = reached + r,
               *before = impulse + r;
  for (std::size_t i = 0; i < r; ++i) {
    if (listed[i] != 0) event.constraints.push_back(i);
    if (reached[i] != 0) event.reached.push_back(i);
    if (listed[i] != 0 && event.velocities_jump && event.kind != EventKind::accumulation)
      event.impulses.push_back(impulse[i]);
  }
  if (event.velocities_jump) {
    const auto size = static_cast<Eigen::Index>(n);
    event.velocity_before = Eigen::Map<const Eigen::VectorXd>(before, size);
    event.velocity_after = Eigen::Map<const Eigen::VectorXd>(before + n, size);
  }
  return event;
}

Audit audit_of(const double* numbers) {
  return {.position_violation = numbers[0],
          .velocity_violation = numbers[1],
          .energy_drift = numbers[2],
          .energy_size = numbers[3],
          .kkt = numbers[4],
          .carnot = numbers[5],
          .energy_created = numbers[6]};
}

}  // namespace

KernelShape::KernelShape(const System& system, std::size_t output_times)
    : parameters(system.parameters.size()),
      state(2 * system.size() + system.auxiliaries.size()),
      sample(state + 2 * system.constraints.size()),
      outputs(output_times),
      observables(system.observables.size()),
      measures(system.measures.size()),
      event_row(static_cast<std::size_t>(
          event_row_length(static_cast<int>(system.size()), static_cast<int>(system.constraints.size())))) {}

std::size_t KernelShape::member_bytes(const Wanted& wanted, long long event_room) const {
  std::size_t numbers = parameters + 2 * state + measures + 1 + 2 + event_kinds + audit_numbers;
  if (wanted.observables) numbers += outputs * observables;
  if (wanted.states) numbers += outputs * sample;
  if (wanted.events) numbers += static_cast<std::size_t>(event_room) * event_row;
  return 8 * numbers + 3 * sizeof(int);
}

KernelBuffers::KernelBuffers(const KernelShape& shape, const std::vector<double>& outputs, const Batch& batch,
                             std::size_t begin, std::size_t end, const Wanted& wanted, long long event_room)
    : shape_(shape),
      parameters_(part(batch.parameters, begin, end, shape.parameters)),
      starts_(part(batch.starts, begin, end, shape.state)),
      outputs_(outputs) {
  const std::size_t count = end - begin;
  for (std::size_t i = begin; i < end; ++i) prepared_.push_back(static_cast<int>(batch.prepared[i]));
  status_.assign(count, 0);
  redundant_.assign(count, 0);
  end_time_.assign(count, 0);
  end_state_.assign(count * shape.state, missing);
  measures_.assign(count * shape.measures, missing);
  audits_.assign(count * audit_numbers, 0);
  steps_.assign(2 * count, 0);
  event_counts_.assign(count * event_kinds, 0);
  if (wanted.observables) observables_.assign(count * shape.outputs * shape.observables, missing);
  if (wanted.states) states_.assign(count * shape.outputs * shape.sample, missing);
  if (wanted.events) events_.assign(count * static_cast<std::size_t>(event_room) * shape.event_row, 0);
  batch_.count = static_cast<long long>(count);
  batch_.event_capacity = wanted.events ? event_room : 0;
  each_array(batch_, [](const Array& array, const std::function<void(void*)>& point) { point(array.data); });
}

void KernelBuffers::each_array(KernelBatch& batch, const Visit& visit) {
  const auto one = [&](auto& values, auto& pointer, bool given) {
    using Pointer = std::remove_reference_t<decltype(pointer)>;
    if (values.empty()) return;
    visit({values.data(), values.size() * sizeof(values[0]), given},
          [&pointer](void* there) { pointer = static_cast<Pointer>(there); });
  };
  one(parameters_, batch.parameters, true);
  one(starts_, batch.starts, true);
  one(prepared_, batch.prepared, true);
  one(outputs_, batch.outputs, true);
  one(status_, batch.status, false);
  one(end_time_, batch.end_time, false);
  one(end_state_, batch.end_state, false);
  one(measures_, batch.measures, false);
  one(observables_, batch.observables, false);
  one(states_, batch.states, false);
  one(steps_, batch.steps, false);
  one(event_counts_, batch.event_counts, false);
  one(audits_, batch.audits, false);
  one(redundant_, batch.redundant, false);
  one(events_, batch.events, false);
}

long long KernelBuffers::events_of(std::size_t member) const {
  long long total = 0;
  for (std::size_t k = 0; k < event_kinds; ++k) total += event_counts_[member * event_kinds + k];
  return total;
}

void KernelBuffers::add_to(BatchResults& results) const {
  for (const int status : status_) results.status.push_back(static_cast<Status>(status));
  for (std::size_t m = 0; m < count(); ++m) {
    results.steps.push_back(steps_[2 * m]);
    results.rejected.push_back(steps_[2 * m + 1]);
    results.audits.push_back(audit_of(audits_.data() + m * audit_numbers));
    results.redundant.push_back(redundant_[m] != 0);
  }
  append(results.end_time, end_time_);
  append(results.end_state, end_state_);
  append(results.measures, measures_);
  append(results.observables, observables_);
  append(results.states, states_);
  append(results.event_counts, event_counts_);
}

MemberEvents KernelBuffers::events(std::size_t member, const System& system) const {
  MemberEvents made;
  const long long total = events_of(member);
  const double* row =
      events_.data() + member * static_cast<std::size_t>(batch_.event_capacity) * shape_.event_row;
  for (long long k = 0; k < total; ++k, row += shape_.event_row) made.push_back(event_of(row, system));
  return made;
}

}  // namespace zwang
