#include "host/command/run_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/command/bad_verdict.h"
#include "host/files/run_identity.h"
#include "host/inspect/failure_cause.h"
#include "host/results/run_table.h"
#include "host/run/progress.h"
#include "kernels/base/status.h"

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
  std::string counts;
  std::size_t most = static_cast<std::size_t>(Status::ok);
  for (std::size_t how = 0; how < status_count; ++how) {
    if (tally.status[how] == 0) continue;
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count_text(tally.status[how]),
                          status_name(static_cast<Status>(how)));
    if (tally.status[how] > tally.status[most]) most = how;
  }
  const long long member = tally.examples[most].front();
  const std::string cause = failure_cause(study, member);
  throw BadVerdict(
      {.where = {study.path, 0, 0},
       .message = fmt::format("member {} ends as {}{}; all of the first {} members fail, so the run was "
                              "stopped and nothing was written",
                              member, status_name(static_cast<Status>(most)),
                              cause.empty() ? "" : ": " + cause, count_text(tally.members)),
       .found = counts,
       .expected = "members that reach their end",
       .hint = "`" + replay_command(options) + std::to_string(member) +
               "` shows one; --max-failed 100% runs all members nevertheless"});
}

}  // namespace zwang
