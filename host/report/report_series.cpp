// Part of a report: observables over time, measures, correlations.
#include <algorithm>
#include <cmath>

#include "host/estimators/histogram.h"
#include "host/netcdf/netcdf_source.h"
#include "host/report/report_data.h"
#include "host/study/study.h"
#include "host/toml/document.h"
#include "kernels/base/layout.h"
#include "src/formula/vocabulary.h"
#include "src/system/system.h"

namespace zwang {

namespace {

constexpr std::size_t most_bins = 80;
constexpr std::size_t bins_of_measures = 40;
constexpr std::size_t block = 65536;  // members read at a time

double number(const ReportJson& json) {
  return json.is_number() ? json.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

// The formula as written in the study, shown beside the name.
std::string formula_of(const Study& study, const char* table, const std::string& name) {
  const Entry* found = study.document->find(table);
  const Entry* entry = found ? found->value.find(name) : nullptr;
  if (!entry) return "";
  return entry->value.kind == Value::Kind::string ? entry->value.text : shown(entry->value);
}

// --- Histograms --------------------------------------------------------------------------------------------

// Neighbouring bins are joined until there are few enough to display. Missing bins (-1) end a row.
struct Bins {
  std::vector<double> edges;
  std::size_t joined = 1;

  Bins(std::vector<double> all) {
    while (!all.empty() && std::isnan(all.back())) all.pop_back();
    const std::size_t count = all.empty() ? 0 : all.size() - 1;
    while (count > most_bins * joined) ++joined;
    for (std::size_t i = 0; i < all.size(); i += joined) edges.push_back(all[i]);
    if (count % joined != 0) edges.push_back(all.back());
  }
  bool empty() const { return edges.size() < 2; }

  ReportJson counts(const std::vector<long long>& all, std::size_t begin) const {
    ReportJson made = ReportJson::array();
    const std::size_t width = edges.size() - 1;
    for (std::size_t bin = 0; bin < width; ++bin) {
      long long sum = 0;
      for (std::size_t i = 0; i < joined; ++i) {
        const std::size_t at = begin + bin * joined + i;
        if (bin * joined + i < length && all[at] > 0) sum += all[at];
      }
      made.push_back(sum);
    }
    return made;
  }
  std::size_t length = 0;  // of a row in the file
};

std::vector<double> row(const std::vector<double>& all, std::size_t index, std::size_t length) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(index * length);
  return {begin, begin + static_cast<std::ptrdiff_t>(length)};
}

// The histograms of statistics.nc, of observables ("" and times) or of measures ("measure_", one row each).
class StoredHistograms {
 public:
  StoredHistograms(const NetcdfSource& file, const std::string& prefix)
      : edges_(file.numbers(prefix + "histogram_edges")),
        counts_(file.integers(prefix + "histogram")),
        below_(file.integers(prefix + "histogram_below")),
        above_(file.integers(prefix + "histogram_above")),
        bins_(file.shape(prefix + "histogram").back()) {}

  // `rows`: rows of the series; a measure has one.
  ReportJson made(std::size_t series, std::size_t rows_in_file, const std::vector<std::size_t>& rows) const {
    if (bins_ == 0) return nullptr;
    Bins bins(row(edges_, series, bins_ + 1));
    if (bins.empty()) return nullptr;
    bins.length = bins_;
    ReportJson counts = ReportJson::array(), below = ReportJson::array(), above = ReportJson::array();
    for (const std::size_t at : rows) {
      const std::size_t place = series * rows_in_file + at;
      counts.push_back(bins.counts(counts_, place * bins_));
      below.push_back(below_[place]);
      above.push_back(above_[place]);
    }
    return {{"edges", rounded(bins.edges)}, {"counts", counts}, {"below", below}, {"above", above}};
  }

 private:
  std::vector<double> edges_;
  std::vector<long long> counts_, below_, above_;
  std::size_t bins_ = 0;
};

// --- Measures from members.nc ------------------------------------------------------------------------------

struct MeasureCounts {
  std::vector<double> edges;
  std::vector<long long> counts;
  long long positive = 0;  // members with a value above 0
  long long infinite = 0;  // with an infinite value, which no bin has
  bool known = false;
};

// Visits the measures of all members that entered, block by block.
template <class Visit>
void each_entered(const NetcdfSource& file, const Visit& visit) {
  const std::size_t members = file.shape("measures").at(0), width = file.shape("measures").at(1);
  for (std::size_t first = 0; first < members; first += block) {
    const std::size_t count = std::min(block, members - first);
    const std::vector<double> values = file.numbers("measures", first, count);
    const std::vector<long long> entered = file.integers("entered", first, count);
    for (std::size_t k = 0; k < count; ++k)
      if (entered[k] == 1) visit(std::span(values).subspan(k * width, width));
  }
}

// The range of the finite values of a measure that also has infinite ones.
Range finite_range_of(const NetcdfSource& file, std::size_t measure) {
  std::optional<Range> found;
  each_entered(file, [&](std::span<const double> values) {
    found = joined_range(found, finite_range(values.subspan(measure, 1)));
  });
  return found.value_or(
      Range{std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()});
}

// Whole numbers get one bin each if they are few.
std::vector<double> measure_edges(bool counts, double low, double high) {
  std::vector<double> edges;
  if (!std::isfinite(low) || !std::isfinite(high)) return edges;
  if (counts && high - low < 60) {
    for (double edge = low - 0.5; edge < high + 1; edge += 1) edges.push_back(edge);
    return edges;
  }
  if (!(high > low)) {
    const double half = low == 0 ? 0.5 : std::abs(low) * 0.05;
    return {low - half, low + half};
  }
  for (std::size_t i = 0; i <= bins_of_measures; ++i)
    edges.push_back(low + (high - low) * static_cast<double>(i) / static_cast<double>(bins_of_measures));
  return edges;
}

void count_value(double value, MeasureCounts& into) {
  if (value > 0) ++into.positive;
  if (std::isinf(value)) ++into.infinite;
  if (!std::isfinite(value) || into.counts.empty()) return;
  const double place = (value - into.edges.front()) / (into.edges.back() - into.edges.front());
  const auto last = static_cast<double>(into.counts.size() - 1);
  const double bin = std::clamp(std::floor(place * static_cast<double>(into.counts.size())), 0.0, last);
  ++into.counts[static_cast<std::size_t>(bin)];
}

std::vector<MeasureCounts> counts_of_members(const ReportSource& source, std::size_t shown) {
  std::vector<MeasureCounts> made(shown);
  if (!source.has_members || shown == 0) return made;
  const auto& measures = source.study.system->measures;
  const NetcdfSource file(source.folder / "members.nc");
  for (std::size_t i = 0; i < shown; ++i) {
    const ReportJson& series = source.summary["measures"][measures[i].name];
    Range range{number(series["minimum"]), number(series["maximum"])};
    if (number(series["count"]) > 0 && !(std::isfinite(range.low) && std::isfinite(range.high)))
      range = finite_range_of(file, i);
    const std::optional<std::size_t> reduction = only_reduction(*source.study.system->pool, measures[i]);
    const bool counts =
        reduction && source.study.system->reductions[*reduction].reduction == Reduction::count;
    made[i].edges = measure_edges(counts, range.low, range.high);
    made[i].counts.assign(made[i].edges.empty() ? 0 : made[i].edges.size() - 1, 0);
    made[i].known = true;
  }
  each_entered(file, [&](std::span<const double> values) {
    for (std::size_t i = 0; i < shown; ++i) count_value(values[i], made[i]);
  });
  return made;
}

// --- Words -------------------------------------------------------------------------------------------------

std::string reduction_word(Reduction reduction) {
  for (const ReductionName& known : reductions)
    if (known.reduction == reduction) return std::string(known.name);
  return "";
}

std::string pattern_word(EventPattern pattern) {
  switch (pattern) {
    case EventPattern::shock:
      return "shock";
    case EventPattern::release:
      return "release";
    case EventPattern::contact:
      return "contact";
    case EventPattern::accumulation:
      return "accumulation";
    case EventPattern::impulse:
      return "impulse";
    case EventPattern::watched:
      return "event";
    default:
      return "";
  }
}

// Strings can go slack and snap; other constraints are reached and left.
bool is_string(const Study& study, std::size_t condition) {
  const Constraint& constraint = study.system->constraints[condition];
  if (!constraint.radius || constraint.equation) return false;
  const Entry* list = study.document->find("constraint");
  if (!list || condition >= list->value.items.size()) return false;
  const Entry* require = list->value.items[condition].find("require");
  if (!require) return false;
  const std::string& text = require->value.text;
  const bool mirrored = text.find("distance") > text.find_first_of("<>");
  return text.find(mirrored ? ">=" : "<=") != std::string::npos && text.find("distance") != std::string::npos;
}

// Meaning of a measure, for the sentence that describes it.
ReportJson meaning(const Study& study, const Measure& measure) {
  const std::optional<std::size_t> only = only_reduction(*study.system->pool, measure);
  if (!only) return {{"reduction", ""}, {"pattern", ""}};
  const ReductionFormula& formula = study.system->reductions[*only];
  ReportJson made = {{"reduction", reduction_word(formula.reduction)},
                     {"pattern", pattern_word(formula.pattern)}};
  if (formula.pattern == EventPattern::none) return made;
  const bool watched = formula.pattern == EventPattern::watched;
  made["target"] =
      watched ? study.system->watches[formula.target].name : study.system->constraints[formula.target].name;
  made["string"] = !watched && is_string(study, formula.target);
  return made;
}

ReportJson selected(const ReportJson& series, const std::vector<const char*>& keys) {
  ReportJson made;
  for (const char* key : keys) {
    const ReportJson& value = series.contains(key) ? series[key] : ReportJson();
    made[key] = value.is_number_float() ? rounded(value.get<double>()) : value;
  }
  return made;
}

}  // namespace

ReportJson report_observables(const ReportSource& source, const std::vector<std::size_t>& times) {
  const NetcdfSource file(source.folder / "statistics.nc");
  const StoredHistograms histograms(file, "");
  const auto& observables = source.study.system->observables;
  ReportJson made = ReportJson::array();
  for (std::size_t i = 0; i < std::min(observables.size(), report_names_limit); ++i) {
    const std::string& name = observables[i].name;
    const ReportJson& series = source.summary["observables"][name];
    const auto thinned = [&](const ReportJson& values) {
      ReportJson kept = ReportJson::array();
      for (const std::size_t t : times) kept.push_back(rounded(number(values[t])));
      return kept;
    };
    ReportJson one = {{"name", name}, {"formula", formula_of(source.study, "observe", name)}};
    if (const std::string unit = source.study.unit(name); !unit.empty()) one["unit"] = unit;
    for (const char* key : {"mean", "stderr", "minimum", "maximum", "count"}) one[key] = thinned(series[key]);
    one["quantiles"] = ReportJson::array();
    for (const auto& [probability, values] : series["quantiles"].items())
      one["quantiles"].push_back(thinned(values));
    one["histogram"] = histograms.made(i, source.study.time.outputs.size(), times);
    made.push_back(one);
  }
  return made;
}

ReportJson report_measures(const ReportSource& source) {
  const NetcdfSource file(source.folder / "statistics.nc");
  const StoredHistograms histograms(file, "measure_");
  const auto& measures = source.study.system->measures;
  const std::size_t shown = std::min(measures.size(), report_names_limit);
  const std::vector<MeasureCounts> members = counts_of_members(source, shown);
  ReportJson made = ReportJson::array();
  for (std::size_t i = 0; i < shown; ++i) {
    const ReportJson& series = source.summary["measures"][measures[i].name];
    ReportJson one = {{"name", measures[i].name},
                      {"formula", formula_of(source.study, "measure", measures[i].name)},
                      {"meaning", meaning(source.study, measures[i])}};
    if (const std::string unit = source.study.unit(measures[i].name); !unit.empty()) one["unit"] = unit;
    one.update(selected(series, {"count", "missing", "mean", "std", "stderr", "mean_low", "mean_high",
                                 "minimum", "maximum"}));
    for (const char* key : {"kind", "hits", "of", "probability", "low", "high", "interval", "undecided",
                            "occurs", "exceedance"})
      if (series.contains(key)) one[key] = series[key];
    one["quantiles"] = ReportJson::array();
    for (const auto& [probability, value] : series["quantiles"].items())
      one["quantiles"].push_back(rounded(number(value)));
    one["positive"] = members[i].known ? ReportJson(members[i].positive) : ReportJson();
    if (members[i].infinite > 0) one["infinite"] = members[i].infinite;
    one["histogram"] = histograms.made(i, 1, {0});
    if (one["histogram"].is_null() && !members[i].counts.empty())
      one["histogram"] = {{"edges", rounded(members[i].edges)},
                          {"counts", ReportJson::array({members[i].counts})},
                          {"below", {0}},
                          {"above", {0}}};
    made.push_back(one);
  }
  return made;
}

ReportJson report_relations(const ReportSource& source) {
  const ReportJson& ranks = source.summary["rank_correlation"];
  const ReportJson& covariance = source.summary["covariance"];
  const std::size_t count = std::min<std::size_t>(ranks["names"].size(), report_names_limit);
  ReportJson rank = ReportJson::array(), linear = ReportJson::array();
  for (std::size_t i = 0; i < count; ++i) {
    ReportJson rank_row = ReportJson::array(), linear_row = ReportJson::array();
    for (std::size_t j = 0; j < count; ++j) {
      rank_row.push_back(rounded(number(ranks["matrix"][i][j])));
      linear_row.push_back(
          rounded(number(covariance["matrix"][i][j]) /
                  std::sqrt(number(covariance["matrix"][i][i]) * number(covariance["matrix"][j][j]))));
    }
    rank.push_back(rank_row);
    linear.push_back(linear_row);
  }
  ReportJson names = ReportJson::array(), kinds = ReportJson::array();
  for (std::size_t i = 0; i < count; ++i) {
    names.push_back(ranks["names"][i]);
    kinds.push_back(ranks["kinds"][i]);
  }
  return {{"names", names}, {"kinds", kinds}, {"rank", rank}, {"linear", linear}};
}

ReportJson report_sample(const ReportSource& source) {
  if (!source.has_members) return nullptr;
  const NetcdfSource file(source.folder / "members.nc");
  const std::size_t members = file.shape("measures").at(0), measures = file.shape("measures").at(1),
                    inputs = file.shape("inputs").at(1);
  constexpr std::size_t most_numbers = 60'000, most_members = 2000;
  const std::size_t columns = std::min(measures + inputs, report_names_limit);
  if (columns == 0) return nullptr;
  ReportJson numbers = ReportJson::array(), rows = ReportJson::array();
  for (const std::size_t k : spread(members, std::min(most_members, most_numbers / columns))) {
    if (file.integers("entered", k, 1)[0] != 1) continue;
    std::vector<double> values = file.numbers("measures", k, 1);
    const std::vector<double> drawn = file.numbers("inputs", k, 1);
    values.insert(values.end(), drawn.begin(), drawn.end());
    values.resize(columns);
    numbers.push_back(file.integers("member", k, 1)[0]);
    rows.push_back(rounded(values));
  }
  return {{"members", numbers}, {"rows", rows}, {"of", members}};  // columns as in relations
}

}  // namespace zwang
