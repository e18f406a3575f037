// Variables of statistics.nc: moments, quantiles, histograms and correlations.
#include "host/files/write_statistics.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

#include "host/estimators/moments.h"
#include "host/files/statistics_variables.h"
#include "host/files/unit_labels.h"
#include "host/files/write_answers.h"
#include "host/files/write_origin.h"
#include "host/netcdf/netcdf_file.h"
#include "host/statistics/statistics_result.h"
#include "host/study/study.h"
#include "src/system/system.h"

namespace zwang {

namespace {

using Type = NetcdfFile::Type;
using Dimension = NetcdfFile::Dimension;
using Variable = NetcdfFile::Variable;
using Series = SeriesStatistics;

using Numbers = NetcdfNumbers;
using Group = SeriesGroup;

// result.observables is ordered by time; the file is ordered by observable.
std::vector<const Series*> by_observable(const std::vector<Series>& series, std::size_t observables) {
  std::vector<const Series*> made;
  for (std::size_t i = 0; i < observables; ++i)
    for (std::size_t k = i; k < series.size(); k += observables) made.push_back(&series[k]);
  return made;
}

std::vector<const Series*> pointers(const std::vector<Series>& series) {
  std::vector<const Series*> made(series.size());
  std::transform(series.begin(), series.end(), made.begin(), [](const Series& one) { return &one; });
  return made;
}

std::vector<std::string> related_names(const System& system, const RunResult& result) {
  std::vector<std::string> names = measure_names(system);
  names.insert(names.end(), result.inputs.begin(), result.inputs.end());
  return names;
}

// Any point: what is the same for all of them.
const StatisticsResult& any_of(const RunResult& result) {
  return result.points.empty() ? result.statistics : result.points.front();
}

// The least accurate of all points.
QuantileBasis basis_over_points(const RunResult& result, QuantileBasis StatisticsResult::*of) {
  QuantileBasis basis = any_of(result).*of;
  for (const StatisticsResult& point : result.points) {
    basis.exact = basis.exact && (point.*of).exact;
    basis.relative_error = std::max(basis.relative_error, (point.*of).relative_error);
  }
  return basis;
}

// Covariances and rank correlations of measures and inputs. The two dimensions have different names: xarray
// opens a variable with a repeated dimension but cannot select from it.
void add_relations(NetcdfFile& file, const System& system, const RunResult& result, Dimension measure,
                   Dimension row, Numbers& numbers) {
  const std::vector<std::string> names = related_names(system, result);
  const std::size_t measures = system.measures.size(), all = names.size();
  const Dimension column = file.names("other_variable", names, "measures, then drawn inputs");
  const Variable covariance = file.variable("covariance", Type::real, {.dimensions = {row, column}},
                                            "covariance over the members that have both");
  const Variable rank = file.variable("rank_correlation", Type::real, {.dimensions = {row, column}},
                                      "Spearman's rank correlation over the members that have both");
  file.attribute(rank, "member_stride", any_of(result).rank_stride);
  // The same numbers under the name documented in results.md.
  const Variable square = file.variable("measure_covariance", Type::real, {.dimensions = {measure, measure}},
                                        "covariance of measures over the members that have both");
  numbers.emplace_back(
      [covariance](NetcdfFile& into, const StatisticsResult& of) { into.put(covariance, of.covariance); });
  numbers.emplace_back(
      [rank](NetcdfFile& into, const StatisticsResult& of) { into.put(rank, of.rank_correlation); });
  numbers.emplace_back([square, measures, all](NetcdfFile& into, const StatisticsResult& of) {
    std::vector<double> corner;
    for (std::size_t i = 0; i < measures; ++i)
      for (std::size_t j = 0; j < measures; ++j) corner.push_back(of.covariance[i * all + j]);
    into.put(square, corner);
  });
}

std::vector<std::string> given_names(const Study& study) {
  std::vector<std::string> names;
  for (const GivenSettings& given : study.givens) names.push_back(given.name);
  return names;
}

struct GivenAxis {
  Dimension dimension;
  Variable condition;
  std::vector<std::string> conditions;
};

GivenAxis add_given_axis(NetcdfFile& file, const Study& study) {
  GivenAxis made;
  if (study.givens.empty()) return made;
  made.dimension = file.names("given", given_names(study), "members that fulfil a condition");
  made.condition =
      file.variable("given_condition", Type::text, {.dimensions = {made.dimension}}, "the condition");
  for (const GivenSettings& one : study.givens) made.conditions.push_back(one.condition);
  return made;
}

// Of the observables of a condition that did not ask for them.
const Series& no_series() {
  static const Series none = [] {
    Series made;
    made.moments = column_moments(TileMoments{}, 0);
    made.standard_error = made.mean_low = made.mean_high = std::numeric_limits<double>::quiet_NaN();
    return made;
  }();
  return none;
}

// Statistics over the members of each [[given]]: measures, inputs and, if one of them asks for it,
// observables, which are missing for the others.
std::vector<Group> groups_of_givens(const Study& study, Dimension given,
                                    const std::vector<Dimension>& over_time, Dimension measure,
                                    Dimension input) {
  const auto all = [](std::vector<Series> GivenResult::*which) {
    return [which](const StatisticsResult& of) {
      std::vector<const Series*> made;
      for (const GivenResult& one : of.givens)
        for (const Series& series : one.*which) made.push_back(&series);
      return made;
    };
  };
  std::vector<Group> made;
  if (measure.size > 0)
    made.push_back({"given_measure_",
                    " of a measure, over the members given",
                    {given, measure},
                    all(&GivenResult::measures)});
  if (input.size > 0)
    made.push_back({"given_input_",
                    " of a drawn input, over the members given",
                    {given, input},
                    all(&GivenResult::inputs)});
  const bool any = std::any_of(study.givens.begin(), study.givens.end(),
                               [](const GivenSettings& one) { return one.observables; });
  if (!any) return made;
  std::vector<Dimension> dimensions = {given};
  dimensions.insert(dimensions.end(), over_time.begin(), over_time.end());
  made.push_back({"given_", " of an observable at an output time, over the members given", dimensions,
                  [count = over_time[0].size, times = over_time[1].size](const StatisticsResult& of) {
                    std::vector<const Series*> rows;
                    for (const GivenResult& one : of.givens) {
                      std::vector<const Series*> own(count * times, &no_series());
                      if (!one.observables.empty()) own = by_observable(one.observables, count);
                      rows.insert(rows.end(), own.begin(), own.end());
                    }
                    return rows;
                  }});
  return made;
}

struct KindVariable {
  Variable variable;
  std::vector<std::string> kinds;
};

// Whether a row of the relations is a measure or an input.
KindVariable add_kinds(NetcdfFile& file, Dimension row, std::size_t measures) {
  std::vector<std::string> kinds(measures, "measure");
  kinds.resize(row.size, "input");
  return {file.variable("variable_kind", Type::text, {.dimensions = {row}}, "what it is"), kinds};
}

// --- Sweeps ------------------------------------------------------------------------------------------------

struct SweepAxes {
  std::vector<Dimension> dimensions;
  std::vector<Variable> variables;
};

// One dimension for each sweep with its values.
SweepAxes add_sweeps(NetcdfFile& file, const Study& study) {
  SweepAxes made;
  const std::vector<std::string> names = sweep_dimensions(study);
  for (std::size_t i = 0; i < names.size(); ++i) {
    made.dimensions.push_back(file.dimension(names[i], study.sweeps[i].values.size()));
    made.variables.push_back(
        file.variable(names[i], Type::real, {.dimensions = {made.dimensions.back()}}, study.sweeps[i].name));
    file.attribute(made.variables.back(), "scale", study.sweeps[i].logarithmic ? "log" : "linear");
  }
  return made;
}

// The numbers of members by point.
void add_point_counts(NetcdfFile& file, Numbers& numbers) {
  const auto counted = [&](const char* name, const char* long_name,
                           long long (*value)(const StatisticsResult&)) {
    const Variable variable = file.variable(name, Type::integer, {}, long_name);
    file.attribute(variable, "units", "1");
    numbers.emplace_back([variable, value](NetcdfFile& into, const StatisticsResult& of) {
      const long long count = value(of);
      into.put(variable, std::span(&count, 1));
    });
  };
  counted("members_integrated", "members integrated at this point",
          [](const StatisticsResult& of) { return of.members; });
  counted("members_entered", "members in the statistics of this point",
          [](const StatisticsResult& of) { return of.entered; });
  counted("members_failed", "members that failed at this point",
          [](const StatisticsResult& of) { return of.failed; });
}

// --- Values of records -------------------------------------------------------------------------------------

struct RecordHistogramVariables {
  Variable counts, edges, below, above;
};

std::size_t most_record_bins(const RunResult& result) {
  std::size_t most = 0;
  for (const RecordHistogram& one : result.record_histograms) most = std::max(most, one.edges.size() - 1);
  return most;
}

// With one leading dimension for each sweep, but for the edges, which all points share.
RecordHistogramVariables add_record_histograms(NetcdfFile& file, const RunResult& result,
                                               const std::vector<Dimension>& sweeps) {
  std::vector<std::string> names;
  for (const RecordHistogram& one : result.record_histograms) names.push_back(one.name);
  const std::size_t bins = most_record_bins(result);
  const Dimension value = file.names("record_value", names, "value of a record"),
                  bin = file.dimension("record_bin", bins),
                  edge = file.dimension("record_bin_edge", bins + 1);
  RecordHistogramVariables made;
  made.edges = file.variable("record_histogram_edges", Type::real, {.dimensions = {value, edge}},
                             "edges of the bins of values of records");
  file.lead_with(sweeps);
  const auto counted = [&](const char* name, std::vector<Dimension> dimensions, const char* long_name) {
    Variable variable = file.variable(
        name, Type::integer, {.dimensions = std::move(dimensions), .may_be_missing = true}, long_name);
    file.attribute(variable, "units", "1");
    return variable;
  };
  made.counts = counted("record_histogram", {value, bin}, "rows in each bin, pooled over members");
  made.below = counted("record_histogram_below", {value}, "rows below the first edge");
  made.above = counted("record_histogram_above", {value}, "rows above the last edge");
  file.lead_with({});
  return made;
}

void put_record_histograms(NetcdfFile& file, const RecordHistogramVariables& variables,
                           const RunResult& result) {
  for (std::size_t k = 0; k < result.record_histograms.size(); ++k) {
    const RecordHistogram& one = result.record_histograms[k];
    file.put(variables.edges, {k, 0}, {1, one.edges.size()}, one.edges);
    for (std::size_t point = 0; point < one.points.size(); ++point) {
      const RecordHistogram::Counts& counts = one.points[point];
      file.at_combination(point);
      file.put(variables.counts, {k, 0}, {1, counts.bins.size()}, counts.bins);
      file.put(variables.below, {k}, {1}, std::span(&counts.below, 1));
      file.put(variables.above, {k}, {1}, std::span(&counts.above, 1));
    }
  }
}

std::size_t most_bins(const std::vector<HistogramResult>& histograms) {
  std::size_t most = 0;
  for (const HistogramResult& histogram : histograms) most = std::max(most, histogram.edges.size() - 1);
  return most;
}

}  // namespace

void write_statistics(const std::filesystem::path& path, const Study& study, const RunResult& result) {
  const System& system = *study.system;
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
  const std::size_t bins = most_bins(any_of(result).histograms);
  const Dimension bin = file.dimension("bin", bins);
  const Dimension edge = file.dimension("bin_edge", bins == 0 ? 0 : bins + 1);

  const Dimension row = file.names("variable", related_names(system, result), "measures, then drawn inputs");
  const KindVariable kinds = add_kinds(file, row, system.measures.size());
  const SweepAxes sweeps = add_sweeps(file, study);
  const GivenAxis givens = add_given_axis(file, study);
  const Dimension given = givens.dimension;
  std::vector<UnitLabels> units;
  add_units(file, study, "observable", observable, observable_names(system), units);
  add_units(file, study, "measure", measure, measure_names(system), units);
  add_units(file, study, "input", input, result.inputs, units);

  // Variables, with one leading dimension for each sweep.
  file.lead_with(sweeps.dimensions);
  const Group observables{"",
                          " of an observable at an output time",
                          {observable, time.dimension},
                          [count = system.observables.size()](const StatisticsResult& of) {
                            return by_observable(of.observables, count);
                          },
                          common_unit(study, observable_names(system))};
  const Group measures{"measure_",
                       " of a measure",
                       {measure},
                       [](const StatisticsResult& of) { return pointers(of.measures); },
                       common_unit(study, measure_names(system))};
  const Group inputs{"input_",
                     " of a drawn input",
                     {input},
                     [](const StatisticsResult& of) { return pointers(of.inputs); },
                     common_unit(study, result.inputs)};
  Numbers numbers;
  if (!study.sweeps.empty()) add_point_counts(file, numbers);
  add_moments(file, observables, numbers);
  add_quantiles(file, observables, quantile,
                basis_over_points(result, &StatisticsResult::observable_quantiles), numbers);
  add_moments(file, measures, numbers);
  add_quantiles(file, measures, quantile, basis_over_points(result, &StatisticsResult::measure_quantiles),
                numbers);
  add_moments(file, inputs, numbers);
  const HistogramVariables over_time = add_histograms(file, observables, bin, edge);
  const HistogramVariables of_measures = add_histograms(file, measures, bin, edge);
  add_relations(file, system, result, measure, row, numbers);
  const AnswerDimensions dimensions{measure, input};
  if (measure.size > 0) {
    add_probabilities(file, dimensions, numbers);
    add_exceedances(file, result, dimensions, numbers);
    add_first_order(file, result, dimensions, numbers);
    add_sobol_indices(file, study, result, dimensions, numbers);
  }
  std::vector<Group> given_groups;
  if (!study.givens.empty()) {
    given_groups = groups_of_givens(study, given, {observable, time.dimension}, measure, input);
    for (const Group& group : given_groups) {
      add_moments(file, group, numbers);
      if (group.prefix != "given_input_")
        add_quantiles(
            file, group, quantile,
            basis_over_points(result, group.prefix == "given_" ? &StatisticsResult::observable_quantiles
                                                               : &StatisticsResult::measure_quantiles),
            numbers);
    }
    add_givens(file, given, dimensions, numbers);
  }
  file.lead_with({});

  std::optional<RecordHistogramVariables> pooled;
  if (!result.record_histograms.empty()) pooled = add_record_histograms(file, result, sweeps.dimensions);

  // Numbers.
  file.put(time.variable, study.time.outputs);
  file.put(probability, study.statistics.quantiles);
  file.put(kinds.variable, kinds.kinds);
  put_units(file, units);
  if (!study.givens.empty()) file.put(givens.condition, givens.conditions);
  for (std::size_t i = 0; i < sweeps.variables.size(); ++i)
    file.put(sweeps.variables[i], study.sweeps[i].values);
  const std::span<const StatisticsResult> points =
      study.sweeps.empty() ? std::span(&result.statistics, 1) : std::span(result.points);
  numbers.emplace_back([&](NetcdfFile& into, const StatisticsResult& of) {
    for (const HistogramResult& histogram : of.histograms)
      put_histogram(into, histogram.of_measure ? of_measures : over_time, histogram);
  });
  for (const auto& put : numbers)
    for (std::size_t point = 0; point < points.size(); ++point) {
      file.at_combination(point);
      put(file, points[point]);
    }
  if (pooled) put_record_histograms(file, *pooled, result);
  file.close();
}

}  // namespace zwang
