#include "host/results/answers_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "host/estimators/first_order.h"
#include "host/estimators/proportion.h"
#include "host/platform/table.h"
#include "host/run/progress.h"
#include "host/statistics/pick_freeze.h"
#include "host/statistics/statistics_result.h"
#include "src/system/system.h"

namespace zwang {

namespace {

constexpr std::size_t shifts_shown = 5;
constexpr std::size_t explaining_inputs = 3, explained_shown = 12;  // of a measure; measures
constexpr double smallest_explained = 0.01;

std::string figure_of(double value) { return std::isnan(value) ? "-" : fmt::format("{:.4g}", value); }

}  // namespace

std::string share_text(const Proportion& share) {
  return count_text(share.hits) + " of " + count_text(share.of);
}

std::string interval_text(double low, double high) {
  if (std::isnan(low) || std::isnan(high)) return "-";
  const double width = high - low;
  if (!(width > 0)) return fmt::format("{:.6g} .. {:.6g}", low, high);
  const int decimals = std::clamp(1 - static_cast<int>(std::floor(std::log10(width))), 0, 15);
  const auto text = [&](double bound) {
    return bound == 0 || bound == 1 ? fmt::format("{:g}", bound) : fmt::format("{:.{}f}", bound, decimals);
  };
  // Below 1e-6 a number of decimals would be longer than its digits.
  if (high < 1e-6) return fmt::format("{:.2g} .. {:.2g}", low, high);
  return text(low) + " .. " + text(high);
}

std::string probabilities_text(const Study& study, const RunResult& result) {
  const std::vector<Measure>& measures = study.system->measures;
  TextTable table({"probability", "members", "share", "95 % interval"});
  bool any = false;
  std::string undecided;
  for (std::size_t i = 0; i < measures.size(); ++i) {
    const SeriesStatistics& series = result.statistics.measures[i];
    if (!series.probability) continue;
    any = true;
    const Proportion& share = *series.probability;
    table.add({measures[i].name, share_text(share), figure_of(share.share()),
               interval_text(share.low, share.high)});
    if (series.undecided > 0)
      undecided += fmt::format("{}: in {} members a value was missing, and its comparison counts as false\n",
                               measures[i].name, count_text(series.undecided));
  }
  if (!any) return "";
  std::string text = "\n" + table.text("") + undecided;
  if (study.ensemble.sampler != SamplerKind::random)
    text += "intervals are conservative: the sampler spreads members more evenly than chance\n";
  return text;
}

std::string givens_text(const Study& study, const RunResult& result) {
  std::string text;
  for (std::size_t g = 0; g < study.givens.size(); ++g) {
    const GivenResult& given = result.statistics.givens[g];
    text += fmt::format("\ngiven {} ({}): {} members\n", study.givens[g].name, study.givens[g].condition,
                        share_text(given.share));
    if (given.share.hits == 0 || result.inputs.empty()) continue;
    std::vector<std::size_t> order(result.inputs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto size = [&](std::size_t i) {
      return std::isnan(given.shift[i]) ? -1 : std::abs(given.shift[i]);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
    TextTable table({"input", "mean given", "mean", "shift in std"});
    for (std::size_t k = 0; k < std::min(order.size(), shifts_shown); ++k) {
      const std::size_t i = order[k];
      table.add({result.inputs[i], figure_of(given.inputs[i].moments.mean),
                 figure_of(result.statistics.inputs[i].moments.mean),
                 std::isnan(given.shift[i]) ? "-"
                 : std::isnan(given.shift_error[i])
                     ? fmt::format("{:+.2f}", given.shift[i])
                     : fmt::format("{:+.2f} +- {:.2f}", given.shift[i], given.shift_error[i])});
    }
    text += table.text("");
    if (order.size() > shifts_shown) text += fmt::format("and {} more\n", order.size() - shifts_shown);
  }
  return text;
}

std::string first_order_text(const Study& study, const RunResult& result) {
  const std::size_t inputs = result.inputs.size();
  if (study.sensitivity || inputs < 2 || result.statistics.first_order.empty()) return "";
  TextTable table({"measure", "inputs that explain its variance, at least"});
  bool any = false;
  const std::vector<Measure>& measures = study.system->measures;
  for (std::size_t m = 0; m < std::min(measures.size(), explained_shown); ++m) {
    const FirstOrderIndex* of = &result.statistics.first_order[m * inputs];
    std::vector<std::size_t> found;  // above what chance alone gives
    for (std::size_t i = 0; i < inputs; ++i)
      if (of[i].index > std::max(of[i].null95, smallest_explained)) found.push_back(i);
    if (found.empty()) continue;
    std::stable_sort(found.begin(), found.end(),
                     [&](std::size_t a, std::size_t b) { return of[a].index > of[b].index; });
    std::string row;
    for (std::size_t k = 0; k < std::min(found.size(), explaining_inputs); ++k)
      row +=
          fmt::format("{}{} {:.0f} %", k == 0 ? "" : ", ", result.inputs[found[k]], 100 * of[found[k]].index);
    table.add({measures[m].name, row});
    any = true;
  }
  return any ? "\n" + table.text("") : "";
}

std::string sensitivity_text(const Study& study, const RunResult& result) {
  if (!study.sensitivity) return "";
  constexpr double warned_share = 0.01;
  std::string text;
  for (std::size_t m = 0; m < study.sensitivity->of.size(); ++m) {
    const PickFreezeResult& of = result.statistics.pick_freeze[m];
    const std::string& name = study.system->measures[study.sensitivity->of[m]].name;
    text += fmt::format("\nSobol' indices of {}, {} rows\n", name, count_text(of.rows));
    const long long left = of.failed + of.missing;
    if (double(left) > warned_share * double(of.rows + left))
      text += fmt::format(
          "WARNING: {} rows are left out ({} failed, {} without a value): the indices refer to the rest\n",
          count_text(left), count_text(of.failed), count_text(of.missing));
    if (of.rows < 2 || !(of.variance > 0)) {
      text += of.rows < 2 ? "no indices: too few rows\n" : "no indices: the measure is constant\n";
      continue;
    }
    std::vector<std::size_t> order(of.inputs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return of.inputs[a].total > of.inputs[b].total; });
    TextTable table({"input", "first order", "+- 95 %", "total", "+- 95 %"});
    const auto number = [](double value) { return fmt::format("{:.4f}", value); };
    for (const std::size_t i : order) {
      const SobolIndex& one = of.inputs[i];
      table.add({study.sensitivity->inputs[i].name, number(one.first), number(1.96 * one.first_stderr),
                 number(one.total), number(1.96 * one.total_stderr)});
    }
    text += table.text("");
    text += fmt::format("interactions: {:.4f} +- {:.4f} of the variance\n", of.interaction,
                        1.96 * of.interaction_stderr);
  }
  return text;
}

}  // namespace zwang
