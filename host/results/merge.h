// Shards of one run joined into its results: the files are those that a single run would have written.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "host/files/member_records.h"
#include "host/files/result_folder.h"
#include "host/files/run_record.h"
#include "host/results/run_files.h"
#include "host/run/run_result.h"
#include "host/study/study.h"

namespace zwang {

class ShardMerge {
 public:
  // Reads whose the shards are. Throws Error where a folder holds no shard, a shard is damaged, missing, given twice or
  // of another run; the difference is named.
  explicit ShardMerge(const std::vector<std::filesystem::path>& folders);

  const Study& study() const { return study_; }
  // Joins, writes and publishes, as run_into does.
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
  void tell_members(const TakeMembers& take, const std::vector<std::size_t>& drawn) const;
  RecordedTrajectories trajectories() const;

  std::vector<Part> parts_;  // in their order, once all are known to be there
  Study study_;
};

}  // namespace zwang
