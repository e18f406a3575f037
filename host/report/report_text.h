// The files of host/report/, carried inside the program: the report is one page made of them and of a run's numbers.
#pragma once

#include <span>
#include <string_view>

namespace zwang {

struct ReportFile {
  std::string_view name;  // "host/report/page.html"
  std::string_view text;
};

// By name; scripts are put into the page in this order.
std::span<const ReportFile> report_files();

}  // namespace zwang
