// The folder a run writes its results into. Files are written beside their final names and get them all together at the
// end, summary.json last: where it stands, everything stands, and all of it is of one run.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "host/platform/private_files.h"

namespace zwang {

struct ResultFolderOptions {
  bool overwrite = false;  // results of an earlier run are replaced, when the new ones are complete
  bool resume = false;     // an interrupted run is continued; results that are complete are left alone
  std::string study = {};  // path of the study that is run: never overwritten
  std::vector<std::filesystem::path> inputs = {};  // files the study reads: never overwritten either
};

class ResultFolder {
 public:
  // Makes the folder and its parents, takes away what dead runs left behind, and tries whether it can be written to.
  // Error where it holds results or a checkpoint already (unless `overwrite` or `resume`), or is in use by another run;
  // MachineError where the disk will not have it.
  explicit ResultFolder(const std::filesystem::path& folder, const ResultFolderOptions& options = {});
  ResultFolder(const ResultFolder&) = delete;
  ResultFolder& operator=(const ResultFolder&) = delete;
  ~ResultFolder();  // unpublished: takes the parts away, and the folder if it made it

  const std::filesystem::path& path() const { return folder_; }

  // Where to write the result file of this name until it is published.
  std::filesystem::path part(const std::string& name);
  // A whole result file, from its text.
  void write(const std::string& name, std::string_view text);

  // The parts become the results; those of an earlier run go. When this returns they are on the disk.
  void publish();

  // The part of this name becomes the hidden file of that name, on the disk when this returns: an earlier one is
  // replaced at once, never half.
  void keep(const std::string& name);
  std::filesystem::path hidden(const std::string& name) const { return folder_ / ("." + name); }
  bool has_checkpoint() const;
  void remove_checkpoint() const;  // and what belongs to it

  // With `resume`: whether the run that is to be continued has left its results, and no checkpoint.
  bool complete() const { return complete_; }

  // A run's checkpoint, and the members it counts on.
  static constexpr const char* checkpoint_name = "checkpoint";
  static constexpr const char* checkpoint_members_name = "checkpoint-members";
  // Stands while files get their names: what is found without a summary is then a dead run's, and no one else's.
  static constexpr const char* publishing_name = "publishing";
  // A finished shard, and its members.
  static constexpr const char* shard_name = "shard.zwang";
  static constexpr const char* shard_members_name = "shard-members.zwang";

  // Names a run may write; summary.json is the last.
  static const std::vector<std::string>& result_names();

 private:
  void make_folders();
  void lock();
  void refuse_results(const ResultFolderOptions& options);
  std::vector<std::string> results_present(const ResultFolderOptions& options) const;
  void remove_leftovers() const;
  void try_writing();
  void remove_earlier() const;
  [[noreturn]] void fail(const std::string& message, const std::filesystem::path& where, int code) const;

  std::filesystem::path folder_;
  std::vector<std::filesystem::path> made_;  // folders that were not there before, outermost first
  OpenFile lock_;
  bool locked_ = false, complete_ = false;
  std::vector<std::string> names_;  // of the parts handed out
  bool published_ = false;
};

}  // namespace zwang
