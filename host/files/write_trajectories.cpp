// Variables of trajectories.nc: states at output times, ends and events.
#include "host/files/write_trajectories.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "host/files/unit_labels.h"
#include "host/files/write_origin.h"
#include "host/netcdf/netcdf_file.h"
#include "host/study/study.h"
#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/reference/trajectory.h"
#include "src/system/system.h"

namespace zwang {

namespace {

using Type = NetcdfFile::Type;
using Dimension = NetcdfFile::Dimension;
using Variable = NetcdfFile::Variable;

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

// Definitions come before data.
using Writes = std::vector<std::function<void()>>;

struct Axes {
  Dimension trajectory, coordinate, auxiliary, constraint, observable, event;
  TimeAxis time;
};

// Columns [first, first + width) of every row.
std::vector<double> part_of_rows(const std::vector<double>& rows, std::size_t row, std::size_t first,
                                 std::size_t width) {
  std::vector<double> made;
  if (row == 0) return made;
  for (std::size_t at = 0; at < rows.size(); at += row)
    made.insert(made.end(), rows.begin() + static_cast<std::ptrdiff_t>(at + first),
                rows.begin() + static_cast<std::ptrdiff_t>(at + first + width));
  return made;
}

// --- States and observables at the output times ------------------------------------------------------------

void add_states(NetcdfFile& file, const System& system, const Axes& axes, const BatchResults& results,
                Writes& numbers) {
  const std::size_t n = system.size(), nz = system.auxiliaries.size(), r = system.constraints.size();
  const std::size_t row = 2 * n + nz + 2 * r;
  const auto part = [&, row](const char* name, Dimension last, std::size_t first, const char* long_name) {
    const Variable variable = file.variable(
        name, Type::real, {.dimensions = {axes.trajectory, axes.time.dimension, last}}, long_name);
    numbers.emplace_back([&file, &results, variable, row, first, width = last.size] {
      file.put(variable, part_of_rows(results.states, row, first, width));
    });
  };
  part("position", axes.coordinate, 0, "coordinates");
  part("velocity", axes.coordinate, n, "velocities");
  part("auxiliaries", axes.auxiliary, 2 * n, "auxiliary states");
  part("multiplier", axes.constraint, 2 * n + nz, "multipliers of the conditions");

  const Variable closed = file.variable(
      "closed", Type::integer,
      {.dimensions = {axes.trajectory, axes.time.dimension, axes.constraint}, .may_be_missing = true},
      "whether the condition is closed");
  file.flags(closed, Type::integer, {"open", "closed"});
  numbers.emplace_back([&file, &results, closed, row, first = 2 * n + nz + r, r] {
    std::vector<long long> flags;
    for (const double flag : part_of_rows(results.states, row, first, r))
      flags.push_back(std::isnan(flag) ? -1 : std::lround(flag));
    file.put(closed, flags);
  });

  const Variable observables =
      file.variable("observables", Type::real,
                    {.dimensions = {axes.trajectory, axes.time.dimension, axes.observable}}, "observables");
  numbers.emplace_back([&file, &results, observables] { file.put(observables, results.observables); });
}

// --- How members ended -------------------------------------------------------------------------------------

void add_ends(NetcdfFile& file, const Axes& axes, std::span<const long long> members,
              const BatchResults& results, Writes& numbers) {
  const NetcdfFile::Shape shape{.dimensions = {axes.trajectory}};
  const Variable trajectory = file.variable("trajectory", Type::integer, shape, "number of the member");
  file.attribute(trajectory, "cf_role", "trajectory_id");
  const Variable end = file.variable("end_time", Type::real, shape, "time at which the member ended");
  const Variable status = file.variable("status", Type::integer, shape, "how the member ended");
  file.flags(status, Type::integer, status_words());
  // Events are grouped by member and ordered by time.
  const Variable count = file.variable("event_count", Type::integer, shape, "events of the member");
  file.attribute(count, "sample_dimension", "event");
  numbers.emplace_back([&file, members, &results, trajectory, end, status, count] {
    file.put(trajectory, members);
    file.put(end, results.end_time);
    std::vector<long long> codes, counts;
    for (const Status one : results.status) codes.push_back(static_cast<int>(one));
    for (const MemberEvents& events : results.events) counts.push_back(static_cast<long long>(events.size()));
    file.put(status, codes);
    file.put(count, counts);
  });
}

// --- Events ------------------------------------------------------------------------------------------------

struct EventColumns {
  std::vector<long long> trajectory, kind, listed, reached;
  std::vector<double> time, impulse, energy_lost, before, after, position, velocity, auxiliary;
  std::vector<std::string> name, constraints;
};

void append(const Eigen::VectorXd& velocity, bool known, std::size_t n, std::vector<double>& to) {
  for (std::size_t i = 0; i < n; ++i) to.push_back(known ? velocity(static_cast<Eigen::Index>(i)) : missing);
}

void append(const Event& event, long long trajectory, const System& system, EventColumns& to) {
  const std::size_t r = system.constraints.size(), row = to.listed.size();
  to.trajectory.push_back(trajectory);
  to.time.push_back(event.t);
  to.kind.push_back(static_cast<int>(event.kind));
  to.name.push_back(event.kind == EventKind::event ? system.watches[event.watch].name : "");
  to.listed.resize(row + r, 0);
  to.reached.resize(row + r, 0);
  to.impulse.resize(row + r, missing);
  std::string words;
  for (const std::size_t i : event.constraints) {
    words += (words.empty() ? "" : " ") + system.constraints[i].name;
    to.listed[row + i] = 1;
  }
  const std::vector<std::size_t>& struck = event.struck();
  for (std::size_t k = 0; k < struck.size() && k < event.impulses.size(); ++k)
    to.impulse[row + struck[k]] = event.impulses[k];
  for (const std::size_t i : event.reached) to.reached[row + i] = 1;
  to.constraints.push_back(words);
  to.energy_lost.push_back(event.velocities_jump ? event.energy_lost : missing);
  append(event.velocity_before, event.velocities_jump, system.size(), to.before);
  append(event.velocity_after, event.velocities_jump, system.size(), to.after);
  append(event.state.q, event.state.q.size() > 0, system.size(), to.position);
  append(event.state.v, event.state.v.size() > 0, system.size(), to.velocity);
  append(event.state.z, event.state.z.size() > 0, system.auxiliaries.size(), to.auxiliary);
}

EventColumns event_columns(const System& system, const std::vector<MemberEvents>& events) {
  EventColumns made;
  for (std::size_t m = 0; m < events.size(); ++m)
    for (const Event& event : events[m]) append(event, static_cast<long long>(m), system, made);
  return made;
}

void add_events(NetcdfFile& file, const Axes& axes, const EventColumns& columns, Writes& numbers) {
  const auto add = [&](const char* name, Type type, const std::vector<Dimension>& dimensions,
                       const auto& values, const char* long_name) {
    Variable variable = file.variable(name, type, {.dimensions = dimensions}, long_name);
    numbers.emplace_back([&file, &values, variable] { file.put(variable, std::span(values)); });
    return variable;
  };
  const std::vector<Dimension> each = {axes.event}, by_constraint = {axes.event, axes.constraint},
                               by_coordinate = {axes.event, axes.coordinate};
  const Variable owner = add("event_trajectory", Type::integer, each, columns.trajectory,
                             "place of the member in the dimension trajectory, from 0");
  file.attribute(owner, "instance_dimension", "trajectory");
  add("event_time", Type::real, each, columns.time, "time of the event");
  const Variable kind = add("event_kind", Type::integer, each, columns.kind, "kind of the event");
  file.flags(kind, Type::integer, event_words());
  const auto add_texts = [&](const char* name, const std::vector<std::string>& texts, const char* long_name) {
    std::size_t width = 1;
    for (const std::string& text : texts) width = std::max(width, text.size());
    const Dimension letters = file.dimension(std::string(name) + "_letters", width);
    const Variable variable =
        file.variable(name, Type::character, {.dimensions = {axes.event, letters}}, long_name);
    numbers.emplace_back([&file, &texts, variable] { file.put_characters(variable, texts); });
  };
  add_texts("event_name", columns.name, "name of a watched event");
  add_texts("event_constraints", columns.constraints, "names of the conditions listed, between spaces");
  const std::vector<std::string> answers = {"no", "yes"};
  file.flags(add("event_listed", Type::integer, by_constraint, columns.listed,
                 "whether the condition takes part: reached, released, with an impulse ..."),
             Type::integer, answers);
  file.flags(add("event_reached", Type::integer, by_constraint, columns.reached,
                 "whether the condition caused the shock"),
             Type::integer, answers);
  add("event_impulse", Type::real, by_constraint, columns.impulse, "size of the impulse of the reaction");
  add("event_energy_lost", Type::real, each, columns.energy_lost, "kinetic energy before less after");
  add("event_velocity_before", Type::real, by_coordinate, columns.before, "velocities before the jump");
  add("event_velocity_after", Type::real, by_coordinate, columns.after, "velocities after the jump");
  add("event_position", Type::real, by_coordinate, columns.position, "coordinates at the event");
  add("event_velocity", Type::real, by_coordinate, columns.velocity, "velocities after the event");
  add("event_auxiliary", Type::real, {axes.event, axes.auxiliary}, columns.auxiliary,
      "auxiliary states at the event");
}

}  // namespace

void write_trajectories(const std::filesystem::path& path, const Study& study, const RunResult& origin,
                        std::span<const long long> members, const BatchResults& results) {
  const System& system = *study.system;
  const EventColumns events = event_columns(system, results.events);
  NetcdfFile file(path);
  write_origin(file, study, origin, "chosen members of an ensemble at the output times, and their events");
  const Axes axes{.trajectory = file.dimension("trajectory", members.size()),
                  .coordinate = file.names("coordinate", system.coordinates, "coordinate"),
                  .auxiliary = file.names("auxiliary", system.auxiliaries, "auxiliary state"),
                  .constraint = file.names("constraint", condition_names(system), "condition"),
                  .observable = file.names("observable", observable_names(system), "observable"),
                  .event = file.dimension("event", events.time.size()),
                  .time = add_time(file, study)};
  Writes numbers;
  add_ends(file, axes, members, results, numbers);
  add_states(file, system, axes, results, numbers);
  if (study.output.events) add_events(file, axes, events, numbers);
  std::vector<UnitLabels> units;
  add_units(file, study, "coordinate", axes.coordinate, system.coordinates, units);
  add_units(file, study, "velocity", axes.coordinate, velocity_names(system), units);
  add_units(file, study, "auxiliary", axes.auxiliary, system.auxiliaries, units);
  add_units(file, study, "observable", axes.observable, observable_names(system), units);

  put_units(file, units);
  file.put(axes.time.variable, study.time.outputs);
  for (const auto& put : numbers) put();
  file.close();
}

}  // namespace zwang
