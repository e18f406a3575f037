// Byte layout of trajectories and their events.
#include "host/files/trajectory_bytes.h"
#include "host/study/study.h"
#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/reference/trajectory.h"
#include "src/system/system.h"

#include <algorithm>

namespace zwang {

namespace {

constexpr std::uint64_t most_numbers = std::uint64_t{1} << 32;  // of one kind: bounds damaged lengths
constexpr std::uint64_t most_events = std::uint64_t{1} << 28;
constexpr std::uint64_t most_conditions = std::uint64_t{1} << 20;

void save_vector(ByteWriter& bytes, const Eigen::VectorXd& vector) {
  bytes.numbers(std::vector<double>(vector.begin(), vector.end()));
}

Eigen::VectorXd load_vector(ByteReader& bytes) {
  std::vector<double> numbers;
  bytes.numbers(numbers, most_conditions);
  return Eigen::Map<const Eigen::VectorXd>(numbers.data(), static_cast<Eigen::Index>(numbers.size()));
}

void save_event(ByteWriter& bytes, const Event& event) {
  bytes.number(event.t);
  bytes.number<std::int32_t>(static_cast<int>(event.kind));
  bytes.numbers(event.constraints);
  bytes.numbers(event.reached);
  bytes.number<std::uint64_t>(event.watch);
  bytes.number<char>(event.velocities_jump ? 1 : 0);
  bytes.numbers(event.impulses);
  bytes.number(event.energy_lost);
  save_vector(bytes, event.velocity_before);
  save_vector(bytes, event.velocity_after);
  for (const Eigen::VectorXd* part : {&event.state.q, &event.state.v, &event.state.z})
    save_vector(bytes, *part);
}

Event load_event(ByteReader& bytes) {
  Event event;
  event.t = bytes.number<double>();
  const auto kind = bytes.number<std::int32_t>();
  if (kind < 0 || kind >= event_kinds) bytes.refuse("an unknown kind of event", "a known one");
  event.kind = static_cast<EventKind>(kind);
  bytes.numbers(event.constraints, most_conditions);
  bytes.numbers(event.reached, most_conditions);
  event.watch = bytes.number<std::uint64_t>();
  event.velocities_jump = bytes.number<char>() != 0;
  bytes.numbers(event.impulses, most_conditions);
  event.energy_lost = bytes.number<double>();
  event.velocity_before = load_vector(bytes);
  event.velocity_after = load_vector(bytes);
  event.state.t = event.t;
  for (Eigen::VectorXd* part : {&event.state.q, &event.state.v, &event.state.z}) *part = load_vector(bytes);
  return event;
}

// Appends row k of a table with one row per member.
void append_row(std::vector<double>& to, const std::vector<double>& from, std::size_t k, std::size_t count) {
  const auto row = static_cast<std::ptrdiff_t>(from.size() / count);
  const auto begin = from.begin() + static_cast<std::ptrdiff_t>(k) * row;
  to.insert(to.end(), begin, begin + row);
}

}  // namespace

void save_trajectories(ByteWriter& bytes, const BatchResults& results) {
  for (const Status status : results.status) bytes.number<signed char>(static_cast<signed char>(status));
  for (const double time : results.end_time) bytes.number(time);
  bytes.numbers(results.observables);
  bytes.numbers(results.states);
  for (const MemberEvents& events : results.events) {
    bytes.number<std::uint64_t>(events.size());
    for (const Event& event : events) save_event(bytes, event);
  }
}

BatchResults load_trajectories(ByteReader& bytes, std::size_t count) {
  BatchResults results;
  for (std::size_t k = 0; k < count; ++k) {
    const auto status = bytes.number<signed char>();
    if (status < 0 || status >= static_cast<int>(status_count))
      bytes.refuse("an unknown status", "a known one");
    results.status.push_back(static_cast<Status>(status));
  }
  for (std::size_t k = 0; k < count; ++k) results.end_time.push_back(bytes.number<double>());
  bytes.numbers(results.observables, most_numbers);
  bytes.numbers(results.states, most_numbers);
  results.events.resize(count);
  for (MemberEvents& events : results.events) {
    const std::uint64_t size = bytes.length(most_events);
    for (std::uint64_t k = 0; k < size; ++k) events.push_back(load_event(bytes));
  }
  return results;
}

namespace {

bool is_of_system(const Event& event, const System& system) {
  const auto are_conditions = [&](const std::vector<std::size_t>& list) {
    return std::all_of(list.begin(), list.end(),
                       [&](std::size_t i) { return i < system.constraints.size(); });
  };
  const auto are_velocities = [&](const Eigen::VectorXd& v) {
    return static_cast<std::size_t>(v.size()) == system.size();
  };
  return are_conditions(event.constraints) && are_conditions(event.reached) &&
         (event.state.q.size() == 0 ||
          (are_velocities(event.state.q) && are_velocities(event.state.v) &&
           static_cast<std::size_t>(event.state.z.size()) == system.auxiliaries.size())) &&
         (event.kind != EventKind::event || event.watch < system.watches.size()) &&
         (!event.velocities_jump ||
          (are_velocities(event.velocity_before) && are_velocities(event.velocity_after)));
}

}  // namespace

bool are_of_study(const BatchResults& results, const Study& study) {
  const System& system = *study.system;
  const std::size_t rows = results.status.size() * study.time.outputs.size();
  const std::size_t state = 2 * system.size() + system.auxiliaries.size() + 2 * system.constraints.size();
  return results.observables.size() == rows * system.observables.size() &&
         results.states.size() == rows * state &&
         std::all_of(results.events.begin(), results.events.end(), [&](const MemberEvents& events) {
           return std::all_of(events.begin(), events.end(),
                              [&](const Event& event) { return is_of_system(event, system); });
         });
}

void append_trajectory(BatchResults& to, const BatchResults& from, std::size_t k) {
  const std::size_t count = from.status.size();
  to.status.push_back(from.status[k]);
  to.end_time.push_back(from.end_time[k]);
  append_row(to.observables, from.observables, k, count);
  append_row(to.states, from.states, k, count);
  to.events.push_back(from.events[k]);
}

}  // namespace zwang
