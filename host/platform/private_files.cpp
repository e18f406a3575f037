// Private files and folders: ownership and permission checks, and plain POSIX reading and writing.
#include "host/platform/private_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "host/platform/machine_error.h"

namespace zwang {

// --- Owners ------------------------------------------------------------------------------------------------

OpenFile::OpenFile(OpenFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

OpenFile::~OpenFile() {
  if (is_open()) ::close(descriptor_);
}

TemporaryFolder::TemporaryFolder() {
  // If TMPDIR does not exist any more, /tmp is tried.
  const char* chosen = std::getenv("TMPDIR");
  std::string tried;
  const std::array<std::string, 2> parents{chosen != nullptr ? chosen : "", "/tmp"};
  for (const std::string& parent : parents) {
    if (parent.empty()) continue;
    std::string name = (std::filesystem::absolute(parent) / "zwang-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) {
      path_ = name;
      return;
    }
    tried += (tried.empty() ? "" : "; ") + parent + ": " + system_message(errno);
  }
  throw MachineError({.message = "could not create a temporary folder",
                      .found = tried,
                      .expected = "a writable folder",
                      .hint = "set TMPDIR to a writable folder"});
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept { std::swap(path_, other.path_); }

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string system_message(int code) { return std::generic_category().message(code); }

// --- Ownership and permissions -----------------------------------------------------------------------------

namespace {

constexpr mode_t group_or_others_write = S_IWGRP | S_IWOTH;

std::string owner_text(uid_t owner) {
  const passwd* entry = ::getpwuid(owner);
  return entry != nullptr ? fmt::format("user {} ({})", entry->pw_name, owner)
                          : fmt::format("user {}", owner);
}

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& found,
                         const std::string& expected, const std::string& hint) {
  throw MachineError({.where = {.file = path.string()},
                      .message = "refused, because programs stored here would be executed",
                      .found = found,
                      .expected = expected,
                      .hint = hint});
}

// Refuses anything that is not of the wanted type, owned by this user, and writable by this user alone.
void check_ownership(const std::filesystem::path& path, const struct stat& status, mode_t type) {
  const std::string kind = type == S_IFDIR ? "folder" : "file";
  const std::string elsewhere = "remove it, or set ZWANG_CACHE to a folder that you own";
  if (S_ISLNK(status.st_mode)) refuse(path, "a symbolic link", "a " + kind, elsewhere);
  if (status.st_uid != ::geteuid())
    refuse(path, "owned by " + owner_text(status.st_uid), "owned by " + owner_text(::geteuid()), elsewhere);
  if ((status.st_mode & group_or_others_write) != 0)
    refuse(path, fmt::format("mode {:04o}: others may write to it", status.st_mode & 07777U),
           "writable by its owner only", "chmod go-w");
  if (type == S_IFREG && !S_ISREG(status.st_mode)) refuse(path, "not a regular file", "a file", elsewhere);
}

// A user who may write to a folder may replace its entries, unless the folder is sticky as /tmp is.
void check_parents(const std::filesystem::path& path) {
  std::error_code failed;
  std::filesystem::path parent = std::filesystem::canonical(path.parent_path(), failed);
  if (failed) return;
  for (;; parent = parent.parent_path()) {
    struct stat status {};
    const bool known = ::stat(parent.c_str(), &status) == 0;
    if (known && (status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0)
      refuse(path,
             fmt::format("inside {}, where every user may replace it (mode {:04o})", parent.string(),
                         status.st_mode & 07777U),
             "parent folders that others cannot change", "chmod o-w, or set ZWANG_CACHE to another folder");
    if (parent == parent.parent_path()) return;
  }
}

}  // namespace

bool require_private_folder(const std::filesystem::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return false;
  check_ownership(path, status, S_IFDIR);
  check_parents(path);
  return S_ISDIR(status.st_mode);
}

bool require_private_file(const std::filesystem::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return false;
  check_ownership(path, status, S_IFREG);
  return true;
}

OpenFile open_private(const std::filesystem::path& path, int flags, mode_t mode) {
  // O_NONBLOCK: if someone has put a pipe at this path, open() must not block.
  OpenFile file(::open(path.c_str(), flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode));
  if (!file.is_open()) {
    // If the cause is a link or another user's file, this throws with a clearer message.
    const int code = errno;
    require_private_file(path);
    errno = code;
    return file;
  }
  struct stat status {};
  if (::fstat(file.descriptor(), &status) != 0) return OpenFile();
  check_ownership(path, status, S_IFREG);
  return file;
}

// --- Reading and writing -----------------------------------------------------------------------------------

int make_private_folder(const std::filesystem::path& path) {
  if (::mkdir(path.c_str(), 0700) == 0) return 0;
  int code = errno;
  if (code == EEXIST) return 0;
  if (code != ENOENT || !path.has_relative_path()) return code;
  // Create the parents first. The freedesktop base directory specification requires 0700 for them too.
  code = make_private_folder(path.parent_path());
  if (code != 0) return code;
  return ::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST ? 0 : errno;
}

std::optional<std::string> read_whole(const OpenFile& file) {
  struct stat status {};
  if (!file.is_open() || ::fstat(file.descriptor(), &status) != 0) return std::nullopt;
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t count = ::read(file.descriptor(), text.data() + filled, text.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  text.resize(filled);
  return text;
}

std::optional<std::string> read_whole(const std::filesystem::path& path) {
  return read_whole(OpenFile(::open(path.c_str(), O_RDONLY | O_CLOEXEC)));
}

namespace {

int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

}  // namespace

int write_new(const std::filesystem::path& path, std::string_view text, mode_t mode, bool durable) {
  int code = 0;
  {
    const OpenFile file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!file.is_open()) return errno;
    code = write_all(file.descriptor(), text);
    if (code == 0 && durable && ::fsync(file.descriptor()) != 0 && errno != EINVAL) code = errno;
  }
  if (code != 0) ::unlink(path.c_str());
  return code;
}

}  // namespace zwang
