// File of a run or a shard: its identity, progress and statistics so far. Checkpoints and finished shards are
// such files.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/backend/backend.h"
#include "host/files/member_records.h"
#include "host/files/run_identity.h"
#include "host/platform/bytes.h"
#include "host/run/run.h"
#include "host/statistics/ensemble_statistics.h"

namespace zwang {

// States, observables and events of the members listed in [output] trajectories, as far as they belong to the
// part.
struct RecordedTrajectories {
  std::vector<long long> members;
  BatchResults results;  // status, end_time, observables, states, events
};

struct RunRecord {
  RunIdentity identity;
  std::string study_name, study_text;  // name and text of the study file as the user wrote it
  std::vector<std::string> inputs;     // names of the drawn inputs
  RunPart part;
  MemberRecordsMark members;  // of the member records in the file beside it
  RecordedTrajectories trajectories;
};

// Throws MachineError if the file cannot be written.
void write_record(const std::filesystem::path& path, const RunRecord& record,
                  const EnsembleStatistics& statistics);

// Reads a record in two steps: the statistics need a plan, and the plan needs the study named in the record.
class RecordReader {
 public:
  // `what`: name of the file in messages, for example "checkpoint". Throws Error, with the hint, if it is
  // damaged.
  RecordReader(const std::filesystem::path& path, std::string what, std::string hint);

  const RunRecord& record() const { return record_; }
  EnsembleStatistics statistics(EnsemblePlan plan);  // call once
  [[noreturn]] void refuse(const std::string& found, const std::string& expected) const;

 private:
  template <class Work>
  auto guarded(Work&& work);

  std::filesystem::path path_;
  std::string what_, hint_;
  std::ifstream stream_;
  RunRecord record_;
};

}  // namespace zwang
