#include "host/files/statistics_variables.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string_view>

#include "host/estimators/moments.h"
#include "host/estimators/quantiles.h"

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

void put_unit(NetcdfFile& file, const Variable& variable, const SeriesGroup& group) {
  if (!group.unit.empty()) file.attribute(variable, "units", group.unit);
}

}  // namespace

void add_moments(NetcdfFile& file, const SeriesGroup& group, NetcdfNumbers& numbers) {
  for (const RealField& field : real_fields) {
    const Variable variable = file.variable(group.prefix + field.name, Type::real,
                                            {.dimensions = group.dimensions}, field.long_name + group.of);
    // Skewness and kurtosis are pure numbers.
    if (field.name != std::string_view("skewness") && field.name != std::string_view("kurtosis"))
      put_unit(file, variable, group);
    if (*field.cell_method != '\0')
      file.attribute(variable, "cell_methods", std::string("realization: ") + field.cell_method);
    numbers.emplace_back([&group, &field, variable](NetcdfFile& into, const StatisticsResult& of) {
      std::vector<double> values;
      for (const Series* series : group.series(of)) values.push_back(field.value(*series));
      into.put(variable, values);
    });
  }
  for (const CountField& field : count_fields) {
    const Variable variable = file.variable(group.prefix + field.name, Type::integer,
                                            {.dimensions = group.dimensions}, field.long_name + group.of);
    file.attribute(variable, "units", "1");
    numbers.emplace_back([&group, &field, variable](NetcdfFile& into, const StatisticsResult& of) {
      std::vector<long long> values;
      for (const Series* series : group.series(of)) values.push_back(field.value(*series));
      into.put(variable, values);
    });
  }
}

void add_quantiles(NetcdfFile& file, const SeriesGroup& group, Dimension quantile, const QuantileBasis& basis,
                   NetcdfNumbers& numbers) {
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
    numbers.emplace_back([&group, &field, variable, quantile](NetcdfFile& into, const StatisticsResult& of) {
      std::vector<double> values;
      for (const Series* series : group.series(of)) {
        for (const Quantile& q : series->quantiles) values.push_back(field.value(q));
        // Observables of a condition that did not ask for them.
        if (series->quantiles.empty())
          values.insert(values.end(), quantile.size, std::numeric_limits<double>::quiet_NaN());
      }
      into.put(variable, values);
    });
  }
}

HistogramVariables add_histograms(NetcdfFile& file, const SeriesGroup& group, Dimension bin, Dimension edge) {
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

}  // namespace zwang
