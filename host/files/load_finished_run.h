// Loads the results of a finished run from its folder.
#pragma once

#include <filesystem>
#include <string>

#include "host/files/run_identity.h"
#include "host/statistics/run_tally.h"
#include "host/study/study.h"

namespace zwang {

struct FinishedRun {
  std::string summary;  // the text of summary.json; empty for a shard
  RunTally tally;       // for a whole run, only members, entered and failed are set
};

// Throws Error if the folder holds the results of another study or another shard, naming the difference.
FinishedRun read_finished(const std::filesystem::path& folder, const Study& study, const Shard& shard);

}  // namespace zwang
