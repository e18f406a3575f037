// A run whose results go into a folder: statistics.nc, members.nc, trajectories.nc, study.toml,
// inputs.csv, summary.json; of a shard what `merge` makes these from.
#pragma once

#include "host/backend/backend.h"
#include "host/files/checkpoint.h"
#include "host/files/member_records.h"
#include "host/files/result_folder.h"
#include "host/files/run_record.h"
#include "host/rank/coordinator.h"
#include "host/run/run.h"
#include "host/run/run_result.h"
#include "host/study/study.h"

namespace zwang {

struct FiledRun {
  RunResult result;
  std::string summary;             // the text of summary.json
  std::vector<std::string> files;  // names, in the order in which they are worth looking at
};

struct RunFilesOptions {
  Shard shard = {};
  CheckpointSettings checkpoints = {};
  std::function<void(long long done)> resumed = {};  // told before the run goes on from a checkpoint
  RankCoordinator* coordinator = nullptr;            // who integrates; nobody: the backend, here
};

// Runs, writes and publishes. Options as for run_ensemble; its `members`, `first` and `end` are set here. Goes on from a
// checkpoint where the folder holds one. Until this returns the folder holds nothing new under a final name; when
// something is thrown, it never will. `check` is asked between files too; where it throws Interrupted, what was done is
// in a checkpoint.
FiledRun run_into(ResultFolder& folder, const Study& study, Backend& backend, RunOptions options,
                  const std::function<void()>& check, const RunFilesOptions& files = {});

// What results are written from, wherever it comes from.
struct ResultSources {
  std::vector<std::size_t> drawn;  // as Sampler::drawn()
  std::function<void(const TakeMembers&)>
      members;  // tells all of them; asked where the study wants members.nc
  std::function<RecordedTrajectories()> trajectories;  // of the members the study chose
};

// Writes every file but the summary. `made.result` is given; the names of the files are added.
void write_results(ResultFolder& folder, const Study& study, FiledRun& made, const ResultSources& sources,
                   const std::function<void()>& check);
// The summary tells how long everything took, so it comes last.
void write_summary(ResultFolder& folder, const Study& study, FiledRun& made);

// The study as run and what it reads.
void write_study_files(ResultFolder& folder, const Study& study, FiledRun& made);

}  // namespace zwang
