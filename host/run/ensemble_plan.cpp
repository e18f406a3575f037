#include "host/run/ensemble_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/estimators/histogram.h"
#include "host/sample/sampler.h"
#include "host/statistics/plan.h"
#include "host/study/study.h"
#include "kernels/base/layout.h"
#include "src/base/error.h"
#include "src/expression/expression.h"
#include "src/system/system.h"

namespace zwang {

namespace {

template <class Named>
std::size_t index_of(const std::vector<Named>& list, const std::string& name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Named& entry) { return entry.name == name; });
  return static_cast<std::size_t>(found - list.begin());
}

// A name in both [observe] and [measure] means the observable.
HistogramPlan histogram_plan(const System& system, const std::string& name,
                             const HistogramSettings& settings) {
  HistogramPlan plan;
  plan.index = index_of(system.observables, name);
  plan.of_measure = plan.index == system.observables.size();
  if (plan.of_measure) plan.index = index_of(system.measures, name);
  plan.bins = static_cast<std::size_t>(settings.bins);
  if (settings.range) plan.range = Range{settings.range->first, settings.range->second};
  return plan;
}

// Reductions over events other than counts and totals are missing where no such event occurred.
bool can_be_missing(const System& system, const Measure& measure) {
  const std::vector<Symbol> symbols = system.pool->symbols({measure.value});
  return std::any_of(symbols.begin(), symbols.end(), [&](const Symbol& symbol) {
    if (symbol.kind != SymbolKind::reduction) return false;
    const ReductionFormula& formula = system.reductions[symbol.index];
    return formula.pattern != EventPattern::none && formula.reduction != Reduction::count &&
           formula.reduction != Reduction::total;
  });
}

bool takes_choices(const ParameterRule& rule) {
  return rule.distribution && rule.distribution->kind == Distribution::Kind::choice;
}

}  // namespace

EnsemblePlan ensemble_plan(const Study& study, const Sampler& sampler, std::size_t memory) {
  const System& system = *study.system;
  EnsemblePlan made;
  made.points = study.ensemble.points();
  StatisticsPlan& plan = made.point;
  plan.members = study.ensemble.per_point();
  plan.outputs = study.time.outputs.size();
  plan.observables = system.observables.size();
  plan.measures = system.measures.size();
  plan.inputs = sampler.drawn().size();
  plan.flags = system.flags.size();
  for (const Measure& measure : system.measures)
    plan.traits.push_back({measure.probability, measure.undecided, can_be_missing(system, measure)});
  for (const std::size_t parameter : sampler.drawn())
    plan.input_takes_choices.push_back(takes_choices(study.parameters[parameter]) ? 1 : 0);
  for (const auto& [name, settings] : study.statistics.exceedances)
    plan.exceedances.push_back(
        {index_of(system.measures, name), settings.at, static_cast<std::size_t>(settings.points)});
  for (const GivenSettings& given : study.givens) plan.givens.push_back({given.flag, given.observables});
  if (study.sensitivity) plan.pick_freeze = {study.sensitivity->of, study.sensitivity->inputs.size()};
  plan.quantiles = study.statistics.quantiles;
  for (const auto& [name, settings] : study.statistics.histograms)
    plan.histograms.push_back(histogram_plan(system, name, settings));
  plan.memory = memory;
  if (sampler.replicates() > 1) {
    plan.replicates = static_cast<int>(sampler.replicates());
    plan.replicate_of = [&sampler](long long member) {
      return static_cast<int>(sampler.replicate_of(static_cast<unsigned long long>(member)));
    };
  }
  return made;
}

std::optional<UntilRule> until_rule(const Study& study) {
  const std::optional<UntilSettings>& until = study.ensemble.until;
  if (!until) return {};
  UntilRule rule{index_of(study.system->measures, until->measure), until->error, until->limit};
  if (until->index.empty()) return rule;
  const SensitivitySettings& settings = *study.sensitivity;
  rule.index = {.total = until->index[0] == 'T', .input = index_of(settings.inputs, until->index.substr(2))};
  if (!until->measure.empty())
    rule.index->measure = static_cast<std::size_t>(
        std::find(settings.of.begin(), settings.of.end(), rule.measure) - settings.of.begin());
  return rule;
}

// Whether a member fulfils a condition is known at its end: its observables must be stored until then.
void refuse_unstored_given(const Study& study, const EnsembleStatistics& statistics, std::size_t memory) {
  const auto wanted = std::count_if(study.givens.begin(), study.givens.end(),
                                    [](const GivenSettings& given) { return given.observables; });
  if (wanted == 0 || statistics.storage().exact_observables) return;
  const double numbers = double(study.ensemble.per_point()) * double(study.system->observables.size()) *
                         double(study.time.outputs.size()) * double(1 + wanted);
  throw Error({.where = {study.path, 0, 0},
               .message = "[[given]] with observables = true needs the observables of all members in memory",
               .found = fmt::format("{:.3g} numbers, {:.3g} MiB; the statistics have {:.3g} MiB", numbers,
                                    numbers * 8 / (1 << 20), double(memory) / (1 << 20)),
               .expected = "fewer members, output times or observables, or more memory",
               .hint = "raise --statistics-memory, lower [time] samples, or leave observables out"});
}

}  // namespace zwang
