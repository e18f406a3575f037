// The report: one self-contained HTML page that needs no network.
#pragma once

#include <filesystem>
#include <string>

namespace zwang {

// The page of a result folder. Throws Error if the folder holds no results.
std::string report_page(const std::filesystem::path& folder);

// Writes the page to a temporary file, then renames it. Throws MachineError if it cannot be written.
void write_report(const std::filesystem::path& folder, const std::filesystem::path& to);

constexpr const char* report_name = "report.html";

}  // namespace zwang
