// zwang_soak: runs random studies and checks them, for a given time or number. Exit code 0: every law held;
// 1: some were broken, and the studies are in the folder of --keep; 2: a fifth of the studies or more could
// not be run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fstream>

#include "host/platform/machine_error.h"
#include "host/platform/private_files.h"
#include "tests/soak/soak_study.h"

namespace zwang::soak {
namespace {

struct Options {
  std::uint64_t seed = 1;
  double minutes = 0;
  long long studies = 0;
  std::string report, keep = "soak_failures";
  std::string only;
  bool print = false;
  bool quiet = false;
};

void write(const std::filesystem::path& path, const std::string& text) {
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
  std::ofstream stream(path, std::ios::binary);
  if (!(stream << text).flush()) throw MachineError({.message = "cannot write " + path.string()});
}

// New failures; their studies are kept beside the report, for running them again.
void soak_one(const RandomStudy& random, const Options& options, const SoakSettings& settings,
              SoakReport& report) {
  const std::size_t before = report.suspects.size();
  soak_study(random, settings, report);
  const bool suspect = report.suspects.size() > before;
  if (suspect)
    write(std::filesystem::path(options.keep) / fmt::format("soak_{}.toml", random.seed), random.text);
  if (!options.quiet) {
    fmt::print("{} {} ({}){}\n", report.studies, random.seed, joined(random.made_of),
               suspect ? " FAILED" : "");
    std::fflush(stdout);
  }
}

int soak(const Options& options, SoakSettings settings) {
  const auto begun = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  };
  SoakReport report;
  for (std::uint64_t seed = options.seed;; ++seed) {
    if (options.studies > 0 && report.studies >= options.studies) break;
    if (options.minutes > 0 && seconds() >= 60 * options.minutes) break;
    const RandomStudy random = random_study(seed, static_cast<long long>(settings.members));
    const std::vector<std::string>& parts = random.made_of;
    if (!options.only.empty() && std::find(parts.begin(), parts.end(), options.only) == parts.end()) continue;
    // A cache for each study, since no program is needed twice.
    const TemporaryFolder programs;
    settings.cache = programs.path() / "programs";
    soak_one(random, options, settings, report);
    report.seconds = seconds();
    if (!options.report.empty()) write(options.report, report.text());
  }
  fmt::print("{}", report.text());
  if (!report.good()) return 1;
  // A few studies may exceed the time limit of the compiler; with a fifth of them the test is not meaningful.
  const bool ran = report.machine.empty() || report.machine.begin()->second.times * 5 < report.studies;
  return ran ? 0 : 2;
}

int run(int argc, char** argv) {
  CLI::App app{"Random studies, judged by the laws of mechanics and by the reference"};
  Options options;
  SoakSettings settings;
  app.add_option("--seed", options.seed, "of the first study; the next has the next number");
  app.add_option("--minutes", options.minutes, "stop after so long; 0: no limit");
  app.add_option("--studies", options.studies, "stop after so many; 0: no limit");
  app.add_option("--members", settings.members, "of each study");
  app.add_option("--threads", settings.threads, "of the backends; 0: all cores");
  app.add_option("--report", options.report, "a file for the report, kept up to date");
  app.add_option("--keep", options.keep, "a folder for studies that fail");
  app.add_option("--only", options.only, "only studies with this part: friction, limits, chain, ...");
  app.add_flag("--print", options.print, "print the study of --seed and do nothing");
  app.add_flag("--quiet", options.quiet, "only the report");
  CLI11_PARSE(app, argc, argv);
  if (options.print) {
    fmt::print("{}", random_study(options.seed, static_cast<long long>(settings.members)).text);
    return 0;
  }
  if (options.minutes <= 0 && options.studies <= 0) options.studies = 20;
  return soak(options, settings);
}

}  // namespace
}  // namespace zwang::soak

int main(int argc, char** argv) {
  try {
    return zwang::soak::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "zwang_soak: {}\n", error.what());
    return 2;
  }
}
