// Part of a report: measures by the points of the sweeps.
#include <algorithm>
#include <cmath>
#include <limits>

#include "host/report/report_data.h"
#include "host/study/study.h"
#include "host/toml/document.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// Numbers of all measures on the page.
constexpr std::size_t most_sweep_numbers = 400'000;
constexpr std::size_t fields_per_measure = 8;
constexpr std::size_t fewest_values = 2;

std::string text_of_measure(const Study& study, const std::string& name) {
  const Entry* found = study.document->find("measure");
  const Entry* entry = found ? found->value.find(name) : nullptr;
  return entry && entry->value.kind == Value::Kind::string ? entry->value.text : "";
}

// Values of each sweep that are shown: all, or evenly spaced ones, so that the page stays small.
std::vector<std::vector<std::size_t>> shown_values(const Study& study, std::size_t measures) {
  const std::size_t affordable =
      most_sweep_numbers / (fields_per_measure * std::max<std::size_t>(measures, 1));
  std::vector<std::size_t> sizes;
  for (const Sweep& sweep : study.sweeps) sizes.push_back(sweep.values.size());
  const auto product = [&] {
    std::size_t made = 1;
    for (const std::size_t size : sizes) made *= size;
    return made;
  };
  // The longest one is thinned first.
  while (product() > affordable) {
    const auto longest = std::max_element(sizes.begin(), sizes.end());
    if (*longest <= fewest_values) break;
    *longest = std::max(fewest_values, *longest * 9 / 10);
  }
  std::vector<std::vector<std::size_t>> made;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    made.push_back(spread(study.sweeps[i].values.size(), sizes[i]));
  return made;
}

// The points of those values, in the order of the points.
std::vector<std::size_t> shown_points(const Study& study,
                                      const std::vector<std::vector<std::size_t>>& values) {
  std::vector<std::size_t> points = {0};
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::vector<std::size_t> next;
    for (const std::size_t point : points)
      for (const std::size_t value : values[i]) next.push_back(point * study.sweeps[i].values.size() + value);
    points = std::move(next);
  }
  return points;
}

// The numbers of the chosen points; null where there is none.
ReportJson chosen(const ReportJson& all, const std::vector<std::size_t>& points) {
  ReportJson made = ReportJson::array();
  for (const std::size_t point : points) {
    const ReportJson value = all.is_array() && point < all.size() ? all[point] : ReportJson();
    made.push_back(value.is_number_float() ? rounded(value.get<double>()) : value);
  }
  return made;
}

// Whether a measure is 0 or 1 at every point.
bool is_share(const ReportJson& series) {
  const ReportJson& kind = series["kind"];
  if (kind.is_string()) return kind == "probability";
  return std::all_of(kind.begin(), kind.end(), [](const ReportJson& one) { return one == "probability"; });
}

// The share of members that fulfil each condition of [[given]], drawn as a probability.
std::vector<ReportJson> given_shares(const ReportSource& source, const std::vector<std::size_t>& points) {
  std::vector<ReportJson> made;
  for (const GivenSettings& given : source.study.givens) {
    const ReportJson& found = source.summary["given"][given.name];
    ReportJson one = {{"name", "given " + given.name},
                      {"formula", given.condition},
                      {"kind", "probability"},
                      {"quantiles", ReportJson::array()}};
    for (const char* key : {"hits", "of", "probability", "low", "high"})
      one[key] = chosen(found[key], points);
    made.push_back(std::move(one));
  }
  return made;
}

// Sobol' indices of the chosen points: by measure the inputs, each with arrays by point.
ReportJson indices_by_point(const ReportSource& source, const std::vector<std::size_t>& points) {
  const Study& study = source.study;
  ReportJson made = ReportJson::array();
  if (!study.sensitivity || !source.summary.contains("sensitivity")) return made;
  for (const std::size_t m : study.sensitivity->of) {
    const std::string& name = study.system->measures[m].name;
    const ReportJson& found = source.summary["sensitivity"].value(name, ReportJson::object());
    ReportJson inputs = ReportJson::array();
    for (const SensitivitySettings::Input& input : study.sensitivity->inputs) {
      const ReportJson& of = found.value(input.name, ReportJson::object());
      ReportJson one = {{"name", input.name}, {"note", input.note}};
      for (const char* key : {"first", "first_stderr", "total", "total_stderr"})
        one[key] = chosen(of.value(key, ReportJson()), points);
      inputs.push_back(std::move(one));
    }
    made.push_back({{"measure", name}, {"inputs", std::move(inputs)}});
    if (made.size() == report_names_limit) break;
  }
  return made;
}

}  // namespace

ReportJson report_sweep(const ReportSource& source) {
  const Study& study = source.study;
  if (study.sweeps.empty()) return nullptr;
  const auto& measures = study.system->measures;
  const std::size_t shown = std::min(measures.size(), report_names_limit);
  const std::size_t indices =
      study.sensitivity ? study.sensitivity->of.size() * study.sensitivity->inputs.size() : 0;
  const std::vector<std::vector<std::size_t>> values =
      shown_values(study, shown + indices + study.givens.size());
  const std::vector<std::size_t> points = shown_points(study, values);
  ReportJson axes = ReportJson::array();
  for (std::size_t i = 0; i < values.size(); ++i) {
    ReportJson numbers = ReportJson::array();
    for (const std::size_t k : values[i]) numbers.push_back(rounded(study.sweeps[i].values[k]));
    axes.push_back({{"name", study.sweeps[i].name},
                    {"values", numbers},
                    {"of", study.sweeps[i].values.size()},
                    {"log", study.sweeps[i].logarithmic}});
  }
  ReportJson list = ReportJson::array();
  for (std::size_t i = 0; i < shown; ++i) {
    const ReportJson& series = source.summary["measures"][measures[i].name];
    ReportJson one = {{"name", measures[i].name}, {"formula", text_of_measure(study, measures[i].name)}};
    for (const char* key : {"count", "missing", "mean", "std", "stderr", "mean_low", "mean_high", "hits",
                            "of", "probability", "low", "high"})
      if (series.contains(key)) one[key] = chosen(series[key], points);
    if (is_share(series)) one["kind"] = "probability";
    one["quantiles"] = ReportJson::array();
    for (const auto& [probability, numbers] : series["quantiles"].items())
      one["quantiles"].push_back(chosen(numbers, points));
    list.push_back(one);
  }
  for (ReportJson& one : given_shares(source, points)) list.push_back(std::move(one));
  return {{"axes", axes},
          {"measures", list},
          {"sensitivity", indices_by_point(source, points)},
          {"streams", study.ensemble.streams == Streams::common ? "common" : "independent"},
          {"points", study.ensemble.points()},
          {"members_per_point", study.ensemble.members_per_point}};
}

}  // namespace zwang
