// Binary file of member records, from which members.nc is written at the end. An append-only file can be
// truncated to the state of a checkpoint; a NetCDF file cannot.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/backend/member_bytes.h"
#include "host/platform/bytes.h"
#include "host/platform/private_files.h"

namespace zwang {

// Length of the file and checksum up to there.
struct MemberRecordsMark {
  std::uint64_t bytes = 0, checksum = 0;
};

// Receives the members of a file in order, a few thousand with consecutive numbers at a time.
using TakeMembers = std::function<void(long long first, std::span<const char> records)>;

// Numbers of the members of a file: [first, second) by [first, second), ascending.
using MemberNumbers = std::vector<std::pair<long long, long long>>;
bool contains(const MemberNumbers& numbers, long long member);

// Reads the file up to the mark. False if it is shorter, has not as many members as numbers, or if its checksum
// differs; the members passed to `take` are invalid then.
bool read_members(const std::filesystem::path& path, const MemberRecordLayout& layout,
                  const MemberRecordsMark& mark, const MemberNumbers& numbers, const TakeMembers& take);

// Writes such a file. The first records stay in memory until something needs the file: most runs end before their first
// checkpoint, and deleting a file of 140 MB takes up to 0.4 s.
class MemberRecordsFile {
 public:
  // Creates a new file, or continues an existing one at the mark and truncates the rest. Throws Error if the
  // file is not the one the mark was taken from.
  MemberRecordsFile(std::filesystem::path path, MemberRecordLayout layout, const MemberRecordsMark& mark);

  void append(std::string_view records);  // packed
  MemberRecordsMark mark() const { return {bytes_, checksum_.value()}; }
  void write_out();  // what is in memory
  void sync();       // write_out() and fsync

  const std::filesystem::path& path() const { return path_; }  // complete up to the mark after write_out()
  const MemberRecordLayout& layout() const { return layout_; }

 private:
  void check_beginning(const MemberRecordsMark& mark);
  void write(std::string_view records);
  [[noreturn]] void fail(int code) const;

  std::filesystem::path path_;
  MemberRecordLayout layout_;
  OpenFile file_;
  std::vector<std::string> in_memory_;  // what follows the bytes of the file
  std::uint64_t bytes_ = 0, bytes_in_memory_ = 0;
  Checksum checksum_;
};

}  // namespace zwang
