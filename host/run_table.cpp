#include "host/run_table.h"

#include <fmt/format.h>

#include <cmath>

#include "host/progress.h"
#include "host/table.h"

namespace zwang {

namespace {

constexpr std::size_t observables_shown = 12;

std::string figure(double value) {
  if (std::isnan(value)) return "-";
  return value == 0 ? "0" : fmt::format("{:.5g}", value);
}

std::string interval(double low, double high) {
  return std::isnan(low) ? "-" : fmt::format("{:.6g} .. {:.6g}", low, high);
}

// All quantiles where there are few; first, middle and last of many.
std::vector<std::size_t> quantiles_shown(std::size_t count) {
  std::vector<std::size_t> shown;
  for (std::size_t k = 0; k < count; ++k)
    if (count <= 5 || k == 0 || k == count / 2 || k + 1 == count) shown.push_back(k);
  return shown;
}

// One row per series; the column of missing values only where some are missing.
class SeriesTable {
 public:
  SeriesTable(std::string title, const StatisticsSettings& settings, bool with_missing)
      : shown_(quantiles_shown(settings.quantiles.size())),
        with_missing_(with_missing),
        table_(header(std::move(title), settings)) {}

  void add(const std::string& name, const SeriesStatistics& series) {
    std::vector<std::string> row = {name, figure(series.moments.mean),
                                    interval(series.mean_low, series.mean_high), figure(series.moments.std)};
    for (const std::size_t k : shown_) row.push_back(figure(series.quantiles[k].value));
    if (with_missing_) row.push_back(std::to_string(series.missing));
    table_.add(std::move(row));
  }
  std::string text() const { return table_.text(""); }

 private:
  std::vector<std::string> header(std::string title, const StatisticsSettings& settings) const {
    std::vector<std::string> row = {std::move(title), "mean", "95 % interval", "std"};
    for (const std::size_t k : shown_) row.push_back(fmt::format("{:g} %", 100 * settings.quantiles[k]));
    if (with_missing_) row.emplace_back("missing");
    return row;
  }

  std::vector<std::size_t> shown_;
  bool with_missing_;
  TextTable table_;
};

std::string measures_text(const Study& study, const RunResult& result) {
  const std::vector<Measure>& measures = study.system->measures;
  if (measures.empty()) return "";
  bool missing = false;
  for (const SeriesStatistics& series : result.statistics.measures) missing |= series.missing > 0;
  SeriesTable table("measure", study.statistics, missing);
  for (std::size_t i = 0; i < measures.size(); ++i)
    table.add(measures[i].name, result.statistics.measures[i]);
  return "\n" + table.text();
}

std::string observables_text(const Study& study, const RunResult& result) {
  const auto& observables = study.system->observables;
  const std::vector<double>& times = study.time.outputs;
  if (observables.empty() || times.empty()) return "";
  const std::size_t row = (times.size() - 1) * observables.size();
  const std::size_t shown = std::min(observables.size(), observables_shown);
  bool missing = false;
  for (std::size_t i = 0; i < shown; ++i) missing |= result.statistics.observables[row + i].missing > 0;
  SeriesTable table("at t = " + short_number(times.back()), study.statistics, missing);
  for (std::size_t i = 0; i < shown; ++i)
    table.add(observables[i].name, result.statistics.observables[row + i]);
  std::string text = "\n" + table.text();
  if (shown < observables.size()) text += fmt::format("and {} more\n", observables.size() - shown);
  return text;
}

std::string events_text(const RunTally& tally) {
  std::string text;
  for (std::size_t kind = 0; kind < event_kinds; ++kind)
    if (tally.events[kind] > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", event_kind_name(static_cast<EventKind>(kind)),
                          count_text(tally.events[kind]));
  return "events   " + (text.empty() ? "none" : text) + "\n";
}

std::string audit_text(const Audit& worst) {
  return fmt::format("audit    conditions {:.1e}, their rates {:.1e}, energy {:.1e} of {:.3g}, kkt {:.1e}\n",
                     worst.position_violation, worst.velocity_violation, worst.energy_drift,
                     worst.energy_size, worst.kkt);
}

std::string starts_text(const RunTally& tally) {
  if (tally.moved == 0 && tally.redrawn == 0) return "";
  std::string text = "starts   ";
  if (tally.moved > 0)
    text += fmt::format("{} moved onto their conditions, at most by {:.3g} (velocities {:.3g})",
                        count_text(tally.moved), tally.largest_position_move, tally.largest_velocity_move);
  if (tally.redrawn > 0)
    text += fmt::format("{}{} draws rejected", tally.moved > 0 ? ", " : "", count_text(tally.redrawn));
  return text + "\n";
}

std::string failures_text(const RunResult& result, const RunTableContext& context) {
  const RunTally& tally = result.tally;
  if (tally.failed == 0) return "";
  TextTable table({"failed", "members", "share", "for example"});
  long long example = -1;
  for (std::size_t how = 0; how < status_count; ++how) {
    const auto status = static_cast<Status>(how);
    if (tally.status[how] == 0 || status == Status::ok || status == Status::stopped) continue;
    std::string examples;
    for (std::size_t k = 0; k < std::min<std::size_t>(tally.examples[how].size(), 5); ++k)
      examples += (k ? ", " : "") + std::to_string(tally.examples[how][k]);
    if (example < 0) example = tally.examples[how].front();
    const double share = static_cast<double>(tally.status[how]) / static_cast<double>(tally.members);
    table.add({status_name(status), count_text(tally.status[how]), fmt::format("{:.3g} %", 100 * share),
               "member " + examples});
  }
  std::string text = "\n" + table.text("") + fmt::format("to see one: {}{}\n", context.replay, example);
  if (result.backend != "reference")
    text += "  (by the reference, which tells the cause; --backend " + result.backend +
            " runs it as this run did)\n";
  return text;
}

std::string members_text(const Study& study, const RunResult& result) {
  const RunTally& tally = result.tally;
  std::string text =
      fmt::format("{} members, {} in the statistics", count_text(tally.members), count_text(tally.entered));
  if (tally.failed > 0) text += fmt::format(", {} FAILED", count_text(tally.failed));
  const auto stopped = tally.status[static_cast<std::size_t>(Status::stopped)];
  if (stopped > 0) text += fmt::format(", {} stopped early", count_text(stopped));
  if (study.ensemble.include_nominal) text += "; member 0 is the nominal one";
  text += "\n";
  if (const auto& until = study.ensemble.until)
    text +=
        fmt::format(fmt::runtime(result.sure_early
                                     ? "stopped early: {} is known to {:g} % (at most {} members)\n"
                                     : "ran to the cap: {} was not known to {:g} % before all {} members\n"),
                    until->measure, 100 * until->relative_stderr, count_text(result.requested));
  return text;
}

std::string files_text(const RunTableContext& context) {
  std::string names;
  for (const std::string& name : context.files) names += (names.empty() ? "" : ", ") + name;
  return fmt::format("files    {}: {}\n", context.folder, names);
}

std::string time_text(const RunResult& result) {
  const RunPerformance& p = result.performance;
  const double integrating = std::max(p.integrate_s, 1e-9);
  return fmt::format(
      "time     {:.3g} s: compiling {:.2g}, drawing {:.2g}, integrating {:.3g}, statistics {:.2g}, writing "
      "{:.2g}; "
      "{} members/s\n",
      p.wall_s, p.compile_s, p.sample_s, p.integrate_s, p.statistics_s, p.write_s,
      count_text(std::llround(static_cast<double>(result.tally.members) / integrating)));
}

}  // namespace

std::string run_table(const Study& study, const RunResult& result, const RunTableContext& context) {
  const unsigned threads = result.performance.threads;
  std::string text = (study.title.empty() ? study.name : study.title) + "\n";
  text += fmt::format("run of {}, seed {}, {} backend ({}), {} thread{}\n", study.name, study.ensemble.seed,
                      result.backend, result.device, threads, threads == 1 ? "" : "s");
  text += members_text(study, result);
  text += measures_text(study, result);
  text += observables_text(study, result);
  text += "\n" + events_text(result.tally) + audit_text(result.tally.worst) + starts_text(result.tally);
  text += failures_text(result, context);
  text += "\n" + time_text(result) + files_text(context);
  return text;
}

std::string shell_word(const std::string& text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_-./=,:+@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace zwang
