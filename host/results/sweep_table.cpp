// Tables of series by point.
#include "host/results/sweep_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "host/platform/table.h"
#include "host/run/progress.h"
#include "host/statistics/statistics_result.h"
#include "host/study_file/raw_text.h"
#include "src/system/system.h"

namespace zwang {

namespace {

constexpr std::size_t rows_shown = 30;
constexpr std::size_t series_shown = 12;

using SeriesAt = const SeriesStatistics& (*)(const StatisticsResult&, std::size_t);

std::string cell(double value) {
  if (std::isnan(value)) return "-";
  return value == 0 ? "0" : fmt::format("{:.5g}", value);
}

// Index of the value of each sweep at a point.
std::vector<std::size_t> places_of(const Study& study, std::size_t point) {
  std::vector<std::size_t> places(study.sweeps.size());
  for (std::size_t i = places.size(); i-- > 0;) {
    places[i] = point % study.sweeps[i].values.size();
    point /= study.sweeps[i].values.size();
  }
  return places;
}

// All points, or the ends and those with the extreme means.
std::vector<std::size_t> shown_points(const std::vector<const SeriesStatistics*>& series) {
  std::set<std::size_t> shown;
  if (series.size() <= rows_shown) {
    for (std::size_t k = 0; k < series.size(); ++k) shown.insert(k);
    return {shown.begin(), shown.end()};
  }
  shown = {0, series.size() - 1};
  const auto less = [](const SeriesStatistics* a, const SeriesStatistics* b) {
    const double x = a->moments.mean, y = b->moments.mean;
    return std::isnan(y) ? !std::isnan(x) : x < y;
  };
  const auto more = [](const SeriesStatistics* a, const SeriesStatistics* b) {
    const double x = a->moments.mean, y = b->moments.mean;
    return std::isnan(y) ? !std::isnan(x) : x > y;
  };
  shown.insert(
      static_cast<std::size_t>(std::min_element(series.begin(), series.end(), less) - series.begin()));
  shown.insert(
      static_cast<std::size_t>(std::min_element(series.begin(), series.end(), more) - series.begin()));
  return {shown.begin(), shown.end()};
}

std::string table_of(const Study& study, const RunResult& result, const std::string& name,
                     const std::vector<const SeriesStatistics*>& series) {
  const bool missing =
      std::any_of(series.begin(), series.end(), [](const auto* s) { return s->missing > 0; });
  const bool failed = result.tally.failed > 0;
  std::vector<std::string> header;
  for (const Sweep& sweep : study.sweeps) header.push_back(printable(sweep.name));
  header.insert(header.end(), {name, "95 % interval", "std"});
  if (missing) header.emplace_back("never");
  if (failed) header.emplace_back("failed");
  TextTable table(std::move(header));
  const std::vector<std::size_t> shown = shown_points(series);
  for (const std::size_t point : shown) {
    const SeriesStatistics& one = *series[point];
    std::vector<std::string> row;
    const std::vector<std::size_t> places = places_of(study, point);
    for (std::size_t i = 0; i < places.size(); ++i) row.push_back(cell(study.sweeps[i].values[places[i]]));
    row.push_back(cell(one.moments.mean));
    row.push_back(std::isnan(one.mean_low) ? "-"
                                           : fmt::format("{:.6g} .. {:.6g}", one.mean_low, one.mean_high));
    row.push_back(cell(one.moments.std));
    if (missing) row.push_back(count_text(one.missing));
    if (failed) row.push_back(count_text(result.points[point].failed));
    table.add(std::move(row));
  }
  std::string text = "\n" + table.text("");
  if (shown.size() < series.size())
    text += fmt::format("{} of {} points: the ends, and the smallest and largest mean\n", shown.size(),
                        series.size());
  return text;
}

std::string tables_of(const Study& study, const RunResult& result, const std::vector<std::string>& names,
                      const SeriesAt& at, std::size_t first) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), series_shown); ++i) {
    std::vector<const SeriesStatistics*> series;
    for (const StatisticsResult& point : result.points) series.push_back(&at(point, first + i));
    text += table_of(study, result, names[i], series);
  }
  if (names.size() > series_shown) text += fmt::format("and {} more\n", names.size() - series_shown);
  return text;
}

}  // namespace

std::string sweep_tables(const Study& study, const RunResult& result) {
  const System& system = *study.system;
  std::vector<std::string> names;
  if (!system.measures.empty()) {
    for (const Measure& measure : system.measures) names.push_back(measure.name);
    return tables_of(
        study, result, names,
        [](const StatisticsResult& of, std::size_t i) -> const SeriesStatistics& { return of.measures[i]; },
        0);
  }
  if (study.time.outputs.empty()) return "";
  const std::string when = " at t = " + short_number(study.time.outputs.back());
  for (const NamedExpr& observable : system.observables) names.push_back(observable.name + when);
  return tables_of(
      study, result, names,
      [](const StatisticsResult& of, std::size_t i) -> const SeriesStatistics& { return of.observables[i]; },
      (study.time.outputs.size() - 1) * system.observables.size());
}

}  // namespace zwang
