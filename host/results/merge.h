// Joins the shards of one run: the files are byte-identical to those of a single run.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "host/backend/member_bytes.h"
#include "host/files/member_records.h"
#include "host/files/result_folder.h"
#include "host/files/run_identity.h"
#include "host/files/run_record.h"
#include "host/results/run_files.h"
#include "host/run/run_result.h"
#include "host/study/study.h"

namespace zwang {

class ShardMerge {
 public:
  // Reads the identities of the shards. Throws Error if a folder holds no shard, or if a shard is damaged,
  // missing, given twice or of another run, naming the difference.
  explicit ShardMerge(const std::vector<std::filesystem::path>& folders);

  const Study& study() const { return study_; }
  // Joins the shards, writes and publishes the results, as run_into does.
  FiledRun into(ResultFolder& folder, unsigned threads, const std::function<void()>& check);

 private:
  struct Part {
    std::filesystem::path folder;
    RecordReader reader;
    Shard shard;
  };

  void require_one_run() const;
  void require_every_shard();
  void load_study_of_shards();
  RunResult joined(unsigned threads);
  void read_member_records(const TakeMembers& take, const MemberRecordLayout& layout) const;
  RecordedTrajectories trajectories() const;

  std::vector<Part> parts_;  // sorted by shard number once all are present
  Study study_;
};

}  // namespace zwang
