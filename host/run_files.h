// A run whose results go into a folder: statistics.nc, members.nc, trajectories.nc, study.toml,
// inputs.csv, summary.json.
#pragma once

#include "host/result_folder.h"
#include "host/run.h"

namespace zwang {

struct FiledRun {
  RunResult result;
  std::string summary;             // the text of summary.json
  std::vector<std::string> files;  // names, in the order in which they are worth looking at
};

// Runs, writes and publishes. Options as for run_ensemble; its `members` is used here. Until this returns the folder
// holds nothing new under a final name; when something is thrown, it never will. `check` is asked between files too.
FiledRun run_into(ResultFolder& folder, const Study& study, Backend& backend, RunOptions options,
                  const std::function<void()>& check);

}  // namespace zwang
