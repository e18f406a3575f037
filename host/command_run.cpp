// `run`: the ensemble simulated, its results in a folder.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <limits>

#include "host/backend_factory.h"
#include "host/child_process.h"
#include "host/command.h"
#include "host/csv_inputs.h"
#include "host/interrupt.h"
#include "host/progress.h"
#include "host/report_page.h"
#include "host/run_files.h"
#include "host/run_table.h"
#include "host/run_tally.h"
#include "host/share_text.h"
#include "src/error.h"

namespace zwang {

namespace {

struct RunCommandOptions : CommonOptions {
  long long members = 0;  // 0: as the study says
  std::string backend = "auto";
  unsigned threads = 0;
  std::vector<int> devices = {0};
  std::string out;  // empty: results/<study name>
  bool overwrite = false;
  bool report = false;
  bool quiet = false;
  std::string max_failed = "5%";
  long long batch = 0;
  long long statistics_memory = 512;  // MiB
};

// The seed goes into study.toml, and TOML has no larger numbers.
void require_seed_for_toml(unsigned long long seed) {
  constexpr unsigned long long largest = std::numeric_limits<long long>::max();
  if (seed > largest)
    throw Error({.message = "--seed: too large",
                 .found = std::to_string(seed),
                 .expected = "a whole number from 0 to " + std::to_string(largest)});
}

// What changes the study goes through its document, so that study.toml among the results tells it too.
Study load_for_run(const RunCommandOptions& options) {
  std::vector<std::string> overrides = options.overrides;
  if (options.members > 0) overrides.push_back("ensemble.members=" + std::to_string(options.members));
  require_seed_for_toml(options.seed);
  if (options.has_seed) overrides.push_back("ensemble.seed=" + std::to_string(options.seed));
  Study study = load_study(options.study, overrides);
  if (!options.quiet) note_added_parameters(study);
  return study;
}

// The command that replays a member of this run, up to the member's number.
std::string replay_command(const RunCommandOptions& options) {
  std::string command = "zwang replay " + shell_word(options.study);
  for (const std::string& assignment : options.overrides) command += " --set " + shell_word(assignment);
  // A Latin hypercube's draws depend on the number of members.
  if (options.members > 0) command += fmt::format(" --set ensemble.members={}", options.members);
  if (options.has_seed) command += fmt::format(" --seed {}", options.seed);
  return command + " --member ";
}

RunOptions run_options(const RunCommandOptions& options, ProgressDisplay& display,
                       const InterruptWatch& interrupts) {
  RunOptions made;
  made.threads = options.threads;
  made.batch = options.batch;
  made.statistics_memory = static_cast<std::size_t>(options.statistics_memory) << 20;
  made.progress = [&](const RunProgress& progress) {
    interrupts.check();
    display.show(progress);
  };
  return made;
}

int verdict(const RunTally& tally, double max_failed) {
  if (failed_share(tally) <= max_failed) return exit_done;
  std::cerr << fmt::format(
      "zwang: {} of {} members failed ({:.3g} %), more than --max-failed allows ({:.3g} %); "
      "{}\n",
      tally.failed, tally.members, 100 * failed_share(tally), 100 * max_failed,
      tally.entered > 0 ? "the statistics are over the rest" : "there is nothing to make statistics of");
  return exit_bad_verdict;
}

int run(const RunCommandOptions& options) {
  const double max_failed = read_share(options.max_failed, "--max-failed");
  const Study study = load_for_run(options);
  const InterruptWatch interrupts;
  ResultFolder folder(
      options.out.empty() ? "results/" + study.name : options.out,
      {.overwrite = options.overwrite, .study = options.study, .inputs = CsvInputs(study).paths()});
  const auto tell = [&](const std::string& text) {
    if (!options.quiet || text.starts_with("WARNING")) note(text);
  };
  const std::unique_ptr<Backend> backend = make_backend(
      options.backend, study, {.threads = options.threads, .devices = options.devices, .note = tell});
  interrupts.check();

  ProgressDisplay display(stderr, options.quiet);
  FiledRun made = [&] {
    try {
      return run_into(folder, study, *backend, run_options(options, display, interrupts),
                      [&] { interrupts.check(); });
    } catch (const Interrupted&) {
      display.clear();
      if (!options.quiet) note("interrupted: no results were written");
      throw;
    }
  }();
  display.clear();
  if (options.report) {
    write_report(folder.path(), folder.path() / report_name);
    made.files.emplace_back(report_name);
  }

  int printed = exit_done;
  if (options.json)
    printed = print(made.summary);
  else if (!options.quiet)
    printed = print(run_table(
        study, made.result,
        {.folder = folder.path().string(), .files = made.files, .replay = replay_command(options)}));
  return printed != exit_done ? printed : verdict(made.result.tally, max_failed);
}

void add_options(CLI::App* command, RunCommandOptions& options) {
  add_common(command, options);
  command->get_option("--json")->description("print summary.json instead of the table");
  command->add_option("--members", options.members, "how many, instead of the study's number")
      ->check([](const std::string& text) { return at_least(text, 1); });
  command->add_option("--backend", options.backend, "what integrates")
      ->check(CLI::IsMember({"auto", "cpu", "cuda", "reference"}))
      ->capture_default_str();
  add_devices(command, options.devices);
  command->add_option("--threads", options.threads, "0: all cores; results do not depend on it")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command->add_option("--out", options.out, "folder for the results (default: results/<study name>)")
      ->check([](const std::string& text) { return text.empty() ? "found nothing, expected a folder" : ""; });
  command->add_flag("--overwrite", options.overwrite, "replace results that are in the folder");
  command->add_flag("--report", options.report, "write report.html among the results too");
  command
      ->add_option("--max-failed", options.max_failed,
                   "exit code 3 where a larger share of the members fails: 5% or 0.05")
      ->capture_default_str();
  command->add_flag("--quiet", options.quiet, "no progress, no table: only errors, and --json if asked for");
  command
      ->add_option("--batch", options.batch,
                   "members at a time (default: by memory and speed); results do not depend on it")
      ->check([](const std::string& text) { return at_least(text, 1); });
  command
      ->add_option("--statistics-memory", options.statistics_memory,
                   "MiB for values and buckets; quantiles are exact while the values fit")
      ->check(CLI::Range(1LL, 1LL << 24))
      ->capture_default_str();
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  const auto given = std::make_shared<RunCommandOptions>();
  CLI::App* command = app.add_subcommand(
      "run", "simulate the ensemble and write its statistics; exit code 3 when too many members failed");
  add_options(command, *given);
  command->footer(
      "Examples:\n"
      "  zwang run configs/slung_load.toml\n"
      "  zwang run configs/slung_load.toml --members 1000000 --out results/million --quiet\n"
      "  zwang run configs/slung_load.toml --set parameters.drag=0.1 --seed 7 --overwrite --json > run.json");
  command->callback([&action, given] { action = [given] { return run(*given); }; });
}

}  // namespace zwang
