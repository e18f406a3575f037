// `run`: simulates the ensemble and writes its results to a folder.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <limits>

#include "host/backend/backend.h"
#include "host/backend/cuda/early_start.h"
#include "host/command/bad_verdict.h"
#include "host/command/command.h"
#include "host/command/confirm_run.h"
#include "host/command/run_command.h"
#include "host/files/load_finished_run.h"
#include "host/files/result_folder.h"
#include "host/files/run_identity.h"
#include "host/inspect/failure_cause.h"
#include "host/platform/child_process.h"
#include "host/platform/interrupt.h"
#include "host/platform/stage_times.h"
#include "host/rank/coordinator.h"
#include "host/rank/link.h"
#include "host/rank/worker.h"
#include "host/report/report_page.h"
#include "host/results/run_files.h"
#include "host/results/run_table.h"
#include "host/run/all_failed.h"
#include "host/run/backend_factory.h"
#include "host/run/progress.h"
#include "host/run/run.h"
#include "host/sample/check_starts.h"
#include "host/sample/csv_inputs.h"
#include "host/statistics/plan.h"
#include "host/statistics/run_tally.h"
#include "host/study/study.h"
#include "host/study_file/load_study.h"
#include "host/toml/raw_text.h"
#include "kernels/base/status.h"
#include "src/base/error.h"

namespace zwang {

namespace {

// The seed is written to study.toml, and TOML integers are limited to 63 bits.
void require_seed_for_toml(unsigned long long seed) {
  constexpr unsigned long long largest = std::numeric_limits<long long>::max();
  if (seed > largest)
    throw Error({.message = "--seed: too large",
                 .found = std::to_string(seed),
                 .expected = "a whole number from 0 to " + std::to_string(largest)});
}

// Options that change the study are applied to its document, so that study.toml among the results contains
// them.
Study load_for_run(const RunCommandOptions& options) {
  std::vector<std::string> overrides = options.overrides;
  if (options.members > 0) overrides.push_back("ensemble.members=" + std::to_string(options.members));
  require_seed_for_toml(options.seed);
  if (options.has_seed) overrides.push_back("ensemble.seed=" + std::to_string(options.seed));
  const StageTimer timer("load study");
  try {
    return load_by_path_or_name(options.study, overrides, options.quiet);
  } catch (const Error& error) {
    throw named_by_options(error, options);
  }
}

RunOptions run_options(const RunCommandOptions& options, ProgressDisplay& display,
                       RunConfirmation& confirmation, const InterruptWatch& interrupts) {
  RunOptions made;
  made.stop_if_all_fail = read_max_failed(options.max_failed) < 1;
  made.threads = options.threads;
  made.batch = options.batch;
  made.statistics_memory = static_cast<std::size_t>(options.statistics_memory) << 20;
  made.progress = [&](const RunProgress& progress) {
    interrupts.check();
    confirmation.during(progress, [&] { display.clear(); });
    display.show(progress);
  };
  return made;
}

// The options of a run for one rank.
RunOptions worker_options(const RunCommandOptions& options, const RankLink& link) {
  RunOptions made;
  made.threads = options.threads > 0 ? options.threads : rank_threads(link);
  made.batch = options.batch;
  made.statistics_memory = static_cast<std::size_t>(options.statistics_memory) << 20;
  return made;
}

RunFilesOptions files_options(const RunCommandOptions& options, const Shard& shard) {
  return {.shard = shard,
          .checkpoints = {.seconds = options.checkpoint},
          .resumed = [quiet = options.quiet](long long done) {
            if (!quiet) note(fmt::format("resumed: {} members were already done", done));
          }};
}

// --resume of a complete run only reports how it ended. Job scripts may therefore always use --resume.
int finished_before(const RunCommandOptions& options, const Study& study, const Shard& shard,
                    const ResultFolder& folder, double max_failed) {
  const FinishedRun found = read_finished(folder.path(), study, shard);
  if (!options.quiet) note("the run in " + folder.path().string() + " is complete; nothing to do");
  if (options.report) write_report(folder.path(), folder.path() / report_name);
  const int printed = options.json && !found.summary.empty() ? print(found.summary) : exit_done;
  return printed != exit_done ? printed : verdict(found.tally, max_failed);
}

// Ranks of one machine share its cores and its GPUs.
BackendOptions backend_options(const RunCommandOptions& options, const RankLink* link) {
  BackendOptions made;
  made.threads = options.threads;
  made.devices = options.devices;
  if (link) made.threads = worker_options(options, *link).threads;
  if (link) made.devices = {rank_device(*link, options.device_given ? options.devices : std::vector<int>{})};
  const bool silent = link && link->rank() != 0;
  made.note = [quiet = options.quiet, silent](const std::string& text) {
    if (!silent && (!quiet || text.starts_with("WARNING"))) note(text);
  };
  return made;
}

// After a run that ended early: prints what is saved and the command that continues.
void note_how_to_resume(const RunCommandOptions& options, const ResultFolder& folder,
                        const std::string& cause) {
  if (options.quiet) return;
  note(cause +
       (folder.has_checkpoint() ? ": finished members are saved; to continue:\n"
                                : ": no members were saved yet; to start again:\n") +
       resume_command(options));
}

// Runs the study and writes its files to the folder.
FiledRun run_in(ResultFolder& folder, const RunCommandOptions& options, const Study& study,
                const Shard& shard, RunConfirmation& confirmation, const InterruptWatch& interrupts,
                RankLink* link, std::unique_ptr<cuda::EarlyStart> early) {
  if (link) start_ranks(*link);
  ProgressDisplay display(stderr, options.quiet);
  const std::unique_ptr<Backend> backend = [&] {
    // From the cache a program is loaded within a tenth of a second.
    const DelayedLine compiling(display, compiling_text(study));
    const StageTimer timer("start backend");
    return make_backend(options.backend, study, backend_options(options, link));
  }();
  early.reset();
  interrupts.check();
  RunFilesOptions files = files_options(options, shard);
  std::optional<RankCoordinator> coordinator;
  if (link) {
    coordinator.emplace(*link, study, backend.get(),
                        WorkerSettings{.run = worker_options(options, *link), .shard = shard, .check = [&] {
                                         interrupts.check();
                                       }});
    files.coordinator = &*coordinator;
  }
  try {
    FiledRun made = run_into(
        folder, study, *backend, run_options(options, display, confirmation, interrupts),
        [&] { interrupts.check(); }, files);
    display.clear();
    return made;
  } catch (...) {
    display.clear();
    throw;
  }
}

int show(const RunCommandOptions& options, const Study& study, const ResultFolder& folder,
         const FiledRun& made, double max_failed) {
  int printed = exit_done;
  if (options.json)
    printed = print(made.summary);
  else if (!options.quiet)
    printed =
        print(run_table(study, made.result,
                        {.folder = folder.path().string(),
                         .files = made.files,
                         .replay = replay_command(options),
                         .cause = [&](Status, long long member) { return failure_cause(study, member); }}));
  return printed != exit_done ? printed : verdict(made.result.tally, max_failed);
}

// A run without MPI, or rank 0 of an MPI run, which collects and writes the results.
int run_and_write(const RunCommandOptions& options, RankLink* link) {
  const double max_failed = read_max_failed(options.max_failed);
  // Ranks choose their device later.
  std::unique_ptr<cuda::EarlyStart> early;
  if (!link && (options.backend == "auto" || options.backend == "cuda"))
    early = std::make_unique<cuda::EarlyStart>(options.devices);
  const Study study = load_for_run(options);
  const Shard shard = read_shard(options.shard);
  if (options.report && !shard.whole())
    throw Error({.message = "--report: a shard has no results of its own",
                 .found = "--shard " + options.shard,
                 .expected = "a whole run",
                 .hint = "use `zwang report` after `zwang merge`"});
  const InterruptWatch interrupts;
  ResultFolder folder(options.out.empty() ? "results/" + study.name : options.out,
                      {.overwrite = options.overwrite,
                       .resume = options.resume,
                       .study = options.study,
                       .inputs = CsvInputs(study).paths()});
  if (folder.complete()) return finished_before(options, study, shard, folder, max_failed);
  RunConfirmation confirmation(options.yes, options.quiet);
  const auto [first, end] = shard_members(study.ensemble.members, shard.number - 1, shard.of);
  confirmation.before(study, end - first);
  require_consistent_starts(study, first, end, options.threads);
  RunCommandOptions repeated = options;  // for the command that resumes
  try {
    FiledRun made = run_in(folder, options, study, shard, confirmation, interrupts, link, std::move(early));
    if (options.report) {
      const StageTimer timer("write report");
      write_report(folder.path(), folder.path() / report_name);
      made.files.emplace_back(report_name);
    }
    const int code = show(options, study, folder, made, max_failed);
    if (options.timings) note(StageTimes::get().table());
    return code;
  } catch (const Interrupted&) {
    repeated.yes = confirmation.agreed();
    note_how_to_resume(repeated, folder, "interrupted");
    return exit_interrupted;
  } catch (const Error&) {
    throw;  // resuming would fail in the same way
  } catch (const AllFailed& failed) {
    report_all_failed(options, study, failed.tally());
  } catch (...) {
    repeated.yes = confirmation.agreed();
    if (folder.has_checkpoint()) note_how_to_resume(repeated, folder, "the run has ended early");
    throw;
  }
}

// Any other rank of an MPI run. Its errors are sent to rank 0, which prints them.
int run_as_worker(const RunCommandOptions& options, RankLink& link) {
  if (wait_for_start(link)) {
    try {
      const InterruptWatch interrupts;
      RunCommandOptions silent = options;
      silent.quiet = true;
      const Study study = load_for_run(silent);
      const std::unique_ptr<Backend> backend =
          make_backend(options.backend, study, backend_options(options, &link));
      work_for_rank_zero(link, study, *backend,
                         {.run = worker_options(options, link),
                          .shard = read_shard(options.shard),
                          .check = [&] { interrupts.check(); }});
    } catch (...) {
      report_error_to_rank_zero(link);
    }
  }
  link.leave();
  return exit_done;
}

int run(const RunCommandOptions& options) {
  if (options.timings) StageTimes::get().enable();
  const std::unique_ptr<RankLink> link = join_ranks();
  if (!link) return run_and_write(options, nullptr);
  if (link->rank() != 0) return run_as_worker(options, *link);
  int code = exit_done;
  try {
    code = run_and_write(options, link.get());
  } catch (...) {
    code = report_exception();
  }
  if (!stop_ranks(*link)) {
    note("a rank does not respond: all ranks are ended now");
    link->abort(code);
  }
  return code;
}

// The headings of --help.
void group_options(CLI::App* command) {
  const auto group = [&](const char* title, std::initializer_list<const char*> names) {
    for (const char* name : names) command->get_option(name)->group(title);
  };
  group("Ensemble", {"--members", "--seed", "--set", "--shard"});
  group("Machine", {"--backend", "--device", "--threads", "--batch", "--statistics-memory", "--timings"});
  group("Output", {"--out", "--overwrite", "--resume", "--checkpoint", "--report", "--json", "--quiet",
                   "--max-failed", "--yes"});
}

void add_options(CLI::App* command, RunCommandOptions& options) {
  add_common(command, options);
  // Added again below with its own text: --help shows the groups in the order of their first options.
  command->remove_option(command->get_option("--json"));
  accept_whole_number(command->add_option("--members", options.members,
                                          "number of members, instead of the study's (also as 1e6)"),
                      1, member_limit);
  command
      ->add_option(
          "--backend", options.backend,
          "backend that integrates the members; auto: cuda if there is a GPU, but cpu with eight or more "
          "frictional contacts in space; else cpu")
      ->check(CLI::IsMember({"auto", "cpu", "cuda", "reference"}))
      ->capture_default_str();
  add_devices(command, options.devices);
  command
      ->add_option("--threads", options.threads,
                   "number of threads, 0: all cores; results do not depend on it")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command->add_option("--out", options.out, "folder for the results (default: results/<study name>)")
      ->check([](const std::string& text) { return text.empty() ? "found nothing, expected a folder" : ""; });
  CLI::Option* overwrite =
      command->add_flag("--overwrite", options.overwrite, "replace results that exist in the folder");
  command->add_flag("--resume", options.resume, "continue the interrupted run in the folder, if there is one")
      ->excludes(overwrite);
  command
      ->add_option("--shard", options.shard,
                   "i/n: run only the i-th of n parts of the ensemble; `zwang merge` joins them")
      ->capture_default_str();
  command
      ->add_option("--checkpoint", options.checkpoint,
                   "seconds between checkpoints for --resume; 0: after every batch")
      ->check([](const std::string& text) { return at_least(text, 0); })
      ->capture_default_str();
  command->add_flag("--report", options.report, "also write report.html to the results folder");
  command->add_flag("--json", options.json, "print summary.json instead of the table");
  command
      ->add_option("--max-failed", options.max_failed,
                   "largest accepted share of failed members, as 5% or 0.05; exit code 3 beyond it")
      ->capture_default_str();
  command->add_flag("--yes", options.yes,
                    "run without a question although it takes more than an hour or 10 GB");
  command->add_flag("--quiet", options.quiet,
                    "print no progress and no table, only errors (and JSON with --json)");
  accept_whole_number(
      command->add_option(
          "--batch", options.batch,
          "members per batch (default: chosen by memory and speed); results do not depend on it"),
      1, member_limit);
  command
      ->add_option("--statistics-memory", options.statistics_memory,
                   "MiB for stored values or quantile sketches; quantiles are exact if all values fit")
      ->check(CLI::Range(1LL, 1LL << 24))
      ->capture_default_str();
  command->add_flag("--timings", options.timings,
                    "print the seconds of each stage of the run at the end, which slows it a little");
  group_options(command);
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  const auto given = std::make_shared<RunCommandOptions>();
  CLI::App* command = app.add_subcommand(
      "run", "simulate the ensemble and write its statistics; exit code 3 if too many members fail");
  add_options(command, *given);
  command->footer(
      "Examples:\n"
      "  zwang run slung_load\n"
      "  zwang run configs/slung_load.toml --members 1e6 --out results/million --quiet\n"
      "  zwang run configs/slung_load.toml --set parameters.drag=0.1 --seed 7 --overwrite --json > run.json\n"
      "  zwang run configs/slung_load.toml --members 1000000 --resume\n"
      "  zwang run configs/slung_load.toml --shard 2/7 --out shards/2\n"
      "  mpirun -n 8 zwang run configs/slung_load.toml --members 1000000 --resume");
  command->callback([&action, given, command] {
    given->device_given = command->count("--device") > 0;
    action = [given] { return run(*given); };
  });
}

}  // namespace zwang
