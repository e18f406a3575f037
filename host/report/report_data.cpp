// Reads a result folder and assembles the data of a report.
#include "host/report/report_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "host/netcdf/netcdf_source.h"
#include "host/platform/private_files.h"
#include "host/study_file/leading_comment.h"
#include "host/study_file/load_study.h"
#include "src/base/error.h"

namespace zwang {

namespace {

constexpr std::size_t most_times = 500;
constexpr std::size_t most_series_numbers = 250'000;

ReportJson read_summary(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "summary.json";
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored))
    throw Error({.where = {folder.string(), 0, 0},
                 .message = "no such folder",
                 .found = folder.string(),
                 .expected = "a folder with the results of a run",
                 .hint = "`zwang run STUDY` writes one, results/<study name>"});
  const std::optional<std::string> text = read_whole(path);
  if (!text)
    throw Error({.where = {folder.string(), 0, 0},
                 .message = "this folder holds no results of a run",
                 .found = "no summary.json",
                 .expected = "summary.json, statistics.nc and study.toml",
                 .hint = "summary.json is written last; if it is missing, the run did not finish"});
  ReportJson made = ReportJson::parse(*text, nullptr, false);
  if (made.is_discarded() || !made.is_object() || !made.contains("members") || !made.contains("measures"))
    throw Error({.where = {path.string(), 0, 0},
                 .message = "this is not the summary of a run",
                 .found = made.is_discarded() ? "text that is not JSON" : "JSON without members and measures",
                 .expected = "a file written by `zwang run`"});
  return made;
}

// Facts about the run as a whole; the long arrays come from the other parts.
ReportJson overview(const ReportSource& source) {
  ReportJson made;
  for (const char* key : {"study", "title", "version", "seed", "backend", "members", "events", "audit",
                          "quantile_method", "performance"})
    made[key] = source.summary.value(key, ReportJson());
  made["units"] = source.study.units.empty() ? ReportJson::object() : ReportJson(source.study.units);
  made["about"] = leading_comment(source.text);
  made["text"] = source.text;
  made["folder"] = source.folder.string();
  made["has_members"] = source.has_members;
  made["has_trajectories"] = source.has_trajectories;
  return made;
}

}  // namespace

ReportSource::ReportSource(const std::filesystem::path& path) : folder(path), summary(read_summary(path)) {
  study = load_study((folder / "study.toml").string());
  text = NetcdfSource(folder / "statistics.nc").attribute("study");
  std::error_code ignored;
  has_members = std::filesystem::exists(folder / "members.nc", ignored);
  has_trajectories = std::filesystem::exists(folder / "trajectories.nc", ignored);
}

ReportJson rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

ReportJson rounded(const std::vector<double>& values) {
  ReportJson made = ReportJson::array();
  for (const double value : values) made.push_back(rounded(value));
  return made;
}

std::vector<std::size_t> spread(std::size_t count, std::size_t wanted) {
  std::vector<std::size_t> made;
  if (count <= wanted) {
    for (std::size_t i = 0; i < count; ++i) made.push_back(i);
    return made;
  }
  wanted = std::max<std::size_t>(wanted, 2);
  for (std::size_t i = 0; i < wanted; ++i) made.push_back(i * (count - 1) / (wanted - 1));
  return made;
}

std::vector<std::size_t> report_times(const ReportSource& source) {
  const Study& study = source.study;
  const std::size_t observables = std::min(study.system->observables.size(), report_names_limit);
  std::size_t each = observables * (study.statistics.quantiles.size() + 7);
  for (const auto& [name, histogram] : study.statistics.histograms)
    // counts have few digits
    each += std::min<std::size_t>(static_cast<std::size_t>(histogram.bins), 80) / 3;
  const std::size_t affordable = most_series_numbers / std::max<std::size_t>(each, 1);
  return spread(study.time.outputs.size(), std::clamp<std::size_t>(affordable, 20, most_times));
}

ReportJson report_data(const ReportSource& source) {
  const std::vector<std::size_t> times = report_times(source);
  ReportJson made = overview(source);
  made["quantiles"] = source.study.statistics.quantiles;
  made["times_in_files"] = source.study.time.outputs.size();
  ReportJson shown = ReportJson::array();
  for (const std::size_t t : times) shown.push_back(rounded(source.study.time.outputs[t]));
  made["time"] = shown;
  made["sweep"] = report_sweep(source);
  made["records"] = report_records(source);
  made["labels"] = source.summary.value("labels", ReportJson());
  made["basins"] = report_basins(source);
  // With a sweep there are no statistics over all members.
  const bool plain = source.study.sweeps.empty();
  const ReportJson none = ReportJson::array();
  made["observables"] = plain ? report_observables(source, times) : none;
  made["measures"] = plain ? report_measures(source) : none;
  // Small tables, shown as they are in summary.json.
  for (const char* key : {"first_order", "sensitivity", "given"})
    made[key] = plain && source.summary.contains(key) ? source.summary[key] : ReportJson();
  for (auto& [name, given] : made["given"].items())
    for (const char* key : {"measures", "observables"}) given.erase(key);
  made["inputs"] = ReportJson::object();
  if (plain)
    for (const auto& [name, input] : source.summary["inputs"].items())
      made["inputs"][name] = {{"mean", input["mean"]}};
  made["relations"] = plain ? report_relations(source)
                            : ReportJson{{"names", none}, {"kinds", none}, {"rank", none}, {"linear", none}};
  made["sample"] = plain ? report_sample(source) : ReportJson();
  made["motion"] = report_motion(source);
  return made;
}

}  // namespace zwang
