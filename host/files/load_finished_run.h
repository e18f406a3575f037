// A run that has ended before, as its folder tells it.
#pragma once

#include <filesystem>
#include <string>

#include "host/files/run_record.h"
#include "host/statistics/run_tally.h"
#include "host/study/study.h"

namespace zwang {

struct FinishedRun {
  std::string summary;  // the text of summary.json; empty for a shard
  RunTally tally;       // of a whole run only members, entered and failed
};

// Throws Error where the folder holds the results of another study or another shard; the difference is named.
FinishedRun read_finished(const std::filesystem::path& folder, const Study& study, const Shard& shard);

}  // namespace zwang
