#include "host/program/program_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <vector>

#include "host/platform/machine_error.h"

namespace zwang {

namespace fs = std::filesystem;

namespace {

// Thrown if the cache folder cannot be used; a temporary folder is used instead.
struct Unusable {
  std::string why;
};

// XXH3, 128 bits: fast enough for every start. It does not protect against malicious files; the check of the
// folder's owner does.
std::string hash_text(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

constexpr std::size_t hash_length = 32;

// First line of a key file: size and checksum, by which a damaged library is detected.
std::string header_line(std::string_view library) {
  return fmt::format("zwang program 1, {} bytes, xxh3 {}\n", library.size(), hash_text(library));
}

// --- Locks -------------------------------------------------------------------------------------------------

// Whether the path still names this open file. Removing a program removes its lock file too; a process that
// waited for that lock then holds a lock on a removed file.
bool is_at(const OpenFile& file, const fs::path& path) {
  struct stat held {};
  struct stat named {};
  return ::fstat(file.descriptor(), &held) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

OpenFile open_lock(const fs::path& path) {
  OpenFile file = open_private(path, O_RDWR | O_CREAT);
  // Programs in a read-only folder can still be used.
  if (!file.is_open() && (errno == EROFS || errno == EACCES)) {
    const int code = errno;
    file = open_private(path, O_RDONLY);
    if (!file.is_open()) errno = code;
  }
  if (!file.is_open()) throw Unusable{path.string() + ": " + system_message(errno)};
  return file;
}

bool try_lock(const OpenFile& file, int how) { return ::flock(file.descriptor(), how | LOCK_NB) == 0; }

// Polls, because a blocking flock has no time limit.
void lock(const OpenFile& file, int how, std::chrono::milliseconds lock_timeout) {
  const auto deadline = std::chrono::steady_clock::now() + lock_timeout;
  while (!try_lock(file, how)) {
    if (errno != EWOULDBLOCK && errno != EINTR) throw Unusable{"could not lock: " + system_message(errno)};
    if (std::chrono::steady_clock::now() > deadline)
      throw Unusable{"another run has held the lock for too long"};
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// --- Files -------------------------------------------------------------------------------------------------

fs::path file_of(const fs::path& folder, const std::string& name, const char* extension) {
  return folder / (name + extension);
}

// Whether the folder contains exactly this program, undamaged; if so, marks it as used.
bool is_intact(const fs::path& folder, const std::string& name, std::string_view key_text) {
  const OpenFile key_file = open_private(file_of(folder, name, ".key"), O_RDONLY);
  const OpenFile library_file = open_private(file_of(folder, name, ".so"), O_RDONLY);
  const auto key = read_whole(key_file);
  const auto library = read_whole(library_file);
  if (!key || !library || library->empty()) return false;

  const std::string first_line = header_line(*library);
  const bool intact = std::string_view(*key).starts_with(first_line) &&
                      std::string_view(*key).substr(first_line.size()) == key_text;
  if (intact)
    ::futimens(key_file.descriptor(), nullptr);  // may fail in a read-only folder, which is harmless
  return intact;
}

// Writes under a name that only the holder of the lock uses, then renames.
void write_in_place(const fs::path& place, std::string_view text, mode_t mode) {
  const fs::path draft = place.string() + ".new";
  ::unlink(draft.c_str());
  int code = write_new(draft, text, mode, true);
  if (code == 0 && ::rename(draft.c_str(), place.c_str()) != 0) {
    code = errno;
    ::unlink(draft.c_str());
  }
  if (code != 0) throw Unusable{place.string() + ": " + system_message(code)};
}

// The lock file is removed last.
void remove_program(const fs::path& folder, const std::string& name) {
  for (const char* extension : {".key", ".so", ".key.new", ".so.new", ".lock"})
    ::unlink(file_of(folder, name, extension).c_str());
}

// --- Contents of the folder -------------------------------------------------------------------------------

struct CacheEntry {
  std::uintmax_t bytes = 0;
  bool is_program = false;
  fs::file_time_type last_use{};
};

// Cache files by hash; all other files in the folder are ignored.
std::map<std::string, CacheEntry> entries_of(const fs::path& folder) {
  std::map<std::string, CacheEntry> entries;
  if (folder.empty() || !require_private_folder(folder)) return entries;
  std::error_code failed;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    const std::string file = it->path().filename().string();
    const std::string name = file.substr(0, hash_length);
    const std::string extension = file.substr(name.size());
    const bool is_ours = name.size() == hash_length &&
                         name.find_first_not_of("0123456789abcdef") == name.npos &&
                         (extension == ".so" || extension == ".key" || extension == ".lock" ||
                          extension == ".so.new" || extension == ".key.new");
    struct stat status {};
    if (!is_ours || ::lstat(it->path().c_str(), &status) != 0) continue;

    CacheEntry& entry = entries[name];
    entry.bytes += static_cast<std::uintmax_t>(status.st_size);
    entry.is_program |= extension == ".so";
    std::error_code unknown;
    if (extension == ".key") entry.last_use = fs::last_write_time(it->path(), unknown);
  }
  return entries;
}

// Removes a program unless another run is compiling or using it; returns whether it was removed.
bool remove_if_idle(const fs::path& folder, const std::string& name) {
  const fs::path place = file_of(folder, name, ".lock");
  OpenFile file;
  try {
    file = open_lock(place);
    if (!try_lock(file, LOCK_EX) || !is_at(file, place)) return false;
  } catch (const MachineError&) {
    // Not a valid lock file, so no run can hold it: remove it.
  } catch (const Unusable&) {
    return false;
  }
  remove_program(folder, name);
  return !fs::exists(file_of(folder, name, ".so"));
}

}  // namespace

// --- Interface ---------------------------------------------------------------------------------------------

fs::path ProgramCache::default_folder() {
  const auto variable = [](const char* name) -> fs::path {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
  };
  if (const fs::path own = variable("ZWANG_CACHE"); !own.empty()) return fs::absolute(own);
  // By the freedesktop base directory specification relative paths count as not set.
  if (const fs::path caches = variable("XDG_CACHE_HOME"); caches.is_absolute()) return caches / "zwang";
  if (const fs::path home = variable("HOME"); home.is_absolute()) return home / ".cache" / "zwang";
  return {};
}

ProgramCache::ProgramCache(fs::path folder, CacheLimits limits)
    : folder_(std::move(folder)), limits_(limits) {
  if (folder_.empty()) return;
  // With a trailing "/" or "/." the system would follow a link before it can be detected.
  folder_ = fs::absolute(folder_);
  while (folder_.has_relative_path() && (!folder_.has_filename() || folder_.filename() == "."))
    folder_ = folder_.parent_path();
}

fs::path ProgramCache::get(std::string_view key_text, const Make& make, bool* made) {
  bool made_now = false;
  const Make make_and_note = [&](const fs::path& target) {
    make(target);
    made_now = true;
  };
  fs::path library;
  try {
    library = from_folder(hash_text(key_text), key_text, make_and_note);
  } catch (const Unusable& trouble) {
    note_ = "compiled programs are not kept for the next run: " + trouble.why;
    library = make_temporary(key_text, make_and_note);
  }
  if (made != nullptr) *made = made_now;
  return library;
}

fs::path ProgramCache::from_folder(const std::string& name, std::string_view key_text, const Make& make) {
  // The folder must exist and be private.
  if (folder_.empty()) throw Unusable{"none of ZWANG_CACHE, XDG_CACHE_HOME and HOME is set"};
  if (!require_private_folder(folder_)) {
    if (const int code = make_private_folder(folder_); code != 0)
      throw Unusable{folder_.string() + ": " + system_message(code)};
    require_private_folder(folder_);
  }

  in_use_.erase(name);  // on a repeated call the own shared lock must not prevent a repair
  const fs::path lock_place = file_of(folder_, name, ".lock");
  for (;;) {
    // The usual case: the program exists.
    OpenFile file = open_lock(lock_place);
    lock(file, LOCK_SH, limits_.lock_timeout);
    if (!is_at(file, lock_place)) continue;
    if (!is_intact(folder_, name, key_text)) {
      // Exclusive lock; another run may have compiled the program in the meantime.
      lock(file, LOCK_EX, limits_.lock_timeout);
      if (!is_at(file, lock_place)) continue;
      if (!is_intact(folder_, name, key_text)) publish(name, key_text, make_temporary(key_text, make));
      // Changing a flock to shared is not atomic; the program may be removed in between.
      lock(file, LOCK_SH, limits_.lock_timeout);
      if (!is_at(file, lock_place)) continue;
      drop_oldest();
    }
    in_use_.insert_or_assign(name, std::move(file));
    return file_of(folder_, name, ".so");
  }
}

fs::path ProgramCache::make_temporary(std::string_view key_text, const Make& make) {
  // Compiled before, but not stored in the folder.
  if (const auto known = temporary_programs_.find(key_text); known != temporary_programs_.end())
    return known->second;
  if (!temporary_folder_) temporary_folder_.emplace();
  fs::path target = temporary_folder_->path() / fmt::format("program{}.so", temporary_programs_.size());
  std::error_code ignored;
  fs::remove(target, ignored);
  make(target);
  temporary_programs_.emplace(key_text, target);
  return target;
}

void ProgramCache::publish(const std::string& name, std::string_view key_text,
                           const fs::path& library) const {
  const auto bytes = read_whole(library);
  if (!bytes || bytes->empty())
    throw MachineError({.where = {.file = library.string()},
                        .message = "the compiled program cannot be read back",
                        .found = {},
                        .expected = "a shared library",
                        .hint = {}});
  // A damaged program is removed first. The key file is written last: a library without it is ignored.
  for (const char* extension : {".key", ".so"}) ::unlink(file_of(folder_, name, extension).c_str());
  write_in_place(file_of(folder_, name, ".so"), *bytes, 0700);
  write_in_place(file_of(folder_, name, ".key"), header_line(*bytes).append(key_text), 0600);
  const OpenFile folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.is_open()) ::fsync(folder.descriptor());
}

void ProgramCache::drop_oldest() const {
  const std::map<std::string, CacheEntry> entries = entries_of(folder_);
  std::uintmax_t total = 0;
  std::vector<std::pair<fs::file_time_type, std::string>> by_age;
  for (const auto& [name, entry] : entries) {
    total += entry.bytes;
    by_age.emplace_back(entry.last_use, name);
  }
  std::sort(by_age.begin(), by_age.end());
  // Programs in use remain, among them those returned by this object.
  for (const auto& [last_use, name] : by_age) {
    if (total <= limits_.bytes) return;
    if (remove_if_idle(folder_, name)) total -= entries.at(name).bytes;
  }
}

ProgramCache::Contents ProgramCache::contents() const {
  Contents all;
  for (const auto& [name, entry] : entries_of(folder_)) {
    all.programs += entry.is_program ? 1 : 0;
    all.bytes += entry.bytes;
  }
  return all;
}

ProgramCache::Contents ProgramCache::clear() {
  Contents removed;
  for (const auto& [name, entry] : entries_of(folder_)) {
    if (!remove_if_idle(folder_, name)) continue;
    removed.programs += entry.is_program ? 1 : 0;
    removed.bytes += entry.bytes;
  }
  return removed;
}

// --- Report ------------------------------------------------------------------------------------------------

namespace {

std::string programs_text(const ProgramCache::Contents& contents) {
  return fmt::format("{} program{}, {:.1f} MB", contents.programs, contents.programs == 1 ? "" : "s",
                     static_cast<double>(contents.bytes) / 1e6);
}

}  // namespace

std::string cache_report(bool clear) {
  ProgramCache cache;
  if (cache.folder().empty())
    return "no cache folder: none of ZWANG_CACHE, XDG_CACHE_HOME and HOME is set; compiled programs are kept "
           "for one run only\n";
  if (!clear) return fmt::format("{}: {}\n", cache.folder().string(), programs_text(cache.contents()));

  std::string text = fmt::format("{}: removed {}\n", cache.folder().string(), programs_text(cache.clear()));
  const ProgramCache::Contents left = cache.contents();
  if (left.programs > 0)
    text += fmt::format("not removed (in use, or not removable): {}\n", programs_text(left));
  return text;
}

}  // namespace zwang
