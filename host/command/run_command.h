// The options of `run`, and the commands and messages that follow from them.
#pragma once

#include <string>
#include <vector>

#include "host/command/command.h"
#include "host/statistics/run_tally.h"
#include "host/study/study.h"
#include "src/base/error.h"

namespace zwang {

struct RunCommandOptions : CommonOptions {
  long long members = 0;  // 0: the study's number
  std::string backend = "auto";
  unsigned threads = 0;
  std::vector<int> devices = {0};
  bool device_given = false;
  std::string out;  // empty: results/<study name>
  bool overwrite = false, resume = false;
  std::string shard = "none";
  double checkpoint = 10;  // seconds
  bool report = false;
  bool quiet = false, timings = false;
  bool yes = false;
  std::string max_failed = "5%";
  long long batch = 0;
  long long statistics_memory = 512;  // MiB
};

// --members and --seed change the study like --set does, but a message about them names the option that was
// given.
Error named_by_options(const Error& error, const RunCommandOptions& options);

// The command that replays a member of this run, without the member's number at the end.
std::string replay_command(const RunCommandOptions& options);

// The command that resumes this run. With MPI the user has to add the launcher's command.
std::string resume_command(const RunCommandOptions& options);

// A run that was stopped because its first members all failed: the cause, and that nothing was written.
[[noreturn]] void report_all_failed(const RunCommandOptions& options, const Study& study,
                                    const RunTally& tally);

}  // namespace zwang
