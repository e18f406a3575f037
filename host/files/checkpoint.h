// The checkpoints of a run: every few seconds what is done is recorded in the folder of the results, so that a run that is
// interrupted or killed goes on from there.
#pragma once

#include "host/files/member_records.h"
#include "host/files/result_folder.h"
#include "host/files/run_record.h"
#include "host/platform/stopwatch.h"
#include "host/run/run.h"

namespace zwang {

struct CheckpointSettings {
  double seconds = 10;  // from one to the next; 0: after every batch
};

class Checkpoint {
 public:
  // The folder must outlive it.
  Checkpoint(ResultFolder& folder, CheckpointSettings settings) : folder_(folder), settings_(settings) {}
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;
  ~Checkpoint();  // members that no checkpoint counts on go

  // The record to go on from, where there is one. Throws Error where it is damaged or of another run: the difference is
  // named.
  std::optional<RecordReader> found(const RunIdentity& identity) const;

  // Whether it is time, now that so many members are done. Seldom enough that, but for the first, recording takes a
  // fiftieth of the time; every ten minutes in any case.
  bool due(long long done) const;
  // `record` but for the part and the mark, which are the run's. Members go to the disk first.
  void save(RunRecord record, const EnsembleRun& run, MemberRecordsFile* members);
  bool exists() const { return folder_.has_checkpoint(); }

 private:
  ResultFolder& folder_;
  CheckpointSettings settings_;
  Stopwatch all_{}, since_{};  // the beginning, and the last one
  double spent_s_ = 0;         // on all of them
  // What the last one cost, and how many members it was of.
  double last_cost_s_ = 0;
  long long last_done_ = 0;
};

}  // namespace zwang
