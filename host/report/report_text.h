// The files of host/report/, embedded in the program: the report is assembled from them and the data of a
// run.
#pragma once

#include <span>
#include <string_view>

namespace zwang {

struct ReportFile {
  std::string_view name;  // "host/report/page.html"
  std::string_view text;
};

// Sorted by name; scripts are inserted into the page in this order.
std::span<const ReportFile> report_files();

}  // namespace zwang
