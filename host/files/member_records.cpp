// Reading, writing and checksums of the file of member records.
#include "host/files/member_records.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "host/platform/machine_error.h"
#include "kernels/base/status.h"
#include "src/base/error.h"

namespace zwang {

namespace {

constexpr std::size_t records_at_a_time = std::size_t{32} << 20;  // bytes
constexpr std::size_t bytes_at_a_time = std::size_t{1} << 20;
constexpr std::uint64_t most_in_memory = std::uint64_t{512} << 20;  // bytes
constexpr mode_t records_mode = 0666;                               // restricted by the umask

bool is_status(std::int64_t status) { return status >= 0 && status < status_count; }

// Reads the first `bytes` of the stream in chunks; false if it ends before.
template <class Take>
bool read_pieces(std::istream& stream, std::uint64_t bytes, std::size_t piece, Take&& take) {
  std::vector<char> buffer(piece);
  while (bytes > 0) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, piece));
    stream.read(buffer.data(), static_cast<std::streamsize>(size));
    if (static_cast<std::size_t>(stream.gcount()) != size) return false;
    take(buffer.data(), size);
    bytes -= size;
  }
  return true;
}

}  // namespace

bool contains(const MemberNumbers& numbers, long long member) {
  const auto range =
      std::upper_bound(numbers.begin(), numbers.end(), member,
                       [](long long one, const auto& candidate) { return one < candidate.second; });
  return range != numbers.end() && range->first <= member;
}

bool read_members(const std::filesystem::path& path, const MemberRecordLayout& layout,
                  const MemberRecordsMark& mark, const MemberNumbers& numbers, const TakeMembers& take) {
  std::ifstream stream(path, std::ios::binary);
  std::uint64_t members = 0;
  for (const auto& [begin, end] : numbers) members += static_cast<std::uint64_t>(end - begin);
  if (!stream || mark.bytes != members * layout.bytes()) return false;
  Checksum checksum;
  bool known = true;
  // Passes records on, cut where their numbers are not consecutive.
  auto range = numbers.begin();
  long long done = 0;  // of the range
  const auto take_numbered = [&](std::span<const char> records) {
    while (!records.empty()) {
      const auto here = std::min(records.size() / layout.bytes(),
                                 static_cast<std::size_t>(range->second - range->first - done));
      take(range->first + done, records.first(here * layout.bytes()));
      records = records.subspan(here * layout.bytes());
      done += static_cast<long long>(here);
      if (range->first + done == range->second) ++range, done = 0;
    }
  };
  const auto pass_on = [&](const char* records, std::size_t size) {
    checksum.update(records, size);
    for (std::size_t at = 0; at < size; at += layout.bytes())
      known = known && is_status(MemberRecordLayout::whole(records + at, layout.places().status));
    if (known) take_numbered({records, size});
  };
  const bool all =
      read_pieces(stream, mark.bytes,
                  std::max<std::size_t>(1, records_at_a_time / layout.bytes()) * layout.bytes(), pass_on);
  return all && known && checksum.value() == mark.checksum;
}

MemberRecordsFile::MemberRecordsFile(std::filesystem::path path, MemberRecordLayout layout,
                                     const MemberRecordsMark& mark)
    : path_(std::move(path)), layout_(std::move(layout)) {
  if (mark.bytes > 0) check_beginning(mark);
  const int fresh = mark.bytes > 0 ? 0 : O_CREAT | O_TRUNC;
  file_ = OpenFile(::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | fresh, records_mode));
  if (!file_.is_open()) fail(errno);
  const auto end = static_cast<off_t>(mark.bytes);
  if (::ftruncate(file_.descriptor(), end) != 0 || ::lseek(file_.descriptor(), end, SEEK_SET) != end)
    fail(errno);
}

void MemberRecordsFile::check_beginning(const MemberRecordsMark& mark) {
  std::ifstream stream(path_, std::ios::binary);
  const bool all =
      stream && read_pieces(stream, mark.bytes, bytes_at_a_time,
                            [&](const char* piece, std::size_t size) { checksum_.update(piece, size); });
  bytes_ = mark.bytes;
  if (all && checksum_.value() == mark.checksum) return;
  throw Error({.where = {path_.string(), 0, 0},
               .message = "the members recorded by the checkpoint are damaged",
               .found = all ? "different bytes" : "fewer bytes than were recorded",
               .expected = "the " + std::to_string(mark.bytes) + " bytes that were recorded",
               .hint = "--overwrite restarts from the first member"});
}

void MemberRecordsFile::append(std::string_view records) {
  checksum_.update(records.data(), records.size());
  bytes_ += records.size();
  if (bytes_in_memory_ + records.size() <= most_in_memory) {
    in_memory_.emplace_back(records);
    bytes_in_memory_ += records.size();
    return;
  }
  write_out();
  write(records);
}

void MemberRecordsFile::write(std::string_view records) {
  for (std::size_t done = 0; done < records.size();) {
    const ssize_t wrote = ::write(file_.descriptor(), records.data() + done, records.size() - done);
    if (wrote < 0 && errno != EINTR) fail(errno);
    if (wrote > 0) done += static_cast<std::size_t>(wrote);
  }
}

// A file that has been written to once is not kept short any more: later records go to it at once.
void MemberRecordsFile::write_out() {
  for (const std::string& records : in_memory_) write(records);
  in_memory_.clear();
  bytes_in_memory_ = most_in_memory;
}

void MemberRecordsFile::sync() {
  write_out();
  if (::fsync(file_.descriptor()) != 0 && errno != EINVAL) fail(errno);
}

void MemberRecordsFile::fail(int code) const {
  throw MachineError({.where = {path_.string(), 0, 0},
                      .message = "the members' records could not be written",
                      .found = system_message(code),
                      .expected = "a folder that can be written to, with room on its disk",
                      .hint = "--out chooses another"});
}

}  // namespace zwang
