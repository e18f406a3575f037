// Members one after the other in a plain file: what members.nc is written from at the end. A file that only grows can be
// cut back to where a checkpoint knows it; a NetCDF file cannot.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "host/backend/backend.h"
#include "host/platform/private_files.h"
#include "host/statistics/bytes.h"
#include "host/study/study.h"

namespace zwang {

// How far the file goes, and the checksum up to there.
struct MemberRecordsMark {
  std::uint64_t bytes = 0, checksum = 0;
};

// Where the numbers of one member stand in its record: 8 bytes each, what MembersWriter reads and nothing else.
class MemberRecordLayout {
 public:
  // drawn: the parameter behind each input, as Sampler::drawn().
  MemberRecordLayout(const Study& study, std::vector<std::size_t> drawn);

  std::size_t bytes() const { return 8 * numbers_; }
  void pack(const Batch& batch, const BatchResults& results, std::vector<char>& records) const;  // appended
  void pack(const Batch& batch, const BatchResults& results, std::size_t k, char* record) const;
  void make_room(Batch& batch, BatchResults& results, std::size_t count) const;
  void unpack(const char* record, Batch& batch, BatchResults& results, std::size_t k) const;

 private:
  template <class Members, class Results, class Real, class Whole>
  void each_number(Members& batch, Results& results, std::size_t k, Real&& real, Whole&& whole) const;

  std::vector<std::size_t> drawn_;
  std::size_t parameters_, state_, measures_, numbers_;
};

// Members of a file, in their order, a few thousand at a time.
using TakeMembers = std::function<void(long long first, const Batch& batch, const BatchResults& results)>;

// Reads the file up to the mark. False where it is shorter, or the checksum says that it is another one; what was told
// until then is worth nothing.
bool read_members(const std::filesystem::path& path, const MemberRecordLayout& layout,
                  const MemberRecordsMark& mark, long long first, const TakeMembers& take);

// Writes such a file.
class MemberRecordsFile {
 public:
  // Begins a new file, or goes on behind the mark of one; what follows the mark is cut off. Throws Error where the file
  // is not the one that the mark was taken of.
  MemberRecordsFile(std::filesystem::path path, MemberRecordLayout layout, const MemberRecordsMark& mark);

  void add(const Batch& batch, const BatchResults& results);
  void append(std::string_view records);  // packed already
  MemberRecordsMark mark() const { return {bytes_, checksum_.value()}; }
  void sync();  // through to the disk

  const std::filesystem::path& path() const { return path_; }
  const MemberRecordLayout& layout() const { return layout_; }

 private:
  void check_beginning(const MemberRecordsMark& mark);
  [[noreturn]] void fail(int code) const;

  std::filesystem::path path_;
  MemberRecordLayout layout_;
  OpenFile file_;
  std::uint64_t bytes_ = 0;
  Checksum checksum_;
  std::vector<char> buffer_;
};

}  // namespace zwang
