// `report`: writes the results of a run as one HTML page.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "host/command/command.h"
#include "host/report/report_page.h"

namespace zwang {

namespace {

struct ReportOptions {
  std::string folder;
  std::string out;  // empty: report.html in the results folder
};

int report(const ReportOptions& options) {
  const std::filesystem::path folder = options.folder;
  const std::filesystem::path to =
      options.out.empty() ? folder / report_name : std::filesystem::path(options.out);
  write_report(folder, to);
  return print(fmt::format("{}\n", to.string()));
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
  const auto given = std::make_shared<ReportOptions>();
  CLI::App* command =
      app.add_subcommand("report", "write the results of a run as one HTML page and print its path");
  command->add_option("DIR", given->folder, "folder of the results")->required();
  command->add_option("--out", given->out, "path of the page (default: report.html in the results folder)");
  command->footer(
      "The page is one self-contained file and needs no network.\n"
      "Examples:\n"
      "  zwang report results/slung_load\n"
      "  zwang report results/slung_load --out slung_load.html");
  command->callback([&action, given] { action = [given] { return report(*given); }; });
}

}  // namespace zwang
