// The result folder of a run. Files are written under temporary names and renamed together at the end,
// summary.json last: if it is present, all files are complete and belong to one run.
#pragma once

#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "host/platform/private_files.h"

namespace zwang {

struct ResultFolderOptions {
  bool overwrite = false;  // replace results of an earlier run, once the new ones are complete
  bool resume = false;     // continue an interrupted run; complete results are left alone
  std::string study = {};  // path of the study: never overwritten
  std::vector<std::filesystem::path> inputs = {};  // files the study reads: never overwritten
};

class ResultFolder {
 public:
  // Creates the folder and its parents, removes files left behind by killed runs, and tests whether it can be
  // written to. Throws Error if it already holds results or a checkpoint (unless `overwrite` or `resume`) or
  // is in use by another run; MachineError if the file system refuses.
  explicit ResultFolder(const std::filesystem::path& folder, const ResultFolderOptions& options = {});
  ResultFolder(const ResultFolder&) = delete;
  ResultFolder& operator=(const ResultFolder&) = delete;
  ~ResultFolder();  // unpublished: removes the parts, and the folder if it was created here

  const std::filesystem::path& path() const { return folder_; }

  // Path to write the result file of this name to until it is published. May be called by several threads: one
  // begins members.nc while another writes a checkpoint.
  std::filesystem::path part(const std::string& name);
  // Writes a complete result file.
  void write(const std::string& name, std::string_view text);

  // Renames the parts to result files and removes those of an earlier run. When this returns they are on the
  // disk.
  void publish();

  // Renames the part to the hidden file of that name; it is on the disk when this returns. An existing file
  // is replaced atomically.
  void keep(const std::string& name);
  std::filesystem::path hidden(const std::string& name) const { return folder_ / ("." + name); }
  bool has_checkpoint() const;
  void remove_checkpoint() const;  // and its member records

  // With `resume`: whether the folder holds complete results and no checkpoint.
  bool complete() const { return complete_; }

  // A run's checkpoint and its member records.
  static constexpr const char* checkpoint_name = "checkpoint";
  static constexpr const char* checkpoint_members_name = "checkpoint-members";
  // Marker that exists while files are renamed: results without a summary then stem from a run killed at that
  // moment.
  static constexpr const char* publishing_name = "publishing";
  // A finished shard and its member records.
  static constexpr const char* shard_name = "shard.zwang";
  static constexpr const char* shard_members_name = "shard-members.zwang";

  // Names of all files a run may write; summary.json is the last.
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
  std::vector<std::filesystem::path> made_;  // folders created here, outermost first
  OpenFile lock_;
  bool locked_ = false, complete_ = false;
  std::mutex guard_;                // of names_
  std::vector<std::string> names_;  // of the parts
  bool published_ = false;
};

}  // namespace zwang
