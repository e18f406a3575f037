// Checkpoints of a run: at intervals the progress is recorded in the result folder, so that an interrupted or
// killed run can be resumed.
#pragma once

#include "host/files/member_records.h"
#include "host/files/result_folder.h"
#include "host/files/run_identity.h"
#include "host/files/run_record.h"
#include "host/platform/stopwatch.h"
#include "host/run/run.h"

namespace zwang {

struct CheckpointSettings {
  double seconds = 10;  // interval; 0: after every batch
};

class Checkpoint {
 public:
  // The folder must outlive it.
  Checkpoint(ResultFolder& folder, CheckpointSettings settings) : folder_(folder), settings_(settings) {}
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;
  ~Checkpoint();  // removes member records if there is no checkpoint

  // The record to resume from, if there is one. Throws Error if it is damaged or belongs to another run,
  // naming the difference.
  std::optional<RecordReader> found(const RunIdentity& identity) const;

  // Whether a checkpoint is due after `done` members. After the first one, checkpoints take at most 2 % of
  // the run time, but there is one at least every ten minutes.
  bool due(long long done) const;
  // Saves the record with the run's part and the mark of the members' file; member records are flushed to
  // disk first.
  void save(RunRecord record, const EnsembleRun& run, MemberRecordsFile* members);
  bool exists() const { return folder_.has_checkpoint(); }

 private:
  ResultFolder& folder_;
  CheckpointSettings settings_;
  Stopwatch all_{}, since_{};  // since the start, and since the last checkpoint
  double spent_s_ = 0;         // on all checkpoints
  // Cost of the last checkpoint, and the members it contains.
  double last_cost_s_ = 0;
  long long last_done_ = 0;
};

}  // namespace zwang
