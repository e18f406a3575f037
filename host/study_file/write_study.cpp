// Fills in every default of a study's document and writes it as TOML.
#include "host/study_file/write_study.h"

#include <algorithm>
#include <limits>

#include "host/sample/csv_inputs.h"
#include "host/study_file/input_columns.h"
#include "host/toml/document.h"
#include "host/toml/write_toml.h"
#include "src/base/settings.h"
#include "src/system/system.h"

namespace zwang {

namespace {

using Kind = Value::Kind;

// --- Values ------------------------------------------------------------------------------------------------

Value real(double number) {
  Value made;
  made.kind = Kind::real;
  made.number = number;
  return made;
}

Value integer(long long number) {
  Value made;
  made.kind = Kind::integer;
  made.integer = number;
  made.number = static_cast<double>(number);
  return made;
}

Value boolean(bool value) {
  Value made;
  made.kind = Kind::boolean;
  made.integer = value ? 1 : 0;
  return made;
}

Value text(const std::string& value) {
  Value made;
  made.kind = Kind::string;
  made.text = value;
  return made;
}

template <class Items, class Make>
Value array(const Items& items, const Make& make) {
  Value made;
  made.kind = Kind::array;
  for (const auto& item : items) made.items.push_back(make(item));
  return made;
}

// --- Defaults -------------------------------------------------------------------------------------

void put(Value& table, const std::string& key, Value value) {
  if (Entry* entry = table.find(key))
    entry->value = std::move(value);
  else
    table.entries.push_back({key, {}, std::move(value)});
}

void put_default(Value& table, const std::string& key, Value value) {
  if (!table.find(key)) put(table, key, std::move(value));
}

Value& table_of(Value& root, const std::string& key) {
  put_default(root, key, {});
  return root.find(key)->value;
}

// The tables of [[key]].
template <class Work>
void for_each(Value& root, const std::string& key, const Work& work) {
  Entry* entry = root.find(key);
  if (!entry) return;
  std::size_t number = 0;
  for (Value& table : entry->value.items) work(table, number++);
}

void complete_bodies(Value& root) {
  for_each(root, "point", [](Value& point, std::size_t) {
    const std::vector<Value>& position = point.find("position")->value.items;
    put_default(point, "velocity", array(position, [](const Value&) { return integer(0); }));
  });
  for_each(root, "coordinate",
           [](Value& coordinate, std::size_t) { put_default(coordinate, "velocity", integer(0)); });
}

void complete_conditions(Value& root, const System& system) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  // Slip rows have no table of their own.
  std::vector<std::size_t> written;
  for (std::size_t i = 0; i < system.constraints.size(); ++i)
    if (!system.constraints[i].slip_of) written.push_back(i);
  for_each(root, "constraint", [&](Value& condition, std::size_t number) {
    const std::size_t i = written[number];
    if (!system.constraints[i].equation) put_default(condition, "restitution", real(0));
    // Not from = 0, which would cause a shock at the start.
    put_default(condition, "from", real(-infinity));
    put_default(condition, "until", real(infinity));
    if (system.constraints[i].equation) put_default(condition, "variation", text("special"));
    if (system.constraints[i].general) put_default(condition, "multiplier", real(0));
  });
  for_each(root, "event", [](Value& event, std::size_t) { put_default(event, "direction", integer(0)); });
}

void complete_ensemble(Value& root, const Study& study) {
  const EnsembleSettings& ensemble = study.ensemble;
  constexpr const char* samplers[] = {"random", "latin-hypercube", "sobol"};
  constexpr const char* consistencies[] = {"project", "reject", "error"};
  Value& table = table_of(root, "ensemble");
  put(table, "members", integer(study.members_in_all()));
  if (ensemble.members_per_point > 0) {
    put(table, "members_per_point", integer(ensemble.members_per_point));
    put_default(table, "streams", text(ensemble.streams == Streams::common ? "common" : "independent"));
  } else if (Entry* per_point = table.find("members_per_point")) {
    per_point->value = integer(ensemble.members);
  }
  put(table, "seed", integer(static_cast<long long>(ensemble.seed)));
  put_default(table, "sampler", text(samplers[static_cast<int>(ensemble.sampler)]));
  put_default(table, "include_nominal", boolean(ensemble.include_nominal));
  put_default(table, "consistency", text(consistencies[static_cast<int>(ensemble.consistency)]));
}

void complete_time(Value& root, const TimeSettings& time) {
  Value& table = table_of(root, "time");
  put_default(table, "end", real(time.end));
  if (!table.find("at")) put_default(table, "samples", integer(static_cast<long long>(time.outputs.size())));
}

void complete_integrator(Value& root, const IntegratorSettings& settings) {
  constexpr const char* methods[] = {"auto", "tsit5", "dop853", "rk4", "taylor"};
  Value& table = table_of(root, "integrator");
  put_default(table, "method", text(methods[static_cast<int>(settings.method)]));
  put_default(table, "rtol", real(settings.rtol));
  put_default(table, "atol", real(settings.atol));
  put_default(table, "max_step", real(settings.max_step));
  put_default(table, "max_steps", integer(settings.max_steps));
  put_default(table, "max_events", integer(settings.max_events));
  put_default(table, "precision", text(settings.single ? "single" : "double"));
  put_default(table, "contact_tolerance", real(settings.contact_tolerance));
  put_default(table, "rest_speed", real(settings.rest_speed));
  put_default(table, "accumulation_gap", real(settings.accumulation_gap));
  put_default(table, "painleve_margin", real(settings.painleve_margin));
}

long long bins_of(const StatisticsSettings& statistics, const std::string& name) {
  const auto found = statistics.histograms.find(name);
  return found != statistics.histograms.end() ? found->second.bins
                                              : statistics.record_histograms.at(name).bins;
}

void complete_results(Value& root, const Study& study) {
  Value& statistics = table_of(root, "statistics");
  put_default(statistics, "quantiles", array(study.statistics.quantiles, real));
  if (Entry* histograms = statistics.find("histogram"))
    for (Entry& histogram : histograms->value.entries)
      put_default(histogram.value, "bins", integer(bins_of(study.statistics, histogram.key)));
  if (Entry* exceedances = statistics.find("exceedance"))
    for (Entry& exceedance : exceedances->value.entries)
      if (!exceedance.value.find("at"))
        put_default(exceedance.value, "points",
                    integer(study.statistics.exceedances.at(exceedance.key).points));
  for_each(root, "given",
           [](Value& given, std::size_t) { put_default(given, "observables", boolean(false)); });
  Value& output = table_of(root, "output");
  put_default(output, "members", boolean(study.output.members));
  std::vector<long long> chosen;
  for (const long long member : study.output.trajectories)
    if (member < study.ensemble.members) chosen.push_back(member);
  // "all" and ranges stay as they were written.
  const Entry* written = output.find("trajectories");
  const auto has_text = [](const Value& value) {
    return value.kind == Kind::string ||
           std::any_of(value.items.begin(), value.items.end(),
                       [](const Value& one) { return one.kind == Kind::string; });
  };
  if (!written || !has_text(written->value)) put(output, "trajectories", array(chosen, integer));
  put_default(output, "events", boolean(study.output.events));
}

// --- CSV files ---------------------------------------------------------------------------------------------

// Redirects a distribution { file = ..., column = ... }, or an array with such entries, to inputs.csv.
void redirect(Value& value, const CsvInputs& inputs) {
  for (Value& item : value.items) redirect(item, inputs);
  if (value.kind != Kind::table) return;
  Entry *file = value.find("file"), *column = value.find("column");
  if (!file || !column || file->value.kind != Kind::string || column->value.kind != Kind::string) return;
  const std::string name = inputs.name_of(file->value.text, column->value.text);
  file->value = text(csv_inputs_name);
  column->value = text(name);
}

// Distributions occur in [parameters] and in the tables below; `file` has this meaning nowhere else.
void redirect_to_inputs(Value& root, const CsvInputs& inputs) {
  if (Entry* parameters = root.find("parameters"))
    for (Entry& parameter : parameters->value.entries) redirect(parameter.value, inputs);
  for (const char* key : {"anchor", "point", "coordinate", "auxiliary", "constraint"})
    for_each(root, key, [&](Value& table, std::size_t) {
      for (Entry& entry : table.entries) redirect(entry.value, inputs);
    });
}

}  // namespace

std::string study_as_run(const Study& study) {
  Value root = *study.document;
  put_default(root, "title", text(study.title));
  complete_bodies(root);
  complete_conditions(root, *study.system);
  complete_ensemble(root, study);
  complete_time(root, study.time);
  complete_integrator(root, study.integrator);
  complete_results(root, study);
  redirect_to_inputs(root, CsvInputs(study));
  return std::string("# As run by zwang ") + ZWANG_VERSION + ", every default written out.\n" +
         toml_text(root);
}

std::string study_text(const Study& study) {
  Value root = *study.document;
  if (toml_text(root) == toml_text(Document(study.text, study.path).root())) return study.text;
  const CsvInputs inputs(study);
  const bool given =
      std::any_of(study.parameters.begin(), study.parameters.end(), [](const ParameterRule& rule) {
        return rule.distribution && rule.distribution->file == given_columns_name;
      });
  if (given) redirect_to_inputs(root, inputs);
  return toml_text(root);
}

}  // namespace zwang
