// Data of a report: the numbers of a result folder, thinned so that the page stays small.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "host/study/study.h"

namespace zwang {

using ReportJson = nlohmann::ordered_json;

// A result folder as read by a report. Throws Error if it holds no results.
struct ReportSource {
  explicit ReportSource(const std::filesystem::path& folder);

  std::filesystem::path folder;
  Study study;         // from study.toml: the study as run
  ReportJson summary;  // summary.json
  std::string text;    // the study as written, with comments
  bool has_members = false, has_trajectories = false;
};

// All data; the functions below return its parts.
ReportJson report_data(const ReportSource& source);

// Observables at the thinned times with their histograms; measures with their histograms; correlations.
ReportJson report_observables(const ReportSource& source, const std::vector<std::size_t>& times);
ReportJson report_measures(const ReportSource& source);
ReportJson report_relations(const ReportSource& source);
// Measures by the points of the sweeps; null without a sweep.
ReportJson report_sweep(const ReportSource& source);
// Rows of records as densities; null without records.nc.
ReportJson report_records(const ReportSource& source);
// Labels of the members on two grids; null without both, or without members.nc.
ReportJson report_basins(const ReportSource& source);
// A sample of members with measures and inputs; null without members.nc.
ReportJson report_sample(const ReportSource& source);
// Motion and events of the stored trajectories, and the scene to draw; null without trajectories.nc.
ReportJson report_motion(const ReportSource& source);

// Output times shown for observables: all, or evenly spaced ones including the last.
std::vector<std::size_t> report_times(const ReportSource& source);
std::vector<std::size_t> spread(std::size_t count, std::size_t wanted);

// Rounded to six digits, more than a screen shows, to keep the page small. Values that are not finite become
// null.
ReportJson rounded(double value);
ReportJson rounded(const std::vector<double>& values);

// Longer lists are truncated, and the page says so.
constexpr std::size_t report_names_limit = 60;

}  // namespace zwang
