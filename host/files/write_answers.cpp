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

void add_shares(NetcdfFile& file, const std::string& prefix, const std::string& what,
                const std::vector<Dimension>& dimensions, Shares shares, NetcdfNumbers& numbers) {
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
  numbers.emplace_back([hits, of, low, high, shares = std::move(shares)](NetcdfFile& into) {
    std::vector<long long> k, n;
    std::vector<double> from, to;
    for (const std::optional<Proportion>& share : shares) {
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
               const std::string& words, std::vector<double> values, NetcdfNumbers& numbers) {
  const Variable variable = file.variable(name, Type::real, {.dimensions = dimensions}, words);
  numbers.emplace_back(
      [variable, values = std::move(values)](NetcdfFile& into) { into.put(variable, values); });
}

}  // namespace

void add_probabilities(NetcdfFile& file, const RunResult& result, const AnswerDimensions& dimensions,
                       NetcdfNumbers& numbers) {
  Shares probabilities, occurs;
  std::vector<long long> undecided;
  for (const SeriesStatistics& series : result.statistics.measures) {
    probabilities.push_back(series.probability);
    occurs.push_back(series.occurs);
    undecided.push_back(series.probability && series.by_form ? series.undecided : no_count);
  }
  add_shares(file, "measure_", "in which a measure that is 0 or 1 is 1", {dimensions.measure},
             std::move(probabilities), numbers);
  add_shares(file, "measure_occurs_", "in which a measure came about", {dimensions.measure},
             std::move(occurs), numbers);
  const Variable variable = file.variable(
      "measure_undecided", Type::integer, {.dimensions = {dimensions.measure}, .may_be_missing = true},
      "members in which a missing value decided a comparison of a probability");
  file.attribute(variable, "units", "1");
  numbers.emplace_back([variable, undecided](NetcdfFile& into) { into.put(variable, undecided); });
}

void add_exceedances(NetcdfFile& file, const RunResult& result, const AnswerDimensions& dimensions,
                     NetcdfNumbers& numbers) {
  const std::vector<ExceedanceResult>& curves = result.statistics.exceedances;
  std::size_t points = 0;
  for (const ExceedanceResult& curve : curves) points = std::max(points, curve.at.size());
  if (points == 0) return;
  const std::vector<Dimension> shape = {dimensions.measure, file.dimension("exceedance_point", points)};
  std::vector<double> at(dimensions.measure.size * points, none);
  Shares shares(at.size());
  for (const ExceedanceResult& curve : curves)
    for (std::size_t k = 0; k < curve.at.size(); ++k) {
      at[curve.measure * points + k] = curve.at[k];
      shares[curve.measure * points + k] = curve.above[k];
    }
  const Variable x = file.variable("measure_exceedance_at", Type::real, {.dimensions = shape},
                                   "values x of a measure; missing beyond the points of its curve");
  double error = 0;
  for (const ExceedanceResult& curve : curves) error = std::max(error, curve.relative_error);
  file.attribute(x, "relative_error", error);
  file.attribute(x, "comment", "members without a value exceed nothing; intervals are pointwise");
  numbers.emplace_back([x, at](NetcdfFile& into) { into.put(x, at); });
  add_shares(file, "measure_exceedance_", "in which a measure is above x", shape, std::move(shares), numbers);
}

void add_first_order(NetcdfFile& file, const RunResult& result, const AnswerDimensions& dimensions,
                     NetcdfNumbers& numbers) {
  if (result.statistics.first_order.empty()) return;
  const std::vector<Dimension> shape = {dimensions.measure, dimensions.input};
  std::vector<double> index, null95;
  std::vector<long long> bins;
  for (const FirstOrderIndex& one : result.statistics.first_order) {
    index.push_back(one.index);
    null95.push_back(one.null95);
    bins.push_back(one.bins > 0 ? one.bins : no_count);
  }
  add_reals(file, "first_order", shape,
            "first-order index by bins of the input: share of the measure's variance, at least",
            std::move(index), numbers);
  add_reals(file, "first_order_null95", shape, "what an input without influence exceeds in 5 % of the runs",
            std::move(null95), numbers);
  const Variable variable = file.variable("first_order_bins", Type::integer,
                                          {.dimensions = shape, .may_be_missing = true}, "bins of the input");
  file.attribute(variable, "units", "1");
  numbers.emplace_back([variable, bins](NetcdfFile& into) { into.put(variable, bins); });
}

void add_givens(NetcdfFile& file, const Study& study, const RunResult& result, Dimension given,
                const AnswerDimensions& dimensions, NetcdfNumbers& numbers) {
  Shares shares;
  std::vector<double> shift, error;
  std::vector<std::string> conditions;
  for (std::size_t g = 0; g < study.givens.size(); ++g) {
    const GivenResult& one = result.statistics.givens[g];
    shares.emplace_back(one.share);
    shift.insert(shift.end(), one.shift.begin(), one.shift.end());
    error.insert(error.end(), one.shift_error.begin(), one.shift_error.end());
    conditions.push_back(study.givens[g].condition);
  }
  add_shares(file, "given_", "that fulfil the condition", {given}, std::move(shares), numbers);
  const Variable condition =
      file.variable("given_condition", Type::text, {.dimensions = {given}}, "the condition");
  numbers.emplace_back([condition, conditions](NetcdfFile& into) { into.put(condition, conditions); });
  if (dimensions.input.size == 0) return;
  add_reals(file, "given_input_shift", {given, dimensions.input},
            "(mean given - mean) / std of a drawn input", std::move(shift), numbers);
  add_reals(file, "given_input_shift_stderr", {given, dimensions.input}, "standard error of the shift",
            std::move(error), numbers);
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
    std::vector<double> values(dimensions.measure.size * names.size(), none);
    for (std::size_t m = 0; m < study.sensitivity->of.size(); ++m)
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const auto place =
            static_cast<std::size_t>(std::find(names.begin(), names.end(), inputs[i].name) - names.begin());
        values[study.sensitivity->of[m] * names.size() + place] =
            result.statistics.pick_freeze[m].inputs[i].*number;
      }
    add_reals(file, name, {dimensions.measure, over}, words, std::move(values), numbers);
  };
  add("sobol_first", "first-order Sobol' index (Saltelli 2010)", &SobolIndex::first);
  add("sobol_first_stderr", "its standard error", &SobolIndex::first_stderr);
  add("sobol_total", "total Sobol' index (Jansen 1999)", &SobolIndex::total);
  add("sobol_total_stderr", "its standard error", &SobolIndex::total_stderr);
}

}  // namespace zwang
