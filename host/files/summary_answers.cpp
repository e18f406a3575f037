#include "host/files/summary_answers.h"

#include "host/estimators/first_order.h"
#include "host/statistics/pick_freeze.h"
#include "host/statistics/statistics_result.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// Wilson's interval assumes independent members; evenly spread points have as a rule a smaller error.
const char* interval_word(const Study& study) {
  return study.ensemble.sampler == SamplerKind::random ? "Wilson" : "Wilson, conservative";
}

SummaryJson exceedance_json(const ExceedanceResult& curve) {
  SummaryJson hits = SummaryJson::array(), of = hits, low = hits, high = hits;
  for (const Proportion& share : curve.above) {
    hits.push_back(share.hits);
    of.push_back(share.of);
    low.push_back(share.low);
    high.push_back(share.high);
  }
  return {{"at", curve.at},
          {"hits", hits},
          {"of", of},
          {"low", low},
          {"high", high},
          {"interval", "pointwise"},
          {"relative_error", curve.relative_error}};
}

}  // namespace

SummaryJson proportion_json(const Proportion& share) {
  return {{"hits", share.hits},
          {"of", share.of},
          {"probability", share.share()},
          {"low", share.low},
          {"high", share.high}};
}

void add_answers_json(const Study& study, const StatisticsResult& statistics, std::size_t measure,
                      SummaryJson& json) {
  const SeriesStatistics& series = statistics.measures[measure];
  json["kind"] = series.probability ? "probability" : "number";
  if (series.probability) {
    json["recognised"] = series.by_form ? "form" : "values";
    json.update(proportion_json(*series.probability));
    json["interval"] = interval_word(study);
    if (series.by_form) json["undecided"] = series.undecided;
  }
  if (series.occurs) json["occurs"] = proportion_json(*series.occurs);
  for (const ExceedanceResult& curve : statistics.exceedances)
    if (curve.measure == measure) json["exceedance"] = exceedance_json(curve);
}

SummaryJson first_order_json(const Study& study, const RunResult& result,
                             const StatisticsResult& statistics) {
  const std::size_t inputs = result.inputs.size();
  if (statistics.first_order.empty()) return nullptr;
  SummaryJson json = SummaryJson::object();
  for (std::size_t m = 0; m < study.system->measures.size(); ++m) {
    SummaryJson row = SummaryJson::object();
    for (std::size_t i = 0; i < inputs; ++i) {
      const FirstOrderIndex& one = statistics.first_order[m * inputs + i];
      SummaryJson& entry = row[result.inputs[i]];
      entry = {{"index", one.index}, {"null95", one.null95}, {"bins", one.bins}};
      if (!one.reason.empty()) entry["reason"] = one.reason;
    }
    json[study.system->measures[m].name] = std::move(row);
  }
  return json;
}

SummaryJson sensitivity_json(const Study& study, const StatisticsResult& statistics) {
  if (!study.sensitivity) return nullptr;
  SummaryJson json = SummaryJson::object();
  for (std::size_t m = 0; m < study.sensitivity->of.size(); ++m) {
    const PickFreezeResult& of = statistics.pick_freeze[m];
    SummaryJson row = SummaryJson::object();
    for (std::size_t i = 0; i < of.inputs.size(); ++i) {
      const SobolIndex& one = of.inputs[i];
      const SensitivitySettings::Input& input = study.sensitivity->inputs[i];
      SummaryJson& entry = row[input.name];
      entry = {{"first", one.first},
               {"first_stderr", one.first_stderr},
               {"total", one.total},
               {"total_stderr", one.total_stderr}};
      if (!input.note.empty()) entry["note"] = input.note;
    }
    row["interaction"] = of.interaction;
    row["interaction_stderr"] = of.interaction_stderr;
    row["variance"] = of.variance;
    row["rows"] = of.rows;
    row["rows_left_out"] = {{"failed", of.failed}, {"missing", of.missing}};
    if (of.rows > 1 && !(of.variance > 0)) row["reason"] = "the measure is constant";
    json[study.system->measures[study.sensitivity->of[m]].name] = std::move(row);
  }
  return json;
}

}  // namespace zwang
