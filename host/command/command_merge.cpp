// `merge`: joins the shards of a run into its results.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "host/command/command.h"
#include "host/files/result_folder.h"
#include "host/platform/interrupt.h"
#include "host/results/merge.h"
#include "host/results/run_files.h"
#include "host/results/run_table.h"
#include "host/sample/csv_inputs.h"
#include "src/base/error.h"

namespace zwang {

namespace {

struct MergeCommandOptions {
  std::vector<std::string> folders;
  std::string out;
  bool overwrite = false, quiet = false, json = false;
  std::string max_failed = "5%";
  unsigned threads = 0;
};

// With --overwrite the results could replace one of their own shards.
void require_other_folder(const MergeCommandOptions& options) {
  for (const std::string& folder : options.folders) {
    std::error_code failed;
    if (std::filesystem::equivalent(folder, options.out, failed) && !failed)
      throw Error({.message = "--out: the results would overwrite a shard",
                   .found = options.out,
                   .expected = "a folder that is not one of the shards"});
  }
}

int merge(const MergeCommandOptions& options) {
  const double max_failed = read_max_failed(options.max_failed);
  require_other_folder(options);
  const InterruptWatch interrupts;
  ShardMerge shards({options.folders.begin(), options.folders.end()});
  ResultFolder folder(options.out,
                      {.overwrite = options.overwrite, .inputs = CsvInputs(shards.study()).paths()});
  const FiledRun made = shards.into(folder, options.threads, [&] { interrupts.check(); });

  int printed = exit_done;
  if (options.json)
    printed = print(made.summary);
  else if (!options.quiet)
    printed = print(run_table(
        shards.study(), made.result,
        {.folder = folder.path().string(),
         .files = made.files,
         .replay = "zwang replay " + shell_word((folder.path() / "study.toml").string()) + " --member "}));
  return printed != exit_done ? printed : verdict(made.result.tally, max_failed);
}

}  // namespace

void add_merge(CLI::App& app, Action& action) {
  const auto given = std::make_shared<MergeCommandOptions>();
  CLI::App* command = app.add_subcommand(
      "merge", "join the shards of a run; the results are identical, bit for bit, to those of a single run");
  command->add_option("DIR", given->folders, "folders of the shards, in any order")->required();
  command->add_option("--out", given->out, "folder for the results")
      ->required()
      ->check([](const std::string& text) { return text.empty() ? "found nothing, expected a folder" : ""; });
  command->add_flag("--overwrite", given->overwrite, "replace results that exist in the folder");
  command
      ->add_option("--max-failed", given->max_failed,
                   "largest accepted share of failed members, as 5% or 0.05; exit code 3 beyond it")
      ->capture_default_str();
  command
      ->add_option("--threads", given->threads,
                   "number of threads, 0: all cores; results do not depend on it")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command->add_flag("--quiet", given->quiet, "print no table, only errors (and JSON with --json)");
  command->add_flag("--json", given->json, "print summary.json instead of the table");
  command->footer(
      "Examples:\n"
      "  zwang run configs/slung_load.toml --shard 1/2 --out shards/1\n"
      "  zwang run configs/slung_load.toml --shard 2/2 --out shards/2\n"
      "  zwang merge shards/1 shards/2 --out results/slung_load\n"
      "  zwang merge shards/* --out results/slung_load --overwrite");
  command->callback([&action, given] { action = [given] { return merge(*given); }; });
}

}  // namespace zwang
