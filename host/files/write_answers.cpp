#include "host/files/write_answers.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "host/estimators/first_order.h"
#include "host/estimators/proportion.h"
#include "host/statistics/pick_freeze.h"
#include "host/statistics/statistics_result.h"

namespace zwang {

namespace {

using Type = NetcdfFile::Type;
using Dimension = NetcdfFile::Dimension;
using Variable = NetcdfFile::Variable;

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr long long no_count = -1;

// Proportions as four variables PREFIX_hits, _of, _low, _high; missing where there is none.
using Shares = std::vector<std::optional<Proportion>>;
using SharesOf = std::function<Shares(const StatisticsResult&)>;
using RealsOf = std::function<std::vector<double>(const StatisticsResult&)>;
using CountsOf = std::function<std::vector<long long>(const StatisticsResult&)>;

void add_shares(NetcdfFile& file, const std::string& prefix, const std::string& what,
                const std::vector<Dimension>& dimensions, const SharesOf& shares, NetcdfNumbers& numbers) {
  const auto counts = [&](const char* name, const std::string& words) {
    const Variable variable = file.variable(prefix + name, Type::integer,
                                            {.dimensions = dimensions, .may_be_missing = true}, words);
    file.attribute(variable, "units", "1");
    return variable;
  };
  const auto bound = [&](const char* name, const std::string& words) {
    return file.variable(prefix + name, Type::real, {.dimensions = dimensions}, words);
  };
  const Variable hits = counts("hits", "members " + what), of = counts("of", "members counted, " + what);
  const Variable low = bound("low", "lower end of Wilson's 95 % interval of the share of members " + what);
  const Variable high = bound("high", "upper end of Wilson's 95 % interval of the share of members " + what);
  numbers.emplace_back([hits, of, low, high, shares](NetcdfFile& into, const StatisticsResult& statistics) {
    std::vector<long long> k, n;
    std::vector<double> from, to;
    for (const std::optional<Proportion>& share : shares(statistics)) {
      k.push_back(share ? share->hits : no_count);
      n.push_back(share ? share->of : no_count);
      from.push_back(share ? share->low : none);
      to.push_back(share ? share->high : none);
    }
    into.put(hits, k);
    into.put(of, n);
    into.put(low, from);
    into.put(high, to);
  });
}

void add_reals(NetcdfFile& file, const std::string& name, const std::vector<Dimension>& dimensions,
               const std::string& words, const RealsOf& values, NetcdfNumbers& numbers) {
  const Variable variable = file.variable(name, Type::real, {.dimensions = dimensions}, words);
  numbers.emplace_back(
      [variable, values](NetcdfFile& into, const StatisticsResult& of) { into.put(variable, values(of)); });
}

void add_counts(NetcdfFile& file, const std::string& name, const std::vector<Dimension>& dimensions,
                const std::string& words, const CountsOf& values, NetcdfNumbers& numbers) {
  const Variable variable =
      file.variable(name, Type::integer, {.dimensions = dimensions, .may_be_missing = true}, words);
  file.attribute(variable, "units", "1");
  numbers.emplace_back(
      [variable, values](NetcdfFile& into, const StatisticsResult& of) { into.put(variable, values(of)); });
}

// The points of the longest curve, and the largest error of its x, over all points of the sweeps.
struct ExceedanceSize {
  std::size_t points = 0;
  double relative_error = 0;
  void take(const StatisticsResult& of) {
    for (const ExceedanceResult& curve : of.exceedances) {
      points = std::max(points, curve.at.size());
      relative_error = std::max(relative_error, curve.relative_error);
    }
  }
};

}  // namespace

void add_probabilities(NetcdfFile& file, const AnswerDimensions& dimensions, NetcdfNumbers& numbers) {
  const auto shares = [](std::optional<Proportion> SeriesStatistics::*which) {
    return [which](const StatisticsResult& of) {
      Shares made;
      for (const SeriesStatistics& series : of.measures) made.push_back(series.*which);
      return made;
    };
  };
  add_shares(file, "measure_", "in which a measure that is 0 or 1 is 1", {dimensions.measure},
             shares(&SeriesStatistics::probability), numbers);
  add_shares(file, "measure_occurs_", "in which a measure came about", {dimensions.measure},
             shares(&SeriesStatistics::occurs), numbers);
  add_counts(
      file, "measure_undecided", {dimensions.measure},
      "members in which a missing value decided a comparison of a probability",
      [](const StatisticsResult& of) {
        std::vector<long long> made;
        for (const SeriesStatistics& series : of.measures)
          made.push_back(series.probability && series.by_form ? series.undecided : no_count);
        return made;
      },
      numbers);
}

void add_exceedances(NetcdfFile& file, const RunResult& result, const AnswerDimensions& dimensions,
                     NetcdfNumbers& numbers) {
  ExceedanceSize size;
  size.take(result.statistics);
  for (const StatisticsResult& point : result.points) size.take(point);
  if (size.points == 0) return;
  const std::vector<Dimension> shape = {dimensions.measure, file.dimension("exceedance_point", size.points)};
  const std::size_t all = dimensions.measure.size * size.points;
  const auto place = [points = size.points](const ExceedanceResult& curve, std::size_t k) {
    return curve.measure * points + k;
  };
  const Variable x = file.variable("measure_exceedance_at", Type::real, {.dimensions = shape},
                                   "values x of a measure; missing beyond the points of its curve");
  file.attribute(x, "relative_error", size.relative_error);
  file.attribute(x, "comment", "members without a value exceed nothing; intervals are pointwise");
  numbers.emplace_back([x, all, place](NetcdfFile& into, const StatisticsResult& of) {
    std::vector<double> at(all, none);
    for (const ExceedanceResult& curve : of.exceedances)
      for (std::size_t k = 0; k < curve.at.size(); ++k) at[place(curve, k)] = curve.at[k];
    into.put(x, at);
  });
  add_shares(
      file, "measure_exceedance_", "in which a measure is above x", shape,
      [all, place](const StatisticsResult& of) {
        Shares made(all);
        for (const ExceedanceResult& curve : of.exceedances)
          for (std::size_t k = 0; k < curve.at.size(); ++k) made[place(curve, k)] = curve.above[k];
        return made;
      },
      numbers);
}

void add_first_order(NetcdfFile& file, const RunResult& result, const AnswerDimensions& dimensions,
                     NetcdfNumbers& numbers) {
  const StatisticsResult& any = result.points.empty() ? result.statistics : result.points.front();
  if (any.first_order.empty()) return;
  const std::vector<Dimension> shape = {dimensions.measure, dimensions.input};
  const auto reals = [](double FirstOrderIndex::*which) {
    return [which](const StatisticsResult& of) {
      std::vector<double> made;
      for (const FirstOrderIndex& one : of.first_order) made.push_back(one.*which);
      return made;
    };
  };
  add_reals(file, "first_order", shape,
            "first-order index by bins of the input: share of the measure's variance, at least",
            reals(&FirstOrderIndex::index), numbers);
  add_reals(file, "first_order_null95", shape, "what an input without influence exceeds in 5 % of the runs",
            reals(&FirstOrderIndex::null95), numbers);
  add_counts(
      file, "first_order_bins", shape, "bins of the input",
      [](const StatisticsResult& of) {
        std::vector<long long> made;
        for (const FirstOrderIndex& one : of.first_order) made.push_back(one.bins > 0 ? one.bins : no_count);
        return made;
      },
      numbers);
}

void add_givens(NetcdfFile& file, Dimension given, const AnswerDimensions& dimensions,
                NetcdfNumbers& numbers) {
  add_shares(
      file, "given_", "that fulfil the condition", {given},
      [](const StatisticsResult& of) {
        Shares made;
        for (const GivenResult& one : of.givens) made.emplace_back(one.share);
        return made;
      },
      numbers);
  if (dimensions.input.size == 0) return;
  const auto reals = [](std::vector<double> GivenResult::*which) {
    return [which](const StatisticsResult& of) {
      std::vector<double> made;
      for (const GivenResult& one : of.givens)
        made.insert(made.end(), (one.*which).begin(), (one.*which).end());
      return made;
    };
  };
  add_reals(file, "given_input_shift", {given, dimensions.input},
            "(mean given - mean) / std of a drawn input", reals(&GivenResult::shift), numbers);
  add_reals(file, "given_input_shift_stderr", {given, dimensions.input}, "standard error of the shift",
            reals(&GivenResult::shift_error), numbers);
}

// Inputs that are single draws have their place among the drawn inputs; groups have a dimension of their own.
void add_sobol_indices(NetcdfFile& file, const Study& study, const RunResult& result,
                       const AnswerDimensions& dimensions, NetcdfNumbers& numbers) {
  if (!study.sensitivity) return;
  const std::vector<SensitivitySettings::Input>& inputs = study.sensitivity->inputs;
  const bool groups = std::any_of(inputs.begin(), inputs.end(),
                                  [](const auto& input) { return input.parameters.size() > 1; });
  std::vector<std::string> names = result.inputs;
  if (groups) {
    names.clear();
    for (const SensitivitySettings::Input& input : inputs) names.push_back(input.name);
  }
  const Dimension over =
      groups ? file.names("sobol_input", names, "input, or inputs varied together") : dimensions.input;
  const auto add = [&](const char* name, const char* words, double SobolIndex::*number) {
    const auto values = [&study, names, number,
                         all = dimensions.measure.size * names.size()](const StatisticsResult& of) {
      std::vector<double> made(all, none);
      const SensitivitySettings& settings = *study.sensitivity;
      for (std::size_t m = 0; m < of.pick_freeze.size(); ++m)
        for (std::size_t i = 0; i < settings.inputs.size(); ++i) {
          const auto place = static_cast<std::size_t>(
              std::find(names.begin(), names.end(), settings.inputs[i].name) - names.begin());
          made[settings.of[m] * names.size() + place] = of.pick_freeze[m].inputs[i].*number;
        }
      return made;
    };
    add_reals(file, name, {dimensions.measure, over}, words, values, numbers);
  };
  add("sobol_first", "first-order Sobol' index (Saltelli 2010)", &SobolIndex::first);
  add("sobol_first_stderr", "its standard error", &SobolIndex::first_stderr);
  add("sobol_total", "total Sobol' index (Jansen 1999)", &SobolIndex::total);
  add("sobol_total_stderr", "its standard error", &SobolIndex::total_stderr);
}

}  // namespace zwang
