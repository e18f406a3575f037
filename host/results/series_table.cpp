#include "host/results/series_table.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numeric>
#include "host/platform/table.h"
#include "host/results/answers_table.h"
#include "host/run/progress.h"
#include "host/statistics/statistics_result.h"
#include "host/study/study.h"
#include "src/base/error.h"
#include "src/system/system.h"

namespace zwang {

namespace {

constexpr std::size_t observables_shown = 12;

std::string figure(double value) {
  if (std::isnan(value)) return "-";
  return value == 0 ? "0" : fmt::format("{:.5g}", value);
}

std::string interval(double low, double high) {
  return std::isnan(low) ? "-" : fmt::format("{:.6g} .. {:.6g}", low, high);
}

std::vector<std::size_t> middle_of(std::size_t count) {
  return count > 0 ? std::vector<std::size_t>{count / 2} : std::vector<std::size_t>{};
}

std::vector<std::size_t> three_of(std::size_t count) {
  return count < 3 ? middle_of(count) : std::vector<std::size_t>{0, count / 2, count - 1};
}

// Indices of the quantiles shown: all of up to five, else the first, the middle and the last.
std::vector<std::size_t> quantiles_shown(std::size_t count) {
  if (count > 5) return three_of(count);
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    longest = std::max(longest, end - begin);
  return longest;
}

// One row per series; the column of missing values is shown only if values are missing.
class SeriesTable {
 public:
  // `missing`: heading of the column that counts members without a value.
  SeriesTable(std::string title, std::string missing, const StatisticsSettings& settings)
      : title_(std::move(title)), missing_(std::move(missing)), settings_(settings) {}

  void add(const std::string& name, const SeriesStatistics& series) { rows_.push_back({name, &series}); }

  bool empty() const { return rows_.empty(); }
  bool has_missing() const {
    return std::any_of(rows_.begin(), rows_.end(), [](const Row& row) { return row.series->missing > 0; });
  }

  // Shows as many quantiles as fit into a line: all, three, the middle one, none; then intervals of three
  // digits.
  std::string text() const {
    const std::size_t count = settings_.quantiles.size();
    std::string text;
    for (const std::vector<std::size_t>& shown :
         {quantiles_shown(count), three_of(count), middle_of(count), std::vector<std::size_t>{}}) {
      text = text_with(shown);
      if (shown.size() < count) text += left_out_text(shown);
      if (longest_line(text) <= table_width) return text;
    }
    return text_with({}, true) + (count > 0 ? left_out_text({}) : "");
  }

 private:
  struct Row {
    std::string name;
    const SeriesStatistics* series;
  };

  // The quantiles for which the line has no room.
  std::string left_out_text(const std::vector<std::size_t>& shown) const {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < settings_.quantiles.size(); ++k)
      if (std::find(shown.begin(), shown.end(), k) == shown.end())
        names.push_back(fmt::format("{:g} %", 100 * settings_.quantiles[k]));
    std::string text = fmt::format("not shown: {}; summary.json has all quantiles\n", fmt::join(names, ", "));
    if (text.size() > table_width + 1)
      text = fmt::format("not shown: {} of {} quantiles; summary.json has all\n", names.size(),
                         settings_.quantiles.size());
    return text;
  }

  std::string text_with(const std::vector<std::size_t>& shown, bool short_intervals = false) const {
    const bool with_missing = has_missing();
    std::vector<std::string> header = {title_, "mean", "95 % interval", "std"};
    for (const std::size_t k : shown) header.push_back(fmt::format("{:g} %", 100 * settings_.quantiles[k]));
    if (with_missing) header.push_back(missing_);
    TextTable table(std::move(header));
    for (const auto& [name, series] : rows_) {
      const std::string bounds = short_intervals
                                     ? fmt::format("{:.3g} .. {:.3g}", series->mean_low, series->mean_high)
                                     : interval(series->mean_low, series->mean_high);
      std::vector<std::string> row = {name, figure(series->moments.mean), bounds,
                                      figure(series->moments.std)};
      for (const std::size_t k : shown) row.push_back(figure(series->quantiles[k].value));
      if (with_missing) row.push_back(count_text(series->missing));
      table.add(std::move(row));
    }
    return table.text("");
  }

  std::string title_, missing_;
  const StatisticsSettings& settings_;
  std::vector<Row> rows_;
};

// "peak (N)"; the name alone where [units] has no label for it.
std::string with_unit(const Study& study, const std::string& name) {
  const std::string unit = study.unit(name);
  return unit.empty() ? name : name + " (" + unit + ")";
}

}  // namespace

std::string measures_text(const Study& study, const RunResult& result) {
  const std::vector<Measure>& measures = study.system->measures;
  if (measures.empty()) return "";
  SeriesTable table("measure", "never", study.statistics);
  for (std::size_t i = 0; i < measures.size(); ++i)
    if (!result.statistics.measures[i].probability)
      table.add(with_unit(study, measures[i].name), result.statistics.measures[i]);
  std::string text = table.empty() ? "" : "\n" + table.text();
  if (table.has_missing()) text += "never: number of members in which the measure never occurred\n";
  return text + probabilities_text(study, result) + first_order_text(study, result) +
         sensitivity_text(study, result) + givens_text(study, result);
}

std::string observables_text(const Study& study, const RunResult& result) {
  const auto& observables = study.system->observables;
  const std::vector<double>& times = study.time.outputs;
  if (observables.empty() || times.empty()) return "";
  const std::size_t row = (times.size() - 1) * observables.size();
  const std::size_t shown = std::min(observables.size(), observables_shown);
  const std::string unit = study.unit("time");
  SeriesTable table("at t = " + short_number(times.back()) + (unit.empty() ? "" : " " + unit), "missing",
                    study.statistics);
  for (std::size_t i = 0; i < shown; ++i)
    table.add(with_unit(study, observables[i].name), result.statistics.observables[row + i]);
  std::string text = "\n" + table.text();
  if (shown < observables.size()) text += fmt::format("and {} more\n", observables.size() - shown);
  return text;
}

}  // namespace zwang
