// A run, or a shard of one, as a file: whose it is, where it stands, and its statistics so far. Checkpoints and finished
// shards are such files.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/backend/backend.h"
#include "host/files/member_records.h"
#include "host/run/run.h"
#include "host/run/run_result.h"
#include "host/statistics/bytes.h"
#include "host/statistics/plan.h"
#include "host/statistics/statistics.h"
#include "host/study/study.h"

namespace zwang {

// Which of how many shards, from 1; or the whole run, which is not the same as the only shard: that one is for `merge`.
struct Shard {
  long long number = 1, of = 1;
  bool is_shard = false;
  bool whole() const { return !is_shard; }
  std::string text() const { return whole() ? "none" : std::to_string(number) + "/" + std::to_string(of); }
};
// "i/n", or "none": the whole run. Throws Error where it is neither.
Shard read_shard(const std::string& text);

// Everything that decides about the bits of the results, by name, in the order in which a difference is worth telling.
struct RunIdentity {
  std::vector<std::pair<std::string, std::string>> facts;

  const std::string& fact(const std::string& name) const;  // "" where there is none
  std::size_t statistics_memory() const;                   // bytes; 0 where that fact cannot be read
};
RunIdentity run_identity(const Study& study, const RunResult& origin, std::size_t statistics_memory,
                         const Shard& shard);

// The first difference in words: what the record says, what the other one says. Nothing where they agree; `except` is
// not compared.
struct IdentityDifference {
  std::string name, found, expected;
};
std::optional<IdentityDifference> difference(const RunIdentity& found, const RunIdentity& expected,
                                             const std::string& except = "");

// The chosen members with all they can tell, as far as they belong to the part.
struct RecordedTrajectories {
  std::vector<long long> members;
  BatchResults results;  // status, end_time, observables, states, events
};

struct RunRecord {
  RunIdentity identity;
  std::string study_name, study_text;  // the file's name and the text as the user wrote it
  std::vector<std::string> inputs;     // names of what was drawn
  RunPart part;
  MemberRecordsMark members;  // of the file with the members' records beside it
  RecordedTrajectories trajectories;
};

// A part to bytes and back, its statistics apart.
void save_part(ByteWriter& bytes, const RunPart& part);
RunPart load_part(ByteReader& bytes);
void save_identity(ByteWriter& bytes, const RunIdentity& identity);
RunIdentity load_identity(ByteReader& bytes);

// MachineError where it will not have it.
void write_record(const std::filesystem::path& path, const RunRecord& record, const Statistics& statistics);

// An open record: the statistics need a plan, and the plan needs the study that the record tells.
class RecordReader {
 public:
  // `what`: how a message calls the file, "checkpoint". Throws Error where it is damaged, and names the hint.
  RecordReader(const std::filesystem::path& path, std::string what, std::string hint);

  const RunRecord& record() const { return record_; }
  Statistics statistics(StatisticsPlan plan);  // once
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
