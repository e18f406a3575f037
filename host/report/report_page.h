// The report: one HTML page with everything in it, to be opened from the disk without a network.
#pragma once

#include <filesystem>
#include <string>

namespace zwang {

// The page of a result folder. Error where the folder holds no results.
std::string report_page(const std::filesystem::path& folder);

// Writes it beside, then renames; MachineError where the disk will not have it.
void write_report(const std::filesystem::path& folder, const std::filesystem::path& to);

constexpr const char* report_name = "report.html";

}  // namespace zwang
