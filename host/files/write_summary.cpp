// The JSON objects of summary.json.
#include "host/files/write_summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "host/estimators/correlation.h"
#include "host/estimators/proportion.h"
#include "host/estimators/quantiles.h"
#include "host/files/summary_answers.h"
#include "host/files/summary_sweeps.h"
#include "host/files/write_origin.h"
#include "host/platform/parallel.h"
#include "host/platform/schema_version.h"
#include "host/statistics/run_tally.h"
#include "host/statistics/statistics_result.h"
#include "host/study/study.h"
#include "host/toml/document.h"
#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/base/error.h"
#include "src/reference/trajectory.h"

namespace zwang {

namespace {

// Keys keep their order. NaN and infinity become null.
using Json = SummaryJson;

double ratio(double a, double b) { return b > 0 ? a / b : std::numeric_limits<double>::quiet_NaN(); }

Json backend_json(const RunResult& result) {
  return {{"name", result.backend}, {"device", result.device}, {"precision", result.precision}};
}

// Members that begin with a shock, of those looked at.
Json start_shocks_json(const Study& study, const StartShocks& shocks) {
  Json constraints = Json::object();
  for (const StartShocks::OfConstraint& one : shocks.by_constraint)
    constraints[study.system->constraints[one.constraint].name] = one.members;
  return {{"checked", shocks.checked}, {"members", shocks.members}, {"constraints", constraints}};
}

// Projections and redraws that made starts consistent.
Json start_json(const Study& study, const RunResult& result) {
  const RunTally& tally = result.tally;
  const auto moved = static_cast<double>(tally.moved);
  constexpr std::array<const char*, 3> rules = {"project", "reject", "error"};
  return {
      {"consistency", rules[static_cast<std::size_t>(study.ensemble.consistency)]},
      {"moved", tally.moved},
      {"mean_position_move", ratio(tally.total_position_move.value(), moved)},
      {"max_position_move", tally.largest_position_move},
      {"mean_velocity_move", ratio(tally.total_velocity_move.value(), moved)},
      {"max_velocity_move", tally.largest_velocity_move},
      {"drawn_values_changed", tally.drawn_changed},  // members with one changed by more than 1 %
      {"largest_drawn_change", tally.largest_drawn_change},
      {"largest_drawn_change_of", tally.largest_drawn_change_of < 0
                                      ? Json(nullptr)
                                      : Json(start_name(*study.system, tally.largest_drawn_change_of))},
      {"redrawn", tally.redrawn},
      {"rejected_draws", tally.refused_draws},
      {"rejection_rate", ratio(static_cast<double>(tally.refused_draws), static_cast<double>(tally.draws))},
      {"shocks", start_shocks_json(study, result.start_shocks)}};
}

// The formulas of [observe] or [measure] as the study writes them, by name.
Json formulas_json(const Study& study, const char* table) {
  Json json = Json::object();
  if (const Entry* found = study.document->find(table))
    for (const Entry& entry : found->value.entries)
      json[entry.key] = entry.value.kind == Value::Kind::string ? entry.value.text : shown(entry.value);
  return json;
}

Json until_json(const Study& study, const RunResult& result) {
  if (!study.ensemble.until) return nullptr;
  const UntilSettings& until = *study.ensemble.until;
  Json json;
  if (!until.measure.empty()) json["measure"] = until.measure;
  if (!until.index.empty()) json["index"] = until.index;
  json[until_error_name(until.error)] = until.limit;
  json["met_early"] = result.sure_early;
  return json;
}

Json members_json(const Study& study, const RunResult& result) {
  const RunTally& tally = result.tally;
  Json json;
  json["requested"] = result.requested;
  json["entered"] = tally.entered;
  json["failed"] = tally.failed;
  Json status = Json::object(), examples = Json::object();
  const std::vector<std::string> words = status_words();
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (tally.status[i] > 0 || i == 0) status[words[i]] = tally.status[i];
    if (!tally.examples[i].empty()) examples[words[i]] = tally.examples[i];
  }
  json["status"] = status;
  json["examples"] = examples;
  json["integrated"] = tally.members;
  json["nominal"] = study.ensemble.include_nominal ? Json(0) : Json(nullptr);  // member number
  json["until"] = until_json(study, result);
  json["redundant"] = tally.redundant;
  json["start"] = start_json(study, result);
  return json;
}

Json events_json(const RunTally& tally) {
  Json json;
  const std::vector<std::string> words = event_words();
  for (std::size_t i = 0; i < words.size(); ++i) json[words[i]] = tally.events[i];
  return json;
}

// The largest share of the bound of the audit, and the member that has it; null if no member reached its end.
Json shares_json(const RunTally& tally) {
  constexpr std::array<const char*, audit_shares> laws = {"energy", "constraints", "shocks"};
  const auto inaccurate = tally.status[static_cast<std::size_t>(Status::inaccurate)];
  if (tally.failed - inaccurate == tally.members) return nullptr;
  Json json;
  for (std::size_t k = 0; k < laws.size(); ++k) {
    const WorstShare& worst = tally.shares[k];
    json[laws[k]] = {{"share", worst.share},
                     {"member", worst.member < 0 ? Json(nullptr) : Json(worst.member)}};
  }
  return json;
}

Json audit_json(const RunTally& tally) {
  // Over members that did not fail; null if all failed.
  Audit audit = tally.worst;
  if (tally.failed == tally.members) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    for (double* value : {&audit.position_violation, &audit.velocity_violation, &audit.energy_drift,
                          &audit.energy_size, &audit.kkt, &audit.carnot, &audit.energy_created})
      *value = none;
  }
  return {{"max_position_violation", audit.position_violation},
          {"max_velocity_violation", audit.velocity_violation},
          {"max_energy_drift", audit.energy_drift},
          {"max_kkt_residual", audit.kkt},
          {"energy_size", audit.energy_size},
          {"max_carnot_residual", audit.carnot},
          {"max_energy_created", audit.energy_created},
          {"worst_share", shares_json(tally)}};
}

// --- Series ------------------------------------------------------------------------------------------------

// A single series gives numbers, several series (an observable at its times) give arrays.
using SeriesList = std::vector<const SeriesStatistics*>;

template <class Value>
Json over(const SeriesList& list, bool array, const Value& value) {
  if (!array) return Json(value(*list.front()));
  Json made = Json::array();
  for (const SeriesStatistics* series : list) made.push_back(value(*series));
  return made;
}

// quantiles: their probabilities, or null if the series has none.
Json series_json(const SeriesList& list, bool array, const std::vector<double>* quantiles) {
  using S = const SeriesStatistics&;
  const auto all = [&](const auto& value) { return over(list, array, value); };
  Json json;
  json["count"] = all([](S s) { return s.moments.count; });
  json["missing"] = all([](S s) { return s.missing; });
  json["mean"] = all([](S s) { return s.moments.mean; });
  json["std"] = all([](S s) { return s.moments.std; });
  json["stderr"] = all([](S s) { return s.standard_error; });
  json["minimum"] = all([](S s) { return s.moments.minimum; });
  json["maximum"] = all([](S s) { return s.moments.maximum; });
  const auto by_probability = [&](const auto& value) {
    Json made = Json::object();
    for (std::size_t k = 0; k < quantiles->size(); ++k)
      made[number_text((*quantiles)[k])] = all([&](S s) { return value(s.quantiles[k]); });
    return made;
  };
  if (quantiles) json["quantiles"] = by_probability([](const Quantile& q) { return q.value; });
  json["skewness"] = all([](S s) { return s.moments.skewness; });
  json["kurtosis"] = all([](S s) { return s.moments.kurtosis; });
  json["mean_low"] = all([](S s) { return s.mean_low; });
  json["mean_high"] = all([](S s) { return s.mean_high; });
  if (quantiles) {
    json["quantiles_low"] = by_probability([](const Quantile& q) { return q.low; });
    json["quantiles_high"] = by_probability([](const Quantile& q) { return q.high; });
  }
  return json;
}

Json observables_json(const Study& study, const std::vector<SeriesStatistics>& series) {
  Json json = Json::object();
  const std::vector<std::string> names = observable_names(*study.system);
  for (std::size_t i = 0; i < names.size(); ++i) {
    SeriesList list;
    for (std::size_t t = 0; t < study.time.outputs.size(); ++t) list.push_back(&series[t * names.size() + i]);
    json[names[i]] = series_json(list, true, &study.statistics.quantiles);
  }
  return json;
}

Json columns_json(const std::vector<std::string>& names, const std::vector<SeriesStatistics>& series,
                  const std::vector<double>* quantiles) {
  Json json = Json::object();
  for (std::size_t i = 0; i < names.size(); ++i) json[names[i]] = series_json({&series[i]}, false, quantiles);
  return json;
}

// Statistics over the members of each [[given]]; null if there is none.
Json givens_json(const Study& study, const RunResult& result, const StatisticsResult& statistics) {
  if (study.givens.empty()) return nullptr;
  const std::vector<std::string> measures = measure_names(*study.system);
  Json json = Json::object();
  for (std::size_t g = 0; g < study.givens.size(); ++g) {
    const GivenResult& one = statistics.givens[g];
    Json& given = json[study.givens[g].name];
    given["condition"] = study.givens[g].condition;
    given.update(proportion_json(one.share));
    given["measures"] = columns_json(measures, one.measures, &study.statistics.quantiles);
    for (std::size_t i = 0; i < measures.size(); ++i)
      if (one.measures[i].probability)
        given["measures"][measures[i]].update(proportion_json(*one.measures[i].probability));
    given["inputs"] = columns_json(result.inputs, one.inputs, nullptr);
    for (std::size_t i = 0; i < result.inputs.size(); ++i) {
      given["inputs"][result.inputs[i]]["shift"] = one.shift[i];
      given["inputs"][result.inputs[i]]["shift_stderr"] = one.shift_error[i];
    }
    if (!one.observables.empty()) given["observables"] = observables_json(study, one.observables);
  }
  return json;
}

// --- Relations ---------------------------------------------------------------------------------------------

Json matrix_json(const std::vector<std::string>& names, std::size_t measures, const Matrix& matrix) {
  Json rows = Json::array(), kinds = Json::array();
  for (std::size_t i = 0; i < names.size(); ++i) {
    Json row = Json::array();
    for (std::size_t j = 0; j < names.size(); ++j) row.push_back(matrix[i * names.size() + j]);
    rows.push_back(std::move(row));
    kinds.push_back(i < measures ? "measure" : "input");
  }
  return {{"names", names}, {"kinds", kinds}, {"matrix", rows}};
}

Json basis_json(const QuantileBasis& basis) {
  return {{"method", basis.exact ? "exact" : "sketch"},
          {"relative_error", basis.exact ? 0.0 : basis.relative_error}};
}

Json performance_json(const RunResult& result) {
  const RunPerformance& times = result.performance;
  return {{"wall_s", times.wall_s},
          {"compile_s", times.compile_s},
          {"sample_s", times.sample_s},
          {"integrate_s", times.integrate_s},
          {"statistics_s", times.statistics_s},
          {"write_s", times.write_s},
          {"trajectories_s", times.trajectories_s},
          {"threads", times.threads},
          {"steps", result.tally.steps},
          {"rejected_steps", result.tally.rejected},
          {"steps_per_s", ratio(static_cast<double>(result.tally.steps), times.integrate_s)},
          {"members_per_s", ratio(static_cast<double>(result.tally.members), times.integrate_s)}};
}

// The statistics of the ensemble, or of one point of its sweeps.
Json statistics_json(const Study& study, const RunResult& result, const StatisticsResult& statistics) {
  std::vector<std::string> related = measure_names(*study.system);
  const std::size_t measures = related.size();
  const std::vector<std::string> measured = related;
  related.insert(related.end(), result.inputs.begin(), result.inputs.end());
  Json json;
  json["observables"] = observables_json(study, statistics.observables);
  json["measures"] = columns_json(measured, statistics.measures, &study.statistics.quantiles);
  for (std::size_t i = 0; i < measured.size(); ++i)
    add_answers_json(study, statistics, i, json["measures"][measured[i]]);
  json["inputs"] = columns_json(result.inputs, statistics.inputs, nullptr);
  json["quantile_method"] = {{"observables", basis_json(statistics.observable_quantiles)},
                             {"measures", basis_json(statistics.measure_quantiles)}};
  json["covariance"] = matrix_json(related, measures, statistics.covariance);
  json["rank_correlation"] = matrix_json(related, measures, statistics.rank_correlation);
  json["rank_correlation"]["member_stride"] = statistics.rank_stride;
  json["first_order"] = first_order_json(study, result, statistics);
  json["sensitivity"] = sensitivity_json(study, statistics);
  json["given"] = givens_json(study, result, statistics);
  return json;
}

Json statistics_by_point(const Study& study, const RunResult& result) {
  std::vector<Json> points(result.points.size());
  std::vector<Json*> pointers;
  in_parallel(points.size(), thread_count(0),
              [&](std::size_t k) { points[k] = statistics_json(study, result, result.points[k]); });
  for (Json& point : points) pointers.push_back(&point);
  return json_by_point(pointers);
}

// Shares of the labels that occur, over all members with a label.
Json labels_json(const RunResult& result) {
  Json json = Json::object();
  for (const LabelCounts& counts : result.labels) {
    Json list = Json::array();
    for (std::size_t label = 0; label < counts.members.size(); ++label) {
      const long long hits = counts.members[label];
      if (hits == 0) continue;
      Json share = proportion_json(proportion(hits, counts.of));
      share["label"] = label;
      list.push_back(std::move(share));
    }
    json[counts.measure] = list;
  }
  return json;
}

}  // namespace

std::string summary_json(const Study& study, const RunResult& result) {
  Json json = Json::object();
  json.get_ref<Json::object_t&>().reserve(64);  // a list of keys that grows copies its values
  json["schema_version"] = schema_version;
  json["study"] = study.name;
  json["title"] = study.title;
  json["version"] = ZWANG_VERSION;
  json["seed"] = study.ensemble.seed;
  json["backend"] = backend_json(result);
  json["members"] = members_json(study, result);
  json["events"] = events_json(result.tally);
  json["audit"] = audit_json(result.tally);
  json["time"] = study.time.outputs;
  if (!study.sweeps.empty()) {
    json["sweep"] = sweep_json(study);
    json["members"]["by_point"] = members_by_point(study, result);
  }
  Json statistics = study.sweeps.empty() ? statistics_json(study, result, result.statistics)
                                         : statistics_by_point(study, result);
  for (auto& [key, value] : statistics.items()) json[key] = std::move(value);
  if (!result.labels.empty()) json["labels"] = labels_json(result);
  json["formulas"] = {{"observables", formulas_json(study, "observe")},
                      {"measures", formulas_json(study, "measure")}};
  json["units"] = study.units.empty() ? Json::object() : Json(study.units);
  json["performance"] = performance_json(result);
  // A study's file name need not be UTF-8; everything else is.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace zwang
