#include "host/backend/kernel_buffers.h"

#include <iterator>
#include <limits>

#include "kernels/base/status.h"
#include "src/reference/trajectory.h"
#include "src/system/system.h"

namespace zwang {

namespace {

constexpr double unset = std::numeric_limits<double>::quiet_NaN();

std::span<const double> part(const std::vector<double>& all, std::size_t begin, std::size_t end,
                             std::size_t width) {
  return std::span(all).subspan(begin * width, (end - begin) * width);
}

// One row of the log (kernels/base/layout.h) as an Event.
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
    const bool struck = (event.kind == EventKind::accumulation ? reached[i] : listed[i]) != 0;
    if (struck && event.velocities_jump) event.impulses.push_back(impulse[i]);
  }
  if (event.velocities_jump) {
    const auto size = static_cast<Eigen::Index>(n);
    event.velocity_before = Eigen::Map<const Eigen::VectorXd>(before, size);
    event.velocity_after = Eigen::Map<const Eigen::VectorXd>(before + n, size);
  }
  const double* state = before + 2 * n;
  const auto numbers = [](const double* from, std::size_t count) {
    return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(from, static_cast<Eigen::Index>(count)));
  };
  event.state = {event.t, numbers(state, n), numbers(state + n, n),
                 numbers(state + 2 * n, system.auxiliaries.size())};
  return event;
}

}  // namespace

Audit audit_of(const double* numbers) {
  return {.position_violation = numbers[0],
          .velocity_violation = numbers[1],
          .energy_drift = numbers[2],
          .energy_size = numbers[3],
          .kkt = numbers[4],
          .carnot = numbers[5],
          .energy_created = numbers[6],
          .energy_share = numbers[7],
          .condition_share = numbers[8],
          .shock_share = numbers[9]};
}

KernelShape::KernelShape(const System& system, std::size_t output_times)
    : parameters(system.parameters.size()),
      state(2 * system.size() + system.auxiliaries.size()),
      sample(state + 2 * system.constraints.size()),
      outputs(output_times),
      observables(system.observables.size()),
      measures(system.member_values()),
      records(system.record_room()),
      event_row(static_cast<std::size_t>(event_row_length(static_cast<int>(system.size()),
                                                          static_cast<int>(system.constraints.size()),
                                                          static_cast<int>(system.auxiliaries.size())))) {}

std::size_t KernelShape::member_bytes(const Wanted& wanted, long long event_room) const {
  std::size_t numbers = parameters + 2 * state + records + measures + 1 + 2 + event_kinds + audit_numbers;
  if (wanted.observables) numbers += outputs * observables;
  if (wanted.states) numbers += outputs * sample;
  if (wanted.events) numbers += static_cast<std::size_t>(event_room) * event_row;
  return 8 * numbers + 3 * sizeof(int);
}

KernelBuffers::KernelBuffers(const KernelShape& shape, const std::vector<double>& outputs, const Batch& batch,
                             std::size_t begin, std::size_t end, const Wanted& wanted, long long event_room,
                             ResidentResults resident)
    : shape_(shape), outputs_(outputs), count_(end - begin), wanted_(wanted), resident_(resident) {
  if (batch.device_sampling == nullptr) {
    parameters_ = part(batch.parameters, begin, end, shape.parameters);
    starts_ = part(batch.starts, begin, end, shape.state);
    prepared_.resize(count_);
    for (std::size_t i = begin; i < end; ++i) prepared_[i - begin] = static_cast<int>(batch.prepared[i]);
  }
  batch_.count = static_cast<long long>(count_);
  batch_.event_capacity = wanted.events ? event_room : 0;
  if (!resident.members) {
    status_.assign(count_, 0);
    redundant_.assign(count_, 0);
    end_time_.assign(count_, 0);
    end_state_.assign(count_ * shape.state, unset);
    measures_.assign(count_ * shape.measures, unset);
    audits_.assign(count_ * audit_numbers, 0);
    steps_.assign(2 * count_, 0);
    event_counts_.assign(count_ * event_kinds, 0);
  }
  if (wanted.observables && !resident.observables)
    observables_.assign(count_ * shape.outputs * shape.observables, unset);
  if (wanted.states) states_.assign(count_ * shape.outputs * shape.sample, unset);
  if (wanted.events) events_.assign(count_ * static_cast<std::size_t>(event_room) * shape.event_row, 0);
  if (!resident.members) records_.assign(count_ * shape.records, 0);
  each_array(batch_, [](const Array& array, const std::function<void(void*)>& point) { point(array.data); });
}

void KernelBuffers::each_array(KernelBatch& batch, const Visit& visit) {
  // `size`: length of the array if it is resident on the device. A double with all bits set is NaN: missing.
  const auto one = [&](auto& values, auto& pointer, bool input, std::size_t size = 0,
                       unsigned char fill = 0) {
    using Pointer = std::remove_reference_t<decltype(pointer)>;
    const std::size_t numbers = values.empty() ? size : values.size();
    if (numbers == 0) return;
    using Number = std::remove_const_t<std::remove_reference_t<decltype(values[0])>>;
    // Inputs are not written.
    Number* data = values.empty() ? nullptr : const_cast<Number*>(values.data());
    visit({data, numbers * sizeof(Number), input, fill},
          [&pointer](void* address) { pointer = static_cast<Pointer>(address); });
  };
  constexpr unsigned char all_bits = 0xff;
  const std::size_t resident_members = resident_.members ? count_ : 0;
  const std::size_t series =
      resident_.observables && wanted_.observables ? shape_.outputs * shape_.observables : 0;
  // The first three are empty on the host if the device draws the members.
  one(parameters_, batch.parameters, true, count_ * shape_.parameters);
  one(starts_, batch.starts, true, count_ * shape_.state);
  one(prepared_, batch.prepared, true, count_);
  one(outputs_, batch.outputs, true);
  one(status_, batch.status, false, resident_members);
  one(end_time_, batch.end_time, false, resident_members);
  one(end_state_, batch.end_state, false, resident_members * shape_.state, all_bits);
  one(measures_, batch.measures, false, resident_members * shape_.measures, all_bits);
  one(observables_, batch.observables, false, count_ * series, all_bits);
  one(states_, batch.states, false);
  one(steps_, batch.steps, false, 2 * resident_members);
  one(event_counts_, batch.event_counts, false, resident_members * event_kinds);
  one(audits_, batch.audits, false, resident_members * audit_numbers);
  one(redundant_, batch.redundant, false, resident_members);
  one(events_, batch.events, false);
  one(records_, batch.records, false);
}

long long KernelBuffers::events_of(std::size_t member) const {
  long long total = 0;
  for (std::size_t k = 0; k < event_kinds; ++k) total += event_counts_[member * event_kinds + k];
  return total;
}

BatchResults KernelBuffers::take_results() {
  BatchResults made;
  const std::size_t members = status_.size();
  made.status.resize(members);
  made.steps.resize(members);
  made.rejected.resize(members);
  made.audits.resize(members);
  made.redundant.resize(members);
  for (std::size_t m = 0; m < members; ++m) {
    made.status[m] = static_cast<Status>(status_[m]);
    made.steps[m] = steps_[2 * m];
    made.rejected[m] = steps_[2 * m + 1];
    made.audits[m] = audit_of(audits_.data() + m * audit_numbers);
    made.redundant[m] = redundant_[m] != 0;
  }
  made.end_time = std::move(end_time_);
  made.end_state = std::move(end_state_);
  made.measures = std::move(measures_);
  made.observables = std::move(observables_);
  made.states = std::move(states_);
  made.records = std::move(records_);
  made.event_counts = std::move(event_counts_);
  return made;
}

MemberEvents KernelBuffers::events(std::size_t member, const System& system) const {
  MemberEvents made;
  const long long total = events_of(member);
  const double* row =
      events_.data() + member * static_cast<std::size_t>(batch_.event_capacity) * shape_.event_row;
  for (long long k = 0; k < total; ++k, row += shape_.event_row) made.push_back(event_of(row, system));
  return made;
}

namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T>&& from) {
  if (to.empty())
    to = std::move(from);
  else
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

void append_results(BatchResults& to, BatchResults&& from) {
  append(to.status, std::move(from.status));
  append(to.end_time, std::move(from.end_time));
  append(to.end_state, std::move(from.end_state));
  append(to.measures, std::move(from.measures));
  append(to.observables, std::move(from.observables));
  append(to.states, std::move(from.states));
  append(to.records, std::move(from.records));
  append(to.events, std::move(from.events));
  append(to.steps, std::move(from.steps));
  append(to.rejected, std::move(from.rejected));
  append(to.event_counts, std::move(from.event_counts));
  append(to.audits, std::move(from.audits));
  append(to.redundant, std::move(from.redundant));
}

}  // namespace zwang
