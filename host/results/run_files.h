// Runs a study and writes its result folder: statistics.nc, members.nc, trajectories.nc, study.toml,
// inputs.csv and summary.json; for a shard, the files from which `merge` makes these.
#pragma once

#include "host/backend/backend.h"
#include "host/files/checkpoint.h"
#include "host/files/member_records.h"
#include "host/files/result_folder.h"
#include "host/files/run_identity.h"
#include "host/files/run_record.h"
#include "host/rank/coordinator.h"
#include "host/run/run.h"
#include "host/run/run_result.h"
#include "host/study/study.h"

namespace zwang {

struct FiledRun {
  RunResult result;
  std::string summary;             // text of summary.json
  std::vector<std::string> files;  // names, most important first
};

struct RunFilesOptions {
  Shard shard = {};
  CheckpointSettings checkpoints = {};
  std::function<void(long long done)> resumed = {};  // called before a run is resumed from a checkpoint
  // distributes the work over ranks; null: the backend of this process integrates
  RankCoordinator* coordinator = nullptr;
};

// Runs the study, writes and publishes the results. Options as for run_ensemble; its `members`, `first` and
// `end` are set here. Resumes from a checkpoint if the folder holds one. Until this returns, the folder has
// no new file under a final name, and never will have one if an exception is thrown. `check` is also called
// between files; if it throws Interrupted, the progress is saved in a checkpoint.
FiledRun run_into(ResultFolder& folder, const Study& study, Backend& backend, RunOptions options,
                  const std::function<void()>& check, const RunFilesOptions& files = {});

// Sources of the data that results are written from: a run or a merge.
struct ResultSources {
  // writes or completes members.nc under this name; called if the study has one
  std::function<void(const std::filesystem::path& part)> write_members;
  std::function<void(const TakeMembers& take)> read_members;  // all records; called if the study keeps them
  std::function<RecordedTrajectories()> trajectories;         // of the members the study selects
};

// Writes all files except the summary. `made.result` must be set; the names of the files are added.
void write_results(ResultFolder& folder, const Study& study, FiledRun& made, const ResultSources& sources,
                   const std::function<void()>& check);
// Written last, because the summary contains the times of all other steps.
void write_summary(ResultFolder& folder, const Study& study, FiledRun& made);

// The study as run and the columns it reads.
void write_study_files(ResultFolder& folder, const Study& study, FiledRun& made);

}  // namespace zwang
