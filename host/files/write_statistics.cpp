// Variables of statistics.nc: moments, quantiles, histograms and correlations.
#include "host/files/write_statistics.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <string_view>

#include "host/estimators/quantiles.h"
#include "host/files/netcdf_file.h"
#include "host/files/write_origin.h"
#include "host/statistics/statistics_result.h"
#include "host/study/study.h"
#include "src/system/system.h"

namespace zwang {

namespace {

using Type = NetcdfFile::Type;
using Dimension = NetcdfFile::Dimension;
using Variable = NetcdfFile::Variable;
using Series = SeriesStatistics;

// One statistic of every series.
struct RealField {
  const char* name;
  const char* long_name;
  const char* cell_method;  // CF cell method over members; "" if CF has none
  double (*value)(const Series&);
};
constexpr RealField real_fields[] = {
    {"mean", "mean", "mean", [](const Series& s) { return s.moments.mean; }},
    {"std", "standard deviation of the sample", "standard_deviation",
     [](const Series& s) { return s.moments.std; }},
    {"stderr", "standard error of the mean", "", [](const Series& s) { return s.standard_error; }},
    {"mean_low", "lower end of the 95 % interval of the mean", "",
     [](const Series& s) { return s.mean_low; }},
    {"mean_high", "upper end of the 95 % interval of the mean", "",
     [](const Series& s) { return s.mean_high; }},
    {"skewness", "skewness g1", "", [](const Series& s) { return s.moments.skewness; }},
    {"kurtosis", "excess kurtosis g2 (0 for a normal distribution)", "",
     [](const Series& s) { return s.moments.kurtosis; }},
    {"minimum", "smallest value", "minimum", [](const Series& s) { return s.moments.minimum; }},
    {"maximum", "largest value", "maximum", [](const Series& s) { return s.moments.maximum; }},
};

struct CountField {
  const char* name;
  const char* long_name;
  long long (*value)(const Series&);
};
constexpr CountField count_fields[] = {
    {"count", "members with a value", [](const Series& s) { return s.moments.count; }},
    {"missing", "members that entered and have no value", [](const Series& s) { return s.missing; }},
    {"infinite", "members with an infinite value", [](const Series& s) { return s.moments.infinite; }},
};

struct QuantileField {
  const char* name;
  const char* long_name;
  double (*value)(const Quantile&);
};
constexpr QuantileField quantile_fields[] = {
    {"quantiles", "quantiles", [](const Quantile& q) { return q.value; }},
    {"quantiles_low", "lower ends of the 95 % intervals of the quantiles",
     [](const Quantile& q) { return q.low; }},
    {"quantiles_high", "upper ends of the 95 % intervals of the quantiles",
     [](const Quantile& q) { return q.high; }},
};

// Definitions come before data: each definition adds a function that writes its values later.
using Numbers = std::vector<std::function<void(NetcdfFile&)>>;

// Observables at their times, measures, or inputs.
struct Group {
  std::string prefix;                 // of the variables' names
  std::string of;                     // description of the series
  std::vector<Dimension> dimensions;  // without the quantile dimension
  std::vector<const Series*> series;  // in the order of the dimensions
  std::string unit = {};              // label of all series; empty if they differ or have none
};

// The label that all names share.
std::string common_unit(const Study& study, const std::vector<std::string>& names) {
  const std::string unit = names.empty() ? "" : study.unit(names.front());
  const bool same = std::all_of(names.begin(), names.end(),
                                [&](const std::string& name) { return study.unit(name) == unit; });
  return same ? unit : "";
}

void put_unit(NetcdfFile& file, const Variable& variable, const Group& group) {
  if (!group.unit.empty()) file.attribute(variable, "units", group.unit);
}

// The labels of [units] beside the names, since the series of one variable may have different ones.
void add_units(NetcdfFile& file, const Study& study, const std::string& name, Dimension dimension,
               std::vector<std::string> names, Numbers& numbers) {
  for (std::string& one : names) one = study.unit(one);
  if (std::all_of(names.begin(), names.end(), [](const std::string& unit) { return unit.empty(); })) return;
  const Variable variable =
      file.variable(name, Type::text, {.dimensions = {dimension}}, "unit, a label given in the study");
  numbers.emplace_back([variable, names](NetcdfFile& into) { into.put(variable, names); });
}

void add_moments(NetcdfFile& file, const Group& group, Numbers& numbers) {
  for (const RealField& field : real_fields) {
    const Variable variable = file.variable(group.prefix + field.name, Type::real,
                                            {.dimensions = group.dimensions}, field.long_name + group.of);
    // Skewness and kurtosis are pure numbers.
    if (field.name != std::string_view("skewness") && field.name != std::string_view("kurtosis"))
      put_unit(file, variable, group);
    if (*field.cell_method != '\0')
      file.attribute(variable, "cell_methods", std::string("realization: ") + field.cell_method);
    numbers.emplace_back([&group, &field, variable](NetcdfFile& into) {
      std::vector<double> values;
      for (const Series* series : group.series) values.push_back(field.value(*series));
      into.put(variable, values);
    });
  }
  for (const CountField& field : count_fields) {
    const Variable variable = file.variable(group.prefix + field.name, Type::integer,
                                            {.dimensions = group.dimensions}, field.long_name + group.of);
    file.attribute(variable, "units", "1");
    numbers.emplace_back([&group, &field, variable](NetcdfFile& into) {
      std::vector<long long> values;
      for (const Series* series : group.series) values.push_back(field.value(*series));
      into.put(variable, values);
    });
  }
}

void add_quantiles(NetcdfFile& file, const Group& group, Dimension quantile, const QuantileBasis& basis,
                   Numbers& numbers) {
  std::vector<Dimension> dimensions = group.dimensions;
  dimensions.push_back(quantile);
  for (const QuantileField& field : quantile_fields) {
    const Variable variable = file.variable(group.prefix + field.name, Type::real, {.dimensions = dimensions},
                                            field.long_name + group.of);
    put_unit(file, variable, group);
    file.attribute(variable, "method", basis.exact ? "exact" : "sketch");
    file.attribute(variable, "relative_error", basis.exact ? 0.0 : basis.relative_error);
    file.attribute(variable, "comment",
                   basis.exact
                       ? "from all values; linear between order statistics (type 7)"
                       : "order statistics x are known to relative_error |x - pivot|, the pivot being "
                         "the median of the first 256 members");
    numbers.emplace_back([&group, &field, variable](NetcdfFile& into) {
      std::vector<double> values;
      for (const Series* series : group.series)
        for (const Quantile& q : series->quantiles) values.push_back(field.value(q));
      into.put(variable, values);
    });
  }
}

// --- Histograms --------------------------------------------------------------------------------------------

// One row per observable (or measure), padded to the widest. Rows without a requested histogram are never
// written: they take no space in the file and read as missing.
struct HistogramVariables {
  Variable counts, edges, below, above;
};

HistogramVariables add_histograms(NetcdfFile& file, const Group& group, Dimension bin, Dimension edge) {
  const std::size_t row = std::max<std::size_t>(1, bin.size);
  // A chunk is one histogram at as many times as make about one megabyte.
  const std::size_t times = std::clamp<std::size_t>((std::size_t{1} << 17) / row, 1, 1024);
  std::vector<Dimension> dimensions = group.dimensions;
  std::vector<std::size_t> chunks = {1};
  if (dimensions.size() > 1) chunks.push_back(std::min(times, std::max<std::size_t>(1, dimensions[1].size)));
  const NetcdfFile::Shape outside{.dimensions = dimensions, .chunks = chunks, .may_be_missing = true};
  dimensions.push_back(bin);
  chunks.push_back(row);
  const auto counted = [&](const std::string& name, const NetcdfFile::Shape& shape,
                           const std::string& long_name) {
    Variable variable = file.variable(group.prefix + name, Type::integer, shape, long_name + group.of);
    file.attribute(variable, "units", "1");
    return variable;
  };
  HistogramVariables made;
  made.counts = counted("histogram",
                        {.dimensions = dimensions, .chunks = chunks, .deflate = true, .may_be_missing = true},
                        "members in each bin (the lower edge included)");
  made.edges = file.variable(group.prefix + "histogram_edges", Type::real,
                             {.dimensions = {group.dimensions.front(), edge}, .chunks = {1, row + 1}},
                             "edges of the bins" + group.of);
  put_unit(file, made.edges, group);
  made.below = counted("histogram_below", outside, "members below the first edge");
  made.above = counted("histogram_above", outside, "members above the last edge");
  return made;
}

void put_histogram(NetcdfFile& file, const HistogramVariables& variables, const HistogramResult& histogram) {
  const std::size_t times = histogram.counts.size(), bins = histogram.edges.size() - 1;
  const auto place = [&](std::vector<std::size_t> rest) {
    if (histogram.of_measure) rest.erase(rest.begin() + 1);
    return rest;
  };
  std::vector<long long> counts;
  for (const std::vector<long long>& one : histogram.counts)
    counts.insert(counts.end(), one.begin(), one.end());
  file.put(variables.counts, place({histogram.index, 0, 0}), place({1, times, bins}), counts);
  file.put(variables.edges, {histogram.index, 0}, {1, bins + 1}, histogram.edges);
  file.put(variables.below, place({histogram.index, 0}), place({1, times}), histogram.below);
  file.put(variables.above, place({histogram.index, 0}), place({1, times}), histogram.above);
}

// --- The whole file ----------------------------------------------------------------------------------------

// result.observables is ordered by time; the file is ordered by observable.
std::vector<const Series*> by_observable(const std::vector<Series>& series, std::size_t observables,
                                         std::size_t outputs) {
  std::vector<const Series*> made;
  for (std::size_t i = 0; i < observables; ++i)
    for (std::size_t t = 0; t < outputs; ++t) made.push_back(&series[t * observables + i]);
  return made;
}

std::vector<const Series*> pointers(const std::vector<Series>& series) {
  std::vector<const Series*> made(series.size());
  std::transform(series.begin(), series.end(), made.begin(), [](const Series& one) { return &one; });
  return made;
}

// Covariances and rank correlations of measures and inputs. The two dimensions have different names: xarray
// opens a variable with a repeated dimension but cannot select from it.
void add_relations(NetcdfFile& file, const System& system, const RunResult& result, Dimension measure,
                   Numbers& numbers) {
  std::vector<std::string> names = measure_names(system);
  const std::size_t measures = names.size();
  names.insert(names.end(), result.inputs.begin(), result.inputs.end());
  const std::size_t all = names.size();
  const Dimension row = file.names("variable", names, "measures, then drawn inputs");
  const Dimension column = file.names("other_variable", names, "measures, then drawn inputs");
  const Variable kind = file.variable("variable_kind", Type::text, {.dimensions = {row}}, "what it is");
  const Variable covariance = file.variable("covariance", Type::real, {.dimensions = {row, column}},
                                            "covariance over the members that have both");
  const Variable rank = file.variable("rank_correlation", Type::real, {.dimensions = {row, column}},
                                      "Spearman's rank correlation over the members that have both");
  file.attribute(rank, "member_stride", result.statistics.rank_stride);
  // The same numbers under the name documented in results.md.
  const Variable square = file.variable("measure_covariance", Type::real, {.dimensions = {measure, measure}},
                                        "covariance of measures over the members that have both");
  numbers.emplace_back([&result, kind, covariance, rank, square, measures, all](NetcdfFile& into) {
    std::vector<std::string> kinds(measures, "measure");
    kinds.resize(all, "input");
    into.put(kind, kinds);
    into.put(covariance, result.statistics.covariance);
    into.put(rank, result.statistics.rank_correlation);
    std::vector<double> corner;
    for (std::size_t i = 0; i < measures; ++i)
      for (std::size_t j = 0; j < measures; ++j) corner.push_back(result.statistics.covariance[i * all + j]);
    into.put(square, corner);
  });
}

std::size_t most_bins(const std::vector<HistogramResult>& histograms) {
  std::size_t most = 0;
  for (const HistogramResult& histogram : histograms) most = std::max(most, histogram.edges.size() - 1);
  return most;
}

}  // namespace

void write_statistics(const std::filesystem::path& path, const Study& study, const RunResult& result) {
  const System& system = *study.system;
  const StatisticsResult& statistics = result.statistics;
  NetcdfFile file(path);
  write_origin(file, study, result, "statistics of an ensemble");
  file.attribute("members_requested", static_cast<unsigned long long>(result.requested));
  file.attribute("members_entered", static_cast<unsigned long long>(result.tally.entered));
  file.attribute("members_failed", static_cast<unsigned long long>(result.tally.failed));

  // Axes.
  const Dimension observable = file.names("observable", observable_names(system), "observable");
  const TimeAxis time = add_time(file, study);
  const Dimension measure = file.names("measure", measure_names(system), "measure");
  const Dimension input = file.names("input", result.inputs, "drawn input");
  const Dimension quantile = file.dimension("quantile", study.statistics.quantiles.size());
  const Variable probability =
      file.variable("quantile", Type::real, {.dimensions = {quantile}}, "probability of the quantile");
  const std::size_t bins = most_bins(statistics.histograms);
  const Dimension bin = file.dimension("bin", bins);
  const Dimension edge = file.dimension("bin_edge", bins == 0 ? 0 : bins + 1);

  // Variables.
  const Group observables{
      "",
      " of an observable at an output time",
      {observable, time.dimension},
      by_observable(statistics.observables, system.observables.size(), study.time.outputs.size()),
      common_unit(study, observable_names(system))};
  const Group measures{"measure_",
                       " of a measure",
                       {measure},
                       pointers(statistics.measures),
                       common_unit(study, measure_names(system))};
  const Group inputs{
      "input_", " of a drawn input", {input}, pointers(statistics.inputs), common_unit(study, result.inputs)};
  Numbers numbers;
  add_units(file, study, "observable_units", observable, observable_names(system), numbers);
  add_units(file, study, "measure_units", measure, measure_names(system), numbers);
  add_units(file, study, "input_units", input, result.inputs, numbers);
  add_moments(file, observables, numbers);
  add_quantiles(file, observables, quantile, statistics.observable_quantiles, numbers);
  add_moments(file, measures, numbers);
  add_quantiles(file, measures, quantile, statistics.measure_quantiles, numbers);
  add_moments(file, inputs, numbers);
  const HistogramVariables over_time = add_histograms(file, observables, bin, edge);
  const HistogramVariables of_measures = add_histograms(file, measures, bin, edge);
  add_relations(file, system, result, measure, numbers);

  // Numbers.
  file.put(time.variable, study.time.outputs);
  file.put(probability, study.statistics.quantiles);
  for (const auto& put : numbers) put(file);
  for (const HistogramResult& histogram : statistics.histograms)
    put_histogram(file, histogram.of_measure ? of_measures : over_time, histogram);
  file.close();
}

}  // namespace zwang
