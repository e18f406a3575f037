// Attributes, axes and names shared by all NetCDF files.
#include "host/files/write_origin.h"

#include <algorithm>
#include <iterator>

#include "host/study/study.h"
#include "host/study_file/write_study.h"
#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/reference/trajectory.h"
#include "src/system/system.h"

namespace zwang {

void write_origin(NetcdfFile& file, const Study& study, const RunResult& origin, const std::string& content) {
  file.attribute("Conventions", "CF-1.8");
  file.attribute("title", study.title.empty() ? study.name : study.title);
  file.attribute("content", content);
  file.attribute(
      "comment",
      "units = \"1\" stands for the units of the study's numbers where its table [units] names none");
  file.attribute("source", std::string("zwang ") + ZWANG_VERSION);
  file.attribute("version", ZWANG_VERSION);
  file.attribute("study_name", study.name);
  file.attribute("study", study.text);
  file.attribute("study_as_run", study_as_run(study));
  file.attribute("seed", study.ensemble.seed);
  file.attribute("backend", origin.backend);
  file.attribute("device", origin.device);
  file.attribute("precision", origin.precision);
}

TimeAxis add_time(NetcdfFile& file, const Study& study) {
  const NetcdfFile::Dimension dimension = file.dimension("time", study.time.outputs.size());
  const NetcdfFile::Variable variable =
      file.variable("time", NetcdfFile::Type::real, {.dimensions = {dimension}}, "output time");
  file.attribute(variable, "axis", "T");
  if (const std::string unit = study.unit("time"); !unit.empty()) file.attribute(variable, "units", unit);
  return {dimension, variable};
}

std::string start_name(const System& system, long long k) {
  const auto i = static_cast<std::size_t>(k);
  if (i >= 2 * system.size()) return "";  // of a damaged record
  return i < system.size() ? system.coordinates[i] : system.velocity_name(i - system.size());
}

namespace {

// Dimensions and variables of the result files whose names are not made of prefixes.
constexpr const char* names_in_files[] = {"observable",
                                          "time",
                                          "measure",
                                          "input",
                                          "quantile",
                                          "bin",
                                          "bin_edge",
                                          "variable",
                                          "other_variable",
                                          "variable_kind",
                                          "covariance",
                                          "rank_correlation",
                                          "member",
                                          "coordinate",
                                          "auxiliary",
                                          "event_kind",
                                          "condition",
                                          "event",
                                          "mean",
                                          "std",
                                          "stderr",
                                          "mean_low",
                                          "mean_high",
                                          "skewness",
                                          "kurtosis",
                                          "minimum",
                                          "maximum",
                                          "count",
                                          "missing",
                                          "infinite",
                                          "quantiles",
                                          "quantiles_low",
                                          "quantiles_high",
                                          "histogram",
                                          "histogram_edges",
                                          "histogram_below",
                                          "histogram_above",
                                          "members_integrated",
                                          "members_entered",
                                          "members_failed",
                                          "given",
                                          "status",
                                          "steps"};

}  // namespace

std::vector<std::string> sweep_dimensions(const Study& study) {
  std::vector<std::string> names;
  const auto taken = [&](const std::string& name) {
    return std::find(std::begin(names_in_files), std::end(names_in_files), name) !=
               std::end(names_in_files) ||
           std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const Sweep& sweep : study.sweeps) {
    std::string name;
    for (const char c : sweep.name) name += c == '.' ? "_" : c == '\'' ? "_dot" : std::string(1, c);
    while (taken(name)) name += "_swept";
    names.push_back(name);
  }
  return names;
}

std::vector<std::string> velocity_names(const System& system) {
  std::vector<std::string> names = system.coordinates;
  for (std::string& name : names) name += "'";
  return names;
}

std::vector<std::string> observable_names(const System& system) {
  std::vector<std::string> names;
  for (const NamedExpr& observable : system.observables) names.push_back(observable.name);
  return names;
}

std::vector<std::string> measure_names(const System& system) {
  std::vector<std::string> names;
  for (const Measure& measure : system.measures) names.push_back(measure.name);
  return names;
}

std::vector<std::string> condition_names(const System& system) {
  std::vector<std::string> names;
  for (const Constraint& constraint : system.constraints) names.push_back(constraint.name);
  return names;
}

std::vector<std::string> status_words() {
  std::vector<std::string> words(status_count);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = status_name(static_cast<Status>(i));
  return words;
}

std::vector<std::string> event_words() {
  std::vector<std::string> words(event_kinds);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = event_kind_name(static_cast<EventKind>(i));
  return words;
}

}  // namespace zwang
