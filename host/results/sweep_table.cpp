// Tables of series by point.
#include "host/results/sweep_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "host/estimators/proportion.h"
#include "host/platform/table.h"
#include "host/results/answers_table.h"
#include "host/run/progress.h"
#include "host/statistics/pick_freeze.h"
#include "host/statistics/statistics_result.h"
#include "host/toml/raw_text.h"
#include "src/system/system.h"

namespace zwang {

namespace {

constexpr std::size_t rows_shown = 30;
constexpr std::size_t series_shown = 12;
constexpr std::size_t inputs_shown = 5;

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

// All points, or the ends and those with the extremes of a number by point.
std::vector<std::size_t> shown_points(const std::vector<double>& values) {
  std::set<std::size_t> shown;
  if (values.size() <= rows_shown) {
    for (std::size_t k = 0; k < values.size(); ++k) shown.insert(k);
    return {shown.begin(), shown.end()};
  }
  shown = {0, values.size() - 1};
  const auto less = [](double x, double y) { return std::isnan(y) ? !std::isnan(x) : x < y; };
  const auto more = [](double x, double y) { return std::isnan(y) ? !std::isnan(x) : x > y; };
  const auto first = [&](const auto& order) {
    return static_cast<std::size_t>(std::min_element(values.begin(), values.end(), order) - values.begin());
  };
  shown.insert({first(less), first(more)});
  return {shown.begin(), shown.end()};
}

// The first cells of a row: the values of the sweeps at a point.
std::vector<std::string> swept_cells(const Study& study, std::size_t point) {
  std::vector<std::string> row;
  const std::vector<std::size_t> places = places_of(study, point);
  for (std::size_t i = 0; i < places.size(); ++i) row.push_back(cell(study.sweeps[i].values[places[i]]));
  return row;
}

std::vector<std::string> swept_names(const Study& study) {
  std::vector<std::string> names;
  for (const Sweep& sweep : study.sweeps) names.push_back(printable(sweep.name));
  return names;
}

// Whether a measure is 0 or 1 at every point at which it has values, and has values at some.
bool is_probability(const std::vector<const SeriesStatistics*>& series) {
  const auto has_values = [](const auto* one) { return one->moments.count > 0; };
  return std::any_of(series.begin(), series.end(), has_values) &&
         std::all_of(series.begin(), series.end(),
                     [&](const auto* one) { return one->probability || !has_values(one); });
}

std::string mean_interval_cell(const SeriesStatistics& one) {
  return std::isnan(one.mean_low) ? "-" : fmt::format("{:.6g} .. {:.6g}", one.mean_low, one.mean_high);
}

// `20 of 20 000`, share and Wilson's interval where the measure is a probability, else mean, interval and std.
std::string table_of(const Study& study, const RunResult& result, const std::string& name,
                     const std::vector<const SeriesStatistics*>& series) {
  const bool share = is_probability(series);
  const bool missing =
      std::any_of(series.begin(), series.end(), [](const auto* s) { return s->missing > 0; });
  const bool failed = result.tally.failed > 0;
  std::vector<std::string> header = swept_names(study);
  if (share)
    header.insert(header.end(), {name, "share", "95 % interval"});
  else
    header.insert(header.end(), {name, "95 % interval", "std"});
  if (missing) header.emplace_back("never");
  if (failed) header.emplace_back("failed");
  TextTable table(std::move(header));
  std::vector<double> means;
  for (const SeriesStatistics* one : series) means.push_back(one->moments.mean);
  const std::vector<std::size_t> shown = shown_points(means);
  for (const std::size_t point : shown) {
    const SeriesStatistics& one = *series[point];
    std::vector<std::string> row = swept_cells(study, point);
    if (!share) {
      row.insert(row.end(), {cell(one.moments.mean), mean_interval_cell(one), cell(one.moments.std)});
    } else if (one.probability) {
      const Proportion& found = *one.probability;
      row.insert(row.end(), {share_text(found), cell(found.share()), interval_text(found.low, found.high)});
    } else {
      row.insert(row.end(), {"-", "-", "-"});
    }
    if (missing) row.push_back(count_text(one.missing));
    if (failed) row.push_back(count_text(result.points[point].failed));
    table.add(std::move(row));
  }
  std::string text = "\n" + table.text("");
  if (shown.size() < series.size())
    text += fmt::format("{} of {} points: the ends, and the smallest and largest {}\n", shown.size(),
                        series.size(), share ? "share" : "mean");
  return text;
}

// Points with a single member have values instead of statistics: several series share a table.
std::string value_tables(const Study& study, const RunResult& result, const std::vector<std::string>& names,
                         const SeriesAt& at, std::size_t first) {
  constexpr std::size_t columns = 5;
  std::string text;
  for (std::size_t begin = 0; begin < std::min(names.size(), series_shown); begin += columns) {
    const std::size_t end = std::min({names.size(), series_shown, begin + columns});
    std::vector<std::string> header = swept_names(study);
    for (std::size_t i = begin; i < end; ++i) header.push_back(names[i]);
    TextTable table(std::move(header));
    std::vector<double> values;
    for (const StatisticsResult& point : result.points)
      values.push_back(at(point, first + begin).moments.mean);
    const std::vector<std::size_t> shown = shown_points(values);
    for (const std::size_t point : shown) {
      std::vector<std::string> row = swept_cells(study, point);
      for (std::size_t i = begin; i < end; ++i)
        row.push_back(cell(at(result.points[point], first + i).moments.mean));
      table.add(std::move(row));
    }
    text += "\n" + table.text("");
    if (shown.size() < values.size())
      text += fmt::format("{} of {} points: the ends, and the smallest and largest {}\n", shown.size(),
                          values.size(), names[begin]);
  }
  return text;
}

std::string tables_of(const Study& study, const RunResult& result, const std::vector<std::string>& names,
                      const SeriesAt& at, std::size_t first) {
  if (study.ensemble.per_point() == 1) {
    std::string text = value_tables(study, result, names, at, first);
    if (names.size() > series_shown) text += fmt::format("and {} more\n", names.size() - series_shown);
    return text;
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), series_shown); ++i) {
    std::vector<const SeriesStatistics*> series;
    for (const StatisticsResult& point : result.points) series.push_back(&at(point, first + i));
    text += table_of(study, result, names[i], series);
  }
  if (names.size() > series_shown) text += fmt::format("and {} more\n", names.size() - series_shown);
  return text;
}

// The inputs with the largest total index at some point, in the order of the study.
std::vector<std::size_t> shown_inputs(const RunResult& result, std::size_t measure, std::size_t inputs) {
  std::vector<std::pair<double, std::size_t>> largest(inputs);
  for (std::size_t i = 0; i < inputs; ++i) {
    largest[i] = {0, i};
    for (const StatisticsResult& point : result.points)
      largest[i].first = std::fmax(largest[i].first, point.pick_freeze[measure].inputs[i].total);
  }
  std::stable_sort(largest.begin(), largest.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  largest.resize(std::min(inputs, inputs_shown));
  std::set<std::size_t> shown;
  for (const auto& [total, input] : largest) shown.insert(input);
  return {shown.begin(), shown.end()};
}

std::string index_cell(double value, double standard_error) {
  return std::isnan(value) ? "-" : fmt::format("{:.3f} +- {:.3f}", value, 1.96 * standard_error);
}

// Points at which more than one row in a hundred is left out: the indices refer to the rest.
std::string left_out_text(const RunResult& result, std::size_t measure) {
  constexpr double warned_share = 0.01;
  const auto warned =
      std::count_if(result.points.begin(), result.points.end(), [&](const StatisticsResult& point) {
        const PickFreezeResult& of = point.pick_freeze[measure];
        const auto left = static_cast<double>(of.failed + of.missing);
        return left > warned_share * (static_cast<double>(of.rows) + left);
      });
  if (warned == 0) return "";
  return fmt::format(
      "WARNING: at {} of {} points more than 1 % of the rows are left out (failed, or without a value): the "
      "indices refer to the rest\n",
      warned, result.points.size());
}

}  // namespace

std::string sweep_sensitivity(const Study& study, const RunResult& result) {
  if (!study.sensitivity) return "";
  std::string text;
  for (std::size_t m = 0; m < study.sensitivity->of.size(); ++m) {
    const std::vector<std::size_t> inputs = shown_inputs(result, m, study.sensitivity->inputs.size());
    std::vector<std::string> header = swept_names(study);
    for (const std::size_t i : inputs)
      for (const char* kind : {"S.", "T."}) header.push_back(kind + study.sensitivity->inputs[i].name);
    TextTable table(std::move(header));
    std::vector<double> totals;
    for (const StatisticsResult& point : result.points)
      totals.push_back(point.pick_freeze[m].inputs[inputs.front()].total);
    const std::vector<std::size_t> shown = shown_points(totals);
    for (const std::size_t point : shown) {
      std::vector<std::string> row = swept_cells(study, point);
      for (const std::size_t i : inputs) {
        const SobolIndex& one = result.points[point].pick_freeze[m].inputs[i];
        row.push_back(index_cell(one.first, one.first_stderr));
        row.push_back(index_cell(one.total, one.total_stderr));
      }
      table.add(std::move(row));
    }
    text += fmt::format("\nSobol' indices of {}: S first order, T total, +- 95 %\n",
                        study.system->measures[study.sensitivity->of[m]].name) +
            table.text("");
    if (shown.size() < totals.size())
      text += fmt::format("{} of {} points: the ends, and the smallest and largest T.{}\n", shown.size(),
                          totals.size(), study.sensitivity->inputs[inputs.front()].name);
    if (inputs.size() < study.sensitivity->inputs.size())
      text += fmt::format("and {} more inputs in statistics.nc\n",
                          study.sensitivity->inputs.size() - inputs.size());
    text += left_out_text(result, m);
  }
  return text;
}

// For each condition how many members fulfil it, and the input that distinguishes them most.
std::string sweep_givens(const Study& study, const RunResult& result) {
  std::string text;
  for (std::size_t g = 0; g < study.givens.size(); ++g) {
    std::vector<std::string> header = swept_names(study);
    header.insert(header.end(), {"members", "share", "95 % interval"});
    if (!result.inputs.empty()) header.insert(header.end(), {"largest shift", "in std"});
    TextTable table(std::move(header));
    std::vector<double> shares;
    for (const StatisticsResult& point : result.points) shares.push_back(point.givens[g].share.share());
    const std::vector<std::size_t> shown = shown_points(shares);
    for (const std::size_t point : shown) {
      const GivenResult& given = result.points[point].givens[g];
      std::vector<std::string> row = swept_cells(study, point);
      row.insert(row.end(), {share_text(given.share), cell(given.share.share()),
                             interval_text(given.share.low, given.share.high)});
      std::size_t largest = 0;
      const auto size = [&](std::size_t i) {
        return std::isnan(given.shift[i]) ? -1 : std::abs(given.shift[i]);
      };
      for (std::size_t i = 1; i < result.inputs.size(); ++i)
        if (size(i) > size(largest)) largest = i;
      if (!result.inputs.empty()) {
        const bool known = size(largest) >= 0;
        row.push_back(known ? result.inputs[largest] : "-");
        row.push_back(known ? fmt::format("{:+.2f}", given.shift[largest]) : "-");
      }
      table.add(std::move(row));
    }
    text +=
        fmt::format("\ngiven {} ({})\n", study.givens[g].name, study.givens[g].condition) + table.text("");
    if (shown.size() < shares.size())
      text += fmt::format("{} of {} points: the ends, and the smallest and largest share\n", shown.size(),
                          shares.size());
  }
  return text;
}

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
