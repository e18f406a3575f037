#include "host/command/run_command.h"

#include <fmt/format.h>

#include "host/command/bad_verdict.h"
#include "host/files/run_identity.h"
#include "host/inspect/failure_cause.h"
#include "host/results/run_table.h"

namespace zwang {

Error named_by_options(const Error& error, const RunCommandOptions& options) {
  std::vector<Problem> problems = error.problems();
  const auto rename = [](Problem& problem, const std::string& path, const std::string& option) {
    if (problem.where.file != "--set" || !problem.message.starts_with(path + ": ")) return;
    problem.where.file = option;
    problem.message.erase(0, path.size() + 2);
  };
  for (Problem& problem : problems) {
    if (options.members > 0) rename(problem, "ensemble.members", "--members");
    if (options.has_seed) rename(problem, "ensemble.seed", "--seed");
  }
  return Error(std::move(problems));
}

std::string replay_command(const RunCommandOptions& options) {
  std::string command = "zwang replay " + shell_word(options.study);
  for (const std::string& assignment : options.overrides) command += " --set " + shell_word(assignment);
  // The draws of a Latin hypercube depend on the number of members.
  if (options.members > 0) command += fmt::format(" --set ensemble.members={}", options.members);
  if (options.has_seed) command += fmt::format(" --seed {}", options.seed);
  return command + " --member ";
}

std::string resume_command(const RunCommandOptions& options) {
  std::string command = "zwang run " + shell_word(options.study);
  for (const std::string& assignment : options.overrides) command += " --set " + shell_word(assignment);
  if (options.members > 0) command += fmt::format(" --members {}", options.members);
  if (options.has_seed) command += fmt::format(" --seed {}", options.seed);
  if (options.backend != RunCommandOptions().backend) command += " --backend " + options.backend;
  if (options.device_given) command += " --device " + device_text(options.devices);
  if (!read_shard(options.shard).whole()) command += " --shard " + options.shard;
  if (options.statistics_memory != RunCommandOptions().statistics_memory)
    command += fmt::format(" --statistics-memory {}", options.statistics_memory);
  if (options.report) command += " --report";
  if (options.max_failed != RunCommandOptions().max_failed)
    command += " --max-failed " + shell_word(options.max_failed);
  if (!options.out.empty()) command += " --out " + shell_word(options.out);
  if (options.yes) command += " --yes";
  return command + " --resume";
}

[[noreturn]] void report_all_failed(const RunCommandOptions& options, const Study& study,
                                    const RunTally& tally) {
  throw BadVerdict(all_failed_problem(study, tally, stopped_early_text(tally), [&](long long member) {
    return "`" + replay_command(options) + std::to_string(member) +
           "` shows one; --max-failed 100% runs all members nevertheless";
  }));
}

}  // namespace zwang
