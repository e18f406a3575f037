// What a report shows: the numbers of a result folder, thinned so that the page stays small.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "host/study/study.h"

namespace zwang {

using ReportJson = nlohmann::ordered_json;

// A result folder as a report reads it. Error where it is none.
struct ReportSource {
  explicit ReportSource(const std::filesystem::path& folder);

  std::filesystem::path folder;
  Study study;         // from study.toml: the study as run
  ReportJson summary;  // summary.json
  std::string text;    // the study as it was written, comments and all
  bool has_members = false, has_trajectories = false;
};

// The whole of it; the parts below are its keys.
ReportJson report_data(const ReportSource& source);

// Observables over a thinned time, with their histograms; measures and their histograms; correlations.
ReportJson report_observables(const ReportSource& source, const std::vector<std::size_t>& times);
ReportJson report_measures(const ReportSource& source);
ReportJson report_relations(const ReportSource& source);
// A sample of members, inputs beside measures; null without members.nc.
ReportJson report_sample(const ReportSource& source);
// Chosen members in motion, their events, and what to draw; null without trajectories.nc.
ReportJson report_motion(const ReportSource& source);

// Output times that are shown of observables: all, or evenly chosen with the last.
std::vector<std::size_t> report_times(const ReportSource& source);
std::vector<std::size_t> spread(std::size_t count, std::size_t wanted);

// Six digits are more than a screen shows, and keep the page small. What is not finite is null.
ReportJson rounded(double value);
ReportJson rounded(const std::vector<double>& values);

// Lists longer than this are cut, and the page says so.
constexpr std::size_t report_names_limit = 60;

}  // namespace zwang
