// Locking, temporary names and the atomic publication of result files.
#include "host/files/result_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "host/platform/machine_error.h"
#include "host/sample/csv_inputs.h"
#include "src/base/error.h"

namespace zwang {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view part_ending = ".part";
constexpr mode_t for_everybody = 0666;  // restricted by the umask

std::string part_name(const std::string& name) {
  return "." + name + "." + std::to_string(::getpid()) + std::string(part_ending);
}

// Process that wrote this part; 0 if it is not a part of a result.
pid_t owner_of(const std::string& file) {
  std::vector<std::string> names = ResultFolder::result_names();
  names.emplace_back(ResultFolder::checkpoint_name);
  names.emplace_back(ResultFolder::publishing_name);
  for (const std::string& name : names) {
    const std::string opening = "." + name + ".";
    if (!file.starts_with(opening) || !file.ends_with(part_ending)) continue;
    if (file.size() <= opening.size() + part_ending.size()) continue;
    const std::string digits = file.substr(opening.size(), file.size() - opening.size() - part_ending.size());
    if (digits.size() < 10 && digits.find_first_not_of("0123456789") == std::string::npos)
      return static_cast<pid_t>(std::stol(digits));
  }
  return 0;
}

bool alive(pid_t process) { return ::kill(process, 0) == 0 || errno != ESRCH; }

// Returns 0 or errno. EINVAL: the file system does not support fsync and does not need it.
int through_to_disk(const fs::path& path) {
  const OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return errno;
  return ::fsync(file.descriptor()) == 0 || errno == EINVAL ? 0 : errno;
}

// Dangling links count as present. Paths that cannot be examined do not: creating the file reports the cause.
bool is_there(const fs::path& path) {
  std::error_code failed;
  return fs::exists(fs::symlink_status(path, failed));
}

bool is_folder(const fs::path& path) {
  std::error_code failed;
  return fs::is_directory(path, failed);
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code failed;
  return fs::equivalent(a, b, failed) && !failed;
}

}  // namespace

const std::vector<std::string>& ResultFolder::result_names() {
  static const std::vector<std::string> names = {
      "report.html",     csv_inputs_name, "study.toml",       "statistics.nc", "members.nc",
      "trajectories.nc", "records.nc",    shard_members_name, shard_name,      "summary.json"};
  return names;
}

ResultFolder::ResultFolder(const fs::path& folder, const ResultFolderOptions& options)
    : folder_(folder.lexically_normal()) {
  if (!folder_.has_filename() && folder_.has_relative_path()) folder_ = folder_.parent_path();
  make_folders();
  try {
    lock();
    refuse_results(options);
    if (!options.resume || !has_checkpoint()) remove_checkpoint();
    remove_leftovers();
    try_writing();
  } catch (...) {
    for (auto made = made_.rbegin(); made != made_.rend(); ++made) ::rmdir(made->c_str());
    throw;
  }
}

ResultFolder::~ResultFolder() {
  if (published_) return;
  for (const std::string& name : names_) ::unlink((folder_ / part_name(name)).c_str());
  // rmdir leaves folders that are not empty.
  for (auto made = made_.rbegin(); made != made_.rend(); ++made) ::rmdir(made->c_str());
}

void ResultFolder::fail(const std::string& message, const fs::path& where, int code) const {
  throw MachineError({.where = {where.string(), 0, 0},
                      .message = message,
                      .found = system_message(code),
                      .expected = "a folder that can be written to, with room on its disk",
                      .hint = "--out chooses another"});
}

void ResultFolder::make_folders() {
  std::vector<fs::path> missing;
  fs::path existing = folder_;
  for (; !existing.empty() && !is_there(existing); existing = existing.parent_path())
    missing.push_back(existing);
  if (!existing.empty() && !is_folder(existing))
    throw Error({.where = {existing.string(), 0, 0},
                 .message = "results cannot be written here",
                 .found = "something that is not a folder",
                 .expected = "a folder, or a name for a new one"});
  std::reverse(missing.begin(), missing.end());
  for (const fs::path& here : missing) {
    // Another process may have created it meanwhile; it is not removed by this run then.
    if (::mkdir(here.c_str(), 0777) == 0)
      made_.push_back(here);
    else if (errno != EEXIST)
      fail("the folder for the results could not be created", here, errno);
  }
}

// Held until the process ends, however it ends: the system releases it.
void ResultFolder::lock() {
  lock_ = OpenFile(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock_.is_open()) fail("the folder for the results could not be opened", folder_, errno);
  locked_ = ::flock(lock_.descriptor(), LOCK_EX | LOCK_NB) == 0;
  // Network file systems may not support locks on folders; the process numbers in the names of the parts are
  // used then.
  if (locked_ || errno != EWOULDBLOCK) return;
  throw Error({.where = {folder_.string(), 0, 0},
               .message = "another run is writing its results here",
               .found = "a run that has not ended",
               .expected = "one run at a time in a folder",
               .hint = "wait for it, or choose another folder with --out"});
}

// Existing files with names of results. The study and its inputs must not be replaced even with --overwrite.
std::vector<std::string> ResultFolder::results_present(const ResultFolderOptions& options) const {
  std::vector<std::string> present;
  for (const std::string& name : result_names()) {
    const fs::path file = folder_ / name;
    if (!is_there(file)) continue;
    present.push_back(name);
    if (!options.study.empty() && same_file(file, options.study))
      throw Error({.where = {folder_.string(), 0, 0},
                   .message = "the results would overwrite the study file",
                   .found = file.string(),
                   .expected = "a folder other than the study's",
                   .hint = "--out chooses one"});
    for (const fs::path& input : options.inputs)
      if (same_file(file, input))
        throw Error({.where = {folder_.string(), 0, 0},
                     .message = "the results would overwrite a file that the study reads",
                     .found = file.string(),
                     .expected = "a folder other than that file's",
                     .hint = "--out chooses one"});
    if (is_folder(file))
      throw Error({.where = {file.string(), 0, 0},
                   .message = "a folder has the name of a result file",
                   .found = file.string(),
                   .expected = "no entry of that name, or a file"});
  }
  return present;
}

void ResultFolder::refuse_results(const ResultFolderOptions& options) {
  const std::vector<std::string> present = results_present(options);
  if (options.overwrite || (options.resume && has_checkpoint())) return;
  if (has_checkpoint())
    throw Error({.where = {folder_.string(), 0, 0},
                 .message = "the folder holds a run that was interrupted",
                 .found = hidden(checkpoint_name).filename().string(),
                 .expected = "a folder without results",
                 .hint = "--resume continues it, --overwrite restarts it, --out chooses another folder"});
  if (present.empty()) return;
  const bool complete = present.back() == "summary.json" || present.back() == shard_name;
  complete_ = complete && options.resume;
  const bool half_published = !complete && is_there(hidden(publishing_name));
  if (complete_ || (half_published && options.resume)) return;
  throw Error({.where = {folder_.string(), 0, 0},
               .message = complete ? "the folder holds results already"
                                   : "the folder holds files that have the names of results",
               .found = list_text(present),
               .expected = "a folder without results",
               .hint = std::string(half_published ? "--resume finishes them, " : "") +
                       "--overwrite replaces them, --out chooses another folder"});
}

// With the lock, no other run writes here; without it, the parts of running processes are left alone.
void ResultFolder::remove_leftovers() const {
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, failed)) {
    const pid_t owner = owner_of(entry.path().filename().string());
    if (owner != 0 && (locked_ || owner == ::getpid() || !alive(owner))) ::unlink(entry.path().c_str());
  }
  if (complete_) ::unlink(hidden(publishing_name).c_str());
}

// Fail now rather than after hours of integration.
void ResultFolder::try_writing() {
  const fs::path trial = part(result_names().back());
  const int code = write_new(trial, "{}\n", for_everybody, false);
  if (code != 0) fail("the folder for the results cannot be written to", trial, code);
  ::unlink(trial.c_str());
}

fs::path ResultFolder::part(const std::string& name) {
  const std::scoped_lock lock(guard_);
  if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
  return folder_ / part_name(name);
}

void ResultFolder::write(const std::string& name, std::string_view text) {
  const fs::path file = part(name);
  ::unlink(file.c_str());
  const int code = write_new(file, text, for_everybody, false);
  if (code != 0) fail("the file could not be written", file, code);
}

// summary.json is removed first, so that the folder no longer looks complete.
void ResultFolder::remove_earlier() const {
  for (auto name = result_names().rbegin(); name != result_names().rend(); ++name) {
    const fs::path file = folder_ / *name;
    if (::unlink(file.c_str()) != 0 && errno != ENOENT)
      fail("a file of an earlier run could not be removed", file, errno);
    if (name == result_names().rbegin())
      if (const int code = through_to_disk(folder_); code != 0) fail("could not be written", folder_, code);
  }
}

bool ResultFolder::has_checkpoint() const { return is_there(hidden(checkpoint_name)); }

// The checkpoint is removed before the member records it refers to.
void ResultFolder::remove_checkpoint() const {
  const fs::path checkpoint = hidden(checkpoint_name);
  if (::unlink(checkpoint.c_str()) == 0)
    through_to_disk(folder_);
  else if (errno != ENOENT)
    fail("a checkpoint could not be removed", checkpoint, errno);
  ::unlink(hidden(checkpoint_members_name).c_str());
}

void ResultFolder::keep(const std::string& name) {
  const fs::path from = part(name), to = hidden(name);
  if (const int code = through_to_disk(from); code != 0)
    fail("the file could not be written to the disk", from, code);
  if (::rename(from.c_str(), to.c_str()) != 0) fail("the file could not be given its name", to, errno);
  if (const int code = through_to_disk(folder_); code != 0) fail("could not be written", folder_, code);
}

void ResultFolder::publish() {
  std::vector<std::string> written;
  for (const std::string& name : result_names())
    if (is_there(folder_ / part_name(name))) written.push_back(name);
  for (const std::string& name : written) {
    const fs::path file = folder_ / part_name(name);
    if (const int code = through_to_disk(file); code != 0)
      fail("the file could not be written to the disk", file, code);
  }

  write(publishing_name, "");
  keep(publishing_name);
  remove_earlier();
  for (const std::string& name : written) {
    // All other files are on the disk under their names before the summary, or the shard, is renamed.
    if (name == "summary.json" || name == shard_name) through_to_disk(folder_);
    const fs::path from = folder_ / part_name(name), to = folder_ / name;
    if (::rename(from.c_str(), to.c_str()) != 0) fail("the file could not be given its name", to, errno);
  }
  through_to_disk(folder_);
  ::unlink(hidden(publishing_name).c_str());
  published_ = true;
}

}  // namespace zwang
