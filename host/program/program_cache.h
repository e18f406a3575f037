// Compiled programs on disk, to be found again by the next run.
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
  std::uintmax_t bytes = 512ULL << 20;  // beyond this the programs unused for longest go
  std::chrono::milliseconds patience = std::chrono::seconds(150);  // with another run that is compiling
};

// One folder, three files for each program, named by a hash of what it was made from:
//
//   HASH.so    the library
//   HASH.key   its size and checksum, then the whole text it was made from; its time of change is the last use
//   HASH.lock  held shared by readers, alone by whoever makes or removes the program
//
// The whole text is compared on a hit, so a collision of hashes costs a compile and never runs a wrong program.
// Files appear by rename, complete or not at all; locks are flock's, which a process loses when it dies. A
// damaged program is made again. Files of other owners, files others may write to and links are refused.
//
// One thread at a time for one object; any number of objects and processes for one folder.
class ProgramCache {
 public:
  // $ZWANG_CACHE, else $XDG_CACHE_HOME/zwang, else $HOME/.cache/zwang; empty when none of the three is set.
  static std::filesystem::path default_folder();

  // The folder is made when the first program is. Empty: a temporary one, for the life of this object.
  explicit ProgramCache(std::filesystem::path folder = default_folder(), CacheLimits limits = {});

  // The library for this key, which `make` writes to the path given when there is none yet; `made` says whether
  // it did. The file stays, whatever other runs clear, as long as this object lives: load it before. Where the
  // folder is read-only or full the library goes to a temporary place instead, and note() says so.
  std::filesystem::path get(std::string_view key_text,
                            const std::function<void(const std::filesystem::path& target)>& make,
                            bool* made = nullptr);

  struct Contents {
    std::size_t programs = 0;
    std::uintmax_t bytes = 0;
  };
  Contents contents() const;
  Contents clear();  // what was removed; programs in use by another run at this moment stay

  const std::filesystem::path& folder() const { return folder_; }
  const std::string& note() const { return note_; }  // why the folder was not used; empty when it was

 private:
  using Make = std::function<void(const std::filesystem::path& target)>;

  std::filesystem::path from_folder(const std::string& name, std::string_view key_text, const Make& make);
  std::filesystem::path make_own(std::string_view key_text, const Make& make);
  void publish(const std::string& name, std::string_view key_text,
               const std::filesystem::path& library) const;
  void drop_oldest() const;

  std::filesystem::path folder_;
  CacheLimits limits_;
  std::string note_;
  std::map<std::string, OpenFile> in_use_;  // shared locks of what was handed out, by hash
  std::optional<TemporaryFolder> own_;      // for programs on their way, or without a home
  std::map<std::string, std::filesystem::path, std::less<>> own_made_;  // by key text
};

// What `zwang cache` prints; with `clear`, what `zwang cache --clear` does and prints.
std::string cache_report(bool clear);

}  // namespace zwang
