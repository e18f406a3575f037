// Formats the table at the end of a run; lines fit 80 columns.
#include "host/results/run_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "host/estimators/proportion.h"
#include "host/files/write_origin.h"
#include "host/platform/table.h"
#include "host/results/answers_table.h"
#include "host/results/series_table.h"
#include "host/results/sweep_table.h"
#include "host/run/progress.h"
#include "host/statistics/run_tally.h"
#include "host/statistics/statistics_result.h"
#include "host/study/study.h"
#include "host/toml/raw_text.h"
#include "kernels/base/layout.h"
#include "kernels/base/status.h"
#include "src/base/error.h"
#include "src/reference/trajectory.h"
#include "src/system/system.h"

namespace zwang {

namespace {

// A line that begins with a label; items that do not fit continue below the first item.
std::string labelled(const std::string& label, const std::vector<std::string>& items,
                     const std::string& separator = ", ") {
  constexpr std::size_t indent = 9;
  std::string text = label + std::string(indent - label.size(), ' ');
  std::size_t used = indent;
  for (std::size_t k = 0; k < items.size(); ++k) {
    const std::string item = items[k] + (k + 1 < items.size() ? separator : "");
    const std::size_t wide = item.find_last_not_of(' ') + 1;
    if (k > 0 && used + wide > table_width) {
      text.erase(text.find_last_not_of(' ') + 1);
      text += "\n" + std::string(indent, ' ');
      used = indent;
    }
    text += item;
    used += item.size();
  }
  return text + "\n";
}

// Text broken into lines at blanks; further lines are indented.
std::string wrapped(const std::string& text) {
  std::string made, word;
  std::size_t used = 0;
  std::istringstream words(text);
  while (words >> word) {
    if (used > 0 && used + 1 + word.size() > table_width) {
      made += "\n ";
      used = 1;
    }
    made += (used > 0 ? " " : "") + word;
    used += word.size() + (used > 0 ? 1 : 0);
  }
  return made + "\n";
}

// Shares of labels: one row for each that occurs.
std::string labels_text(const RunResult& result) {
  std::string text;
  for (const LabelCounts& counts : result.labels) {
    TextTable table({counts.measure, "members", "share", "95 % interval"});
    for (std::size_t label = 0; label < counts.members.size(); ++label) {
      if (counts.members[label] == 0) continue;
      const Proportion share = proportion(counts.members[label], counts.of);
      table.add({label == 0    ? "0 (no period)"
                 : label == 65 ? "65 (further ones)"
                               : std::to_string(label),
                 count_text(share.hits) + " of " + count_text(share.of), fmt::format("{:.4g}", share.share()),
                 interval_text(share.low, share.high)});
    }
    text += "\n" + table.text("");
  }
  return text;
}

std::string events_text(const RunTally& tally) {
  std::vector<std::string> items;
  for (std::size_t kind = 0; kind < event_kinds; ++kind)
    if (tally.events[kind] > 0)
      items.push_back(fmt::format("{} {}", event_kind_name(static_cast<EventKind>(kind)),
                                  count_text(tally.events[kind])));
  if (items.empty()) items.emplace_back("none");
  return labelled("events", items);
}

double largest_share(const RunTally& tally) {
  double largest = 0;
  for (const WorstShare& worst : tally.shares) largest = std::max(largest, worst.share);
  return largest;
}

// Over members that did not fail; empty if all failed.
std::string audit_text(const RunTally& tally) {
  if (tally.failed == tally.members) return "";
  const Audit& worst = tally.worst;
  const auto rough = [](double value) { return value == 0 ? "0" : fmt::format("{:.1e}", value); };
  return labelled(
      "audit", {"constraints " + rough(worst.position_violation), "rates " + rough(worst.velocity_violation),
                fmt::format("energy {} of {:.3g}", rough(worst.energy_drift), worst.energy_size),
                "kkt " + rough(worst.kkt), fmt::format("{:.1g} of the bound", largest_share(tally))});
}

std::string starts_text(const Study& study, const RunTally& tally) {
  // With "error" only rounding is projected, which is not reported.
  const bool moved = tally.moved > 0 && study.ensemble.consistency == Consistency::project;
  if (!moved && tally.refused_draws == 0) return "";
  std::vector<std::string> items;
  if (moved)
    items.push_back(
        fmt::format("{} of {} moved onto their constraints, at most by {:.3g} (velocities {:.3g})",
                    count_text(tally.moved), count_text(tally.members), tally.largest_position_move,
                    tally.largest_velocity_move));
  if (tally.refused_draws > 0)
    items.push_back(fmt::format(
        "{} of {} draws rejected ({:.3g} %)", count_text(tally.refused_draws), count_text(tally.draws),
        100 * static_cast<double>(tally.refused_draws) / static_cast<double>(tally.draws)));
  std::string text = labelled("starts", items);
  if (moved && tally.drawn_changed > 0)
    text += wrapped(fmt::format(
        "WARNING: in {} member{} a drawn start value was changed by more than {:g} %, {} by up to {:.3g} %",
        count_text(tally.drawn_changed), tally.drawn_changed == 1 ? "" : "s",
        100 * RunTally::drawn_change_noted,
        printable(start_name(*study.system, tally.largest_drawn_change_of)),
        100 * tally.largest_drawn_change));
  return text;
}

std::string start_shocks_text(const Study& study, const StartShocks& shocks) {
  if (!shocks.nearly_all()) return "";
  std::vector<std::string> names;
  for (const StartShocks::OfConstraint& one : shocks.by_constraint)
    names.push_back(printable(study.system->constraints[one.constraint].name));
  return wrapped(fmt::format(
      "NOTE: {} of the {} members looked at begin with a shock at t = 0: they start on {} and move into it "
      "(f = 0 and f' > 0). If that is not meant, choose start velocities that do not lead into it, or start "
      "away from it",
      count_text(shocks.members), count_text(shocks.checked), list_text(names)));
}

// The cause of the first member of each of the most frequent statuses.
std::string causes_text(const RunTally& tally, const RunTableContext& context) {
  constexpr std::size_t shown = 2;
  std::vector<std::size_t> failed;
  for (std::size_t how = 0; how < status_count; ++how) {
    const auto status = static_cast<Status>(how);
    if (tally.status[how] > 0 && status != Status::ok && status != Status::stopped) failed.push_back(how);
  }
  std::stable_sort(failed.begin(), failed.end(),
                   [&](std::size_t a, std::size_t b) { return tally.status[a] > tally.status[b]; });
  if (failed.size() > shown) failed.resize(shown);
  std::string text;
  for (const std::size_t how : failed) {
    const auto status = static_cast<Status>(how);
    const long long member = tally.examples[how].front();
    const std::string cause = context.cause ? context.cause(status, member) : "";
    if (!cause.empty()) text += wrapped(fmt::format("{}, member {}: {}", status_name(status), member, cause));
  }
  return text;
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
  std::string text = "\n" + table.text("") + causes_text(tally, context);
  text += fmt::format("to replay one: {}{}\n", context.replay, example);
  if (result.backend != "reference")
    text +=
        "  (by the reference, which reports the cause; --backend " + result.backend + " repeats this run)\n";
  if (result.backend != "reference" && tally.status[static_cast<std::size_t>(Status::inaccurate)] > 0)
    text += "  inaccurate: --backend " + result.backend + " reports which law is off, and by how much\n";
  return text;
}

std::string until_limit_text(const UntilSettings& until) {
  return until.error == UntilSettings::Error::absolute_halfwidth ? fmt::format("{:g}", until.limit)
                                                                 : fmt::format("{:g} %", 100 * until.limit);
}
const char* until_error_text(const UntilSettings& until) {
  return until.error == UntilSettings::Error::relative_stderr ? "standard error"
                                                              : "half of the 95 % interval";
}

// The measure or index that is judged.
const std::string& until_subject(const UntilSettings& until) {
  return until.index.empty() ? until.measure : until.index;
}

std::string until_text(const UntilSettings& until, const RunResult& result) {
  return fmt::format(
      fmt::runtime(result.sure_early ? "ended early: {} of {} is below {} (limit {} members)\n"
                                     : "ran to the limit: {} of {} is above {} after {} members\n"),
      until_error_text(until), until_subject(until), until_limit_text(until), count_text(result.requested));
}

std::string sweep_names(const Study& study) {
  std::vector<std::string> names;
  for (const Sweep& sweep : study.sweeps) names.push_back(printable(sweep.name));
  return list_text(names);
}

std::string members_text(const Study& study, const RunResult& result) {
  const RunTally& tally = result.tally;
  std::string text = fmt::format("{} member{}, {} in the statistics", count_text(tally.members),
                                 tally.members == 1 ? "" : "s", count_text(tally.entered));
  if (tally.failed > 0) text += fmt::format(", {} FAILED", count_text(tally.failed));
  const auto stopped = tally.status[static_cast<std::size_t>(Status::stopped)];
  if (stopped > 0) text += fmt::format(", {} stopped early", count_text(stopped));
  text += "\n";
  if (!study.sweeps.empty()) {
    const bool one = study.ensemble.members_per_point == 1;
    const std::string each = study.sensitivity
                                 ? fmt::format("rows of {} members", study.sensitivity->blocks())
                                 : (one ? "member" : "members");
    text += fmt::format("{} points of a sweep over {}, {} {} each\n", count_text(study.ensemble.points()),
                        sweep_names(study), count_text(study.ensemble.members_per_point), each);
  }
  if (study.ensemble.include_nominal)
    text += fmt::format("member 0{} is the nominal member: every distribution at its centre\n",
                        study.sweeps.empty() ? "" : " of each point");
  if (!study.sweeps.empty() && study.ensemble.until) {
    const auto met = std::count_if(result.points.begin(), result.points.end(),
                                   [](const StatisticsResult& point) { return point.met_until; });
    text += fmt::format("ended early at {} of {} points: {} of {} below {}\n", met, result.points.size(),
                        until_error_text(*study.ensemble.until), until_subject(*study.ensemble.until),
                        until_limit_text(*study.ensemble.until));
  } else if (const auto& until = study.ensemble.until)
    text += until_text(*until, result);
  return text;
}

std::string files_text(const RunTableContext& context) {
  std::vector<std::string> items = context.files;
  if (!items.empty()) items.front() = context.folder + ": " + items.front();
  return labelled("files", items);
}

std::string time_text(const RunResult& result) {
  const RunPerformance& p = result.performance;
  const double integrating = std::max(p.integrate_s, 1e-9);
  std::vector<std::string> items = {fmt::format("{:.3g} s", p.wall_s)};
  const auto add = [&](const char* what, double seconds) {
    if (seconds >= 0.01 * p.wall_s) items.push_back(fmt::format("{} {:.2g}", what, seconds));
  };
  add("compiling", p.compile_s);
  add("sampling", p.sample_s);
  add("integrating", p.integrate_s);
  add("statistics", p.statistics_s);
  add("trajectories", p.trajectories_s);
  add("writing", p.write_s);
  items.push_back(count_text(std::llround(static_cast<double>(result.tally.members) / integrating)) +
                  " members/s integrated");
  items[0] += ": " + items[1];
  items.erase(items.begin() + 1);
  return labelled("time", items);
}

}  // namespace

std::string run_table(const Study& study, const RunResult& result, const RunTableContext& context) {
  const unsigned threads = result.performance.threads;
  const std::string name = printable(study.name);  // names of merged shards are not trusted
  std::string text = (study.title.empty() ? name : study.title) + "\n";
  const std::string what = fmt::format("run of {}, seed {},", name, study.ensemble.seed);
  const std::string device = fmt::format("{} backend ({}), {} thread{}\n", result.backend, result.device,
                                         threads, threads == 1 ? "" : "s");
  text += what + (what.size() + device.size() <= table_width ? ' ' : '\n') + device;
  text += members_text(study, result);
  // Where nothing is left for statistics, the cause comes first and there are no tables of dashes.
  const bool all_failed = result.tally.failed == result.tally.members;
  if (all_failed) text += failures_text(result, context);
  if (study.sweeps.empty()) {
    if (result.inputs.empty() && result.tally.members > 1)
      text += "this study draws no inputs: all members are identical\n";
    if (!all_failed) text += measures_text(study, result) + observables_text(study, result);
  } else if (!all_failed) {
    text += sweep_tables(study, result) + sweep_givens(study, result) + sweep_sensitivity(study, result);
  }
  text += labels_text(result);
  text += "\n" + events_text(result.tally) + audit_text(result.tally) + starts_text(study, result.tally) +
          start_shocks_text(study, result.start_shocks);
  if (!all_failed) text += failures_text(result, context);
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
