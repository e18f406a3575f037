// Files and folders that only their owner may change: created that way, and checked before they are trusted.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace zwang {

// Owns a file descriptor.
class OpenFile {
 public:
  OpenFile() = default;
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;
  ~OpenFile();

  int descriptor() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

// A new temporary folder with mode 0700. The destructor removes it with its contents.
class TemporaryFolder {
 public:
  TemporaryFolder();  // in $TMPDIR, else /tmp; throws MachineError if neither is writable
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// The text of an errno code.
std::string system_message(int code);

// Throws MachineError if `path` is a symbolic link, belongs to another user, or is writable by others; for a
// folder also if others could replace it. Returns false if `path` does not exist.
bool require_private_folder(const std::filesystem::path& path);
bool require_private_file(const std::filesystem::path& path);

// Opens without following links and checks the opened file, not the path before opening. If the system
// refuses, the result is not open and errno is set.
OpenFile open_private(const std::filesystem::path& path, int flags, mode_t mode = 0600);

// Creates the folder and its parents with mode 0700. Returns 0 or errno.
int make_private_folder(const std::filesystem::path& path);

// The whole file, or nothing if it cannot be read.
std::optional<std::string> read_whole(const OpenFile& file);
std::optional<std::string> read_whole(const std::filesystem::path& path);

// Writes a new file with this mode, and syncs it to disk if `durable`. Returns 0 or errno; on error no file
// is left.
int write_new(const std::filesystem::path& path, std::string_view text, mode_t mode, bool durable);

}  // namespace zwang
