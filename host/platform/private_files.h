// Files and folders that nobody but their owner may change: made so, and checked to be so before they are trusted.
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

// A fresh temporary folder with mode 0700, removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();  // in $TMPDIR, else /tmp; MachineError when neither will have it
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// What a system call left in errno, in words.
std::string system_message(int code);

// Throws MachineError when `path` is a symbolic link, belongs to another user, or others may write to it; a
// folder also when others could put another one in its place. False when there is no such thing.
bool require_private_folder(const std::filesystem::path& path);
bool require_private_file(const std::filesystem::path& path);

// Opens without following links and judges what was opened, not what stood there a moment before. Not open when
// the system refuses; errno then says why.
OpenFile open_private(const std::filesystem::path& path, int flags, mode_t mode = 0600);

// Makes the folder and its parents, mode 0700. 0, or errno.
int make_private_folder(const std::filesystem::path& path);

// Everything in the file; nothing when it cannot be read.
std::optional<std::string> read_whole(const OpenFile& file);
std::optional<std::string> read_whole(const std::filesystem::path& path);

// Writes a new file of this mode, through to the disk when `durable`. 0, or errno; then there is no such file.
int write_new(const std::filesystem::path& path, std::string_view text, mode_t mode, bool durable);

}  // namespace zwang
