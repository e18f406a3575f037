// Cache of compiled programs on disk, shared by all runs of a user.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "host/platform/private_files.h"

namespace zwang {

struct CacheLimits {
  std::uintmax_t bytes = 512ULL << 20;  // beyond this the least recently used programs are removed
  std::chrono::milliseconds lock_timeout = std::chrono::seconds(150);  // for another run that is compiling
};

// One folder with three files per program, named by a hash of the key text:
//
//   HASH.so    the library
//   HASH.key   size and checksum of the library, then the key text; its modification time is the last use
//   HASH.lock  locked shared by readers, exclusively by the process that writes or removes the program
//
// The whole key text is compared on a hit, so a hash collision costs a compilation and never runs a wrong
// program. Files are written under another name and renamed, so they are complete or absent. Locks are flock
// locks, which end with the process. A damaged program is compiled again. Files of other owners, files
// writable by others and links are refused.
//
// An object must be used by one thread at a time; any number of objects and processes may share a folder.
class ProgramCache {
 public:
  // $ZWANG_CACHE, else $XDG_CACHE_HOME/zwang, else $HOME/.cache/zwang; empty if none of the three is set.
  static std::filesystem::path default_folder();

  // The folder is created with the first program. Empty: a temporary folder for the lifetime of this object.
  explicit ProgramCache(std::filesystem::path folder = default_folder(), CacheLimits limits = {});

  // The library for this key. If there is none yet, `make` writes it to the given path and `made` is set. The
  // file is locked against removal by other runs for the lifetime of this object: load it before. If the
  // folder is read-only or full, the library is written to a temporary folder instead and note() tells why.
  std::filesystem::path get(std::string_view key_text,
                            const std::function<void(const std::filesystem::path& target)>& make,
                            bool* made = nullptr);

  struct Contents {
    std::size_t programs = 0;
    std::uintmax_t bytes = 0;
  };
  Contents contents() const;
  Contents clear();  // returns what was removed; programs in use by another run remain

  const std::filesystem::path& folder() const { return folder_; }
  const std::string& note() const { return note_; }  // why the folder was not used; empty if it was

 private:
  using Make = std::function<void(const std::filesystem::path& target)>;

  std::filesystem::path from_folder(const std::string& name, std::string_view key_text, const Make& make);
  std::filesystem::path make_temporary(std::string_view key_text, const Make& make);
  void publish(const std::string& name, std::string_view key_text,
               const std::filesystem::path& library) const;
  void drop_oldest() const;

  std::filesystem::path folder_;
  CacheLimits limits_;
  std::string note_;
  std::map<std::string, OpenFile> in_use_;  // shared locks on the programs returned by get(), by hash
  std::optional<TemporaryFolder>
      temporary_folder_;  // for programs being compiled or not stored in the folder
  std::map<std::string, std::filesystem::path, std::less<>> temporary_programs_;  // by key text
};

// The output of `zwang cache`; with `clear`, clears the cache as `zwang cache --clear` does.
std::string cache_report(bool clear);

}  // namespace zwang
