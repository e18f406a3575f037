// Formats states, events, measures and audit of one member.
#include "host/inspect/write_replay.h"
#include "host/platform/schema_version.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "host/platform/table.h"
#include "host/sample/sampler.h"
#include "host/study/study.h"
#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/base/error.h"
#include "src/reference/trajectory.h"
#include "src/system/system.h"

namespace zwang {

namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> names_of(const System& system, const std::vector<std::size_t>& constraints) {
  std::vector<std::string> names;
  for (const std::size_t i : constraints) names.push_back(system.conditions[i].name);
  return names;
}

Json by_coordinate(const System& system, const Eigen::VectorXd& values) {
  Json object = Json::object();
  for (std::size_t i = 0; i < system.size(); ++i)
    object[system.coordinates[i]] = values(static_cast<Eigen::Index>(i));
  return object;
}

Json event_json(const System& system, const Event& event) {
  Json object;
  object["t"] = event.t;
  object["kind"] = event_kind_name(event.kind);
  if (event.kind == EventKind::event) object["name"] = system.watches[event.watch].name;
  object["constraints"] = names_of(system, event.constraints);
  if (event.state.q.size() > 0) {
    object["position"] = by_coordinate(system, event.state.q);
    object["velocity"] = by_coordinate(system, event.state.v);
    if (event.state.z.size() > 0) {
      object["auxiliary"] = Json::object();
      for (std::size_t i = 0; i < system.auxiliaries.size(); ++i)
        object["auxiliary"][system.auxiliaries[i]] = event.state.z(static_cast<Eigen::Index>(i));
    }
  }
  if (!event.velocities_jump) return object;
  object["reached"] = names_of(system, event.reached);
  Json impulse = Json::object();
  for (std::size_t k = 0; k < event.impulses.size(); ++k)
    impulse[system.conditions[event.struck()[k]].name] = event.impulses[k];
  object["impulse"] = impulse;
  object["energy_lost"] = event.energy_lost;
  object["velocity_before"] = by_coordinate(system, event.velocity_before);
  object["velocity_after"] = by_coordinate(system, event.velocity_after);
  return object;
}

// One array over the rows per value.
Json record_json(const RecordFormula& formula, const MemberRecord& record) {
  Json object{{"total", record.total}, {"t", Json::array()}, {"index", Json::array()}};
  for (const RecordRow& row : record.rows) {
    object["t"].push_back(row.t);
    object["index"].push_back(row.occurrence);
    for (std::size_t c = 0; c < row.values.size(); ++c)
      object[formula.values[c].name].push_back(row.values[c]);
  }
  return object;
}

// One array over the samples per name.
template <class Names, class Value>
Json columns(const std::vector<Sample>& samples, const Names& names, const Value& value) {
  Json object = Json::object();
  for (std::size_t i = 0; i < names.size(); ++i) {
    Json column = Json::array();
    for (const Sample& sample : samples) column.push_back(value(sample, i));
    object[names[i]] = std::move(column);
  }
  return object;
}

// Names and the numbers of what they name: turns of bodies in space have rates, but no positions.
struct Columns {
  std::vector<std::string> positions, velocities, auxiliaries, constraints, observables;
  std::vector<std::size_t> of_position;  // coordinate of each position
};

Columns column_names(const System& system) {
  Columns names;
  names.auxiliaries = system.auxiliaries;
  for (std::size_t i = 0; i < system.size(); ++i) {
    names.velocities.push_back(system.velocity_name(i));
    if (system.is_turn(i)) continue;
    names.positions.push_back(system.coordinates[i]);
    names.of_position.push_back(i);
  }
  for (const ConditionFormula& condition : system.conditions) names.constraints.push_back(condition.name);
  for (const NamedExpr& observable : system.observables) names.observables.push_back(observable.name);
  return names;
}

double position(const Sample& sample, std::size_t i) { return sample.state.q(static_cast<Eigen::Index>(i)); }
double velocity(const Sample& sample, std::size_t i) { return sample.state.v(static_cast<Eigen::Index>(i)); }
double auxiliary(const Sample& sample, std::size_t i) { return sample.state.z(static_cast<Eigen::Index>(i)); }
double multiplier(const Sample& sample, std::size_t i) {
  return sample.multipliers(static_cast<Eigen::Index>(i));
}
double observable(const Sample& sample, std::size_t i) { return sample.observables[i]; }

Json audit_json(const Trajectory& trajectory) {
  const Audit& audit = trajectory.audit;
  return {{"max_position_violation", audit.position_violation},
          {"max_velocity_violation", audit.velocity_violation},
          {"max_energy_drift", audit.energy_drift},
          {"energy_size", audit.energy_size},
          {"max_kkt_residual", audit.kkt},
          {"max_carnot_residual", audit.carnot},
          {"max_energy_created", audit.energy_created},
          {"share",
           {{"energy", audit.energy_share},
            {"constraints", audit.condition_share},
            {"shocks", audit.shock_share}}}};
}

// Where a member of [sensitivity] belongs.
std::string block_text(const Study& study, long long number) {
  const SensitivitySettings& settings = *study.sensitivity;
  const auto block = static_cast<std::size_t>(number / study.ensemble.members);
  if (block >= settings.blocks()) return "";
  const std::string draws =
      block == 0   ? "its own draws (A)"
      : block == 1 ? "the second draws (B)"
                   : "its own draws, but " + settings.inputs[block - 2].name + " from the second ones (B)";
  return fmt::format("row {} of [sensitivity], with {}\n", number % settings.base, draws);
}

// The blocks of [sensitivity] have the same points.
long long point_of(const Replay& replay) {
  const EnsembleSettings& ensemble = replay.study.ensemble;
  return ensemble.point_of(static_cast<long long>(replay.member.number) % ensemble.members);
}

// "c = 0.1, n = 2"
std::string swept_text(const Replay& replay) {
  std::string text;
  for (const Sweep& sweep : replay.study.sweeps)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", sweep.name,
                        short_number(replay.member.inputs.parameters[sweep.parameter]));
  return text;
}

std::string heading(const Replay& replay) {
  const Study& study = replay.study;
  const Trajectory& trajectory = replay.trajectory;
  std::string text = (study.title.empty() ? study.name : study.title) + "\n";
  text += fmt::format("member {} of {}, seed {}, {} backend\n", replay.member.number, study.name,
                      study.ensemble.seed, replay.backend);
  if (study.sensitivity) text += block_text(study, static_cast<long long>(replay.member.number));
  std::string drawn;
  for (const std::size_t i : drawn_inputs(study))
    drawn += fmt::format("{}{} = {}", drawn.empty() ? "" : ", ", study.parameters[i].name,
                         short_number(replay.member.inputs.parameters[i]));
  if (!study.sweeps.empty())
    text +=
        fmt::format("point {} of {}: {}\n", point_of(replay), study.ensemble.points(), swept_text(replay));
  if (!drawn.empty()) text += "drawn: " + drawn + "\n";
  if (!trajectory.start_consistent)
    text += fmt::format("start moved onto the constraints: positions by {}, velocities by {}\n",
                        short_number(trajectory.position_moved), short_number(trajectory.velocity_moved));
  text += fmt::format("status: {}{}", status_name(trajectory.status),
                      trajectory.cause.empty() ? "" : " (" + trajectory.cause + ")");
  return text + fmt::format(" at t = {}, {} steps, {} events\n", short_number(trajectory.last.state.t),
                            trajectory.steps, trajectory.events.size());
}

// "x (m)"; the name alone where [units] has no label for it.
std::string labelled_name(const Study& study, const std::string& name, const std::string& shown) {
  const std::string unit = study.unit(name);
  return unit.empty() ? shown : shown + " (" + unit + ")";
}

std::string samples_text(const Replay& replay, const Columns& names) {
  std::vector<std::string> header = {labelled_name(replay.study, "time", "t")};
  const auto extend = [&](const std::vector<std::string>& more) {
    for (const std::string& name : more) header.push_back(labelled_name(replay.study, name, name));
  };
  extend(names.positions);
  extend(names.velocities);
  extend(names.auxiliaries);
  extend(names.observables);
  TextTable table(header);
  for (const Sample& sample : replay.trajectory.samples) {
    std::vector<std::string> row = {short_number(sample.state.t)};
    for (const std::size_t i : names.of_position) row.push_back(short_number(position(sample, i)));
    for (std::size_t i = 0; i < names.velocities.size(); ++i)
      row.push_back(short_number(velocity(sample, i)));
    for (std::size_t i = 0; i < names.auxiliaries.size(); ++i)
      row.push_back(short_number(auxiliary(sample, i)));
    for (const double value : sample.observables) row.push_back(short_number(value));
    table.add(std::move(row));
  }
  return table.text();
}

std::string events_text(const Replay& replay) {
  const System& system = *replay.study.system;
  if (replay.trajectory.events.empty()) return "  none\n";
  TextTable table({"t", "event", "constraints", "impulse", "energy lost"});
  for (const Event& event : replay.trajectory.events) {
    std::string names = event.kind == EventKind::event ? system.watches[event.watch].name
                                                       : joined(names_of(system, event.constraints));
    std::string impulses;
    for (const double impulse : event.impulses)
      impulses += (impulses.empty() ? "" : ", ") + short_number(impulse);
    table.add({fmt::format("{:.10g}", event.t), event_kind_name(event.kind), names, impulses,
               event.velocities_jump ? short_number(event.energy_lost) : ""});
  }
  return table.text();
}

}  // namespace

std::string replay_table(const Replay& replay) {
  const System& system = *replay.study.system;
  const Columns names = column_names(system);
  std::string text = heading(replay);
  text += "\nstates\n" + samples_text(replay, names);
  text += "\nevents\n" + events_text(replay);
  if (!system.measures.empty()) {
    TextTable table({"measure", "value"});
    for (std::size_t i = 0; i < system.measures.size(); ++i)
      table.add({labelled_name(replay.study, system.measures[i].name, system.measures[i].name),
                 short_number(replay.trajectory.measures[i])});
    text += "\nmeasures\n" + table.text();
  }
  const Audit& audit = replay.trajectory.audit;
  text += fmt::format(
      "\naudit\n"
      "  constraint violation       |f| {:.2g}, |f'| or |g| {:.2g}\n"
      "  energy law                 drift {:.2g} (energies up to {:.4g})\n"
      "  Carnot's identity          {:.2g} relative\n"
      "  energy gained in shocks    {:.2g} (should be 0)\n"
      "  least constraint           residual {:.2g}{}\n"
      "  share of the bound         energy {:.2g}, constraints {:.2g}, shocks {:.2g}\n",
      audit.position_violation, audit.velocity_violation, audit.energy_drift, audit.energy_size, audit.carnot,
      audit.energy_created, audit.kkt,
      replay.trajectory.redundant ? ", dependent constraints were active" : "", audit.energy_share,
      audit.condition_share, audit.shock_share);
  return text;
}

std::string replay_json(const Replay& replay) {
  const System& system = *replay.study.system;
  const Trajectory& trajectory = replay.trajectory;
  const Columns names = column_names(system);
  Json json;
  json["schema_version"] = schema_version;
  json["study"] = replay.study.name;
  json["title"] = replay.study.title;
  json["seed"] = replay.study.ensemble.seed;
  json["backend"] = replay.backend;
  json["member"] = replay.member.number;
  json["status"] = status_name(trajectory.status);
  if (!trajectory.cause.empty()) json["cause"] = trajectory.cause;
  Json inputs = Json::object();
  for (const std::size_t i : drawn_inputs(replay.study))
    inputs[replay.study.parameters[i].name] = replay.member.inputs.parameters[i];
  json["inputs"] = inputs;
  if (!replay.study.sweeps.empty()) {
    json["point"] = point_of(replay);
    for (const Sweep& sweep : replay.study.sweeps)
      json["sweep"][sweep.name] = replay.member.inputs.parameters[sweep.parameter];
  }
  json["projection"] = {{"position", trajectory.position_moved}, {"velocity", trajectory.velocity_moved}};
  Json times = Json::array();
  for (const Sample& sample : trajectory.samples) times.push_back(sample.state.t);
  json["t"] = times;
  json["state"] = columns(trajectory.samples, names.positions, [&](const Sample& sample, std::size_t i) {
    return position(sample, names.of_position[i]);
  });
  // By coordinate; a rate of a body in space by its own name.
  json["velocity"] = columns(trajectory.samples, system.coordinates, velocity);
  json["auxiliary"] = columns(trajectory.samples, names.auxiliaries, auxiliary);
  json["multipliers"] = columns(trajectory.samples, names.constraints, multiplier);
  json["observables"] = columns(trajectory.samples, names.observables, observable);
  Json measures = Json::object();
  for (std::size_t i = 0; i < system.measures.size(); ++i)
    measures[system.measures[i].name] = trajectory.measures[i];
  json["measures"] = measures;
  for (std::size_t i = 0; i < trajectory.records.size(); ++i)
    json["records"][system.records[i].name] = record_json(system.records[i], trajectory.records[i]);
  json["events"] = Json::array();
  for (const Event& event : trajectory.events) json["events"].push_back(event_json(system, event));
  json["final"] = {{"t", trajectory.last.state.t},
                   {"state", by_coordinate(system, trajectory.last.state.q)},
                   {"velocity", by_coordinate(system, trajectory.last.state.v)}};
  json["units"] = replay.study.units.empty() ? Json::object() : Json(replay.study.units);
  json["redundant"] = trajectory.redundant;
  json["steps"] = trajectory.steps;
  json["audit"] = audit_json(trajectory);
  return json.dump(1) + "\n";
}

std::string replay_csv(const Replay& replay) {
  const Columns names = column_names(*replay.study.system);
  std::string text = "t";
  for (const std::string& name : names.positions) text += "," + name;
  for (const std::string& name : names.velocities) text += "," + name;
  for (const std::string& name : names.auxiliaries) text += "," + name;
  for (const std::string& name : names.constraints) text += ",multiplier(" + name + ")";
  for (const std::string& name : names.observables) text += "," + name;
  text += "\n";
  for (const Sample& sample : replay.trajectory.samples) {
    text += number_text(sample.state.t);
    for (const std::size_t i : names.of_position) text += "," + number_text(position(sample, i));
    for (std::size_t i = 0; i < names.velocities.size(); ++i) text += "," + number_text(velocity(sample, i));
    for (std::size_t i = 0; i < names.auxiliaries.size(); ++i)
      text += "," + number_text(auxiliary(sample, i));
    for (std::size_t i = 0; i < names.constraints.size(); ++i)
      text += "," + number_text(multiplier(sample, i));
    for (const double value : sample.observables) text += "," + number_text(value);
    text += "\n";
  }
  return text;
}

}  // namespace zwang
