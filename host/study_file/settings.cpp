// Reads the settings: [ensemble], [time], [integrator], [statistics] and [output].
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "host/sample/sampler.h"
#include "host/sample/sobol.h"
#include "host/study/study.h"
#include "host/study_file/builder.h"
#include "host/toml/document.h"
#include "host/toml/raw_text.h"
#include "host/toml/reader.h"
#include "src/base/error.h"
#include "src/base/settings.h"
#include "src/system/system.h"

namespace zwang {

namespace {

bool has_set_value(const Value& value) {
  return !value.set_path.empty() || std::any_of(value.items.begin(), value.items.end(), has_set_value) ||
         std::any_of(value.entries.begin(), value.entries.end(),
                     [](const Entry& entry) { return has_set_value(entry.value); });
}

constexpr long long count_limit = 1'000'000'000'000;
constexpr long long output_limit = 10'000'000;
constexpr long long bin_limit = 1'000'000;
// Limits on data held in memory: statistics of every observable at every output time, states of all
// trajectories.
constexpr std::size_t series_limit = 10'000'000;
constexpr std::size_t trajectory_limit = 100'000'000;

bool positive_or_infinite(double x) { return x > 0; }
bool open_fraction(double x) { return x > 0 && x < 1; }
bool at_least_1e_14(double x) { return x >= 1e-14 && std::isfinite(x); }

}  // namespace

void StudyBuilder::read_ensemble() {
  const Table table(reader_, single_table(reader_, "ensemble"),
                    {"members", "members_per_point", "streams", "seed", "sampler", "include_nominal",
                     "consistency", "until"});
  EnsembleSettings& made = study_.ensemble;
  if (const Field seed = table["seed"])
    made.seed = static_cast<unsigned long long>(
        reader_.integer(seed, 0, std::numeric_limits<long long>::max()).value_or(1));
  if (const Field sampler = table["sampler"]) {
    const auto word = reader_.choice(sampler, {"random", "latin-hypercube", "sobol"});
    if (word == "latin-hypercube") made.sampler = SamplerKind::latin_hypercube;
    if (word == "sobol") made.sampler = SamplerKind::sobol;
    const std::size_t draws = dimension_names(study_).size();
    if (word == "sobol" && draws > sobol_dimensions)
      reader_.report_found(sampler, "it does not have enough dimensions for this study",
                           std::to_string(draws) + " draws",
                           "at most " + std::to_string(sobol_dimensions) +
                               "; \"latin-hypercube\" and \"random\" have no such limit");
  }
  if (const Field nominal = table["include_nominal"])
    made.include_nominal = reader_.boolean(nominal).value_or(false);
  if (const Field consistency = table["consistency"]) {
    const auto word = reader_.choice(consistency, {"project", "reject", "error"});
    if (word == "reject") made.consistency = Consistency::reject;
    if (word == "project") made.consistency = Consistency::project;
  }
  if (const Field until = table["until"]) read_until(until);
  if (const Field streams = table["streams"])
    if (reader_.choice(streams, {"common", "independent"}) == "independent")
      made.streams = Streams::independent;
  if (parameters_.has_sweep)
    read_members_per_point(table);
  else
    read_members(table);
}

void StudyBuilder::read_time() {
  time_broken_ = true;
  const Field field = single_table(reader_, "time");
  if (!field) {
    if (!reader_.document().root().find("time"))
      reader_.report({study_.path, 0, 0}, "[time] is missing", "", "[time] with end = ... or at = [..]");
    return;
  }
  const Table table(reader_, field, {"end", "samples", "at", "stop"});
  read_output_times(table);
  // Read once the constraints are known, whose reactions it may use.
  fields_.stop = table["stop"];
}

void StudyBuilder::read_output_times(const Table& table) {
  const Field at = table["at"], samples = table["samples"];
  if (at && samples) reader_.report(samples, "samples and at cannot be combined", "one of them");
  if (at) {
    time_broken_ = !read_given_times(at, table["end"]);
    return;
  }
  const Field end = table.require("end", "the time at which members end, or at = [..]");
  const long long count = samples ? reader_.integer(samples, 2, output_limit).value_or(2) : 101;
  const std::optional<double> last = end ? constant(end, is_positive, "a finite time > 0") : std::nullopt;
  if (!last) return;
  study_.time.end = last.value();
  for (long long i = 0; i < count; ++i)
    study_.time.outputs.push_back(study_.time.end * static_cast<double>(i) / static_cast<double>(count - 1));
  study_.time.outputs.back() = study_.time.end;
  time_broken_ = false;
}

bool StudyBuilder::read_given_times(const Field& at, const Field& end) {
  const auto items = reader_.array(at, "an array of times");
  if (!items) return false;
  if (items->empty()) reader_.report(at, "no output times", "at least one time >= 0");
  bool ok = !items->empty();
  std::vector<double>& outputs = study_.time.outputs;
  for (const Field& item : *items) {
    const auto time = constant(item, is_not_negative, "a finite time >= 0");
    if (!time) {
      ok = false;
      continue;
    }
    if (!outputs.empty() && *time <= outputs.back()) {
      reader_.report_found(item, "the times are not ascending", number_text(*time),
                           "a time > " + number_text(outputs.back()));
      return false;
    }
    outputs.push_back(*time);
  }
  const std::optional<double> last =
      end ? constant(end, is_not_negative, "a finite time >= 0") : std::nullopt;
  if (!ok || (end && !last)) return false;
  study_.time.end = last.value_or(outputs.back());
  if (study_.time.end >= outputs.back()) return true;
  reader_.report_found(end, "lies before the last output", number_text(study_.time.end),
                       "a time >= " + number_text(outputs.back()));
  return false;
}

void StudyBuilder::read_integrator() {
  const Table table(reader_, single_table(reader_, "integrator"),
                    {"method", "step", "rtol", "atol", "max_step", "max_steps", "max_events", "precision",
                     "contact_tolerance", "rest_speed", "accumulation_gap", "painleve_margin"});
  IntegratorSettings& made = study_.integrator;
  const Field step = table["step"], method = table["method"];
  using Method = IntegratorSettings::Method;
  std::optional<std::string> word = "auto";
  if (method) word = reader_.choice(method, {"auto", "tsit5", "dop853", "taylor", "rk4"});
  if (word == "tsit5") made.method = Method::tsit5;
  if (word == "dop853") made.method = Method::dop853;
  if (word == "taylor") made.method = Method::taylor;
  if (word == "rk4") {
    made.method = Method::rk4;
    if (!step) reader_.report(method, "\"rk4\" needs a step", "step = 1e-3, or another number > 0");
  } else if (word && step) {
    reader_.report(step, "\"" + *word + "\" chooses its own steps", "no step, or method = \"rk4\"");
  }
  const auto read = [&](const char* key, double& number, Test holds, const std::string& expected) {
    if (const Field field = table[key]) number = constant(field, holds, expected).value_or(number);
  };
  read("step", made.step, is_positive, "a finite number > 0");
  read("rtol", made.rtol, at_least_1e_14, "a number >= 1e-14");
  read("atol", made.atol, is_positive, "a finite number > 0");
  read("max_step", made.max_step, positive_or_infinite, "a number > 0, or inf");
  read("contact_tolerance", made.contact_tolerance, open_fraction, "a number between 0 and 1");
  read("rest_speed", made.rest_speed, open_fraction, "a number between 0 and 1");
  read("accumulation_gap", made.accumulation_gap, open_fraction, "a number between 0 and 1");
  read("painleve_margin", made.painleve_margin, open_fraction, "a number between 0 and 1");
  const auto count = [&](const char* key, long long& number) {
    if (const Field field = table[key]) number = reader_.integer(field, 1, count_limit).value_or(number);
  };
  count("max_steps", made.max_steps);
  count("max_events", made.max_events);
  if (const Field precision = table["precision"])
    made.single = reader_.choice(precision, {"double", "single"}) == "single";
}

void StudyBuilder::read_statistics() {
  const Table table(reader_, single_table(reader_, "statistics"), {"quantiles", "histogram", "exceedance"});
  if (const Field quantiles = table["quantiles"])
    if (const auto items = reader_.array(quantiles, "an array of numbers from 0 to 1")) {
      std::vector<double>& made = study_.statistics.quantiles;
      made.clear();
      for (const Field& item : *items) {
        const auto value = constant(item, is_fraction, "a number from 0 to 1");
        if (!value) continue;
        if (!made.empty() && *value <= made.back())
          reader_.report(item, "the quantiles are not ascending", "a number > " + number_text(made.back()));
        made.push_back(*value);
      }
    }
  if (const Field histogram = table["histogram"]) read_histograms(histogram);
  if (const Field exceedance = table["exceedance"]) read_exceedances(exceedance);
}

void StudyBuilder::read_histograms(const Field& field) {
  if (field.value->kind != Value::Kind::table) {
    reader_.report(field, "not a table", "histogram.NAME = { bins = 60 }");
    return;
  }
  std::vector<std::string> names;
  for (const NamedExpr& observable : description_.observables) names.push_back(observable.name);
  for (const Measure& measure : description_.measures) names.push_back(measure.name);
  const std::size_t plain = names.size();
  for (const RecordFormula& record : description_.records)
    for (const NamedExpr& value : record.values) names.push_back(record.name + "." + value.name);
  for (const Entry& entry : field.value->entries) {
    const std::string& path = entry.value.set_path;
    const Field item{&entry.value, path.empty() ? field.place + "." + printable(entry.key) : path};
    if (std::find(names.begin(), names.end(), entry.key) == names.end())
      reader_.report(reader_.document().locate(entry.mark),
                     item.place + ": there is no observable or measure of that name",
                     "'" + printable(entry.key) + "'", "a name from [observe] or [measure]",
                     suggestion(entry.key, names));
    const Table table(reader_, item, {"bins", "range"});
    HistogramSettings made;
    if (const Field bins = table["bins"]) made.bins = reader_.integer(bins, 1, bin_limit).value_or(made.bins);
    if (const Field range = table["range"]) made.range = read_range(range);
    const auto found = std::find(names.begin(), names.end(), entry.key);
    const bool of_record = static_cast<std::size_t>(found - names.begin()) >= plain && found != names.end();
    (of_record ? study_.statistics.record_histograms : study_.statistics.histograms).emplace(entry.key, made);
  }
}

std::optional<std::pair<double, double>> StudyBuilder::read_range(const Field& field) {
  const std::string expected = "[low, high] with low < high";
  const auto items = reader_.array(field, expected);
  if (!items) return {};
  if (items->size() != 2) {
    reader_.report_found(field, "wrong number of entries", std::to_string(items->size()), expected);
    return {};
  }
  const auto low = constant((*items)[0], is_finite, "a finite number"),
             high = constant((*items)[1], is_finite, "a finite number");
  if (!low || !high) return {};
  if (*low < *high) return std::pair(*low, *high);
  reader_.report_found(field, "the ends are in the wrong order",
                       number_text(*low) + ", " + number_text(*high), expected);
  return {};
}

void StudyBuilder::read_output() {
  const Table table(reader_, single_table(reader_, "output"), {"members", "trajectories", "events"});
  if (const Field members = table["members"])
    study_.output.members = reader_.boolean(members).value_or(false);
  if (const Field events = table["events"]) study_.output.events = reader_.boolean(events).value_or(true);
  const Field trajectories = table["trajectories"];
  if (trajectories && trajectories.value->kind == Value::Kind::string) {
    read_trajectory_range(trajectories);
    return;
  }
  const auto items = trajectories ? reader_.array(trajectories, "an array of member numbers") : std::nullopt;
  if (!items) return;
  // If the ensemble was made smaller on the command line (fewer members, or a value in the place of a sweep),
  // trajectories beyond it are skipped, not reported.
  const Value& root = reader_.document().root();
  const bool cut_down = std::any_of(root.entries.begin(), root.entries.end(), [](const Entry& one) {
    return one.key != "output" && has_set_value(one.value);
  });
  std::set<long long> seen;
  for (const Field& item : *items) {
    const std::size_t before = study_.output.trajectories.size();
    const long long last = study_.ensemble.members - 1;
    if (item.value->kind == Value::Kind::string) {
      read_trajectory_range(item);
    } else {
      const auto member = reader_.integer(item, 0, cut_down ? std::numeric_limits<long long>::max() : last);
      if (member && *member <= last) study_.output.trajectories.push_back(*member);
    }
    bool twice = false;
    for (std::size_t k = before; k < study_.output.trajectories.size(); ++k)
      twice = !seen.insert(study_.output.trajectories[k]).second || twice;
    if (twice) reader_.report(item, "the member is listed twice", "every member once");
  }
}

// "all", or "10..20": both ends included.
void StudyBuilder::read_trajectory_range(const Field& field) {
  const std::string& text = field.value->text;
  long long first = 0, last = study_.ensemble.members - 1;
  if (text != "all") {
    const std::size_t dots = text.find("..");
    const char *begin = text.data(), *end = begin + text.size();
    const auto whole = [](const char* from, const char* to, long long& number) {
      const auto [stop, code] = std::from_chars(from, to, number);
      return code == std::errc{} && stop == to;
    };
    if (dots == std::string::npos || !whole(begin, begin + dots, first) ||
        !whole(begin + dots + 2, end, last) || first < 0 || last < first) {
      reader_.report(field, "not a range of members", "\"all\", or a range such as \"0..99\"");
      return;
    }
    last = std::min(last, study_.ensemble.members - 1);
  }
  if (last - first >= static_cast<long long>(trajectory_limit)) {
    reader_.report(field, "too many members", "at most " + std::to_string(trajectory_limit));
    return;
  }
  for (long long member = first; member <= last; ++member) study_.output.trajectories.push_back(member);
}

// Each number may be within its limit while their product exceeds any memory.
void StudyBuilder::check_sizes() {
  const std::size_t outputs = study_.time.outputs.size(), observables = description_.observables.size(),
                    trajectories = study_.output.trajectories.size(),
                    states = 2 * description_.coordinates.size() + description_.auxiliaries.size();
  const auto report_too_large = [&](const std::string& what, const std::string& found, std::size_t limit) {
    reader_.report({study_.path, 0, 0}, what, found, "at most " + std::to_string(limit) + " in all",
                   "fewer [time] samples");
  };
  if (observables > 0 && outputs > series_limit / observables)
    report_too_large("too many output times for this number of observables",
                     fmt::format("{} observables at {} times", observables, outputs), series_limit);
  if (trajectories > 0 && states > 0 && outputs > trajectory_limit / trajectories / states)
    report_too_large("too many output times for this number of trajectories",
                     fmt::format("{} members with {} numbers at {} times", trajectories, states, outputs),
                     trajectory_limit);
  check_statistics_size();
}

}  // namespace zwang
